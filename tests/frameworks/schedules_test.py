"""The order of cells that Rankwright computes is the one that the frameworks execute, cell by cell, and each
framework refuses the schedules that `check --for` refuses."""

import types
from unittest import mock

import hypothesis
import judges
import pytest
import rankwright
from hypothesis import strategies as st
from plans import cells_of, errors_for, make_plan

shapes = st.fixed_dictionaries({"pp": st.integers(2, 8), "microbatches": st.integers(1, 20)})
chunked = st.fixed_dictionaries(
    {"pp": st.integers(2, 6), "microbatches": st.integers(1, 20), "chunks": st.integers(2, 4)}
)


@st.composite
def grouped(draw):
    """Draws groups of at least pp microbatches; no framework has smaller ones."""
    pp = draw(st.integers(2, 4))
    group = draw(st.integers(pp, pp + 6))
    return {"pp": pp, "chunks": draw(st.integers(2, 3)), "microbatch_group": group,
            "microbatches": draw(st.integers(group, 3 * group))}  # fmt: skip


v_shaped = st.fixed_dictionaries(
    {"pp": st.integers(2, 6), "microbatches": st.integers(1, 24), "chunks": st.just(2)}
)


def compare(counted, plan, shape, target, theirs):
    """Compares the cells of all ranks, or the refusals. `theirs` is None where the framework refuses."""
    counted.case()
    ours = None if errors_for(plan, target) else cells_of(plan)
    counted.same(ours is None, theirs is None, f"{shape}: refused, {errors_for(plan, target)}")
    for rank, cells in enumerate(theirs or []):
        counted.same(ours[rank], cells, f"{shape}: pp rank {rank}")


# torch.distributed.pipelining. GPipe and 1F1B are executed with a stage that records its calls: what the class
# lists as its order is off by one microbatch on the last rank. The others execute the order that they list.


class RecordingStage:
    """A stage that writes down its forward and backward calls."""

    has_backward = True

    def __init__(self, index, stages):
        self.stage_index, self.num_stages, self.group_size, self.group_rank = index, stages, stages, index
        self.is_first, self.is_last = index == 0, index == stages - 1
        self.cells = []

    def forward_one_chunk(self, microbatch, *_, **__):
        self.cells.append(f"{self.stage_index}F{microbatch}")

    def backward_one_chunk(self, microbatch, **_):
        self.cells.append(f"{self.stage_index}B{microbatch}")

    def transfers(self, *_):
        return []

    get_fwd_recv_ops = get_fwd_send_ops = get_bwd_recv_ops = get_bwd_send_ops = transfers

    def perform_reduce_grad(self, *_):
        pass


def run_single(schedule, shape, monkeypatch):
    """Returns the cells that a schedule with one stage per rank executes, by rank."""
    ranks = []
    monkeypatch.setattr(schedule, "_initialize_stage", lambda *_, **__: None)
    for rank in range(shape["pp"]):
        stage = RecordingStage(rank, shape["pp"])
        made = schedule(stage, shape["microbatches"])
        made._step_microbatches([()] * shape["microbatches"], [{}] * shape["microbatches"])
        ranks.append(stage.cells)
    return ranks


def make_stages(shape):
    pp, chunks = shape["pp"], shape.get("chunks", 1)
    common = {"num_stages": pp * chunks, "group_size": pp, "group_rank": 0, "submod": None, "has_backward": True}
    return [types.SimpleNamespace(stage_index=i * pp, is_first=i == 0, is_last=False, **common) for i in range(chunks)]


def list_cells(schedule, shape):
    """Returns the cells that a schedule with several stages per rank lists, without its FSDP actions."""
    order = schedule(make_stages(shape), shape["microbatches"]).pipeline_order
    return [clean(order[rank]) for rank in range(shape["pp"])]


def load_cells(file, shape, folder):
    """Returns the cells of a schedule file after torch read it, checked it and added its transfers."""
    from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

    path = folder / "schedule.csv"
    path.write_text(file, "utf-8")
    runtime = _PipelineScheduleRuntime(make_stages(shape), shape["microbatches"])
    runtime._load_csv(str(path))
    return [clean(runtime.pipeline_order[rank]) for rank in range(shape["pp"])]


def clean(actions):
    skipped = ("UNSHARD", "RESHARD", "REDUCE_GRAD")
    return [str(a) for a in actions if a is not None and not str(a).endswith(skipped)]


def judge_torch(tally, folder, ours, theirs, strategy, answer):
    """Compares what runs after an export: the order of torch's class, or that of the exported schedule file."""
    from torch.distributed.pipelining import schedules

    counted = tally("torch", judges.version("torch"), f"schedule {ours}")

    @hypothesis.given(strategy)
    def check(shape):
        plan = make_plan(dp=2, zero=2, schedule=ours, **shape)
        refused = errors_for(plan, "torchtitan")
        file = None if refused else rankwright.export(plan, "torchtitan").get("torchtitan_schedule.csv")
        if answer is None and file is None:  # no class has the schedule: any order can be written as a file
            file = "\n".join(",".join(rank) for rank in cells_of(plan))
        try:
            listed = load_cells(file, shape, folder) if file else answer(getattr(schedules, theirs), shape)
        except ValueError:
            listed = None
        compare(counted, plan, shape, "torchtitan", listed)

    check()


@pytest.mark.parametrize("ours, theirs", [("gpipe", "ScheduleGPipe"), ("1f1b", "Schedule1F1B")])
def test_torch_one_stage_per_rank(tally, tmp_path, monkeypatch, ours, theirs):
    def run(schedule, shape):
        return run_single(schedule, shape, monkeypatch)

    judge_torch(tally, tmp_path, ours, theirs, shapes, run)


@pytest.mark.parametrize("ours", ["zb-h1", "zb-2p"])
def test_torch_from_a_schedule_file(tally, tmp_path, ours):
    judge_torch(tally, tmp_path, ours, "PipelineScheduleSingle", shapes, None)


@pytest.mark.parametrize(
    "ours, theirs, strategy",
    [
        ("interleaved-1f1b", "ScheduleInterleaved1F1B", chunked),
        ("interleaved-1f1b", "ScheduleInterleaved1F1B", grouped()),
        ("looped-bfs", "ScheduleLoopedBFS", chunked),
        ("interleaved-zb", "ScheduleInterleavedZeroBubble", chunked),
        ("zb-v", "ScheduleZBVZeroBubble", v_shaped),
        ("dualpipe-v", "ScheduleDualPipeV", v_shaped),
    ],
)
def test_torch_many_stages_per_rank(tally, tmp_path, ours, theirs, strategy):
    judge_torch(tally, tmp_path, ours, theirs, strategy, list_cells)


# DeepSpeed: the forward and backward passes of TrainSchedule's instructions.


def test_deepspeed(tally):
    from deepspeed.runtime.pipe import schedule

    counted = tally("DeepSpeed", judges.version("deepspeed"), "schedule 1f1b")

    @hypothesis.given(shapes)
    def check(shape):
        theirs = []
        for rank in range(shape["pp"]):
            made = schedule.TrainSchedule(shape["microbatches"], shape["pp"], rank)
            cells, counts = [], {"F": 0, "B": 0}
            for command in (c for step in made.steps() for c in step):
                kind = {schedule.ForwardPass: "F", schedule.BackwardPass: "B"}.get(type(command))
                if kind:
                    cells.append(f"{rank}{kind}{counts[kind]}")  # buffers are reused; passes are in order
                    counts[kind] += 1
            theirs.append(cells)
        compare(counted, make_plan(dp=2, zero=1, **shape), shape, "deepspeed", theirs)

    check()


# Megatron-LM: its two schedule functions run with recorded passes, and transfers that do nothing.


class _Chunk:
    """Returns a module that stands for one chunk: the schedules read its config and nothing else."""

    def __new__(cls, config, index):
        import torch
        from megatron.core.enums import ModelType

        module = torch.nn.Module()
        module.config, module.model_type, module.index = config, ModelType.encoder_or_decoder, index
        return module


def run_megatron(shape, rank, monkeypatch):
    """Returns the cells that megatron-core executes on a pp rank. Raises what its own checks raise."""
    import torch
    from megatron.core.pipeline_parallel import schedules
    from megatron.core.transformer.transformer_config import TransformerConfig

    pp, chunks, count = shape["pp"], shape.get("chunks", 1), shape["microbatches"]
    config = TransformerConfig(
        num_layers=pp * chunks, hidden_size=64, num_attention_heads=1, use_cpu_initialization=True,
        pipeline_model_parallel_size=pp, pipeline_dtype=torch.float32,
        virtual_pipeline_model_parallel_size=chunks if chunks > 1 else None,
        microbatch_group_size_per_vp_stage=shape.get("microbatch_group"), batch_p2p_comm=True)  # fmt: skip
    cells = []

    def forward_step(_, __, model, *___, current_microbatch, **____):
        cell = (model.index * pp + rank, current_microbatch)
        cells.append("{}F{}".format(*cell))
        return [cell], 0

    def backward_step(_, output, *__):
        cells.append("{}B{}".format(*output[0]))
        return [None]

    group = types.SimpleNamespace(size=lambda: pp, rank=lambda: rank)
    one = types.SimpleNamespace(size=lambda: 1, rank=lambda: 0)
    transfers = mock.MagicMock(pp_group=group, config=config,
                               virtual_pipeline_model_parallel_size=chunks if chunks > 1 else None)  # fmt: skip
    transfers.send_forward_backward_recv_forward_backward.return_value = (None, None)
    groups = types.SimpleNamespace(tp=one, cp=one, pp=group, embd=None, pos_embd=None, dp_cp=one)
    zeros = torch.zeros
    with monkeypatch.context() as patch:
        patch.setattr(schedules, "forward_step", forward_step)
        patch.setattr(schedules, "backward_step", backward_step)
        patch.setattr(torch, "zeros", lambda *a, device=None, **k: zeros(*a, **k))
        run = (schedules.forward_backward_pipelining_with_interleaving if chunks > 1
               else schedules.forward_backward_pipelining_without_interleaving)  # fmt: skip
        run(forward_step_func=None, data_iterator=[None] * chunks, model=[_Chunk(config, c) for c in range(chunks)],
            num_microbatches=count, seq_length=8, micro_batch_size=1, p2p_communicator=transfers,
            pg_collection=groups)  # fmt: skip
    return cells


@pytest.mark.parametrize(
    "name, strategy", [("1f1b", shapes), ("interleaved-1f1b", chunked), ("interleaved-1f1b, groups", grouped())]
)
def test_megatron(tally, monkeypatch, name, strategy):
    counted = tally("megatron-core", judges.version("megatron-core"), f"schedule {name}")

    @hypothesis.given(strategy)
    def check(shape):
        schedule = "1f1b" if "chunks" not in shape else "interleaved-1f1b"
        plan = make_plan(dp=2, zero=1, schedule=schedule, **shape)
        try:
            theirs = [run_megatron(shape, rank, monkeypatch) for rank in range(shape["pp"])]
        except (ValueError, RuntimeError):
            theirs = None
        compare(counted, plan, shape, "megatron", theirs)

    check()
