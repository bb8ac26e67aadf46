r"""Probes against templates: one score for each person.

A patch of a photo lies at the relative distance :math:`s` from a person; its closeness is :math:`e^{-6 s}`, as in
:func:`lightproof.method.aggregate.bounded`. In shadow a patch is equally far from everybody, in even light it is rather
close to everybody: a closeness alone cannot tell a stranger from a genuine match. So it is divided by the mean
closeness of that patch to the cohort, the rendered people of :mod:`lightproof.matching.cohort`, and the logarithm of
the quotient is the score of the patch. The score of a person is the weighted mean over the patches, summed over two
views of them (which gradients a patch holds, and where in it they lie), less the level of a multi-photo template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from lightproof.core.threads import in_threads
from lightproof.matching.kernels import FLOOR, closeness, cohort_scores, summed_scores, unit_vectors
from lightproof.matching.templates import TemplateSet, ViewBank
from lightproof.types import Floats, Ints

PROBES_PER_BLOCK: Final = 72
"""Photos compared at a time."""

Views: TypeAlias = Sequence[Floats]
"""Features of the same photos in each view."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of n photos.

    Attributes
    ----------
    people : ndarray of shape (n, C)
        Against each person enrolled.
    cohort : ndarray of shape (n, Z)
        Against each rendered person, whom the photo certainly does not show.
    distances : ndarray of shape (n, C), optional
        From each person enrolled, 0 to about 1: the weighted mean of :func:`lightproof.method.aggregate.bounded` over
        the patches of both views. It depends on nothing but the photo and the person.
    sampling_keys : ndarray of shape (C,), optional
        One for each person enrolled: those with the smallest are the reference people, see
        :mod:`lightproof.matching.calibration`. By default these are the first.
    """

    people: Floats
    cohort: Floats
    distances: Floats | None = None
    sampling_keys: Ints | None = None

    def without(self, person: int) -> Scores:
        """Return the scores as if somebody had never been enrolled."""
        return Scores(
            np.delete(self.people, person, axis=1),
            self.cohort,
            None if self.distances is None else np.delete(self.distances, person, axis=1),
            None if self.sampling_keys is None else np.delete(self.sampling_keys, person),
        )


class CohortStats(NamedTuple):
    """Photos in one view and how they compare with the cohort, whoever is enrolled."""

    units: Floats
    """The photos as :func:`unit_vectors`, (K, n, D filled up)."""
    closeness: Floats
    """Mean closeness of each patch to the cohort, (K, n)."""
    scores: Floats
    """Scores against each rendered person, (n, Z)."""


def cohort_stats(vectors: Views, cohort: TemplateSet) -> list[list[CohortStats]]:
    """Compare photos, (n, K, D) in each view, with the cohort, :data:`PROBES_PER_BLOCK` at a time."""
    return in_threads(lambda view: _cohort_stats_in_view(*view), zip(vectors, cohort.views, strict=True))


def _cohort_stats_in_view(vectors: Floats, cohort: ViewBank) -> list[CohortStats]:
    blocks = []
    for start in range(0, len(vectors), PROBES_PER_BLOCK):
        units = unit_vectors(vectors[start : start + PROBES_PER_BLOCK])
        cohort_closeness, scores = cohort_scores(units, cohort.blocks, cohort.weights)
        blocks.append(CohortStats(units, cohort_closeness, scores / len(units)))
    return blocks


def probe_scores(vectors: Views, people: TemplateSet, cohort: TemplateSet) -> Scores:
    """Score photos, (n, K, D) in each view, against people, perhaps none, and the cohort under the same settings."""
    return scores_against(people, cohort_stats(vectors, cohort))


def scores_against(people: TemplateSet, stats: Sequence[Sequence[CohortStats]]) -> Scores:
    """Score photos against people, given how the photos compare with the cohort."""
    views = in_threads(lambda view: _scores_in_view(*view), zip(stats, people.views, strict=True))
    enrolled, cohort, distances = (np.sum(parts, axis=0) for parts in zip(*views, strict=True))
    return Scores(enrolled - people.levels, cohort, distances / len(views), people.sampling_keys)


def _scores_in_view(stats: Sequence[CohortStats], people: ViewBank) -> tuple[Floats, Floats, Floats]:
    """Return scores and distances of people, with those of the cohort between them."""
    n_patches = len(stats[0].units)
    sums = [summed_scores(block.units, people.blocks, block.closeness, people.weights) for block in stats]
    scores, close = (np.concatenate(parts) / n_patches for parts in zip(*sums, strict=True))
    return scores, np.concatenate([block.scores for block in stats]), 1 - close


def cohort_closeness(vectors: Views, cohort: TemplateSet) -> list[Floats]:
    """Mean closeness of each patch of photos to the cohort, (n, K, D) -> (K, n) in each view."""
    return [_mean_closeness(unit_vectors(view), bank) for view, bank in zip(vectors, cohort.views, strict=True)]


def _mean_closeness(units: Floats, cohort: ViewBank) -> Floats:
    return np.asarray(closeness(units, cohort.blocks).mean(axis=2))


def mean_scores(vectors: Views, people: TemplateSet, closenesses: Sequence[Floats]) -> Floats:
    """Mean score of photos against each person, with their :func:`cohort_closeness` given, shape (C,)."""
    views = []
    for view, bank, cohort_close in zip(vectors, people.views, closenesses, strict=True):
        scores, _ = summed_scores(unit_vectors(view), bank.blocks, cohort_close, bank.weights)
        views.append(np.asarray(scores.mean(axis=0, dtype=np.float64) / view.shape[1]))
    return np.asarray(np.sum(views, axis=0) - people.levels)


def patch_scores(vectors: Views, people: TemplateSet, cohort: TemplateSet) -> Scores:
    """Score every patch of one photo, (K, D) in each view -> (K, C) and (K, Z): their mean is :func:`probe_scores`."""
    views = [_patch_scores_in_view(*view) for view in zip(vectors, people.views, cohort.views, strict=True)]
    enrolled, rendered = (np.sum(parts, axis=0) for parts in zip(*views, strict=True))
    # The level lowers the mean over the patches: so it lowers each of them.
    return Scores(enrolled - people.levels, rendered, sampling_keys=people.sampling_keys)


def _patch_scores_in_view(vector: Floats, people: ViewBank, cohort: ViewBank) -> tuple[Floats, Floats]:
    units = unit_vectors(vector[None])
    mean = _mean_closeness(units, cohort)
    enrolled, rendered = (
        np.log(closeness(units, bank.blocks)[:, 0] / mean + FLOOR) * bank.weights for bank in (people, cohort)
    )
    return enrolled, rendered


def best_over_warps(scores: Scores, n_warps: int) -> Scores:
    """Take the best warp of each photo for each person, enrolled or rendered; given are the scores of all warps."""
    people, cohort = (part.reshape(-1, n_warps, part.shape[1]) for part in (scores.people, scores.cohort))
    assert scores.distances is not None
    best = people.argmax(axis=1)[:, None]
    distances = np.take_along_axis(scores.distances.reshape(people.shape), best, axis=1)[:, 0]
    return Scores(np.take_along_axis(people, best, axis=1)[:, 0], cohort.max(axis=1), distances, scores.sampling_keys)


def patch_scores_at_best(scores: Scores, maps: Sequence[Scores]) -> Scores:
    """The patch scores of one photo at the warps that :func:`best_over_warps` takes, (K, C) and (K, Z)."""
    enrolled, rendered = (
        np.take_along_axis(np.stack(parts), part.argmax(axis=0)[None, None, :], axis=0)[0]
        for part, parts in (
            (scores.people, [each.people for each in maps]),
            (scores.cohort, [each.cohort for each in maps]),
        )
    )
    return Scores(enrolled, rendered, sampling_keys=scores.sampling_keys)


def stack_probes(blocks: Sequence[Scores]) -> Scores:
    """Put the scores of blocks of photos one below the other."""
    return Scores(
        np.concatenate([block.people for block in blocks]),
        np.concatenate([block.cohort for block in blocks]),
        np.concatenate([block.distances for block in blocks if block.distances is not None]),
        blocks[0].sampling_keys,
    )


def append_people(scores: Scores, new: Scores, people: TemplateSet) -> Scores:
    """Put the scores of the same photos against new people beside those against others; both are ``people``."""
    assert scores.distances is not None
    assert new.distances is not None
    return Scores(
        np.concatenate([scores.people, new.people], axis=1),
        scores.cohort,
        np.concatenate([scores.distances, new.distances], axis=1),
        people.sampling_keys,
    )
