"""DeepSpeed's own config class accepts the exported JSON: known keys, types, batch sizes that multiply."""

import json

import deepspeed
import hypothesis
import judges
import rankwright
from deepspeed.runtime.config import DeepSpeedConfig
from hypothesis import strategies as st
from plans import divisors, errors_for, make_plan


class Grid:
    """The data ranks of a pipeline, as PipelineModule's grid tells them to DeepSpeedConfig."""

    def __init__(self, data):
        self.data = data

    def get_data_parallel_world_size(self):
        return self.data


def refusal(config, plan):
    """Returns why DeepSpeed refuses the config on this many ranks, or None."""
    p = plan["parallelism"]
    with judges.fake_world(plan["world_size"], 0):
        deepspeed.init_distributed(dist_backend="fake", dist_init_required=False, auto_mpi_discovery=False)
        try:
            read = DeepSpeedConfig(config, mpu=Grid(p["dp_size"]) if p["pp_size"] > 1 else None)
        except Exception as refused:  # assertions, pydantic's errors and DeepSpeed's own
            return f"{type(refused).__name__}: {str(refused)[:300]}"
        finally:
            deepspeed.comm.destroy_process_group = lambda *_: None
            deepspeed.comm.comm.cdb = None
    wanted = plan["job"]["global_batch"]
    # Without a mesh or a pipeline DeepSpeed multiplies by all ranks, also by those of AutoTP.
    ranks_per_sequence = p["tp_size"] if p["pp_size"] == 1 else 1
    if read.train_batch_size != wanted * ranks_per_sequence:
        return f"batch {read.train_batch_size}, not {wanted}"
    if read.zero_optimization_stage != p["zero_stage"]:
        return f"ZeRO-{read.zero_optimization_stage}"
    return None


@st.composite
def plans(draw):
    tp, cp = draw(st.sampled_from([1, 1, 2, 4])), draw(st.sampled_from([1, 1, 2, 4]))
    pp, dp = draw(st.sampled_from([1, 1, 2, 4])), draw(st.sampled_from([1, 2, 4, 8, 16]))
    layout = {"tp": tp, "cp": cp, "pp": pp, "dp": dp, "zero": draw(st.integers(0, 3)), "cp_comm": "a2a",
              "micro": draw(st.integers(1, 4)), "microbatches": pp * draw(st.integers(1, 4)),
              "recompute": draw(st.sampled_from(["none", "full"]))}  # fmt: skip
    if draw(st.booleans()):
        layout |= {"sparse": True, "etp": 1, "ep": draw(st.sampled_from(divisors(dp)))}
    if layout["zero"] == 3 and draw(st.booleans()):
        layout["shard"] = draw(st.sampled_from(divisors(dp * cp)))
    plan = make_plan(**layout)
    plan["parallelism"]["sequence_parallel"] = False
    plan["parallelism"]["overlap"] = {"grad_reduce": draw(st.booleans())}
    plan["job"]["param_dtype"] = draw(st.sampled_from(["bf16", "fp16", "fp32"]))
    plan["job"]["grad_dtype"] = draw(st.sampled_from(["fp32", plan["job"]["param_dtype"]]))
    plan["job"]["optimizer"] = draw(st.sampled_from(["adam", "sgd", "lion"]))
    return plan


def test_exported_config_is_accepted(tally):
    counted = tally("DeepSpeed", judges.version("deepspeed"), "exported config, by its config class")

    @hypothesis.given(plans())
    def check(plan):
        hypothesis.assume(not errors_for(plan, "deepspeed"))
        counted.case()
        text = rankwright.export(plan, "deepspeed")["deepspeed.json"]
        counted.same(None, refusal(json.loads(text), plan), f"{plan}\n{text}")

    check()
