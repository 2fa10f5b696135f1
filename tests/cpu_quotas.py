"""Cgroups that limit each rank to a fraction of a core, and helpers that end processes by id."""

import contextlib
import os
import signal
import time

PERIOD_US = 10_000  # of a CPU quota: the shortest at which a quota of 0.1 is still the minimum of 1 ms


class Unavailable(Exception):
    """Raised with the reason why this machine does not support it."""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def waited(condition, seconds):
    """Waits up to `seconds`. Returns whether the condition became true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def end_processes(numbers, patience=3):
    """Ends the processes that `numbers()` lists, by id, and waits until it lists none."""
    for which in (signal.SIGTERM, signal.SIGKILL):
        for number in numbers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, which)
        if waited(lambda: not numbers(), patience):
            return
    raise RuntimeError(f"processes do not end: {numbers()}")


def remove_folder(path):
    """Removes a cgroup's folder, which is busy until the kernel has reaped its processes."""

    def gone():
        with contextlib.suppress(OSError):
            os.rmdir(path)
        return not os.path.isdir(path)

    if not waited(gone, 3):
        raise RuntimeError(f"{path} cannot be removed")


class Cgroup:
    """A cgroup with one child per rank; version 1 or 2, whichever has the `cpu` controller."""

    def __init__(self, name, mounts="/proc/self/mountinfo"):
        with open(mounts, encoding="utf-8") as file:
            self.version, self.parent = self.hierarchy(file.read())
        self.path = os.path.join(self.parent, name)

    @staticmethod
    def hierarchy(mounts):
        """Returns (version, folder) of the hierarchy that controls CPU time."""
        second = None
        for line in mounts.splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split(" ", 2)
            folder = before.split(" ")[4]
            if kind == "cgroup" and "cpu" in options.split(","):
                return 1, folder
            if kind == "cgroup2":
                second = folder
        if second is not None:
            with contextlib.suppress(OSError):
                with open(os.path.join(second, "cgroup.controllers"), encoding="utf-8") as file:
                    if "cpu" in file.read().split():
                        return 2, second
        raise Unavailable("no cgroup hierarchy with the cpu controller is mounted")

    def make(self):
        try:
            os.mkdir(self.path)
            if self.version == 2:
                for folder in (self.parent, self.path):
                    write(os.path.join(folder, "cgroup.subtree_control"), "+cpu")
        except OSError as error:
            raise Unavailable(f"cgroups cannot be written: {error}") from error

    def add(self, rank, quota):
        """Adds a cgroup for this rank, limited to `quota` cores."""
        share = round(quota * PERIOD_US)
        if share < 1000:
            raise ValueError(f"the kernel's least quota is {1000 / PERIOD_US:g} core, not {quota}")
        folder = os.path.join(self.path, str(rank))
        os.mkdir(folder)
        if self.version == 2:
            write(os.path.join(folder, "cpu.max"), f"{share} {PERIOD_US}")
        else:
            write(os.path.join(folder, "cpu.cfs_period_us"), str(PERIOD_US))
            write(os.path.join(folder, "cpu.cfs_quota_us"), str(share))
        return folder

    def ranks(self):
        """Returns the folders of the ranks' cgroups."""
        if not os.path.isdir(self.path):
            return []
        return [entry.path for entry in os.scandir(self.path) if entry.is_dir()]

    def processes(self):
        found = []
        for folder in self.ranks():
            with contextlib.suppress(OSError):
                with open(os.path.join(folder, "cgroup.procs"), encoding="utf-8") as file:
                    found += map(int, file.read().split())
        return found

    def clear(self):
        """Ends the remaining processes in the ranks' cgroups and removes the cgroups."""
        end_processes(self.processes)
        for folder in self.ranks():
            remove_folder(folder)

    def remove(self):
        self.clear()
        if os.path.isdir(self.path):
            remove_folder(self.path)
