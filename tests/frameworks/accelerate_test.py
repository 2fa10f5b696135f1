"""accelerate's own classes read the exported YAML and build its parallelism; they refuse what `check` refuses."""

import pathlib
import tempfile

import hypothesis
import judges
import rankwright
import yaml
from accelerate.commands.config.config_args import ClusterConfig
from accelerate.parallelism_config import ParallelismConfig
from accelerate.utils import FullyShardedDataParallelPlugin
from hypothesis import strategies as st
from plans import divisors, errors_for, make_plan

PREFIX = "parallelism_config_"


def degrees_of(config):
    stated = config["parallelism_config"]
    return {key.removeprefix(PREFIX): value for key, value in stated.items() if key.endswith("_size")}


def refusal(text, world):
    """Returns why accelerate refuses the file, or None."""
    config = yaml.safe_load(text)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "accelerate.yaml"
            file.write_text(text, "utf-8")
            ClusterConfig.from_yaml_file(file)  # refuses unknown keys
        fsdp = config.get("fsdp_config")
        if fsdp:
            FullyShardedDataParallelPlugin(
                fsdp_version=fsdp["fsdp_version"], reshard_after_forward=fsdp["fsdp_reshard_after_forward"],
                activation_checkpointing=fsdp["fsdp_activation_checkpointing"],
                state_dict_type=fsdp["fsdp_state_dict_type"])  # fmt: skip
        made = ParallelismConfig(**degrees_of(config))
    except (TypeError, ValueError) as refused:
        return f"{type(refused).__name__}: {str(refused)[:300]}"
    return None if made.total_size == world else f"{made.total_size} ranks, not {world}"


@st.composite
def plans(draw):
    tp, cp = draw(st.sampled_from([1, 1, 2, 4])), draw(st.sampled_from([1, 1, 2, 4]))
    dp = draw(st.sampled_from([1, 2, 4, 8, 16]))
    layout = {"tp": tp, "cp": cp, "dp": dp, "zero": draw(st.integers(0, 3)), "micro": draw(st.integers(1, 4)),
              "recompute": draw(st.sampled_from(["none", "full"]))}  # fmt: skip
    if layout["zero"] > 0 and draw(st.booleans()):
        layout["shard"] = draw(st.sampled_from(divisors(dp * cp)))
    if cp > 1:
        layout["cp_comm"] = draw(st.sampled_from(["p2p", "all_gather"]))
    plan = make_plan(**layout)
    plan["parallelism"]["sequence_parallel"] = False
    plan["job"]["param_dtype"] = draw(st.sampled_from(["bf16", "fp16", "fp32"]))
    return plan


def test_exported_config_is_accepted(tally):
    counted = tally("accelerate", judges.version("accelerate"), "exported config, by its classes")

    @hypothesis.given(plans())
    def check(plan):
        hypothesis.assume(not errors_for(plan, "accelerate"))
        counted.case()
        text = rankwright.export(plan, "accelerate")["accelerate.yaml"]
        counted.same(None, refusal(text, plan["world_size"]), f"{plan}\n{text}")

    check()


def test_refused_degrees_are_refused_by_check(tally):
    counted = tally("accelerate", judges.version("accelerate"), "degrees, refused by both or by neither")

    @hypothesis.given(plans())
    def check(plan):
        p = plan["parallelism"]
        hypothesis.assume(p["zero_stage"] in (2, 3))  # FSDP
        cp, data = p["cp_size"], p["dp_size"] * p["cp_size"]
        shards = p.get("shard_size", data)
        hypothesis.assume(shards % cp == 0)
        counted.case()
        try:
            ParallelismConfig(dp_replicate_size=data // shards, dp_shard_size=shards // cp, cp_size=cp,
                              tp_size=p["tp_size"])  # fmt: skip
            refused = False
        except ValueError:
            refused = True
        counted.same(bool(errors_for(plan, "accelerate")), refused, f"{plan}")

    check()
