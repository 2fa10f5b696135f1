#!/usr/bin/env python3
"""Tests exported torchrun scripts with a stand-in for torchrun that prints its arguments. PyTorch is not
needed, and torchrun itself is not tested.

    tests/torchrun_stand_in_test.py build/release/bin/rankwright
"""

import json
import os
import subprocess
import sys
import tempfile

import launch_cases as cases

NODES = [f"n{i}" for i in range(cases.HOSTS)]

STAND_IN = f"""\
#!{sys.executable}
import json, sys
print(json.dumps(sys.argv[1:]))
"""


def run(script, env, arguments=("train.py", "a b'\"$(false)*")):
    return subprocess.run(
        ["bash", script, *arguments], env=env, capture_output=True, text=True, timeout=20, check=False
    )


def flags(printed):
    """Returns {"--nnodes": "4", ...}, and the arguments for the user's program."""
    words = json.loads(printed)
    named = dict(word.split("=", 1) for word in words if word.startswith("--"))
    return named, [word for word in words if not word.startswith("--")]


def started(script, env, by_name):
    """Returns [(rank, node, device)] in torchrun's numbering: node by node, in the order of node ranks."""
    nodes = {}
    for i, name in enumerate(NODES):
        one = {"NODE": name} if by_name else {"NODE_RANK": str(i), "MASTER_ADDR": "n9"}
        done = run(script, {**env, **one})
        assert done.returncode == 0, done.stderr
        named, rest = flags(done.stdout)
        assert rest == ["train.py", "a b'\"$(false)*"], rest
        assert named["--rdzv_backend"] == "static" and named["--nnodes"] == str(len(NODES)), named
        nodes[int(named["--node_rank"])] = (name, named)
    ranks = []
    for k in sorted(nodes):
        name, named = nodes[k]
        assert named["--master_addr"] == (nodes[0][0] if by_name else "n9"), named
        for local in range(int(named["--nproc_per_node"])):
            ranks.append((len(ranks), name, local))
    return ranks


def check(binary, case, folder, env):
    _, _, devices = cases.CASES[case]
    stem = os.path.join(folder, case)
    plan = cases.write_plan(case, stem + ".yaml")
    cases.export(binary, plan, "torchrun", stem + ".sh", "n[0-3]")
    assert started(stem + ".sh", env, by_name=True) == cases.expected(devices, NODES), case
    stranger = run(stem + ".sh", {**env, "NODE": "elsewhere"})
    assert stranger.returncode == 1 and "elsewhere is not one of the nodes" in stranger.stderr
    print(f"{case}: node ranks by name")


def check_numbers(binary, folder, env):
    """Checks that without host names NODE_RANK and MASTER_ADDR come from the environment."""
    plan = cases.write_plan("block", os.path.join(folder, "plain.yaml"))
    script = os.path.join(folder, "plain.sh")
    cases.export(binary, plan, "torchrun", script)
    assert started(script, env, by_name=False) == cases.expected(range(8), NODES)
    for wrong in ({"NODE_RANK": "4"}, {"NODE_RANK": "x"}, {"NODE": "n0"}, {"NODE_RANK": "0"}):
        done = run(script, {**env, **wrong})  # the last has no MASTER_ADDR
        assert done.returncode != 0 and not done.stdout, wrong
    assert run(script, env, ()).returncode == 64
    print("block: node ranks by number")


def main(arguments):
    binary = os.path.abspath(arguments[0])
    with tempfile.TemporaryDirectory(prefix="rankwright-torchrun-") as folder:
        stand_in = os.path.join(folder, "torchrun")
        with open(stand_in, "w", encoding="utf-8") as file:
            file.write(STAND_IN)
        os.chmod(stand_in, 0o755)
        env = {"PATH": folder + ":" + os.environ["PATH"]}
        for case in ("block", "hosts"):
            check(binary, case, folder, env)
        check_numbers(binary, folder, env)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
