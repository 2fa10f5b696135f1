"""What notebooks show: tables in which nothing of a file becomes markup."""

import html.parser
import os
import pathlib
import tempfile
import unittest

import rankwright
from checkout import COURSE, EXAMPLES, SMALL

HOSTILE = "<img src=x onerror=alert(1)>\"'&"


class Tags(html.parser.HTMLParser):
    """The tags, their attributes, and the text of a piece of HTML."""

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


class Notebook(unittest.TestCase):
    def assertHarmless(self, shown):
        tags = Tags(shown)
        known = {"table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "p", "code"}
        self.assertLessEqual(set(tags.tags), known)
        self.assertLessEqual({name for name, _ in tags.attributes}, {"style"})
        return tags.text

    def test_hostile_file_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, HOSTILE)
            path.write_text((EXAMPLES / "course-64.yaml").read_text("utf-8"), "utf-8")
            self.assertIn(HOSTILE, self.assertHarmless(rankwright.check(path)._repr_html_()))
            shown = rankwright.compare(path, COURSE)._repr_html_()
            self.assertIn(HOSTILE, self.assertHarmless(shown))

    def test_hostile_keys_and_values(self):
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

    def test_report_is_a_page_in_a_frame_that_reaches_nothing(self):
        made = rankwright.Report({"plans": []}, "# a plan", f"<p>{HOSTILE}</p><script>1</script>")
        tags = Tags(made._repr_html_())
        self.assertEqual(tags.tags, ["iframe"])
        self.assertEqual(dict(tags.attributes)["srcdoc"], made.html)
        self.assertEqual(dict(tags.attributes)["sandbox"], "allow-scripts")

    def test_report_is_saved_by_its_name(self):
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
                self.assertIn("without the page", str(error))
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
