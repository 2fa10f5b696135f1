#!/usr/bin/env python3
"""Ctrl-C in the middle of a search: the best so far is printed and written, both times said to be that,
and the exit code is 130.

    tests/interrupt_test.py build/release/bin/rankwright

The search runs on a terminal of its own, so that its progress line says when something was found.
"""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

# Long enough on any machine: everything that fits is priced.
COMMAND = ["plan", "--model", "llama-3.1-405b", "--cluster", "dgx-h100 x 512", "--exhaustive"]
PATIENCE = 120  # seconds


def started(binary, more=()):
    """The process, with standard error on a terminal whose other end is returned."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [binary, *COMMAND, *more], stdout=subprocess.PIPE, stderr=its, stdin=subprocess.DEVNULL
    )
    os.close(its)
    return process, ours


def wait_for(terminal, text):
    """Reads the terminal until it says `text`."""
    said, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 65536)
            if text in said:
                return
    raise AssertionError(f"no {text!r} in {said[-500:]!r}")


def check_best_so_far(binary):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "plan.yaml"
        process, terminal = started(binary, ["-o", str(file)])
        wait_for(terminal, b", best ")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        written = file.read_text("utf-8")
    text = out.decode("utf-8")
    assert process.returncode == 130, process.returncode
    assert "Stopped: best so far of " in text, text
    assert "tokens/s/GPU" in text, text
    assert "not looked at" in text, text
    share = re.search(r"best so far of ([0-9.]+\s*%)", " ".join(text.split()))[1]
    assert f"\n# stopped: the best of {share} of the space\n" in written, written


def check_the_second_one_kills(binary):
    process, terminal = started(binary)
    wait_for(terminal, b"layouts decided")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    # Both may arrive as one: then the first is all that was sent.
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    assert process.returncode in (-signal.SIGINT, 130), process.returncode


def main(arguments):
    binary = os.path.abspath(arguments[0])
    check_best_so_far(binary)
    check_the_second_one_kills(binary)
    print("Ctrl-C: best so far, exit code 130; twice: ended")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
