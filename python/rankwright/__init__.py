"""Finds, checks and explains parallel layouts for training large models.

>>> import rankwright
>>> best = rankwright.plan(model="llama-3.1-8b", cluster="dgx-h100 x 2", global_batch=64, seq=8192)
>>> best.world
16
>>> rankwright.check(best).errors
[]

Every function is a verb of the command line and takes its flags as keyword arguments, but for those that
say how or where to print: `--max-tp 4` is `max_tp=4`, and words that Python keeps for itself end in an
underscore: `for_="megatron"`. Results hold what `--json` prints as plain objects in `.data`; `str()` is
what the command line prints.
"""

from ._core import version as __version__
from ._errors import Error, Finding
from ._lists import Checked, Exported, Rows
from ._plan import plan
from ._results import Compared, Explained, Imported, Planned, Report, Result, Validation, View
from ._tables import catalog, codes, devices, models, systems, validate
from ._verbs import check, compare, explain, export, import_, report

__all__ = [
    "Checked",
    "Compared",
    "Error",
    "Explained",
    "Exported",
    "Finding",
    "Imported",
    "Planned",
    "Report",
    "Result",
    "Rows",
    "Validation",
    "View",
    "__version__",
    "catalog",
    "check",
    "codes",
    "compare",
    "devices",
    "explain",
    "export",
    "import_",
    "models",
    "plan",
    "report",
    "systems",
    "validate",
]
