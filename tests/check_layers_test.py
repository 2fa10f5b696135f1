"""scripts/check_layers passes this tree, and finds each fault planted in a small one."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent
LAYERS = "# a comment\nbase\ncost/pipeline\ncost\ncost/faults\nplan\nimport/syntax\n"


def check(root):
    command = [sys.executable, str(ROOT / "scripts" / "check_layers"), str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


def check_planted(path, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "LAYERS").write_text(LAYERS)
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
        return check(root)


class CheckLayers(unittest.TestCase):
    def test_this_tree_follows_its_layers(self):
        self.assertEqual(check(ROOT), (0, "check_layers: every include follows LAYERS\n"))

    def test_includes_of_the_same_folder_and_those_above_pass(self):
        text = '#include <string>\n#include "rankwright/plan/b.h"\n#include "rankwright/base/a.h"\n'
        self.assertEqual(check_planted("rankwright/plan/a.cc", text)[0], 0)

    def test_tests_may_include_folders_below(self):
        text = '#include "rankwright/import/syntax/a.h"\n#include "tests/support/finding_lines.h"\n'
        self.assertEqual(check_planted("rankwright/plan/a_test.cc", text)[0], 0)
        text = '#include "cli/verb.h"\n'
        self.assertEqual(check_planted("rankwright/plan/a_test.cc", text)[0], 1)

    def test_components_may_include_the_library(self):
        text = '#include "rankwright/import/syntax/a.h"\n#include "rankwright/runtime/b.h"\n'
        self.assertEqual(check_planted("rankwright/runtime/a.cc", text)[0], 0)

    def test_finds_each_fault_with_its_place(self):
        included = {
            "rankwright/import/syntax/b.h": "import/syntax/ is below plan/ in LAYERS",
            "rankwright/import/b.h": "import/ is not in LAYERS",
            "rankwright/runtime/b.h": "runtime/ is an optional component: the library builds "
            "without it",
            "rankwright/sim/b.h": "sim/ is an optional component: the library builds without it",
            "rankwright/utils/b.h": "utils/ is not in LAYERS",
            "cli/verb.h": "the library does not depend on cli/",
            "tests/b.h": "the library does not depend on tests/",
        }
        for header, why in included.items():
            with self.subTest(header):
                self.assertEqual(
                    check_planted("rankwright/plan/a.h", f'#pragma once\n#include "{header}"\n'),
                    (1, f"rankwright/plan/a.h:2: includes {header}, but {why}\n"),
                )

    def test_a_subfolder_has_a_layer_of_its_own(self):
        includes = [  # file, header, why not
            ("cost/a.h", "cost/pipeline/b.h", None),
            ("cost/faults/a.h", "cost/b.h", None),
            ("cost/faults/a.h", "cost/pipeline/b.h", None),
            ("cost/pipeline/a.h", "cost/b.h", "cost/ is below cost/pipeline/ in LAYERS"),
            ("cost/a.h", "cost/faults/b.h", "cost/faults/ is below cost/ in LAYERS"),
        ]
        for source, header, why in includes:
            with self.subTest(source=source, header=header):
                code, output = check_planted(f"rankwright/{source}", f'#include "rankwright/{header}"\n')
                if why:
                    fault = f"rankwright/{source}:1: includes rankwright/{header}, but {why}\n"
                    self.assertEqual((code, output), (1, fault))
                else:
                    self.assertEqual(code, 0, output)

    def test_finds_a_folder_that_has_no_layer(self):
        for folder in ("utils", "import", "cost/utils"):
            with self.subTest(folder):
                self.assertEqual(
                    check_planted(f"rankwright/{folder}/a.h", ""),
                    (1, f"rankwright/{folder}/a.h: {folder}/ is not in LAYERS\n"),
                )

    def test_finds_a_folder_with_too_many_files(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "LAYERS").write_text(LAYERS)
            (root / "rankwright" / "plan").mkdir(parents=True)
            for number in range(41):
                (root / "rankwright" / "plan" / f"a{number}.h").write_text("")
            self.assertEqual(
                check(root), (1, "rankwright/plan: 41 files; split it, 40 at most\n")
            )


unittest.main()
