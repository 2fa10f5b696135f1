"""torchtitan loads the exported Python file, and its own code accepts the config that the file makes."""

import dataclasses
import os
import typing

import hypothesis
import judges
import rankwright
from hypothesis import strategies as st
from plans import errors_for

if os.environ.get("RANKWRIGHT_TORCHTITAN"):  # a checkout of main instead of the installed release
    judges.stand_in("grain")  # reads data
    VERSION = "main " + judges.use_checkout("RANKWRIGHT_TORCHTITAN")
else:
    VERSION = judges.version("torchtitan")

from torchtitan.distributed import ParallelDims  # noqa: E402


def disallowed(config):
    """Returns the fields whose values are not among the words that their class allows."""
    hints = typing.get_type_hints(type(config))
    return [f"{name}={getattr(config, name)!r}" for name, hint in hints.items()
            if typing.get_origin(hint) is typing.Literal and getattr(config, name) not in typing.get_args(hint)]  # fmt: skip


def refusal(text, world, change=None):
    """Returns why torchtitan refuses the exported file, or None. `change` is {section: {field: value}}."""
    names = {}
    try:
        exec(compile(text, "torchtitan_config.py", "exec"), names)
        config = names["rankwright"]()
        for section, fields in (change or {}).items():
            for field, value in fields.items():
                assert hasattr(getattr(config, section), field)
                setattr(getattr(config, section), field, value)
        for part in (config.training, config.parallelism):
            if wrong := disallowed(part):
                return f"not allowed: {wrong}"
        dataclasses.replace(config)  # runs the checks of Trainer.Config again
        dims = ParallelDims.from_config(config.parallelism, world)
        if change:
            with judges.fake_world(world, 0):
                dims.build_mesh()
        config.model_spec.model.update_from_config(config=config)
    except (AssertionError, AttributeError, NotImplementedError, TypeError, ValueError) as refused:
        return f"{type(refused).__name__}: {refused}"
    return None


@st.composite
def plans(draw):
    model = draw(st.sampled_from(["llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b"]))
    sparse = model.startswith("qwen")
    tp, cp = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2]))
    pp, dp = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2, 4, 8]))
    parallelism = {"tp_size": tp, "cp_size": cp, "pp_size": pp, "dp_size": dp, "micro_batch": draw(st.integers(1, 2)),
                   "zero_stage": draw(st.sampled_from([2, 3])), "recompute": draw(st.sampled_from(["none", "full"]))}  # fmt: skip
    if sparse:
        parallelism |= {"etp_size": 1, "ep_size": draw(st.sampled_from([1, 2, 4, 8]))}
    if pp > 1:
        parallelism |= draw(st.sampled_from([{}, {"virtual_stages": 2}, {"virtual_stages": 2, "schedule": "zb-v"},
                                             {"virtual_stages": 3}, {"schedule": "zb-h1"}]))  # fmt: skip
    batch = dp * parallelism["micro_batch"] * pp * draw(st.integers(1, 3)) * 2
    return {"world_size": tp * cp * pp * dp, "model": model, "parallelism": parallelism,
            "job": {"global_batch": batch, "sequence": 4096, "grad_dtype": draw(st.sampled_from(["bf16", "fp32"]))}}  # fmt: skip


def test_exported_config_is_accepted(tally):
    counted = tally("torchtitan", VERSION, "exported config, by its classes and checks")

    @hypothesis.given(plans())
    def check(plan):
        hypothesis.assume(not errors_for(plan, "torchtitan"))
        counted.case()
        text = rankwright.export(plan, "torchtitan")["torchtitan_config.py"]
        counted.same(None, refusal(text, plan["world_size"]), f"{plan}\n{text}")

    check()


@st.composite
def refused_plans(draw):
    """Draws (code that `check` reports, a sound plan, its fault, the fault as fields of the config)."""
    code = draw(st.sampled_from(["RW0521", "RW0533", "RW0535"]))
    dp, micro, sequence = draw(st.sampled_from([4, 8, 16])), draw(st.integers(1, 2)), 512 * draw(st.integers(1, 64))
    layout = {"tp_size": 1, "cp_size": 1, "dp_size": dp, "zero_stage": draw(st.sampled_from([2, 3])), "micro_batch": micro}
    model = "llama-3.1-8b"
    if code == "RW0521":  # 8 key-value heads
        fault = {"tp_size": draw(st.sampled_from([16, 32]))}
        fields = {"parallelism": {"tensor_parallel_degree": fault["tp_size"]}}
    elif code == "RW0535":
        layout |= {"cp_size": 2, "cp_comm": "all_gather"}
        fault = {"cp_size": 16, "cp_comm": "a2a"}
        fields = {"parallelism": {"context_parallel_degree": 16, "context_parallel_mode": "ulysses"}}
    else:
        model = "qwen3-30b-a3b"
        layout |= {"ep_size": dp // 2, "etp_size": 1, "shard_size": dp // 2}  # replicas hold all experts
        fault = {"ep_size": dp}
        fields = {"parallelism": {"expert_parallel_degree": dp}}
    job = {"global_batch": dp * micro, "sequence": sequence, "grad_dtype": "fp32"}
    plans_ = []
    for p in (layout, layout | fault):
        world = p["tp_size"] * p["cp_size"] * dp
        plans_.append({"world_size": world, "model": model, "parallelism": p, "job": job})
    return code, *plans_, fields


def test_refused_plan_is_refused(tally):
    counted = tally("torchtitan", VERSION, "plans that check refuses, by its classes and checks")

    @hypothesis.given(refused_plans())
    def check(drawn):
        code, sound, faulty, fields = drawn
        counted.case()
        counted.same([], errors_for(sound, "torchtitan"), f"{code}: {sound}")
        text = rankwright.export(sound, "torchtitan")["torchtitan_config.py"]
        counted.same(None, refusal(text, sound["world_size"]), f"{code}: {sound}\n{text}")
        counted.same(True, code in errors_for(faulty, "torchtitan"), f"{code}: {faulty}, {errors_for(faulty, 'torchtitan')}")
        refused = refusal(text, faulty["world_size"], fields)
        counted.same(True, refused is not None, f"{code}: {faulty}\n{text}")

    check()


def test_405b_in_16_bits_is_not_converted_to_float8(monkeypatch):
    """Its registry function converts to float8 (with torchao, which is replaced), and the plan is in 16 bits."""
    from torchtitan.components.quantization.float8 import Float8LinearConverter

    converted = []
    monkeypatch.setattr(Float8LinearConverter, "__init__", lambda self, config: None)
    monkeypatch.setattr(Float8LinearConverter, "convert", lambda self, model: converted.append(model) or model)
    plan = {"world_size": 512, "model": "llama-3.1-405b", "job": {"global_batch": 512, "sequence": 8192},
            "parallelism": {"tp_size": 8, "dp_size": 64, "zero_stage": 3, "sequence_parallel": True},
            "software": {"framework": "torchtitan"}}  # fmt: skip
    text = rankwright.export(plan, "torchtitan")["torchtitan_config.py"]
    assert refusal(text, 512) is None
    names = {}
    exec(compile(text, "torchtitan_config.py", "exec"), names)
    config = names["rankwright"]()
    assert converted  # else the test shows nothing
    assert all(config.model_spec.model is not one for one in converted)
    assert not config.compile.enable and not config.compile.enable_async_tensor_parallel
