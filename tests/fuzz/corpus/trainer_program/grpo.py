config_kwargs = {"bf16": True, "optim": "adafactor"}
args = GRPOConfig(max_prompt_length=512, max_completion_length=1024, num_generations=4, **config_kwargs)
m = PeftModel.from_pretrained(base, args.adapter_path, is_trainable=True)
trainer = GRPOTrainer(model="Qwen/Qwen2-0.5B-Instruct", args=args)
