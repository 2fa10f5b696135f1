"""Findings about a plan, and the error that is raised if there is no answer."""

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Finding:
    """One error, performance problem or missing setting; `rankwright.codes()` lists the codes.

    Lines and columns count from 1; 0 is the whole of `file`. `data` is the row of `check --json`.
    A call that cannot be has findings without a code.
    """

    code: str
    severity: str
    message: str
    detail: str
    help: str
    key: str
    file: str
    line: int
    column: int
    data: dict = dataclasses.field(repr=False, compare=False, default_factory=dict)

    @property
    def notes(self):
        """The consequences, and other fixes with their cost."""
        return self.data.get("notes", [])

    @classmethod
    def of(cls, row):
        """From a row of `check --json`."""
        names = [field.name for field in dataclasses.fields(cls) if field.name != "data"]
        return cls(*(row[name] for name in names), data=row)

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        code = f"[{self.code}]" if self.code else ""
        return f"{place}{self.severity}{code}: {self.message}" + (
            f": {self.detail}" if self.detail else ""
        )


class Error(ValueError):
    """An invalid plan, an unreadable file or an unknown name.

    `str()` is what the command line prints, `findings` are its parts, and `code` is its exit code: 1
    unreadable or unknown, 2 refused, 64 a call that cannot be.
    """

    def __init__(self, text, findings=(), code=64):
        super().__init__(text.rstrip("\n"))
        self.findings = list(findings)
        self.code = code

    def __reduce__(self):  # keeps findings and code when pickled
        return type(self), (self.args[0], self.findings, self.code)


def findings_of(answer):
    """Returns the findings of an answer or a refusal of _core."""
    return [Finding.of(row) for row in json.loads(answer.findings())["findings"]]


def error_of(refused):
    """Returns the error of a request that has no answer."""
    findings = findings_of(refused) or [
        Finding("", "error", message, "", hint, "", "", 0, 0) for message, hint in refused.faults()
    ]
    return Error(refused.text(), findings, refused.code)
