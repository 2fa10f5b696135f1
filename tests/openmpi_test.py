#!/usr/bin/env python3
"""mpirun starts the ranks of exported rankfiles on 4 emulated nodes: every rank is on the host and uses
the device of the plan, and is not bound to a core.

    tests/openmpi_test.py build/release/bin/rankwright

A node is an Open MPI daemon with its own host name. Instead of ssh, mpirun starts it through a launch
agent that creates a UTS namespace, which ends with its last process.
"""

import os
import subprocess
import sys
import tempfile

import launch_cases as cases

# Names that no name server resolves: mpirun would treat a host with its own address as local.
NODES = [f"node{i}.invalid" for i in range(cases.HOSTS)]
HOSTS = "node[0-3].invalid"

AGENT = """\
#!/bin/sh
# agent HOST COMMAND...: what ssh does with them, on a host that is only a name.
host=$1
shift
exec unshare --uts /bin/sh -c 'hostname "$1" && shift && exec /bin/sh -c "$*"' agent "$host" "$@"
"""

TASK = (
    'echo "$RANK $OMPI_COMM_WORLD_RANK $(hostname) $LOCAL_RANK ${CUDA_VISIBLE_DEVICES:-}'
    ' $WORLD_SIZE $MASTER_ADDR $(nproc) $1"'
)


def emulates_hosts():
    """Returns whether this machine lets a process have its own host name."""
    tried = subprocess.run(
        ["unshare", "--uts", "hostname", NODES[0]], capture_output=True, text=True, check=False
    )
    return tried.returncode == 0


def environment(folder):
    agent = os.path.join(folder, "agent")
    with open(agent, "w", encoding="utf-8") as file:
        file.write(AGENT)
    os.chmod(agent, 0o755)
    return {
        "PATH": os.environ["PATH"],
        "TMPDIR": folder,  # session folders
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_orte_keep_fqdn_hostnames": "1",
    }


def run(script, arguments, env, folder):
    process = subprocess.Popen(
        ["bash", script, *arguments],
        env=env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=cases.die_with_parent,
    )
    try:
        out, err = process.communicate(timeout=30)
    finally:
        if process.poll() is None:
            process.terminate()  # mpirun ends its daemons
            process.wait(10)
    assert process.returncode == 0, f"{process.returncode}: {out}{err}"
    return out


def check(binary, case, folder, env):
    world, _, devices = cases.CASES[case]
    stem = os.path.join(folder, case)
    plan = cases.write_plan(case, stem + ".yaml")
    cases.export(binary, plan, "openmpi", stem, HOSTS)
    odd = "a b'\"$(false)*"  # the command is passed unchanged
    said = run(os.path.join(stem, "openmpi.sh"), ["sh", "-c", TASK, "task", odd], env, folder)
    wanted, found = cases.expected(devices, NODES), []
    cores = str(len(os.sched_getaffinity(0)))
    for line in said.splitlines():
        rank, mpi_rank, node, local, visible, size, master, free, argument = line.split(" ", 8)
        assert rank == mpi_rank, said
        assert (int(size), master, argument) == (world, wanted[0][1], odd), said
        assert free == cores, f"{case}: bound to {free} of {cores} cores"
        found.append((int(rank), node, cases.own_device(visible, int(local))))
    assert sorted(found) == wanted, f"{case}: {sorted(found)} is not {wanted}"
    print(f"{case}: {world} ranks where they belong")


def main(arguments):
    cases.need("mpirun", "unshare", "hostname", "taskset")
    if not emulates_hosts():
        cases.skip("no process may have a host name of its own here")
    cases.end_on_signals()
    binary = os.path.abspath(arguments[0])
    with tempfile.TemporaryDirectory(prefix="rankwright-openmpi-") as folder:
        try:
            env = environment(folder)
            for case in cases.CASES:
                check(binary, case, folder, env)
        finally:
            left = cases.end_what_is_left(folder)
        assert not left, f"processes were left: {left}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
