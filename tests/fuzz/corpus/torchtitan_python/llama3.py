from torchtitan.config import TrainingConfig  # def no_function()

def llama3_debugmodel():
    """Trainer.Config(
    """
    return Trainer.Config(training=TrainingConfig(seq_len=64))

def llama3_8b() -> Trainer.Config:
    spec = model_registry("8B", attn_backend="flex")
    return Trainer.Config(
        model_spec=spec,
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * 8192,
            max_context_length=8192,  # a comment, with a comma
        ),
        parallelism=ParallelismConfig(tensor_parallel_degree=2),
        activation_checkpoint=FullAC.Config(),
    )

def llama3_8b_float8():
    config = llama3_8b()
    config.parallelism.pipeline_parallel_degree = 4
    return config
