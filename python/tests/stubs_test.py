"""The stubs match the module: names, arguments and defaults; checked with mypy if it is installed."""

import ast
import inspect
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import rankwright

STUB = pathlib.Path(rankwright.__file__).with_suffix(".pyi")
TREE = ast.parse(STUB.read_text("utf-8"))
SAMPLE = '''
import pathlib
import rankwright

best: rankwright.Planned = rankwright.plan(model="llama-3.1-8b", cluster="dgx-h100 x 2", tp=2)
codes: list[str] = [finding.code for finding in rankwright.check(best, for_="megatron")]
step: float = rankwright.explain(pathlib.Path("plan.yaml")).step_seconds
files: dict[str, str] = rankwright.export({"world_size": 64}, to="megatron")
cluster = rankwright.import_("topo.txt", device="h100-sxm", hosts=2)
rankwright.plan(model=rankwright.import_("config.json"), cluster=cluster, exclude_nodes=(0, 2))
rankwright.explain(best, slow=("17:1.3x", "18:1.2x"))
rankwright.validate((pathlib.Path("a.csv"), pathlib.Path("b.csv")), with_=("c.csv",))
names: list[str] = [name for name in best if name in best and len(best) > 0]
try:
    rankwright.report(best).save("plan.html")
except rankwright.Error as error:
    lines: list[int] = [finding.line for finding in error.findings]
'''


def stubbed(kind, body=TREE.body):
    return {node.name: node for node in body if isinstance(node, kind)}


def parameters(node):
    """Returns (name, kind, default) of each argument of a stub; ... for a default that is not given."""
    kinds, arguments = inspect.Parameter, node.args
    first = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(first) - len(arguments.defaults)) + arguments.defaults
    rows = [(arg, kinds.POSITIONAL_OR_KEYWORD, value) for arg, value in zip(first, defaults)]
    if arguments.vararg:
        rows.append((arguments.vararg, kinds.VAR_POSITIONAL, None))
    rows += [(arg, kinds.KEYWORD_ONLY, value)
             for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults)]  # fmt: skip
    return [(arg.arg, kind, kinds.empty if value is None else ast.literal_eval(value))
            for arg, kind, value in rows]  # fmt: skip


class Stubs(unittest.TestCase):
    def assertSame(self, node, function):
        real = [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]
        told = parameters(node)
        self.assertEqual([row[:2] for row in told], [row[:2] for row in real], node.name)
        for (name, _, mine), (_, _, its) in zip(told, real):
            if mine is not ...:
                self.assertEqual(mine, its, f"{node.name}({name})")

    def test_names_equal_the_module(self):
        told = {*stubbed(ast.FunctionDef), *stubbed(ast.ClassDef), "__version__"}
        self.assertEqual(told, set(rankwright.__all__))

    def test_functions_have_the_same_arguments(self):
        for name, node in stubbed(ast.FunctionDef).items():
            self.assertSame(node, getattr(rankwright, name))
            self.assertTrue(getattr(rankwright, name).__doc__, name)

    def test_classes_have_the_same_methods(self):
        for name, node in stubbed(ast.ClassDef).items():
            real = getattr(rankwright, name)
            self.assertTrue(real.__doc__, name)
            for method, told in stubbed(ast.FunctionDef, node.body).items():
                its = inspect.getattr_static(real, method)
                decorators = [one.id for one in told.decorator_list]
                self.assertEqual(isinstance(its, property), "property" in decorators, method)
                if isinstance(its, property):
                    continue
                self.assertSame(told, getattr(its, "__func__", its))

    @unittest.skipUnless(shutil.which("mypy"), "no mypy")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            for text, fails in ((SAMPLE, False), (SAMPLE + "rankwright.plan(tp='two')\n", True)):
                path = pathlib.Path(folder, "sample.py")
                path.write_text(text, "utf-8")
                result = subprocess.run(
                    ["mypy", "--strict", "--cache-dir", folder, path],
                    env={"MYPYPATH": str(STUB.parent.parent), "PATH": "/usr/bin:/bin"},
                    capture_output=True, encoding="utf-8", check=False,
                )  # fmt: skip
                self.assertEqual(result.returncode != 0, fails, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
