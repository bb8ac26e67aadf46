r"""What each patch of a photo says for each person, beyond what it would say for anybody.

A patch lies at the relative distance :math:`s` from a person; its closeness is :math:`e^{-6 s}`, as in
:func:`lightproof.aggregate.bounded`. In shadow everybody is equally far, in even light everybody is rather close: a
closeness alone cannot tell a stranger from a friend. So it is divided by the usual closeness in that patch of that
photo, the mean over the rendered people of :mod:`lightproof.cohort`, and the logarithm of the quotient is the evidence
of the patch. The evidence for a person is the weighed mean over the patches, summed over two views of them (which
gradients a patch holds, and where in it they lie), less the level of a template of several photos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from lightproof.aggregate import SHARPNESS
from lightproof.enrolled import Enrolled
from lightproof.people import People
from lightproof.stack import PATCHES, relative_residuals
from lightproof.types import Floats

FLOOR: Final = 0.2
"""Added to the quotient: a patch that matches nobody must not outweigh all others."""

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
        From each person enrolled, 0 to about 1: the weighed mean of :func:`lightproof.aggregate.bounded` over the
        patches of both views. It depends on nobody but the photo and the person.
    """

    people: Floats
    cohort: Floats
    distances: Floats | None = None


_SAID: Final = ("people", "cohort")


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
    said = [_evidence_of_view(*view) for view in zip(vectors, people.views, cohort.views, strict=True)]
    known, made_up, apart = (np.sum([getattr(view, name) for view in said], axis=0) for name in (*_SAID, "distances"))
    return Evidence(known - people.levels, made_up, apart / len(said))


def usual_closeness(vectors: Views, cohort: Enrolled) -> list[Floats]:
    """How close just anybody is to each patch of some photos, (n, K, D) -> (K, n, 1) in each view."""
    return [_usual_in_view(*view) for view in zip(vectors, cohort.views, strict=True)]


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
    return Evidence(known - people.levels, made_up)


def best_evidence(said: Evidence, moves: int) -> Evidence:
    """Of photos under so many moves each: for each person, enrolled or rendered, the move that says most."""
    people, cohort = (part.reshape(-1, moves, part.shape[1]) for part in (said.people, said.cohort))
    assert said.distances is not None
    chosen = people.argmax(axis=1)[:, None]
    nearest = np.take_along_axis(said.distances.reshape(people.shape), chosen, axis=1)[:, 0]
    return Evidence(np.take_along_axis(people, chosen, axis=1)[:, 0], cohort.max(axis=1), nearest)


def best_maps(said: Evidence, maps: Sequence[Evidence]) -> Evidence:
    """The maps of one photo at the moves that :func:`best_evidence` takes, (K, C) and (K, Z)."""
    chosen = []
    for name in _SAID:
        best = getattr(said, name).argmax(axis=0)
        every = np.stack([getattr(each, name) for each in maps])
        chosen.append(np.take_along_axis(every, best[None, None, :], axis=0)[0])
    return Evidence(*chosen)


def joined_evidence(blocks: Sequence[Evidence]) -> Evidence:
    """Put blocks of photos one below the other."""
    people, cohort = (np.concatenate([getattr(each, name) for each in blocks]) for name in _SAID)
    return Evidence(people, cohort, np.concatenate([each.distances for each in blocks if each.distances is not None]))


def _evidence_of_view(vectors: Floats, people: People, cohort: People) -> Evidence:
    n, K, _ = vectors.shape
    known, closeness = np.zeros((2, n, len(people.spans)), vectors.dtype)
    made_up = np.zeros((n, len(cohort.spans)), vectors.dtype)
    for start in range(0, n, PROBES):
        rows = slice(start, start + PROBES)
        for some in _parts(K):
            part = _patch_evidence(vectors[rows, some], some, people, cohort)
            known[rows] += part.people.sum(axis=0)
            made_up[rows] += part.cohort.sum(axis=0)
            closeness[rows] += part.closeness
    return Evidence(known / K, made_up / K, 1 - closeness / K)


def _usual_in_view(vectors: Floats, cohort: People) -> Floats:
    parts = _parts(vectors.shape[1])
    return np.concatenate([_closeness(vectors[:, some], some, cohort).mean(axis=2, keepdims=True) for some in parts])


def _mean_in_view(vectors: Floats, people: People, usual: Floats) -> Floats:
    total = np.zeros(len(people.spans))
    for some in _parts(vectors.shape[1]):
        close = _closeness(vectors[:, some], some, people)
        total += _weighed(_logarithm(close, usual[some]), some, people).sum(axis=(0, 1))
    return np.asarray(total / (vectors.shape[0] * vectors.shape[1]))


def _map_of_view(vector: Floats, people: People, cohort: People) -> Evidence:
    parts = [_patch_evidence(vector[None, some], some, people, cohort) for some in _parts(len(vector))]
    return Evidence(
        np.concatenate([part.people[:, 0] for part in parts]), np.concatenate([part.cohort[:, 0] for part in parts])
    )


def _parts(n_patches: int) -> list[slice]:
    return [slice(first, first + PATCHES) for first in range(0, n_patches, PATCHES)]


class _Part(NamedTuple):
    """Evidence of some patches for people (patches, n, C) and cohort (patches, n, Z), and closeness summed, (n, C)."""

    people: Floats
    cohort: Floats
    closeness: Floats


def _patch_evidence(vectors: Floats, some: slice, people: People, cohort: People) -> _Part:
    close = _closeness(vectors, some, cohort)
    usual = close.mean(axis=2, keepdims=True)
    made_up = _weighed(_logarithm(close, usual), some, cohort)
    if not people.spans:
        return _Part(np.zeros((*close.shape[:2], 0), close.dtype), made_up, np.zeros((close.shape[1], 0), close.dtype))
    close = _closeness(vectors, some, people)
    closeness = _weighed(close.copy(), some, people).sum(axis=0)
    return _Part(_weighed(_logarithm(close, usual), some, people), made_up, closeness)


def _closeness(vectors: Floats, some: slice, people: People) -> Floats:
    sines = relative_residuals(vectors, people.stack.of_patches(some))
    sines *= sines.dtype.type(-SHARPNESS)
    return np.exp(sines, out=sines)


def _logarithm(close: Floats, usual: Floats) -> Floats:
    """How much closer than usual, in place."""
    close /= usual
    close += close.dtype.type(FLOOR)
    return np.log(close, out=close)


def _weighed(values: Floats, some: slice, people: People) -> Floats:
    """Weigh the patches as each person's photos ask for, in place."""
    if people.weights is not None:
        values *= people.weights[some, None, :].astype(values.dtype)
    return values
