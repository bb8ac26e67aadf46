"""lightproof: face recognition that does not care about the light.

The front door: the names most people need. The method itself, one function an equation, is in
:mod:`lightproof.transform`, :mod:`lightproof.gradients`, :mod:`lightproof.patches`, :mod:`lightproof.light` and
:mod:`lightproof.subspaces`; data is in :mod:`lightproof.datasets`.
"""

from importlib.metadata import version

from lightproof.errors import LightproofError, UserError
from lightproof.features import PatchRCDT
from lightproof.nearest import NearestSubspace
from lightproof.patches import PatchGrid
from lightproof.recognizer import FaceRecognizer
from lightproof.settings import PRESETS

__version__ = version("lightproof")

__all__ = [
    "PRESETS",
    "FaceRecognizer",
    "LightproofError",
    "NearestSubspace",
    "PatchGrid",
    "PatchRCDT",
    "UserError",
    "__version__",
]
