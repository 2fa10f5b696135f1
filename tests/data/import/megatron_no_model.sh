#!/bin/bash
# The model is in another file, which is not here.
source model_config.sh
torchrun --nproc-per-node $GPUS pretrain_gpt.py ${MODEL_ARGS[@]} \
  --tensor-model-parallel-size 2 --expert-model-parallel-size 16 --sequence-parallel \
  --use-distributed-optimizer --bf16 --micro-batch-size 1 --global-batch-size 128
