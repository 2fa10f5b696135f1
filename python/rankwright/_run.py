"""Calls the library and wraps its answers as results."""

import json
import os

from . import _core
from ._errors import error_of


def ask(verb, request):
    """Returns the answer of a verb of _core. Raises Error if there is none."""
    answer = verb(
        [os.fsencode(name) for name in request.files],
        [(name.encode(), text and os.fsencode(text)) for name, text in request.options],
        {name.encode(): text.encode("utf-8", "replace") for name, text in request.texts.items()},
    )
    if isinstance(answer, _core.Refused):
        raise error_of(answer)
    return answer


def data(answer):
    return json.loads(answer.json())


def result(kind, answer, *forms):
    """Returns a Result of this kind. Its forms are rendered on demand."""
    made = kind(data(answer), *forms)
    made._json = answer.json
    return made


def given(request, model, cluster, **values):
    request.model(model)
    request.cluster(cluster)
    variables = values.pop("set_", None)  # of a script: {"NNODES": 16}
    if variables:
        values["set_"] = "\n".join(f"{name}={value}" for name, value in variables.items())
    request.values(**values)
