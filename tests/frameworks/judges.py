"""Access to the frameworks: fake process groups of any world size, checkouts of frameworks that are not on PyPI,
and stand-ins for CUDA-only packages that a framework imports and these tests never call."""

import contextlib
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import pathlib
import subprocess
import sys
import types
import typing
import warnings

import pytest
import typing_extensions

os.environ.setdefault("DS_ACCELERATOR", "cpu")
warnings.filterwarnings("ignore")


def version(package):
    return importlib.metadata.version(package)


class _StandIn(types.ModuleType):
    __version__ = "0.0.0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _StandIn(spec.name)

    def exec_module(self, module):
        pass


def stand_in(*packages):
    """Makes `import PACKAGE` succeed with empty classes. For packages that need CUDA, or only read data."""
    sys.meta_path.insert(0, _StandInFinder(packages))


def use_checkout(variable, folder="."):
    """Puts the checkout that the environment variable names first on the path and returns its commit. Skips the
    module if the variable is not set."""
    place = os.environ.get(variable)
    if not place:
        pytest.skip(f"{variable} is not set: it names a checkout of the framework's repository",
                    allow_module_level=True)  # fmt: skip
    root = pathlib.Path(place)
    sys.path.insert(0, str(root / folder))
    if not hasattr(typing, "override"):  # Megatron-LM needs Python 3.12 for nothing else
        typing.override = typing_extensions.override
    commit = root / "COMMIT"  # of a tree without its history
    if commit.exists():
        return commit.read_text("utf-8").strip()[:8]
    shown = subprocess.run(["git", "-C", str(root), "rev-parse", "--short=8", "HEAD"],
                           capture_output=True, text=True)  # fmt: skip
    return shown.stdout.strip() or "unknown"


def forget_groups():
    """Empties PyTorch's caches that name the groups of an earlier world."""
    from torch.distributed.tensor import _redistribute, debug

    _redistribute.clear_redistribute_planner_cache()
    debug._clear_sharding_prop_cache()
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper) and one.__module__.startswith("torch.distributed"):
            one.cache_clear()


@contextlib.contextmanager
def fake_world(world, rank):
    """Lets this process be one rank of any world: collectives return at once."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    forget_groups()
    names = {"WORLD_SIZE": world, "RANK": rank, "LOCAL_RANK": rank % 8, "LOCAL_WORLD_SIZE": min(8, world)}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(value) for name, value in names.items()})
    dist.init_process_group("fake", rank=rank, world_size=world, store=FakeStore())
    try:
        yield
    finally:
        dist.destroy_process_group()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def ranks_of(group):
    import torch.distributed as dist

    return dist.get_process_group_ranks(group)
