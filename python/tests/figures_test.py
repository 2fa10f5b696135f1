"""The module gives the same JSON, text and files as the command line."""

import inspect
import os
import re
import unittest

import rankwright
from checkout import EXAMPLES, ROOT, SMALL, command, printed

PLANS = sorted(path for path in EXAMPLES.glob("*.yaml") if not path.name.startswith("racks"))


class Figures(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        os.chdir(ROOT)

    def test_explain_equals_the_command_line(self):
        for path in PLANS:
            with self.subTest(path.name):
                explained = rankwright.explain(path)
                self.assertEqual(explained.data, printed("explain", path))
                self.assertEqual(str(explained) + "\n", command("explain", path).stdout)

    def test_sweep_equals_the_command_line(self):
        path = EXAMPLES / "course-64.yaml"
        words = ["explain", path, "--sweep", "microbatches=1,4,8"]
        for sweep in ("microbatches=1,4,8", ("microbatches", [1, 4, 8]), ["microbatches", "1,4,8"]):
            swept = rankwright.explain(path, sweep=sweep)
            self.assertEqual(swept.data, printed(*words))
            self.assertEqual(str(swept) + "\n", command(*words).stdout)
        # 3 of m + 3 slots are idle with PP 4.
        bubbles = [row["ideal_bubble"] for row in swept.data["rows"]]
        self.assertEqual(bubbles, [3 / 4, 3 / 7, 3 / 11])

    def test_check_equals_the_command_line(self):
        for path in PLANS:
            with self.subTest(path.name):
                checked = rankwright.check(path, for_="megatron")
                shown = printed("check", path, "--for", "megatron")
                self.assertEqual(checked.data, shown)
                self.assertEqual([one.data for one in checked], shown["findings"])
                self.assertEqual(len(checked.errors), shown["errors"])

    def test_compare(self):
        plans = [EXAMPLES / "course-64.yaml", EXAMPLES / "course-64-chunks.yaml"]
        self.assertEqual(rankwright.compare(*plans).data, printed("compare", *plans))
        self.assertEqual(str(rankwright.compare(*plans)) + "\n", command("compare", *plans).stdout)

    def test_plan_and_its_file_equal_the_command_line(self):
        words = ["plan", "--model=llama-3.1-8b", "--cluster=dgx-h100 x 2", "--global-batch=64",
                 "--seq=8192", "--for=megatron", "--max-tp=4"]  # fmt: skip
        planned = rankwright.plan(**SMALL, for_="megatron", max_tp=4)
        self.assertEqual(planned.data, printed(*words))
        self.assertEqual(str(planned) + "\n", command(*words).stdout)
        self.assertEqual(planned.markdown, command(*words, "--markdown").stdout)
        # The file's first lines name the command that wrote it.
        file = command(*words, "-o", "-").stdout
        body = planned.plan[planned.plan.index("\nworld_size:") :]
        self.assertIn(body, file)

    def test_plan_on_several_counts(self):
        words = ["--model=llama-3.1-8b", "--cluster=dgx-h100 x 2", "--gpus=8..16"]
        planned = rankwright.plan(model="llama-3.1-8b", cluster="dgx-h100 x 2", gpus=(8, 16))
        self.assertEqual(planned.data, printed("plan", *words))
        self.assertEqual(str(planned) + "\n", command("plan", *words).stdout)
        self.assertTrue(planned)
        self.assertEqual(rankwright.check(planned).errors, [])

    def test_own_plan_is_compared(self):
        path = EXAMPLES / "gpt2-tiny-tp2-pp2-dp2.yaml"
        self.assertEqual(rankwright.plan(own=path).data, printed("plan", path))

    def test_report(self):
        path = EXAMPLES / "gpt2-tiny-tp2-pp2-dp2.yaml"
        made = rankwright.report(path)
        self.assertEqual(made.data, printed("report", path))
        shown = command("report", path, "--markdown").stdout
        # The document ends with the command that wrote it.
        self.assertEqual(made.markdown.replace(" --json", " --markdown"), shown)

    def test_export_to_every_target(self):
        path = EXAMPLES / "gpt3-175b-1024.yaml"
        targets = [line.split()[0] for line in command("export", "--list").stdout.splitlines()]
        self.assertIn("megatron", targets)
        written = 0
        for target in targets:
            with self.subTest(target):
                outcome = command("export", path, "--to", target)
                if outcome.returncode:
                    with self.assertRaises(rankwright.Error) as caught:
                        rankwright.export(path, target)
                    self.assertEqual(str(caught.exception), outcome.stderr.rstrip("\n"))
                    continue
                exported = rankwright.export(path, target)
                self.assertEqual(str(exported) + "\n", outcome.stdout)
                self.assertEqual(exported.data, printed("export", path, "--to", target))
                written += len(exported)
        self.assertGreater(written, 0)

    def test_import_and_back(self):
        path = EXAMPLES / "gpt3-175b-1024.yaml"
        args = rankwright.export(path, "megatron")["megatron.sh"]
        again = rankwright.import_(args, from_="megatron", cluster="dgx-a100 x 128")
        self.assertEqual(again.data, printed("import", "-", "--from=megatron",
                                             "--cluster=dgx-a100 x 128", text=args))  # fmt: skip
        self.assertEqual(rankwright.explain(again).data["plan"]["tp"],
                         rankwright.explain(path).data["plan"]["tp"])  # fmt: skip

    def test_concepts_equal_the_command_line(self):
        path = ROOT / "examples/course-64.yaml"
        self.assertEqual(rankwright.explain("all-reduce").data, printed("explain", "all-reduce"))
        explained = rankwright.explain(path, concept="tp")
        self.assertEqual(explained.data, printed("explain", "tp", path))
        self.assertEqual(str(explained) + "\n", command("explain", "tp", path).stdout)

    def test_validate(self):
        runs = ROOT / "tests/data/validation/runs.csv"
        validation = rankwright.validate(runs)
        self.assertEqual(validation.data, printed("validate", runs))
        self.assertEqual(str(validation) + "\n", command("validate", runs).stdout)
        table = ROOT / "tests/data/validation/collectives.csv"
        self.assertEqual(rankwright.validate([table]).data, printed("validate", table))

    def test_catalog(self):
        for kind in ("models", "devices", "systems", "codes"):
            rows = getattr(rankwright, kind)()
            self.assertEqual(rows.data, printed("catalog", kind))
            self.assertEqual(list(rows), rows.data["rows"])
            self.assertEqual(str(rows) + "\n", command("catalog", kind).stdout)
        one = rankwright.models("llama-3.1-8b")
        self.assertEqual(one.data, printed("catalog", "models", "llama-3.1-8b"))

    def test_every_flag_of_the_command_line_is_an_argument(self):
        # Flags about where or how to print, and about the exit code, have no argument.
        about_output = {"help", "json", "output", "no-color", "quiet", "markdown", "html", "format",
                        "svg", "trace", "csv", "plot", "fit", "list", "no-search", "verbose", "top",
                        "strict", "select", "ignore", "fix", "max-slowdown"}  # fmt: skip
        names = {"plan": {"fit"}, "export": set(), "import": set(), "validate": set(),
                 "check": set(), "explain": set(), "compare": set(), "report": set()}  # fmt: skip
        for verb, besides in names.items():
            function = getattr(rankwright, verb if verb != "import" else "import_")
            taken = {name.rstrip("_") for name in inspect.signature(function).parameters}
            flags = set(re.findall(r"--([a-z][a-z0-9-]*)", command("help", verb).stdout))
            flags = {flag for flag in flags if f"\n  --{flag}" in command("help", verb).stdout
                     or f",--{flag}" in command("help", verb).stdout}  # fmt: skip
            # Flags without a value are arguments that are False by default.
            alone = {name.rstrip("_") for name, parameter in inspect.signature(function).parameters.items()
                     if parameter.default is False}  # fmt: skip
            bare = set(re.findall(r"(?m)^  --([a-z0-9-]+)(?:  |$)", command("help", verb).stdout))
            self.assertEqual(alone, {flag.replace("-", "_") for flag in bare} & taken, verb)
            missing = {flag.replace("-", "_") for flag in flags - about_output | besides} - taken
            self.assertEqual(missing, set(), verb)


if __name__ == "__main__":
    unittest.main()
