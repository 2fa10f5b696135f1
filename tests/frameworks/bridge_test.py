"""Megatron-Bridge applies the exported settings to a config, and its own code accepts the config: RANKWRIGHT_BRIDGE and
RANKWRIGHT_MEGATRON_LM name checkouts. Kernels that need CUDA are stand-ins, which nothing calls."""

import os

import hypothesis
import judges
import rankwright
from megatron_test import h100, plans  # noqa: F401
from plans import errors_for

COMMIT = judges.use_checkout("RANKWRIGHT_BRIDGE", "src")
judges.stand_in("transformer_engine", "nvidia_resiliency_ext", "modelopt", "wandb", "mamba_ssm", "causal_conv1d",
                "flash_attn", "qwen_vl_utils", "fla", "megatron_energon", "hydra", "omegaconf")  # fmt: skip

import transformer_engine.pytorch.ops  # noqa: E402, F401
from megatron.bridge.models.gpt_provider import GPTModelProvider  # noqa: E402
from megatron.bridge.training import config as bridge  # noqa: E402


def make_config():
    """Returns a config for pretraining on random tokens. The recipes themselves need packages for every modality."""
    dataset = bridge.GPTDatasetConfig(random_seed=1, reset_attention_mask=False, reset_position_ids=False,
                                      eod_mask_loss=False, seq_length=4096, blend=None, split="99,1,0")  # fmt: skip
    return bridge.ConfigContainer(
        train=bridge.TrainingConfig(train_iters=100, global_batch_size=32, micro_batch_size=1),
        model=GPTModelProvider(num_layers=2, hidden_size=128, num_attention_heads=2),
        optimizer=bridge.OptimizerConfig(lr=1e-4, min_lr=1e-5), dataset=dataset,
        scheduler=bridge.SchedulerConfig(lr_warmup_iters=1), logger=bridge.LoggerConfig(),
        tokenizer=bridge.TokenizerConfig(tokenizer_type="NullTokenizer", vocab_size=1024),
        checkpoint=bridge.CheckpointConfig())  # fmt: skip


def refusal(text, world):
    """Returns why Megatron-Bridge refuses the settings, or None."""
    os.environ.update({"WORLD_SIZE": str(world), "RANK": "0", "LOCAL_RANK": "0"})
    names = {}
    exec(compile(text, "megatron_bridge.py", "exec"), names)
    config = make_config()
    unknown = []
    for part in ("train", "model", "optimizer", "ddp", "dist", "dataset"):
        watch(getattr(config, part), part, unknown)
    names["set_layout"](names["set_model"](config))
    if unknown:
        return f"unknown fields: {unknown}"
    try:
        bridge.runtime_config_update(config)
    except (AssertionError, AttributeError, ValueError, RuntimeError, NotImplementedError, TypeError) as refused:
        return f"{type(refused).__name__}: {str(refused)[:300]}"
    return None


def watch(part, name, unknown):
    """Notes in `unknown` every field that is set on the dataclass and that it does not have."""
    known = set(dir(part))

    class Watched(type(part)):
        def __setattr__(self, key, value):
            if key not in known:
                unknown.append(f"{name}.{key}")
            super().__setattr__(key, value)

    part.__class__ = Watched


def test_exported_settings_are_accepted(tally):
    counted = tally("Megatron-Bridge", f"main {COMMIT}", "exported settings, by its config classes and validation")

    @hypothesis.given(plans())
    def check(plan):
        hypothesis.assume(not errors_for(plan, "megatron-bridge"))
        counted.case()
        (text,) = rankwright.export(plan, "megatron-bridge").values()
        counted.same(None, refusal(text, plan["world_size"]), f"{plan}\n{text}")

    check()
