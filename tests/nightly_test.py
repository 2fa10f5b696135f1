"""scripts/nightly runs the rows of a small table, continues after a failure, and stops what it started."""
import importlib.machinery
import importlib.util
import io
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).parent.parent / "scripts" / "nightly"


def load():
    """Loads the script as a separate module, so that a test may change its table."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("nightly", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("nightly", loader))
    sys.modules["nightly"] = module
    loader.exec_module(module)
    return module


nightly = load()
Check = nightly.Check


def run(checks, *names):
    """Returns the exit code, the printed table and the logs by name."""
    with tempfile.TemporaryDirectory() as folder:
        nightly.CHECKS, nightly.LOGS = checks, pathlib.Path(folder) / "logs"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            code = nightly.main(list(names))
        logs = {file.stem: file.read_text() for file in nightly.LOGS.iterdir()}
    return code, printed.getvalue(), logs


class Nightly(unittest.TestCase):
    def test_passing_checks_print_one_table(self):
        checks = [Check("one", "", "echo === done"), Check("three", "", "echo a; echo b >&2")]
        self.assertEqual(run(checks), (
            0,
            "check  result  seconds  what it says\n"
            "one    passed        0  done\n"
            "three  passed        0  b\n",
            {"one": "=== done\n", "three": "a\nb\n"},
        ))

    def test_failure_does_not_stop_other_checks(self):
        code, table, logs = run([Check("bad", "", "echo why; exit 3"), Check("good", "", "echo fine")])
        self.assertEqual(code, 1)
        self.assertIn("bad    FAILED        0  exit code 3: why\n", table)
        self.assertIn("good   passed        0  fine\n", table)
        self.assertEqual(set(logs), {"bad", "good"})

    def test_check_whose_build_failed_is_not_run(self):
        checks = [Check("build", "", "false"), Check("use", "", "echo ran", needs=("build",))]
        code, table, logs = run(checks)
        self.assertEqual(code, 1)
        self.assertIn("use    not run        0  needs build\n", table)
        self.assertEqual(set(logs), {"build"})

    def test_named_check_runs_with_what_it_needs(self):
        checks = [Check("build", "", "true"), Check("other", "", "true"),
                  Check("use", "", "true", needs=("build",))]
        code, _, logs = run(checks, "use")
        self.assertEqual((code, set(logs)), (0, {"build", "use"}))

    def test_unknown_name_lists_the_names(self):
        with self.assertRaisesRegex(SystemExit, "no check 'thre'; it is one of one, three"):
            nightly.chosen([Check("one", "", ""), Check("three", "", "")], ["thre"])

    def test_check_that_takes_too_long_is_stopped(self):
        code, table, _ = run([Check("slow", "", "sleep 600", limit=1), Check("next", "", "true")])
        self.assertEqual(code, 1)
        self.assertRegex(table, r"slow   FAILED        [12]  stopped after 1 s\nnext   passed")

    def test_summary_may_fail_a_check(self):
        code, table, _ = run([Check("fuzz", "", "true", nightly.fuzz)])
        self.assertEqual(code, 1)
        self.assertIn("FAILED        0  no reader was fuzzed\n", table)

    def test_interrupt_stops_what_the_check_started(self):
        with tempfile.TemporaryDirectory() as folder:
            child = pathlib.Path(folder) / "child"
            code = (f"import sys; sys.path.insert(0, {str(SCRIPT.parent.parent / 'tests')!r})\n"
                    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                    "import nightly_test as t, pathlib\n"
                    f"t.nightly.LOGS = pathlib.Path({folder!r}) / 'logs'\n"
                    f"t.nightly.CHECKS = [t.Check('slow', '', 'sleep 600 & echo $! >{child}; wait'),"
                    " t.Check('never', '', 'true')]\n"
                    "sys.exit(t.nightly.main([]))\n")
            process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            until = time.monotonic() + 30
            while not (child.exists() and child.read_text().strip()) and time.monotonic() < until:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            table, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, table)
            self.assertIn("slow   stopped", table)
            self.assertIn("never  not run", table)
            state = pathlib.Path(f"/proc/{int(child.read_text())}/stat")

            def running():
                try:
                    return state.read_text().split()[2] != "Z"
                except (FileNotFoundError, ProcessLookupError):
                    return False

            until = time.monotonic() + 10  # a signal takes a while on a busy machine
            while running() and time.monotonic() < until:
                time.sleep(0.05)
            self.assertFalse(running(), "still running")

    def test_summaries_parse_the_output_of_checks(self):
        self.assertEqual(nightly.parity("1 ranks: 6 layouts, 0 failed\n8 ranks: 1500 layouts, 2 failed\n"),
                         "1,506 layouts, 2 failed")
        self.assertEqual(nightly.fuzz("plan            12000 executions     900 edges  ok\n"
                                      "csv               500 executions      30 edges  ok\n"),
                         "2 readers, 12,500 executions")
        self.assertEqual(nightly.browser("# tests 9\n# pass 8\n# fail 1\n"), "8 tests passed, 1 failed")
        self.assertEqual(
            nightly.wheel("a.whl: 6.4 MB\nfrom pip install to the first plan: 1581 ms\n=== all\n"),
            "6.4 MB, first plan 1.6 s after pip install")
        self.assertEqual(nightly.built("[1/20] a\n[20/20] b\n"), "20 build steps")
        with self.assertRaises(nightly.Wrong):
            nightly.accuracy("all 1,737 99.0 % +0.3 % 18.3 % -62.8 %  which\n")

    def test_real_table_is_listed_and_names_files_that_exist(self):
        done = subprocess.run([sys.executable, str(SCRIPT), "--list"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {"accuracy", "advisories", "browser", "fuzz", "lockfile", "packages", "parity", "tidy", "wheel"}
        self.assertLessEqual(names, {line.split()[0] for line in done.stdout.splitlines()})
        words = [word for word in done.stdout.split() if word.startswith(("scripts/", "tests/"))]
        self.assertGreater(len(words), 4)
        for word in words:
            self.assertTrue(os.path.exists(SCRIPT.parent.parent / word), word)


if __name__ == "__main__":
    unittest.main()
