#!/usr/bin/env python3
"""Checks the predicted cost of placement: all layouts of one model on 8 ranks, predicted and run on
emulated nodes, each rank limited to its own CPU time.

    python3 bench/placement/placement.py --rankwright build/release/bin/rankwright -o placement

For 2 and for 4 nodes: `probe` measures the setup and writes its cluster file, `plan` picks a layout
from that, `explain` predicts every layout, and `run` trains it for some steps. The folder then has,
per setup, plan files and the cluster file, and placement.json, placement.md and placement.svg.
`--draw` only writes the last two again from placement.json.

It needs root (network namespaces and cgroups: tests/emulated_nodes.py) and most of the machine;
if it cannot run, it says why and exits with 77.
"""

import argparse
import contextlib
import json
import os
import random
import re
import statistics
import subprocess
import sys

import figures
import layouts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests"))
import emulated_nodes  # noqa: E402  (in tests/, where it is used more)

WARM_UP = 2  # steps that are not counted: they create connections and buffers
# Restrict the planner to what all compared layouts have in common.
PICK_LIMITS = ["--micro-batch", str(layouts.MICRO_BATCH), "--recompute", "none"]
PICK_LIMITS += ["--no-cp", "--no-ep", "--no-hybrid", "--even-stages"]


class Failed(Exception):
    """A command failed; holds its error output."""


def last_words(ran):
    lines = [line for line in (ran.stderr or ran.stdout or "").splitlines() if line.strip()]
    return f"exit {ran.returncode}: " + " ".join(lines[-3:])[:300]


def asked(binary, *arguments):
    """Returns the JSON that a verb prints, run in one process."""
    ran = subprocess.run(
        [binary, *arguments, "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    try:
        return json.loads(ran.stdout)  # a plan with warnings is explained, too
    except json.JSONDecodeError:
        raise Failed(last_words(ran)) from None


def json_lines(text):
    """Returns the JSON objects among the lines; launchers print lines of their own."""
    found = []
    for line in text.splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            value = json.loads(line)
            found += [value] if isinstance(value, dict) else []
    return found


def step_time(text):
    """Returns the median seconds of a run's steps after the warm-up, from its JSON lines."""
    lines = json_lines(text)
    if not any(line.get("type") == "summary" for line in lines):
        raise Failed("the run printed no summary")
    times = [line["seconds"] for line in lines if line.get("type") == "step"]
    if len(times) <= WARM_UP:
        raise Failed(f"{len(times)} steps were printed, and {WARM_UP} are warm-up")
    return statistics.median(times[WARM_UP:])


def where_tp_lies(layout, ranks_per_node):
    if layout.tp == 1:
        return "none"
    return "across" if layout.crosses("tp", ranks_per_node) else "inside"


def row_of(layout, path, ranks_per_node):
    alike = [layout.tp, layout.pp, layout.dp, layout.zero, layout.schedule]
    tp = where_tp_lies(layout, ranks_per_node)
    return {"name": layout.name, "plan": os.path.basename(path), "tp": tp, "alike": alike}


def layout_of(plan):
    """Returns the Layout of a plan in the program's JSON."""
    order = "-".join(axis for axis in plan["order"].split("-") if axis in ("tp", "pp", "dp"))
    degrees = (plan["tp"], plan["pp"], plan["dp"])
    schedule = plan["schedule"] if plan["pp"] > 1 else layouts.SCHEDULES[0]
    zero = plan["zero_stage"] if plan["dp"] > 1 else 0
    return layouts.canonical(layouts.Layout(*degrees, order, zero, schedule))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Setup:
    """The experiment with one number of nodes: its folder, its cluster file, and its runs."""

    def __init__(self, given, nodes, folder):
        self.given, self.nodes, self.folder = given, nodes, folder
        self.ranks_per_node = given.ranks // len(nodes.names)
        self.cluster = os.path.join(folder, "cluster.yaml")
        os.makedirs(folder, exist_ok=True)

    def launch(self, *arguments, timeout):
        try:
            ran = self.nodes.mpirun(
                [self.given.rankwright, *arguments],
                self.ranks_per_node,
                cpu_quota=self.given.quota,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"ended after {timeout:g} s") from None
        if ran.returncode != 0:
            raise Failed(last_words(ran))
        return ran.stdout

    def probe(self):
        self.launch("probe", "-o", self.cluster, timeout=self.given.probe_timeout)

    def pick(self):
        """Returns the planner's layout and its file."""
        job, path = os.path.join(self.folder, "job.yaml"), os.path.join(self.folder, "pick.yaml")
        write(job, layouts.job_file())
        told = [job, "--cluster", self.cluster, *PICK_LIMITS]
        best = asked(self.given.rankwright, "plan", *told, "-o", path)["best"]
        return layout_of(best["plan"]), path

    def plans(self):
        """Returns [(layout, file, whether the planner picked it)], including the planner's pick."""
        picked, path = self.pick()
        chosen = [
            layout
            for layout in layouts.layouts(self.given.ranks, self.given.all)
            if layout == picked or re.search(self.given.only, layout.name)
        ]
        found = []
        for i, layout in enumerate(chosen):
            file = os.path.join(self.folder, f"{i:02}.yaml")
            write(file, layouts.plan_file(layout))
            found.append((layout, file, layout == picked))
        if picked not in chosen:
            found.append((picked, path, True))
        return found

    def price(self, file):
        told = asked(self.given.rankwright, "explain", file, "--cluster", self.cluster)
        return told["estimate"]["step"]["seconds"]

    def measure(self, file):
        steps = str(WARM_UP + self.given.steps)
        arguments = ["run", file, "--cluster", self.cluster, "--steps", steps, "--json"]
        return step_time(self.launch(*arguments, timeout=self.given.run_timeout))

    def rows(self):
        """Returns one row per layout. All are predicted before any is run."""
        found = []
        for layout, file, picked in self.plans():
            row = {**row_of(layout, file, self.ranks_per_node), "pick": picked}
            try:
                row["predicted"] = self.price(file)
            except Failed as why:
                row["failed"] = str(why)
            found.append((row, file))
        # In random order, so that a slowdown of the machine does not look like a slow layout.
        order = [entry for entry in found if "predicted" in entry[0]]
        random.Random(1).shuffle(order)
        for i, (row, file) in enumerate(order):
            try:
                row["measured"] = self.measure(file)
            except Failed as why:
                row["failed"] = str(why)
            said = figures.seconds(row["measured"]) if "measured" in row else row["failed"]
            predicted = figures.seconds(row["predicted"])
            progress = f"[{i + 1}/{len(order)}] {row['name']}"
            print(f"{progress}: predicted {predicted}, measured {said}", file=sys.stderr)
        return [row for row, _ in found]


def draw(folder, results):
    """Writes placement.md and placement.svg of the results, [{title, rows, conditions}]."""
    parts = ["# Predicted and measured step times by layout\n"]
    parts += [f"{results['conditions']}\n"]
    parts += [figures.table(setup["title"], setup["rows"]) for setup in results["setups"]]
    write(os.path.join(folder, "placement.md"), "\n".join(parts))
    panels = [(setup["title"], setup["rows"]) for setup in results["setups"]]
    write(os.path.join(folder, "placement.svg"), figures.plot(panels))


def conditions(given):
    model, job = layouts.MODEL, layouts.JOB
    waits = "which waiting does not use up" if given.nap else "which waiting uses up"
    return (
        f"{given.ranks} ranks of {given.quota:g} core each, {waits};"
        f" {given.mbit:g} Mbit/s each way a node;"
        f" {model['architecture']} of {model['layers']} layers, hidden {model['hidden']},"
        f" vocabulary {model['vocab']}; {job['global_batch']} x {job['sequence']} tokens a step,"
        f" microbatch {layouts.MICRO_BATCH}, {job['param_dtype']}. Measured is the median of"
        f" {given.steps} steps after {WARM_UP}; predicted is `explain` with the cluster file that"
        " `probe` wrote in the same setup."
    )


def experiment(given, make_nodes):
    results = {"conditions": conditions(given), "setups": []}
    for count in given.nodes:
        title = f"{count} nodes of {given.ranks // count} ranks"
        print(title, file=sys.stderr)
        with make_nodes(count, given.mbit, given.nap) as nodes:
            setup = Setup(given, nodes, os.path.join(given.output, f"nodes-{count}"))
            setup.probe()
            results["setups"].append({"title": title, "rows": setup.rows()})
        write(os.path.join(given.output, "placement.json"), json.dumps(results, indent=1) + "\n")
        draw(given.output, results)  # after each setup, so that measurements are not lost
    return results


def report(results):
    """Prints the results and returns the exit code."""
    failures = 0
    for setup in results["setups"]:
        said = figures.summary(setup["rows"])
        failures += sum("failed" in row for row in setup["rows"])
        print(f"{setup['title']}: {json.dumps(said)}")
    return 1 if failures else 0


def arguments(words):
    parser = argparse.ArgumentParser(
        description="Predicted against measured step times of all layouts, on emulated nodes."
    )
    parser.add_argument("--rankwright", metavar="PATH", help="the program, with its runtime")
    parser.add_argument("-o", "--output", default="placement", metavar="FOLDER")
    parser.add_argument("--nodes", default="2,4", metavar="N,N", help="setups; default 2,4")
    parser.add_argument("--ranks", type=int, default=8, help="in all; default 8")
    parser.add_argument("--mbit", type=float, default=400, help="a node's link, each way")
    parser.add_argument("--quota", type=float, default=0.2, help="cores a rank")
    parser.add_argument("--nap", metavar="LIBRARY", help="nap_on_yield.so; default beside PATH")
    parser.add_argument("--steps", type=int, default=5, help="that count; default 5")
    parser.add_argument("--run-timeout", type=float, default=180, metavar="SECONDS")
    parser.add_argument("--probe-timeout", type=float, default=600, metavar="SECONDS")
    parser.add_argument("--only", default="", metavar="REGEX", help="layouts whose name has it")
    parser.add_argument("--all", action="store_true", help="every combination, not one change each")
    parser.add_argument("--draw", action="store_true", help="table and plot of FOLDER again")
    given = parser.parse_args(words)
    given.nodes = [int(count) for count in given.nodes.split(",")]
    if any(count < 2 or given.ranks % count for count in given.nodes):
        parser.error("--nodes are 2 or more, and divide --ranks")
    if not given.draw and not given.rankwright:
        parser.error("--rankwright PATH is needed")
    if given.rankwright:
        given.rankwright = os.path.abspath(given.rankwright)
        beside = os.path.join(os.path.dirname(given.rankwright), "nap_on_yield.so")
        given.nap = given.nap or (beside if os.path.exists(beside) else None)
    given.output = os.path.abspath(given.output)
    return given


def main(words, make_nodes=emulated_nodes.Nodes):
    given = arguments(words)
    if given.draw:
        with open(os.path.join(given.output, "placement.json"), encoding="utf-8") as file:
            results = json.load(file)
        draw(given.output, results)
        return report(results)
    reason = make_nodes.available()
    if reason:
        print(f"no emulated nodes: {reason}", file=sys.stderr)
        return 77
    os.makedirs(given.output, exist_ok=True)
    try:
        return report(experiment(given, make_nodes))
    except Failed as why:  # of probe and plan: without them there is nothing to compare
        print(f"placement: {why}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
