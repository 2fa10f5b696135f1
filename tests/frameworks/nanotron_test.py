"""nanotron's own config classes load the exported YAML. They come from a checkout, because its wheel does not
import: RANKWRIGHT_NANOTRON."""

import hypothesis
import judges
import rankwright
import yaml
from hypothesis import strategies as st
from plans import errors_for

COMMIT = judges.use_checkout("RANKWRIGHT_NANOTRON", "src")
judges.stand_in("flash_attn", "grouped_gemm")

from nanotron.config.config import Config, get_config_from_dict  # noqa: E402


def refusal(text, plan):
    """Returns why nanotron refuses the file, or None."""
    p = plan["parallelism"]
    try:
        config = get_config_from_dict(yaml.safe_load(text), Config)
    except Exception as refused:  # dacite's errors, assertions, value errors
        return f"{type(refused).__name__}: {str(refused)[:300]}"
    if config.global_batch_size != plan["job"]["global_batch"]:
        return f"batch {config.global_batch_size}"
    read = (config.parallelism.tp, config.parallelism.pp, config.parallelism.dp, config.optimizer.zero_stage)
    wanted = (p["tp_size"], p["pp_size"], p["dp_size"], p["zero_stage"])
    return None if read == wanted else f"{read}, not {wanted}"


@st.composite
def plans(draw):
    model = draw(st.sampled_from(["llama-3.1-8b", "llama-3.1-70b", "qwen2.5-7b"]))
    tp, cp = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2]))
    pp, dp = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2, 4, 8]))
    micro = draw(st.integers(1, 2))
    parallelism = {"tp_size": tp, "cp_size": cp, "pp_size": pp, "dp_size": dp, "micro_batch": micro,
                   "zero_stage": draw(st.sampled_from([0, 1])), "sequence_parallel": draw(st.booleans()),
                   "recompute": draw(st.sampled_from(["none", "full"])),
                   "schedule": draw(st.sampled_from(["1f1b", "gpipe"]))}  # fmt: skip
    return {"world_size": tp * cp * pp * dp, "model": model, "parallelism": parallelism,
            "job": {"global_batch": dp * micro * pp * draw(st.integers(1, 4)), "sequence": 4096,
                    "param_dtype": draw(st.sampled_from(["bf16", "fp32"])),
                    "optimizer": draw(st.sampled_from(["adam", "sgd"]))}}  # fmt: skip


def test_exported_config_is_accepted(tally):
    counted = tally("nanotron", f"main {COMMIT}", "exported config, by its config classes")

    @hypothesis.given(plans())
    def check(plan):
        hypothesis.assume(not errors_for(plan, "nanotron"))
        counted.case()
        text = rankwright.export(plan, "nanotron")["nanotron.yaml"]
        counted.same(None, refusal(text, plan), f"{plan}\n{text}")

    check()


class PipelineGroup:
    """A group of pp ranks, of which the engine asks its size before anything else."""

    def __init__(self, pp):
        self.pp = pp

    def size(self):
        return self.pp


def start_refusal(config):
    """Returns why nanotron's pipeline refuses to start the first step, or None."""
    try:
        config.parallelism.pp_engine.train_batch_iter(
            model=None, pg=PipelineGroup(config.parallelism.pp), batch=[],
            nb_microbatches=config.tokens.batch_accumulation_per_replica, grad_accumulator=None)  # fmt: skip
    except AssertionError as refused:
        return f"AssertionError: {refused}"
    except ValueError as beyond:  # its checks passed, and it asks for the rank in a group that does not exist
        assert "process group" in str(beyond)
    return None


@st.composite
def refused_plans(draw):
    """Draws (code that `check` reports, a sound plan, its fault, the fault as keys of the YAML)."""
    code = draw(st.sampled_from(["RW0561", "RW0563", "RW0565"]))
    dp, micro, pp = draw(st.sampled_from([1, 2, 8])), draw(st.integers(1, 2)), draw(st.sampled_from([4, 8]))
    batch, sequence = dp * micro * pp * draw(st.integers(1, 2)), 512 * draw(st.integers(1, 16))
    sound = {"tp_size": 1, "pp_size": pp, "dp_size": dp, "micro_batch": micro, "zero_stage": 1, "schedule": "1f1b"}
    faulty, faulty_batch, keys = dict(sound), batch, {}
    if code == "RW0561":  # 8 key-value heads
        faulty["tp_size"] = draw(st.sampled_from([16, 32]))
        keys = {"parallelism": {"tp": faulty["tp_size"]}}
    elif code == "RW0563":
        faulty |= {"schedule": "interleaved-1f1b", "virtual_stages": 2}
        keys = {"parallelism": {"pp_engine": "interleaved"}}
    else:
        accumulated = draw(st.integers(1, pp - 2))
        faulty_batch = dp * micro * accumulated
        keys = {"tokens": {"batch_accumulation_per_replica": accumulated}}
    plans_ = [{"world_size": p["tp_size"] * pp * dp, "model": "llama-3.1-8b", "parallelism": p,
               "job": {"global_batch": b, "sequence": sequence, "optimizer": "adam"}}
              for p, b in ((sound, batch), (faulty, faulty_batch))]  # fmt: skip
    return code, *plans_, keys


def refusal_of_changed(text, keys):
    """Returns why nanotron refuses the file with the changed keys, or None."""
    content = yaml.safe_load(text)
    for section, values in keys.items():
        content[section] |= values
    try:
        return start_refusal(get_config_from_dict(content, Config))
    except Exception as refused:  # dacite's errors, assertions, value errors
        return f"{type(refused).__name__}: {refused}"


def test_refused_plan_is_refused(tally):
    counted = tally("nanotron", f"main {COMMIT}", "plans that check refuses, by its config classes and pipeline engine")

    @hypothesis.given(refused_plans())
    def check(drawn):
        code, sound, faulty, keys = drawn
        counted.case()
        counted.same([], errors_for(sound, "nanotron"), f"{code}: {sound}")
        text = rankwright.export(sound, "nanotron")["nanotron.yaml"]
        counted.same(None, refusal_of_changed(text, {}), f"{code}: {sound}\n{text}")
        counted.same(True, code in errors_for(faulty, "nanotron"), f"{code}: {faulty}, {errors_for(faulty, 'nanotron')}")
        counted.same(True, refusal_of_changed(text, keys) is not None, f"{code}: {faulty}\n{text}")

    check()
