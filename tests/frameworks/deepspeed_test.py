"""DeepSpeed's own code judges the exported JSON. Its config class and the checks of AutoEP accept each plan that
`check --for deepspeed` accepts: known keys, types, batch sizes that multiply, degrees that combine. They, or DeepSpeed's
pipeline engine, refuse what `check` refuses. Not asked: orders of ranks, schedules and rings of CP, which the JSON lacks."""

import copy
import json

import deepspeed
import hypothesis
import judges
import rankwright
import torch
from deepspeed.module_inject.auto_ep_config import validate_autoep_config
from deepspeed.pipe import PipelineModule
from deepspeed.runtime.config import DeepSpeedConfig
from deepspeed.utils import groups
from hypothesis import strategies as st
from plans import divisors, errors_for, make_plan


class Grid:
    """The data ranks of a pipeline, as PipelineModule's grid tells them to DeepSpeedConfig."""

    def __init__(self, data):
        self.data = data

    def get_data_parallel_world_size(self):
        return self.data


NO_GROUPS = {name: copy.copy(value) for name, value in vars(groups).items()
             if isinstance(value, (dict, list, bool, int, type(None)))}  # fmt: skip


def check_experts(read, plan):
    """Raises what DeepSpeed's engine raises before it moves experts."""
    p, offload = plan["parallelism"], plan["parallelism"].get("offload", {})
    if read.expert_parallel_config is not None:
        validate_autoep_config(read.expert_parallel_config, plan["world_size"], p["pp_size"], p["tp_size"], p["cp_size"],
                               zero_stage=p["zero_stage"], zero_offload_optimizer=bool(offload.get("optimizer")),
                               zero_offload_param=bool(offload.get("parameters")))  # fmt: skip


def start_pipeline(config, stages):
    vars(groups).update({name: copy.copy(value) for name, value in NO_GROUPS.items()})
    config["optimizer"]["params"] = {"torch_adam": True}  # its own is compiled
    module = PipelineModule([torch.nn.Linear(2, 2) for _ in range(stages)], num_stages=stages, loss_fn=torch.nn.MSELoss())
    deepspeed.initialize(model=module, model_parameters=list(module.parameters()), config=config)


def read(config, plan, engine):
    """Returns DeepSpeed's config, or why it refuses it on this many ranks. `engine` also starts its pipelines."""
    p = plan["parallelism"]
    with judges.fake_world(plan["world_size"], 0):
        deepspeed.init_distributed(dist_backend="fake", dist_init_required=False, auto_mpi_discovery=False)
        try:
            result = DeepSpeedConfig(config, mpu=Grid(p["dp_size"]) if p["pp_size"] > 1 else None)
            check_experts(result, plan)
            if engine and p["pp_size"] > 1:
                start_pipeline(config, p["pp_size"])
            return result
        except Exception as refused:  # assertions, pydantic's errors and DeepSpeed's own
            return f"{type(refused).__name__}: {str(refused)[:300]}"
        finally:
            deepspeed.comm.destroy_process_group = lambda *_: None
            deepspeed.comm.comm.cdb = None


def refusal(config, plan):
    """Returns why DeepSpeed refuses the config, or reads another plan from it, or None."""
    p = plan["parallelism"]
    result = read(config, plan, engine=False)
    if isinstance(result, str):
        return result
    wanted = plan["job"]["global_batch"]
    # Without a mesh or a pipeline DeepSpeed multiplies by all ranks, also by those of AutoTP.
    ranks_per_sequence = p["tp_size"] if p["pp_size"] == 1 else 1
    if result.train_batch_size != wanted * ranks_per_sequence:
        return f"batch {result.train_batch_size}, not {wanted}"
    if result.zero_optimization_stage != p["zero_stage"]:
        return f"ZeRO-{result.zero_optimization_stage}"
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


def state(plan):
    """Returns the JSON that states a plan which `export` refuses to write."""
    p = plan["parallelism"]
    config = {"train_micro_batch_size_per_gpu": p["micro_batch"], "gradient_accumulation_steps": 2,
              "zero_optimization": {"stage": p["zero_stage"]}, "bf16": {"enabled": True},
              "optimizer": {"type": "Adam", "params": {}}}  # fmt: skip
    if "shard_size" in p:
        config["zero_optimization"]["mics_shard_size"] = p["shard_size"]
    if "offload" in p:
        config["zero_optimization"]["offload_optimizer"] = {"device": "cpu"}
    if p["tp_size"] > 1:
        config["tensor_parallel"] = {"autotp_size": p["tp_size"]}
    if p.get("ep_size", 1) > 1:
        config["expert_parallel"] = {"enabled": True, "autoep_size": p["ep_size"],
                                     "expert_tensor_parallel_size": p["etp_size"]}  # fmt: skip
    return config


@st.composite
def refused_plans(draw):
    """Draws (code that `check` reports, plan, the plan without its fault)."""
    code = draw(st.sampled_from(["RW0541", "RW0546", "RW0547", "RW0548"]))
    layout = {"dp": draw(st.sampled_from([2, 4, 8, 16])), "zero": draw(st.integers(0, 3)), "cp_comm": "a2a",
              "micro": draw(st.integers(1, 4)), "microbatches": 4 * draw(st.integers(1, 4))}  # fmt: skip
    if code == "RW0541":
        layout |= {"pp": draw(st.sampled_from([2, 4])), "zero": draw(st.integers(0, 1))}
        fault = {"zero": draw(st.integers(2, 3))}
    elif code == "RW0546":
        layout["zero"] = draw(st.integers(1, 3))
        fault = {"shard": draw(st.sampled_from(divisors(layout["dp"])[:-1]))}
    else:
        tp = draw(st.sampled_from([2, 4]))
        layout |= {"tp": tp, "sparse": True, "ep": 2, "etp": 1, "zero": draw(st.integers(1, 2))}
        fault = {"etp": tp}
        if code == "RW0548":
            fault = draw(st.sampled_from([{"cp": 2}, {"pp": 2, "zero": 1}, {"offload": {"optimizer": 1}}]))
    plans_ = [make_plan(**(layout | more), sequence_parallel=False) for more in (fault, {})]
    return code, *plans_


def test_refused_plan_is_refused(tally):
    counted = tally("DeepSpeed", judges.version("deepspeed"), "plans that check refuses, by its config class and engine")

    @hypothesis.given(refused_plans())
    def check(drawn):
        code, plan, sound = drawn
        errors = errors_for(plan, "deepspeed")
        hypothesis.assume(not any(error < "RW05" for error in errors))  # invalid for every framework
        counted.case()
        counted.same(True, code in errors, f"{code}: {plan}")
        counted.same(True, isinstance(read(state(plan), plan, engine=True), str), f"{code}: {plan}")
        counted.same([], errors_for(sound, "deepspeed"), f"{sound}")
        verdict = read(state(sound), sound, engine=True)
        counted.same(None, verdict if isinstance(verdict, str) else None, f"{sound}")

    check()
