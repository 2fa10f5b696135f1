#!/usr/bin/env python3
"""A Slurm cluster of 4 nodes on this machine runs exported batch scripts: every rank starts on the host
and uses the device of the plan.

    tests/slurm_test.py build/release/bin/rankwright

munged, slurmctld and one slurmd per node are started with their own files, and ended.
"""

import os
import secrets
import socket
import subprocess
import sys
import tempfile

import launch_cases as cases

NODES = [f"n{i}" for i in range(cases.HOSTS)]

# Plain files represent the devices; nothing opens them.
CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
SchedulerParameters=sched_interval=1,bf_interval=1
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdParameters=config_overrides
GresTypes=gpu
{nodes}
PartitionName=all Nodes=n[0-3] Default=YES MaxTime=5
"""

TOPOLOGY = """\
SwitchName=left Nodes=n[0-1]
SwitchName=right Nodes=n[2-3]
SwitchName=top Switches=left,right
"""

# With and without host names. The last uses only two of the nodes, which must be named.
JOBS = [(case, None) for case in cases.CASES] + [("ranks", "n[0-3]"), ("two_hosts", "n[0-3]")]

ODD = "a b'\"$(false)*"  # an argument that must be passed unchanged

TASK = (
    'echo "$RANK $SLURMD_NODENAME $LOCAL_RANK $CUDA_VISIBLE_DEVICES'
    ' $WORLD_SIZE $MASTER_ADDR $MASTER_PORT $1"'
)


def free_ports(count):
    """Returns free ports, opened together so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def write_files(folder):
    control, *ports = free_ports(1 + cases.HOSTS)
    host = socket.gethostname()
    nodes = "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2"
        f" RealMemory=100 Gres=gpu:{cases.DEVICES}"
        for name, port in zip(NODES, ports)
    )
    gpus = [os.path.join(folder, f"gpu{i}") for i in range(cases.DEVICES)]
    files = {
        "slurm.conf": CONFIG.format(host=host, control=control, folder=folder, nodes=nodes),
        "topology.conf": TOPOLOGY,
        "gres.conf": "".join(f"NodeName=n[0-3] Name=gpu File={gpu}\n" for gpu in gpus),
        "cgroup.conf": "CgroupPlugin=cgroup/v1\n",
        **{os.path.basename(gpu): "" for gpu in gpus},
    }
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    key = os.path.join(folder, "munge.key")
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(secrets.token_bytes(128))


class Slurm:
    """The Slurm cluster and its daemons."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = cases.Daemons(folder)
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        self.env = {"PATH": path, "SLURM_CONF": f"{folder}/slurm.conf", "LC_ALL": "C.UTF-8"}

    def __enter__(self):
        write_files(self.folder)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        at = self.folder
        munged = ["munged", "--foreground", "--force", "--num-threads=2"]
        for option, name in (
            ("key-file", "munge.key"),
            ("socket", "munge.socket"),
            ("pid-file", "munge.pid"),
            ("seed-file", "munge.seed"),
            ("log-file", "munge.log"),
        ):
            munged.append(f"--{option}={at}/{name}")
        self.daemons.start("munged", munged, self.env)
        cases.wait_for("munged", lambda: os.path.exists(f"{at}/munge.socket"))
        self.daemons.start("slurmctld", ["slurmctld", "-D", "-i"], self.env)
        for name in NODES:
            os.mkdir(os.path.join(at, name))
            self.daemons.start(f"slurmd-{name}", ["slurmd", "-D", "-N", name], self.env)
        cases.wait_for("the nodes to be idle", self.all_idle)

    def all_idle(self):
        self.daemons.check()
        states = self.ask("sinfo", "--noheader", "--Node", "--format=%N %T").split()
        return sorted(states[0::2]) == NODES and set(states[1::2]) == {"idle"}

    def ask(self, *command):
        return subprocess.run(
            command, env=self.env, timeout=10, capture_output=True, text=True, check=False
        ).stdout

    def submit(self, script, arguments, output):
        """Submits a batch script. Returns a process that waits for it."""
        command = ["sbatch", "--wait", f"--output={output}", f"--chdir={self.folder}"]
        return subprocess.Popen(
            [*command, script, *arguments],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=cases.die_with_parent,
        )

    def __exit__(self, *_):
        for job in self.ask("squeue", "--noheader", "--format=%A").split():
            self.ask("scancel", job)
        try:
            cases.wait_for("the last job", lambda: not self.ask("squeue", "--noheader"), 5)
        except AssertionError as late:
            print(late)
        self.daemons.stop()


def submit(slurm, binary, case, hosts):
    stem = os.path.join(slurm.folder, case + ("-named" if hosts else ""))
    plan = cases.write_plan(case, stem + ".yaml")
    cases.export(binary, plan, "slurm", stem + ".sbatch", hosts)
    return slurm.submit(stem + ".sbatch", ["sh", "-c", TASK, "task", ODD], stem + ".out"), stem


def check(case, hosts, job, stem):
    world, _, devices = cases.CASES[case]
    told, _ = job.communicate(timeout=50)
    with open(stem + ".out", encoding="utf-8") as file:
        said = file.read()
    assert job.returncode == 0, f"{job.returncode}: {told}{said}"
    # Without names the plan's hosts are the nodes of the job in order.
    used = sorted({device // cases.DEVICES for device in devices})
    names = NODES if hosts else {host: NODES[i] for i, host in enumerate(used)}
    wanted, found = cases.expected(devices, names), []
    for line in said.splitlines():
        rank, node, local, visible, size, master, port, argument = line.split(" ", 7)
        assert (int(size), master, port) == (world, wanted[0][1], "29500"), said
        assert argument == ODD, said
        found.append((int(rank), node, cases.own_device(visible, int(local))))
    assert sorted(found) == wanted, f"{case}: {sorted(found)} is not {wanted}"
    print(f"{case}{' by name' if hosts else ''}: {world} ranks where they belong")


def main(arguments):
    cases.need("munged", "slurmctld", "slurmd", "sbatch")
    cases.end_on_signals()
    binary = os.path.abspath(arguments[0])
    with tempfile.TemporaryDirectory(prefix="rankwright-slurm-") as folder:
        os.chmod(folder, 0o755)  # munged requires that its socket is reachable
        os.mkdir(os.path.join(folder, "state"))
        try:
            with Slurm(folder) as slurm:
                jobs = [(one, submit(slurm, binary, *one)) for one in JOBS]
                for (case, hosts), (job, stem) in jobs:
                    check(case, hosts, job, stem)
        except Exception:
            cases.show_logs(folder)
            raise
        finally:
            left = cases.end_what_is_left(folder)
        assert not left, f"processes were left: {left}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
