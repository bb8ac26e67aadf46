"""lightproof: face recognition that does not care about the light.

The front door: the names most people need. The method itself, one function an equation, is in
:mod:`lightproof.transform`, :mod:`lightproof.gradients`, :mod:`lightproof.patches`, :mod:`lightproof.light` and
:mod:`lightproof.subspaces`; data is in :mod:`lightproof.datasets`.
"""

import typing
from importlib.metadata import version

from lightproof.errors import LightproofError, UserError
from lightproof.features import PatchRCDT
from lightproof.nearest import NearestSubspace
from lightproof.patches import PatchGrid
from lightproof.recognizer import FaceRecognizer
from lightproof.settings import PRESETS

if typing.TYPE_CHECKING:
    from lightproof.gallery import Gallery

__version__ = version("lightproof")


def __getattr__(name: str) -> typing.Any:
    # A gallery brings the database with it, which takes longer to load than all the rest: only who asks for it waits.
    if name == "Gallery":
        from lightproof.gallery import Gallery

        return Gallery
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "PRESETS",
    "FaceRecognizer",
    "Gallery",
    "LightproofError",
    "NearestSubspace",
    "PatchGrid",
    "PatchRCDT",
    "UserError",
    "__version__",
]
