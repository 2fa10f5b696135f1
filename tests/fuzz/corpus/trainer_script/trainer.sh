while [[ $# -gt 0 ]]; do case $1 in --bf16) BF16=true; shift;; esac; done
deepspeed --include localhost:0,1 train.py --model_name_or_path llama-2-7b-GPTQ --lora_enable True \
    --fsdp "full_shard offload" --global_batch_size 64 --per_device_train_batch_size 4 --bits 4
