#!/usr/bin/env python3
"""Tests the emulated nodes: links have their rate, ranks their CPU time and hosts their names, the
placement of ranks changes the time of an all-reduce, and every run cleans up after itself.

    tests/emulated_nodes_test.py build/release/bin/mpi_ping build/release/bin/nap_on_yield.so

Times are compared with each other and with the configured rates, never with a constant.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import emulated_nodes
import launch_cases as cases
from cpu_quotas import Cgroup, Unavailable, write
from emulated_nodes import Nodes

MBIT = 400
PING = NAP = None

SPIN = """
import os, time
start, used = time.monotonic(), time.process_time()
while time.monotonic() - start < 2:
    {body}
print((time.process_time() - used) / (time.monotonic() - start))
"""


def ping(nodes, ranks_per_node):
    # Ring all-reduce for all sizes: only the placement differs.
    ring = {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_allreduce_algorithm": "4",
    }
    ran = nodes.mpirun([PING], ranks_per_node, env=ring, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    print(ran.stdout.strip())
    return json.loads(ran.stdout)


def nothing_left(prefix):
    """Returns whether nothing is left under these names; removal may take a moment."""
    folder = os.path.join(tempfile.gettempdir(), prefix + "-")
    end = time.monotonic() + 5
    while cases.processes_of(folder) and time.monotonic() < end:
        time.sleep(0.05)
    assert not cases.processes_of(folder), cases.processes_of(folder)
    assert not emulated_nodes.leftovers(prefix), emulated_nodes.leftovers(prefix)


class Links(unittest.TestCase):
    def test_rate_applies_between_nodes_but_not_inside(self):
        with Nodes(2, MBIT, NAP) as nodes:
            # The median of five and the best of three, because others use this machine too.
            for attempt in range(3):
                said = ping(nodes, 2)
                rate = said["between"] * 8e-6 / MBIT
                if 0.85 < rate < 1.15 and said["inside"] > 5 * said["between"]:
                    break
            self.assertEqual(said["hosts"], [nodes.names[0]] * 2 + [nodes.names[1]] * 2)
        self.assertAlmostEqual(rate, 1, delta=0.15)
        self.assertGreater(said["inside"], 5 * said["between"])
        # Placed by node, one of a node's two ranks sends over its link; interleaved, both do: twice as long.
        self.assertGreater(said["interleaved"], 1.4 * said["by_node"])

    def test_receiving_side_is_shaped(self):
        with Nodes(3, MBIT, NAP) as nodes:
            said = ping(nodes, 1)
        self.assertEqual(said["hosts"], nodes.names)
        # Two nodes that send at full rate together get only the rate of the one that receives.
        self.assertLess(said["into"] * 8e-6, 1.15 * MBIT)
        self.assertGreater(said["into"] * 8e-6, 0.7 * MBIT)

    def test_nodes_cannot_reach_other_networks(self):
        with Nodes(1) as nodes:
            routes = nodes.run(0, ["ip", "route"]).stdout.splitlines()
            self.assertEqual(len(routes), 1)
            self.assertTrue(routes[0].startswith(emulated_nodes.SUBNET))


class Quotas(unittest.TestCase):
    def test_rank_gets_its_quota(self):
        spin = [sys.executable, "-c", SPIN.format(body="pass")]
        with Nodes(2, MBIT) as nodes:
            with subprocess.Popen(spin, stdout=subprocess.PIPE, text=True) as free:
                ran = nodes.mpirun(spin, 1, cpu_quota=0.2)
                unlimited = float(free.communicate(timeout=20)[0])
        shares = [float(line) for line in ran.stdout.split()]
        print(f"of a core: {shares}, without a quota {unlimited}")
        self.assertEqual(len(shares), 2)
        self.assertLess(max(shares), 0.22)
        # If others load every core, a rank without a quota also gets less than a core.
        self.assertGreater(min(shares), 0.18 * min(1, unlimited / 0.8))

    def test_yielding_rank_keeps_its_quota(self):
        wait = [sys.executable, "-c", SPIN.format(body="os.sched_yield()")]
        shares = {}
        for nap in (None, NAP):
            with Nodes(1, nap=nap) as nodes:
                shares[nap] = float(nodes.mpirun(wait, 1, cpu_quota=0.5).stdout)
        print(f"of a core, waiting: {shares}")
        self.assertLess(shares[NAP], shares[None] / 2)

    def test_hierarchies_of_both_versions_are_found(self):
        first = "30 29 0:26 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct"
        self.assertEqual(Cgroup.hierarchy(first), (1, "/sys/fs/cgroup/cpu"))
        with tempfile.TemporaryDirectory() as folder:
            second = f"31 29 0:27 / {folder} rw - cgroup2 cgroup2 rw,nsdelegate"
            self.assertRaises(Unavailable, Cgroup.hierarchy, second)  # no controllers
            write(os.path.join(folder, "cgroup.controllers"), "cpuset cpu io\n")
            self.assertEqual(Cgroup.hierarchy(second), (2, folder))
            self.assertEqual(Cgroup.hierarchy(second + "\n" + first), (1, "/sys/fs/cgroup/cpu"))
        self.assertRaises(Unavailable, Cgroup.hierarchy, "1 0 0:2 / / rw - tmpfs tmpfs rw")

    def test_version_2_files_follow_the_documentation(self):
        with tempfile.TemporaryDirectory() as folder:  # replaces a hierarchy
            mounts = os.path.join(folder, "mounts")
            write(mounts, f"31 29 0:27 / {folder} rw - cgroup2 cgroup2 rw")
            write(os.path.join(folder, "cgroup.controllers"), "cpu")
            cgroup = Cgroup("own", mounts)
            cgroup.make()
            for path in (folder, cgroup.path):
                with open(os.path.join(path, "cgroup.subtree_control"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), "+cpu")
            with open(os.path.join(cgroup.add(7, 0.25), "cpu.max"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "2500 10000")


class Ends(unittest.TestCase):
    def test_nothing_left_after_a_run(self):
        with Nodes(2) as nodes:
            self.assertEqual(len(emulated_nodes.leftovers(nodes.prefix)), 6)  # 3 + 3 folders
            self.assertEqual(nodes.mpirun(["true"], 2).returncode, 0)
            self.assertEqual(nodes.mpirun(["sh", "-c", "exit 3"], 1).returncode, 3)
            self.assertEqual(nodes.cgroup.ranks(), [])
        nothing_left(nodes.prefix)

    def test_nothing_left_after_an_exception(self):
        with self.assertRaises(KeyError), Nodes(2) as nodes:
            raise KeyError("anything")
        nothing_left(nodes.prefix)

    def test_nothing_left_after_a_timeout(self):
        with Nodes(2) as nodes:
            with self.assertRaises(subprocess.TimeoutExpired) as late:
                nodes.mpirun(["sh", "-c", "echo here; exec sleep 600"], 2, timeout=3)
            self.assertEqual(late.exception.stdout.count("here"), 4)
            self.assertEqual(nodes.cgroup.processes(), [])
        nothing_left(nodes.prefix)

    def test_nothing_left_after_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start_sleepers()
            process.send_signal(number)
            self.assertEqual(process.wait(20), 128 + number)
            nothing_left(f"rw{process.pid}")

    def test_clean_removes_what_a_killed_run_leaves(self):
        process = self.start_sleepers()
        process.kill()
        process.wait(10)
        self.assertTrue(emulated_nodes.leftovers(f"rw{process.pid}"))
        emulated_nodes.clean()
        nothing_left(f"rw{process.pid}")

    def start_sleepers(self):
        command = [sys.executable, emulated_nodes.__file__, "--ranks", "1", "--"]
        process = subprocess.Popen(
            [*command, "sh", "-c", "echo here; exec sleep 600"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=cases.die_with_parent,
        )
        self.addCleanup(process.stdout.close)
        for _ in range(2):
            self.assertEqual(process.stdout.readline(), "here\n")
        return process


class Reasons(unittest.TestCase):
    def test_reason_is_given_if_nodes_are_unavailable(self):
        os.seteuid(65534)
        try:
            self.assertEqual(Nodes.available(), "this takes root")
        finally:
            os.seteuid(0)

    def test_arguments_out_of_range_are_refused(self):
        with Nodes(1) as nodes:
            self.assertRaises(ValueError, nodes.mpirun, ["true"], 1, cpu_quota=0.09)
        self.assertRaises(ValueError, Nodes, 0)
        self.assertRaises(ValueError, Nodes, 201)


if __name__ == "__main__":
    PING, NAP = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    cases.end_on_signals()
    missing = Nodes.available()
    if missing:
        cases.skip(missing)
    unittest.main(verbosity=2)
