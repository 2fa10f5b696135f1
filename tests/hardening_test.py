#!/usr/bin/env python3
"""Checks in ELF headers and imports that the shipped programs are hardened.

    tests/hardening_test.py PROGRAM...

Each is position-independent, has all its symbols bound before it starts (full RELRO), no executable
stack, and calls the stack protector and fortified functions of libc.
"""

import re
import subprocess
import sys


def readelf(flag, program):
    return subprocess.run(["readelf", "-W", flag, program], check=True, capture_output=True, text=True).stdout


def faults_of(program):
    """Returns what `program` lacks, as sentences."""
    header, dynamic = readelf("-h", program), readelf("-d", program)
    segments, symbols = readelf("-l", program), readelf("--dyn-syms", program)
    imported = set(re.findall(r" UND (\w+)", symbols))
    stack = re.search(r"GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+(\w+)", segments)
    found = []
    if not re.search(r"Type:\s+DYN", header):
        found.append("is not position-independent (-fPIE -pie)")
    if not re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", dynamic):
        found.append("binds symbols lazily (-Wl,-z,now)")
    if "GNU_RELRO" not in segments:
        found.append("has no read-only relocations (-Wl,-z,relro)")
    if not stack or "E" in stack[1]:
        found.append("has an executable stack (-Wl,-z,noexecstack)")
    if "__stack_chk_fail" not in imported:
        found.append("has no stack protector (-fstack-protector-strong)")
    if not any(re.fullmatch(r"__\w+_chk", name) for name in imported):
        found.append("calls no fortified function (-D_FORTIFY_SOURCE=2)")
    return [f"{program} {fault}" for fault in found]


def main(programs):
    assert programs, "no program given"
    faults = [fault for program in programs for fault in faults_of(program)]
    print("\n".join(faults) or f"{len(programs)} programs are hardened")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
