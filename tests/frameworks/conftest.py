"""Shared by every test of this folder: the number of cases to draw, and the place of the results.

RANKWRIGHT_JUDGE_CASES is the number of random plans per test. CI runs the fast subset: 10.
Each test reports to a Tally. If RANKWRIGHT_JUDGE_CASES is set, the tallies of a run are written to
build/frameworks-results, from which scripts/make_conformance makes docs/explanation/conformance.md.
"""

import json
import os
import pathlib
import sys

import hypothesis
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build" / "frameworks-results"
FAST = 10
CASES = int(os.environ.get("RANKWRIGHT_JUDGE_CASES", FAST))

sys.path.insert(0, str(pathlib.Path(__file__).parent))
if not any((pathlib.Path(p) / "rankwright" / "_core.pyi").exists() for p in sys.path if p):
    sys.path.insert(0, str(ROOT / "build" / "release" / "python"))

hypothesis.settings.register_profile(
    "judge",
    max_examples=CASES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("judge")


def choose(layouts):
    """Returns all layouts, or a fifth of them in the fast run."""
    return layouts if CASES > FAST else layouts[1::5]


class Tally:
    """Counts the cases of one comparison, and those that differ."""

    def __init__(self, framework, version, compared):
        self.row = {"framework": framework, "version": version, "compared": compared}
        self.cases = self.values = self.differ = 0

    def case(self):
        self.cases += 1

    def same(self, ours, theirs, about):
        """Fails with both values unless they are equal. `about` is the plan, and which value it is."""
        self.values += 1
        if ours != theirs:
            self.differ += 1
            pytest.fail(f"{about}\n  rankwright: {ours}\n  {self.row['framework']}: {theirs}")


_tallies = []


@pytest.fixture(scope="module")
def tally():
    """Returns a function that starts a Tally: tally(framework, version, compared)."""

    def start(framework, version, compared):
        _tallies.append(Tally(framework, version, compared))
        return _tallies[-1]

    return start


def pytest_sessionfinish(session):
    if not _tallies or "RANKWRIGHT_JUDGE_CASES" not in os.environ:
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    for t in _tallies:
        name = "-".join([t.row["framework"], t.row["version"], t.row["compared"]])
        file = RESULTS / ("".join(c if c.isalnum() or c in ".-" else "_" for c in name) + ".json")
        row = {**t.row, "cases": t.cases, "values": t.values, "differ": t.differ}
        file.write_text(json.dumps(row, indent=2) + "\n", "utf-8")
