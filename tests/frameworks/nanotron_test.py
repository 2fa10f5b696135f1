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
