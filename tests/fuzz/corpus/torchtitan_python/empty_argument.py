from torchtitan.config import TrainingConfig

def llama3_debugmodel():
    return Trainer.Config(training=TrainingConfig(seq_len=))
