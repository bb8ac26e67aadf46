"""lightproof: face recognition that does not care about the light.

This module has the names most people need. The method itself, one function an equation, is in :mod:`lightproof.method`;
data sets are in :mod:`lightproof.datasets`.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any
from typing import Final as _Final

from lightproof.core import moved as _moved
from lightproof.errors import LightproofError, UserError
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import PRESETS

if _TYPE_CHECKING:
    from lightproof.estimators.nearest_subspace import NearestSubspace
    from lightproof.estimators.patch_rcdt import PatchRCDT
    from lightproof.estimators.recognizer import FaceRecognizer
    from lightproof.gallery import Gallery
    from lightproof.service.client import Client

__version__ = _version("lightproof")

_moved.install()

# Estimators load scikit-learn and a gallery loads the database. Both take longer than everything else, so they are
# loaded on first use.
_LAZY: _Final = {
    "Client": "service.client",
    "FaceRecognizer": "estimators.recognizer",
    "Gallery": "gallery",
    "NearestSubspace": "estimators.nearest_subspace",
    "PatchRCDT": "estimators.patch_rcdt",
}


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        return getattr(_import_module(f"lightproof.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "PRESETS",
    "Client",
    "FaceRecognizer",
    "Gallery",
    "LightproofError",
    "NearestSubspace",
    "PatchGrid",
    "PatchRCDT",
    "UserError",
    "__version__",
]
