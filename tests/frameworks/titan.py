"""torchtitan on CPUs with fake tensors: the model of an exported config, with its parallelism applied."""

import os
import types
import unittest.mock

import rankwright
import torch
import torch._utils
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.pipelining import PipelineStage
from torch.distributed.tensor import DTensor, Shard

# torchtitan takes the device of the machine, and "cuda" where it finds none.
torch._utils._get_available_device_type = lambda: "cpu"
torch._utils._get_device_module = lambda _: torch.cpu

import torchtitan.distributed.utils as dist_utils  # noqa: E402
from torchtitan.distributed import ParallelDims, pipeline_parallel  # noqa: E402
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


def cut_stages(config, layers):
    """Leaves the first layers of the model, equally many in every stage of the pipeline."""
    parts = config.parallelism.module_fqns_per_model_part or []  # none: torchtitan splits layers evenly
    config.model_spec.model.layers = config.model_spec.model.layers[:layers]
    for i, part in enumerate(parts):
        each = layers // len(parts)
        first = next(n for n, module in enumerate(part) if module.startswith("layers."))
        others = [module for module in part if not module.startswith("layers.")]
        parts[i] = others[:first] + [f"layers.{each * i + n}" for n in range(each)] + others[first:]


def run_pipeline(monkeypatch, config, world, tokens, layers, on_send):
    """Runs one step of torchtitan's pipeline of this many layers on this rank. on_send(direction, operation) is called
    for every send. Requires: the process group exists.

    Stages learn the shapes of their inputs from their neighbors, which do not exist here: they are stated instead.
    """
    spec, dims = config.model_spec, ParallelDims.from_config(config.parallelism, world)

    def boundary(index, stages, gradient=False):
        """Returns the input of a stage, or the output of the one before it. With TP it is split along the sequence."""
        dtype, shape = torch.bfloat16, (1, tokens, spec.model.dim)
        if index == 0:
            dtype, shape = torch.int64, (1, tokens)
        elif index == stages:
            shape = (1, tokens, spec.model.vocab_size)
        parts = config.parallelism.tensor_parallel_degree
        split = parts > 1 and 0 < index < stages
        if split:
            shape = (1, tokens // parts, spec.model.dim)
        part = torch.empty(shape, dtype=dtype, device="meta", requires_grad=dtype.is_floating_point and not gradient)
        return DTensor.from_local(part, dims.get_mesh(["tp"]), [Shard(1)], run_check=False) if split else part

    class Stage(PipelineStage):
        def __init__(self, module, index, stages, device, **more):
            ends = {"input_args": boundary(index, stages), "output_args": boundary(index + 1, stages)}
            if index > 0:
                ends["input_grads"] = boundary(index, stages, gradient=True)
            if index + 1 < stages:
                ends["output_grads"] = boundary(index + 1, stages, gradient=True)
            super().__init__(module, index, stages, device, **ends, **more)

        def get_fwd_send_ops(self, *args):
            return [on_send("forward", one) for one in super().get_fwd_send_ops(*args)]

        def get_bwd_send_ops(self, *args):
            return [on_send("backward", one) for one in super().get_bwd_send_ops(*args)]

        def _warmup_forward_vote(self, *_, **__):
            return types.SimpleNamespace(item=lambda: 1)  # shapes are stated on all stages

        def _warmup_backward_result(self, *_, **__):
            return types.SimpleNamespace(item=lambda: 1)

    monkeypatch.setattr(pipeline_parallel, "PipelineStage", Stage)
    cut_stages(config, layers)
    dist_utils.set_spmd_backend(config.parallelism.spmd_backend)
    spec.model.update_from_config(config=config)
    with torch.device("meta"):
        model = spec.model.build()
    schedule, parts, first, last = pipeline_parallel.pipeline_llm(
        model, parallel_dims=dims, training=config.training, parallelism=config.parallelism,
        compile_config=config.compile, ac_config=config.activation_checkpoint, dump_folder=os.devnull,
        device=torch.device("cpu"), model_config=spec.model, parallelize_fn=spec.parallelize_fn,
        loss_fn=lambda logits, _: (logits.float().sum(), None))  # fmt: skip
    with FakeTensorMode(allow_non_fake_inputs=True):
        for part in parts:
            part.to_empty(device="cpu")
        batch = torch.zeros(config.training.local_batch_size, tokens, dtype=torch.int64)
        schedule.step(*([batch] if first else []), **({"target": batch, "losses": []} if last else {}))


def replace_attention(monkeypatch, forward):
    """Replaces FlexAttention, whose kernel needs a GPU."""
    for name in dir(attention):
        if name.startswith("FlexAttention") and isinstance(getattr(attention, name), type):
            monkeypatch.setattr(getattr(attention, name), "forward", forward)
