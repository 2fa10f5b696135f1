"""The groups of ranks that Rankwright computes are those that the frameworks create."""

import hypothesis
import judges
import pytest
from hypothesis import strategies as st
from plans import DEFAULT_ORDER, divisors, groups_of, layouts, make_plan, orders, outline

MAX_MESH_WORLD = 512  # a DeviceMesh creates a process group per group; 16,384 ranks take seconds


def sample(data, world):
    """Draws a few ranks, always with the first and the last."""
    more = data.draw(st.lists(st.integers(0, world - 1), max_size=2))
    return sorted({0, world - 1, *more})


def compare(tally, plan, layout, rank, theirs):
    """Compares groups by name. A group of one rank is not listed by Rankwright."""
    ours = groups_of(plan, rank)
    for name, members in theirs.items():
        expected = outline(members) if len(members) > 1 else None
        tally.same(ours.get(name), expected, f"{layout}: group {name} of rank {rank}")


def sequential(order=DEFAULT_ORDER, **more):
    return layouts(order=st.just(order), **more)


# Megatron-LM: the function that creates all groups, with its process groups recorded.

MEGATRON = {
    "tp": "TENSOR_MODEL_PARALLEL_GROUP",
    "cp": "CONTEXT_PARALLEL_GROUP",
    "pp": "PIPELINE_MODEL_PARALLEL_GROUP",
    "dp": "DATA_PARALLEL_GROUP",
    "ep": "EXPERT_MODEL_PARALLEL_GROUP",
    "etp": "EXPERT_TENSOR_PARALLEL_GROUP",
    "edp": "EXPERT_DATA_PARALLEL_GROUP",
}


def megatron_groups(layout, world, monkeypatch):
    """Returns the groups that initialize_model_parallel creates, by their names."""
    import torch
    from megatron.core import parallel_state

    created = {}

    def create_group(ranks=None, group_desc=None, **_):
        created.setdefault(group_desc, []).append(list(ranks))
        return object()

    with monkeypatch.context() as patch:
        patch.setattr(parallel_state, "create_group", create_group)
        patch.setattr(torch.distributed, "is_initialized", lambda: True)
        patch.setattr(torch.distributed, "get_world_size", lambda *_: world)
        patch.setattr(torch.distributed, "get_rank", lambda *_: 0)
        parallel_state.destroy_model_parallel()
        shards = layout.get("shard") or layout["dp"] * layout["cp"]
        parallel_state.initialize_model_parallel(
            tensor_model_parallel_size=layout["tp"],
            pipeline_model_parallel_size=layout["pp"],
            context_parallel_size=layout["cp"],
            expert_model_parallel_size=layout.get("ep", 1),
            expert_tensor_parallel_size=layout.get("etp", layout["tp"]),
            num_distributed_optimizer_instances=layout["dp"] * layout["cp"] // shards,
            order=layout["order"],
            create_gloo_process_groups=False,
        )
    return created


def holding(groups, rank):
    [found] = [group for group in groups if rank in group]
    return found


@pytest.mark.filterwarnings("ignore")
def test_megatron(tally, monkeypatch):
    counted = tally("megatron-core", judges.version("megatron-core"), "rank groups")

    @hypothesis.given(layouts(order=orders, zero=st.sampled_from([0, 1])), st.data())
    def check(layout, data):
        plan = make_plan(**layout)
        world = plan["world_size"]
        groups_of(plan, 0)  # discards a plan that no framework can run
        try:
            created = megatron_groups(layout, world, monkeypatch)
        except (AssertionError, RuntimeError):
            # It refuses orders in which the pp groups of both meshes differ, and optimizer instances that do
            # not divide the experts' data ranks: configs_test compares refusals.
            hypothesis.reject()
        counted.case()
        for rank in sample(data, world):
            names = {k: v for k, v in MEGATRON.items() if layout.get("sparse") or k[0] != "e"}
            if layout.get("shard"):
                names.pop("edp", None)  # created twice, whole and per instance
            theirs = {name: holding(created[desc], rank) for name, desc in names.items()}
            if layout["cp"] > 1:
                theirs["dp-cp"] = holding(created["DATA_PARALLEL_GROUP_WITH_CP"], rank)
            if layout["zero"] and 1 < layout.get("shard", 1) < layout["dp"] * layout["cp"]:
                partial = created["INTRA_PARTIAL_DATA_PARALLEL_GROUP_WITH_CP"]
                theirs["shard"] = holding(partial, rank)
            compare(counted, plan, layout, rank, theirs)

    check()


# torchtitan: ParallelDims.build_mesh() over a fake process group.


def titan_groups(dims, layout):
    def ranks(*names):
        mesh = dims.get_optional_mesh(list(names), include_singleton_axes=True)
        mesh = mesh if len(names) == 1 else mesh._flatten("-".join(names))
        return judges.ranks_of(mesh.get_group())

    theirs = {"pp": ranks("pp"), "cp": ranks("cp"), "tp": ranks("tp"), "dp": ranks("batch")}
    if layout["cp"] > 1:
        theirs["dp-cp"] = ranks("loss")
    if dims.dp_replicate > 1 and dims.dp_shard * dims.cp > 1:
        theirs["shard"] = ranks("dp_shard", "cp")
    if layout.get("ep", 1) > 1:
        theirs["ep"] = ranks("ep")
        theirs["edp"] = ranks("dp_replicate", "efsdp")
    return theirs


def check_torchtitan(counted, layout, data, max_world):
    from torchtitan.distributed import ParallelDims

    plan = make_plan(**layout)
    world, shards = plan["world_size"], layout.get("shard") or layout["dp"] * layout["cp"]
    hypothesis.assume(world <= max_world and shards % layout["cp"] == 0)
    hypothesis.assume(shards * layout["tp"] % layout.get("ep", 1) == 0)
    groups_of(plan, 0)
    counted.case()
    for rank in sample(data, world):
        with judges.fake_world(world, rank):
            dims = ParallelDims(
                dp_replicate=layout["dp"] * layout["cp"] // shards, dp_shard=shards // layout["cp"],
                cp=layout["cp"], tp=layout["tp"], pp=layout["pp"], ep=layout.get("ep", 1),
                world_size=world)  # fmt: skip
            dims.build_mesh()
            compare(counted, plan, layout, rank, titan_groups(dims, layout))


def test_torchtitan(tally):
    counted = tally("torchtitan", judges.version("torchtitan"), "rank groups")

    @hypothesis.settings(max_examples=max(20, hypothesis.settings().max_examples // 4))
    @hypothesis.given(sequential(zero=st.just(3), cut_experts=False), st.data())
    def check(layout, data):
        check_torchtitan(counted, layout, data, MAX_MESH_WORLD)

    check()


def test_torchtitan_at_16384_ranks(tally):
    counted = tally("torchtitan", judges.version("torchtitan"), "rank groups of 16,384 ranks")

    @hypothesis.settings(max_examples=1)
    @hypothesis.given(st.data())
    def check(data):
        layout = {"tp": 8, "cp": 2, "pp": 4, "dp": 256, "order": DEFAULT_ORDER, "zero": 3, "shard": 64,
                  "sparse": True, "ep": 16, "etp": 1}  # fmt: skip
        check_torchtitan(counted, layout, data, 16384)

    check()


# DeepSpeed: the grid of its pipeline engine, and the ranks of its expert groups.


def test_deepspeed(tally):
    from deepspeed.runtime.pipe.topology import PipeModelDataParallelTopology
    from deepspeed.utils.groups import _get_expert_parallel_ranks

    counted = tally("DeepSpeed", judges.version("deepspeed"), "rank groups")
    one = st.just(1)

    @hypothesis.given(sequential(contexts=one, zero=one), st.data())
    def check(layout, data):
        layout["etp"] = layout["tp"]  # its experts are cut like dense layers
        hypothesis.assume(layout["dp"] % layout.get("ep", 1) == 0)
        layout.pop("shard", None)
        plan = make_plan(**layout)
        world = plan["world_size"]
        hypothesis.assume(world <= 2048)
        topology = PipeModelDataParallelTopology(layout["pp"], layout["tp"], layout["dp"])
        axes = {"pp": "pipe", "tp": "model", "dp": "data"}
        lists = {name: topology.get_axis_comm_lists(axis) for name, axis in axes.items()}
        if layout.get("ep", 1) > 1:
            lists["ep"], lists["edp"] = _get_expert_parallel_ranks(
                world, layout["tp"], layout["ep"], layout["pp"])  # fmt: skip
        counted.case()
        for rank in sample(data, world):
            theirs = {k: next((g for g in v if rank in g), [rank]) for k, v in lists.items()}
            compare(counted, plan, layout, rank, theirs)

    check()


# accelerate: the device mesh of its ParallelismConfig.


def test_accelerate(tally):
    from accelerate.parallelism_config import ParallelismConfig

    counted = tally("accelerate", judges.version("accelerate"), "rank groups")

    @hypothesis.settings(max_examples=max(20, hypothesis.settings().max_examples // 2))
    @hypothesis.given(sequential(pipelines=st.just(1), sparse=st.just(False), zero=st.just(3)), st.data())
    def check(layout, data):
        plan = make_plan(**layout)
        world, cp = plan["world_size"], layout["cp"]
        shards = layout.get("shard") or layout["dp"] * cp
        hypothesis.assume(world <= MAX_MESH_WORLD and shards % cp == 0)
        replicas = layout["dp"] * cp // shards
        # It refuses replicas of one data rank with tp or cp: accelerate_test compares refusals.
        hypothesis.assume(shards > cp or replicas == 1)
        groups_of(plan, 0)
        counted.case()
        for rank in sample(data, world):
            with judges.fake_world(world, rank):
                config = ParallelismConfig(dp_replicate_size=replicas, dp_shard_size=shards // cp,
                                           cp_size=cp, tp_size=layout["tp"])  # fmt: skip
                mesh = config.build_device_mesh("cpu")
                names = {"tp": "tp", "cp": "cp"}
                theirs = {k: judges.ranks_of(mesh[v].get_group())
                          for k, v in names.items() if v in mesh.mesh_dim_names}  # fmt: skip
                if replicas > 1:
                    theirs["shard"] = judges.ranks_of(mesh["dp_shard_cp"].get_group())
                if cp > 1:
                    theirs["dp-cp"] = judges.ranks_of(mesh["dp_cp"].get_group())
                compare(counted, plan, layout, rank, theirs)

    check()


# nanotron: ParallelContext over a fake process group; from a checkout, because its wheel does not import.


def test_nanotron(tally):
    commit = judges.use_checkout("RANKWRIGHT_NANOTRON", "src")
    from nanotron.parallel import ParallelContext

    class Context(ParallelContext):
        def set_device(self):
            pass  # there is no GPU to select

    counted = tally("nanotron", f"main {commit}", "rank groups")

    @hypothesis.settings(max_examples=max(20, hypothesis.settings().max_examples // 4))
    @hypothesis.given(sequential(sparse=st.just(False), zero=st.just(0)), st.data())
    def check(layout, data):
        plan = make_plan(**layout)
        world = plan["world_size"]
        hypothesis.assume(world <= MAX_MESH_WORLD and world % 8 == 0)
        counted.case()
        for rank in sample(data, world):
            with judges.fake_world(world, rank):
                context = Context(layout["tp"], layout["pp"], layout["dp"], layout["cp"])
                theirs = {name: judges.ranks_of(getattr(context, f"{name}_pg")) for name in ("tp", "cp", "pp", "dp")}
                if layout["cp"] > 1:
                    theirs["dp-cp"] = judges.ranks_of(context.dp_cp_pg)
                compare(counted, plan, layout, rank, theirs)

    check()


def test_divisors():
    assert divisors(12) == [1, 2, 3, 4, 6, 12]
