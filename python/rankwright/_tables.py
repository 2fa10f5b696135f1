"""The verbs about tables: measurements, and what is known by name."""

import json

from ._errors import error_of
from ._inputs import Command, repeated
from ._lists import Rows
from ._results import Validation
from ._run import answered, run


def validate(files, *, leave_one_family_out=False, calibrate_one=False, with_=None, all=False):
    """Compares predictions with measured runs or collectives; `files` is a path or a list of them."""
    with Command("validate") as command:
        for path in files if isinstance(files, (list, tuple)) else [files]:
            command.file(path)
        command.flags(with_=repeated(with_))
        command.switches(
            leave_one_family_out=leave_one_family_out, calibrate_one=calibrate_one, all=all
        )
        outcome = run(command, "--json")
        if not outcome["out"]:
            raise error_of(outcome)
        text = outcome["text"] or run(command)["out"]  # collectives are scored in no time
    return Validation(json.loads(outcome["out"]), text)


def catalog(kind, name=None):
    """What is known by name: a list of dicts. `kind` is one of those of `rankwright catalog`.

    >>> catalog("devices")[0]["device"] in [row["device"] for row in devices()]
    True
    """
    with Command("catalog") as command:
        command.words += [word for word in (kind, name) if word is not None]
        data, text, _ = answered(command)
    return Rows(data, text)


def models(name=None):
    """The models that are known by name, or everything about one of them.

    >>> "llama-3.1-70b" in [row["model"] for row in models()]
    True
    """
    return catalog("models", name)


def devices(name=None):
    """The accelerators that are known by name, or everything about one of them."""
    return catalog("devices", name)


def systems(name=None):
    """The machines that are known by name, or everything about one of them."""
    return catalog("systems", name)


def codes(name=None):
    """The diagnostics of `check`, or everything about one of them.

    >>> codes()[0]["code"]
    'RW0101'
    """
    return catalog("codes", name)
