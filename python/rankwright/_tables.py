"""The verbs about tables: measurements and the catalog."""

from . import _core
from ._inputs import Request, repeated
from ._lists import Rows
from ._results import Validation
from ._run import ask, data, result


def validate(files, *, leave_one_family_out=False, calibrate_one=False, with_=None, all=False):
    """Compares predictions with measured runs or collectives; `files` is a path or a list of them."""
    request = Request()
    for path in files if isinstance(files, (list, tuple)) else [files]:
        request.file(path)
    request.values(with_=repeated(with_))
    request.switches(
        leave_one_family_out=leave_one_family_out, calibrate_one=calibrate_one, all=all
    )
    answer = ask(_core.validate, request)
    return result(Validation, answer, answer.text)


def catalog(kind, name=None):
    """Returns the catalog entries of a kind as a list of dicts. `kind` is one that `rankwright catalog` lists.

    >>> catalog("devices")[0]["device"] in [row["device"] for row in devices()]
    True
    """
    request = Request()
    request.files += [word for word in (kind, name) if word is not None]
    answer = ask(_core.catalog, request)
    return Rows(data(answer), answer.text())


def models(name=None):
    """Lists the known models, or describes one of them.

    >>> "llama-3.1-70b" in [row["model"] for row in models()]
    True
    """
    return catalog("models", name)


def devices(name=None):
    """Lists the known GPUs, or describes one of them."""
    return catalog("devices", name)


def systems(name=None):
    """Lists the known systems, or describes one of them."""
    return catalog("systems", name)


def codes(name=None):
    """Lists the diagnostic codes, or describes one of them.

    >>> codes()[0]["code"]
    'RW0101'
    """
    return catalog("codes", name)
