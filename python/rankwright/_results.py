"""What the functions give: the plain objects of `--json`, what the command line prints, and a table
for notebooks. Nothing is renamed and nothing computed that the JSON does not say."""

import json
import pathlib

from . import _html
from ._errors import Error, Finding


def view(value):
    """Maps with attributes, at any depth; everything else as it is."""
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
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self.data)}")
        return view(self.data[name])

    def __getitem__(self, key):
        return self.data[key]

    def __eq__(self, other):
        return type(other) is type(self) and other.data == self.data

    __hash__ = None

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self.data if key.isidentifier())]

    def __repr__(self):
        return repr(self.data)


class Result(View):
    """An answer: `data` is what `--json` prints, `str()` what is printed without."""

    def __init__(self, data, text):
        super().__init__(data)
        self.text = text.rstrip("\n")

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<{type(self).__name__}: {self._brief()}>"

    def _brief(self):
        return self.data.get("headline", self.data.get("schema", ""))

    def _repr_html_(self):
        return f"<pre>{_html.text(self.text)}</pre>"


class Planned(Result):
    """The fastest plan that was found. It is itself a plan: `check(planned)`, `export(planned, to)`."""

    def __init__(self, data, text, plan, markdown):
        super().__init__(data, text)
        self._plan = plan
        self.markdown = markdown

    def __bool__(self):
        return bool(self._plan)

    @property
    def plan(self):
        """The text of the plan file; an Error where nothing fits."""
        if not self._plan:
            message = "nothing fits"
            finding = Finding("", "error", message, "", "", "", "", 0, 0)
            raise Error(self.text, [finding], 2)
        return self._plan

    def save(self, path):
        """Writes the plan file."""
        pathlib.Path(path).write_text(self.plan, "utf-8")

    def _brief(self):
        best = self.data.get("best")
        if not best:
            return self.data["headline"]
        return f"{best['brief']}, {_html.seconds(best['step_seconds'])} a step"

    def _repr_html_(self):
        best = self.data.get("best")
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
            for one in self.data["neighbours"]
            if one["verdict"] == "priced"
        ]
        return _html.table(
            rows, ["plan, or change of it", "step", "difference", "memory", "why"],
            self.data["headline"],
        )  # fmt: skip


class Explained(Result):
    """What a plan comes to: `estimate`, `communication`, `states`, `axes` and what was assumed."""

    @property
    def step_seconds(self):
        return self.data["estimate"]["step"]["seconds"]

    @property
    def mfu(self):
        return self.data["estimate"]["step"]["mfu"]

    @property
    def items(self):
        """Where the step's time goes."""
        return view(self.data["estimate"]["step"]["items"])

    @property
    def memory(self):
        """The ledger of the fullest rank; None of a model that is not named."""
        return view(self.data["estimate"]["memory"])

    def _repr_html_(self):
        if "estimate" not in self.data:
            return super()._repr_html_()
        step = self.data["estimate"]["step"]
        rows = [[i["item"], _html.seconds(i["seconds"]), _html.percent(i["share"]), i["remark"]]
                for i in step["items"]]  # fmt: skip
        rows.append(["step", _html.seconds(step["seconds"]), "", f"MFU {_html.percent(step['mfu'])}"])
        return _html.table(rows, ["", "time", "share", ""], self.data["headline"])


class Compared(Result):
    """Two plans, or a plan and the log of its run, side by side."""

    def _brief(self):
        return self.data.get("verdict", {}).get("text", self.data["schema"])

    def _repr_html_(self):
        if "time" not in self.data:
            return super()._repr_html_()
        names = ["a_seconds", "b_seconds", "difference_seconds"]
        time = self.data["time"]
        rows = [[i["item"], *(f"{i[name]:.3f}" for name in names)] for i in time["items"]]
        rows.append(["total", *(f"{time[name]:.3f}" for name in names)])
        head = ["seconds a step", self.data["a"]["name"], self.data["b"]["name"], "difference"]
        return _html.table(rows, head, self._brief())


class Imported(Result):
    """Somebody else's file as one of ours: `plan` is its text, a plan for every function."""

    def __init__(self, data, text, findings):
        super().__init__(data, text)
        self.findings = findings

    @property
    def plan(self):
        return self.data.get("plan", self.text + "\n")

    def _brief(self):
        return self.data.get("format", "a cluster or a model")


class Report(Result):
    """A plan on one page: `html` opens in any browser, `markdown` is a document."""

    def __init__(self, data, markdown, html):
        super().__init__(data, markdown)
        self.markdown = markdown
        self._html = html

    @property
    def html(self):
        if not self._html:
            raise Error("rankwright report: this module was built without the page\n"
                        "  help: .markdown and .data need none", code=1)  # fmt: skip
        return self._html

    def save(self, path):
        """Writes what the name says: .html, .md or .json."""
        path = pathlib.Path(path)
        forms = {".html": lambda: self.html, ".md": lambda: self.markdown, ".json": self._json}
        if path.suffix not in forms:
            raise ValueError(f"a report is written to .html, .md or .json, not {path.name!r}")
        path.write_text(forms[path.suffix](), "utf-8")

    def _json(self):
        return json.dumps(self.data, ensure_ascii=False, indent=2) + "\n"

    def _brief(self):
        return ", ".join(plan["name"] for plan in self.data["plans"])

    def _repr_html_(self):
        return _html.frame(self._html) if self._html else super()._repr_html_()


class Validation(Result):
    """Predictions against measurements."""

    def _brief(self):
        step = self.data.get("step_time")
        return f"{step['rows']} runs, {step['mape']:.1f} % off" if step else self.data["schema"]
