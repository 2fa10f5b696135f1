"""One training step of torchtitan with fake tensors and a fake process group: its collectives, by group, against
the rows of `explain`. Attention is replaced by a stand-in without communication, because its kernel needs a GPU."""

import collections

import judges
import pytest
import rankwright
import titan
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

LAYERS, HIDDEN, SEQUENCE, WIDE, NARROW = 32, 4096, 2048, 4, 2
VERSION = judges.version("torchtitan")
OPS = {
    "c10d._allgather_base_": ("all-gather", 0),  # bytes of the whole: the output is the first argument
    "c10d._reduce_scatter_base_": ("reduce-scatter", 1),
    "c10d.allreduce_": ("all-reduce", 0),
    "_c10d_functional.all_gather_into_tensor": ("all-gather", None),
    "_c10d_functional.reduce_scatter_tensor": ("reduce-scatter", 0),
    "_c10d_functional.all_reduce": ("all-reduce", 0),
}


def size_of(value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(size_of(one) for one in value) if isinstance(value, (list, tuple)) else 0


class Recorder(TorchDispatchMode):
    """Counts calls and bytes of the whole tensor by group size and collective."""

    def __init__(self):
        super().__init__()
        self.calls, self.bytes = collections.Counter(), collections.Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = str(function).removesuffix(".default")
        if name in OPS:
            collective, whole = OPS[name]
            amount = size_of(args[whole]) if whole is not None else size_of(args[0]) * args[1]
            self.add(collective, self.ranks(name, args), amount)
        return result

    def ranks(self, name, args):
        import torch.distributed as dist
        from torch.distributed.distributed_c10d import _resolve_process_group

        for one in args:
            if isinstance(one, str) and name.startswith("_c10d_functional") and one not in ("sum", "avg"):
                return dist.get_world_size(_resolve_process_group(one))
            if isinstance(one, torch.ScriptObject):
                return dist.ProcessGroup.unbox(one).size()
        raise AssertionError(f"{name} has no group: {args}")

    def add(self, collective, ranks, amount):
        self.calls[ranks, collective] += 1
        self.bytes[ranks, collective] += amount


def stand_in(self, q_BLNH, k_BLNH, v_BLNH, **_):
    """Has the inputs and the output of attention, and gradients for all of them."""
    heads = q_BLNH.shape[2] // k_BLNH.shape[2]
    return q_BLNH + (k_BLNH + v_BLNH).repeat_interleave(heads, 2).mean(1, keepdim=True)


def step(plan):
    """Runs one step of the exported config and returns what it sent."""
    config = titan.load(plan)
    with judges.fake_world(plan["world_size"], 0):
        model = titan.build(config, plan["world_size"])
        with FakeTensorMode(allow_non_fake_inputs=True):
            model.to_empty(device="cpu")
            tokens = torch.randint(0, 1000, (plan["parallelism"]["micro_batch"], SEQUENCE))
            with Recorder() as recorder:
                model(tokens).float().sum().backward()
    return recorder


def explained(plan, groups):
    """Returns our rows of these groups by group size and collective: calls, and bytes of all calls. The loss is
    not part of the recorded step."""
    calls, amounts = collections.Counter(), collections.Counter()
    for row in rankwright.explain(plan).data["communication"]:
        if row["group"] in groups and row["communication"] != "TP cross-entropy":
            key = row["group_size"], row["collective"]
            calls[key] += row["calls"]
            amounts[key] += row["total_bytes"]
    return calls, amounts


def make(tp, dp, shard=None):
    parallelism = {"tp_size": tp, "dp_size": dp, "zero_stage": 3, "micro_batch": 1, "sequence_parallel": tp > 1}
    if shard:
        parallelism["shard_size"] = shard
    return {"world_size": tp * dp, "model": "llama-3.1-8b", "parallelism": parallelism,
            "job": {"global_batch": dp, "sequence": SEQUENCE, "grad_dtype": "fp32"},
            "software": {"target": "torchtitan"}}  # fmt: skip


# Where torchtitan differs from the rows of explain, and by how much: calls, bytes of all calls.
NORMS = 2 * LAYERS + 1


def known_differences(tp):
    """Returns {(ranks, collective): (calls, bytes)}, to be added to our rows.

    - With TP, the backward pass does not gather the inputs of layers and head again: they were kept.
    - With TP, the gradient of each norm is all-reduced alone and in bf16, not all of them at once in fp32.
    """
    more = collections.defaultdict(lambda: (0, 0))
    if tp > 1:
        again = 2 * LAYERS + 1
        more[tp, "all-gather"] = (-again, -again * SEQUENCE * HIDDEN * NARROW)
        more[tp, "all-reduce"] = (NORMS - 1, NORMS * HIDDEN * (NARROW - WIDE))
    return more


# The groups of a case have different sizes, so that a size names a group.
@pytest.mark.parametrize("tp, dp, shard", [(1, 8, None), (2, 4, None), (4, 2, None), (8, 16, None), (1, 8, 4),
                                           (1, 64, 8), (1, 256, None)])  # fmt: skip
def test_collectives_of_one_step(tally, monkeypatch, tp, dp, shard):
    counted = tally("torchtitan", VERSION, f"traffic of one step, TP {tp} DP {dp} in shards of {shard or dp}")
    titan.replace_attention(monkeypatch, stand_in)
    plan = make(tp, dp, shard)
    recorder = step(plan)
    calls, amounts = explained(plan, {"tp", "dp", "dp-cp", "shard", "replicate"})
    counted.case()
    more = known_differences(tp)
    for key in sorted(set(calls) | set(recorder.calls)):
        more_calls, more_bytes = more[key]
        ours = (calls[key] + more_calls, round(amounts[key] + more_bytes))
        counted.same(ours, (recorder.calls[key], recorder.bytes[key]), f"{plan}: {key}")
