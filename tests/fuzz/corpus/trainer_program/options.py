from args import DataArguments
import argparse

BASE = "Qwen/Qwen2.5-7B"


@dataclass
class ModelArguments:
    model_max_length: int = field(default=768, metadata={"help": "tokens"})
    lora_enable: bool = True
    lora_r: int = 24


parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=5)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained(
    BASE, torch_dtype=(torch.bfloat16 if args.bf16 else None), attn_implementation="eager")
model = model.bfloat16()
teacher = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-72B")
config = LoraConfig(r=lora_args.lora_r, target_modules=["q_proj", "v_proj"])
kwargs = dict(bf16=True, gradient_checkpointing=True)
training = TrainingArguments(per_device_train_batch_size=args.batch, **kwargs)
training_args.gradient_accumulation_steps = 6
trainer = SFTTrainer(model=model, args=training, max_seq_length=512)
