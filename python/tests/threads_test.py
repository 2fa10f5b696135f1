"""Searches run in parallel with each other and with Python, and stop on Ctrl-C."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import rankwright
from checkout import COURSE, LONG, SMALL

INTERRUPTED = f"""
import rankwright, sys, time
print("begins", flush=True)
try:
    rankwright.plan(**{LONG!r})
except KeyboardInterrupt:
    print("interrupted at", time.monotonic(), flush=True)
    print(rankwright.explain({COURSE!r}).world)
"""


class Threads(unittest.TestCase):
    def test_parallel_searches_find_the_same_plan(self):
        tasks = [{**SMALL, "tp": tp} for tp in (1, 2, 4, 8)]
        alone = [rankwright.plan(**task).data for task in tasks]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda task: rankwright.plan(**task).data, tasks * 2))
        self.assertEqual(together, alone * 2)

    def test_errors_belong_to_their_call(self):
        def code(plan):
            try:
                return rankwright.explain(plan).world
            except rankwright.Error as error:
                return error.findings[0].code

        plans = [COURSE, {**COURSE, "world_size": 65}] * 20
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(code, plans)), [64, "RW0102"] * 20)

    def test_python_threads_run_during_a_search(self):
        ticks, ended = [], threading.Event()

        def tick():
            while not ended.wait(0.01):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=tick)
        thread.start()
        begin = time.monotonic()
        rankwright.plan(model="llama-3.1-70b", cluster="dgx-h100 x 16", exhaustive=True)
        end = time.monotonic()
        ended.set()
        thread.join()
        during = [at for at in ticks if begin < at < end]
        # One per 10 ms on an idle machine; if the search held the GIL there would be none.
        self.assertGreater(len(during), (end - begin) / 0.01 / 10)


class CtrlC(unittest.TestCase):
    def test_raises_within_a_second(self):
        process = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.assertEqual(process.stdout.readline(), "begins\n")
        time.sleep(2)
        self.assertIsNone(process.poll(), "the search ended by itself")
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        self.assertTrue(line.startswith("interrupted at "), line)
        self.assertLess(float(line.split()[-1]) - sent, 1.0)
        # The module still works afterwards.
        self.assertEqual(process.stdout.readline(), "64\n")
        process.stdout.close()
        self.assertEqual(process.wait(60), 0)

    def test_signal_handlers_are_restored(self):
        before = signal.getsignal(signal.SIGINT)
        rankwright.plan(**SMALL)
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)


if __name__ == "__main__":
    unittest.main()
