"""Faces to work on: rendered ones that need no files, and readers for the research sets."""

from lightproof.datasets import protocols
from lightproof.datasets.base import FaceSet
from lightproof.datasets.protocols import YALE_LIGHTS
from lightproof.datasets.synthetic import make_relit_faces
from lightproof.datasets.yale_b import load_yale_b

__all__ = ["YALE_LIGHTS", "FaceSet", "load_yale_b", "make_relit_faces", "protocols"]
