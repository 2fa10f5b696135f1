from megatron.bridge import AutoBridge

name = "Qwen/Qwen3-8B"
size = 2_048


def config():
    cfg = make()
    cfg.model = AutoBridge.from_hf_pretrained(name).to_megatron_provider()
    cfg.model.seq_length = size  # tokens
    cfg.model.tensor_model_parallel_size = 2
    cfg.train.micro_batch_size = 1
    cfg.train.global_batch_size = 16
    cfg.mixed_precision = "bf16_mixed"
    if big:
        cfg.model.pipeline_model_parallel_size = 4
    return cfg
