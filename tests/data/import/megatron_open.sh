#!/bin/bash
# A script as frameworks' examples have them: Slurm sets the number of nodes, users set the rest.
NNODES=${SLURM_NNODES:-1}
GPUS_PER_NODE=8
TP=${TP:-4}
PP=${PP:-4}

torchrun --nnodes $NNODES --nproc-per-node $GPUS_PER_NODE pretrain_gpt.py \
  --tensor-model-parallel-size $TP \
  --pipeline-model-parallel-size $PP \
  --sequence-parallel --use-distributed-optimizer --bf16 \
  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \
  --group-query-attention --num-query-groups 8 --swiglu --disable-bias-linear \
  --normalization RMSNorm --position-embedding-type rope --untie-embeddings-and-output-weights \
  --vocab-size 128256 --seq-length 8192 --max-position-embeddings 8192 \
  --micro-batch-size 1 --global-batch-size 128
