#!/bin/bash
# DeepSeek-V3 shapes on 1,024 GPUs: MLA, 61 layers and one MTP module laid out by hand.
MODEL=${MODEL:-DeepSeek-V3}
NNODES=128
NPROC_PER_NODE=8
PP=${PP:-16}
VPP=${VPP:-2}
EP=${EP:-64}
ETP=1
TP=1

case $MODEL in
  DeepSeek-V2)
    LAYERS=60; FIRST=1 ;;
  DeepSeek-V3|DeepSeek-R1)
    LAYERS=61; FIRST=3 ;;
  *) echo "unknown model"; exit 1 ;;
esac

MODEL_ARGS="--num-layers $LAYERS --hidden-size 7168 --ffn-hidden-size 18432 \
  --num-attention-heads 128 --kv-channels 128 --seq-length 4096 --max-position-embeddings 4096 \
  --position-embedding-type rope --normalization RMSNorm --swiglu --disable-bias-linear \
  --untie-embeddings-and-output-weights --qk-layernorm \
  --multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 \
  --qk-pos-emb-head-dim 64 --v-head-dim 128 \
  --mtp-num-layers 1 --mtp-loss-scaling-factor 0.1"

MOE_ARGS="--num-experts 256 --moe-layer-freq ([0]*${FIRST}+[1]*$((LAYERS-FIRST))) \
  --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 --moe-router-topk 8 \
  --moe-router-score-function sigmoid --moe-router-enable-expert-bias \
  --moe-token-dispatcher-type flex --moe-enable-deepep"

if [ $VPP -gt 1 ]; then
  LAYOUT="--pipeline-model-parallel-layout Et*3|(tt|)*29,m|L"
else
  LAYOUT="--decoder-last-pipeline-num-layers 1"
fi

CMD="torchrun --nnodes=$NNODES --nproc-per-node=$NPROC_PER_NODE pretrain_gpt.py \
  $MODEL_ARGS $MOE_ARGS --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP \
  --expert-model-parallel-size $EP --expert-tensor-parallel-size $ETP $LAYOUT \
  --micro-batch-size 1 --global-batch-size 8192 --bf16 --use-distributed-optimizer \
  --overlap-grad-reduce --overlap-param-gather --fp8-format e4m3 --fp8-recipe mxfp8 \
  --recompute-granularity selective --recompute-modules mla_up_proj moe_act layernorm \
  --tokenizer-type HuggingFaceTokenizer --tokenizer-model deepseek-ai/DeepSeek-V3 --vocab-size 129280"
echo $CMD
eval $CMD
