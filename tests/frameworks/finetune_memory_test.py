"""One step of transformers' models, with PEFT's adapters or full fine-tuning, on fake tensors: the bytes that are alive
after the forward pass and at the peak, against the memory entries of `explain`.

A mode counts the storages that every operation makes, until they are freed. Attention needs a GPU and is replaced by an
operation that keeps what FlashAttention keeps: its inputs, its output and one fp32 number per query and head. The
model is built with 2 and with 4 layers; all are equal, so the difference is that of two layers.
"""

import contextlib
import gc
import json
import pathlib
import statistics
import weakref

import judges
import memory_test
import peft
import pytest
import rankwright
import torch
import transformers
from conftest import CASES
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy, fully_shard
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from torch.utils.weak import WeakIdKeyDictionary
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

VERSION = f"{judges.version('transformers')} with peft {judges.version('peft')}"
DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "hf"
FEW, MORE = 2, 4  # layers
KERNEL = "counted"


@torch.library.custom_op("rankwright::flash", mutates_args=())
def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    raise NotImplementedError


@flash.register_fake
def _(q, k, v):
    # FlashAttention's output has the heads of a token side by side, whatever the layout of the queries is.
    made = torch.empty_like(q.transpose(1, 2), memory_format=torch.contiguous_format).transpose(1, 2)
    return made, q.new_empty(q.shape[:-1], dtype=torch.float32)


flash.register_autograd(lambda ctx, *_: tuple(torch.empty_like(one) for one in ctx.saved_tensors[:3]),
                        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs, *output))  # fmt: skip


def attention(module, query, key, value, mask, **_):
    # On GPUs autocast computes attention in 16 bits.
    made, _ = flash(query.to(value.dtype), key.to(value.dtype), value)
    return made.transpose(1, 2).contiguous(), None


ALL_ATTENTION_FUNCTIONS.register(KERNEL, attention)
ALL_MASK_ATTENTION_FUNCTIONS.register(KERNEL, lambda *_, **__: None)


class Live(TorchDispatchMode):
    """Counts the bytes of the storages that exist, and their peak in each phase."""

    def __init__(self, known):
        super().__init__()
        self.kept = [tensor.untyped_storage() for tensor in known]  # not counted
        self.now, self.phase, self.peaks, self.seen = 0, "forward", {}, WeakIdKeyDictionary()
        for storage in self.kept:
            self.seen[storage] = 0

    def free(self, size):
        self.now -= size

    def add(self, tensor):
        storage = tensor.untyped_storage()
        if storage in self.seen:
            return
        self.seen[storage] = size = storage.nbytes()
        self.now += size
        weakref.finalize(storage, self.free, size)
        self.peaks[self.phase] = max(self.now, self.peaks.get(self.phase, 0))

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        torch.utils._pytree.tree_map_only(torch.Tensor, self.add, made)
        return made


def build(plan, layers):
    config = json.loads((DATA / f"{plan['model']}.json").read_text("utf-8")) | {"num_hidden_layers": layers}
    made = transformers.AutoConfig.for_model(config.pop("model_type"), **config)
    made._attn_implementation = KERNEL
    job = plan["job"]
    pure = job.get("master_dtype") == "bf16" or "lora_rank" in job
    with torch.device("meta"):
        dtype = torch.bfloat16 if pure else torch.float32
        model = transformers.AutoModelForCausalLM.from_config(made, dtype=dtype)
        if "lora_rank" in job:
            model = peft.get_peft_model(model, peft.LoraConfig(r=job["lora_rank"], target_modules=job["lora_modules"],
                                                               task_type="CAUSAL_LM"))  # fmt: skip
        if "frozen" in job:  # half of the layers, however many there are
            for part in (model.model.embed_tokens, *model.model.layers[: layers // 2]):
                part.requires_grad_(False)
    return model, contextlib.nullcontext() if pure and "lora_rank" not in job else torch.autocast("cpu", torch.bfloat16)


def get_layers(model, plan):
    return (model.base_model.model if "lora_rank" in plan["job"] else model).model.layers


def checkpoint_modules(model, names):
    """Recomputes modules of every layer with torch.utils.checkpoint."""

    def again(function):
        return lambda *args, **kwargs: checkpoint(function, *args, use_reentrant=False, **kwargs)

    for layer in model.model.layers:
        if "mlp" in names:
            layer.mlp.forward = again(layer.mlp.forward)
        if "layernorm" in names:
            layer.input_layernorm.forward = again(layer.input_layernorm.forward)
            layer.post_attention_layernorm.forward = again(layer.post_attention_layernorm.forward)


# The fullest instant of each phase grows with the layers at a rate of its own. The last one is the backward of the
# embedding: FSDP2 reduces the gradients of its largest unit, beside no activations.
PHASES = ("forward", "backward", "last")


def follow_backward(layers, tracker):
    """Sets the tracker's phase when the gradient of the first layer's input is complete."""

    def enter(_):
        tracker.phase = "last"

    def register(_, args):
        if args[0].requires_grad:
            args[0].register_hook(enter)

    layers[0].register_forward_pre_hook(register, prepend=True)


def run(plan, layers):
    """Runs the second micro-batch of a step, so gradients exist, and returns bytes."""
    model, autocast = build(plan, layers)
    shape = (plan["parallelism"]["micro_batch"], plan["job"]["sequence"])
    with FakeTensorMode(allow_non_fake_inputs=True):
        model.to_empty(device="cpu")
        model.train()
        if plan["parallelism"]["recompute"] == "full":
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            if "lora_rank" in plan["job"]:
                model.enable_input_require_grads()
        elif plan["parallelism"]["recompute"] != "none":
            checkpoint_modules(model, plan["parallelism"]["recompute"]["modules"])
        trained = [one for one in model.parameters() if one.requires_grad]
        for one in trained:
            one.grad = torch.empty_like(one)
        tokens = torch.randint(9, shape)
        gc.collect()  # and not again until the end: when it runs must not decide
        gc.disable()
        live = Live([*model.parameters(), *model.buffers(), *(one.grad for one in trained)])
        follow_backward(get_layers(model, plan), live)
        with live:
            with autocast:
                made = model(input_ids=tokens, labels=tokens, use_cache=False)
                loss = made.loss
                # Accelerate returns logits in fp32.
                returned = made.logits.float()
                del made, returned
            log_softmax = 4 * shape[0] * shape[1] * model.config.vocab_size
            kept = live.now - log_softmax
            live.phase = "backward"
            loss.backward()
        gc.enable()
    return {"parameters": sum(one.untyped_storage().nbytes() for one in model.parameters()),
            "gradients": sum(one.grad.untyped_storage().nbytes() for one in trained),
            "optimizer": 2 * 4 * sum(one.numel() for one in trained) if "lora_rank" in plan["job"] else None,
            "activations": kept, **live.peaks}  # fmt: skip


def measure(plan, layers, step=run):
    few, more = step(plan, FEW), step(plan, MORE)
    made = {kind: few[kind] + (more[kind] - few[kind]) / (MORE - FEW) * (layers - FEW)
            for kind in few if few[kind] is not None}  # fmt: skip
    return made | {"peak": max(made[phase] for phase in PHASES if phase in made)}


# Entries that the mode does not see: states, which are compared on their own, and what is not a tensor.
APART = ("parameters", "gradients", "optimizer", "workspace", "reserve", "context", "communicators")


def estimate(plan):
    memory = rankwright.explain(plan).data["estimate"]["memory"]
    entries = {one["entry"]: one["bytes"] for one in memory["entries"]}
    kept = sum(entries.get(name, 0) for name in ("activations", "rotary tables", "weight copies"))
    # After the forward pass, the casts of the weights that are recomputed are gone.
    recompute, casts = plan["parallelism"]["recompute"], entries.get("weight copies", 0)
    model = json.loads(pathlib.Path(plan["model"]).read_text("utf-8"))
    if recompute == "full":
        kept -= max(0, casts - 2 * model["vocab_size"] * model["hidden_size"])
    elif casts and "mlp" in (recompute["modules"] if recompute != "none" else ()):
        kept -= 2 * 3 * model["num_hidden_layers"] * model["hidden_size"] * model["intermediate_size"]
    return {**entries, "activations": kept, "host": memory.get("host_bytes", 0),
            "peak": sum(size for name, size in entries.items() if name not in APART)}  # fmt: skip


ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def count_layers(model):
    return json.loads((DATA / f"{model}.json").read_text("utf-8"))["num_hidden_layers"]


def make(model, job, sequence, micro, recompute):
    if "frozen" in job:
        job = job | {"frozen": ["embedding", f"layers 0-{count_layers(model) // 2 - 1}"]}
    # The loops here reduce gradients in every backward pass, as a Trainer with sync_each_batch.
    software = {"framework": "transformers", "sync_each_batch": True}
    return {"world_size": 1, "model": str(DATA / f"{model}.json"), "software": software,
            "parallelism": {"micro_batch": micro, "recompute": recompute},
            "job": {"global_batch": 2 * micro, "sequence": sequence, **job}}  # fmt: skip


JOBS = {
    "full, fp32 weights": {},
    "full, bf16 weights": {"master_dtype": "bf16", "grad_dtype": "bf16"},
    "first half frozen": {"master_dtype": "bf16", "grad_dtype": "bf16", "frozen": "half"},
    "LoRA 16": {"lora_rank": 16, "lora_modules": ALL},
    "LoRA 64": {"lora_rank": 64, "lora_modules": ALL},
    "LoRA 8 of queries and values": {"lora_rank": 8, "lora_modules": ["q_proj", "v_proj"]},
}
FAST = [("llama-3.1-8b", "LoRA 16", 2048, 1, "none"), ("llama-3.1-8b", "first half frozen", 2048, 1, "none"),
        ("llama-3.1-8b", "full, fp32 weights", 2048, 1, "full")]
GRID = [(model, job, sequence, micro, recompute) for model in ("llama-3.1-8b", "qwen3-8b", "qwen2.5-7b")
        for job in JOBS for sequence, micro in ((512, 8), (4096, 1), (32768, 1)) for recompute in ("none", "full")]  # fmt: skip


def off(ours, theirs):
    return ours / theirs - 1


def test_memory_of_fine_tuning(tally):
    states = tally("transformers", VERSION, "memory of fine-tuning: parameters, gradients, optimizer states")
    kept = tally("transformers", VERSION, "memory of fine-tuning: activations")
    errors, peaks = [], []
    for model, job, *rest in FAST if CASES <= 100 else FAST + GRID:
        plan = make(model, JOBS[job], *rest)
        layers = json.loads((DATA / f"{model}.json").read_text("utf-8"))["num_hidden_layers"]
        ours, theirs = estimate(plan), measure({**plan, "model": model}, layers)
        states.case()
        kept.case()
        for entry in ("parameters", "gradients", "optimizer"):
            if entry in theirs:
                about = f"{plan}: {entry} {ours[entry]:.0f}, {theirs[entry]:.0f}"
                states.same(abs(off(ours[entry], theirs[entry])) < 0.001, True, about)
        errors.append(off(ours["activations"], theirs["activations"]))
        peaks.append(off(ours["peak"], theirs["peak"]))
        print(f"{model}, {job}, {rest}: activations {errors[-1]:+.1%}, peak {peaks[-1]:+.1%}")
        kept.same(abs(errors[-1]) < 0.05, True, f"{plan}: {ours['activations']:.0f}, {theirs['activations']:.0f}")
        assert abs(peaks[-1]) < 0.05, f"{plan}: peak {ours['peak']:.0f}, {theirs['peak']:.0f}"
    for name, values in (("activations", errors), ("peak", peaks)):
        print(f"{name}: median {statistics.median(map(abs, values)):.1%}, from {min(values):+.1%} to {max(values):+.1%}")


def run_sharded(plan, layers):
    """As run(), with FSDP2 as accelerate sets it up, and PyTorch's tracker, which sees gathered weights freed."""
    shape = (plan["parallelism"]["micro_batch"], plan["job"]["sequence"])
    lora = "lora_rank" in plan["job"]
    offload = CPUOffloadPolicy(pin_memory=False) if "offload" in plan["parallelism"] else OffloadPolicy()
    with judges.fake_world(plan["world_size"], 0):
        mesh = init_device_mesh("cpu", (plan["world_size"],))
        model, _ = build(plan, layers)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for layer in get_layers(model, plan):
            fully_shard(layer, mesh=mesh, mp_policy=policy, offload_policy=offload)
        fully_shard(model, mesh=mesh, mp_policy=policy, offload_policy=offload)
        with FakeTensorMode(allow_non_fake_inputs=True):
            model.to_empty(device="cpu")
            model.train()
            if plan["parallelism"]["recompute"] == "full":
                model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
                if lora:
                    model.enable_input_require_grads()
            trained = [one for one in model.parameters() if one.requires_grad]
            optimizer = torch.optim.AdamW(trained, fused=True)
            for one in trained:
                one.grad = torch.zeros_like(one)
                optimizer.state[one] = {"step": torch.zeros(()), "exp_avg": torch.zeros_like(one),
                                        "exp_avg_sq": torch.zeros_like(one)}  # fmt: skip
            tokens = torch.randint(9, shape)
            tracker = memory_test.Tracker(model, optimizer)
            follow_backward(get_layers(model, plan), tracker)
            with tracker:
                before = tracker.by_kind()
                made = model(input_ids=tokens, labels=tokens, use_cache=False)
                loss = made.loss
                returned = made.logits.float()
                del made, returned
                after = tracker.by_kind()
                tracker.phase = "backward"
                loss.backward()
                tracker.phase = "end"
    log_softmax = 4 * shape[0] * shape[1] * model.config.vocab_size
    counters = 4 * len(trained)  # the optimizer's, of its steps
    return {"parameters": before["Sharded Param"], "gradients": before["Sharded Grad"],
            "optimizer": before["OptState"] - counters, "activations": after["Activation"] - log_softmax,
            **{phase: tracker.peaks[phase] for phase in PHASES if phase in tracker.peaks}}  # fmt: skip


# FSDP2 pads the rows of a matrix to the ranks: ranks that divide a rank of 8 have equal shares.
SHARDED_FAST = [("llama-3.1-8b", "LoRA 16", 4096, 1, "none", 8)]
SHARDED = [(model, job, sequence, micro, recompute, world) for model in ("llama-3.1-8b", "qwen3-8b")
           for job in ("full, fp32 weights", "LoRA 64", "LoRA 8 of queries and values")
           for sequence, micro, world in ((512, 8, 2), (8192, 1, 8)) for recompute in ("none", "full")]  # fmt: skip


def test_memory_of_sharded_fine_tuning(tally):
    states = tally("transformers", VERSION, "memory of fine-tuning with FSDP2: parameters, gradients, optimizer states")
    kept = tally("transformers", VERSION, "memory of fine-tuning with FSDP2: activations and peak")
    errors, peaks = [], []
    for model, job, sequence, micro, recompute, world in SHARDED_FAST if CASES <= 100 else SHARDED_FAST + SHARDED:
        plan = make(model, JOBS[job], sequence, micro, recompute)
        plan["world_size"] = world
        plan["job"]["global_batch"] *= world
        plan["parallelism"] |= {"dp_size": world, "zero_stage": 3}
        layers = json.loads((DATA / f"{model}.json").read_text("utf-8"))["num_hidden_layers"]
        ours, theirs = estimate(plan), measure({**plan, "model": model}, layers, run_sharded)
        states.case()
        kept.case()
        for entry in ("parameters", "gradients", "optimizer"):
            about = f"{plan}: {entry} {ours[entry]:.0f}, {theirs[entry]:.0f}"
            states.same(abs(off(ours[entry], theirs[entry])) < 0.001, True, about)
        errors.append(off(ours["activations"], theirs["activations"]))
        peaks.append(off(sum(ours[one] for one in ("peak", "parameters", "gradients", "optimizer")), theirs["peak"]))
        print(f"{model}, {job}, {sequence} x {micro}, {recompute}, {world} ranks: "
              f"activations {errors[-1]:+.1%}, peak of all tensors {peaks[-1]:+.1%}")  # fmt: skip
        kept.same(abs(errors[-1]) < 0.05, True, f"{plan}: {ours['activations']:.0f}, {theirs['activations']:.0f}")
        kept.same(abs(peaks[-1]) < 0.01, True, f"{plan}: peak {peaks[-1]:+.1%}")
    for name, values in (("activations", errors), ("peak of all tensors", peaks)):
        print(f"{name}: median {statistics.median(map(abs, values)):.1%}, from {min(values):+.1%} to {max(values):+.1%}")


# FSDP2 with CPUOffloadPolicy keeps the shards of parameters, gradients and states on the host. The fake devices are of
# the same kind as the host, so the tracker's kinds, not its devices, tell them apart.
OFFLOADED_FAST = [("llama-3.1-8b", "full, bf16 weights", 2048, 1, "full", 8)]
OFFLOADED = [("llama-3.1-8b", "full, fp32 weights", 2048, 1, "none", 2), ("qwen3-8b", "LoRA 64", 4096, 1, "none", 8)]


def test_memory_of_cpu_offload(tally):
    host = tally("transformers", VERSION, "memory of fine-tuning with FSDP2 and CPU offload: host")
    device = tally("transformers", VERSION, "memory of fine-tuning with FSDP2 and CPU offload: device")
    for model, job, sequence, micro, recompute, world in OFFLOADED_FAST if CASES <= 100 else OFFLOADED_FAST + OFFLOADED:
        plan = make(model, JOBS[job], sequence, micro, recompute)
        plan["world_size"] = world
        plan["job"]["global_batch"] *= world
        if job == "full, bf16 weights":
            plan["job"]["moment_dtype"] = "bf16"
        plan["parallelism"] |= {"dp_size": world, "zero_stage": 3, "offload": {"optimizer": 1, "parameters": True}}
        layers = json.loads((DATA / f"{model}.json").read_text("utf-8"))["num_hidden_layers"]
        ours, theirs = estimate(plan), measure({**plan, "model": model}, layers, run_sharded)
        shards = sum(theirs[one] for one in ("parameters", "gradients", "optimizer"))
        host.case()
        device.case()
        about = f"{plan}: host {ours['host']:.0f}, {shards:.0f}"
        host.same(abs(off(ours["host"], shards)) < 0.001, True, about)
        device.same([one for one in ("parameters", "gradients", "optimizer") if ours.get(one)], [], f"{plan}: states")
        error = off(ours["activations"], theirs["activations"])
        peak = off(ours["peak"], theirs["peak"] - shards)
        print(f"{model}, {job}, {sequence} x {micro}, {recompute}, {world} ranks: host "
              f"{off(ours['host'], shards):+.2%}, activations {error:+.1%}, peak of the device {peak:+.1%}")  # fmt: skip
        device.same(abs(error) < 0.05, True, f"{plan}: {ours['activations']:.0f}, {theirs['activations']:.0f}")
        device.same(abs(peak) < 0.01, True, f"{plan}: peak of the device {peak:+.1%}")


def count_states(model, make_optimizer):
    """Returns the bytes that an optimizer's own code keeps for the model, without what all parameters share."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        model.to_empty(device="cpu")
        trained = list(model.parameters())
        optimizer = make_optimizer(trained)
        for one in trained:
            one.grad = torch.empty_like(one)
        if hasattr(optimizer, "init_state"):  # bitsandbytes
            for at, one in enumerate(trained):
                optimizer.init_state(optimizer.param_groups[0], one, 0, at)
        else:
            optimizer.step()
        return sum(kept.untyped_storage().nbytes() for one in trained for name, kept in optimizer.state[one].items()
                   if isinstance(kept, torch.Tensor) and not name.startswith("qmap"))  # fmt: skip


def make_adam_8bit(parameters):
    import bitsandbytes

    class Adam(bitsandbytes.optim.AdamW8bit):
        def fill_qmap(self):
            self.name2qmap = {"dynamic": torch.empty(256), "udynamic": torch.empty(256)}

    made = Adam(parameters)
    made.fill_qmap()
    return made


OPTIMIZERS = [
    ({"master_dtype": "bf16", "moment_dtype": "bf16"}, torch.optim.AdamW),
    ({}, torch.optim.AdamW),
    ({"master_dtype": "bf16", "moment_dtype": "bf16", "optimizer": "sgd"},
     lambda parameters: torch.optim.SGD(parameters, momentum=0.9)),
    ({"master_dtype": "bf16", "optimizer": "adam-8bit"}, make_adam_8bit),
]  # fmt: skip


@pytest.mark.parametrize("job, optimizer", OPTIMIZERS, ids=["bf16 Adam", "fp32 Adam", "bf16 SGD", "8-bit Adam"])
def test_optimizer_states(tally, job, optimizer):
    if optimizer is make_adam_8bit:
        pytest.importorskip("bitsandbytes")
    states = tally("transformers", VERSION, "optimizer states, by the optimizer's own code")
    plan = make("llama-3.1-8b", job, 2048, 1, "none")
    few, more = (count_states(build({**plan, "model": "llama-3.1-8b"}, layers)[0], optimizer) for layers in (FEW, MORE))
    theirs = few + (more - few) / (MORE - FEW) * (32 - FEW)
    ours = estimate(plan)["optimizer"]
    states.case()
    print(f"{job}: {off(ours, theirs):+.4%}")
    states.same(abs(off(ours, theirs)) < 0.001, True, f"{job}: {ours:.0f}, {theirs:.0f}")


NARROW, WIDE = "full, bf16 weights", "full, fp32 weights"
MODULES_FAST = [("llama-3.1-8b", NARROW, ["mlp", "layernorm"], 2048, 1), ("llama-3.1-8b", WIDE, ["mlp"], 2048, 1)]
MODULES = [("llama-3.1-8b", NARROW, ["mlp"], 2048, 1), ("qwen3-8b", NARROW, ["layernorm"], 4096, 1),
           ("qwen2.5-7b", NARROW, ["mlp"], 512, 8), ("qwen3-8b", WIDE, ["layernorm"], 4096, 1),
           ("qwen2.5-7b", WIDE, ["mlp", "layernorm"], 512, 8), ("llama-3.1-8b", WIDE, ["mlp"], 32768, 1)]  # fmt: skip


def test_recomputed_modules(tally):
    kept = tally("transformers", VERSION, "activations with recomputed modules")
    errors = []
    for model, job, modules, *rest in MODULES_FAST if CASES <= 100 else MODULES_FAST + MODULES:
        plan = make(model, JOBS[job], *rest, {"modules": modules})
        layers = json.loads((DATA / f"{model}.json").read_text("utf-8"))["num_hidden_layers"]
        ours, theirs = estimate(plan), measure({**plan, "model": model}, layers)
        kept.case()
        errors.append(off(ours["activations"], theirs["activations"]))
        print(f"{model}, {job}, {modules}, {rest}: activations {errors[-1]:+.1%}, peak {off(ours['peak'], theirs['peak']):+.1%}")
        kept.same(abs(errors[-1]) < 0.05, True, f"{plan}: {ours['activations']:.0f}, {theirs['activations']:.0f}")
    print(f"median {statistics.median(map(abs, errors)):.1%}")
