#!/usr/bin/env python3
"""The page of `rankwright report` contains the license text of every library in it.

    tests/page_licenses_test.py PAGE.html WEB_FOLDER

Libraries are the packages that WEB_FOLDER/package-lock.json does not mark as development tools; their
licenses are the files that npm installed.
"""

import json
import pathlib
import sys


def lines(text):
    """Returns the lines without trailing blanks, for any line ending."""
    return "\n".join(line.strip() for line in text.splitlines()).strip()


def main(page, web):
    shown = lines(pathlib.Path(page).read_text("utf-8"))
    lock = json.loads((pathlib.Path(web) / "package-lock.json").read_text("utf-8"))
    libraries = {path: entry for path, entry in lock["packages"].items() if path and not entry.get("dev")}
    assert "node_modules/preact" in libraries, "the page is drawn by preact"
    for path, entry in libraries.items():
        [file, *_] = [*(pathlib.Path(web) / path).glob("LICEN[CS]E*")] or [None]
        assert file, f"{path} has no license file"
        assert lines(file.read_text("utf-8")) in shown, f"{page} lacks the text of {file}"
        named = f"{path.rpartition('node_modules/')[2]} {entry['version']} ({entry['license']})"
        assert named in shown, f"{page} does not name {named}"
    print(f"{len(libraries)} libraries, all with their licenses")


if __name__ == "__main__":
    main(*sys.argv[1:])
