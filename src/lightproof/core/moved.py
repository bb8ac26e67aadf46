"""Modules under the names they had before version 0.2, for one release: importing one warns, and gives the new one."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

MOVED: Final = {
    "advice": "gallery.advice",
    "aggregate": "method.aggregate",
    "alignment": "method.warps",
    "baselines": "estimators.baselines",
    "client": "service.client",
    "cluster": "core.cluster",
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
}
"""Old name below ``lightproof`` to new name. Names inside the modules are the same."""


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
        warnings.warn(f"{old} is now {new}; the old name goes with the next release.", DeprecationWarning, stacklevel=2)
        sys.modules[old] = importlib.import_module(new)


def install() -> None:
    """Let old names be imported."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
