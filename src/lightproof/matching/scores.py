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
from lightproof.matching.kernels import FLOOR, closeness, cohort_scores, summed_scores, unit_vectors
from lightproof.matching.templates import TemplateSet, ViewBank
from lightproof.types import Floats, Ints

PROBES: Final = 72
"""Photos compared at a time."""

Views: TypeAlias = Sequence[Floats]
"""Features of the same photos in each view."""


@dataclass(frozen=True, eq=False)
class Scores:
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
    sampling_keys : ndarray of shape (C,), optional
        One for each person enrolled: of many, those with the smallest are the ones that others are measured against,
        see :mod:`lightproof.matching.calibration`. By default it is the first.
    """

    people: Floats
    cohort: Floats
    distances: Floats | None = None
    sampling_keys: Ints | None = None

    def without(self, person: int) -> Scores:
        """What is said to a gallery that never had somebody."""
        apart, sampling_keys = self.distances, self.sampling_keys
        return Scores(
            np.delete(self.people, person, axis=1),
            self.cohort,
            None if apart is None else np.delete(apart, person, axis=1),
            None if sampling_keys is None else np.delete(sampling_keys, person),
        )


_SAID: Final = ("people", "cohort")


class CohortStats(NamedTuple):
    """What is usual for some photos in one view, whoever they are compared with.

    Attributes
    ----------
    units : ndarray of shape (K, n, D filled up)
        The photos: see :func:`lightproof.matching.kernels.unit_vectors`.
    closeness : ndarray of shape (K, n)
        How close just anybody is to each patch.
    scores : ndarray of shape (n, Z)
        What the photos say for each rendered person.
    """

    units: Floats
    closeness: Floats
    scores: Floats


def cohort_stats(vectors: Views, cohort: TemplateSet) -> list[list[CohortStats]]:
    """What is usual for photos, (n, K, D) in each view, :data:`PROBES` of them at a time."""
    return in_threads(lambda view: _usual_of_view(*view), zip(vectors, cohort.views, strict=True))


def probe_scores(vectors: Views, people: TemplateSet, cohort: TemplateSet) -> Scores:
    """Sum up what photos say for everybody.

    Parameters
    ----------
    vectors : sequence of ndarray of shape (n, K, D)
        Their features in each view.
    people : TemplateSet
        Everybody enrolled; may be nobody.
    cohort : TemplateSet
        The rendered people, under the same settings.

    Returns
    -------
    Scores
    """
    return scores_against(people, cohort_stats(vectors, cohort))


def scores_against(people: TemplateSet, usual: Sequence[Sequence[CohortStats]]) -> Scores:
    """Sum up what photos say for people, where it is known what is usual for these photos."""
    said = in_threads(lambda view: _evidence_of_view(*view), zip(usual, people.views, strict=True))
    known, made_up, apart = (np.sum([getattr(view, name) for view in said], axis=0) for name in (*_SAID, "distances"))
    return Scores(known - people.levels, made_up, apart / len(said), people.sampling_keys)


def cohort_closeness(vectors: Views, cohort: TemplateSet) -> list[Floats]:
    """How close just anybody is to each patch of some photos, (n, K, D) -> (K, n) in each view."""
    return [_usual(unit_vectors(view), side) for view, side in zip(vectors, cohort.views, strict=True)]


def mean_scores(vectors: Views, people: TemplateSet, usual: Sequence[Floats]) -> Floats:
    """What photos say for each person on average, with their :func:`cohort_closeness` known, shape (C,)."""
    said = [_mean_in_view(*view) for view in zip(vectors, people.views, usual, strict=True)]
    return np.asarray(np.sum(said, axis=0) - people.levels)


def patch_scores(vectors: Views, people: TemplateSet, cohort: TemplateSet) -> Scores:
    """What every patch of one photo says, (K, C) and (K, Z); the mean over the patches is :func:`probe_scores`.

    Parameters
    ----------
    vectors : sequence of ndarray of shape (K, D)
        Its features in each view.
    people, cohort : TemplateSet
    """
    maps = [_map_of_view(*view) for view in zip(vectors, people.views, cohort.views, strict=True)]
    known, made_up = (np.sum([getattr(view, name) for view in maps], axis=0) for name in _SAID)
    # The level is a mean over the patches: taken from each of them, it is taken from the mean.
    return Scores(known - people.levels, made_up, sampling_keys=people.sampling_keys)


def best_over_warps(said: Scores, moves: int) -> Scores:
    """Of photos under so many moves each: for each person, enrolled or rendered, the move that says most."""
    people, cohort = (part.reshape(-1, moves, part.shape[1]) for part in (said.people, said.cohort))
    assert said.distances is not None
    chosen = people.argmax(axis=1)[:, None]
    nearest = np.take_along_axis(said.distances.reshape(people.shape), chosen, axis=1)[:, 0]
    return Scores(np.take_along_axis(people, chosen, axis=1)[:, 0], cohort.max(axis=1), nearest, said.sampling_keys)


def patch_scores_at_best(said: Scores, maps: Sequence[Scores]) -> Scores:
    """The maps of one photo at the moves that :func:`best_over_warps` takes, (K, C) and (K, Z)."""
    chosen = []
    for name in _SAID:
        best = getattr(said, name).argmax(axis=0)
        every = np.stack([getattr(each, name) for each in maps])
        chosen.append(np.take_along_axis(every, best[None, None, :], axis=0)[0])
    return Scores(chosen[0], chosen[1], sampling_keys=said.sampling_keys)


def stack_probes(blocks: Sequence[Scores]) -> Scores:
    """Put blocks of photos one below the other."""
    people, cohort = (np.concatenate([getattr(each, name) for each in blocks]) for name in _SAID)
    apart = [each.distances for each in blocks if each.distances is not None]
    return Scores(people, cohort, np.concatenate(apart), blocks[0].sampling_keys)


def append_people(said: Scores, more: Scores, people: TemplateSet) -> Scores:
    """Put what the same photos say for others beside what they say for some; together these are ``people``."""
    assert said.distances is not None
    assert more.distances is not None
    return Scores(
        np.concatenate([said.people, more.people], axis=1),
        said.cohort,
        np.concatenate([said.distances, more.distances], axis=1),
        people.sampling_keys,
    )


def _usual_of_view(vectors: Floats, cohort: ViewBank) -> list[CohortStats]:
    blocks = [vectors[start : start + PROBES] for start in range(0, len(vectors), PROBES)]
    return [_usual_of_block(unit_vectors(block), cohort) for block in blocks]


def _usual_of_block(units: Floats, cohort: ViewBank) -> CohortStats:
    close, made_up = cohort_scores(units, cohort.blocks, cohort.weights)
    return CohortStats(units, close, made_up / len(units))


def _evidence_of_view(usual: Sequence[CohortStats], people: ViewBank) -> Scores:
    return stack_probes([_evidence_of_block(block, people) for block in usual])


def _evidence_of_block(usual: CohortStats, people: ViewBank) -> Scores:
    K = len(usual.units)
    known, near = summed_scores(usual.units, people.blocks, usual.closeness, people.weights)
    return Scores(known / K, usual.scores, 1 - near / K)


def _usual(units: Floats, cohort: ViewBank) -> Floats:
    """How close just anybody is to each patch, shape (K, n)."""
    return np.asarray(closeness(units, cohort.blocks).mean(axis=2))


def _mean_in_view(vectors: Floats, people: ViewBank, usual: Floats) -> Floats:
    said, _ = summed_scores(unit_vectors(vectors), people.blocks, usual, people.weights)
    return np.asarray(said.mean(axis=0, dtype=np.float64) / vectors.shape[1])


def _map_of_view(vector: Floats, people: ViewBank, cohort: ViewBank) -> Scores:
    units = unit_vectors(vector[None])
    usual = _usual(units, cohort)
    known, made_up = (np.log(_near(units, side) / usual + FLOOR) * side.weights for side in (people, cohort))
    return Scores(known, made_up)


def _near(units: Floats, side: ViewBank) -> Floats:
    """How close each patch of one photo is to everybody, shape (K, C)."""
    return closeness(units, side.blocks)[:, 0]
