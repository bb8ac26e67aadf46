"""Faces to work on: rendered ones that need no files, and readers for the research sets."""

from lightproof.datasets import protocols
from lightproof.datasets.ar import load_ar
from lightproof.datasets.cas_peal import load_cas_peal
from lightproof.datasets.crowd import Crowd, Probes
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.orl_and_lfw import load_lfw, load_orl
from lightproof.datasets.photo_folder import load_folder
from lightproof.datasets.protocols import YALE_LIGHTS
from lightproof.datasets.synthetic import make_relit_faces
from lightproof.datasets.yale_b import load_yale_b

__all__ = [
    "YALE_LIGHTS",
    "Crowd",
    "FaceSet",
    "Probes",
    "load_ar",
    "load_cas_peal",
    "load_folder",
    "load_lfw",
    "load_orl",
    "load_yale_b",
    "make_relit_faces",
    "protocols",
]
