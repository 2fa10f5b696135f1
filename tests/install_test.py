#!/usr/bin/env python3
"""The installed library can be found and linked, and gives the same answers as the installed tool.

    tests/install_test.py BUILD_FOLDER CMAKE CXX_COMPILER

Installs the components cli and dev into a folder of the build and moves the folder: installed files must
not contain the old path. examples/embed, shown in docs/how-to/embed.md, is configured against it, built and
run. The program stays there for same_answers_test.py.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/how-to/embed.md"
SOURCES = [ROOT / "examples/embed" / name for name in ("main.cc", "CMakeLists.txt")]
OPTIONS = ["model=llama-3.1-8b", "cluster=dgx-h100 x 2", "global-batch=64", "seq=8192", "no-pp=true"]


def run(*command):
    """Returns standard output. Prints the output of a command that fails."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_export(prefix):
    """Checks that the exported target names no file and no private target of this build."""
    texts = [file.read_text() for file in prefix.rglob("Rankwright*.cmake")]
    assert len(texts) == 4, f"config, version and two of targets: {len(texts)}"
    for text in texts:
        for private in ["rankwright_flags", "rankwright_page", "CLI11", "-Werror", str(ROOT)]:
            assert private not in text, f"{private} in what is installed"
    assert not list(prefix.rglob("runtime")), "headers that need libtorch"


def check_page():
    """Checks that the documentation page shows the program that is built here."""
    blocks = re.findall(r"^```(?:cpp|cmake)\n(.*?)^```\n", PAGE.read_text("utf-8"), re.M | re.S)
    for source in SOURCES:
        assert source.read_text("utf-8") in blocks, f"{PAGE} does not show {source}"


def main():
    check_page()
    build, cmake, compiler = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    scratch = build / "install_test"
    shutil.rmtree(scratch, ignore_errors=True)
    for component in ["cli", "dev"]:
        run(cmake, "--install", build, "--prefix", scratch / "made", "--component", component)
    prefix = scratch / "moved"
    (scratch / "made").rename(prefix)
    check_export(prefix)
    run(cmake, "-S", "examples/embed", "-B", scratch / "embed", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Debug")
    run(cmake, "--build", scratch / "embed")
    theirs = run(scratch / "embed" / "embed", *OPTIONS)
    flags = [f"--{option}" for option in OPTIONS[:-1]] + ["--no-pp"]
    ours = run(prefix / "bin" / "rankwright", "plan", *flags, "--json")
    assert theirs == ours, f"the library says\n{theirs}\nthe tool\n{ours}"
    print(f"{len(ours)} bytes of JSON, the same from the library and the tool")


main()
