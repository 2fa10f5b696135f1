#!/usr/bin/env python3
"""Emulates nodes on one machine: network namespaces behind links of a given rate, and ranks that are
each limited to a fraction of a core. For tests and experiments that compare times.

    python3 tests/emulated_nodes.py --nodes 2 --ranks 4 --mbit 400 --quota 0.2 -- COMMAND ARGS...

A node is a network namespace with a host name and one interface, a veth to a bridge in a separate
namespace. It has no route out, and the host's network is not changed. tbf shapes both ends of the
link, so a node sends and receives at `mbit` each: a level with `per: domain`. Open MPI uses TCP
between nodes and shared memory inside. A rank's cgroup limits its CPU time; without that limit,
waiting ranks would lend their core to the others, and waiting would cost nothing. `nap` names the
library of tests/nap_on_yield.cc, with which waiting in MPI does not consume that time.

Needs root. Processes, namespaces and cgroups are removed by name at the end, also on failure, SIGINT,
SIGTERM and SIGHUP. `--clean` removes what a SIGKILL leaves behind.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import launch_cases as cases
from cpu_quotas import Cgroup, Unavailable, end_processes, write

NETNS = "/run/netns"
INTERFACE = "eth0"  # of every node, in its namespace
SUBNET = "10.77.0."
MTU = 9000  # with 1,500 headers take 4 % of the rate, and more packets cost more CPU time
BURST = 64 * 1024  # bytes; tbf splits larger packets, and offload creates packets of up to 64 KiB
QUEUE = "20ms"  # longer than any switch's queue: packet loss would measure TCP, not the link

# `nsenter --net` instead of `ip netns exec`, which mounts another /sys without the cgroups.
AGENT = """\
#!/bin/sh
# agent HOST COMMAND...: what ssh does with them, in the namespaces of that node.
host=$1
shift
exec nsenter --net={netns}/"$host" unshare --uts /bin/sh -c \\
  'hostname "$1" && shift && exec /bin/sh -c "$*"' agent "$host" "$@"
"""

RANK = """\
#!/bin/sh
# rank COMMAND...: this rank joins the cgroup that holds it to its CPU time.
echo $$ >"{cgroup}/$OMPI_COMM_WORLD_RANK/cgroup.procs" || exit 1
nap={nap}
[ -z "$nap" ] || export LD_PRELOAD="$nap${{LD_PRELOAD:+:$LD_PRELOAD}}"
exec "$@"
"""


def said(*command):
    """Returns the output of a system command."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    ran = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    if ran.returncode != 0:
        raise Unavailable(f"{shlex.join(command)}: {ran.stderr.strip()}")
    return ran.stdout


def remove_namespace(name):
    if not os.path.exists(f"{NETNS}/{name}"):
        return
    end_processes(lambda: list(map(int, said("ip", "netns", "pids", name).split())))
    said("ip", "netns", "del", name)


@contextlib.contextmanager
def signals_unwind():
    """Makes SIGINT, SIGTERM and SIGHUP end the block like an exception."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def leave(which, _):
        for number in numbers:  # only once, so that cleanup is not interrupted
            signal.signal(number, signal.SIG_IGN)
        sys.exit(128 + which)

    before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Nodes:
    """`with Nodes(2, mbit=400) as nodes:` creates two nodes, each on a link of 400 Mbit/s per direction."""

    def __init__(self, count, mbit=400, nap=None):
        if not 1 <= count <= 200:
            raise ValueError(f"1 to 200 nodes, not {count}")
        self.prefix = f"rw{os.getpid()}"  # unique per run
        self.names = [f"{self.prefix}n{i}" for i in range(count)]
        self.switch = f"{self.prefix}sw"
        self.mbit = mbit
        self.nap = os.path.abspath(nap) if nap else ""
        self.undo = contextlib.ExitStack()

    @staticmethod
    def available():
        """Returns None, or why nodes cannot be created here."""
        if os.geteuid() != 0:
            return "this takes root"
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        for program in ("ip", "tc", "nsenter", "unshare", "hostname", "mpirun"):
            if shutil.which(program, path=path) is None:
                return f"there is no {program}"
        try:
            with Nodes(1) as nodes:
                nodes.cgroup.add(0, 0.5)
                said(nodes.agent, nodes.names[0], "true")
        except (Unavailable, OSError) as error:
            return str(error)
        return None

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            undo.enter_context(signals_unwind())
            self.make_folders(undo)
            self.cgroup = Cgroup(self.prefix)
            undo.callback(self.cgroup.remove)
            self.cgroup.make()
            write(self.rank, RANK.format(cgroup=self.cgroup.path, nap=shlex.quote(self.nap)))
            self.make_network(undo)
            os.chmod(self.agent, 0o755)
            os.chmod(self.rank, 0o755)
            self.undo = undo.pop_all()
        return self

    def __exit__(self, *failure):
        return self.undo.__exit__(*failure)

    def make_folders(self, undo):
        self.folder = tempfile.mkdtemp(prefix=self.prefix + "-")
        undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.shared = f"/dev/shm/{self.prefix}"  # Open MPI's segments, which a killed rank leaves behind
        undo.callback(shutil.rmtree, self.shared, ignore_errors=True)
        os.makedirs(self.shared)
        self.agent = os.path.join(self.folder, "agent")
        self.rank = os.path.join(self.folder, "rank")
        write(self.agent, AGENT.format(netns=NETNS))

    def make_network(self, undo):
        for name in (self.switch, *self.names):
            undo.callback(remove_namespace, name)
            said("ip", "netns", "add", name)
        said("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        said("ip", "-n", self.switch, "link", "set", "br0", "mtu", str(MTU), "up")
        for i, name in enumerate(self.names):
            port = f"port{i}"
            peer = ("peer", "name", INTERFACE, "netns", name)
            said("ip", "-n", self.switch, "link", "add", port, "type", "veth", *peer)
            said("ip", "-n", self.switch, "link", "set", port, "mtu", str(MTU), "master", "br0")
            said("ip", "-n", name, "addr", "add", f"{SUBNET}{i + 1}/24", "dev", INTERFACE)
            said("ip", "-n", name, "link", "set", INTERFACE, "mtu", str(MTU), "up")
            said("ip", "-n", name, "link", "set", "lo", "up")
            said("ip", "-n", self.switch, "link", "set", port, "up")
            self.shape(self.switch, port)  # what the node receives
            self.shape(name, INTERFACE)  # what it sends

    def shape(self, namespace, interface):
        shaped = ("rate", f"{self.mbit}mbit", "burst", str(BURST), "latency", QUEUE)
        said("tc", "-n", namespace, "qdisc", "add", "dev", interface, "root", "tbf", *shaped)

    def run(self, node, command, timeout=60):
        """Runs a command on one node without MPI. Returns the CompletedProcess."""
        return self.finish(node, command, {}, timeout, True)

    def mpirun(
        self,
        command,
        ranks_per_node,
        cpu_quota=0.2,
        env=None,
        timeout=120,
        interleave=False,
        capture=True,
    ):
        """Runs the command on all nodes with mpirun. Returns the CompletedProcess. Rank r is on node
        r / ranks_per_node, or r mod nodes with `interleave`. `cpu_quota` is in cores, None for no
        limit. Raises subprocess.TimeoutExpired, with the output so far, if it takes longer."""
        hosts = ",".join(f"{name}:{ranks_per_node}" for name in self.names)
        started = ["mpirun", "--host", hosts, "-np", str(len(self.names) * ranks_per_node)]
        started += ["--map-by", "node" if interleave else "slot"]
        started += ["--oversubscribe", "--bind-to", "none"]
        started += [] if cpu_quota is None else [self.rank]
        try:
            if cpu_quota is not None:
                for rank in range(len(self.names) * ranks_per_node):
                    self.cgroup.add(rank, cpu_quota)
            settings = self.environment(env or {})
            return self.finish(0, [*started, *command], settings, timeout, capture)
        finally:
            self.cgroup.clear()

    def environment(self, more):
        settings = {
            "plm": "rsh",
            "plm_rsh_agent": self.agent,
            "pml": "ob1",
            "btl": "self,vader,tcp",
            "btl_vader_backing_directory": self.shared,
            "btl_tcp_if_include": INTERFACE,
            "oob_tcp_if_include": INTERFACE,
            "mpi_yield_when_idle": "1",
        }
        return {
            "TMPDIR": self.folder,  # session folders
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            **{f"OMPI_MCA_{key}": value for key, value in settings.items()},
            **more,
        }

    def finish(self, node, command, env, timeout, capture):
        """Runs the command on a node to its end. The process has ended when this returns or raises."""
        own = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_"))}
        process = subprocess.Popen(  # exec, so that the command itself is ended, not its shell
            [self.agent, self.names[node], "exec " + shlex.join(command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.PIPE if capture else None,
            text=True,
            env={**own, **env},
            preexec_fn=cases.die_with_parent,
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            process.terminate()  # mpirun ends its daemons
            with contextlib.suppress(subprocess.TimeoutExpired):
                late.stdout, late.stderr = process.communicate(timeout=5)
            raise
        finally:
            if process.poll() is None:
                end_processes(lambda: [] if process.poll() is not None else [process.pid])
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def leftovers(prefix=r"rw\d+"):
    """Returns what runs have left under the names of nodes, as [(owner's process id, kind, name)]. A killed
    run leaves it behind."""
    places = {"namespace": NETNS, "shared": "/dev/shm", "folder": tempfile.gettempdir()}
    with contextlib.suppress(Unavailable):
        places["cgroup"] = Cgroup("").parent
    forms = {"namespace": r"(n\d+|sw)", "shared": "", "folder": r"-\w+", "cgroup": ""}
    found = []
    for kind, place in places.items():
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            if re.fullmatch(f"{prefix}{forms[kind]}", name):
                found.append((int(re.match(r"rw(\d+)", name)[1]), kind, os.path.join(place, name)))
    return found


def clean():
    """Removes what nodes left behind whose owner has ended."""
    for owner, kind, path in leftovers():
        if os.path.exists(f"/proc/{owner}"):
            continue
        if kind == "namespace":
            remove_namespace(os.path.basename(path))
        elif kind == "cgroup":
            Cgroup(os.path.basename(path)).remove()
        else:
            shutil.rmtree(path)
        print(f"removed {path}")


def arguments():
    parser = argparse.ArgumentParser(description="Runs an MPI program on emulated nodes.")
    parser.add_argument("--nodes", type=int, default=2, metavar="N")
    parser.add_argument("--ranks", type=int, default=4, metavar="N", help="on each node")
    parser.add_argument("--mbit", type=float, default=400, help="of a node's link, each way")
    parser.add_argument("--quota", type=float, default=0.2, help="cores a rank; 0: no limit")
    parser.add_argument("--nap", metavar="LIBRARY", help="nap_on_yield.so, for ranks")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS")
    parser.add_argument("--interleave", action="store_true", help="rank r on node r mod N")
    parser.add_argument("--clean", action="store_true", help="remove what killed runs left")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    parsed = parser.parse_args()
    if not parsed.command and not parsed.clean:
        parser.error("no command")
    return parsed


def main():
    given = arguments()
    if given.clean:
        clean()
        return 0
    reason = Nodes.available()
    if reason:
        print(f"no emulated nodes: {reason}", file=sys.stderr)
        return cases.SKIPPED
    with Nodes(given.nodes, given.mbit, given.nap) as nodes:
        try:
            return nodes.mpirun(
                given.command,
                given.ranks,
                cpu_quota=given.quota or None,
                timeout=given.timeout,
                interleave=given.interleave,
                capture=False,
            ).returncode
        except subprocess.TimeoutExpired:
            print(f"ended: it took more than {given.timeout:g} s", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
