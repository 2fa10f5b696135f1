"""scripts/check_renderers passes this tree, and finds each call injected into a small one."""
import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent


def check(root):
    command = [sys.executable, str(ROOT / "scripts" / "check_renderers"), str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


def check_planted(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rankwright" / "report" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return check(folder)


class CheckRenderers(unittest.TestCase):
    def test_renderers_of_this_tree_compute_nothing(self):
        self.assertEqual(check(ROOT), (0, "check_renderers: renderers compute nothing\n"))

    def test_reports_a_call_with_its_line(self):
        self.assertEqual(
            check_planted("plan_text.cc", "int a;\nconst ExplainView sheet = make_explain_view(config);\n"),
            (
                1,
                "rankwright/report/plan_text.cc:2: calls make_explain_view(), which "
                "computes: take PlanAnswer::explain_view\n",
            ),
        )

    def test_checks_every_kind_of_renderer(self):
        for name in ("a_text.cc", "a_json.cc", "a_svg.cc", "a_markdown.cc", "a_sentences.cc", "labels.cc"):
            with self.subTest(name):
                self.assertEqual(check_planted(name, "lint(config, Target::any);\n")[0], 1)

    def test_members_comments_strings_and_tests_pass(self):
        text = 'report.priced();\nr->search();\n// lint(config)\nadd("estimate(x)");\nbrief(config);\n'
        self.assertEqual(check_planted("plan_text.cc", text)[0], 0)
        self.assertEqual(check_planted("plan_text_test.cc", "lint(config);\n")[0], 0)
        self.assertEqual(check_planted("plan_points.cc", "why_rows(search);\n")[0], 0)

    def test_every_computing_function_is_declared_in_the_library(self):
        script = runpy.run_path(str(ROOT / "scripts" / "check_renderers"), run_name="table")
        headers = "\n".join(path.read_text() for path in (ROOT / "rankwright").rglob("*.h"))
        self.assertGreater(len(script["COMPUTING"]), 30)
        for name in script["COMPUTING"]:
            with self.subTest(name):
                self.assertRegex(headers, rf"(?m)^[\w:<>&* ]+ {name}\(")


unittest.main()
