"""Results that are a Python list or dict themselves; `data` and `str()` are as in other results."""

import pathlib

from . import _html
from ._errors import Finding


class Checked(list):
    """The findings of `check`, most severe first: a list of Finding, true if there is any, even a note.
    `ok` is true without errors."""

    def __init__(self, data, text):
        super().__init__(Finding.of(row) for row in data["findings"])
        self.data = data
        self.text = text.rstrip("\n")

    @property
    def errors(self):
        return [finding for finding in self if finding.severity == "error"]

    @property
    def warnings(self):
        return [finding for finding in self if finding.severity == "warning"]

    @property
    def ok(self):
        return not self.errors

    def __str__(self):
        return self.text

    def _repr_html_(self):
        rows = [[f.severity, f.code, f.message, f.detail, f.help, f.line or ""] for f in self]
        head = ["", "code", "message", "detail", "help", "line"]
        return _html.table(rows, head, self._caption()) if rows else "<p>no problems found</p>"

    def _caption(self):
        """Returns the file's name, or the first line of the summary for a plan that is not a file."""
        if self.data["file"] != "-":
            return self.data["file"]
        return "" if self.errors else self.text.partition("\n")[0]


class Exported(dict):
    """The files of a framework: names and texts. `lost` lists the settings that it does not have."""

    def __init__(self, data, text, findings):
        super().__init__((file["name"], file["text"]) for file in data["files"])
        self.data = data
        self.text = text.rstrip("\n")
        self.findings = findings

    @property
    def lost(self):
        return self.data["lost"]

    def save(self, folder):
        """Writes the files into a folder, which is created if needed."""
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in self.items():
            pathlib.Path(folder, name).write_text(text, "utf-8")

    def __str__(self):
        return self.text

    def _repr_html_(self):
        return "".join(
            f"<p><code>{_html.text(name)}</code></p><pre>{_html.text(text)}</pre>"
            for name, text in self.items()
        )


class Rows(list):
    """Rows of the catalog: a list of dicts."""

    def __init__(self, data, text):
        super().__init__(data["rows"])
        self.data = data
        self.text = text.rstrip("\n")

    def __str__(self):
        return self.text

    def _repr_html_(self):
        head = list(self[0]) if self else []
        return _html.table([list(row.values()) for row in self], head)
