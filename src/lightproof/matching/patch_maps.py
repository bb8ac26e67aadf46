"""What each patch of one photo adds to its scores: nothing is estimated, the sums are the scores themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lightproof.matching.kernels import FLOOR, closeness
from lightproof.matching.scores import (
    SHAPES,
    Cohorts,
    CohortStats,
    ProbeSet,
    Scores,
    cohort_stats,
    shape_scores,
    shape_weights,
)
from lightproof.matching.templates import TemplateSet, ViewBank
from lightproof.types import Floats, Ints


class PatchMaps(NamedTuple):
    """Scores of the finest patches of one photo.

    Attributes
    ----------
    scores : Scores
        Of shape (K, C) and (K, Z): their means over the patches are the scores of the photo.
    perfect : ndarray of shape (K,)
        The scores of somebody whose every patch matches perfectly.
    """

    scores: Scores
    perfect: Floats


def patch_maps(people: TemplateSet, probe: ProbeSet, cohorts: Cohorts, covering: Sequence[Ints]) -> PatchMaps:
    """Score every patch of one photo, n = 1, against people and cohort.

    The patches are those of the finest view; ``covering``, (K,) for each view, tells the patch there that covers each.
    """
    stats = cohort_stats(probe, cohorts)
    cohort = cohorts.with_mesh if probe.has_mesh[0] else cohorts.without
    weights, own = shape_weights(probe, people)[:, 0], shape_weights(probe)[:, 0, 0]
    K = len(covering[0])
    enrolled, distances, rendered = np.zeros((K, len(people))), np.zeros((K, len(people))), np.zeros((K, len(cohort)))
    perfect = np.zeros(K)
    for i, shape in enumerate(SHAPES):
        each = shape_scores(shape, people, probe, stats)
        center, deviation = float(each.centers[0, 0]), float(each.deviations[0, 0])
        views = [view for view, its_shape in enumerate(probe.shapes) if its_shape == shape]
        # The level lowers the mean over the patches: so it lowers each of them.
        scores, closenesses = _best_patches(views, stats, [people.views[view] for view in views], covering)
        enrolled += weights[i] * (scores - people.levels[i] - center) / deviation
        distances += weights[i] * (1 - closenesses / len(views))
        scores, _ = _best_patches(views, stats, [cohort.views[view] for view in views], covering)
        rendered += own[i] * (scores - center) / deviation
        means = (stats[view][0].closeness[covering[view], 0].astype(np.float64) for view in views)
        perfect += own[i] * (sum(np.log(1 / mean + FLOOR) for mean in means) - center) / deviation
    return PatchMaps(Scores(enrolled, rendered, distances, people.sampling_keys), perfect)


def perfect_scores(probes: ProbeSet, cohorts: Cohorts) -> Floats:
    """Score of somebody whose every patch matches each photo perfectly, shape (n,)."""
    stats, nobody = cohort_stats(probes, cohorts), TemplateSet(len(probes.shapes), {})
    weights, total = shape_weights(probes)[:, :, 0], np.zeros(len(probes.has_mesh))
    for weight, shape in zip(weights, SHAPES, strict=True):
        each = shape_scores(shape, nobody, probes, stats)
        views = [view for view, its_shape in enumerate(probes.shapes) if its_shape == shape]
        mean = [np.concatenate([block.closeness for block in stats[view]], axis=1) for view in views]
        lying = (own[:, :: probes.warps_of(view)].astype(np.float64) for own, view in zip(mean, views, strict=True))
        perfect = sum(np.log(1 / own + FLOOR).mean(axis=0) for own in lying)
        total += weight * (perfect - each.centers[:, 0]) / each.deviations[:, 0]
    return total


def _best_patches(
    views: Sequence[int], stats: Sequence[Sequence[CohortStats]], banks: Sequence[ViewBank], covering: Sequence[Ints]
) -> tuple[Floats, Floats]:
    """Add up the views of a shape at the warp that is best for each person: scores and closeness, (K, C) each."""
    logarithms, closenesses = [], []
    for view, bank in zip(views, banks, strict=True):
        near = np.concatenate([closeness(block.units, bank.blocks) for block in stats[view]], axis=1)
        mean = np.concatenate([block.closeness for block in stats[view]], axis=1)
        weights = bank.weights[:, None, :]
        logarithms.append((np.log(near / mean[:, :, None] + FLOOR) * weights).astype(np.float64))
        closenesses.append((near * weights).astype(np.float64))
    best = np.sum([each.mean(axis=0) for each in logarithms], axis=0).argmax(axis=0)[None, None]
    sums = []
    for maps in (logarithms, closenesses):
        at_best = (np.take_along_axis(each, best, axis=1)[:, 0] for each in maps)
        sums.append(np.sum([each[covering[view]] for each, view in zip(at_best, views, strict=True)], axis=0))
    return sums[0], sums[1]
