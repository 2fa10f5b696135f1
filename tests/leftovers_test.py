#!/usr/bin/env python3
"""`rankwright run --local` leaves no files in shared memory or temporary folders, whichever of its
processes is killed with SIGKILL.

    tests/leftovers_test.py build/release/bin/rankwright

If a rank, mpirun or the launcher is killed alone, everything is gone soon after. If all processes are
killed at once, the next run removes the files.
"""

import os
import signal
import sys
import tempfile

import launch_cases as cases
import local_network_test
import run_test

PATIENCE = 20  # seconds
SHARED = "/dev/shm"


class Files:
    """The files of MPI and the launcher for the runs of a bench. Folders of other runs on this machine are
    distinguished by the launcher's process id in their names."""

    def __init__(self, bench):
        self.bench, self.pids = bench, []
        self.before = self.of_mpi()

    def start_long(self):
        process = self.bench.start_long("--quiet")
        self.pids.append(process.pid)
        return process

    def of_mpi(self):
        return {os.path.join(folder, name) for folder in (self.bench.folder, SHARED)
                for name in os.listdir(folder) if name.startswith(("ompi.", "vader_segment", "pmix"))}

    def left(self):
        own = tuple(f"rankwright-{os.geteuid()}-{pid}-" for pid in self.pids)
        folders = {os.path.join(SHARED, name) for name in os.listdir(SHARED) if name.startswith(own)}
        return sorted(folders | self.of_mpi() - self.before)


def mpirun_of(process):
    """Returns the process id of the mpirun that a launcher started."""
    for pid in local_network_test.tree_of(process.pid):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if os.path.basename(file.read().split(b"\0")[0]) == b"mpirun":
                return pid
    raise AssertionError("no mpirun")


def check_killed(bench, files, what, victim):
    """Kills the process victim(process), by its id, during training."""
    process = files.start_long()
    assert files.left(), "a run keeps files nowhere: this test looks at the wrong folders"
    os.kill(victim(process), signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    bench.nothing_left(PATIENCE)
    cases.wait_for(f"files of a run whose {what} was killed to go: {files.left()}",
                   lambda: not files.left(), PATIENCE)
    print(f"{what} killed: no process and no file is left")


def check_all_killed(bench, files):
    process = files.start_long()
    for pid in cases.processes_of(bench.folder):
        os.kill(pid, signal.SIGSTOP)  # so that none reacts when another ends
    for pid in cases.processes_of(bench.folder):
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    bench.nothing_left(PATIENCE)
    left = files.left()
    assert left, "somebody removed the files of a run whose processes were all killed"
    other = files.start_long()  # removes the old files and keeps its own
    assert not set(left) & set(files.left()), files.left()
    assert files.left()
    process = bench.start([bench.binary, "run", bench.plan, "--local", "--steps", "1", "--quiet"])
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert files.left() and other.poll() is None, "the files of a run that goes on were removed"
    other.send_signal(signal.SIGINT)
    other.communicate(timeout=60)
    assert other.returncode == 130, other.returncode
    bench.nothing_left(PATIENCE)
    assert not files.left(), files.left()
    print("all killed at once: the next run removes the files, and not those of a run that goes on")


def main(arguments):
    binary = os.path.abspath(arguments[0])
    if not os.access(os.path.join(os.path.dirname(binary), "rankwright-runtime"), os.X_OK):
        cases.skip("the runtime was not built")
    cases.end_on_signals()
    with tempfile.TemporaryDirectory(prefix="run-leftovers-") as folder:
        bench = run_test.Bench(binary, folder)
        files = Files(bench)
        try:
            check_killed(bench, files, "rank 3", lambda process: run_test.ranks_of(bench)[3])
            check_killed(bench, files, "mpirun", mpirun_of)
            check_killed(bench, files, "launcher", lambda process: process.pid)
            check_all_killed(bench, files)
        finally:
            cases.end_what_is_left(folder, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
