"""Random plans, and Rankwright's answers about them. Degrees are drawn first and the model is made to fit them,
so that most plans are valid; a plan that is invalid for every framework is discarded."""

import json
import os
import pathlib
import subprocess
import tempfile

import hypothesis
import rankwright
from hypothesis import strategies as st

AXES = ("tp", "cp", "ep", "dp", "pp")
DEFAULT_ORDER = "tp-cp-ep-dp-pp"
MAX_WORLD = 16384

degrees = st.sampled_from([1, 1, 2, 2, 3, 4, 4, 6, 8, 16])
data_degrees = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 32, 48, 64, 128, 256, 512])
orders = st.permutations(AXES).map("-".join)


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def dense_model(layers, heads):
    return {"architecture": "llama", "hidden": 64 * heads, "layers": layers, "heads": heads,
            "kv_heads": heads, "ffn": 256 * heads, "vocab": 1024 * heads}  # fmt: skip


def sparse_model(layers, heads, experts):
    return {"architecture": "mixtral", "hidden": 64 * heads, "layers": layers, "heads": heads,
            "kv_heads": heads, "expert_ffn": 64 * heads, "vocab": 1024 * heads, "experts": experts,
            "active_experts": 1}  # fmt: skip


def make_plan(*, tp=1, cp=1, pp=1, dp=1, ep=1, etp=None, order=None, zero=0, shard=None, micro=1,
              microbatches=None, chunks=1, schedule=None, layers=None, sparse=False, **more):  # fmt: skip
    """Returns a plan file as a dict. `more` are further keys of parallelism."""
    heads = tp * cp
    layers = layers or pp * chunks
    microbatches = microbatches or pp
    parallelism = {"tp_size": tp, "cp_size": cp, "pp_size": pp, "dp_size": dp, "zero_stage": zero,
                   "micro_batch": micro, "sequence_parallel": tp > 1}  # fmt: skip
    if sparse:
        parallelism |= {"ep_size": ep, "etp_size": tp if etp is None else etp}
    if order:
        parallelism["order"] = order
    if shard:
        parallelism["shard_size"] = shard
    if chunks > 1:
        parallelism["virtual_stages"] = chunks
    if schedule:
        parallelism["schedule"] = schedule
    return {
        "world_size": tp * cp * pp * dp,
        "model": sparse_model(layers, heads, ep) if sparse else dense_model(layers, heads),
        "parallelism": parallelism | more,
        "job": {"global_batch": dp * micro * microbatches, "sequence": 2 * tp * cp * 8},
    }


@st.composite
def layouts(draw, *, order=orders, pipelines=degrees, sparse=st.booleans(), zero=st.integers(0, 3),
            contexts=degrees, cut_experts=True):  # fmt: skip
    """Draws the arguments of make_plan for a world of 8 to 16,384 ranks."""
    tp, cp, pp, dp = draw(degrees), draw(contexts), draw(pipelines), draw(data_degrees)
    hypothesis.assume(8 <= tp * cp * pp * dp <= MAX_WORLD)
    layout = {"tp": tp, "cp": cp, "pp": pp, "dp": dp, "order": draw(order), "zero": draw(zero)}
    if draw(sparse):
        etp = draw(st.sampled_from([e for e in divisors(tp) if cut_experts or e == 1]))
        layout |= {"sparse": True, "etp": etp}
        layout["ep"] = draw(st.sampled_from(divisors(tp * cp * dp // etp)))
    if layout["zero"] > 0 and draw(st.booleans()):
        layout["shard"] = draw(st.sampled_from(divisors(dp * cp)))
    return layout


def groups_of(plan, rank):
    """Returns the groups of a rank by name, as (size, first members, last member); groups of one are absent."""
    try:
        view = rankwright.explain(plan, rank=rank)
    except rankwright.Error:
        hypothesis.reject()
    return {g["group"]: outline(g["members"], g["size"]) for g in view.data["groups"]}


def outline(members, size=None):
    """Returns what explain prints of a long group: its size, the first three members and the last."""
    members = sorted(int(m) for m in members)
    return (size or len(members), members[:3], members[-1])


def errors_for(plan, target):
    """Returns the codes of the errors that `check --for` reports."""
    return [finding.code for finding in rankwright.check(plan, for_=target).errors]


def cells_of(plan):
    """Returns the cells of each pp rank, ["0F0", "0B0", ...], or None if the plan is refused: the schedule file
    that `explain --timeline --csv` writes."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "cells.csv"
        done = subprocess.run(
            [program(), "explain", "-", "--timeline", "--unit-times", "--csv", str(file), "--quiet"],
            input=json.dumps(plan), capture_output=True, text=True)  # fmt: skip
        if not file.exists():
            assert done.returncode != 0, done
            return None
        return [line.split(",") for line in file.read_text("utf-8").splitlines()]


def program():
    here = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin" / "rankwright"
    return os.environ.get("RANKWRIGHT", str(here))
