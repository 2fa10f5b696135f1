#!/bin/bash
export ICI=8
python3 -m MaxText.train MaxText/configs/base.yml run_name=one model_name=llama3.1-8b \
  ici_fsdp_parallelism=$ICI per_device_batch_size=2 max_target_length=4096 remat_policy=full
