#!/bin/bash
# GPT-3 175B on 128 nodes of 8 GPUs.
#SBATCH --job-name=gpt3-175b
#SBATCH --nodes=128
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8

export CUDA_DEVICE_MAX_CONNECTIONS=1
export NCCL_IB_SL=1

DIR=$(pwd)
DATETIME=`date +'date_%y-%m-%d_time_%H-%M-%S'`
mkdir -p $DIR/logs

CHECKPOINT_PATH=${1:-/checkpoints/gpt3}
TENSORBOARD=${2:-$CHECKPOINT_PATH/tb}
DATASET="0.2 $DATA_HOME/pile_00_text_document 0.8 $DATA_HOME/pile_01_text_document"

options=" \
    --exit-duration-in-mins 230 \
    --sequence-parallel \
    --tensor-model-parallel-size 8 \
    --pipeline-model-parallel-size 16 \
    --num-layers-per-virtual-pipeline-stage 1 \
    --num-layers 96 \
    --hidden-size 12288 \
    --num-attention-heads 96 \
    --seq-length 2048 \
    --max-position-embeddings 2048 \
    --micro-batch-size 1 \
    --global-batch-size 1536 \
    --rampup-batch-size 16 16 5859375 \
    --train-samples 146484375 \
    --lr 6.0e-5 \
    --min-lr 6.0e-6 \
    --lr-decay-style cosine \
    --log-interval 10 \
    --vocab-file $DATA_HOME/gpt2-vocab.json \
    --merge-file $DATA_HOME/gpt2-merges.txt \
    --tokenizer-type GPT2BPETokenizer \
    --data-path $DATASET \
    --save ${CHECKPOINT_PATH} \
    --split 98,2,0 \
    --clip-grad 1.0 \
    --weight-decay 0.1 \
    --adam-beta1 0.9 \
    --adam-beta2 0.95 \
    --init-method-std 0.006 \
    --recompute-activations \
    --use-distributed-optimizer \
    --bf16 \
    --tensorboard-dir ${TENSORBOARD} "

run_cmd="python -u ${DIR}/pretrain_gpt.py $@ ${options}"

srun -l \
     --container-image "nvcr.io/nvidia/pytorch:24.05-py3" \
     --container-mounts "$DIR" \
     --output=$DIR/logs/%x_%j_$DATETIME.log sh -c "${run_cmd}"

set +x
