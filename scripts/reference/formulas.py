"""Finds the function that computes each formula of docs/reference/formulas.md, and the test that checks it.

A comment in a source file names a formula by its number: "M13", "X1 to X5". The function is the one below
the comment, or the one that contains the comment. A number in the comment at the top of a header refers to
the whole file, and is used if no comment inside the file names the formula.
"""

import re

from reference.pages import MADE, table

LETTERS = "SP|PT|[PFSTECGBKMWRLXZV]"
STATED = re.compile(rf"^(?:\| )?((?:{LETTERS})\d+)(?: \||[,:] )(.*)$")
CITED = re.compile(rf"(?<![\w-])({LETTERS})(\d+)(?: (?:to|and) \1(\d+))?\b")
DEFINED = re.compile(r"^ {0,2}(?! |return |else )[\w:<>&*,\[\] ]*[\w>&*\]][ &*]+(?:\w+::)*([a-z_]\w+)\(")
NAMED = re.compile(r"^ {0,2}(?:template.*> )?(?:struct|class|enum class) (\w+)|^(?:constexpr|constinit) .*\b(k[A-Z]\w+)\b")


class Formula:
    def __init__(self, number, source, folders):
        self.number, self.source, self.folders = number, source, folders
        self.places = []  # (file, function or type; "" for the whole file)

    def spots(self):
        """Returns the places inside files, or the files if there are none."""
        return [place for place in self.places if place[1]] or self.places


def stated(text):
    """Returns every formula of the page, in order."""
    found, folders, columns, usual, named = [], [], [], "", ""
    for line in text.splitlines():
        if line.startswith("## "):
            files = re.findall(r"`([^`]+)`", line)
            first = files[0].rpartition("/")[0] if files else ""
            folders = sorted({f.rpartition("/")[0] or first for f in files})
            usual = ""
        elif line.startswith("Where a row names no source: "):
            usual = line.split(": ", 1)[1]
        elif line.startswith("| number |"):
            columns = [c.strip() for c in line.strip("|").split("|")]
        if match := STATED.match(line):
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            own = ""
            if line.startswith("|") and "source" in columns:
                own = dict(zip(columns, cells)).get("source", "")
            if own.startswith("the same"):
                own = named + own.removeprefix("the same")
            else:
                named = own or named
            found.append(Formula(match[1], own or usual, folders))
    return found


def cited(line):
    """Returns the numbers that the comment of a line names."""
    numbers = set()
    for letter, first, last in CITED.findall(line.partition("//")[2]):
        numbers.update(f"{letter}{n}" for n in range(int(first), int(last or first) + 1))
    return numbers


def declared(line):
    match = DEFINED.match(line) or NAMED.match(line)
    return next((name for name in match.groups() if name), "") if match else ""


def place(lines, index):
    """Returns the function or type that a citation in line `index` refers to; "" for the whole file."""
    if "#pragma once" in lines[index:]:
        return ""
    if re.match(r" {0,2}//", lines[index]):
        below = (n for n in lines[index + 1 :] if not n.lstrip().startswith(("//", "template")))
        if name := declared(next(below, "")):
            return name
    outer = (line for line in reversed(lines[: index + 1]) if line and line[0] not in "/}#)")
    names = (declared(line) for line in outer if not line.rstrip().endswith(";"))
    return next((name for name in names if name), "")


def citations(root):
    """Yields (file, its lines, index of a line, number) of each number that a comment names."""
    for file in sorted((root / "rankwright").rglob("*")):
        if file.suffix in (".h", ".cc") and not file.name.endswith("_test.cc"):
            lines = file.read_text("utf-8").splitlines()
            for index, line in enumerate(lines):
                for number in sorted(cited(line)):
                    yield file.relative_to(root), lines, index, number


def find_places(root, formulas):
    by_number = {f.number: f for f in formulas}
    for file, lines, index, number in citations(root):
        formula = by_number.get(number)
        if formula and str(file.parent) in formula.folders:
            spot = (str(file), place(lines, index))
            if spot not in formula.places:
                formula.places.append(spot)


def strays(root, formulas):
    """Yields numbers that comments in a section's folders name but the section does not have."""
    folders = {}
    for f in formulas:
        folders.setdefault(f.number.rstrip("0123456789"), set()).update(f.folders)
    numbers = {f.number for f in formulas}
    for file, _, index, number in citations(root):
        if number not in numbers and str(file.parent) in folders.get(number.rstrip("0123456789"), ()):
            yield f"{file}:{index + 1}: {number} is not in docs/reference/formulas.md"


def tests_of(root, formula):
    """Returns the test of a file that names the formula; else a test that calls the function named there."""
    for places in (formula.spots(), formula.places):
        beside = {re.sub(r"\.(h|cc)$", "_test.cc", file) for file, _ in places}
        if found := sorted(name for name in beside if (root / name).exists()):
            return found
        calls = [re.compile(rf"\b{spot}\b") for _, spot in places if spot]
        for file in sorted(f for folder in formula.folders for f in (root / folder).glob("*_test.cc")):
            if any(call.search(file.read_text("utf-8")) for call in calls):
                return [str(file.relative_to(root))]
    return []


def index(root):
    formulas = stated((root / "docs/reference/formulas.md").read_text("utf-8"))
    find_places(root, formulas)
    return formulas


def faults(root, formulas):
    """Returns the problems, as sentences."""
    found = []
    for f in formulas:
        if not f.source:
            found.append(f"{f.number}: names no source")
        if not f.places:
            found.append(f"{f.number}: no comment names it in {', '.join(f.folders)}")
        elif not tests_of(root, f):
            found.append(f"{f.number}: no test of {', '.join(file for file, _ in f.places)}")
    found += strays(root, formulas)
    numbers = [f.number for f in formulas]
    found += [f"{n}: stated twice" for n in sorted(set(numbers)) if numbers.count(n) > 1]
    return found


def page(root):
    formulas = index(root)
    if wrong := faults(root, formulas):
        raise SystemExit("make_reference: " + "\nmake_reference: ".join(wrong))
    rows = [
        {
            "number": f.number,
            "function": ", ".join(shown(*spot) for spot in f.spots()[:3]),
            "test": ", ".join(t.removeprefix("rankwright/") for t in tests_of(root, f)[:2]),
            "source": f.source.replace("\\|", "|"),
        }
        for f in formulas
    ]
    return (
        f"{MADE}# Where each formula lives\n\nEvery number of [the formulas](../formulas.md): the functions and "
        "types of `rankwright/` that name it, at most three, the tests that call them or stand beside them, and "
        f"where it comes from.\n\n{table(rows)}"
    )


def shown(file, spot):
    file = file.removeprefix("rankwright/")
    return f"`{spot}` in {file}" if spot else f"all of {file}"
