nnodes=2
NPROC_PER_NODE=4 NNODES=$nnodes swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B-Instruct \
    --train_type lora --torch_dtype bfloat16 --per_device_train_batch_size 1 \
    --gradient_accumulation_steps $(expr 32 / 4 / $nnodes) --max_length 1024 \
    --max_completion_length 2048 --sequence_parallel_size 2 --deepspeed zero3_offload
