"""The documentation site builds without a warning, shows every page, and loads nothing from other sites.

    site_test.py mkdocs FOLDER [BINARY]      builds into FOLDER, with reports made by BINARY
"""
import html.parser
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
MKDOCS, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
ENVIRONMENT = {**os.environ, "RANKWRIGHT_BINARY": sys.argv[3]} if len(sys.argv) > 3 else os.environ
LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Loaded(html.parser.HTMLParser):
    """Collects what a page makes the browser load; links are not loaded."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes).get(LOADS.get(tag, ""), "") or ""
        if tag in LOADS and found:
            self.found.append(found)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [MKDOCS, "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(FOLDER)]
        cls.done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)

    def test_builds_without_a_warning(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def test_every_page_is_in_the_navigation(self):
        self.assertNotIn('not included in the "nav"', self.done.stderr, self.done.stderr)

    def test_every_page_is_in_the_search(self):
        index = json.loads((FOLDER / "search" / "search_index.json").read_text("utf-8"))
        found = {entry["location"].partition("#")[0] for entry in index["docs"]}
        docs = ROOT / "docs"
        pages = {str(page.relative_to(docs).with_suffix(".html")) for page in docs.rglob("*.md")}
        self.assertEqual(found, pages)

    @unittest.skipIf(len(sys.argv) < 4, "no binary to make reports with")
    def test_a_report_is_embedded(self):
        page = (FOLDER / "reference" / "report.html").read_text("utf-8")
        self.assertIn('<iframe src="../live/course-64.html"', page)
        self.assertIn("rankwright.report/1", (FOLDER / "live" / "course-64.html").read_text("utf-8"))

    def test_pages_load_nothing_from_other_sites(self):
        live = FOLDER / "live"  # reports: they load nothing at all, which web/tests check
        pages = sorted(page for page in FOLDER.rglob("*.html") if live not in page.parents)
        self.assertGreater(len(pages), 20)
        for page in pages:
            loaded = Loaded()
            loaded.feed(page.read_text("utf-8"))
            self.assertTrue(loaded.found)
            self.assertEqual([x for x in loaded.found if "//" in x and not x.startswith("data:")], [], str(page))
        for style in FOLDER.rglob("*.css"):
            self.assertNotIn("url(http", style.read_text("utf-8"), str(style))


unittest.main(argv=sys.argv[:1])
