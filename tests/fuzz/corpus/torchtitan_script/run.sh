#!/bin/bash
NGPU=${NGPU:-"8"}
CONFIG_FILE=${CONFIG_FILE:-"./llama3_8b.toml"}
torchrun --nproc_per_node=${NGPU} -m torchtitan.train --job.config_file ${CONFIG_FILE} \
  --training.local_batch_size 2 --parallelism.tensor_parallel_degree 2 --training.seq_len 4096
