#!/usr/bin/env python3
"""Ctrl-C during a search: the best plan so far is printed and written, marked as such, and the exit code
is 130. In any phase of the search, the program ends after at most half a second of processor time per core:
a busy machine makes nothing fail.

    tests/interrupt_test.py build/release/bin/rankwright

The search runs on a pseudo-terminal, so that its progress line shows when a plan was found.
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

# Long enough on any machine: everything that fits is evaluated.
COMMAND = ["plan", "--model", "llama-3.1-405b", "--cluster", "dgx-h100 x 512", "--exhaustive"]
PATIENCE = 120  # seconds


def started(binary, more=()):
    """Starts the process with standard error on a terminal. Returns it and the terminal's other end."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [binary, *COMMAND, *more], stdout=subprocess.PIPE, stderr=its, stdin=subprocess.DEVNULL
    )
    os.close(its)
    return process, ours


def wait_for(terminal, text):
    """Reads the terminal until `text` appears."""
    said, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            try:
                said += os.read(terminal, 65536)
            except OSError:  # the process has ended and its side is closed
                break
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
    assert "tokens/s/GPU" in text, text
    stopped = re.search(r"stopped early: the best of ([0-9.]+ %) of the layouts", " ".join(text.split()))
    assert stopped, text
    assert f"\n# stopped: the best of {stopped[1]} of the layouts\n" in written, written


def check_the_second_one_kills(binary):
    process, terminal = started(binary)
    wait_for(terminal, b" layouts")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    # Two signals may be merged into one; then only the first takes effect.
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    assert process.returncode in (-signal.SIGINT, 130), process.returncode


# Searches that are long for different reasons: many nodes, many layers, many experts, many searches.
LONG = [
    ["plan", "--model", "llama-3.1-405b", "--cluster", "wide.yaml"],
    ["plan", "--model", "deep.json", "--cluster", "dgx-h100 x 64"],
    ["plan", "--model", "deepseek-v3", "--cluster", "dgx-h100 x 32"],
    ["plan", "--model", "llama-3.1-405b", "--cluster", "dgx-h100", "--gpus", "8..4096"],
    ["plan", "--model", "llama-3.1-405b", "--cluster", "dgx-h100 x 4096", "--fit"],
    ["report", "plan.yaml", "-o", "plan.html"],
]
MOMENTS = [0.05, 0.3, 1.2, 4]  # seconds after the start
AT_ONCE = 0.5  # seconds of processor time per core
TRIES = 3  # what a process spends until its threads have seen the signal varies

DEEP = """{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
"intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 8192,
"vocab_size": 128256}"""
WIDE = """device: h100-sxm
levels: [{name: ib, arity: 720720, bandwidth: 50 GB/s, latency: 5 us}]
"""
PLAN = """model: deepseek-v3
cluster: dgx-h100 x 256
job: {global_batch: 4096}
parallelism: {tp_size: 1, pp_size: 16, dp_size: 128, ep_size: 64}
"""


def cpu_seconds(pid):
    """Returns the processor time that a process has spent."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds_to_end(binary, command, moment, folder):
    """Returns the processor time per core from SIGINT to the end of the process; None if it ended before."""
    process = subprocess.Popen(
        [binary, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        process.wait(moment)
        return None
    except subprocess.TimeoutExpired:
        pass
    before = cpu_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    end = time.monotonic() + PATIENCE
    # The process is left unreaped until its processor time is read.
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        assert time.monotonic() < end, (command, moment)
        time.sleep(0.01)
    spent = cpu_seconds(process.pid) - before
    process.wait()
    assert process.returncode in (130, -signal.SIGINT, 0), (command, process.returncode)
    return spent / len(os.sched_getaffinity(0))


def check_ends_at_once(binary):
    interrupted = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("deep.json", DEEP), ("wide.yaml", WIDE), ("plan.yaml", PLAN)):
            pathlib.Path(folder, name).write_text(text, "utf-8")
        for command in LONG:
            for moment in MOMENTS:
                taken = [seconds_to_end(binary, command, moment, folder)]
                while taken[-1] is not None and taken[-1] > AT_ONCE and len(taken) < TRIES:
                    taken.append(seconds_to_end(binary, command, moment, folder))
                assert taken[-1] is None or taken[-1] <= AT_ONCE, (command, moment, taken)
                interrupted += taken[-1] is not None
    assert interrupted >= len(LONG), interrupted  # else nothing was tested
    return interrupted


def main(arguments):
    binary = os.path.abspath(arguments[0])
    check_best_so_far(binary)
    check_the_second_one_kills(binary)
    interrupted = check_ends_at_once(binary)
    print(f"Ctrl-C: best so far, exit code 130; twice: ended; {interrupted} searches within {AT_ONCE} s of each core")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
