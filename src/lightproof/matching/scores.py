r"""What each patch of a photo says for each person, beyond what it would say for anybody.

A patch lies at the relative distance :math:`s` from a person; its closeness is :math:`e^{-6 s}`, as in
:func:`lightproof.method.aggregate.bounded`. In shadow everybody is equally far, in even light everybody is rather close: a
closeness alone cannot tell a stranger from a friend. So it is divided by the usual closeness in that patch of that
photo, the mean over the rendered people of :mod:`lightproof.matching.cohort`, and the logarithm of the quotient is the evidence
of the patch. The evidence for a person is the weighed mean over the patches, summed over two views of them (which
gradients a patch holds, and where in it they lie), less the level of a template of several photos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from lightproof.core.processes import in_threads
from lightproof.matching.kernels import FLOOR, closeness, summed_evidence, unit_vectors, usual_evidence
from lightproof.matching.templates import Enrolled, Side
from lightproof.types import Floats, Ints

PROBES: Final = 72
"""Photos compared at a time."""

Views: TypeAlias = Sequence[Floats]
"""Features of the same photos in each view."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What some photos say.

    Attributes
    ----------
    people : ndarray of shape (n, C)
        For each person enrolled.
    cohort : ndarray of shape (n, Z)
        For each rendered person: what it says for somebody who is certainly not there.
    distances : ndarray of shape (n, C), optional
        From each person enrolled, 0 to about 1: the weighed mean of :func:`lightproof.method.aggregate.bounded` over the
        patches of both views. It depends on nobody but the photo and the person.
    lots : ndarray of shape (C,), optional
        One for each person enrolled: of many, those with the smallest are the ones that others are measured against,
        see :mod:`lightproof.matching.calibration`. By default it is the first.
    """

    people: Floats
    cohort: Floats
    distances: Floats | None = None
    lots: Ints | None = None

    def without(self, person: int) -> Evidence:
        """What is said to a gallery that never had somebody."""
        apart, lots = self.distances, self.lots
        return Evidence(
            np.delete(self.people, person, axis=1),
            self.cohort,
            None if apart is None else np.delete(apart, person, axis=1),
            None if lots is None else np.delete(lots, person),
        )


_SAID: Final = ("people", "cohort")


class Usual(NamedTuple):
    """What is usual for some photos in one view, whoever they are compared with.

    Attributes
    ----------
    units : ndarray of shape (K, n, D filled up)
        The photos: see :func:`lightproof.matching.kernels.unit_vectors`.
    closeness : ndarray of shape (K, n)
        How close just anybody is to each patch.
    said : ndarray of shape (n, Z)
        What the photos say for each rendered person.
    """

    units: Floats
    closeness: Floats
    said: Floats


def usual_of(vectors: Views, cohort: Enrolled) -> list[list[Usual]]:
    """What is usual for photos, (n, K, D) in each view, :data:`PROBES` of them at a time."""
    return in_threads(lambda view: _usual_of_view(*view), zip(vectors, cohort.views, strict=True))


def evidence_of(vectors: Views, people: Enrolled, cohort: Enrolled) -> Evidence:
    """Sum up what photos say for everybody.

    Parameters
    ----------
    vectors : sequence of ndarray of shape (n, K, D)
        Their features in each view.
    people : Enrolled
        Everybody enrolled; may be nobody.
    cohort : Enrolled
        The rendered people, under the same settings.

    Returns
    -------
    Evidence
    """
    return evidence_for(people, usual_of(vectors, cohort))


def evidence_for(people: Enrolled, usual: Sequence[Sequence[Usual]]) -> Evidence:
    """Sum up what photos say for people, where it is known what is usual for these photos."""
    said = in_threads(lambda view: _evidence_of_view(*view), zip(usual, people.views, strict=True))
    known, made_up, apart = (np.sum([getattr(view, name) for view in said], axis=0) for name in (*_SAID, "distances"))
    return Evidence(known - people.levels, made_up, apart / len(said), people.lots)


def usual_closeness(vectors: Views, cohort: Enrolled) -> list[Floats]:
    """How close just anybody is to each patch of some photos, (n, K, D) -> (K, n) in each view."""
    return [_usual(unit_vectors(view), side) for view, side in zip(vectors, cohort.views, strict=True)]


def mean_evidence(vectors: Views, people: Enrolled, usual: Sequence[Floats]) -> Floats:
    """What photos say for each person on average, with their :func:`usual_closeness` known, shape (C,)."""
    said = [_mean_in_view(*view) for view in zip(vectors, people.views, usual, strict=True)]
    return np.asarray(np.sum(said, axis=0) - people.levels)


def evidence_map(vectors: Views, people: Enrolled, cohort: Enrolled) -> Evidence:
    """What every patch of one photo says, (K, C) and (K, Z); the mean over the patches is :func:`evidence_of`.

    Parameters
    ----------
    vectors : sequence of ndarray of shape (K, D)
        Its features in each view.
    people, cohort : Enrolled
    """
    maps = [_map_of_view(*view) for view in zip(vectors, people.views, cohort.views, strict=True)]
    known, made_up = (np.sum([getattr(view, name) for view in maps], axis=0) for name in _SAID)
    # The level is a mean over the patches: taken from each of them, it is taken from the mean.
    return Evidence(known - people.levels, made_up, lots=people.lots)


def best_evidence(said: Evidence, moves: int) -> Evidence:
    """Of photos under so many moves each: for each person, enrolled or rendered, the move that says most."""
    people, cohort = (part.reshape(-1, moves, part.shape[1]) for part in (said.people, said.cohort))
    assert said.distances is not None
    chosen = people.argmax(axis=1)[:, None]
    nearest = np.take_along_axis(said.distances.reshape(people.shape), chosen, axis=1)[:, 0]
    return Evidence(np.take_along_axis(people, chosen, axis=1)[:, 0], cohort.max(axis=1), nearest, said.lots)


def best_maps(said: Evidence, maps: Sequence[Evidence]) -> Evidence:
    """The maps of one photo at the moves that :func:`best_evidence` takes, (K, C) and (K, Z)."""
    chosen = []
    for name in _SAID:
        best = getattr(said, name).argmax(axis=0)
        every = np.stack([getattr(each, name) for each in maps])
        chosen.append(np.take_along_axis(every, best[None, None, :], axis=0)[0])
    return Evidence(chosen[0], chosen[1], lots=said.lots)


def joined_evidence(blocks: Sequence[Evidence]) -> Evidence:
    """Put blocks of photos one below the other."""
    people, cohort = (np.concatenate([getattr(each, name) for each in blocks]) for name in _SAID)
    apart = [each.distances for each in blocks if each.distances is not None]
    return Evidence(people, cohort, np.concatenate(apart), blocks[0].lots)


def beside_evidence(said: Evidence, more: Evidence, people: Enrolled) -> Evidence:
    """Put what the same photos say for others beside what they say for some; together these are ``people``."""
    assert said.distances is not None
    assert more.distances is not None
    return Evidence(
        np.concatenate([said.people, more.people], axis=1),
        said.cohort,
        np.concatenate([said.distances, more.distances], axis=1),
        people.lots,
    )


def _usual_of_view(vectors: Floats, cohort: Side) -> list[Usual]:
    blocks = [vectors[start : start + PROBES] for start in range(0, len(vectors), PROBES)]
    return [_usual_of_block(unit_vectors(block), cohort) for block in blocks]


def _usual_of_block(units: Floats, cohort: Side) -> Usual:
    close, made_up = usual_evidence(units, cohort.blocks, cohort.weights)
    return Usual(units, close, made_up / len(units))


def _evidence_of_view(usual: Sequence[Usual], people: Side) -> Evidence:
    return joined_evidence([_evidence_of_block(block, people) for block in usual])


def _evidence_of_block(usual: Usual, people: Side) -> Evidence:
    K = len(usual.units)
    known, near = summed_evidence(usual.units, people.blocks, usual.closeness, people.weights)
    return Evidence(known / K, usual.said, 1 - near / K)


def _usual(units: Floats, cohort: Side) -> Floats:
    """How close just anybody is to each patch, shape (K, n)."""
    return np.asarray(closeness(units, cohort.blocks).mean(axis=2))


def _mean_in_view(vectors: Floats, people: Side, usual: Floats) -> Floats:
    said, _ = summed_evidence(unit_vectors(vectors), people.blocks, usual, people.weights)
    return np.asarray(said.mean(axis=0, dtype=np.float64) / vectors.shape[1])


def _map_of_view(vector: Floats, people: Side, cohort: Side) -> Evidence:
    units = unit_vectors(vector[None])
    usual = _usual(units, cohort)
    known, made_up = (np.log(_near(units, side) / usual + FLOOR) * side.weights for side in (people, cohort))
    return Evidence(known, made_up)


def _near(units: Floats, side: Side) -> Floats:
    """How close each patch of one photo is to everybody, shape (K, C)."""
    return closeness(units, side.blocks)[:, 0]
