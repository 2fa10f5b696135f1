#!/usr/bin/env python3
"""The command line, the C++ example and the Python module give the same answers.

    tests/same_answers_test.py RANKWRIGHT EMBED

Each of 50 random requests is answered by `rankwright plan --json`, by examples/embed and by
rankwright.plan(): the same JSON byte for byte, or the same refusal with the same code.
"""

import os
import random
import subprocess
import sys

import rankwright

REQUESTS = 50
SEED = 3
MODELS = ["llama-3.1-8b", "llama-3.2-1b", "llama-2-13b", "qwen3-4b", "qwen2.5-7b", "mistral-7b", "gpt2-xl",
          "deepseek-v2-lite", "qwen1.5-moe-a2.7b", "mixtral-8x7b"]  # fmt: skip
CLUSTERS = ["dgx-h100", "dgx-a100", "dgx-b200", "aws-p4d", "mi300x-8", "l40s-8", "hgx-h100-1nic"]
UNITS = [1, 2, 4, 8, 64]  # of 8 GPUs
FEW_LAYOUTS = 64  # more GPUs than this are searched with limits, to keep the test fast
# Options other than model and cluster, each with its possible values and how often it is given.
OPTIONS = {
    "global_batch": (0.8, [32, 64, 128, 512]),
    "seq": (0.7, [2048, 4096, 8192]),
    "for_": (0.3, ["megatron", "torchtitan", "deepspeed"]),
    "tp": (0.2, [1, 2, 4, 8]),
    "max_tp": (0.2, [2, 4]),
    "pp": (0.1, [1, 2, 4]),
    "no_cp": (0.3, [True]),
    "no_pp": (0.2, [True]),
    "zero": (0.3, [0, 1, 2, 3]),
    "micro_batch": (0.2, [1, 2]),
    "recompute": (0.2, ["none", "full"]),
    "max_memory": (0.2, ["72GiB", "40GB", "8GiB"]),
    "tokens": (0.3, ["15T", "300B", 10**12]),
    "price": (0.1, ["2.10", "$3"]),
    "days": (0.1, [30]),
    "even_stages": (0.2, [True]),
    "optimizer": (0.1, ["adam", "sgd"]),
    "tuned": (0.1, [True, False]),
    "exclude_nodes": (0.05, [1]),
    "exclude_count": (0.05, [1]),
}
# Requests that are refused: the messages must be the same too.
MISTAKES = [
    {"model": "lama-3.1-8b"},
    {"cluster": "dgx-h100 x none"},
    {"cluster": "/nowhere/cluster.yaml"},
    {"for_": "megatorn"},
    {"tp": 8, "max_tp": 4},
    {"tp": "many"},
    {"zero": 9},
    {"max_memory": "lots"},
    {"tokens": "a few"},
    {"gpus": 10**9},
    {"gpus": 8, "fit": True},
    {"exclude_nodes": 1000},
    {"exclude_count": 1000},
    {"recompute": "twice"},
    {"tokens": None, "price": None, "days": 3},
    {"calibrate": "/nowhere/run.log", "tp": 1},
]


def random_request(pick):
    units = pick.choice(UNITS)
    request = {"model": pick.choice(MODELS), "cluster": f"{pick.choice(CLUSTERS)} x {units}"}
    for name, (often, values) in OPTIONS.items():
        if pick.random() < often:
            request[name] = pick.choice(values)
    if "tokens" not in request:  # these two options need tokens
        request.pop("price", None)
        request.pop("days", None)
    if units * 8 > FEW_LAYOUTS:
        request.update({"tp": pick.choice([2, 4, 8]), "no_cp": True, "even_stages": True, "zero": 1})
    if pick.random() < 0.25:
        request.update(pick.choice(MISTAKES))
    return {name: value for name, value in request.items() if value is not None}


def option(name):
    return name.rstrip("_").replace("_", "-")


def is_switch(name):
    return rankwright.plan.__kwdefaults__[name] is False


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def words_of_command(request):
    return [f"--{option(name)}" + ("" if is_switch(name) else f"={text(value)}")
            for name, value in request.items()]  # fmt: skip


def words_of_example(request):
    return [f"{option(name)}={text(value)}" for name, value in request.items()]


def printed(*command):
    """Returns the exit code, the answer and the refusal of a command."""
    # The library neither breaks lines nor logs progress.
    wide = {**os.environ, "COLUMNS": "400", "RANKWRIGHT_NO_PROGRESS": "1"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=wide)
    return done.returncode, done.stdout, done.stderr.rstrip("\n")


def answered(request):
    """Returns the exit code, the answer and the refusal of the module."""
    try:
        answer = rankwright.plan(**request)
    except rankwright.Error as error:
        return error.code, "", str(error)
    missed = bool(answer) and (answer.data["training"] or {}).get("deadline") == "misses"
    return 0 if answer and not missed else 2, answer.json(), ""


def main():
    program, example = sys.argv[1:]
    pick = random.Random(SEED)
    counts = {}
    for _ in range(REQUESTS):
        request = random_request(pick)
        expected = printed(program, "plan", *words_of_command(request), "--json")
        for name, actual in (
            ("examples/embed", printed(example, *words_of_example(request))),
            ("the Python module", answered(request)),
        ):
            if actual != expected:
                sys.exit(f"{request}\nthe command line: {expected}\n{name}: {actual}")
        kind = "refused" if expected[2] else "fits" if expected[0] == 0 else "fits nowhere"
        counts[kind] = counts.get(kind, 0) + 1
    print(f"{REQUESTS} requests, the same answers: {counts}")
    assert len(counts) == 3, "requests of each kind"


if __name__ == "__main__":
    main()
