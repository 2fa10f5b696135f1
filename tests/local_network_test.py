#!/usr/bin/env python3
"""`rankwright run` and `probe` on this machine do not use the network: while they run, none of their
processes listens on an address other than loopback or has a UDP socket.

    tests/local_network_test.py build/release/bin/rankwright
"""

import ipaddress
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

import launch_cases as cases
import run_test

LISTEN = "0A"  # of the fourth column of /proc/net/tcp
PATIENCE = 60  # seconds
TABLES = ("tcp", "tcp6", "udp", "udp6")


def address_of(text):
    """Returns the address of "0100007F:0FA0" or its IPv6 form: 32-bit words in the machine's byte order."""
    digits = text.split(":")[0]
    words = [int(digits[at:at + 8], 16) for at in range(0, len(digits), 8)]
    return ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))


def sockets_of(pid):
    """Returns the inode numbers of the sockets that a process has open."""
    found = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}"))
            if match:
                found.add(match[1])
    except OSError:
        pass  # it has ended, or closed that file
    return found


def tree_of(root):
    """Returns the process `root` and its descendants."""
    children = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(number))
    found, todo = [], [root]
    while todo:
        found.append(todo.pop())
        todo += children.get(found[-1], [])
    return found


def open_sockets(pids):
    """Returns {(pid, table, address)} of listening TCP sockets and of all UDP sockets."""
    rows = []
    for table in TABLES:
        try:
            with open(f"/proc/net/{table}", encoding="utf-8") as file:
                rows += [(table, line.split()) for line in file.read().splitlines()[1:]]
        except FileNotFoundError:
            continue  # a kernel without IPv6
    found = set()
    for pid in pids:
        inodes = sockets_of(pid)
        for table, row in rows:
            if row[9] in inodes and (table.startswith("udp") or row[3] == LISTEN):
                found.add((pid, table, address_of(row[1])))
    return found


class Watch:
    """Polls the sockets of a process tree until stop()."""

    def __init__(self, root):
        self.seen, self.most = set(), 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.look, args=(root,))
        self.thread.start()

    def look(self, root):
        while not self.done.wait(0.05):
            pids = tree_of(root)
            self.most = max(self.most, len(pids))
            self.seen |= open_sockets(pids)

    def stop(self):
        self.done.set()
        self.thread.join()


def check_the_watch():
    """Checks that a listener on all addresses and a UDP socket are seen, so that the checks below can fail."""
    with socket.create_server(("", 0)), socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        seen = {(table, str(address)) for _, table, address in open_sockets([os.getpid()])}
    assert {("tcp", "0.0.0.0"), ("udp", "127.0.0.1")} <= seen, seen


def check_closed(watch, what):
    wrong = {row for row in watch.seen if row[1].startswith("udp") or not row[2].is_loopback}
    assert not wrong, f"{what} is open to the network: {sorted(map(str, wrong))}"
    print(f"{what}: {watch.most} processes, {len(watch.seen)} sockets that listen, all on loopback")


def check_run(bench, plan, processes, *words):
    """Watches training runs of `plan` from start to end."""
    log = bench.path("steps.csv")
    command = [bench.binary, "run", plan, "--steps", run_test.LONG, "--quiet", "--csv", log, *words]
    process = bench.start(command)
    watch = Watch(process.pid)
    try:
        cases.wait_for("some steps", lambda: len(run_test.lines_of(log)) > 3, PATIENCE)
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        watch.stop()
    assert process.returncode == 130, (process.returncode, err)
    assert watch.most >= processes, watch.most
    check_closed(watch, " ".join(["run", *words]))
    os.remove(log)


def check_probe(bench, *words):
    process = bench.start([bench.binary, "probe", "--quick", "--quiet", "--json", *words])
    watch = Watch(process.pid)
    try:
        _, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.terminate()
        raise
    finally:
        watch.stop()
    assert process.returncode == 0, (process.returncode, err)
    check_closed(watch, " ".join(["probe", *words]))


def main(arguments):
    binary = os.path.abspath(arguments[0])
    if not os.access(os.path.join(os.path.dirname(binary), "rankwright-runtime"), os.X_OK):
        cases.skip("the runtime was not built")
    cases.end_on_signals()
    check_the_watch()
    with tempfile.TemporaryDirectory(prefix="rankwright-network-") as folder:
        bench = run_test.Bench(binary, folder)
        one = bench.path("one.yaml")
        with open(one, "w", encoding="utf-8") as file:
            file.write(run_test.one_rank(run_test.PLAN))
        try:
            check_run(bench, bench.plan, run_test.RANKS + 2, "--local")  # plus launcher and mpirun
            check_run(bench, one, 1)
            check_probe(bench, "--local", "-n", "2")
        finally:
            cases.end_what_is_left(folder, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
