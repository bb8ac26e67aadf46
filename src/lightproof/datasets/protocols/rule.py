"""What a protocol is: a rule that says which photos are enrolled and which are asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.face_set import FaceSet
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


def everybody(label: str) -> bool:
    """Choose all people."""
    return True


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
    people : callable
        From a label to whether that person takes part.
    """

    name: str
    gallery: str
    rule: Callable[[FaceSet], Split]
    people: Callable[[str], bool] = everybody

    def split(self, faces: FaceSet) -> Split:
        """Apply the rule to a data set; refuse a split that enrolls not everybody or asks about enrolled photos."""
        split = self.rule(faces)
        taking_part = [label for label in np.unique(faces.labels) if self.people(str(label))]
        left_out = np.setdiff1d(taking_part, faces.labels[split.gallery])
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

    return replace(protocol, rule=rule)


def restricted_to_people(protocol: Protocol, people: Callable[[str], bool]) -> Protocol:
    """Return a protocol that enrolls some people only, and asks about them only.

    Parameters
    ----------
    protocol : Protocol
    people : callable
        From a label to whether that person takes part; nobody comes back whom ``protocol`` left out already.
    """

    def rule(faces: FaceSet) -> Split:
        split = protocol.split(faces)
        chosen = [label for label in np.unique(faces.labels) if people(str(label))]
        inside = np.isin(faces.labels, chosen)
        gallery, *probes = (photos[inside[photos]] for photos in (split.gallery, *split.probes.values()))
        if len(gallery) == 0:
            raise BadLabels(f"People of {protocol.name}", "some who take part", "none")
        return Split(gallery, dict(zip(split.probes, probes, strict=True)))

    return replace(protocol, rule=rule, people=lambda label: protocol.people(label) and people(label))
