"""Shared by the tests: the repository, the command line built with the module, a plan."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests/data"
COURSE = {
    "world_size": 64,
    "parallelism": {"tp_size": 8, "pp_size": 4, "dp_size": 2},
    "job": {"global_batch": 64, "sequence": 4096},
}
SMALL = {"model": "llama-3.1-8b", "cluster": "dgx-h100 x 2", "global_batch": 64, "seq": 8192}
# Long enough on any machine: everything that fits is evaluated.
LONG = {"model": "llama-3.1-405b", "cluster": "dgx-h100 x 512", "exhaustive": True}


def command(*words, text=""):
    """Runs the command line. Returns standard output and error separately."""
    return subprocess.run(
        [os.environ["RANKWRIGHT"], *map(str, words)],
        input=text,
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )


def printed(*words, text=""):
    """Returns the JSON that the command line prints."""
    return json.loads(command(*words, "--json", text=text).stdout)
