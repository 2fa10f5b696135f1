#!/usr/bin/env python3
"""scripts/make_sbom lists every library in the shipped programs of a build.

    tests/sbom_test.py BUILD_FOLDER WEB_FOLDER PROGRAM...

The test finds the libraries independently of the script: headers by the dependencies that the compiler
reported, packages by the file lists of dpkg. Skipped if dpkg does not know the packages.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Debian source packages whose headers are interfaces of the operating system.
SYSTEM = {
    "linux": "the kernel",
    "python3.11": "the interpreter that loads the module",
}
OBJECTS = re.compile(r"^((?:cli|rankwright|python)/\S+\.o): #deps", re.MULTILINE)


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def make(output, programs, web):
    run(sys.executable, ROOT / "scripts" / "make_sbom", output, *programs, "--page", web)
    return output.read_bytes()


class Debian:
    """Finds the source package of a file on this machine."""

    def __init__(self):
        rows = run("dpkg-query", "-W", "-f", "${Package}\t${source:Package}\n").splitlines()
        self.sources = dict(row.split("\t") for row in rows)
        self.owners = {}
        for file in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
            package = file.stem.partition(":")[0]
            for path in file.read_text("utf-8", "replace").splitlines():
                self.owners[path] = package

    def source_of(self, path):
        """Returns the source package; empty if no package has the file."""
        for form in (path, str(pathlib.Path(path).resolve()), path.removeprefix("/usr"), "/usr" + path):
            if form in self.owners:
                return self.sources.get(self.owners[form], "")
        return ""


def linked_files(programs):
    """Returns the shared libraries that the programs load directly. A link line may name more; the linker
    drops unused ones (Torch's CMake files name protobuf)."""
    found = set()
    for program in programs:
        names = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", program))
        files = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", program)))
        assert names, f"{program} loads nothing"
        found |= {files[name] for name in names if name in files}
    return found


def included_headers(build, programs):
    """Returns the system headers that the sources of these programs include. ninja also remembers those of
    targets that are no longer built."""
    names = [program.name for program in programs]
    others = [] if "rankwright-runtime" in names else ["cli/runtime/", "rankwright/runtime/"]
    others += [] if any(name.startswith("_core") for name in names) else ["python/"]
    found = set()
    for part in run("ninja", "-C", build, "-t", "deps").split("\n\n"):
        if OBJECTS.match(part) and not part.startswith(tuple(others)):
            found |= set(re.findall(r"^    (/usr/\S+)", part, re.MULTILINE))
    assert len(found) > 100, f"only {len(found)} headers: was this built by ninja?"
    return found


def check_structure(told):
    assert (told["bomFormat"], told["specVersion"], told["version"]) == ("CycloneDX", "1.5", 1)
    assert set(told) == {"bomFormat", "specVersion", "version", "metadata", "components", "dependencies"}
    root = told["metadata"]["component"]
    assert root["name"] == "rankwright" and root["version"], root
    references = [each["bom-ref"] for each in told["components"]]
    assert len(references) == len(set(references)), "two components with one reference"
    for each in told["components"]:
        assert each["type"] == "library" and each["name"] and each["version"], each
        assert re.fullmatch(r"pkg:(deb/debian|npm)/[\w.%+~-]+@[\w.%~-]+(\?.+)?", each["purl"]), each
        [license_] = each["licenses"]
        assert license_.get("expression") or re.fullmatch(r"[\w.-]+", license_["license"]["id"]), each
    assert told["dependencies"] == [{"ref": root["bom-ref"], "dependsOn": references}]


def check_complete(told, build, programs):
    debian = Debian()
    packages = {each["purl"].split("/")[2].split("@")[0] for each in told["components"]
                if each["purl"].startswith("pkg:deb/")}
    listed = {debian.sources[package] for package in packages}
    files = linked_files(programs) | included_headers(build, programs)
    missing = {}
    for file in sorted(files):
        source = debian.source_of(file)
        if source and source not in listed and source not in SYSTEM:
            missing.setdefault(source, file)
    assert not missing, f"not in the bill of materials: {missing}"
    return len(files)


def check_page(told, web):
    lock = json.loads((web / "package-lock.json").read_text("utf-8"))["packages"]
    wanted = {f"{path.rpartition('node_modules/')[2]} {entry['version']}"
              for path, entry in lock.items() if path and not entry.get("dev")}
    found = {f"{each['name']} {each['version']}" for each in told["components"]
             if each["purl"].startswith("pkg:npm/")}
    assert found == wanted and wanted, (found, wanted)


def check_unknown_library(scratch):
    """Checks that a program that links an unlisted library is refused, with the library's name."""
    program = scratch / "rankwright"
    source = "int main() { return 0; }"
    subprocess.run(["g++", "-x", "c++", "-", "-o", program, "-Wl,--no-as-needed", "-lresolv"], input=source,
                   text=True, check=True)
    done = subprocess.run([sys.executable, ROOT / "scripts" / "make_sbom", scratch / "none.json", program],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "libresolv.so.2: add a row to LIBRARIES" in done.stderr, done.stderr


def main(arguments):
    if not shutil.which("dpkg-query"):
        print("no dpkg: no versions of packages")
        sys.exit(77)
    build, web, *programs = [pathlib.Path(word).resolve() for word in arguments]
    scratch = build / "sbom_test"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    first = make(scratch / "first.json", programs, web)
    assert make(scratch / "second.json", programs, web) == first, "two of one build differ"
    told = json.loads(first)
    check_structure(told)
    files = check_complete(told, build, programs)
    check_page(told, web)
    check_unknown_library(scratch)
    print(f"{len(told['components'])} components; {files} libraries and headers are of them")


if __name__ == "__main__":
    main(sys.argv[1:])
