#!/usr/bin/env python3
"""Tests the placement experiment without nodes and training: the list of layouts, that the program reads
their plan files as intended, the statistics of measured times, the table and the plot, and one whole run
with a stand-in for the cluster.

    tests/placement_experiment_test.py build/release/bin/rankwright
"""

import contextlib
import io
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../bench/placement"))
import figures  # noqa: E402
import layouts  # noqa: E402
import placement  # noqa: E402
from layouts import Layout  # noqa: E402

BINARY = None

CLUSTER = """\
device: {name: core, memory: 16 GB, memory_bandwidth: 2 GB/s, bf16: 10 GFLOP/s}
levels:
  - {name: node, arity: 4, bandwidth: 1 GB/s, latency: 50 us}
  - {name: link, arity: 2, bandwidth: 50 MB/s, latency: 200 us, per: domain}
"""

# Replaces the program under mpirun: writes a cluster file for probe, and for run steps with the predicted
# times after two longer ones. gpipe fails.
STAND_IN = """\
#!/bin/sh
case "$1" in
probe) cp "$(dirname "$0")/cluster.yaml" "$3" ;;
run)
  grep -q gpipe "$2" && { echo "rank 3 died" >&2; exit 1; }
  "$PROGRAM" explain "$2" --cluster "$4" --json | "$PYTHON" -c '
import json, sys
t = json.load(sys.stdin)["estimate"]["step"]["seconds"]
for i in range(int(sys.argv[1])):
    print(json.dumps({"type": "step", "step": i, "seconds": 9 * t if i < 2 else t}))
print(json.dumps({"type": "summary", "step_seconds": {"predicted": t, "measured": t}}))' "$6" ;;
*) exec "$PROGRAM" "$@" ;;
esac
"""


class OneProcess:
    """Replaces emulated nodes: mpirun starts one local process."""

    def __init__(self, count, mbit, nap):
        self.names = [f"n{i}" for i in range(count)]
        assert (mbit, nap) == (400, None)

    available = staticmethod(lambda: None)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        return False

    def mpirun(self, command, ranks_per_node, cpu_quota, timeout):
        assert ranks_per_node * len(self.names) == 8 and cpu_quota == 0.2
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=timeout
        )


class Layouts(unittest.TestCase):
    def test_layouts_cover_all_degrees_once(self):
        # 2^3 over three axes: (3 + 2 choose 2) = 10 layouts.
        self.assertEqual(len(layouts.degrees(8)), 10)
        self.assertEqual(layouts.degrees(1), [(1, 1, 1)])
        few, every = layouts.layouts(8), layouts.layouts(8, everything=True)
        self.assertEqual({(x.tp, x.pp, x.dp) for x in few}, set(layouts.degrees(8)))
        for found in (few, every):
            self.assertEqual(len({x.name for x in found}), len(found))
            self.assertEqual({layouts.canonical(x) for x in found}, set(found))
        self.assertLess(set(few), set(every))

    def test_variants_change_one_setting(self):
        for x in layouts.layouts(8):
            changed = (x.order != "tp-dp-pp") + (x.zero > 0) + (x.schedule != "1f1b")
            self.assertLessEqual(changed, 1, x.name)

    def test_groups_split_the_ranks(self):
        for x in layouts.layouts(8, everything=True):
            for axis in ("tp", "pp", "dp"):
                groups = {tuple(x.group(axis, rank)) for rank in range(8)}
                self.assertEqual(sorted(itertools.chain(*groups)), list(range(8)), x.name)
                self.assertEqual({len(group) for group in groups}, {x.degree(axis)})

    def test_groups_cross_nodes_if_their_ranks_do(self):
        # tp-dp-pp of 2 x 2 x 2: tp groups are 0 1, 2 3, ...; dp groups 0 2, 1 3, ...; pp 0 4, ...
        plain = Layout(2, 2, 2)
        self.assertEqual(plain.group("dp", 3), [1, 3])
        self.assertEqual([plain.crosses(a, 4) for a in ("tp", "dp", "pp")], [False, False, True])
        self.assertEqual([plain.crosses(a, 2) for a in ("tp", "dp", "pp")], [False, True, True])
        self.assertTrue(Layout(2, 2, 2, "dp-pp-tp").crosses("tp", 4))  # 0 4, 1 5, ...
        self.assertFalse(Layout(1, 1, 8).crosses("tp", 4))

    def test_invalid_layouts_are_left_out(self):
        self.assertFalse(layouts.valid(Layout(1, 1, 16)))  # a batch of 16 by 2 has 8 microbatches
        self.assertFalse(layouts.valid(Layout(8, 1, 1, zero=1)))
        self.assertFalse(layouts.valid(Layout(1, 8, 1, schedule="interleaved-1f1b")))  # 16 stages
        self.assertFalse(layouts.valid(Layout(1, 1, 8, schedule="gpipe")))
        self.assertTrue(layouts.valid(Layout(1, 4, 2, schedule="interleaved-1f1b")))

    def test_program_reads_plan_files_as_written(self):
        with tempfile.TemporaryDirectory() as folder:
            cluster, file = os.path.join(folder, "cluster.yaml"), os.path.join(folder, "plan.yaml")
            placement.write(cluster, CLUSTER)
            for x in layouts.layouts(8, everything=True):
                placement.write(file, layouts.plan_file(x))
                told = placement.asked(BINARY, "explain", file, "--cluster", cluster)
                self.assertEqual(placement.layout_of(told["plan"]), x)
                self.assertEqual(told["plan"]["virtual_stages"], x.chunks)
                self.assertEqual(told["plan"]["sequence_parallel"], x.tp > 1)
                self.assertEqual(told["plan"]["micro_batch"], layouts.MICRO_BATCH)
                self.assertEqual(told["assumed"], [])
            with self.assertRaisesRegex(placement.Failed, "exit 1: .*nowhere.yaml"):
                placement.asked(BINARY, "explain", "nowhere.yaml")


class Correlation(unittest.TestCase):
    def test_extremes_are_one_and_constants_undefined(self):
        self.assertAlmostEqual(figures.spearman([1, 2, 3], [10, 200, 201]), 1)
        self.assertAlmostEqual(figures.spearman([1, 2, 3], [3, 2, 1]), -1)
        self.assertIsNone(figures.spearman([1, 1], [1, 2]))
        self.assertIsNone(figures.spearman([1], [1]))

    def test_matches_the_worked_example(self):
        # Ranks 1 2 3 4 5 and 2 1 4 3 5: squared differences 1 1 1 1 0;
        # 1 - 6 * 4 / (5 * 24) = 0.8.
        self.assertAlmostEqual(figures.spearman([1, 2, 3, 4, 5], [20, 10, 40, 30, 50]), 0.8)

    def test_ties_share_their_ranks(self):
        self.assertEqual(figures.ranks([5, 1, 5, 0]), [3.5, 2, 3.5, 1])
        # 1.5 1.5 3 and 1 2 3: sum of products (-0.5)(-1) + (-0.5)(0) + 1 * 1 = 1.5;
        # sqrt(1.5 * 2) = 1.732; 0.866.
        self.assertAlmostEqual(figures.spearman([1, 1, 2], [1, 2, 3]), 0.75**0.5)

    def test_monotonic_changes_keep_the_correlation(self):
        chance = random.Random(7)
        for _ in range(100):
            size = chance.randrange(3, 30)
            a = [chance.random() for _ in range(size)]
            b = [chance.random() for _ in range(size)]
            rho = figures.spearman(a, b)
            self.assertAlmostEqual(figures.spearman([x**3 + 1 for x in a], b), rho)
            self.assertAlmostEqual(figures.spearman(b, a), rho)
            self.assertTrue(-1.0001 <= rho <= 1.0001)


ROWS = [
    {"name": "dp 8", "tp": "none", "predicted": 1.0, "measured": 2.0, "alike": 1, "pick": True},
    {"name": "tp 8", "tp": "across", "predicted": 4.0, "measured": 5.0, "alike": 2},
    {"name": "tp 2", "tp": "inside", "predicted": 1.5, "measured": 1.6, "alike": 3},
    {"name": "tp 2, dp-tp", "tp": "across", "predicted": 3.0, "measured": 4.8, "alike": 3},
    {"name": "pp <8>", "tp": "none", "predicted": 2.0, "failed": "exit 1: a | b\nc", "alike": 4},
]


class Tables(unittest.TestCase):
    def test_summary_matches_the_worked_example(self):
        # Predicted 1 4 1.5 3: ranks 1 4 2 3; measured 2 5 1.6 4.8: 2 4 1 3; 1 - 6 * 2 / 60 = 0.8.
        # Errors 1/2, 1/5, 1/16, 3/8: sorted, the third of four is 3/8. 2.0 / 1.6 is 25 % behind.
        said = figures.summary(ROWS)
        self.assertAlmostEqual(said["spearman"], 0.8)
        self.assertEqual((said["layouts"], said["fastest"], said["pick"]), (4, "tp 2", "dp 8"))
        self.assertAlmostEqual(said["pick_behind"], 0.25)
        self.assertAlmostEqual(said["median_error"], 0.375)
        self.assertEqual(figures.summary([]), {"layouts": 0})

    def test_tp_across_nodes_is_compared_with_tp_inside(self):
        # 4.8 / 1.6 = 3, 3 / 1.5 = 2; tp 8 has no counterpart inside a node.
        ((inside, across, measured, predicted),) = figures.tp_losses(ROWS)
        self.assertEqual((inside, across), ("tp 2", "tp 2, dp-tp"))
        self.assertAlmostEqual(measured, 3)
        self.assertAlmostEqual(predicted, 2)

    def test_layouts_are_listed_fastest_first(self):
        lines = figures.table("2 nodes", ROWS).splitlines()
        cells = [line.split("|")[1].strip() for line in lines if line.startswith("| ")][1:]
        self.assertEqual(cells, ["tp 2", "dp 8 (pick)", "tp 2, dp-tp", "tp 8", "pp <8>"])
        self.assertIn("| tp 2 | inside | 1.5 s | 1.6 s | 0.94 | 2 / 1 |", lines)
        self.assertIn("| pp <8> | none | | exit 1: a / b c | | |", lines)


class Plots(unittest.TestCase):
    def test_plot_is_xml_with_a_point_per_measured_layout(self):
        drawn = xml.etree.ElementTree.fromstring(figures.plot([("a & b", ROWS), ("none", [])]))
        titles = [node.text for node in drawn.iter("{http://www.w3.org/2000/svg}title")]
        points = [text for text in titles if "measured" in text]
        self.assertEqual(len(points), 4)
        self.assertIn("tp 2: predicted 1.5 s, measured 1.6 s", points)

    def test_labels_do_not_overlap(self):
        chance = random.Random(3)
        frame = (0, 0, 400, 400)
        taken = []
        for _ in range(60):
            x, y = chance.uniform(0, 400), chance.uniform(0, 400)
            box = figures.place_label(x, y, 90, taken, frame)
            if box is None:
                continue
            for other in taken:
                apart = box[2] < other[0] or other[2] < box[0]
                self.assertTrue(apart or box[3] < other[1] or other[3] < box[1])
            self.assertTrue(0 <= box[0] and box[2] <= 400 and 0 <= box[1] and box[3] <= 400)
            taken.append(box)
        self.assertGreater(len(taken), 10)

    def test_ticks_are_multiples_of_one_two_and_five(self):
        self.assertEqual(figures.ticks(0.15, 6), [0.2, 0.5, 1, 2, 5])
        self.assertEqual(figures.ticks(0.15, 600), [1, 10, 100])


class Runs(unittest.TestCase):
    def test_step_times_are_medians_after_the_warm_up(self):
        lines = [json.dumps({"type": "step", "seconds": t}) for t in (9, 8, 1, 5, 2)]
        said = "\n".join(["not json", *lines, '{"type": "summary"}', "3"])
        self.assertEqual(placement.step_time(said), 2)
        self.assertRaises(placement.Failed, placement.step_time, "\n".join(lines))
        self.assertRaises(placement.Failed, placement.step_time, '{"type": "summary"}')

    def test_whole_experiment_writes_table_and_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "rankwright")
            placement.write(program, STAND_IN)
            placement.write(os.path.join(folder, "cluster.yaml"), CLUSTER)
            os.chmod(program, 0o755)
            os.environ.update(PROGRAM=BINARY, PYTHON=sys.executable)
            out = os.path.join(folder, "out")
            words = ["--rankwright", program, "-o", out, "--nodes", "2", "--steps", "3"]
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
                code = placement.main([*words, "--only", "^pp|^dp 8$"], OneProcess)
            self.assertEqual(code, 1, "gpipe died")
            self.check_results(out)
            before = self.files(out)
            with contextlib.redirect_stdout(said):
                self.assertEqual(placement.main(["--draw", "-o", out], OneProcess), 1)
            self.assertEqual(self.files(out), before)

    def files(self, folder):
        found = {}
        for name in ("placement.md", "placement.svg"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found[name] = file.read()
        return found

    def check_results(self, out):
        with open(os.path.join(out, "placement.json"), encoding="utf-8") as file:
            (setup,) = json.load(file)["setups"]
        rows = setup["rows"]
        died = [row for row in rows if "failed" in row]
        self.assertEqual({"gpipe" in row["name"] for row in died}, {True})
        self.assertIn("rank 3 died", died[0]["failed"])
        self.assertEqual(sum(row["pick"] for row in rows), 1)
        for row in figures.measured(rows):
            self.assertEqual(row["predicted"], row["measured"])
        self.assertAlmostEqual(figures.summary(rows)["spearman"], 1)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
