python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
 actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size=null actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 trainer.nnodes=1
