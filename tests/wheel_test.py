#!/usr/bin/env python3
"""The wheel of a build installs without dependencies into a clean environment and makes a plan there.

    tests/wheel_test.py BUILD_FOLDER

scripts/make_wheel builds the wheel of BUILD_FOLDER twice: both must have the same bytes. It is installed
without downloads, and the plan of the Python module is compared with the plan of the command.
scripts/check_wheel installs it into a minimal Debian. Skipped if PyPI cannot be reached, because the tools
that build a wheel come from there.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_BYTES = 15_000_000
MAX_SECONDS = 60  # from `pip install` to the first plan
BUNDLED = ["libfmt", "libpugixml", "libtbb", "libyaml-cpp"]
FILES = ["rankwright/__init__.py", "rankwright/__init__.pyi", "rankwright/_core.pyi",
         "rankwright/py.typed", "rankwright_command/__init__.py", "rankwright_command/rankwright"]
JOB = {"model": "llama-3.1-8b", "cluster": "dgx-h100 x 2", "global_batch": 64, "seq": 8192}
PLAN = f"""
import json, rankwright
print(json.dumps(rankwright.plan(**{JOB!r}).data))
print(rankwright.__version__, rankwright.__file__)
print(*sorted({{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}}))
"""


class Clean:
    """A virtual environment isolated from the repository, its build and the user's packages."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = folder / "bin"

    def run(self, *command):
        """Returns the standard output of a command of the environment. Exits if it fails."""
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env={
            "PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"})
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout


def make(build, folder):
    command = [sys.executable, str(ROOT / "scripts" / "make_wheel"), str(folder), "--from-build", str(build)]
    subprocess.run(command, check=True)
    [wheel] = folder.iterdir()
    return wheel


def check_file(wheel):
    """Checks the wheel's size, its contents, and the platform that auditwheel reports."""
    assert wheel.stat().st_size <= MAX_BYTES, f"{wheel.stat().st_size} bytes of {MAX_BYTES}"
    names = zipfile.ZipFile(wheel).namelist()
    for file in FILES:
        assert file in names, f"{wheel.name} has no {file}"
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names), "no license"
    assert any("licenses/third-party/" in name for name in names), "no licenses of bundled libraries"
    [bill] = [name for name in names if name.endswith("dist-info/sboms/rankwright.cdx.json")]
    listed = {each["name"] for each in json.loads(zipfile.ZipFile(wheel).read(bill))["components"]}
    assert {"fmt", "oneTBB", "pugixml", "pybind11", "yaml-cpp"} <= listed, listed
    for library in BUNDLED:
        assert any(name.startswith(f"rankwright.libs/{library}") for name in names), f"no {library}"
    tools = ROOT / "build" / "wheel" / "tools" / "bin"
    shown = subprocess.run([tools / "auditwheel", "show", wheel], check=True, capture_output=True,
                           text=True).stdout
    platform = re.search(r'following\s+platform\s+tag:\s+"(manylinux_\w+)"', shown)
    assert platform and platform[1] in wheel.name, f"{wheel.name} needs more than a manylinux policy:\n{shown}"
    return platform[1]


def check_libraries(loaded, clean, who):
    """Checks that libraries that Debian also has are loaded from the wheel."""
    for library in BUNDLED:
        files = [file for file in loaded if pathlib.Path(file).name.startswith(library)]
        assert files, f"{who} does not load {library}"
        for file in files:
            inside = clean.folder in pathlib.Path(file).resolve().parents
            assert inside, f"{who} loads {file} of the system"


def check_plans(clean):
    """Checks that Python and the command give the same first plan. Returns the version."""
    plan, version, maps = clean.run(clean.bin / "python", "-c", PLAN).splitlines()
    flags = [word for key, value in JOB.items() for word in (f"--{key.replace('_', '-')}", value)]
    printed = clean.run("rankwright", "plan", *flags, "--json")
    assert json.loads(plan) == json.loads(printed), "the module and the command plan differently"
    check_libraries(maps.split(), clean, "the module")
    version, file = version.split(maxsplit=1)
    assert clean.folder in pathlib.Path(file).parents, f"not the wheel's: {file}"
    assert version in clean.run("rankwright", "--version"), "module and command of two versions"
    return version


def check_command(clean, page):
    """Checks the program behind the command, and the page that it writes if the build has one."""
    [program] = clean.folder.glob("lib/python*/site-packages/rankwright_command/rankwright")
    listed = re.findall(r"=> (/\S+)", clean.run("ldd", program))
    check_libraries(listed, clean, "the command")
    if page:
        clean.run("rankwright", "report", ROOT / "examples" / "course-64.yaml", "--no-search", "-o",
                  clean.folder / "page.html")
        assert "<!doctype html>" in (clean.folder / "page.html").read_text().lower()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    scratch = build / "wheel_test"
    shutil.rmtree(scratch, ignore_errors=True)
    clean = Clean(scratch / "environment")
    subprocess.run([sys.executable, "-m", "venv", clean.folder], check=True)
    asked = subprocess.run(
        [clean.bin / "pip", "download", "--quiet", "--retries", "0", "--timeout", "15", "--no-deps",
         "--dest", scratch, "wheel"], capture_output=True, text=True)
    if asked.returncode != 0:
        print(f"PyPI cannot be reached:\n{asked.stderr}")
        sys.exit(77)

    start = time.monotonic()
    wheel = make(build, scratch / "first")
    print(f"made in {time.monotonic() - start:.1f} s")
    assert make(build, scratch / "second").read_bytes() == wheel.read_bytes(), "two wheels of one build"
    platform = check_file(wheel)

    start = time.monotonic()
    clean.run(clean.bin / "pip", "install", "--quiet", "--no-index", wheel)
    clean.run(clean.bin / "python", "-c", PLAN)
    seconds = time.monotonic() - start
    assert seconds < MAX_SECONDS, f"{seconds:.1f} s from pip install to the first plan"
    version = check_plans(clean)
    check_command(clean, (build / "web" / "page" / "report.html").exists())
    clean.run(clean.bin / "pip", "uninstall", "--quiet", "--yes", "rankwright")
    left = [path for path in clean.folder.rglob("*rankwright*")]
    assert not left, f"left behind: {left}"
    print(f"{version}, {platform}, {wheel.stat().st_size / 1e6:.1f} MB, first plan after {seconds:.1f} s")


main()
