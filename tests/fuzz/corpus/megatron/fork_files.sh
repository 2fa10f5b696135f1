#SBATCH --partition a --nodes 4 --gpus 32
source /root/repo/models/m.sh
msrun --local_worker_num 8 --worker_num 32 pretrain_gpt.py --mm-model m.json --stage dpo \
  --num-layers 8 --hidden-size 64 --num-attention-heads 8 --pipeline-model-parallel-size 2 \
  --num-layer-list 3,5 --recompute-granularity mlp --train-backend fsdp --reuse-fp32-param
