r"""How similar photos are to people: one score for each photo and person, and what each patch adds to it.

A patch whose closeness is :math:`e^{-6 s}` (see :mod:`lightproof.matching.kernels`) says something only if it is
closer than others are in the same light. So its closeness is divided by the mean closeness to the cohort, the same
sixty rendered people everywhere, and the logarithm is taken: the same for a patch in shadow, whoever is compared. The
score in a view is the mean over the patches, weighted for each person as in
:func:`~lightproof.method.subspace_bank.length_weights`.

A face is compared in several shapes: brought to the common shape by its mesh, which forgives a turned head and a moving
mouth; and cut by its eyes, which keeps its own shape, and does not tremble where the mesh sees little. The scores of
the views of one shape are added, and normalized by the cohort: the mean of its upper quarter becomes 0, its standard
deviation 1. The score is a weighted mean of the shapes. The eyes count as far as the face lies in deep shadow. Where
both faces came cut out, the pictures as they came count, too. A face without a mesh is compared as it came, and so are
others with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from lightproof.core.threads import in_threads
from lightproof.imaging.lighting import hardness
from lightproof.matching.kernels import cohort_scores, summed_scores, unit_vectors
from lightproof.matching.templates import TemplateSet, ViewBank
from lightproof.types import Array, Floats, Ints

PROBES_PER_BLOCK: Final = 72
"""Photos compared at a time."""

SHAPES: Final = ("mesh", "eyes", "crop")

MAX_EYES_WEIGHT: Final = 0.7
"""Weight of the shape by the eyes in the hardest light."""

WEIGHT_WITHOUT_MESHES: Final = 0.5
"""Weight of the shape as it came where neither face has a mesh: the views by the mesh then show the same picture. Where
only one of them has a mesh, these views say nothing."""

WEIGHT_AS_CUT: Final = 0.3
"""Weight of the shape as it came where both faces came cut out and have a mesh: they may have been cut well."""

MIN_DEVIATION: Final = 1e-6
"""Two photos alike to the last bit, or a picture all in shadow, must not divide by 0."""

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
        the patches of all views. It depends on nothing but the photo and the person.
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


@dataclass(eq=False)
class ProbeSet:
    """Photos to be compared with templates.

    Attributes
    ----------
    vectors : sequence of ndarray
        Their features in each view, (n * warps, K, D); the warps of one photo lie together.
    shapes : sequence of str
        The shape of each view; those by the mesh have no warps.
    n_warps : int
        Warps of each photo in the other views.
    lights : ndarray of shape (n, 2)
        Azimuth and elevation in degrees; nan where the photo does not show it.
    shadows : ndarray of shape (n,)
        Share of the face in deep shadow.
    has_mesh : ndarray of shape (n,)
        Whether the face was brought to the common shape by a mesh.
    came_cut : ndarray of shape (n,)
        Whether the face has a mesh, and came cut out otherwise than by the eyes of its mesh.
    last : LastScores, optional
        The last scores against a set that was put together from others: it may be extended.
    """

    vectors: Views
    shapes: Sequence[str]
    n_warps: int
    lights: Floats
    shadows: Floats
    has_mesh: Array
    came_cut: Array
    last: LastScores | None = None

    def warps_of(self, view: int) -> int:
        """Return how many warps a photo has in a view."""
        return 1 if self.shapes[view] == "mesh" else self.n_warps

    def as_it_lies(self) -> list[Floats]:
        """Return the features of the photos without their warps, (n, K, D) in each view."""
        return [vectors[:: self.warps_of(view)] for view, vectors in enumerate(self.vectors)]


class CohortStats(NamedTuple):
    """Photos in one view and how they compare with the cohort, whoever is enrolled."""

    units: Floats
    """The photos as :func:`unit_vectors`, (K, n, D filled up)."""
    closeness: Floats
    """Mean closeness of each patch to the cohort, (K, n)."""
    scores: Floats
    """Scores against each rendered person, (n, Z)."""


class LastScores(NamedTuple):
    """People that probes were compared with, the scores, and how the probes compare with the cohort."""

    people: TemplateSet
    scores: Scores
    cohort_stats: list[list[CohortStats]]


class Cohorts(NamedTuple):
    """The rendered people as templates: with a mesh, and as faces without one."""

    with_mesh: TemplateSet
    without: TemplateSet


class ShapeScores(NamedTuple):
    """Scores of photos in the views of one shape, at their best warps, not normalized yet.

    ``people`` and ``distances`` have the shape (n, C), ``cohort`` (n, Z).
    """

    people: Floats
    cohort: Floats
    distances: Floats

    @property
    def centers(self) -> Floats:
        """Mean of the upper quarter of the cohort scores, shape (n, 1)."""
        count = math.ceil(self.cohort.shape[1] / 4)
        return np.asarray(-np.partition(-self.cohort, count - 1, axis=1)[:, :count].mean(axis=1, keepdims=True))

    @property
    def deviations(self) -> Floats:
        """Standard deviation of the cohort scores, shape (n, 1)."""
        return np.asarray(np.maximum(self.cohort.std(axis=1, keepdims=True), MIN_DEVIATION))


def cohort_stats(probes: ProbeSet, cohorts: Cohorts) -> list[list[CohortStats]]:
    """Compare photos in each view with the cohort, :data:`PROBES_PER_BLOCK` at a time."""

    def of_view(view: int) -> list[CohortStats]:
        banks = cohorts.without.views[view], cohorts.with_mesh.views[view]
        has_mesh = np.repeat(probes.has_mesh, probes.warps_of(view))
        starts = range(0, len(has_mesh), PROBES_PER_BLOCK)
        blocks = (slice(start, start + PROBES_PER_BLOCK) for start in starts)
        return [_cohort_stats_of(unit_vectors(probes.vectors[view][rows]), has_mesh[rows], banks) for rows in blocks]

    return in_threads(of_view, range(len(probes.vectors)))


def _cohort_stats_of(units: Floats, has_mesh: Array, banks: tuple[ViewBank, ViewBank]) -> CohortStats:
    """Compare faces without a mesh with the first bank, the others with the second."""
    K, n, _ = units.shape
    n_rendered = len(banks[0].blocks.places)
    mean, scores = np.empty((K, n), np.float32), np.empty((n, n_rendered), np.float32)
    for bank, rows in zip(banks, (np.flatnonzero(~has_mesh), np.flatnonzero(has_mesh)), strict=True):
        if len(rows):
            some = units if len(rows) == n else np.ascontiguousarray(units[:, rows])
            mean[:, rows], scores[rows] = cohort_scores(some, bank.blocks, bank.weights)
    return CohortStats(units, mean, scores / K)


def scores_against(people: TemplateSet, probes: ProbeSet, stats: Sequence[Sequence[CohortStats]]) -> Scores:
    """Score photos against people, perhaps none, given how the photos compare with the cohort.

    In each shape that counts, scores are normalized by the cohort; their weighted mean is taken.
    """
    weights, own = shape_weights(probes, people), shape_weights(probes)
    parts = []
    for i, shape in enumerate(SHAPES):
        if weights[i].any() or own[i].any():
            each = shape_scores(shape, people, probes, stats)
            enrolled, cohort = ((x - each.centers) / each.deviations for x in (each.people, each.cohort))
            parts.append((weights[i] * enrolled, own[i] * cohort, weights[i] * each.distances))
    enrolled, cohort, distances = (np.sum(part, axis=0) for part in zip(*parts, strict=True))
    return Scores(enrolled, cohort, distances, people.sampling_keys)


def shape_weights(probes: ProbeSet, people: TemplateSet | None = None) -> Floats:
    """Weight of each shape for each photo and person, (3, n, C); without people for the cohort, (3, n, 1).

    To a face with a mesh the rendered people have one, too; to a face without, they have none.
    """
    eyes, one = MAX_EYES_WEIGHT * hardness(probes.shadows)[:, None], probes.has_mesh[:, None]
    both, neither, cut = one, ~one, probes.came_cut[:, None]
    if people is not None:
        cut = cut & people.came_cut
        eyes = np.maximum(eyes, MAX_EYES_WEIGHT * hardness(people.shadows))
        both, neither = one & people.has_mesh, ~(one | people.has_mesh)
    as_cut = np.where(cut, WEIGHT_AS_CUT, 0.0)
    mesh = np.where(both, (1 - eyes) * (1 - as_cut), np.where(neither, 1 - WEIGHT_WITHOUT_MESHES, 0.0))
    crop = np.where(both, as_cut, np.where(neither, WEIGHT_WITHOUT_MESHES, 1.0))
    return np.stack([mesh, np.where(both, eyes * (1 - as_cut), 0.0), crop]).astype(np.float32)


def shape_scores(
    shape: str, people: TemplateSet, probes: ProbeSet, stats: Sequence[Sequence[CohortStats]]
) -> ShapeScores:
    """Score photos against people in one shape, at the best warp for each person, not normalized yet."""
    own = [view for view, each in enumerate(probes.shapes) if each == shape]
    views = in_threads(lambda view: _scores_in_view(stats[view], people.views[view]), own)
    scores, cohort, distances = (np.sum(parts, axis=0) for parts in zip(*views, strict=True))
    levels = people.levels[SHAPES.index(shape)]
    n_warps = 1 if shape == "mesh" else probes.n_warps
    return best_over_warps(ShapeScores(scores - levels, cohort, distances / len(own)), n_warps)


def _scores_in_view(stats: Sequence[CohortStats], people: ViewBank) -> tuple[Floats, Floats, Floats]:
    """Return scores and distances of people, with those of the cohort between them."""
    n_patches = len(stats[0].units)
    sums = [summed_scores(block.units, people.blocks, block.closeness, people.weights) for block in stats]
    scores, close = (np.concatenate(parts) / n_patches for parts in zip(*sums, strict=True))
    return scores, np.concatenate([block.scores for block in stats]), 1 - close


def best_over_warps(scores: ShapeScores, n_warps: int) -> ShapeScores:
    """Take the best warp of each photo for each person, enrolled or rendered; given are the scores of all warps."""
    n = len(scores.cohort) // n_warps
    people, cohort = (part.reshape(n, n_warps, part.shape[1]) for part in (scores.people, scores.cohort))
    best = people.argmax(axis=1)[:, None]
    distances = np.take_along_axis(scores.distances.reshape(people.shape), best, axis=1)[:, 0]
    return ShapeScores(np.take_along_axis(people, best, axis=1)[:, 0], cohort.max(axis=1), distances)


def mean_scores(people: TemplateSet, probes: ProbeSet, stats: Sequence[Sequence[CohortStats]]) -> Floats:
    """Mean score of photos against each person in each shape, before it is normalized, shape (3, C)."""
    each = [shape_scores(shape, people, probes, stats).people for shape in SHAPES]
    return np.stack([scores.mean(axis=0, dtype=np.float64) for scores in each])


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
