"""Runs the program to get its tables."""

import json
import re
import subprocess


class Tool:
    def __init__(self, binary, root):
        self.binary, self.root = binary, root

    def text(self, *arguments):
        """Returns the program's output; an error ends the script."""
        done = subprocess.run(
            [str(self.binary), *arguments],
            cwd=self.root,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.text(*arguments, "--json"))

    def rows(self, kind, *name):
        return self.json("catalog", kind, *name)["rows"]

    def verbs(self):
        """Returns (verb, summary) in the order of `rankwright help`, without help itself."""
        listed = re.findall(r"^  ([a-z]+) +(\S.*)$", self.text("help"), re.MULTILINE)
        return [(verb, does) for verb, does in listed if verb != "help"]
