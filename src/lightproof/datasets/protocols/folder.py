"""A folder of pictures: one photo of each person enrolled, all others asked about."""

from __future__ import annotations

import numpy as np

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols.rule import Protocol, Split
from lightproof.errors import BadParameter
from lightproof.types import is_whole


def folder_test(pick: int = 0) -> Protocol:
    """Everybody enrolled with one photo; all other photos are subset 1.

    Somebody with a single photo is enrolled and never asked about.

    Parameters
    ----------
    pick : int
        Place among the person's photos in file order, from 0, modulo their number.
    """
    if not is_whole(pick, 0):
        raise BadParameter("folder_test", "pick", "a whole number of at least 0", pick)

    def rule(faces: FaceSet) -> Split:
        of_each = [np.flatnonzero(faces.labels == person) for person in np.unique(faces.labels)]
        gallery = np.array([photos[pick % len(photos)] for photos in of_each], dtype=np.intp)
        return Split(gallery, {1: np.setdiff1d(np.arange(len(faces)), gallery)})

    return Protocol("One photo", f"photo {pick}", rule)
