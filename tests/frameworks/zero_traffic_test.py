"""One training step of DeepSpeed with ZeRO on two gloo processes: its collectives against the rows of `explain`. The model
is transformers' Llama, the config is the exported one with PyTorch's Adam, because DeepSpeed's own is compiled."""

import collections
import json
import os
import pathlib
import tempfile

import judges
import pytest
import rankwright
import torch
from torch.utils._python_dispatch import TorchDispatchMode

RANKS, MICROBATCHES = 2, 2
SHAPE = {"architecture": "llama", "hidden": 64, "layers": 4, "heads": 4, "kv_heads": 4, "ffn": 128, "vocab": 256,
         "tied": False}  # fmt: skip
OPS = {
    "c10d._allgather_base_": ("all-gather", 0),  # bytes of the whole tensor
    "c10d.allgather_": ("all-gather", 0),
    "c10d._reduce_scatter_base_": ("reduce-scatter", 1),
    "c10d.reduce_scatter_": ("reduce-scatter", 1),
    "c10d.allreduce_": ("all-reduce", 0),
    "c10d.allreduce_coalesced_": ("all-reduce", 0),
    "c10d.allgather_into_tensor_coalesced_": ("all-gather", 0),
    "c10d.reduce_": ("reduce", 0),
    "c10d.broadcast_": ("broadcast", 0),
}


def size_of(value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(size_of(one) for one in value) if isinstance(value, (list, tuple)) else 0


class Recorder(TorchDispatchMode):
    """Lists the bytes of the whole tensor of each call by collective."""

    def __init__(self):
        super().__init__()
        self.calls = collections.defaultdict(list)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function).removesuffix(".default")
        if name.startswith("c10d.") and name not in ("c10d.barrier", "c10d.monitored_barrier_"):
            collective, whole = OPS[name]
            self.calls[collective].append(size_of(args[whole]))
        return function(*args, **(kwargs or {}))


def train(rank, config, folder):
    """Runs two steps as one rank and writes the collectives of the second."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)}
    torch.set_num_threads(1)
    import deepspeed
    import deepspeed.comm.torch
    from transformers import LlamaConfig, LlamaForCausalLM

    deepspeed.comm.torch.build_shm_op = lambda: None  # would replace gloo's collectives on one machine
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    deepspeed.init_distributed("gloo")
    shape = LlamaConfig(hidden_size=SHAPE["hidden"], num_hidden_layers=SHAPE["layers"], vocab_size=SHAPE["vocab"],
                        num_attention_heads=SHAPE["heads"], num_key_value_heads=SHAPE["kv_heads"],
                        intermediate_size=SHAPE["ffn"], tie_word_embeddings=False)  # fmt: skip
    with deepspeed.zero.Init(config_dict_or_path=config, enabled=config["zero_optimization"]["stage"] == 3):
        model = LlamaForCausalLM(shape)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    for _ in range(2):
        with Recorder() as recorder:
            for _ in range(MICROBATCHES):
                tokens = torch.zeros(1, 32, dtype=torch.int64)
                engine.backward(engine(input_ids=tokens, labels=tokens).loss)
                engine.step()
    if rank == 0:
        pathlib.Path(folder, "calls.json").write_text(json.dumps(recorder.calls), "utf-8")
    torch.distributed.destroy_process_group()


def make(zero):
    return {"world_size": RANKS, "model": SHAPE, "parallelism": {"dp_size": RANKS, "zero_stage": zero, "micro_batch": 1},
            "job": {"global_batch": RANKS * MICROBATCHES, "sequence": 32}, "software": {"framework": "deepspeed"}}  # fmt: skip


def record(plan):
    config = json.loads(rankwright.export(plan, "deepspeed")["deepspeed.json"])
    config["optimizer"]["params"] = {"torch_adam": True}
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(train, (config, folder), nprocs=RANKS)
        return json.loads(pathlib.Path(folder, "calls.json").read_text("utf-8"))


