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


def refusal(text, world):
    """Returns why torchtitan refuses the exported file, or None."""
    names = {}
    try:
        exec(compile(text, "torchtitan_config.py", "exec"), names)
        config = names["rankwright"]()
        for part in (config.training, config.parallelism):
            if wrong := disallowed(part):
                return f"not allowed: {wrong}"
        dataclasses.replace(config)  # runs the checks of Trainer.Config again
        ParallelDims.from_config(config.parallelism, world)
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
