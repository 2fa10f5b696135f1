#!/bin/bash
# 18 microbatches in groups of 4 leave a last group of 2: fewer than pipeline ranks.
ARGS=(
  --tensor-model-parallel-size 4
  --pipeline-model-parallel-size 4
  --num-virtual-stages-per-pipeline-rank 2
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32
  --seq-length 4096 --max-position-embeddings 4096
  --micro-batch-size 1
  --global-batch-size 36
  --bf16 --use-distributed-optimizer
  --tokenizer-type Llama2Tokenizer
)
torchrun --nproc-per-node=8 --nnodes=4 pretrain_gpt.py "${ARGS[@]}"
