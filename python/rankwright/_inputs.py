"""Converts arguments to the library's form: files by name, options as text, and texts in place of files."""

import json
import operator
import os

from ._results import Imported


class Request:
    """The arguments of one call of a verb, and the texts that they refer to."""

    def __init__(self):
        self.files = []
        self.options = []  # (name, text) as typed; (name, None) for a switch
        self.texts = {}

    def plan(self, plan, name="-"):
        """Adds a plan as a positional argument: a path stays a path, anything else becomes a text called `name`."""
        self.files.append(self._named(plan, name))

    def plan_option(self, option, plan):
        """Adds a plan as the value of an option."""
        if plan is not None:
            self.options.append((option, self._named(plan, f"<{option}>")))

    def file(self, path):
        self.files.append(as_path(path))

    def values(self, **given):
        """Adds options with a value, which may be true or false."""
        for name, value in given.items():
            self._value(name, value)

    def switches(self, **given):
        """Adds options without a value."""
        self.options += [(as_option(name), None) for name, on in given.items() if on]

    def model(self, model):
        """Sets the model: a name, a path, or a Hugging Face config as a dict."""
        if isinstance(model, dict):
            model = self._text(model, "<model>.json")
        self._value("model", model)

    def cluster(self, cluster):
        """Sets the cluster: a name with a number of units, a path, a dict as in a cluster file, or an import."""
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


# The keywords of plan() that check(), explain() and report() take too: planner/input/key_options.cc.
JOB = (
    "global_batch", "seq", "param_dtype", "grad_dtype", "matmul", "optimizer", "doc_length",
    "loss_tokens", "images", "clips", "image_tokens",
    "method", "ref_model", "fp8_swiglu_input", "moment_dtype", "master_dtype", "lora", "lora_modules",
    "base_dtype", "frozen", "offload_optimizer", "offload_parameters", "offload_activations",
    "offload_nvme", "offload_nvme_path", "framework", "framework_release",
    "attention", "launch", "loss", "tuned", "overlap_grad_reduce", "overlap_param_gather",
    "overlap_tp", "overlap_pp", "overlap_ep", "overlap_wgrad", "dispatcher",
)  # fmt: skip


def of_job(values):
    """Returns the arguments that describe the job and the software."""
    return {name: values[name] for name in JOB}


class Repeated(list):
    """The values of an option that may be repeated."""


def repeated(value):
    return Repeated(value) if isinstance(value, (list, tuple)) else value


def span(value):
    """Returns a range of counts as typed."""
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) != 2:
        raise ValueError(f"a range is a pair such as (8, 64), not {value!r}")
    return "..".join(as_word(one) for one in value)


def sweep_of(value):
    """Returns a sweep as typed: ("tp", [1, 2, 4]) is "tp=1,2,4"."""
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) != 2 or not isinstance(value[0], str):
        raise ValueError(f'a sweep is a pair such as ("tp", [1, 2, 4]), not {value!r}')
    return f"{value[0]}={as_word(value[1])}"


def is_path(plan):
    """Returns whether `plan` is a path: path-like, or a one-line string that does not start a map."""
    if isinstance(plan, os.PathLike):
        return True
    return isinstance(plan, str) and "\n" not in plan and not plan.lstrip().startswith("{")


def as_path(path):
    path = os.fsdecode(os.fspath(path))
    if not path:
        raise ValueError("an empty string is neither a path nor a plan")
    return "./" + path if path.startswith("-") else path  # not a flag or standard input


def as_json(value, indent=None):
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)


def as_text(plan):
    """Returns a plan as the text of a plan file; JSON is valid YAML."""
    if isinstance(plan, str):
        return plan
    if isinstance(plan, dict):
        return as_json(plan, indent=2) + "\n"
    text = getattr(plan, "plan", None)  # results of plan() and import_()
    if isinstance(text, str):
        return text
    raise TypeError(f"a plan is a path, a string, a dict or a result, not {type(plan).__name__}")


def as_option(name):
    return name.rstrip("_").replace("_", "-")


def as_word(value):
    """Returns a value as typed: True is "true", a list is joined."""
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
        return str(operator.index(value))  # also numpy's integers
    except TypeError:
        told = f"an option is a string or a number, not {type(value).__name__}"
        raise TypeError(told) from None


def imported(value, kind):
    """Returns `value`. Raises TypeError if it was imported as another kind."""
    if isinstance(value, Imported) and value.kind != kind:
        raise TypeError(f"the imported file is a {value.kind}, not a {kind}")
    return value


def with_shapes(plan, model):
    """Moves a model given by its shapes into the plan, because there is no flag for it."""
    if not has_shapes(model):
        return plan, model
    if plan is not None and not isinstance(plan, dict):
        raise TypeError("a model given by its shapes needs a plan that is a dict")
    if isinstance(model, dict):
        return {**(plan or {}), "model": model}, None
    # An imported model is already YAML: the plan's other keys go before it, one per line.
    rest = {key: value for key, value in (plan or {}).items() if key != "model"}
    lines = (f"{as_json(key)}: {as_json(value)}\n" for key, value in rest.items())
    return "".join(lines) + imported(model, "model").plan, None


def has_shapes(model):
    if isinstance(model, dict):
        return "model_type" not in model and "architectures" not in model
    return isinstance(model, Imported)
