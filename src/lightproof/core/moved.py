"""Modules and names as they were called before version 0.2, for one release: each warns, and gives the new one."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

MOVED: Final = {
    "advice": "gallery.advice",
    "aggregate": "method.aggregate",
    "alignment": "method.warps",
    "baselines": "estimators.baselines",
    "baselines.networks": "estimators.baselines.deep_networks",
    "client": "service.client",
    "cluster": "core.dask_cluster",
    "deformations": "method.deformations",
    "diagnosis": "imaging.lighting",
    "explain": "matching.explanation",
    "faces": "imaging.detection",
    "features": "estimators.patch_rcdt",
    "gradients": "method.gradients",
    "images": "core.images",
    "light": "method.illumination",
    "nearest": "estimators.nearest_subspace",
    "patches": "method.patches",
    "pixels": "imaging.decode",
    "recognizer": "estimators.recognizer",
    "settings": "method.presets",
    "stack": "method.subspace_bank",
    "subspaces": "method.subspaces",
    "transform": "method.transform",
    "wire": "service.schemas",
}
"""Old name below ``lightproof`` to new name. Public names inside the modules are the same, or :func:`renamed` there."""


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}; the old name goes with the next release.", DeprecationWarning, stacklevel=3)


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a module that gives what ``names`` lists, old name to new, and warns."""

    def give(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name}", f"{module}.{names[name]}")
        return getattr(sys.modules[module], names[name])

    return give


class Renamed:
    """An attribute of a class under its old name, which warns."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = name

    def __get__(self, instance: object, owner: type) -> Any:
        _warn(f"{owner.__name__}.{self.old}", f"{owner.__name__}.{self.new}")
        return getattr(owner if instance is None else instance, self.new)


class MovedModules(MetaPathFinder, Loader):
    """Finds a module under its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Tell the import system about the names of :data:`MOVED`, and leave all others to it."""
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == "lightproof" and name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module under its new name in place of the empty one that was made for the old name."""
        old = module.__name__
        new = f"lightproof.{MOVED[old.partition('.')[2]]}"
        _warn(old, new)
        sys.modules[old] = importlib.import_module(new)


def install() -> None:
    """Let old names be imported."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
