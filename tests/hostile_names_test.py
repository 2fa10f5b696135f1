#!/usr/bin/env python3
"""Hostile names in the input must give harmless output files: a matrix of payloads and outputs.

    tests/hostile_names_test.py build/release/bin/rankwright [web/tests/hostile.mjs]

Each payload is used for every name in a plan: model, cluster, device, levels, hosts, files. Each output is
compared with that of the same plan with plain names: scripts are run with stand-ins for launchers, Python
files are imported, data files are parsed, Markdown is rendered, pages and pictures are opened in a
browser. Names may only appear as data.
"""

import concurrent.futures
import html.parser
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree

import yaml

import hostile_payloads as hostile
from hostile_payloads import PLAIN

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

try:
    import markdown
except ImportError:
    markdown = None

STAND_IN = """#!/bin/sh
{ printf '%s\\0' "${0##*/}" "$@"; printf '\\n'; } >>"$ARGV_LOG"
"""
LAUNCHERS = ["torchrun", "mpirun", "srun", "sbatch", "deepspeed", "accelerate", "pretrain"]

# Imports the files of a list, each in its own folder, and prints what they define. Their own imports are
# replaced by stand-ins.
IMPORTER = """\
import importlib.machinery, importlib.util, json, os, sys, traceback, types

class Anything(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return type(name, (), {"Config": type("Config", (), {})})

class Finder:
    ROOTS = {"torch", "torchtitan", "megatron"}
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.ROOTS:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec): return Anything(spec.name)
    def exec_module(self, module): pass

sys.meta_path.insert(0, Finder())
sys.dont_write_bytecode = True
defined = {}
for path in json.load(open(sys.argv[1])):
    os.chdir(os.path.dirname(path))
    try:
        spec = importlib.util.spec_from_file_location("exported", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        defined[path] = sorted(name for name in vars(module) if not name.startswith("__"))
    except BaseException:
        defined[path] = traceback.format_exc()
json.dump(defined, sys.stdout)
"""

# Comments contain printable ASCII and the few symbols of our own texts. No tool reads settings from them.
COMMENT = re.compile("# [ -~·±×→…]*|#|#!/usr/bin/env bash|# -\\*- coding: utf-8 -\\*-")
SAFE = re.compile("[A-Za-z0-9 ._+/()-]")  # the characters of a name in a comment
SETTING = re.compile(r"coding[:=]|\b(vim?|ex)[<>=]?\d*\s*:|language-server\s*:|-\*-|^#SBATCH", re.I)

failures = []


def expect(condition, where, what):
    if not condition:
        failures.append(f"{where}: {what}")
    return condition


class Bench:
    """A folder in which the program runs on one payload, checked for side effects."""

    def __init__(self, binary, folder, title, stand_ins):
        self.binary, self.folder, self.title, self.stand_ins = binary, folder, title, stand_ins
        self.out = folder / "out"
        self.out.mkdir(parents=True)

    def run(self, *words, ok=(0,), env=None, where=""):
        done = subprocess.run(
            words, cwd=self.folder, capture_output=True, timeout=60, env=env, check=False
        )
        self.said = done.stderr.decode(errors="replace")
        failed = f"{words[0]} ended with {done.returncode}: {self.said[:400]}"
        expect(done.returncode in ok, where, failed)
        return done.stdout

    def tool(self, *words, ok=(0,), where=""):
        return self.run(self.binary, *words, ok=ok, where=where)

    def untouched(self, where):
        found = [str(p) for p in self.folder.rglob("CANARY*") if p.name in ("CANARY", "CANARY.png")]
        expect(not found, where, f"made {found}")
        for path in found:
            pathlib.Path(path).unlink()


def code_of(where, text):
    """Returns the lines of a generated file without names in comments, after checking the comments."""
    expect(text.splitlines() == text.rstrip("\n").split("\n"), where, "a line breaks within itself")
    code = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith("#") and not line.startswith("#SBATCH"):
            first = number == 0 and line == "# -*- coding: utf-8 -*-"
            expect(COMMENT.fullmatch(line), where, f"a comment has signs of a name: {line[:200]!r}")
            expect(first or not SETTING.search(line), where, f"a setting: {line[:200]!r}")
            expect(len(line) < 1100, where, f"a comment of {len(line)} characters")
            code.append(SAFE.sub("", line))
        else:
            code.append(line)
    return code


def as_lines(file, text):
    """Returns the text of a file; for JSON its comments, in the form of another language."""
    if not file.endswith(".json"):
        return text
    return "\n".join(f"# {line}" for line in json.loads(text).get("_comment", []))


def comments_of(code):
    return [line for line in code if line.startswith("#")]


def exported(bench, where, target, hosts):
    """Exports plan.yaml. Returns the text of each file."""
    out = bench.out / target
    shutil.rmtree(out, ignore_errors=True)
    bench.tool("export", "plan.yaml", "--to", target, "-o", f"{out}/", *hosts, where=where)
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(out.glob("*"))}


def parsed(name, text):
    """Returns the file as parsed by its language, or its text if there is no parser."""
    if name.endswith((".yaml", ".yml")):
        return yaml.load(text, LOADER)
    if name.endswith(".toml"):
        return tomllib.loads(text)
    if name.endswith(".json"):
        data = json.loads(text)
        data.pop("_comment", None)
        return data
    return text if name.endswith(".csv") else None


def check_export(where, files, reference, name):
    """Checks that a file has the same content as the one with plain names."""
    expect(files.keys() == reference.keys(), where, f"wrote {sorted(files)}")
    for file, text in files.items():
        place = f"{where}, {file}"
        try:
            data = parsed(file, text)
        except Exception as fault:  # parsers raise different types
            expect(False, place, f"is not read: {fault}")
            continue
        if data is not None:
            same = hostile.with_plain_names(data, name) == parsed(file, reference[file])
            expect(same, place, "says something else than with plain names")
        if not file.endswith(".csv"):
            code, plain = (code_of(place, as_lines(file, one)) for one in (text, reference[file]))
            if file == "plan.yaml":  # its names are values
                code, plain = comments_of(code), comments_of(plain)
            expect(code == plain, place, "differs from the file with plain names")


def run_scripts(bench, where, target):
    """Runs the scripts of a launcher. Returns the arguments of the stand-ins."""
    log = bench.folder / "argv"
    log.unlink(missing_ok=True)
    env = {
        "PATH": f"{bench.stand_ins}:/usr/bin:/bin",
        "ARGV_LOG": str(log),
        "TMPDIR": str(bench.folder),
        "NODE_RANK": "0",
        "LC_ALL": "C.UTF-8",
    }
    scripts = {"slurm": "slurm.sbatch", "torchrun": "torchrun.sh", "openmpi": "openmpi.sh"}
    if target in scripts:
        path = str(bench.out / target / scripts[target])
        bench.run("bash", path, "train.py", "a b", env=env, where=where)
    elif target == "megatron":
        command = 'set -eu; . "$0"; pretrain "${RANKWRIGHT_ARGS[@]}"'
        path = str(bench.out / target / "megatron.sh")
        bench.run("bash", "-c", command, path, env=env, where=where)
    else:
        return None
    return log.read_bytes().replace(str(bench.folder).encode(), b"HERE") if log.exists() else b""


def check_python(folder, benches):
    """Imports the Python files of all payloads in one process and compares their definitions with the plain
    ones."""
    files = {str(path): bench for bench in benches for path in sorted(bench.folder.glob("*.py"))}
    (folder / "importer").write_text(IMPORTER, encoding="utf-8")
    (folder / "files").write_text(json.dumps(list(files)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, folder / "importer", folder / "files"], capture_output=True, check=False
    )
    if not expect(done.returncode == 0, "Python", done.stderr.decode(errors="replace")[-2000:]):
        return
    defined = json.loads(done.stdout)
    for path, bench in files.items():
        plain = defined[str(benches[0].folder / os.path.basename(path))]
        expect(isinstance(plain, list), bench.title, f"a plain file is not imported: {plain}")
        same = defined[path] == plain
        expect(same, f"{bench.title}, {os.path.basename(path)}", f"defines {defined[path]}")
    for bench in benches:
        bench.untouched(f"{bench.title}, Python")


class Tags(html.parser.HTMLParser):
    """Collects the elements of a document, with attributes that could act."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, sorted((k, v) for k, v in attrs if k not in ("id", "style"))))


def rendered(text):
    tags = Tags()
    tags.feed(markdown.markdown(text, extensions=["tables", "fenced_code"]))
    return tags.found


def svg_shape(where, text):
    """Returns the kinds of elements and attributes of a picture."""
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as fault:
        expect(False, where, f"is not XML: {fault}")
        return None
    return {(one.tag, key) for one in root.iter() for key in [None, *one.attrib]}


def texts_in(data):
    if isinstance(data, dict):
        for value in data.values():
            yield from texts_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from texts_in(value)
    elif isinstance(data, str):
        yield data


def keys_in(data, path=""):
    """Returns the paths of all keys; names must not be keys."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield f"{path}.{key}"
            yield from keys_in(value, f"{path}.{key}")
    elif isinstance(data, list):
        for value in data:
            yield from keys_in(value, path + "[]")


def check_exports(bench, where, name, reference):
    """Checks exports to every target, from a plan whose model is a map and from one with a config.json."""
    result = {}
    for target, values in hostile.TARGETS.items():
        hosts = ["--hosts", "n[0-3]"] if target in ("slurm", "torchrun", "openmpi") else []
        for from_config in (False, True) if target in hostile.WITH_CONFIG else (False,):
            place = f"{where}, {target}{', config.json' if from_config else ''}"
            hostile.write_plan(bench.folder, name, from_config, values)
            files = exported(bench, place, target, hosts)
            argv = run_scripts(bench, place, target)
            bench.untouched(place)
            result[target, from_config] = (files, argv)
            for file, text in files.items():
                if file.endswith(".py"):
                    copy = f"{'config' if from_config else 'map'}_{file}"
                    (bench.folder / copy).write_text(text, encoding="utf-8")
                    first = text.split("\n")[0]
                    expect(first == "# -*- coding: utf-8 -*-", place, f"begins with {first[:80]!r}")
            if reference:
                plain_files, plain_argv = reference[target, from_config]
                check_export(place, files, plain_files, name)
                expect(argv == plain_argv, place, f"calls {argv!r} instead of {plain_argv!r}")
    return result


def check_hosts(bench, where, name):
    """Checks that a hostile host name is refused, or stays one word."""
    (bench.folder / "hosts").write_text(f"n0\nn1\nn2\n{name}\n", encoding="utf-8", newline="")
    lists = [["--hosts", "hosts"]]
    if "\0" not in name and len(name) < 1000 and not name.startswith("-"):
        lists.append(["--hosts", f"n0,n1,n2,{name}"])
    for target in ("slurm", "torchrun", "openmpi"):
        for hosts in lists:
            place = f"{where}, host for {target}"
            out = bench.out / target
            shutil.rmtree(out, ignore_errors=True)
            placed = {} if target == "torchrun" else hostile.TARGETS[target]
            hostile.write_plan(bench.folder, PLAIN, values=placed)
            words = ["export", "plan.yaml", "--to", target, "-o", f"{out}/", *hosts]
            bench.tool(*words, ok=(0, 64), where=place)
            if not out.exists():
                continue
            run_scripts(bench, place, target)
            for path in out.glob("*"):
                for line in path.read_text(encoding="utf-8").splitlines():
                    if line.startswith("#SBATCH"):
                        plain = re.fullmatch(r"#SBATCH --[a-z-]+(=[\w.,\[\]-]+)?", line)
                        expect(plain, place, f"asks for {line!r}")
                    if path.suffix == ".rankfile" and not line.startswith("#"):
                        plain = re.fullmatch(r"rank \d+=[\w.][\w.-]* slot=0:\*", line)
                        expect(plain, place, f"places {line!r}")
            bench.untouched(place)


def check_imports(bench, where, name, reference):
    """Checks files that contain file names: `import` of a plan, a model and a cluster, `plan -o`."""
    folder = bench.folder / hostile.path_name(name)
    folder.mkdir(exist_ok=True)
    script = folder / f"{hostile.path_name(name)[:100]}.yaml"
    script.write_text(hostile.ACCELERATE, encoding="utf-8")
    config = json.dumps({**hostile.CONFIG, "_name_or_path": name})
    (folder / "config.json").write_text(config, encoding="utf-8")
    topology = folder / "topology.conf"
    topology.write_text("SwitchName=s0 Nodes=n[0-3]\n", encoding="utf-8")
    path = lambda file: f"./{file.relative_to(bench.folder)}"
    hostile.write_plan(bench.folder, name, from_config=True)
    runs = {
        "plan": ["import", path(script), "--world", "8"],
        "model": ["import", path(folder / "config.json")],
        "cluster": ["import", path(topology), "--device", "h100-sxm"],
        "plan -o": ["plan", "plan.yaml", "-o", "found.yaml"],
        "ours": ["import", "plan.yaml"],
    }
    result = {}
    for what, words in runs.items():
        place = f"{where}, file of {what}"
        text = bench.tool(*words, where=place).decode()
        if what == "plan" and re.fullmatch("[ -~]+", words[1]):  # others are escaped for terminals
            advised = bench.said[bench.said.rindex("rankwright check ") :].rstrip("\n")
            typed = split_words(advised)
            expect(typed == ["rankwright", "check", words[1]], place, f"advises {advised[:200]!r}")
        if what == "plan -o":
            text = (bench.folder / "found.yaml").read_text(encoding="utf-8")
        code = code_of(place, text)
        try:
            result[what] = yaml.load(text, LOADER), comments_of(code)
        except yaml.YAMLError as fault:
            expect(False, place, f"is not read: {fault}")
            continue
        if reference:
            data, comments = result[what]
            plain, plain_comments = reference[what]
            same = hostile.with_plain_names(data, name) == plain
            expect(same, place, "says something else than with plain names")
            expect(comments == plain_comments, place, "has a name as it is in a comment")
    bench.untouched(where)
    shutil.rmtree(folder)
    return result


def check_reports(bench, where, name, reference):
    """Checks all report formats of a plan whose file has the hostile name too."""
    hostile.write_plan(bench.folder, name)
    file = f"./{hostile.path_name(name)}.yaml"
    os.rename(bench.folder / "plan.yaml", bench.folder / file)
    out = bench.out / "report"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    result = {}
    json_runs = {
        "report": ["report", file, "--no-search", "--json"],
        "check": ["check", file, "--json"],
        "SARIF": ["check", file, "--format", "sarif"],
        "explain": ["explain", file, "--json"],
        "compare": ["compare", file, file, "--json"],
        "export": ["export", file, "--to", "nanotron", "--json"],
    }
    for what, words in json_runs.items():
        place = f"{where}, {what}"
        result[what] = check_json(bench, place, words, reference and reference[what])
    arrived = any(hostile.label(name) in text for text in texts_in(result["report"]))
    expect(arrived, f"{where}, report", "the name did not arrive as data")
    for text in texts_in(result["report"]):
        if text.startswith(("rankwright check ", "rankwright explain ")):
            words = split_words(text)
            expect(file in words, f"{where}, report", f"advises to type {text[:200]!r}")
    check_broken(bench, where, name)
    bench.tool("explain", file, "--timeline", "--trace", "out/report/step.json", where=where)
    bench.tool("explain", file, "--timeline", "--trace", "out/report/step.pftrace", where=where)
    trace = json.loads((out / "step.json").read_text(encoding="utf-8"))
    result["trace"] = trace, (out / "step.pftrace").read_bytes()
    if reference:
        expect(result["trace"] == reference["trace"], f"{where}, trace", "depends on names")
    words = ["--markdown", "--svg", "out/report", "-o", "out/report/r.md"]
    bench.tool("report", file, "--no-search", *words, where=where)
    bench.tool("explain", file, "--timeline", "--svg", "out/report/timeline_alone.svg", where=where)
    markdowns = {
        "report.md": (out / "r.md").read_text(encoding="utf-8"),
        "explain.md": bench.tool("explain", file, "--markdown", where=where).decode(),
        "compare.md": bench.tool("compare", file, file, "--markdown", where=where).decode(),
    }
    for what, text in markdowns.items() if markdown else []:
        result[what] = rendered(text)
        if reference:
            place = f"{where}, {what}"
            odd = [tag for tag in result[what] if tag not in reference[what]]
            expect(not odd, place, f"renders {odd[:3]}")
            expect(len(result[what]) == len(reference[what]), place, "has more or fewer elements")
    result["svg"] = {}
    for path in sorted(out.glob("*.svg")):
        place = f"{where}, {path.name}"
        result["svg"][path.name] = shape = svg_shape(place, path.read_text(encoding="utf-8"))
        if reference:
            same = shape == reference["svg"][path.name]
            expect(same, place, "has other elements than with plain names")
    bench.untouched(where)
    return result


def split_words(text):
    """Returns the words that bash splits a command into; an unwanted command leaves a CANARY."""
    done = subprocess.run(["bash", "--norc", "-c", f"printf '%s\\0' {text}"], capture_output=True)
    return done.stdout.decode("utf-8", "replace").split("\0")[:-1]


def check_json(bench, where, words, reference):
    text = bench.tool(*words, ok=(0, 1), where=where)
    try:
        data = json.loads(text)
    except ValueError as fault:
        expect(False, where, f"is not JSON: {fault}")
        return None
    if reference:
        odd = set(keys_in(data)) ^ set(keys_in(reference))
        expect(not odd, where, f"has other keys than with plain names: {sorted(odd)[:5]}")
    return data


def check_broken(bench, where, name):
    """Checks that findings quote invalid content as data, never as a link."""
    place = f"{where}, findings"
    text = hostile.yaml_text(name)
    broken = f"{text}: 1\nparallelism: {{tp_size: {text}, schedule: {text}}}\n"
    broken += f"model: {text}\ncluster: {text}\n"
    (bench.folder / "broken.yaml").write_text(broken, encoding="utf-8")
    sarif = json.loads(bench.tool("check", "broken.yaml", "--format", "sarif", ok=(1, 2, 3), where=place))
    results = sarif["runs"][0]["results"]
    expect(sarif["version"] == "2.1.0" and results, place, "is not SARIF 2.1.0 with results")
    for result in results:
        text = result["message"]["text"]
        expected = {"ruleId", "level", "message", "locations"}
        expect(set(result) == expected, place, f"a result has {set(result)}")
        expect(not re.search(r"\]\(", text), place, f"SARIF has a link: {text[:200]!r}")
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        expect(uri == "broken.yaml", place, f"SARIF names {uri!r}")
    json.loads(bench.tool("check", "broken.yaml", "--json", ok=(1, 2, 3), where=place))


def write_page(bench, names):
    """Writes a page of two plans and their pictures, with the names taken from `names` in turn."""
    names = itertools.cycle(names)
    files = []
    for side in "ab":
        text = hostile.plan_of(names)
        files.append(f"./{side}{hostile.path_name(next(names))}.yaml")
        (bench.folder / files[-1]).write_text(text, encoding="utf-8")
    bench.tool("compare", *files, "--html", "out/page.html", where=bench.title)
    bench.tool("report", files[0], "--no-search", "--svg", "out", where=bench.title)
    return bench.out / "page.html", sorted(bench.out.glob("*.svg"))


def write_pages(matrix):
    """Writes pages that contain all payloads; the first contains plain names instead."""
    names = itertools.cycle(hostile.PAYLOADS.values())
    groups = [[f"{PLAIN}-{k}" for k in range(hostile.NAMES_PER_PAGE)]]
    for _ in range(0, len(hostile.PAYLOADS), hostile.NAMES_PER_PAGE):
        groups.append([next(names) for _ in range(hostile.NAMES_PER_PAGE)])
    pages, pictures = [], []
    for number, group in enumerate(groups):
        folder = matrix.folder / f"page{number}"
        bench = Bench(matrix.binary, folder, f"page {number}", matrix.stand_ins)
        page, drawn = write_page(bench, group)
        pages.append(page)
        pictures += drawn
    return pages, pictures


def check_pages(matrix, browser):
    """Opens pages and pictures in a browser: they have the elements of the plain ones and run nothing."""
    pages, pictures = write_pages(matrix)
    list_file = matrix.folder / "files.json"
    files = {"pages": [*map(str, pages)], "pictures": [*map(str, pictures)]}
    list_file.write_text(json.dumps(files), encoding="utf-8")
    words = ["node", browser, list_file]
    done = subprocess.run(words, capture_output=True, timeout=300, check=False)
    if not expect(done.returncode == 0, "browser", done.stderr.decode()[-2000:]):
        return
    seen = json.loads(done.stdout)
    for path, page in seen.items():
        where = f"in a browser, {pathlib.Path(path).relative_to(matrix.folder)}"
        expect(not page["complaints"], where, f"complains: {page['complaints'][:3]}")
        expect(not page["requests"], where, f"asks for {page['requests'][:3]}")
        expect(not page["canary"], where, "ran a script")
        expect(not page["handlers"], where, f"has handlers: {page['handlers'][:3]}")
        plain = seen[str(pages[0].parent / os.path.basename(path))]["tags"]
        if path.endswith(".html"):
            odd = {tag: n for tag, n in page["tags"].items() if plain.get(tag) != n}
        else:  # long names wrap to more lines in a picture
            odd = set(page["tags"]) - set(plain)
        expect(not odd, where, f"has other elements than with plain names: {odd}")


def check_targets(binary):
    """Checks that the matrix has every exporter."""
    rows = subprocess.run([binary, "export", "--list"], capture_output=True, text=True, check=True)
    listed = {line.split()[0] for line in rows.stdout.splitlines()}
    expect(listed == set(hostile.TARGETS), "exporters", f"untested: {listed ^ set(hostile.TARGETS)}")


def write_stand_ins(folder):
    folder.mkdir()
    for name in LAUNCHERS:
        (folder / name).write_text(STAND_IN, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


class Matrix:
    """All payloads against all outputs."""

    CHECKS = {"exports": check_exports, "imports": check_imports, "reports": check_reports}

    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder
        self.stand_ins = write_stand_ins(folder / "bin")
        self.references = {}

    def row(self, number, title, name):
        """Runs one payload. The first one is plain, and the others are compared with it."""
        bench = Bench(self.binary, self.folder / str(number), title, self.stand_ins)
        for what, check in self.CHECKS.items():
            self.references.setdefault(what, check(bench, title, name, self.references.get(what)))
        check_hosts(bench, title, name)
        return bench


def main(binary, browser=None):
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        matrix = Matrix(binary, pathlib.Path(folder))
        check_targets(matrix.binary)
        benches = [matrix.row(0, "plain", PLAIN)]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            rows = [range(1, len(hostile.PAYLOADS) + 1), *zip(*hostile.PAYLOADS.items())]
            benches += pool.map(matrix.row, *rows)
        check_python(matrix.folder, benches)
        if browser:
            check_pages(matrix, browser)
        else:
            print("no browser: pages and pictures were not opened")
        if not markdown:
            print("python3-markdown is missing: Markdown was not rendered")
    for failure in failures[:100]:
        print(failure)
    print(f"{len(hostile.PAYLOADS)} payloads, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
