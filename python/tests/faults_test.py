"""Errors raise Error, with the command line's text and its parts."""

import json
import os
import pickle
import unittest

import rankwright
from checkout import COURSE, ROOT, SMALL, command

BROKEN = "world_size: 64\nparallelism:\n  tp_size: 8\n  pp_size: four\n  dp_size: 2\n"


class Faults(unittest.TestCase):
    def raised(self, function, *args, **flags):
        with self.assertRaises(rankwright.Error) as caught:
            function(*args, **flags)
        return caught.exception

    def test_error_text_equals_the_command_line(self):
        for words, call in (
            (("explain", "-"), lambda: rankwright.explain(BROKEN)),
            (("report", "-", "--json"), lambda: rankwright.report(BROKEN)),
            (("export", "-", "--to", "megatron"), lambda: rankwright.export(BROKEN, "megatron")),
            (("plan", "-"), lambda: rankwright.plan(own=BROKEN)),
        ):
            error = self.raised(call)
            shown = command(*words, text=BROKEN)
            self.assertEqual(str(error), shown.stderr.rstrip("\n"))
            self.assertEqual(error.code, shown.returncode)
            self.assertEqual((error.findings[0].line, error.findings[0].column), (4, 12))
            self.assertRegex(error.findings[0].code, r"^RW\d{4}$")
            self.assertIn("four", error.findings[0].detail)

    def test_error_findings_equal_check(self):
        wrong = {**COURSE, "world_size": 65}
        error = self.raised(rankwright.explain, wrong)
        self.assertEqual(error.code, 2)
        self.assertEqual(error.findings[0].code, "RW0102")
        self.assertIn(error.findings[0], rankwright.check(wrong))

    def test_check_returns_reading_errors(self):
        found = rankwright.check(BROKEN)
        self.assertEqual(found[0].line, 4)
        self.assertEqual(found[0].severity, "error")
        named = rankwright.check({**COURSE, "model": "/nowhere/config.json"})
        self.assertEqual((named[0].code, named[0].key), ("RW0910", "model"))

    def test_explain_has_the_findings_of_check(self):
        misspelled = {**COURSE, "parallelism": {**COURSE["parallelism"], "tp": 4}}
        found = rankwright.explain(misspelled).findings
        self.assertIn("RW0902", [finding.code for finding in found])
        self.assertEqual(found, list(rankwright.check(misspelled)))

    def test_checked_is_ok_without_errors(self):
        self.assertFalse(rankwright.check({**COURSE, "world_size": 65}).ok)
        checked = rankwright.check(COURSE)
        self.assertTrue(checked.ok and not checked.errors)
        self.assertEqual({finding.severity for finding in checked.warnings}, {"warning"})

    def test_check_raises_for_missing_files_and_names(self):
        for words in (["/nowhere/plan.yaml"], ["-", "--model=lama"], ["-", "--cluster=/nowhere/c.yaml"]):
            shown = command("check", *words, text=json.dumps(COURSE))
            flags = dict(word[2:].split("=") for word in words[1:])
            plan = COURSE if words[0] == "-" else words[0]
            error = self.raised(rankwright.check, plan, **flags)
            self.assertEqual(str(error), shown.stdout.rstrip("\n"))
            self.assertEqual(error.code, shown.returncode)
            self.assertIn(error.findings[0].code, ("RW0908", "RW0910"))
        for function in (rankwright.check, rankwright.explain, rankwright.validate):
            with self.assertRaisesRegex(ValueError, "empty"):
                function("")

    def test_unknown_names_suggest_the_nearest(self):
        error = self.raised(rankwright.plan, **{**SMALL, "model": "llama-3.1-8B-"})
        self.assertIn("llama-3.1-8b", error.findings[0].help)
        error = self.raised(rankwright.check, COURSE, for_="megatorn")
        self.assertEqual(error.findings[0].code, "")
        self.assertEqual(error.findings[0].message, "unknown target 'megatorn'")
        self.assertEqual(error.findings[0].help, "did you mean megatron?")
        self.assertEqual(error.code, 64)

    def test_invalid_calls_raise_with_help(self):
        error = self.raised(rankwright.plan, **SMALL, tp=8, max_tp=4)
        self.assertIn("contradicts", str(error))
        self.assertEqual(str(error), f"rankwright plan: {error.findings[0].message}\n"
                                     f"  help: {error.findings[0].help}")  # fmt: skip
        self.raised(rankwright.compare, COURSE)
        self.raised(rankwright.catalog, "planets")

    def test_missing_files_raise(self):
        for call in (
            lambda: rankwright.explain("/nowhere/plan.yaml"),
            lambda: rankwright.validate("/nowhere/runs.csv"),
            lambda: rankwright.import_("/nowhere/train.sh"),
            lambda: rankwright.compare(COURSE, log="/nowhere/run.log"),
        ):
            self.assertIn("/nowhere/", str(self.raised(call)))

    def test_plan_without_a_fit_is_falsy(self):
        planned = rankwright.plan(model="llama-3.1-405b", cluster="dgx-h100 x 1")
        self.assertFalse(planned)
        self.assertIsNone(planned.best)
        shown = command("plan", "--model=llama-3.1-405b", "--cluster=dgx-h100 x 1")
        self.assertEqual(str(planned) + "\n", shown.stdout)
        error = self.raised(rankwright.export, planned, "megatron")
        self.assertEqual((error.code, str(error)), (2, str(planned)))

    def test_errors_can_be_pickled(self):
        error = self.raised(rankwright.explain, BROKEN)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual(str(again), str(error))
        self.assertEqual((again.findings, again.code), (error.findings, error.code))

    def test_views_without_an_estimate_keep_their_own_keys(self):
        rank = rankwright.explain(COURSE, rank=17)
        self.assertEqual(rank.memory["capacity_bytes"], rank.data["memory"]["capacity_bytes"])
        for view in ("sensitivity", "timeline"):
            explained = rankwright.explain(COURSE, **{view: True})
            self.assertEqual(explained.step_seconds, explained.data["step_seconds"])
        code = rankwright.explain("RW0301")
        for name in ("step_seconds", "mfu", "items", "memory"):
            self.assertFalse(hasattr(code, name), name)

    def test_results_behave_like_maps(self):
        explained = rankwright.explain(COURSE)
        self.assertIn("headline", explained)
        self.assertNotIn(0, explained.estimate)
        self.assertEqual(list(explained), list(explained.data))
        self.assertEqual(len(explained), len(explained.data))
        self.assertEqual(dict(explained), explained.data)
        self.assertIsNone(explained.get("stepp"))

    def test_missing_attributes_raise(self):
        explained = rankwright.explain(COURSE)
        with self.assertRaisesRegex(AttributeError, "known keys: schema, headline"):
            explained.stepp
        with self.assertRaises(KeyError):
            explained["stepp"]


if __name__ == "__main__":
    os.chdir(ROOT)
    unittest.main()
