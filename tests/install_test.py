#!/usr/bin/env python3
"""The installed library is found, built against and says what the installed tool says.

    tests/install_test.py BUILD_FOLDER CMAKE CXX_COMPILER

Installs the components cli and dev into a folder of the build, which is then moved: nothing that is
installed may know where that was. tests/consumer is configured against it, built and run.
"""

import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLANS = ["examples/course-64.yaml", "examples/deepseek-v3-2048.yaml"]


def run(*command):
    """Standard output; what failed is shown."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_export(prefix):
    """The exported target names no file of this build and none of its private targets."""
    texts = [file.read_text() for file in prefix.rglob("Rankwright*.cmake")]
    assert len(texts) == 4, f"config, version and two of targets: {len(texts)}"
    for text in texts:
        for private in ["rankwright_flags", "rankwright_page", "CLI11", "-Werror", str(ROOT)]:
            assert private not in text, f"{private} in what is installed"
    assert not list(prefix.rglob("runtime")), "headers that need libtorch"


def main():
    build, cmake, compiler = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    scratch = build / "install_test"
    shutil.rmtree(scratch, ignore_errors=True)
    for component in ["cli", "dev"]:
        run(cmake, "--install", build, "--prefix", scratch / "made", "--component", component)
    prefix = scratch / "moved"
    (scratch / "made").rename(prefix)
    check_export(prefix)
    run(cmake, "-S", "tests/consumer", "-B", scratch / "consumer", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Debug")
    run(cmake, "--build", scratch / "consumer")
    for plan in PLANS:
        theirs = float(run(scratch / "consumer" / "consumer", plan))
        said = json.loads(run(prefix / "bin" / "rankwright", "explain", plan, "--json"))
        ours = said["estimate"]["step"]["seconds"]
        assert theirs == ours > 0, f"{plan}: the library says {theirs} s, the tool {ours} s"
        print(f"{plan}: {ours} s")


main()
