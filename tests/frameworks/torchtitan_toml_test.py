"""torchtitan 0.2 loads the exported TOML file and its schedule, and its own code accepts them: config classes, degrees,
batch sizes, device meshes, and the stages and schedule of the pipeline."""

import copy
import os
import pathlib
import sys
import tempfile

import hypothesis
import judges
import rankwright
from conftest import ROOT
from hypothesis import strategies as st
from plans import errors_for

PLACE = ROOT / "build" / "frameworks" / "torchtitan-0.2"
sys.path.insert(0, str(PLACE))
VERSION = next(PLACE.glob("torchtitan-*.dist-info")).name.split("-")[1].removesuffix(".dist")

import torch  # noqa: E402
from torchtitan.config import ConfigManager  # noqa: E402
from torchtitan.distributed import ParallelDims  # noqa: E402
from torchtitan.distributed import parallel_dims as parallel_dims_module  # noqa: E402
from torchtitan.protocols.train_spec import get_train_spec  # noqa: E402

parallel_dims_module.device_type = "cpu"


def load(files, folder):
    for name, text in files.items():
        (pathlib.Path(folder) / name).write_text(text, "utf-8")
    os.chdir(folder)  # the TOML names its schedule by a relative path
    (config,) = [name for name in files if name.endswith(".toml")]
    return ConfigManager().parse_args(["--job.config_file", config])


def make_dims(config, world):
    p = config.parallelism
    return ParallelDims(
        dp_replicate=p.data_parallel_replicate_degree, dp_shard=p.data_parallel_shard_degree,
        cp=p.context_parallel_degree, tp=p.tensor_parallel_degree, pp=p.pipeline_parallel_degree,
        ep=p.expert_parallel_degree, etp=p.expert_tensor_parallel_degree, world_size=world)  # fmt: skip


def build(config, world):
    """Builds the model, its meshes and its pipeline as the trainer does, on the meta device."""
    spec = get_train_spec(config.model.name)
    with judges.fake_world(world, 0):
        dims = make_dims(config, world)
        dims.build_mesh()
        args = copy.deepcopy(spec.model_args[config.model.flavor])
        args.update_from_config(config)
        if not dims.pp_enabled:
            args.n_layers = 2  # layers are split alike
        with torch.device("meta"):
            model = spec.model_cls(args)
        replicas = dims.dp_replicate * dims.dp_shard
        assert config.training.global_batch_size % (config.training.local_batch_size * replicas) == 0
        if dims.pp_enabled:
            assert spec.pipelining_fn, "Pipeline Parallel is enabled but the model does not support pipelining"
            spec.pipelining_fn(model, dims, config, torch.device("cpu"), args, spec.parallelize_fn, None)
        else:
            spec.parallelize_fn(model, dims, config)


def refusal(files, world, change=None):
    """Returns why torchtitan refuses the exported files, or None. `change` is {section: {field: value}}."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            config = load(files, folder)
            for section, fields in (change or {}).items():
                for field, value in fields.items():
                    assert hasattr(getattr(config, section), field)
                    setattr(getattr(config, section), field, value)
            build(config, world)
        except (Exception, SystemExit) as refused:  # tyro exits
            return f"{type(refused).__name__}: {refused}"
        finally:
            os.chdir(before)
    return None


@st.composite
def plans(draw):
    model = draw(st.sampled_from(["llama-3.1-8b", "deepseek-v2-lite", "qwen3-30b-a3b"]))
    sparse = not model.startswith("llama")
    tp, cp = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2]))
    pp, dp = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2, 4, 8]))
    parallelism = {"tp_size": tp, "cp_size": cp, "pp_size": pp, "dp_size": dp, "micro_batch": draw(st.integers(1, 2)),
                   "zero_stage": draw(st.sampled_from([2, 3])), "recompute": draw(st.sampled_from(["none", "full"]))}  # fmt: skip
    if sparse:
        parallelism |= {"etp_size": 1, "ep_size": draw(st.sampled_from([1, 2, 4, 8]))}
    if pp > 1:
        parallelism |= draw(st.sampled_from([{}, {"virtual_stages": 2}, {"virtual_stages": 2, "schedule": "zb-v"},
                                             {"schedule": "gpipe"}, {"virtual_stages": 3}, {"schedule": "zb-h1"},
                                             {"virtual_stages": 2, "schedule": "dualpipe-v"}]))  # fmt: skip
        if parallelism.get("ep_size", 1) > 1 and parallelism.get("schedule") == "dualpipe-v":
            parallelism["overlap"] = {"ep": draw(st.booleans())}
    batch = dp * parallelism["micro_batch"] * pp * draw(st.integers(1, 3)) * 2
    return {"world_size": tp * cp * pp * dp, "model": model, "parallelism": parallelism,
            "job": {"global_batch": batch, "sequence": 4096, "grad_dtype": "fp32"}}  # fmt: skip


def test_exported_config_is_accepted(tally):
    counted = tally("torchtitan", VERSION, "exported TOML and schedule, by its classes and pipeline")

    @hypothesis.given(plans())
    def check(plan):
        hypothesis.assume(not errors_for(plan, "torchtitan-0.2"))
        counted.case()
        files = rankwright.export(plan, "torchtitan-0.2")
        counted.same(None, refusal(files, plan["world_size"]), f"{plan}\n{files}")

    check()


FIELDS = {"tp_size": ("parallelism", "tensor_parallel_degree"),
          "cp_size": ("parallelism", "context_parallel_degree"),
          "pp_size": ("parallelism", "pipeline_parallel_degree"),
          "dp_size": ("parallelism", "data_parallel_shard_degree"),
          "recompute": ("activation_checkpoint", "mode")}  # fmt: skip


@st.composite
def refused_plans(draw):
    """Draws (code that `check` reports, a sound plan, its fault, the fault as fields of the config)."""
    code = draw(st.sampled_from(["RW0532", "RW0557", "RW0558", "RW0559", "RW0560"]))
    dp, micro, sequence = draw(st.sampled_from([4, 8, 16])), draw(st.integers(1, 2)), 512 * draw(st.integers(1, 32))
    layout = {"tp_size": 1, "cp_size": 1, "pp_size": 1, "dp_size": dp, "zero_stage": 2, "micro_batch": micro}
    model, degree = "llama-3.1-8b", draw(st.sampled_from([2, 4]))
    if code == "RW0532":  # CP divides the sequence, and 2 x TP x CP does not
        fault, sequence = {"tp_size": 2, "cp_size": 2}, sequence + 4
    elif code == "RW0557":
        model, fault = "deepseek-v2-lite", {"recompute": draw(st.sampled_from(["full", "selective"]))}
        layout |= {"pp_size": 2, "virtual_stages": 2, "schedule": "dualpipe-v", "overlap": {"ep": True}, "recompute": "none"}
    elif code == "RW0558":  # EP over TP ranks, and nothing shards the weights
        model, layout["tp_size"], fault = "deepseek-v2-lite", 2 * degree, {"dp_size": 1}
    elif code == "RW0559":
        model, fault = draw(st.sampled_from(["qwen3-8b", "qwen3-30b-a3b"])), {"pp_size": degree}
    else:
        model, fault = "deepseek-v2-lite", {"cp_size": degree}
    if model in ("qwen3-30b-a3b", "deepseek-v2-lite"):
        layout |= {"ep_size": 2, "etp_size": 1}
    job = {"global_batch": dp * micro * 8, "sequence": sequence, "grad_dtype": "fp32"}
    plans_ = []
    for p in (layout, layout | fault):
        world = p["tp_size"] * p["cp_size"] * p["pp_size"] * p["dp_size"]
        plans_.append({"world_size": world, "model": model, "parallelism": p, "job": job})
    fields = {}
    for key, value in fault.items():
        section, field = FIELDS[key]
        fields.setdefault(section, {})[field] = value
    return code, *plans_, fields


def test_refused_plan_is_refused(tally):
    counted = tally("torchtitan", VERSION, "plans that check refuses, by its classes and models")

    @hypothesis.given(refused_plans())
    def check(drawn):
        code, sound, faulty, fields = drawn
        counted.case()
        counted.same([], errors_for(sound, "torchtitan-0.2"), f"{code}: {sound}")
        files = rankwright.export(sound, "torchtitan-0.2")
        counted.same(None, refusal(files, sound["world_size"]), f"{code}: {sound}\n{files}")
        found = errors_for(faulty, "torchtitan-0.2")
        counted.same(True, code in found, f"{code}: {faulty}, {found}")
        counted.same(True, refusal(files, faulty["world_size"], fields) is not None, f"{code}: {faulty}\n{files}")

    check()
