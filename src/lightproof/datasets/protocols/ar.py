"""AR: enrolled with the light from the front, asked about under light from the sides."""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols.rule import Protocol, Split

AR_GALLERY: Final = ("1", "14")
"""Neutral, light from the front, one of each session."""

AR_PROBES: Final = {1: ("5", "6", "18", "19"), 2: ("7", "20")}
"""Light from the left or the right; light from both sides."""


def ar_test() -> Protocol:
    """Test of the paper: everybody enrolled with shots 1 and 14.

    Subset 1 is light from one side (shots 5, 6, 18, 19; 400 photos of 100 people), subset 2 light from both sides
    (shots 7 and 20; 200 photos).
    """
    return Protocol("Test", "shots 1 and 14", _split)


def _split(faces: FaceSet) -> Split:
    shots = np.array(faces.shots)
    probes = {subset: np.flatnonzero(np.isin(shots, chosen)) for subset, chosen in AR_PROBES.items()}
    return Split(np.flatnonzero(np.isin(shots, AR_GALLERY)), probes)
