"""What callers give, as the library takes it: files by name, options as texts, texts instead of files."""

import json
import operator
import os

from ._results import Imported


class Request:
    """The arguments of one call of a verb, and the texts that they name."""

    def __init__(self):
        self.files = []
        self.options = []  # (name, text), of a switch (name, None), as they would be typed
        self.texts = {}

    def plan(self, plan, name="-"):
        """A plan as an argument: a path stays one, anything else is a text of this name."""
        self.files.append(self._named(plan, name))

    def plan_option(self, option, plan):
        """The same as an option."""
        if plan is not None:
            self.options.append((option, self._named(plan, f"<{option}>")))

    def file(self, path):
        self.files.append(as_path(path))

    def values(self, **given):
        """Options with a value, which may be true or false."""
        for name, value in given.items():
            self._value(name, value)

    def switches(self, **given):
        """Options without a value."""
        self.options += [(as_option(name), None) for name, on in given.items() if on]

    def model(self, model):
        """A name, a path, or a Hugging Face config as a dict."""
        if isinstance(model, dict):
            model = self._text(model, "<model>.json")
        self._value("model", model)

    def cluster(self, cluster):
        """A name with a number of units, a path, a dict as in a cluster file, or one imported."""
        if isinstance(cluster, (dict, Imported)):
            cluster = self._text(imported(cluster, "cluster"), "<cluster>.yaml")
        self._value("cluster", cluster)

    def _named(self, plan, name):
        return as_path(plan) if is_path(plan) else self._text(plan, name)

    def _text(self, value, name):
        self.texts[name] = as_text(value)
        return name

    def _value(self, name, value):
        if value is None:
            return
        for one in value if isinstance(value, Repeated) else [value]:
            word = as_word(one)
            if not word:
                raise ValueError(f"{name} is empty")
            self.options.append((as_option(name), word))


class Repeated(list):
    """Values of an option that may be given several times."""


def repeated(value):
    return Repeated(value) if isinstance(value, (list, tuple)) else value


def span(value):
    """A range of counts as it is typed."""
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) != 2:
        raise ValueError(f"a range is the least and the most, as (8, 64), not {value!r}")
    return "..".join(as_word(one) for one in value)


def is_path(plan):
    """A string of one line that opens no map is a path."""
    if isinstance(plan, os.PathLike):
        return True
    return isinstance(plan, str) and "\n" not in plan and not plan.lstrip().startswith("{")


def as_path(path):
    path = os.fsdecode(os.fspath(path))
    if not path:
        raise ValueError("an empty text is neither a path nor a plan")
    return "./" + path if path.startswith("-") else path  # no flag, and no standard input


def as_json(value, indent=None):
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)


def as_text(plan):
    """A plan as the text of a plan file: JSON is YAML."""
    if isinstance(plan, str):
        return plan
    if isinstance(plan, dict):
        return as_json(plan, indent=2) + "\n"
    text = getattr(plan, "plan", None)  # what plan() and import_() give
    if isinstance(text, str):
        return text
    raise TypeError(f"a plan is a path, a text, a dict or a result, not {type(plan).__name__}")


def as_option(name):
    return name.rstrip("_").replace("_", "-")


def as_word(value):
    """A value as it is typed: True is true, a list is joined."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set)):
        return ",".join(as_word(one) for one in value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(os.fspath(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # 15e12 is a number of tokens
    if isinstance(value, (str, float)):
        return str(value)
    try:
        return str(operator.index(value))  # numpy's numbers, too
    except TypeError:
        told = f"a flag takes a text or a number, not {type(value).__name__}"
        raise TypeError(told) from None


def imported(value, kind):
    """The same, where it was imported only if it is of this kind."""
    if isinstance(value, Imported) and value.kind != kind:
        raise TypeError(f"what was imported is a {value.kind}, not a {kind}")
    return value


def with_shapes(plan, model):
    """A model that is given by its shapes stands in the plan file: there is no flag for it."""
    if not has_shapes(model):
        return plan, model
    if plan is not None and not isinstance(plan, dict):
        raise TypeError("shapes of a model go with a plan that is a dict")
    if isinstance(model, dict):
        return {**(plan or {}), "model": model}, None
    # An imported one is YAML already: the plan's other keys go before it, each on a line.
    rest = {key: value for key, value in (plan or {}).items() if key != "model"}
    lines = (f"{as_json(key)}: {as_json(value)}\n" for key, value in rest.items())
    return "".join(lines) + imported(model, "model").plan, None


def has_shapes(model):
    if isinstance(model, dict):
        return "model_type" not in model and "architectures" not in model
    return isinstance(model, Imported)
