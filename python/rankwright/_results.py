"""The results of the functions: the plain objects of `--json`, the command line's text, and a table for
notebooks. Nothing is renamed, and nothing is computed beyond the JSON."""

import json
import pathlib

from . import _html
from ._errors import Error, Finding


def view(value):
    """Wraps maps at any depth as View; returns everything else unchanged."""
    if isinstance(value, dict):
        return View(value)
    if isinstance(value, list):
        return [view(one) for one in value]
    return value


class View:
    """A map of the JSON whose keys are attributes; `data` is the plain dict.

    >>> View({"step": {"seconds": 5.6}}).step.seconds
    5.6
    """

    def __init__(self, data):
        self.data = data

    def __getattr__(self, name):
        if name.startswith("__") or name == "data":
            raise AttributeError(name)
        if name not in self.data:
            raise AttributeError(f"unknown key {name!r}; known keys: {', '.join(self.data)}")
        return view(self.data[name])

    # Only dict methods whose names are not keys of any JSON; `items` and `values` are keys.
    def __getitem__(self, key):
        return self.data[key]

    def __contains__(self, key):
        return key in self.data

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def keys(self):
        return self.data.keys()

    def get(self, key, default=None):
        return self.data.get(key, default)

    def __eq__(self, other):
        return type(other) is type(self) and other.data == self.data

    __hash__ = None

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self.data if key.isidentifier())]

    def __repr__(self):
        return repr(self.data)


class Result(View):
    """An answer: `data` is the output of `--json`, `str()` the text output.

    Other forms than `data` are texts, or functions that render them when they are asked for.
    """

    def __init__(self, data, text):
        super().__init__(data)
        self._text = text
        self._json = ""

    @property
    def text(self):
        return self._form("_text").rstrip("\n")

    def json(self):
        """Returns the output of `--json`, byte for byte."""
        return self._form("_json") or json.dumps(self.data, ensure_ascii=False, indent=2) + "\n"

    def _form(self, name):
        form = vars(self)[name]
        if callable(form):
            form = vars(self)[name] = form()
        return form

    def __getstate__(self):  # copies and pickles contain the rendered texts
        for name in vars(self):
            self._form(name)
        return vars(self)

    def __bool__(self):
        return True  # even without JSON it is an answer

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<{type(self).__name__}: {self._brief()}>"

    def _brief(self):
        return self.data.get("headline") or self.text.partition("\n")[0]

    def _repr_html_(self):
        return f"<pre>{_html.text(self.text)}</pre>"


class Planned(Result):
    """The fastest plan that was found. It is itself a plan: `check(planned)`, `export(planned, to)`.

    If several GPU counts were asked for, `counts` has the fastest plan of each, and the plan is that of
    `chosen_gpus`.
    """

    def __init__(self, data, text, plan, markdown):
        super().__init__(data, text)
        self._plan = plan
        self._markdown = markdown

    def __bool__(self):
        return bool(self._form("_plan"))

    @property
    def markdown(self):
        return self._form("_markdown")

    @property
    def plan(self):
        """The text of the plan file. Raises Error if no layout fits."""
        if not self:
            message = "nothing fits"
            finding = Finding("", "error", message, "", "", "", "", 0, 0)
            raise Error(self.text, [finding], 2)
        return self._form("_plan")

    @property
    def best(self):
        """The best plan, or the row of the chosen GPU count if there are several; None if no layout fits."""
        return view(self._best())

    @property
    def step_seconds(self):
        """None if no layout fits."""
        best = self._best()
        return best and best["step_seconds"]

    @property
    def mfu(self):
        """MFU by Megatron-LM's FLOP count, as in `explain`; None if no layout fits."""
        best = self._best()
        if not best or "counts" in self.data:
            return best and best["mfu"]
        return best["mfu"]["megatron_causal"]

    def save(self, path):
        """Writes the plan file."""
        pathlib.Path(path).write_text(self.plan, "utf-8")

    def _best(self):
        if "counts" not in self.data:
            return self.data["best"]
        chosen = self.data["chosen_gpus"]
        return next((row for row in self.data["counts"] if row["gpus"] == chosen), None)

    def _brief(self):
        best = self._best()
        if not best:
            return super()._brief()
        gpus = f"{best['gpus']} GPUs: " if "counts" in self.data else ""
        return f"{gpus}{best['brief']}, {_html.seconds(best['step_seconds'])} per step"

    def _repr_html_(self):
        if "counts" in self.data:
            return _counts(self.data["counts"], super()._brief())
        best = self.data["best"]
        if not best:
            return super()._repr_html_()
        memory = best.get("memory")
        room = _html.gib(memory["total_bytes"]) if memory else ""
        rows = [[best["brief"], _html.seconds(best["step_seconds"]), "", room, self.data["why"]]]
        rows += [
            [
                one["change"],
                _html.seconds(one["step_seconds"]),
                _html.percent(one["difference"]),
                _html.gib(one["memory_bytes"]),
                one["because"],
            ]
            for one in self.data["neighbors"]
            if one["verdict"] == "evaluated"
        ]
        return _html.table(
            rows, ["plan, or change of it", "step", "difference", "memory", "why"],
            self.data["headline"],
        )  # fmt: skip


_COLUMNS_OF_COUNTS = (
    ("GPUs", "gpus", _html.whole),
    ("step", "step_seconds", _html.seconds),
    ("tokens/s/GPU", "tokens_per_second_per_device", _html.whole),
    ("scaling", "scaling", _html.percent),
    ("memory", "memory_bytes", _html.gib),
    ("days", "training_seconds", lambda value: f"{value / 86400:.3g}"),
    ("GPU-hours", "gpu_hours", _html.whole),
    ("cost", "cost", _html.whole),
)


def _counts(counts, caption):
    """Returns a table with a row per GPU count; with time and cost if tokens and a price were given."""
    columns = [c for c in _COLUMNS_OF_COUNTS if any(row.get(c[1]) is not None for row in counts)]
    rows = [
        [*("" if row.get(key) is None else shown(row[key]) for _, key, shown in columns), _fits(row)]
        for row in counts
    ]
    return _html.table(rows, [*(head for head, _, _ in columns), "plan"], caption)


def _fits(row):
    """Returns the plan of a GPU count, or why there is none."""
    if row["fits"]:
        return row["brief"] + ("" if row["verdict"] == "fits with margin" else f" ({row['verdict']})")
    leanest = row.get("leanest_bytes")
    return "does not fit" + (f": the leanest needs {_html.gib(leanest)}" if leanest else "")


class Explained(Result):
    """The predictions of a plan: `estimate`, `communication`, `states`, `axes` and the assumptions.

    `findings` are those of `check`: a misspelled key of the plan is one, and the estimate ignores it.
    """

    findings = ()

    @property
    def step_seconds(self):
        return self._figure("step_seconds", "step", "seconds")

    @property
    def mfu(self):
        """MFU by Megatron-LM's FLOP count; PaLM's is `estimate.step.mfu_palm_full`."""
        return self._figure("mfu", "step", "mfu")

    @property
    def items(self):
        """The time breakdown of the step."""
        return self._figure("items", "step", "items")

    @property
    def memory(self):
        """The memory estimate of the fullest rank; None if no model is given."""
        return self._figure("memory", "memory")

    def _figure(self, key, *path):
        """Returns a value of the estimate. Views without an estimate may have `key` themselves."""
        if "estimate" not in self.data:
            return self.__getattr__(key)
        value = self.data["estimate"]
        for name in path:
            value = value[name]
        return view(value)

    def _brief(self):
        if self.data["schema"].startswith("rankwright.rivals/"):
            return f"{self.data['first']['headline']}, against another plan"
        return super()._brief()

    def _repr_html_(self):
        if "estimate" not in self.data:
            return super()._repr_html_()
        step = self.data["estimate"]["step"]
        rows = [[i["item"], _html.seconds(i["seconds"]), _html.percent(i["share"]), i["remark"]]
                for i in step["items"]]  # fmt: skip
        rows.append(["step", _html.seconds(step["seconds"]), "", f"MFU {_html.percent(step['mfu'])}"])
        return _html.table(rows, ["", "time", "share", ""], self.data["headline"])


class Compared(Result):
    """The comparison of two plans, or of a plan and the log of its run."""

    def _brief(self):
        if "verdict" in self.data:
            return self.data["verdict"]["text"]
        time = self.data["time"]
        if not time:  # the run ended before its first step
            return super()._brief()
        measured = _html.seconds(time["measured"]["median_seconds"])
        return f"{measured} per step, {_html.seconds(time['predicted_seconds'])} predicted"

    def _repr_html_(self):
        if "verdict" in self.data:
            return self._two_plans()
        return self._log() if self.data["time"] else super()._repr_html_()

    def _log(self):
        time = self.data["time"]
        measured, predicted = time["measured"]["median_seconds"], time["predicted_seconds"]
        rows = [["step", _html.seconds(measured), _html.seconds(predicted)]]
        rows += [[t["name"], _span(t["measured"]), _span(t["predicted"])] for t in time["timers"]]
        return _html.table(rows, ["", "measured", "predicted"], self.data["headline"])

    def _two_plans(self):
        names = ["a_seconds", "b_seconds", "difference_seconds"]
        time = self.data["time"]
        rows = [[i["item"], *(f"{i[name]:.3f}" for name in names)] for i in time["items"]]
        rows.append(["total", *(f"{time[name]:.3f}" for name in names)])
        head = ["seconds a step", self.data["a"]["name"], self.data["b"]["name"], "difference"]
        return _html.table(rows, head, self._brief())


def _span(timer):
    """Returns the range of a timer over ranks, from fastest to slowest."""
    ends = [timer["min_seconds"], timer["max_seconds"]]
    return " to ".join(_html.seconds(end) for end in ends if end is not None)


class Imported(Result):
    """An imported file: `plan` is the text of a plan file, which every function accepts.

    `kind` says what it is: a "plan", a "cluster" (for `cluster=`) or a "model" (for `model=`).
    """

    def __init__(self, data, text, findings):
        super().__init__(data, text)
        self.findings = findings

    @property
    def plan(self):
        return self.data.get("plan", self.text + "\n")

    @property
    def kind(self):
        if self.data:
            return "plan"
        lines = [line for line in self.text.splitlines() if not line.startswith("#")]
        return "model" if lines[:1] == ["model:"] else "cluster"

    def _brief(self):
        return f"a {self.kind} of {self.data['format']}" if self.data else f"a {self.kind}"


class Report(Result):
    """A report of a plan: `html` is an interactive page, `markdown` a document."""

    def __init__(self, data, markdown, html):
        super().__init__(data, markdown)
        self._html = html

    @property
    def markdown(self):
        return self._form("_text")

    @property
    def html(self):
        if not self._form("_html"):
            raise Error("rankwright report: this module was built without the HTML report\n"
                        "  help: .markdown and .data need none", code=1)  # fmt: skip
        return self._form("_html")

    def save(self, path):
        """Writes the report in the format of the file name: .html, .md or .json."""
        path = pathlib.Path(path)
        forms = {".html": lambda: self.html, ".md": lambda: self.markdown, ".json": self.json}
        if path.suffix not in forms:
            raise ValueError(f"a report is written to .html, .md or .json, not {path.name!r}")
        path.write_text(forms[path.suffix](), "utf-8")

    def _brief(self):
        # Plans that are not files have no name.
        return ", ".join(
            plan["explain"]["headline"] if plan["name"] == "-" else plan["name"]
            for plan in self.data["plans"]
        )

    def _repr_html_(self):
        page = self._form("_html")
        return _html.frame(page) if page else super()._repr_html_()


class Validation(Result):
    """The comparison of predictions and measurements."""

    def _brief(self):
        step = self.data.get("step_time")
        return f"{step['rows']} runs, {step['mape']:.1f} % off" if step else super()._brief()
