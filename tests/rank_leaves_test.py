#!/usr/bin/env python3
"""A rank that leaves in any way ends the run, and no process is left behind.

    tests/rank_leaves_test.py MPIRUN mpi_check
"""

import os
import subprocess
import sys
import time
import uuid

SECONDS = 30
CODES = {"abort": 3, "exit": 3, "kill": 128 + 9}  # the rank's exit code as mpirun reports it


def left_behind(mark):
    """Returns the processes whose environment has the mark."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(entry))
        except (OSError, ValueError):
            continue
    return found


def main(mpirun, program):
    faults = []
    for how, code in CODES.items():
        mark = f"RANK_LEAVES={uuid.uuid4()}"
        options = "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 3".split()
        began = time.monotonic()
        run = subprocess.run(
            [mpirun, *options, program, f"--leave={how}"],
            env={**os.environ, **dict([mark.split("=")])},
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        took = time.monotonic() - began
        while left_behind(mark) and time.monotonic() - began < SECONDS:
            time.sleep(0.1)
        if run.returncode != code:
            faults.append(f"{how}: mpirun ended with {run.returncode} and not with {code}")
        if left_behind(mark):
            faults.append(f"{how}: processes {left_behind(mark)} are left")
        print(f"{how}: all ranks ended after {took:.1f} s")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
