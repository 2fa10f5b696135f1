"""The output of scripts/make_reference matches the program: the schemas, and the index of formulas.

    reference_test.py build/release/bin/rankwright
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
from reference import formulas  # noqa: E402

REFERENCE = ROOT / "docs" / "reference"
PLAN = json.loads((REFERENCE / "plan.schema.json").read_text("utf-8"))
CLUSTER = json.loads((REFERENCE / "cluster.schema.json").read_text("utf-8"))

LEVELS = "levels: [{arity: 8, bandwidth: 450 GB/s}]"
# Inputs that neither a schema nor the program accepts.
WRONG_PLANS = [
    "parallelism: {tp_size: 0}",
    "parallelism: {tp_size: eight}",
    "parallelism: {tp_size: 2.5}",
    "parallelism: {tp_size: 4194305}",
    "parallelism: {tp_size: [8]}",
    "parallelism: {virtual_stages: 4097}",
    "parallelism: {zero_stage: 4}",
    "parallelism: {schedule: 1f2b}",
    "parallelism: {recompute: some}",
    "parallelism: {recompute: {full: 0}}",
    "parallelism: {sequence_parallel: maybe}",
    "parallelism: {order: tp-xp}",
    "parallelism: {stages: []}",
    "parallelism: {overlap: {tp: 2}}",
    "parallelism: 8",
    "node_shape: 8x8",
    "placement: scattered",
    "placement: {hosts: [-1]}",
    "job: {param_dtype: int8}",
    "job: {optimizer: adagrad}",
    "software: {framework: mine}",
    "model: {hidden: 64}",
    "model: {architecture: llama, hidden: wide}",
    "cluster: {device: h100-sxm}",
    "cluster: {device: h100-sxm, levels: [{arity: 8, bandwidth: 450}]}",
]
WRONG_CLUSTERS = [
    LEVELS,
    "device: h100-sxm",
    "device: h100-sxm\nlevels: []",
    "device: h100-sxm\nlevels: [{arity: 8}]",
    "device: h100-sxm\nlevels: [{bandwidth: 450 GB/s}]",
    "device: h100-sxm\nlevels: [{arity: 0, bandwidth: 450 GB/s}]",
    "device: h100-sxm\nlevels: [{arity: 8, bandwidth: 450}]",
    "device: h100-sxm\nlevels: [{arity: 8, bandwidth: 450 gigabytes}]",
    "device: h100-sxm\nlevels: [{arity: 8, bandwidth: 450 GB/s, latency: 2 GB/s}]",
    "device: h100-sxm\nlevels: [{arity: 8, bandwidth: 450 GB/s, per: rack}]",
    "device: h100-sxm\nlevels: [{arity: 8, bandwidth: 450 GB/s, oversubscription: 0.5}]",
    f"device: {{memory: 80 GB, memory_bandwidth: 2 TB/s}}\n{LEVELS}",
    f"device: {{memory: 80, memory_bandwidth: 2 TB/s, bf16: 400 TFLOP/s}}\n{LEVELS}",
]
RIGHT_PLANS = [
    "world_size: 4,194,304",
    "job: {sequence: 8k, optimizer: adamw}",
    "parallelism: {recompute: {full: 4}, stages: [7, 8, 8, 7], overlap: {tp: yes}}",
    "placement: {hosts: [0, 1, 3]}",
    "{model: llama-3.1-8b, an_unknown_key: only warns}",
]


def accepts(schema, text):
    return jsonschema.Draft7Validator(schema).is_valid(yaml.safe_load(text))


def findings(text, *arguments):
    command = [BINARY, "check", *arguments, "--json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return json.loads(done.stdout)["findings"]


def program_reads(text, *arguments):
    """Returns whether the program reads it without a reading error (RW09xx)."""
    found = findings(text, *arguments)
    return not any(f["severity"] == "error" and f["code"] >= "RW0900" for f in found)


def words_of(schema, path=""):
    """Yields (dotted key, words) of each plan key that takes one of a list."""
    for name, part in schema.get("properties", {}).items():
        key = f"{path}.{name}" if path else name
        yield from words_of(part, key)
        for option in [part, *part.get("anyOf", [])]:
            if "enum" in option:
                yield key, {word for word in option["enum"] if isinstance(word, str)}


def program_reads_cluster(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "cluster.yaml"
        file.write_text(text)
        return program_reads("parallelism: {dp_size: 1}", "-", "--cluster", str(file))


class Schemas(unittest.TestCase):
    def test_files_are_valid_schemas(self):
        for schema in (PLAN, CLUSTER):
            jsonschema.Draft7Validator.check_schema(schema)

    def test_every_example_is_accepted(self):
        files = sorted((ROOT / "examples").glob("*.yaml"))
        self.assertGreater(len(files), 5)
        for file in files:
            with self.subTest(file.name):
                text = file.read_text("utf-8")
                is_cluster = "levels" in yaml.safe_load(text)
                jsonschema.validate(yaml.safe_load(text), CLUSTER if is_cluster else PLAN)

    def test_every_readable_diagnostic_example_is_accepted(self):
        listed = subprocess.run([BINARY, "catalog", "codes", "--json"], capture_output=True, text=True)
        for row in json.loads(listed.stdout)["rows"]:
            page = subprocess.run([BINARY, "explain", row["code"], "--json"], capture_output=True, text=True)
            example = json.loads(page.stdout).get("example", "")
            if row["code"] >= "RW0600" or "parallelism" not in example:
                continue
            with self.subTest(row["code"]):
                self.assertTrue(accepts(PLAN, example), example)

    def test_inputs_that_the_program_accepts_are_accepted(self):
        for text in RIGHT_PLANS:
            with self.subTest(text):
                self.assertTrue(program_reads(text, "-"))
                self.assertTrue(accepts(PLAN, text))

    def test_unreadable_plans_are_refused(self):
        for text in WRONG_PLANS:
            with self.subTest(text):
                self.assertFalse(program_reads(text, "-"))
                self.assertFalse(accepts(PLAN, text))

    def test_unreadable_clusters_are_refused(self):
        right = f"device: h100-sxm\n{LEVELS}"
        self.assertTrue(program_reads_cluster(right) and accepts(CLUSTER, right))
        for text in WRONG_CLUSTERS:
            with self.subTest(text):
                self.assertFalse(program_reads_cluster(text))
                self.assertFalse(accepts(CLUSTER, text))

    def test_words_equal_those_in_the_programs_error(self):
        keys = list(words_of(PLAN))
        self.assertGreater(len(keys), 10)
        for key, words in keys:
            with self.subTest(key):
                text = "nonsense"
                for part in reversed(key.split(".")):
                    text = f"{{{part}: {text}}}"
                refused = [f["detail"] for f in findings(text, "-") if f["code"] == "RW0907"]
                named = refused[0].partition(" is not one of ")[2]
                self.assertEqual(set(named.replace(" or ", ", ").split(", ")), words)

    def test_every_plan_key_is_known(self):
        listed = subprocess.run([BINARY, "catalog", "keys", "--json"], capture_output=True, text=True)
        for row in json.loads(listed.stdout)["rows"]:
            place = PLAN
            for part in row["key"].split("."):
                place = place["properties"][part]
            self.assertIn("description", place)


class FormulaIndex(unittest.TestCase):
    def faults_of(self, page, code, test=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {
                "docs/reference/formulas.md": page,
                "rankwright/cost/a.cc": code,
                "rankwright/cost/a_test.cc": test,
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                if text:
                    (root / name).write_text(text)
            return formulas.faults(root, formulas.index(root))

    PAGE = "## W: work (`rankwright/cost/a.h`)\n\n| number | formula | source |\n|---|---|---|\n| W1 | a | me |\n"

    def test_citation_refers_to_function_below_around_or_header(self):
        below = ["// W1: all.", "// Of a rank.", "Seconds Rank::work(int n) {", "  return f(n);", "}"]
        around = ["Seconds work(int n) {", "  g();", "  // W1", "  add(n);", "}"]
        header = ["// Work. Formula W1.", "#pragma once", "Seconds work(int n);"]
        self.assertEqual([formulas.place(below, 0), formulas.place(below, 1)], ["work", "work"])
        self.assertEqual(formulas.place(around, 2), "work")
        self.assertEqual(formulas.place(header, 0), "")

    def test_complete_index_has_no_faults(self):
        self.assertEqual(self.faults_of(self.PAGE, "// W1: all.\nSeconds work(int n) {\n}\n", "TEST"), [])

    def test_each_fault_is_found(self):
        code = "// W1 and W2.\nint work() {\n}\n"
        self.assertEqual(self.faults_of(self.PAGE, "", "TEST"), ["W1: no comment names it in rankwright/cost"])
        more = self.PAGE + "| W2 | b | |\n"
        self.assertIn("W1: no test of rankwright/cost/a.cc", self.faults_of(more, code))
        stray = "rankwright/cost/a.cc:1: W2 is not in docs/reference/formulas.md"
        self.assertEqual(self.faults_of(self.PAGE, code, "TEST"), [stray])
        self.assertEqual(self.faults_of(more, code, "TEST"), ["W2: names no source"])
        usual = more.replace("\n\n", "\n\nWhere a row names no source: Newton.\n\n", 1)
        self.assertEqual(self.faults_of(usual, code, "TEST"), [])
        self.assertIn("W1: stated twice", self.faults_of(self.PAGE + "| W1 | c | me |\n", code, "TEST"))


unittest.main()
