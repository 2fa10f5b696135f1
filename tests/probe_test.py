#!/usr/bin/env python3
"""`rankwright probe`: 4 ranks measure this machine. Other verbs read the cluster file that they write, its
figures are tagged measured, and the JSON has all figures.

    tests/probe_test.py build/release/bin/rankwright
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import launch_cases as cases

PLAN = """\
world_size: 4
parallelism: {tp_size: 2, pp_size: 1, dp_size: 2, micro_batch: 2, sequence_parallel: true}
model: {name: small, architecture: llama, hidden: 256, layers: 4, heads: 8, kv_heads: 8, ffn: 1024,
  vocab: 512}
job: {global_batch: 8, sequence: 128, param_dtype: fp32, grad_dtype: fp32, optimizer: adam}
placement: block
"""
OPS = {"all-reduce", "all-gather", "reduce-scatter", "send/recv"}


def ran(*command, timeout=100):
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        preexec_fn=cases.die_with_parent,
    )
    return done


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}", file=sys.stderr)
        sys.exit(1)


def check_file(text):
    """Checks the cluster file: a device and one level, all measured."""
    expect("# 4 ranks on 1 host" in text, f"no ranks and hosts in the head:\n{text}")
    expect("generation: cpu" in text and "source: measured by rankwright probe" in text, text)
    for key in ("memory:", "memory_bandwidth:", "best_matmul:", "launch:"):
        expect(key in text, f"{key} is missing:\n{text}")
    level = next(line for line in text.splitlines() if "name: host" in line)
    expect("arity: 4" in level, level)
    expect("origin: measured" in level and "latency_origin: measured" in level, level)


def check_json(told):
    expect(told["schema"] == "rankwright.probe/1" and told["ranks_per_host"] == 4, "head of the JSON")
    expect({call["collective"] for call in told["calls"]} == OPS, "a call is missing")
    expect(all(call["seconds"] > 0 for call in told["calls"]), "a call took no time")
    expect(all(call["model_seconds"] > 0 for call in told["calls"]), "the model says no time")
    expect(told["matmuls"] and all(m["flops_per_second"] > 0 for m in told["matmuls"]), "matmuls")


def check_read(binary, folder, cluster):
    """Checks that `check` and `explain` accept the file."""
    plan = os.path.join(folder, "plan.yaml")
    with open(plan, "w", encoding="utf-8") as file:
        file.write(PLAN)
    checked = ran(binary, "check", plan, "--cluster", cluster)
    expect(checked.returncode == 0, checked.stdout + checked.stderr)
    explained = ran(binary, "explain", plan, "--cluster", cluster, "--json")
    told = json.loads(explained.stdout)
    expect(told["estimate"]["step"]["seconds"] > 0, "a step takes no time")


def main():
    binary = os.path.abspath(sys.argv[1])
    runtime = os.path.join(os.path.dirname(binary), "rankwright-runtime")
    if not os.access(runtime, os.X_OK) or shutil.which("mpirun") is None:
        print("skipped: no runtime in this build, or no mpirun", file=sys.stderr)
        return cases.SKIPPED
    wrong = ran(binary, "probe", "--local", "-n", "0")
    expect(wrong.returncode == 64, f"-n 0 is taken: {wrong.stderr}")
    wrong = ran(binary, "probe", "-n", "2")
    expect(wrong.returncode == 64, f"-n without --local is taken: {wrong.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        cluster = os.path.join(folder, "cluster.yaml")
        command = ("probe", "--local", "-n", "4", "--quick", "--json", "-o", cluster)
        probed = ran(binary, *command)
        expect(probed.returncode == 0, probed.stdout + probed.stderr)
        with open(cluster, encoding="utf-8") as file:
            check_file(file.read())
        check_json(json.loads(probed.stdout))
        check_read(binary, folder, cluster)
    return 0


if __name__ == "__main__":
    sys.exit(main())
