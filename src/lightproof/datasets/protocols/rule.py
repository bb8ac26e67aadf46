"""What a protocol is: a rule that says which photos are enrolled and which are asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.base import FaceSet
from lightproof.errors import BadLabels


@dataclass(frozen=True, eq=False)
class Split:
    """Positions in a FaceSet.

    Attributes
    ----------
    gallery : ndarray of int
        Photos to enroll.
    probes : dict of int to ndarray of int
        Photos to identify, by subset; a higher number is a harder light.
    """

    gallery: NDArray[np.intp]
    probes: dict[int, NDArray[np.intp]]


@dataclass(frozen=True)
class Protocol:
    """A rule that splits a data set into gallery and probes.

    Attributes
    ----------
    name : str
        As the paper calls it.
    gallery : str
        Which photos are enrolled, in words.
    rule : callable
        From a FaceSet to a Split.
    """

    name: str
    gallery: str
    rule: Callable[[FaceSet], Split]

    def split(self, faces: FaceSet) -> Split:
        """Apply the rule to a data set; refuse a split that enrolls not everybody or asks about enrolled photos."""
        split = self.rule(faces)
        left_out = np.setdiff1d(faces.labels, faces.labels[split.gallery])
        if len(left_out):
            legal = f"on a photo that {self.name} enrolls ({self.gallery})"
            raise BadLabels(f"Label {str(left_out[0])!r}", legal, "none")
        for subset, probes in split.probes.items():
            both = np.intersect1d(split.gallery, probes)
            if len(both):
                where = f"{len(both)} of them, the first {faces.files[both[0]]}"
                raise BadLabels(f"Probes {subset} of {self.name}", "photos that are not enrolled", where)
        return split


def restricted(protocol: Protocol, subsets: Iterable[int]) -> Protocol:
    """Return a protocol that asks about some subsets only."""
    chosen = tuple(subsets)

    def rule(faces: FaceSet) -> Split:
        split = protocol.split(faces)
        return Split(split.gallery, {subset: split.probes[subset] for subset in chosen})

    return Protocol(protocol.name, protocol.gallery, rule)
