read -r -d '' c <<EOF
openrlhf.cli.train_sft --max_len 2048 --train_batch_size 256 --micro_train_batch_size 2 --pretrain a/Llama-3-8B --zero_stage 3 --bf16 --gradient_checkpointing
EOF
deepspeed --module $c
