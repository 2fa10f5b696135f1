#!/bin/bash
# 30 layers do not divide over 4 pipeline ranks.
TP=2
PP=4
GPT_ARGS="
    --tensor-model-parallel-size ${TP}
    --pipeline-model-parallel-size ${PP}
    --num-layers 30
    --hidden-size 3072
    --num-attention-heads 32
    --seq-length 2048
    --max-position-embeddings 2048
    --micro-batch-size 1
    --global-batch-size 64
    --bf16
    --tokenizer-type GPT2BPETokenizer
"
torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py $GPT_ARGS
