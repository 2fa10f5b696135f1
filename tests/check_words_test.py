"""scripts/check_words finds each fault planted in a small tree, and passes this one."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "check_words"
PASSED = (0, ["check_words: comments and messages use plain words"])


def check(root, script=SCRIPT):
    done = subprocess.run([sys.executable, str(script), str(root)], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def check_planted(texts, script=SCRIPT):
    """Checks a tree of these files: text by path."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        for path, text in texts.items():
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        return check(folder, script)


def check_allowing(rows, texts):
    """Checks a tree of these files with these rows in ALLOWED."""
    source = SCRIPT.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "check_words"
        changed = re.sub(r"^ALLOWED = \[.*?\]$", f"ALLOWED = {rows!r}", source, flags=re.M | re.S)
        script.write_text(changed, "utf-8")
        return check_planted(texts, script)


class CheckWords(unittest.TestCase):
    maxDiff = None

    def check_faults(self, texts, lines):
        expected = sorted(lines) + [f"check_words: number of faults: {len(lines)}"]
        self.assertEqual(check_planted(texts), (1, expected))

    def test_finds_each_opening_with_its_place(self):
        openings = {
            "Of": "open with the subject",
            "What": "name the thing; only a question may open with What",
            "Who": "name the actor; only a question may open with Who",
            "Whose": "name the owner",
            "And": "join it to the sentence before, or leave out And",
            "So much": "state the amount",
            "The same": "name the thing again",
        }
        texts, lines = {}, []
        for k, (opening, advice) in enumerate(openings.items()):
            texts[f"tests/{k}.h"] = f"int a;\n// Returns ranks. {opening} ranks.\n"
            lines.append(
                f'tests/{k}.h:2: {opening} ranks. -- a sentence must not open with "{opening}": {advice}'
            )
        self.check_faults(texts, lines)

    def test_finds_each_phrase_with_its_place(self):
        phrases = {
            "is no": ("This is no file.", 'write "is not a" or "has no"'),
            "so many": ("Reads so many bytes.", 'state the number, or write "that many"'),
            "as one does": ("It waits, as one does.", "leave it out"),
            "said to be": ("It is said to be lost.", "state what it is"),
            "for want of": ("It fails for want of memory.", 'write "without" or "because there is no"'),
        }
        texts, lines = {}, []
        for k, (phrase, (sentence, advice)) in enumerate(phrases.items()):
            texts[f"tests/{k}.cc"] = f"// {sentence}\n"
            lines.append(f'tests/{k}.cc:1: {sentence} -- do not write "{phrase}": {advice}')
        self.check_faults(texts, lines)

    def test_finds_each_private_word_of_a_message_with_its_place(self):
        words = {
            "whatever the ledger's": "fits with margin",
            "ledger": "memory estimate",
            "Misfits": "constraint violation",
            "prophecy": "prediction",
            "played": "simulated",
            "unfit": "timer residual",
            "chips": "degree tags",
            "lies": "is, or is placed",
            "relief": "mitigation",
            "mended": "fix",
            "tangled": "nested",
            "reckoned": "estimated",
            "neighbourhood": "group",
        }
        texts, lines = {}, []
        for k, (word, advice) in enumerate(words.items()):
            texts[f"rankwright/{k}.cc"] = f'int a;\nprint("\\n{word} {{}}");\n'
            lines.append(
                f'rankwright/{k}.cc:2: {word} {{}} -- users do not know "{word}": write "{advice}"'
            )
        self.check_faults(texts, lines)

    def test_finds_each_phrase_of_a_message_with_its_place(self):
        per = 'write "per", not "a"'
        phrases = {
            "This is no file": ("is no", 'write "is not a" or "has no"'),
            "16 bytes a parameter": ("bytes a parameter", per),
            "takes {} a step": ("{} a step", per),
            "8 micro-batches a rank": ("micro-batches a", per),
            "a value stands here": ("stands", 'write "is", or leave it out'),
            "one thing too many: 'x'": ("one thing too many", 'write "unexpected argument"'),
            "'pp_sze' means nothing here": ("means nothing here", 'write "unknown key"'),
            "the model is not said": ("is not said", 'write "missing", and the flag'),
            "a file of no known format": ("of no known", 'write "unknown" or "unrecognized"'),
            "'x' is none of a, b": ("is none of", 'write "is not one of"'),
            "a key that is not known": ("is not known", 'write "unknown"'),
            "passed over: 3 flags": ("passed over", 'write "ignored"'),
            "it is, as no matter of layout, free": ("no matter of", "state what it does not affect"),
            "nothing found": ("nothing found", 'write "no problems found"'),
            "just this: {}": ("just this", "state what the flag sets"),
            "tp leaves the fastest level": ("leaves the fastest level", 'write "crosses nodes"'),
            "the device waits for the host": ("waits for the host", 'write "kernel-launch overhead"'),
            "and what else a step does": ("what else", "name the things"),
            "a profile would prove it": ("would prove", "state what to do"),
            "actions run to their end": ("run to their end", 'write "no deadlock"'),
            "cost what a plainer one costs": ("cost what a", 'write "equivalent to"'),
            "cannot be as fast as the best": ("cannot be as fast", 'write "pruned"'),
            "3 exchanges of context": ("exchanges of context", 'write "context-parallel algorithms"'),
            "it says nothing of a cluster": ("says nothing", "state what is missing"),
            "it was not seen to check": ("was not seen", 'write "is not known"'),
            "name the cluster that is meant": ("that is meant", "name the key to set"),
            "28 layers, without a word": ("without a word", 'write "without a warning"'),
            "frameworks round in silence": ("in silence", 'write "silently"'),
        }
        texts, lines = {}, []
        for k, (message, (phrase, advice)) in enumerate(phrases.items()):
            texts[f"cli/{k}.cc"] = f'int a;\nprint("{message}");\n'
            lines.append(f'cli/{k}.cc:2: {message} -- do not write "{phrase}": {advice}')
        self.check_faults(texts, lines)

    def test_phrases_of_a_message_go_over_adjacent_literals(self):
        text = 'print("it has 16 bytes "\n      "a parameter");\n'
        message = "it has 16 bytes a parameter"
        self.check_faults(
            {"cli/a.cc": text},
            [f'cli/a.cc:1: {message} -- do not write "bytes a parameter": write "per", not "a"'],
        )

    def test_plain_messages_pass(self):
        messages = [
            "16 bytes per parameter, and a step of 3 s",
            "there is no GPU; M stands for micro-batches",
            "`bytes a step` is a key",
            "a rank has 4 layers",
        ]
        texts = {f"cli/{k}.cc": f'print("{message}");\n' for k, message in enumerate(messages)}
        self.assertEqual(check_planted(texts), PASSED)

    def test_reads_every_kind_of_comment(self):
        texts = {
            "CMakeLists.txt": 'set(a "#")  # Of a rank.\n',
            "CONTRIBUTING.md": "| a | Of a rank. |\n",
            "bench/a.py": "a = '#'  # Of a rank.\n",
            "bench/b.py": 'def a():\n    """Ranks.\n\n    Of a rank.\n    """\n',
            "cli/shells/a.fish": "# Of a rank.\n",
            "cmake/a.cmake": "# Of a rank.\n",
            "docs/explanation/decisions.md": "# Ranks\n\n- Ranks. Of a rank.\n",
            "rankwright/a.h": "int a;  // Of a rank.\n",
            "rankwright/b.cc": "/* Ranks.\n * Of a rank. */\n",
            "scripts/a": "#!/usr/bin/env bash\n# Of a rank.\n",
            "scripts/b": '#!/usr/bin/env python3\n"""Of a rank."""\n',
            "web/src/a.ts": "const a = '//'; // Of a rank.\n",
            "web/src/a.tsx": "<p>don't</p> {/* Of a rank. */}\n",
        }
        numbers = {"bench/b.py": 4, "docs/explanation/decisions.md": 3, "rankwright/b.cc": 2}
        numbers.update({"scripts/a": 2, "scripts/b": 2})
        why = 'Of a rank. -- a sentence must not open with "Of": open with the subject'
        self.check_faults(texts, [f"{path}:{numbers.get(path, 1)}: {why}" for path in texts])

    def test_sentences_go_over_lines_and_faults_have_the_line_of_their_phrase(self):
        text = "// Reads a list, which\n// is no plan, and\n// is said\n// to be fast.\n"
        sentence = "Reads a list, which is no plan, and is said to be fast."
        self.check_faults(
            {"tests/a.h": text},
            [
                f'tests/a.h:2: {sentence} -- do not write "is no": write "is not a" or "has no"',
                f'tests/a.h:3: {sentence} -- do not write "said to be": state what it is',
            ],
        )

    def test_comments_behind_code_are_separate(self):
        text = "int a;  // the first\nint b;  // of so many\n        // ranks\n"
        advice = 'do not write "so many": state the number, or write "that many"'
        self.check_faults({"tests/a.h": text}, [f"tests/a.h:2: of so many ranks -- {advice}"])

    def test_plain_comments_pass(self):
        comments = [
            "Returns the rank. What is a rank? Who sends?",
            "Where there is no rank it is no longer than 0, and is no larger than 1.",
            "Offset of a rank. Andes. Whatever. What-if plans. The sameness.",
            'Prints `is no` and "What it is." or “so many”.',
            "The grammar:\n//\n//     Of = What And Who",
        ]
        texts = {f"rankwright/{k}.h": f"// {comment}\n" for k, comment in enumerate(comments)}
        self.assertEqual(check_planted(texts), PASSED)

    def test_code_and_strings_are_not_comments(self):
        texts = {
            "CONTRIBUTING.md": "```\nOf a rank.\n```\n\n    Of a rank.\n\n`Of` a rank.\n",
            "bench/a.py": "a = '''\n# Of a rank.\n'''\n",
            "cmake/a.cmake": 'set(a "# Of a rank.")\n',
            "rankwright/a.cc": 'print("// Of a rank."); int Of = 1\'000; R"(\n// Of a rank.\n)";\n',
        }
        self.assertEqual(check_planted(texts), PASSED)

    def test_searches_all_literals_for_private_words(self):
        texts = {
            "cli/a.h": 'print("as in the "\n      "ledger");\n',
            "python/rankwright/a.py": 'raise Error(f"{a} lie outside")\n',
            "rankwright/a.cc": 'print(R"(a\nledger\nb)");\n',
        }
        ledger = 'ledger -- users do not know "ledger": write "memory estimate"'
        lie = 'lie outside -- users do not know "lie": write "is, or is placed"'
        self.check_faults(
            texts,
            [f"cli/a.h:2: {ledger}", f"python/rankwright/a.py:1: {lie}", f"rankwright/a.cc:2: {ledger}"],
        )

    def test_keys_includes_tests_and_other_folders_may_have_private_words(self):
        texts = {
            "bench/a.cc": 'print("the ledger");\n',
            "python/tests/a.py": 'print("the ledger")\n',
            "rankwright/a.cc": 'json["ledger"] = json["step.played"];\n',
            "rankwright/a_test.cc": 'print("the ledger");\n',
            "rankwright/b.cc": '#include "the ledger"\n// A ledger.\nint ledger;\n',
            "rankwright/c.cc": 'print("replayed, ledger_bytes, misfit-2, believes");\n',
        }
        self.assertEqual(check_planted(texts), PASSED)

    def test_data_of_tests_and_other_documents_are_not_checked(self):
        paths = ("tests/data/a.sh", "tests/golden/a.py", "docs/tour.md", "rankwright/a.csv")
        self.assertEqual(check_planted({path: "# Of what is no rank.\n" for path in paths}), PASSED)

    def test_allowed_sentences_pass_and_unused_rows_of_the_list_are_faults(self):
        row = ("cli/a.h", "What Every Programmer", "the title of a paper")
        text = "// What Every Programmer Should Know.\n"
        self.assertEqual(check_allowing([row], {"cli/a.h": text}), PASSED)
        self.assertEqual(check_allowing([row], {"cli/b.h": text})[0], 1)
        self.assertEqual(
            check_allowing([row], {"cli/a.h": "// Ranks.\n"})[1][0],
            "cli/a.h: What Every Programmer -- not found: remove it from ALLOWED",
        )

    def test_this_tree_passes(self):
        code, lines = check(ROOT)
        self.assertEqual(code, 0, "\n".join(lines[-20:]))


unittest.main()
