"""One training step of torchtitan with fake tensors and a fake process group: its collectives, by group of ranks,
against the rows of `explain`. Attention is replaced by a stand-in without communication, because its kernel needs a
GPU, and experts are loaded evenly, because fake tensors have no values to route by. Models have four layers: all layers
of these models are equal, and so are their collectives."""

import collections

import judges
import pytest
import rankwright
import titan
import torch
import torch.distributed as dist
from conftest import choose
from plans import outline
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.distributed_c10d import _resolve_process_group
from torch.distributed.tensor.experimental._context_parallel import _cp_custom_ops
from torch.utils._python_dispatch import TorchDispatchMode
from torchtitan.distributed.context_parallel import api as context_parallel_api
from torchtitan.models.common.token_dispatcher import AllToAllTokenDispatcher

LAYERS = 4
SEQUENCE = 2048
VERSION = judges.version("torchtitan")
OPS = {
    "c10d._allgather_base_": ("all-gather", 0),  # bytes of the whole: the output is the first argument
    "c10d._reduce_scatter_base_": ("reduce-scatter", 1),
    "c10d.allreduce_": ("all-reduce", 0),
    "_c10d_functional.all_gather_into_tensor": ("all-gather", None),
    "_c10d_functional.reduce_scatter_tensor": ("reduce-scatter", 0),
    "_c10d_functional.all_reduce": ("all-reduce", 0),
    "_c10d_functional.all_to_all_single": ("all-to-all", 0),
}


def size_of(value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(size_of(one) for one in value) if isinstance(value, (list, tuple)) else 0


class Recorder(TorchDispatchMode):
    """Counts calls and bytes of the whole tensor by members of the group and collective."""

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
        else:
            # Sends are counted by direction, in on_send.
            silent = any(word in name for word in ("send", "recv", "wait"))
            assert silent or not name.startswith(("c10d.", "_c10d")), name
        return result

    def ranks(self, name, args):
        for one in args:
            if isinstance(one, str) and name.startswith("_c10d_functional") and one not in ("sum", "avg"):
                return judges.ranks_of(_resolve_process_group(one))
            if isinstance(one, torch.ScriptObject):
                return judges.ranks_of(dist.ProcessGroup.unbox(one))
        raise AssertionError(f"{name} has no group: {args}")

    def on_send(self, direction, send):
        self.add(f"send/recv {direction}", judges.ranks_of(send.group), size_of(send.tensor))
        return send

    def add(self, collective, ranks, amount):
        if len(ranks) == 1:
            return
        size, first, last = outline(ranks)
        key = (size, *first, last), collective
        self.calls[key] += 1
        self.bytes[key] += amount


def stand_in(self, q_BLNH, k_BLNH, v_BLNH, **_):
    """Has the inputs and the output of attention, and gradients for all of them."""
    heads = q_BLNH.shape[2] // k_BLNH.shape[2]
    return q_BLNH + (k_BLNH + v_BLNH).repeat_interleave(heads, 2).mean(1, keepdim=True)


class GatherKeys(torch.autograd.Function):
    """PyTorch's gather of keys and values over cp, and its backward. As custom operators, both would be one
    operation each for a recorder."""

    @staticmethod
    def forward(ctx, k, v, dim, group):
        ctx.call = dim, group
        return _cp_custom_ops.flex_cp_allgather._init_fn(k, v, dim, group)

    @staticmethod
    def backward(ctx, k, v):
        return *_cp_custom_ops.flex_cp_allgather_backward._init_fn(k, v, *ctx.call), None, None


def even_load(self, routed_input_ND, received, ranks):
    """Replaces the exchange of counts by an equal number of tokens from and for every rank."""
    each = [self.rankwright_copies // ranks] * ranks
    return torch.ops._c10d_functional.wait_tensor(received).reshape(-1), each, each


@pytest.fixture
def kernels(monkeypatch):
    titan.replace_attention(monkeypatch, stand_in)
    monkeypatch.setattr(context_parallel_api, "flex_cp_allgather", GatherKeys.apply)
    reorder = AllToAllTokenDispatcher._local_reorder

    def count(self, *args):
        result = reorder(self, *args)
        self.rankwright_copies = result[0].shape[0]
        return result

    monkeypatch.setattr(AllToAllTokenDispatcher, "_local_reorder", count)
    monkeypatch.setattr(AllToAllTokenDispatcher, "_sync_token_count_exchange", even_load)
    return monkeypatch


def step(monkeypatch, plan, pp_rank):
    """Runs one step of the exported config on the first rank of `pp_rank` and returns what it sent."""
    config, p = titan.load(plan), plan["parallelism"]
    world, tokens = plan["world_size"], SEQUENCE // p["cp_size"]
    with judges.fake_world(world, pp_rank * world // p["pp_size"]), Recorder() as recorder:
        if p["pp_size"] > 1:
            titan.run_pipeline(monkeypatch, config, world, tokens, LAYERS, recorder.on_send)
        else:
            model = titan.build(config, world, LAYERS)
            with FakeTensorMode(allow_non_fake_inputs=True):
                model.to_empty(device="cpu")
                model(torch.zeros(p["micro_batch"], tokens, dtype=torch.int64)).float().sum().backward()
    return recorder


def make(model="llama-3.1-8b", tp=1, cp=1, pp=1, dp=1, ep=1, microbatches=1, **more):
    parallelism = {"tp_size": tp, "cp_size": cp, "pp_size": pp, "dp_size": dp, "zero_stage": 3, "micro_batch": 1,
                   "sequence_parallel": tp > 1}  # fmt: skip
    if ep > 1:
        parallelism |= {"ep_size": ep, "etp_size": 1}
    if cp > 1:
        parallelism["cp_comm"] = "all_gather"
    return {"world_size": tp * cp * pp * dp, "model": model, "parallelism": parallelism | more,
            "job": {"global_batch": dp * microbatches, "sequence": SEQUENCE, "grad_dtype": "fp32"},
            "software": {"target": "torchtitan"}}  # fmt: skip


SHAPES = {
    "llama-3.1-8b": {"architecture": "llama", "hidden": 4096, "layers": LAYERS, "heads": 32, "kv_heads": 8,
                     "ffn": 14336, "vocab": 128256, "tied": False},
    "qwen3-30b-a3b": {"architecture": "qwen3_moe", "hidden": 2048, "layers": LAYERS, "heads": 32, "kv_heads": 4,
                      "head_dim": 128, "expert_ffn": 768, "vocab": 151936, "experts": 128, "active_experts": 8,
                      "tied": False},
}  # fmt: skip


def outline_of(groups, name):
    """Returns the outline of a group of explain. It lists neither replicas, nor dp-cp where that equals dp or cp."""
    if name == "replicate":
        stride, size = groups["shard"]["size"], groups.get("dp-cp", groups["dp"])["size"] // groups["shard"]["size"]
        first = groups["shard"]["members"][0]
        return outline(range(first, first + stride * size, stride))
    group = groups.get(name) or groups.get("dp") or groups["cp"]
    return outline(group["members"], group["size"])


def explained(plan, rank):
    """Returns our rows of a rank by outline of the group and collective: (calls, bytes of all calls). The loss and the
    norm of the gradients are not part of the recorded step."""
    calls, amounts = collections.Counter(), collections.Counter()
    view = rankwright.explain(plan | {"model": SHAPES[plan["model"]]}, rank=rank).data
    groups = {group["group"]: group for group in view["groups"]}
    for row in view["communication"]:
        if row["communication"] in ("TP cross-entropy", "gradient norm"):
            continue
        size, first, last = outline_of(groups, row["group"])
        collective = row["collective"]
        if collective == "send/recv" and row["group"] == "pp":
            collective = row["communication"].removeprefix("PP ")  # names the direction
        key = (size, *first, last), collective
        calls[key] += row["calls"]
        amounts[key] += row["total_bytes"]
    return {key: (calls[key], round(amounts[key])) for key in calls}


def judge(counted, monkeypatch, plan):
    """Compares all rows of all pp ranks."""
    pipeline = plan["parallelism"]["pp_size"]
    for pp_rank in range(pipeline):
        ours = explained(plan, pp_rank * plan["world_size"] // pipeline)
        recorder = step(monkeypatch, plan, pp_rank)
        for key in sorted(set(ours) | set(recorder.calls)):
            counted.same(ours.get(key, (0, 0)), (recorder.calls[key], recorder.bytes[key]), f"{plan}: pp rank {pp_rank}, {key}")


DENSE = [{"dp": 8}, {"tp": 2, "dp": 4}, {"tp": 4, "dp": 2}, {"tp": 8, "dp": 16}, {"dp": 8, "shard_size": 4},
         {"dp": 64, "shard_size": 8}, {"dp": 256}, {"tp": 2, "dp": 4, "recompute": "full"},
         {"tp": 2, "dp": 4, "recompute": "selective"}, {"cp": 2, "dp": 2}, {"cp": 4}, {"cp": 8, "dp": 4},
         {"tp": 2, "cp": 2, "dp": 2}, {"cp": 2, "dp": 4, "shard_size": 4}]  # fmt: skip
SPARSE = [{"dp": 4, "ep": 2}, {"dp": 8, "ep": 8}, {"dp": 16, "ep": 4}, {"dp": 4, "tp": 2, "ep": 4}, {"dp": 8, "cp": 2, "ep": 8},
          {"dp": 4, "ep": 2, "recompute": "full"}, {"dp": 4, "tp": 2, "ep": 2}, {"dp": 4, "tp": 4, "ep": 2},
          {"dp": 2, "tp": 2, "cp": 2, "ep": 2}]  # fmt: skip


def name(layout):
    return " ".join(f"{key.upper() if len(key) == 2 else key} {value}" for key, value in layout.items())


@pytest.mark.parametrize("model, layout", [("llama-3.1-8b", one) for one in choose(DENSE)]
                         + [("qwen3-30b-a3b", one) for one in choose(SPARSE)])  # fmt: skip
def test_collectives_of_one_step(tally, kernels, model, layout):
    counted = tally("torchtitan", VERSION, f"traffic of one step, {model}: {name(layout)}")
    counted.case()
    judge(counted, kernels, make(model, **layout))


PIPELINES = [{"pp": 2, "dp": 2}, {"pp": 2, "dp": 2, "schedule": "gpipe"}, {"pp": 4, "dp": 4},
             {"pp": 2, "dp": 2, "virtual_stages": 2}, {"pp": 2, "dp": 4, "shard_size": 2},
             {"cp": 2, "pp": 2, "dp": 2}, {"tp": 2, "pp": 2, "dp": 2}, {"tp": 4, "pp": 2, "dp": 4, "virtual_stages": 2},
             {"tp": 2, "cp": 2, "pp": 2, "dp": 2}]  # fmt: skip


SPARSE_PIPELINES = [{"pp": 2, "dp": 4, "ep": 2}, {"tp": 2, "pp": 2, "dp": 4, "ep": 4}]


@pytest.mark.parametrize("model, layout", [("llama-3.1-8b", one) for one in choose(PIPELINES)]
                         + [("qwen3-30b-a3b", one) for one in choose(SPARSE_PIPELINES)])  # fmt: skip
def test_collectives_of_a_pipeline(tally, kernels, model, layout):
    counted = tally("torchtitan", VERSION, f"traffic of one step, {model}: {name(layout)}, 4 micro-batches")
    counted.case()
    judge(counted, kernels, make(model, **layout, microbatches=4))
