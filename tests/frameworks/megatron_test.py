"""Megatron-LM's own parser reads the exported flags, its own code validates them, and its verdict is that of
`check --for megatron`. RANKWRIGHT_MEGATRON_LM names a checkout: the wheel has no parser."""

import os
import re
import shlex
import sys
import types

import hypothesis
import judges
import pytest
import rankwright
from hypothesis import strategies as st
from plans import degrees, divisors, errors_for, make_plan

COMMIT = judges.use_checkout("RANKWRIGHT_MEGATRON_LM")

import packaging.version  # noqa: E402
import torch  # noqa: E402
from megatron.core import utils  # noqa: E402
from megatron.core.models.common.embeddings import rope_utils  # noqa: E402
from megatron.core.transformer.moe import moe_utils  # noqa: E402
from megatron.training import arguments  # noqa: E402



@pytest.fixture(autouse=True)
def h100(monkeypatch):
    """Lets the validation see the GPU that the plans are for, and a Transformer Engine, which needs one."""
    monkeypatch.setattr(utils, "_te_version", packaging.version.Version("2.14.0"))
    monkeypatch.setattr(rope_utils, "fused_apply_rotary_pos_emb", object())
    for name in ("permute", "permute_with_probs", "sort_chunks_by_index", "sort_chunks_by_index_with_probs", "unpermute"):
        monkeypatch.setattr(moe_utils, f"fused_{name}", object())
    device = types.SimpleNamespace(major=9, minor=0, multi_processor_count=132, name="H100")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda *_: device)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (9, 0))


def read_script(text):
    """Returns the flags of an exported script and CUDA_DEVICE_MAX_CONNECTIONS, if it sets that."""
    flags = re.search(r"RANKWRIGHT_ARGS=\(\n(.*)\)\n", text, re.DOTALL)[1]
    connections = re.search(r"^export CUDA_DEVICE_MAX_CONNECTIONS=(\d+)$", text, re.MULTILINE)
    return shlex.split(flags), connections and connections[1]


def refusal(flags, connections, world):
    """Returns why Megatron-LM refuses the flags, or None."""
    os.environ.update({"WORLD_SIZE": str(world), "RANK": "0", "LOCAL_RANK": "0"})
    os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
    if connections:
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = connections
    sys.argv = ["pretrain_gpt.py", *flags]
    try:
        parsed = arguments.parse_args()
        arguments.validate_args(parsed)
        arguments.core_transformer_config_from_args(parsed)
    except SystemExit as stopped:
        return f"unknown flag: exit code {stopped.code}"
    except (AssertionError, ValueError, RuntimeError, NotImplementedError) as refused:
        return f"{type(refused).__name__}: {str(refused)[:300]}"
    return None


@st.composite
def plans(draw):
    """Draws plans of every kind that the exporter can write."""
    tp, cp, pp = draw(degrees), draw(st.sampled_from([1, 1, 2, 4])), draw(st.sampled_from([1, 2, 3, 4, 8]))
    dp = draw(st.sampled_from([1, 2, 4, 8, 16]))
    chunks = draw(st.sampled_from([1, 1, 2, 3])) if pp > 1 else 1
    zero = draw(st.integers(0, 3)) if pp == 1 else draw(st.integers(0, 1))
    layout = {"tp": tp, "cp": cp, "pp": pp, "dp": dp, "chunks": chunks, "zero": zero,
              "microbatches": pp * draw(st.integers(1, 4)), "micro": draw(st.integers(1, 2)),
              "layers": pp * chunks * draw(st.integers(1, 3))}  # fmt: skip
    if draw(st.booleans()):
        etp = draw(st.sampled_from(divisors(tp)))
        layout |= {"sparse": True, "etp": etp, "ep": draw(st.sampled_from(divisors(tp * cp * dp // etp)))}
        layout["dispatcher"] = draw(st.sampled_from(["alltoall", "deepep"]))
    if zero and draw(st.booleans()):
        layout["shard"] = draw(st.sampled_from(divisors(dp * cp)))
    if draw(st.booleans()):
        layout["order"] = draw(st.sampled_from(["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"]))
    if cp > 1:
        layout["cp_comm"] = draw(st.sampled_from(["p2p", "a2a", "all_gather"]))
    layout["recompute"] = draw(st.sampled_from(["none", "selective", "full", {"full": 1}]))
    layout["overlap"] = {key: draw(st.booleans()) for key in ("grad_reduce", "param_gather", "tp", "pp", "ep")}
    plan = make_plan(**layout)
    plan["job"]["param_dtype"] = draw(st.sampled_from(["bf16", "bf16", "fp16", "fp32"]))
    plan["job"]["grad_dtype"] = draw(st.sampled_from(["fp32", plan["job"]["param_dtype"]]))
    if plan["job"]["param_dtype"] == "bf16":
        plan["job"]["matmul"] = draw(st.sampled_from(["bf16", "bf16", "fp8"]))
    return plan


def test_exported_flags_are_accepted(tally):
    counted = tally("Megatron-LM", f"main {COMMIT}", "exported flags, by its parser and validation")

    @hypothesis.given(plans())
    def check(plan):
        hypothesis.assume(not errors_for(plan, "megatron"))
        counted.case()
        flags, connections = read_script(rankwright.export(plan, "megatron")["megatron.sh"])
        counted.same(None, refusal(flags, connections, plan["world_size"]), f"{plan}\n{shlex.join(flags)}")

    check()


def edit(flags, change):
    """Returns the flags with `change` made: {flag: value, True to set it, or None to remove it}."""
    kept, i = [], 0
    while i < len(flags):
        end = i + 1
        while end < len(flags) and not flags[end].startswith("--"):
            end += 1
        if flags[i] not in change:
            kept += flags[i:end]
        i = end
    for flag, value in change.items():
        if value is not None:
            kept += [flag] if value is True else [flag, str(value)]
    return kept


@st.composite
def refused_plans(draw):
    """Draws (code that `check` reports, a sound plan, the same with a fault, the fault as a change of flags)."""
    code = draw(st.sampled_from(["RW0110", "RW0503", "RW0506", "RW0508", "RW0509", "RW0517", "RW0555", "RW0556"]))
    tp, dp = draw(st.sampled_from([2, 4, 8])), draw(st.sampled_from([2, 4, 8]))
    pp = draw(st.sampled_from([1, 2, 4]))
    layout = {"tp": tp, "dp": dp, "pp": pp, "zero": 1, "layers": 2 * pp * draw(st.integers(1, 3)),
              "micro": draw(st.integers(1, 2)), "microbatches": pp * draw(st.integers(1, 4))}  # fmt: skip
    job = {}
    if code == "RW0110":
        fault, flags = {"microbatches": layout["microbatches"]}, {"--global-batch-size": dp * layout["micro"] + 1}
        job = {"global_batch": dp * layout["micro"] + 1}
    elif code == "RW0503":
        layout["pp"] = pp = draw(st.sampled_from([2, 4]))
        layout |= {"layers": 2 * pp, "microbatches": pp}
        fault, flags = {"layers": 2 * pp + 1}, {"--num-layers": 2 * pp + 1}
    elif code == "RW0506":
        layout |= {"pp": 1, "layers": 4}
        fault, flags = {"chunks": 2}, {"--num-virtual-stages-per-pipeline-rank": 2}
    elif code == "RW0508":
        fault = draw(st.sampled_from([{"zero": 0}, {"overlap": {"param_gather": True, "grad_reduce": False}}]))
        layout["overlap"] = {"param_gather": True, "grad_reduce": True}
        flags = {"--use-distributed-optimizer": None} if "zero" in fault else {"--overlap-grad-reduce": None}
    elif code == "RW0509":
        layout["overlap"] = {"tp": True}
        fault, flags = {"sequence_parallel": False}, {"--sequence-parallel": None}
    elif code == "RW0517":
        layout |= {"pp": 2, "chunks": 2, "layers": 4, "microbatches": 4, "overlap": {"pp": True}}
        fault, flags = {"overlap": {"pp": False}}, {"--no-overlap-p2p-communication": True}
    elif code == "RW0555":
        layout |= {"tp": 1, "pp": 1, "layers": 4, "sparse": True, "ep": dp, "etp": 1, "microbatches": 4}
        layout["overlap"] = {"ep": True}
        fault, flags = draw(st.sampled_from([
            ({"recompute": "full"}, {"--recompute-granularity": "full", "--recompute-method": "uniform",
                                     "--recompute-num-layers": 1}),
            ({"recompute": {"modules": ["moe"]}}, {"--recompute-granularity": "selective",
                                                   "--recompute-modules": "moe"}),
            ({"ep": 1}, {"--expert-model-parallel-size": 1})]))  # fmt: skip
    else:
        fault, flags = ({"recompute": {"modules": [draw(st.sampled_from(["mla_up_proj", "moe_act"]))]}}, {})
        flags = {"--recompute-granularity": "selective", "--recompute-modules": fault["recompute"]["modules"][0]}
    sound, faulty = make_plan(**layout), make_plan(**(layout | fault))
    if "ep" in fault:  # the model keeps its experts
        faulty["model"] = sound["model"]
    faulty["job"] |= job
    return code, sound, faulty, flags


def test_refused_plan_is_refused(tally):
    counted = tally("Megatron-LM", f"main {COMMIT}", "plans that check refuses, by its parser and validation")

    @hypothesis.given(refused_plans())
    def check(drawn):
        code, sound, faulty, change = drawn
        counted.case()
        counted.same([], errors_for(sound, "megatron"), f"{code}: {sound}")
        flags, connections = read_script(rankwright.export(sound, "megatron")["megatron.sh"])
        counted.same(None, refusal(flags, connections, sound["world_size"]), f"{code}: {sound}\n{shlex.join(flags)}")
        counted.same(True, code in errors_for(faulty, "megatron"), f"{code}: {faulty}, {errors_for(faulty, 'megatron')}")
        edited = edit(flags, change)
        refused = refusal(edited, connections, faulty["world_size"])
        counted.same(True, refused is not None, f"{code}: {faulty}\n{shlex.join(edited)}")

    check()
