python3 -m verl.trainer.main config=a.yaml worker.actor.global_batch_size=128 \
  worker.actor.micro_batch_size_per_device_for_update=2 worker.rollout.n=5 \
  worker.actor.model.model_path=Qwen/Qwen2.5-7B trainer.n_gpus_per_node=8 data.train_files=b
