"""CAS-PEAL-R1: enrolled with the normal photo, asked about under lamps, by azimuth."""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols.rule import Protocol, Split
from lightproof.errors import BadParameter
from lightproof.types import is_whole

CAS_PEAL_AZIMUTHS: Final = {1: 0, 2: 45, 3: 90}
"""Azimuth of the lamp, to either side, by subset."""

_GALLERIES: Final = ("one normal photo", "normal and subset 1", "normal and subsets 1, 2")


def cas_peal_test(adding: int = 0) -> Protocol:
    """Test of the paper: everybody enrolled with one normal photo.

    Subset 1 is the lamp at azimuth 0, subset 2 at 45 degrees to either side, subset 3 at 90 degrees.

    Parameters
    ----------
    adding : int
        The enlarged training sets of the paper's discussion: 1 enrolls subset 1 too, 2 subsets 1 and 2. Only subset 3
        is asked about then.
    """
    if not is_whole(adding, 0) or adding >= len(_GALLERIES):
        raise BadParameter("cas_peal_test", "adding", "0, 1 or 2", adding)

    def rule(faces: FaceSet) -> Split:
        # The room's own light, E, is that of the normal photo.
        normal = np.array([shot.startswith("IE") for shot in faces.shots], dtype=bool)
        lamp = {i: ~normal & (np.abs(faces.azimuths) == azimuth) for i, azimuth in CAS_PEAL_AZIMUTHS.items()}
        enrolled = normal.copy()
        for subset in range(1, adding + 1):
            enrolled |= lamp[subset]
        asked = [3] if adding else list(CAS_PEAL_AZIMUTHS)
        return Split(np.flatnonzero(enrolled), {subset: np.flatnonzero(lamp[subset]) for subset in asked})

    return Protocol("Test", _GALLERIES[adding], rule)
