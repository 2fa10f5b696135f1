"""torchtitan on CPUs with fake tensors: the model of an exported config, with its parallelism applied."""

import os
import unittest.mock

import rankwright
import torch
import torch._utils

# torchtitan takes the device of the machine, and "cuda" where it finds none.
torch._utils._get_available_device_type = lambda: "cpu"
torch._utils._get_device_module = lambda _: torch.cpu

import torchtitan.distributed.utils as dist_utils  # noqa: E402
from torchtitan.distributed import ParallelDims  # noqa: E402
from torchtitan.models.common import attention  # noqa: E402
from torchtitan.models.llama3 import config_registry  # noqa: E402


def load(plan):
    """Returns the config of the exported file."""
    names = {}
    registry = config_registry.model_registry
    # torchtitan's own 405B config converts its layers to fp8, for which it needs torchao and a GPU.
    with unittest.mock.patch.object(config_registry, "model_registry", lambda flavor, **_: registry(flavor)):
        exec(compile(rankwright.export(plan, "torchtitan")["torchtitan_config.py"], "config.py", "exec"), names)
        config = names["rankwright"]()
    # The default backend needs a nightly PyTorch; the collectives are the same.
    config.parallelism.spmd_backend = "partial_dtensor"
    config.compile.enable = False
    return config


def build(config, world, layers=None):
    """Returns the model on the meta device, or the first layers of it. Requires: the process group exists."""
    dims = ParallelDims.from_config(config.parallelism, world)
    dist_utils.set_spmd_backend(config.parallelism.spmd_backend)
    spec = config.model_spec
    if layers:
        spec.model.layers = spec.model.layers[:layers]
    spec.model.update_from_config(config=config)
    with torch.device("meta"):
        model = spec.model.build()
    return spec.parallelize_fn(
        model, parallel_dims=dims, training=config.training, parallelism=config.parallelism,
        compile_config=config.compile, ac_config=config.activation_checkpoint, dump_folder=os.devnull)  # fmt: skip


def replace_attention(monkeypatch, forward):
    """Replaces FlexAttention, whose kernel needs a GPU."""
    for name in dir(attention):
        if name.startswith("FlexAttention") and isinstance(getattr(attention, name), type):
            monkeypatch.setattr(getattr(attention, name), "forward", forward)
