from nemo.collections import llm
import nemo_run as run


def recipe():
    recipe = llm.llama3_70b.pretrain_recipe(
        num_nodes=2, num_gpus_per_node=8, name="a, b"
    )
    recipe.trainer.strategy.tensor_model_parallel_size = 4
    recipe.trainer.strategy.virtual_pipeline_model_parallel_size = None
    recipe.data = run.Config(Mock, seq_length=4096, global_batch_size=64, micro_batch_size=1)
    return recipe
