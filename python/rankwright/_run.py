"""Runs a verb in this process."""

import json
import os

from . import _core
from ._errors import Finding, error_of


def run(command, *more):
    return _core.run(
        [os.fsencode(word) for word in [*command.words, *more]],
        command.input.encode("utf-8", "replace"),
        {os.fsencode(name): text.encode("utf-8", "replace") for name, text in command.texts.items()},
    )


def findings(outcome):
    return [Finding.of(row) for row in json.loads(outcome["findings"])["findings"]]


def answered(command):
    """The answer of a verb that is quick: run for its JSON, and again for what a person reads."""
    outcome = run(command, "--json")
    if not outcome["out"]:
        raise error_of(outcome)
    return json.loads(outcome["out"]), run(command)["out"], outcome


def searched(command, *more):
    """The answer of a verb that takes longer: run once, all forms of the answer kept."""
    outcome = run(command, *more)
    if not outcome["json"]:
        raise error_of(outcome)
    return json.loads(outcome["json"]), outcome


def given(command, model, cluster, **flags):
    command.model(model)
    command.cluster(cluster)
    command.flags(**flags)
