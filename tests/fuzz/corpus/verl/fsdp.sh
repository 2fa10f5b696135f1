python3 main_ppo.py data.max_prompt_length=$((512 * 2)) data.max_response_length=3072 actor_rollout_ref.model.path=$HOME/Qwen3-8B \
 actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.rollout.n=4 actor_rollout_ref.actor.use_dynamic_bsz=True \
 +actor_rollout_ref.actor.fsdp_config.fsdp_size=-1 trainer.nnodes=${N:-2} trainer.n_gpus_per_node=8
