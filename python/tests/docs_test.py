"""Tests the examples in the docstrings, README and the reference.

The ```python blocks of a document are run in order; a ```text block after one is its expected output. As in
scripts/check_docs, a line "..." matches any lines.
"""

import contextlib
import doctest
import importlib.machinery
import importlib.util
import io
import os
import re
import tempfile
import unittest

import rankwright
from checkout import ROOT

PAGES = [ROOT / page for page in ("README.md", "docs/reference/python.md", "docs/how-to/embed.md")]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n*^```text\n(.*?)^```\n)?", re.M | re.S)


def check_docs():
    """Loads scripts/check_docs, whose file name cannot be imported."""
    loader = importlib.machinery.SourceFileLoader("check_docs", str(ROOT / "scripts/check_docs"))
    spec = importlib.util.spec_from_loader("check_docs", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Docs(unittest.TestCase):
    maxDiff = None

    def test_document_blocks_print_the_expected_output(self):
        for page in PAGES:
            with self.subTest(page.name):
                self.assertGreater(self.run_blocks(page), 0)

    def run_blocks(self, page):
        checker, names, ran = check_docs(), {}, 0
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # some examples save files
            os.symlink(ROOT / "examples", "examples")
            for code, shown in BLOCK.findall(page.read_text("utf-8")):
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(code, str(page), "exec"), names)
                actual = checker.trimmed(printed.getvalue().splitlines())
                expected = checker.trimmed(shown.splitlines())
                if not checker.matches(expected, actual):
                    self.assertEqual("\n".join(actual), "\n".join(expected), code)
                ran += 1
            os.chdir("/")
        return ran

    def test_docstrings(self):
        ran = 0
        for name in ("", "._html", "._plan", "._results", "._tables", "._verbs"):
            module = importlib.import_module("rankwright" + name)
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, module.__name__)
            ran += result.attempted
        self.assertGreater(ran, 20)

    def test_version(self):
        stated = re.search(r"project\(rankwright VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(rankwright.__version__, stated[1])


if __name__ == "__main__":
    unittest.main()
