#!/usr/bin/env python3
"""groff, mandoc and man read every manual page without a warning, and its text matches help.

    tests/man_pages_test.py build/release/bin/rankwright

Readers that are not installed are skipped with a message.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

READERS = {
    "groff": ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z"],
    "mandoc": ["mandoc", "-Tlint", "-Wwarning"],
    "man": ["man", "--warnings", "-l"],
}
# Pages are reproducible, so they have no date.
EXPECTED = re.compile(r'.*WARNING: missing date, using "": TH\n')


def faults(reader, file):
    done = subprocess.run(
        [*READERS[reader], file], capture_output=True, text=True, env={**os.environ, "MANWIDTH": "80"}
    )
    said = done.stderr + (done.stdout if reader == "mandoc" else "")
    return EXPECTED.sub("", said)


def main():
    program = sys.argv[1]

    def say(*args):
        return subprocess.run(
            [program, *args], capture_output=True, text=True, check=True
        ).stdout

    verbs = re.findall(r"^  ([a-z]+) ", say("help"), re.M)
    assert "check" in verbs and "help" in verbs, verbs
    readers = [name for name in READERS if shutil.which(name)]
    for name in READERS.keys() - set(readers):
        print(f"{name}: not installed, not tested")
    for verb in verbs:
        args = [] if verb == "help" else [verb]
        with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
            file.write(say("help", "--man", *args))
            file.flush()
            for reader in readers:
                assert not faults(reader, file.name), f"{verb}: {faults(reader, file.name)}"
    print(f"{len(verbs)} pages, read by {', '.join(readers)}")
    with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
        file.write(".TH X 1\n.SH NAME\nx \\- y\n.frobnicate\n")
        file.flush()
        for reader in readers:
            assert faults(reader, file.name), f"{reader} does not see an unknown macro"


main()
