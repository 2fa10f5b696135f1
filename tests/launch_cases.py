"""Shared by the launcher tests: plans on 4 hosts with 2 devices each, the placement of their ranks, and
processes that always end with the test.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time

HOSTS, DEVICES = 4, 2  # hosts, and devices per host
SKIPPED = 77  # ctest's SKIP_RETURN_CODE

PLAN = """\
world_size: {world}
model: llama-3.2-1b
parallelism: {{dp_size: {world}}}
placement: {placement}
cluster:
  device: h100-sxm
  levels:
    - {{name: nvlink, arity: 2, bandwidth: 450 GB/s, latency: 2 us}}
    - {{name: infiniband, arity: 4, bandwidth: 50 GB/s, latency: 5 us}}
"""

ORDER = [2, 0, 3, 1]
LIST = [7, 1, 0, 4, 5, 6, 3, 2]
PART = [6, 7, 1, 0]

# By name: ranks, plan keys, and the device of each rank, worked out by hand and not by the program:
# device d is device d mod 2 of host d div 2.
CASES = {
    "block": (8, "block", [rank for rank in range(8)]),
    "cyclic": (8, "cyclic", [rank % HOSTS * DEVICES + rank // HOSTS for rank in range(8)]),
    "hosts": (8, f"{{hosts: {ORDER}}}", [ORDER[r // DEVICES] * DEVICES + r % 2 for r in range(8)]),
    "ranks": (8, f"{{ranks: {LIST}}}", LIST),
    "two_hosts": (4, f"{{ranks: {PART}}}", PART),
}


def expected(devices, names):
    """Returns [(rank, host, device of that host)]."""
    return [(r, names[d // DEVICES], d % DEVICES) for r, d in enumerate(devices)]


def write_plan(case, path):
    world, placement, _ = CASES[case]
    with open(path, "w", encoding="utf-8") as file:
        file.write(PLAN.format(world=world, placement=placement))
    return path


def export(binary, plan, target, output, hosts=None):
    more = ["--hosts", hosts] if hosts else []
    subprocess.run([binary, "export", plan, "--to", target, "-o", output, *more], check=True)


def own_device(visible, local_rank):
    """Returns the device that `cuda:LOCAL_RANK` is, given CUDA_VISIBLE_DEVICES."""
    return int(visible.split(",")[local_rank]) if visible else local_rank


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need(*programs):
    if os.geteuid() != 0:
        skip("this takes root")
    for program in programs:
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            skip(f"there is no {program}")


def end_on_signals():
    """Makes SIGTERM and Ctrl-C unwind the stack like an exception."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda which, _: sys.exit(128 + which))


def wait_for(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.05)


def die_with_parent():
    """In a child: has the kernel kill it when the test dies, even if the test cannot clean up."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Daemons:
    """Foreground processes of a test, ended by id in reverse order."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def start(self, name, command, env=None):
        with open(os.path.join(self.folder, name + ".out"), "ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=env,
                preexec_fn=die_with_parent,
            )
        self.running.append((name, process))
        return process

    def check(self):
        for name, process in self.running:
            if process.poll() is not None:
                raise AssertionError(f"{name} ended with {process.returncode}")

    def stop(self):
        for name, process in reversed(self.running):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                print(f"{name} does not end: killed")
                process.kill()
                process.wait(5)
        self.running = []


def processes_of(folder):
    """Returns the ids of the processes that this test started, found by the folder in their environment
    or command line, even if they were reparented."""
    mark, found = folder.encode(), []
    for number in filter(str.isdigit, os.listdir("/proc")):
        if int(number) == os.getpid():
            continue
        try:
            with open(f"/proc/{number}/environ", "rb") as environ:
                text = environ.read()
            with open(f"/proc/{number}/cmdline", "rb") as line:
                text += line.read()
        except OSError:
            continue  # it has ended, or belongs to another user
        if mark in text:
            found.append(int(number))
    return found


def end_what_is_left(folder, patience=5):
    """Ends what is left after `patience` seconds. Returns whether there was anything."""
    end = time.monotonic() + patience
    while processes_of(folder) and time.monotonic() < end:
        time.sleep(0.05)
    left = processes_of(folder)
    for number in left:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return left


def show_logs(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith((".out", ".log")):
            with open(os.path.join(folder, name), errors="replace", encoding="utf-8") as log:
                print(f"--- {name}\n{log.read()[-3000:]}")
