"""Notebook tables: no text of a file becomes markup."""

import html.parser
import os
import pathlib
import tempfile
import unittest

import rankwright
from checkout import COURSE, DATA, EXAMPLES, SMALL

HOSTILE = "<img src=x onerror=alert(1)>\"'&"


class Tags(html.parser.HTMLParser):
    """Collects the tags, their attributes, and the text of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.text += data


def forms():
    """Returns every form of every function's result, by name."""
    llama = {"model": "llama-3.1-8b", "cluster": "dgx-h100 x 2"}
    gpt, logs = EXAMPLES / "gpt3-175b-1024.yaml", DATA / "import"
    planned = rankwright.plan(**SMALL)
    runs = rankwright.validate(DATA / "validation/runs.csv")
    return {
        "plan": planned,
        "plan, a fit": rankwright.plan(**llama, fit=True),
        "plan, an own one": rankwright.plan(own=EXAMPLES / "gpt2-tiny-tp2-pp2-dp2.yaml"),
        "plan, nothing fits": rankwright.plan(model="llama-3.1-405b", cluster="dgx-h100 x 1"),
        "plan, counts": rankwright.plan(**llama, gpus=(8, 16)),
        "plan, counts and money": rankwright.plan(**llama, gpus=(8, 16), tokens=1e12, price=2),
        "plan, counts, none fits": rankwright.plan(
            model="llama-3.1-405b", cluster="dgx-h100 x 2", gpus=(8, 16)
        ),
        "check": rankwright.check(COURSE),
        "check, errors": rankwright.check({**COURSE, "world_size": 65}),
        "explain": rankwright.explain(COURSE),
        "explain, a rank": rankwright.explain(COURSE, rank=17),
        "explain, stages": rankwright.explain(COURSE, stages=True),
        "explain, sensitivity": rankwright.explain(COURSE, sensitivity=True),
        "explain, rivals": rankwright.explain(planned, sensitivity=True, against=planned),
        "explain, a timeline": rankwright.explain(COURSE, timeline=True),
        "explain, faults": rankwright.explain(COURSE, slow=("17:1.3x", "18:1.2x"), fail=3),
        "explain, a slow link": rankwright.explain(COURSE, slow_link="infiniband:0.5x"),
        "explain, a code": rankwright.explain("RW0301"),
        "explain, a key": rankwright.explain("zero_stage"),
        "compare": rankwright.compare(COURSE, planned),
        "compare, timers": rankwright.compare(gpt, log=logs / "slow-nvlink.log"),
        "compare, a step": rankwright.compare(gpt, log=logs / "step-alone.log"),
        "compare, no step": rankwright.compare(
            DATA / "plans/llama-8b-oom.yaml", log=logs / "oom.log"
        ),
        "report": rankwright.report(COURSE),
        "export": rankwright.export(planned, "megatron"),
        "import, a plan": rankwright.import_(logs / "megatron_8b.log"),
        "import, a cluster": rankwright.import_(
            logs / "topo-nvswitch-8.txt", device="h100-sxm", hosts=2
        ),
        "import, a model": rankwright.import_(DATA / "hf/llama-3.1-8b.json"),
        "validate": runs,
        "validate, collectives": rankwright.validate(DATA / "validation/collectives.csv"),
        "catalog": rankwright.catalog("keys"),
        "catalog, one": rankwright.models("llama-3.1-8b"),
    }


class Notebook(unittest.TestCase):
    def assertHarmless(self, shown):
        tags = Tags(shown)
        known = {"table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "p", "code"}
        self.assertLessEqual(set(tags.tags), known)
        self.assertLessEqual({name for name, _ in tags.attributes}, {"style"})
        return tags.text

    def test_hostile_file_names_are_escaped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, HOSTILE)
            path.write_text((EXAMPLES / "course-64.yaml").read_text("utf-8"), "utf-8")
            self.assertIn(HOSTILE, self.assertHarmless(rankwright.check(path)._repr_html_()))
            shown = rankwright.compare(path, COURSE)._repr_html_()
            self.assertIn(HOSTILE, self.assertHarmless(shown))

    def test_hostile_keys_and_values_are_escaped(self):
        found = rankwright.check({**COURSE, HOSTILE: HOSTILE})
        self.assertIn("onerror", str(found))
        self.assertIn("onerror", self.assertHarmless(found._repr_html_()))

    def test_every_result_has_a_table(self):
        planned = rankwright.plan(**SMALL)
        for result, says in (
            (planned, planned.best.brief),
            (rankwright.explain(planned), "matmuls"),
            (rankwright.check(COURSE), "RW0306"),
            (rankwright.export(planned, "megatron"), "--tensor-model-parallel-size"),
            (rankwright.models(), "llama-3.1-70b"),
            (rankwright.explain(planned, rank=3), "rank 3"),
            (rankwright.plan(model="llama-3.1-405b", cluster="dgx-h100 x 1"), "GPUs"),
        ):
            self.assertIn(says, self.assertHarmless(result._repr_html_()), type(result))

    def test_every_form_is_shown(self):
        for name, result in forms().items():
            with self.subTest(name):
                self.assertNotIn("rankwright.", repr(result), "a schema is for programs")
                if isinstance(result, rankwright.Result):
                    self.assertRegex(repr(result), rf"^<{type(result).__name__}: [^-].+>$")
                    self.assertTrue(result or "fit" in name)
                if not isinstance(result, rankwright.Report):
                    self.assertHarmless(result._repr_html_())

    def test_gpu_counts_are_a_table(self):
        llama = {"model": "llama-3.1-405b", "cluster": "dgx-h100 x 16", "gpus": (64, 128)}
        planned = rankwright.plan(**llama)
        shown = planned._repr_html_()
        self.assertEqual(Tags(shown).tags.count("tr"), 1 + len(planned.counts))
        self.assertIn("the leanest needs", shown)
        self.assertIn(planned.best.brief, shown)
        self.assertNotIn("GPU-hours", shown)
        self.assertIn("GPU-hours", rankwright.plan(**llama, tokens=1e12)._repr_html_())

    def test_timers_are_shown_with_their_prediction(self):
        plan, log = EXAMPLES / "gpt3-175b-1024.yaml", DATA / "import/slow-nvlink.log"
        compared = rankwright.compare(plan, log=log)
        self.assertEqual(repr(compared), "<Compared: 36.3 s per step, 32 s predicted>")
        row = "<td>forward-compute</td><td>8.51 s to 9.04 s</td><td>7.27 s to 7.58 s</td>"
        self.assertIn(row, compared._repr_html_())

    def test_plans_that_are_not_files_are_named_by_their_summary(self):
        self.assertIn("on 64 h100-sxm", repr(rankwright.report(COURSE, search=False)))
        self.assertIn("64 = TP 8 x PP 4 x DP 2</caption>", rankwright.check(COURSE)._repr_html_())

    def test_report_is_in_a_sandboxed_frame(self):
        made = rankwright.Report({"plans": []}, "# a plan", f"<p>{HOSTILE}</p><script>1</script>")
        tags = Tags(made._repr_html_())
        self.assertEqual(tags.tags, ["iframe"])
        self.assertEqual(dict(tags.attributes)["srcdoc"], made.html)
        self.assertEqual(dict(tags.attributes)["sandbox"], "allow-scripts")

    def test_report_file_extension_selects_the_format(self):
        made = rankwright.report(COURSE)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            made.save("plan.md")
            self.assertEqual(pathlib.Path("plan.md").read_text("utf-8"), made.markdown)
            with self.assertRaises(ValueError):
                made.save("plan.pdf")
            try:
                made.save("plan.html")
            except rankwright.Error as error:
                self.assertIn("without the HTML report", str(error))
                self.assertHarmless(made._repr_html_())
            else:
                self.assertIn("<script", pathlib.Path("plan.html").read_text("utf-8"))
            os.chdir("/")

    def test_repr_is_one_line(self):
        planned = rankwright.plan(**SMALL)
        for result in (planned, rankwright.explain(planned), rankwright.compare(COURSE, COURSE)):
            self.assertRegex(repr(result), rf"^<{type(result).__name__}: .+>$")


if __name__ == "__main__":
    unittest.main()
