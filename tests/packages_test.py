#!/usr/bin/env python3
"""Checks the contents of the Debian packages, and that the unpacked tool runs.

    tests/packages_test.py BUILD_FOLDER CPACK

scripts/check_packages installs them into a minimal Debian. Skipped if dpkg is missing.
"""

import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Per package: some of its files, and words of its control file.
PACKAGES = {
    "rankwright": (
        ["bin/rankwright", "share/man/man1/rankwright.1", "share/man/man1/rankwright-check.1",
         "share/bash-completion/completions/rankwright",
         "share/zsh/vendor-completions/_rankwright",
         "share/fish/vendor_completions.d/rankwright.fish",
         "share/doc/rankwright/copyright", "share/doc/rankwright/rankwright.cdx.json",
         "share/doc/rankwright/examples/course-64.yaml"],
        ["libyaml-cpp", "libtbb", "Section: science"],
    ),
    "librankwright-dev": (
        ["include/rankwright/cost/estimate.h", "share/doc/librankwright-dev/copyright"],
        ["libfmt-dev", "libyaml-cpp-dev", "Section: libdevel"],
    ),
    "rankwright-runtime": (
        ["libexec/rankwright-runtime", "libexec/rankwright-loopback.so",
         "share/doc/rankwright-runtime/copyright",
         "share/doc/rankwright-runtime/rankwright-runtime.cdx.json"],
        ["rankwright (= ", "libtorch", "openmpi-bin", "Section: science"],
    ),
}


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(package, folder):
    """Checks the package's files and control file, and unpacks it into `folder`."""
    name = run("dpkg-deb", "-f", package, "Package").strip()
    files, words = PACKAGES[name]
    control = run("dpkg-deb", "-f", package)
    for word in words:
        assert word in control, f"{name}: no {word!r} in\n{control}"
    run("dpkg-deb", "-x", package, folder)
    inside = {line.split()[5] for line in run("dpkg-deb", "-c", package).splitlines()}
    for file in files:
        assert f"./usr/{file}" in inside, f"{name} has no {file}"
    strangers = [file for file in inside if not f"{file}/".startswith(("./usr/", "././"))]
    assert set(strangers) <= {"./"}, f"{name} leaves /usr: {strangers}"
    others = [file for file in inside if file.endswith(("_test.cc", ".o", "_test.h"))]
    assert not others, f"{name}: {others}"
    return name


def main():
    if not shutil.which("dpkg-shlibdeps"):
        print("no dpkg-shlibdeps: no packages")
        sys.exit(77)
    build, cpack = pathlib.Path(sys.argv[1]), sys.argv[2]
    made, unpacked = build / "packages_test", build / "packages_test" / "unpacked"
    shutil.rmtree(made, ignore_errors=True)
    run(cpack, "-D", f"CPACK_OUTPUT_FILE_PREFIX={made}", cwd=build)
    names = {check(package, unpacked) for package in made.glob("*.deb")}
    assert {"rankwright", "librankwright-dev"} <= names, names
    tool = unpacked / "usr" / "bin" / "rankwright"
    plan = unpacked / "usr" / "share" / "doc" / "rankwright" / "examples" / "course-64.yaml"
    said = json.loads(run(tool, "explain", plan, "--json"))
    assert said["estimate"]["step"]["seconds"] > 0
    if "rankwright-runtime" in names:
        # The runtime is found where the package installs it: a single rank reports what it lacks.
        assert "rankwright-runtime" not in subprocess.run(
            [tool, "run", "no-such-plan.yaml"], capture_output=True, text=True, check=False
        ).stderr
    print(", ".join(sorted(names)))


main()
