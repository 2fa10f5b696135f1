#!/bin/bash
# 80 layers on 8 pipeline ranks are 10 each; chunks of 4 leave 2 of them out.
torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py \
  --tensor-model-parallel-size 8 \
  --pipeline-model-parallel-size 8 \
  --num-layers-per-virtual-pipeline-stage 4 \
  --sequence-parallel \
  --num-layers 80 \
  --hidden-size 8192 \
  --num-attention-heads 64 \
  --seq-length 4096 --max-position-embeddings 4096 \
  --micro-batch-size 1 --global-batch-size 64 \
  --tokenizer-type GPT2BPETokenizer --bf16 --use-distributed-optimizer
