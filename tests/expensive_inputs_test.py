#!/usr/bin/env python3
"""No input of at most 1 MB takes a verb more than 5 s of CPU time or 1 GiB of memory.

    tests/expensive_inputs_test.py build/release/bin/rankwright [NAME...]

Each row below is an input designed to be expensive, with the commands that read it. A command must end by
itself, within RLIMIT_CPU, with an answer or a refusal: exit codes 0 to 2. `plan` has its own budget, given
in its rows. With names, only those rows run.
"""

import concurrent.futures
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from hostile_payloads import TARGETS

SECONDS = 5
BYTES = 1 << 30
LARGEST_INPUT = 1_000_000
EXIT_CODES = (0, 1, 2)
OUT_OF_MEMORY_BELOW = 200 << 20  # bytes of address space; explain --timeline of a million buckets needs more

VIEWS = [[], ["--rank", "0"], ["--stages"], ["--sensitivity"], ["--timeline"], ["--json"],
         ["--csv", "out.csv"], ["--trace", "out.trace"], ["--svg", "out.svg"], ["--fail", "0"],
         ["--slow", "0:1.5x"], ["--markdown"]]


def verbs_on_plan(name):
    """Returns every command that reads a plan file and does not search."""
    yield ["check", name]
    for view in VIEWS:
        yield ["explain", name, *view]
    yield ["compare", name, name]
    yield ["report", name, "--no-search", "-o", "out.html"]
    yield ["report", name, "--no-search", "--svg", "pictures"]
    yield ["import", name]
    for target in TARGETS:
        yield ["export", name, "--to", target, "-o", "out.export"]


def plan(model="llama-3.1-8b", cluster="dgx-h100 x 8", job=None, **parallelism):
    return json.dumps({"model": model, "cluster": cluster, "job": job or {}, "parallelism": parallelism})


def shapes(**changes):
    return {"name": "m", "architecture": "llama", "hidden": 64, "layers": 32, "heads": 8, "kv_heads": 8,
            "ffn": 256, "vocab": 1024, **changes}


def hf_config(**changes):
    return json.dumps({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
                       "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
                       "num_hidden_layers": 32, "vocab_size": 128256, **changes})


def flat(devices):
    """Returns a cluster of single-GPU hosts."""
    return {"device": "h100-sxm", "levels": [{"name": "ib", "arity": devices, "bandwidth": "50 GB/s",
                                              "latency": "5 us"}]}


def schedule(ranks, microbatches):
    """Returns GPipe's cells in torchtitan's format."""
    rows = []
    for rank in range(ranks):
        cells = [f"{rank}F{m}" for m in range(microbatches)] + [f"{rank}B{m}" for m in range(microbatches)]
        rows.append(",".join(cells))
    return "\n".join(rows) + "\n"


def host_ranges(count):
    return "n[" + ",".join(str(2 * i) for i in range(count)) + "]"


# name -> (text of the file, commands)
PLANS = {
    # 2^22 microbatches: the cells of the schedule would be 8.5 GB.
    "microbatches.yaml": plan(job={"global_batch": 1 << 25, "sequence": 128}, tp_size=1, pp_size=8,
                              dp_size=8, micro_batch=1),
    # Also for a schedule without a torchtitan class, which lists every cell.
    "cells.yaml": plan(job={"global_batch": 1 << 25, "sequence": 128}, tp_size=1, pp_size=8, dp_size=8,
                       micro_batch=1, schedule="zb-2p"),
    "interleaved.yaml": plan(model=shapes(layers=4096), job={"global_batch": 1 << 20, "sequence": 128},
                             cluster=flat(64), tp_size=1, pp_size=64, dp_size=1, micro_batch=1,
                             virtual_stages=64, schedule="interleaved-1f1b"),
    "zb.yaml": plan(model=shapes(layers=4096), job={"global_batch": 1 << 20, "sequence": 128},
                    cluster=flat(4096), tp_size=1, pp_size=4096, dp_size=1, micro_batch=1, schedule="zb-v",
                    virtual_stages=2),
    "dualpipe.yaml": plan(model=shapes(layers=4096), job={"global_batch": 1 << 16, "sequence": 128},
                          cluster=flat(2048), tp_size=1, pp_size=2048, dp_size=1, micro_batch=1,
                          schedule="dualpipe-v", virtual_stages=2),
    "stages.yaml": plan(model=shapes(layers=8192), job={"global_batch": 8192, "sequence": 128},
                        cluster=flat(8192), tp_size=1, pp_size=8192, dp_size=1, micro_batch=1),
    "stages-few.yaml": plan(model=shapes(layers=8192), job={"global_batch": 8, "sequence": 128},
                            cluster=flat(8192), tp_size=1, pp_size=8192, dp_size=1, micro_batch=1),
    "layers.yaml": plan(model=shapes(layers=8192), job={"global_batch": 64, "sequence": 128},
                        tp_size=8, pp_size=8, dp_size=1, micro_batch=1),
    "ranks.yaml": plan(cluster=flat(1 << 22), job={"global_batch": 1 << 22, "sequence": 128},
                       tp_size=8, pp_size=1, dp_size=1 << 19, micro_batch=1),
    "experts.yaml": plan(model="deepseek-v3", cluster=flat(1 << 20),
                         job={"global_batch": 1 << 20, "sequence": 4096},
                         tp_size=1, pp_size=1, dp_size=1 << 20, ep_size=256, micro_batch=1),
    "context.yaml": plan(cluster=flat(1 << 16), job={"global_batch": 4, "sequence": 1 << 30},
                         tp_size=1, pp_size=1, dp_size=1, cp_size=1 << 16, micro_batch=1),
    "placement.yaml": json.dumps({"model": "llama-3.1-8b", "cluster": flat(1 << 17), "world_size": 1 << 17,
                                  "job": {"global_batch": 1 << 17, "sequence": 128},
                                  "parallelism": {"tp_size": 1, "pp_size": 1, "dp_size": 1 << 17},
                                  "placement": {"ranks": list(range((1 << 17) - 1, -1, -1))}}),
    "buckets.yaml": plan(job={"global_batch": 64, "sequence": 128}, tp_size=1, pp_size=1, dp_size=64,
                         zero_stage=2, bucket_size=8000),
    # 236 bytes of DeepSpeed.
    "ds_batch.json": json.dumps({"train_batch_size": 268435456, "train_micro_batch_size_per_gpu": 1,
                                 "gradient_accumulation_steps": 4194304,
                                 "zero_optimization": {"stage": 3, "reduce_bucket_size": 1,
                                                       "mics_shard_size": 64}, "bf16": {"enabled": True}}),
}


BUDGET = 10  # seconds that the searches below may take


def rows():
    searches = {"deep-model.json": hf_config(num_hidden_layers=8192), "wide-cluster.yaml": json.dumps(flat(720720))}
    for name, model, cluster in (
            ("deep-model.json", "deep-model.json", "dgx-h100 x 64"),
            ("wide-cluster.yaml", "llama-3.1-8b", "wide-cluster.yaml"),
            ("wide-cluster.yaml", "deepseek-v3", "wide-cluster.yaml")):
        yield name, searches[name], [["plan", "--model", model, "--cluster", cluster, "--search-time",
                                      f"{BUDGET}s", "--search-memory", "1GB"]]
    for name, text in PLANS.items():
        yield name, text, list(verbs_on_plan(name))
    yield "twice.csv", "\n".join(",".join(["0F0"] * 500) for _ in range(500)) + "\n", [
        ["check", "twice.csv"], ["explain", "twice.csv"]]
    yield "square.csv", schedule(250, 250), [["check", "square.csv"], ["explain", "square.csv"],
                                               ["explain", "square.csv", "--svg", "o.svg"]]
    yield "wide.csv", schedule(2, 30000), [["check", "wide.csv"], ["explain", "wide.csv"],
                                           ["explain", "wide.csv", "--timeline"]]
    yield "tall.csv", schedule(8000, 4), [["check", "tall.csv"], ["explain", "tall.csv"]]
    yield "keys.toml", "[parallelism]\na" + ".a" * 400000 + " = 1\n", [["check", "keys.toml"]]
    yield "header.toml", "[parallelism" + ".a" * 400000 + "]\n", [["check", "header.toml"]]
    yield "brackets.toml", "[parallelism]\na = " + "[" * 400000 + "\n", [["check", "brackets.toml"]]
    yield "tables.toml", "".join(f"[a.b{i}]\nc = {i}\n" for i in range(45000)), [["check", "tables.toml"]]
    yield "keys.json", json.dumps({f"k{i}": i for i in range(60000)}), [["check", "keys.json"]]
    yield "deep.json", "[" * 450000 + "]" * 450000, [["check", "deep.json"], ["plan", "--model", "deep.json",
                                                      "--cluster", "dgx-h100 x 1"]]
    yield "keys.yaml", "".join(f"k{i}: {i}\n" for i in range(70000)), [["check", "keys.yaml"]]
    yield "deep.yaml", "[" * 450000 + "]" * 450000, [["check", "deep.yaml"]]
    yield "anchors.yaml", ("a: &a [1,1,1,1,1,1,1,1]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 8)}]\n" for i in range(20))), [
            ["check", "anchors.yaml"]]
    yield "hosts.txt", host_ranges(120000) + "\n", [["export", "PLAN", "--to", "slurm", "--hosts",
                                                     "hosts.txt", "-o", "o"]]
    yield "hosts-all", "", [["export", "PLAN", "--to", target, "--hosts", "n[0-4194303]", "-o", "o"]
                            for target in ("slurm", "openmpi", "torchrun")]
    yield "script.sh", "A=x\n" + "A=$A$A\n" * 60 + "torchrun pretrain_gpt.py --num-layers $A\n", [
        ["check", "script.sh"]]
    yield "script-lines.sh", "".join(f"V{i}=$V{i - 1}x\n" for i in range(60000)) + (
        "torchrun pretrain_gpt.py --num-layers $V59999\n"), [["check", "script-lines.sh"]]
    yield "script-args.sh", "ARGS=''\n" + "ARGS=\"$ARGS --micro-batch-size 1\"\n" * 20000 + (
        "torchrun pretrain_gpt.py $ARGS\n"), [["check", "script-args.sh"]]
    yield "script-quotes.sh", "python pretrain_gpt.py " + "\"$(" * 100000 + "\n", [["check", "script-quotes.sh"]]
    yield "script-loops.sh", "".join("for i in 1 2 3 4 5 6 7 8 9; do\n" for _ in range(20)) + "A=$A$i\n" + (
        "done\n" * 20) + "torchrun pretrain_gpt.py --num-layers $A\n", [["check", "script-loops.sh"]]
    trainer = "c = SFTConfig(per_device_train_batch_size=2)\n"
    yield "program-names.py", trainer + "".join(f"t_args.bf16 = q{i}\n" for i in range(45000)), [
        ["import", "program-names.py", "-o", "out.yaml"]]
    yield "program-branches.py", trainer + "".join(
        f"if args.a{i}:\n  t_args.optim = c['a']['b{i}']\n  m = get_peft_model(x)\n" for i in range(12000)), [
        ["import", "program-branches.py", "-o", "out.yaml"]]
    yield "program-calls.py", "from nemo.collections import llm\nr = llm.llama3_8b.pretrain_recipe()\n" + "".join(
        f"x{i} = g(tensor_parallelism=q, context_parallelism=q)\n" for i in range(16000)), [
        ["import", "program-calls.py", "-o", "out.yaml"]]
    yield "flags.sh", "torchrun pretrain_gpt.py " + "--tensor-model-parallel-size 2 " * 30000, [
        ["check", "flags.sh"]]
    yield "topology.conf", "".join(f"SwitchName=s{i} Nodes=n[{i * 90}-{i * 90 + 89}]\n"
                                   for i in range(20000)), [["import", "topology.conf", "--device", "h100-sxm"]]
    yield "switches.conf", "".join(f"SwitchName=s{i} Switches=s{i + 1}\n" for i in range(25000)) + (
        "SwitchName=s25000 Nodes=n0\n"), [["import", "switches.conf", "--device", "h100-sxm"]]
    yield "layers.json", hf_config(num_hidden_layers=8192), [["import", "layers.json"]]
    yield "index.json", json.dumps({"metadata": {"total_size": 1}, "weight_map": {
        f"model.layers.{i}.w": "a" for i in range(25000)}}), [["import", "index.json"]]
    yield "megatron.log", "".join(
        f" iteration {i}/ 100000 | consumed samples: {i} | elapsed time per iteration (ms): 100.0 |"
        f" global batch size: 64 | lm loss: 1.0E+00 |\n" for i in range(7000)), [
            ["compare", "PLAN", "--log", "megatron.log"]]
    yield "trace.json", json.dumps({"traceEvents": [
        {"name": "F0", "ph": "X", "ts": i, "dur": 1, "pid": 0, "tid": 0} for i in range(12000)]}), [
            ["report", "PLAN", "--no-search", "--measured", "trace.json", "-o", "o.html"]]
    yield "runs.csv", "name,model\n" + "a,llama-3.1-8b\n" * 60000, [["validate", "runs.csv"]]
    yield "nccl.txt", "# nThread 1\n" + (" 1048576 262144 float sum -1 100.0 10.0 18.0 0\n") * 20000, [
        ["import", "nccl.txt", "--device", "h100-sxm"]]
    yield "hwloc.xml", "<topology>" + "<object type='Package'>" * 30000 + "</object>" * 30000 + "</topology>", [
        ["import", "hwloc.xml"]]
    yield "smi.txt", "\t" + "\t".join(f"GPU{i}" for i in range(400)) + "\n" + "".join(
        f"GPU{i}\t" + "\t".join("NV18" for _ in range(400)) + "\n" for i in range(400)), [["import", "smi.txt"]]
    yield "cluster.yaml", json.dumps({"device": "h100-sxm", "levels": [
        {"name": f"l{i}", "arity": 6, "bandwidth": "50 GB/s", "latency": "1 us"} for i in range(8)]}), [
            ["check", "PLAN", "--cluster", "cluster.yaml"], ["import", "cluster.yaml"]]


def seconds_of(command):
    """Returns the CPU seconds that a command may take. A search has its budget per core on top."""
    return SECONDS + (BUDGET * os.cpu_count() if command[0] == "plan" else 0)


def run(binary, command, folder):
    """Returns the exit code, CPU seconds, peak bytes and the last line of standard error."""
    with open(os.path.join(folder, "stderr"), "w+b") as err, open(os.path.join(folder, "stdout"), "wb") as out:
        process = subprocess.Popen([binary, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err)
        seconds = seconds_of(command) + 1
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds))
        resource.prlimit(process.pid, resource.RLIMIT_AS, (4 * BYTES, 4 * BYTES))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        last = err.read()[-300:].decode("utf-8", "replace").strip().splitlines()[-1:]
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, "".join(last)


def try_row(binary, row, example):
    """Runs the commands of one row in a separate folder. Returns for each whether it failed, and a line."""
    name, text, commands = row
    assert len(text) <= LARGEST_INPUT, f"{name} has {len(text)} bytes"
    tried = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, name).write_text(text, "utf-8")
        for command in commands:
            command = [example if word == "PLAN" else word for word in command]
            code, seconds, peak, last = run(binary, command, folder)
            bad = code not in EXIT_CODES or seconds > seconds_of(command) or peak > BYTES
            tried.append((bad, f"{'FAILED' if bad else 'ok    '} {' '.join(command)[:90]}: exit code {code}, "
                               f"{seconds:.1f} s, {peak >> 20} MiB · {last[:150]}"))
    return tried


def check_out_of_memory(binary):
    """Checks that a command that runs out of memory ends with a message and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "buckets.yaml").write_text(PLANS["buckets.yaml"], "utf-8")
        done = subprocess.run(["prlimit", f"--as={OUT_OF_MEMORY_BELOW}", binary, "explain", "buckets.yaml",
                               "--timeline"], cwd=folder, capture_output=True)
    assert done.returncode == 71, (done.returncode, done.stderr)
    assert b"out of memory" in done.stderr, done.stderr


def main(arguments):
    binary, wanted = os.path.abspath(arguments[0]), set(arguments[1:])
    example = os.path.abspath("examples/course-64.yaml")
    began = time.monotonic()
    chosen = [row for row in rows() if not wanted or row[0] in wanted]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tried = [one for row in pool.map(lambda row: try_row(binary, row, example), chosen) for one in row]
    failed = [line for bad, line in tried if bad]
    check_out_of_memory(binary)
    for line in [line for _, line in tried] if wanted else failed:
        print(line)
    print(f"{len(tried)} commands on expensive inputs, {len(failed)} over {SECONDS} s, {BYTES >> 20} MiB or "
          f"ended otherwise, {time.monotonic() - began:.0f} s")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
