"""scripts/check_links passes this tree, and finds each fault injected into a small one."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent
OTHER = "# Other page\n\n## What it costs, in `bytes`\n\n## Limits\n\n## Limits\n\n```text\n## no heading\n```\n"


def check(root):
    command = [sys.executable, str(ROOT / "scripts" / "check_links"), str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


def check_planted(path, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs" / "how").mkdir(parents=True)
        (root / "docs" / "other.md").write_text(OTHER)
        (root / "docs" / "picture.svg").write_text("<svg/>")
        (root / path).write_text(text)
        return check(root)


class CheckLinks(unittest.TestCase):
    def test_this_tree_has_no_broken_links(self):
        code, said = check(ROOT)
        self.assertEqual(code, 0, said)

    def test_valid_links_pass(self):
        text = (
            "[a](../other.md) [b](../other.md#what-it-costs-in-bytes) [c [d]](#here) ![e](../picture.svg)\n"
            "[second](../other.md#limits_1) [far](https://example.org/x#y) [mail](mailto:a@example.org)\n\n# Here\n"
        )
        self.assertEqual(
            check_planted("docs/how/page.md", text),
            (0, "check_links: 7 links of 2 documents lead somewhere\n"),
        )

    def test_the_readme_may_link_to_folders_and_into_docs(self):
        self.assertEqual(check_planted("README.md", "[docs](docs/) [limits](docs/other.md#limits)\n")[0], 0)

    def test_links_in_code_are_ignored(self):
        text = "`[a](no.md)`\n\n    [b](no.md)\n\n```text\n[c](no.md)\n```\n"
        self.assertEqual(check_planted("docs/page.md", text)[0], 0)

    def test_reports_each_fault_with_its_line(self):
        planted = {
            "gone.md": "does not exist",
            "gone.png": "does not exist",
            "other.md#costs": "has no such heading",
            "other.md#no-heading": "has no such heading",
            "other.md#limits_2": "has no such heading",
            "#nowhere": "has no such heading",
            "how/": "is a folder: a site has pages alone",
            "../README.md": "is outside docs/, so not in the site",
            "../../x": "is outside the repository",
        }
        for target, why in planted.items():
            with self.subTest(target):
                self.assertEqual(
                    check_planted("docs/page.md", f"# Page\n\nSee [this]({target}).\n"),
                    (1, f"docs/page.md:3: {target} {why}\n"),
                )


unittest.main()
