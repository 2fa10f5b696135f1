"""scripts/check_lockfile finds packages that are not pinned; scripts/check_advisories passes only on an answer."""
import copy
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(name):
    """Loads a script as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


lockfile, advisories = load("check_lockfile"), load("check_advisories")

HASH = "sha512-" + "A" * 86 + "=="  # 64 bytes in base64
PACKAGE = {"dependencies": {"one": "1.2.3"}, "overrides": {"two": "4.0.0"}}
LOCK = {
    "lockfileVersion": 3,
    "packages": {
        "": {"dependencies": {"one": "1.2.3"}},
        "node_modules/one": {"version": "1.2.3", "integrity": HASH},
        "node_modules/two": {"version": "4.0.0", "integrity": HASH,
                             "resolved": "https://registry.npmjs.org/two/-/two-4.0.0.tgz"},
    },
}


def found(**changes):
    """Returns the faults of a lockfile whose package `one` has these fields changed."""
    lock = copy.deepcopy(LOCK)
    lock["packages"]["node_modules/one"].update(changes)
    return lockfile.faults(PACKAGE, lock)


class Lockfile(unittest.TestCase):
    def test_lockfile_of_the_repository_passes(self):
        done = subprocess.run([sys.executable, ROOT / "scripts" / "check_lockfile"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(found(), [])

    def test_package_without_a_strong_hash_is_named(self):
        self.assertEqual(found(integrity=None),
                         ["node_modules/one: integrity is None, not a SHA-512 hash"])
        self.assertEqual(found(integrity="sha1-AAAA"),
                         ["node_modules/one: integrity is 'sha1-AAAA', not a SHA-512 hash"])
        self.assertEqual(found(integrity="sha512-AAAA"),
                         ["node_modules/one: the SHA-512 hash has 3 bytes, not 64"])

    def test_package_from_elsewhere_is_named(self):
        self.assertEqual(found(resolved="git+ssh://git@host/one.git#1"), [
            "node_modules/one: comes from git+ssh://git@host/one.git#1, not from https://registry.npmjs.org/"])
        self.assertEqual(found(link=True), [
            "node_modules/one: is a folder of this machine, not a package of the registry"])

    def test_version_that_differs_or_is_a_range_is_named(self):
        self.assertEqual(found(version="1.2.4"), ["package.json has one 1.2.3, and the lockfile 1.2.4"])
        package = {"dependencies": {"one": "^1.2.3"}, "overrides": {"two": "4.0.0"}}
        self.assertEqual(lockfile.faults(package, LOCK), [
            "package.json: dependencies: one is '^1.2.3', not an exact version",
            "package.json has one ^1.2.3, and the lockfile 1.2.3",
            "dependencies of package.json and of the lockfile differ: run npm install"])

    def test_dependency_that_is_not_locked_is_named(self):
        package = {"dependencies": {"one": "1.2.3", "new": "1.0.0"}, "overrides": {"two": "4.0.0"}}
        self.assertEqual(lockfile.faults(package, LOCK), [
            "package.json has new 1.0.0, and the lockfile None",
            "dependencies of package.json and of the lockfile differ: run npm install"])


def answer(total, vulnerabilities):
    return json.dumps({"vulnerabilities": vulnerabilities, "metadata": {
        "vulnerabilities": {"total": total}, "dependencies": {"total": 91}}})


class Advisories(unittest.TestCase):
    def test_none_known_passes(self):
        self.assertEqual(advisories.verdict(answer(0, {})),
                         (0, "check_advisories: 91 packages, 0 with known vulnerabilities"))

    def test_known_vulnerability_fails_with_its_title(self):
        code, said = advisories.verdict(answer(1, {
            "one": {"severity": "high", "range": "<1.3.0", "via": [{"title": "Reads past its end"}]}}))
        self.assertEqual((code, said.splitlines()), (1, [
            "one <1.3.0: high: Reads past its end",
            "check_advisories: 91 packages, 1 with known vulnerabilities"]))

    def test_registry_without_an_answer_fails(self):
        for output, why in [
            ('{"message": "405 Method Not Allowed - POST https://r/bulk", "statusCode": 405}',
             "405 Method Not Allowed - POST https://r/bulk"),
            ('{"error": {"summary": "getaddrinfo ENOTFOUND", "detail": ""}}', "getaddrinfo ENOTFOUND"),
            ("", "npm wrote nothing"),
        ]:
            self.assertEqual(advisories.verdict(output), (
                1, f"check_advisories: not checked: the registry did not answer npm audit ({why})"))


if __name__ == "__main__":
    unittest.main()
