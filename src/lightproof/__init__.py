"""lightproof: face recognition that does not care about the light.

The front door: the names most people need. The method itself, one function an equation, is in
:mod:`lightproof.transform`, :mod:`lightproof.gradients`, :mod:`lightproof.patches`, :mod:`lightproof.light` and
:mod:`lightproof.subspaces`; data is in :mod:`lightproof.datasets`.
"""

import typing
from importlib import import_module
from importlib.metadata import version

from lightproof.errors import LightproofError, UserError
from lightproof.patches import PatchGrid
from lightproof.settings import PRESETS

if typing.TYPE_CHECKING:
    from lightproof.client import Client
    from lightproof.features import PatchRCDT
    from lightproof.gallery import Gallery
    from lightproof.nearest import NearestSubspace
    from lightproof.recognizer import FaceRecognizer

__version__ = version("lightproof")

# Estimators bring scikit-learn with them and a gallery the database, which take longer to load than all the rest: only
# who asks for them waits.
_ON_REQUEST: typing.Final = {
    "Client": "client",
    "FaceRecognizer": "recognizer",
    "Gallery": "gallery",
    "NearestSubspace": "nearest",
    "PatchRCDT": "features",
}


def __getattr__(name: str) -> typing.Any:
    if name in _ON_REQUEST:
        return getattr(import_module(f"lightproof.{_ON_REQUEST[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_REQUEST})


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
