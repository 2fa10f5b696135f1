"""What callers give, as the command line takes it: a list of words, and texts instead of files."""

import contextlib
import json
import os
import pathlib
import tempfile

# Flags without a value. What else is True or False is a value: --tuned true.
SWITCHES = {
    "all", "calibrate_one", "even_stages", "exhaustive", "fit", "leave_one_family_out", "no_cp",
    "no_dp", "no_ep", "no_hybrid", "no_pp", "no_search", "no_tp", "sensitivity", "stages", "strict",
    "timeline", "unit_times",
}  # fmt: skip


class Command:
    """The words of one call of a verb, and the texts that they name."""

    def __init__(self, verb):
        self.words = [verb]
        self.input = ""
        self.texts = {}
        self._folder = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.close()

    def plan(self, plan, name="-"):
        """A plan as an argument: a path stays one, anything else is a text of this name."""
        self.words.append(self._named(plan, name))

    def plan_flag(self, flag, plan):
        """The same after a flag."""
        if plan is not None:
            self.words.append(f"--{flag}={self._named(plan, f'<{flag}>')}")

    def file(self, path):
        self.words.append(as_path(path))

    def flags(self, **given):
        for name, value in given.items():
            self._flag(name, value)

    def model(self, model):
        """A name, a path, or a Hugging Face config as a dict."""
        self._flag("model", self._kept(model, "config.json") if isinstance(model, dict) else model)

    def cluster(self, cluster):
        """A name with a number of units, a path, or a dict as in a cluster file."""
        dict_given = isinstance(cluster, dict)
        self._flag("cluster", self._kept(cluster, "cluster.yaml") if dict_given else cluster)

    def _named(self, plan, name):
        if is_path(plan):
            return as_path(plan)
        if name == "-":
            self.input = as_text(plan)
        else:
            self.texts[name] = as_text(plan)
        return name

    def _kept(self, value, name):
        # Models and clusters are read from files only. This one is gone after the call.
        folder = self._folder.enter_context(tempfile.TemporaryDirectory(prefix="rankwright-"))
        path = pathlib.Path(folder, name)
        path.write_text(as_text(value), "utf-8")
        return path

    def _flag(self, name, value):
        if value is None or (name in SWITCHES and value is False):
            return
        flag = "--" + name.rstrip("_").replace("_", "-")
        if name in SWITCHES and value is True:
            self.words.append(flag)
            return
        for one in value if isinstance(value, Repeated) else [value]:
            word = as_word(one)
            if not word:
                raise ValueError(f"{name} is empty")
            self.words.append(f"{flag}={word}")


class Repeated(list):
    """Values of a flag that may be given several times."""


def repeated(value):
    return Repeated(value) if isinstance(value, (list, tuple)) else value


def is_path(plan):
    """A string of one line that opens no map is a path."""
    if isinstance(plan, os.PathLike):
        return True
    return isinstance(plan, str) and "\n" not in plan and not plan.lstrip().startswith("{")


def as_path(path):
    path = os.fsdecode(os.fspath(path))
    return "./" + path if path.startswith("-") else path  # no flag, and no standard input


def as_text(plan):
    """A plan as the text of a plan file: JSON is YAML."""
    if isinstance(plan, str):
        return plan
    if isinstance(plan, dict):
        return json.dumps(plan, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    text = getattr(plan, "plan", None)  # what plan() and import_() give
    if isinstance(text, str):
        return text
    raise TypeError(f"a plan is a path, a text, a dict or a result, not {type(plan).__name__}")


def as_word(value):
    """A value as it is typed: True is true, a tuple a range, a list a list."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, range)) and len(value) >= 2:
        return f"{value[0]}..{value[-1]}"
    if isinstance(value, (list, set)):
        return ",".join(as_word(one) for one in value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(os.fspath(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # 15e12 is a number of tokens
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"a flag takes a text or a number, not {type(value).__name__}")


def with_shapes(plan, model):
    """A model that is given by its shapes stands in the plan file: there is no flag for it."""
    if not isinstance(model, dict) or "model_type" in model or "architectures" in model:
        return plan, model
    if plan is None or isinstance(plan, dict):
        return {**(plan or {}), "model": model}, None
    raise TypeError("shapes of a model go with a plan that is a dict")
