"""An upper bound of the score of a person, cheaper than the score.

What a patch says is log(c / u + 1) with the closeness c = exp(-6 sqrt(1 - x)), where x is the part of the patch's
square that lies in the span of the person, and u is the mean closeness to the cohort. It is a convex function of x:
-sqrt(1 - x) is, and so is what log(exp(.) + 1) makes of it. So between any two places it lies below the straight line
through them, and everywhere below the largest of several such lines. A line takes one product and one sum where the
score takes a root, an exponential and a logarithm.

The score is a weighted mean of the shapes, each normalized by the cohort alone, and no weight is negative. So the same
mean of the bounds of the shapes, each at its best warp, is a bound of the score.

So an exhaustive search need not finish with whom the bound rules out, and still finds the best of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from lightproof.matching.kernels import FLOOR, LANES, Blocks
from lightproof.matching.light_penalty import light_penalty
from lightproof.matching.matcher import Matcher
from lightproof.matching.scores import (
    SHAPES,
    CohortStats,
    ProbeSet,
    Scores,
    cohort_stats,
    scores_against,
    shape_scores,
    shape_weights,
)
from lightproof.matching.templates import TemplateSet
from lightproof.method.aggregate import SHARPNESS
from lightproof.types import Array, Floats

KNOTS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Places that the lines go through: where most strangers lie. With others the bound would be as true, but farther from
the score."""

BLOCKS: Final = 4
"""Blocks of people side by side."""

WIDE: Final = BLOCKS * LANES

ROUNDING: Final = 5e-5
"""More than what is rounded in the scores of a shape before they are normalized."""


class ShapeReach(NamedTuple):
    """What bounds need in one shape: the mean and the deviation that its scores are normalized by, (n, 1) each."""

    shape: int
    views: list[int]
    n_warps: int
    centers: Floats
    deviations: Floats


class Reach(NamedTuple):
    """Photos of which bounds are asked for.

    Attributes
    ----------
    asked : ProbeSet
    units : list of ndarray of shape (K, n * warps, D filled up)
        In each view.
    lines : list of ndarray of shape (K, n * warps, lines, 2)
        Where each line begins, and how steep it is.
    shapes : list of ShapeReach
    cohort : ndarray of shape (n, Z)
        Scores against the rendered people.
    """

    asked: ProbeSet
    units: list[Floats]
    lines: list[Floats]
    shapes: list[ShapeReach]
    cohort: Floats


def reach_of(asked: ProbeSet, matcher: Matcher) -> Reach:
    """Make photos ready for bounds, no more of them than are compared at a time."""
    stats, nobody = cohort_stats(asked, matcher.cohorts), matcher.template_set({})
    blocks: list[CohortStats] = [block for [block] in stats]
    shapes = []
    for i, shape in enumerate(SHAPES):
        each = shape_scores(shape, nobody, asked, stats)
        views = [view for view, its_shape in enumerate(asked.shapes) if its_shape == shape]
        shapes.append(ShapeReach(i, views, asked.warps_of(views[0]), each.centers, each.deviations))
    units, lines = [block.units for block in blocks], [_lines(block.closeness) for block in blocks]
    return Reach(asked, units, lines, shapes, scores_against(nobody, asked, stats).cohort)


class Wide(NamedTuple):
    """People laid side by side for bounds: in each view codes, scales and weights of :data:`WIDE` of them at a time."""

    people: TemplateSet
    views: list[list[tuple[Array, Floats, Floats]]]


def laid_wide(people: TemplateSet) -> Wide:
    """Lay people out for bounds."""
    return Wide(people, [list(_laid_wide(side.blocks, side.weights)) for side in people.views])


def bounds(reach: Reach, wide: Wide) -> Floats:
    """Return what the scores of photos against each person cannot exceed, the penalty subtracted, shape (n, C)."""
    people, asked, n = wide.people, reach.asked, len(reach.cohort)
    weights, total = shape_weights(asked, people), np.zeros((n, len(people)), np.float32)
    for shape in reach.shapes:
        if not weights[shape.shape].any():
            continue
        views = [_in_view(reach.units[view], reach.lines[view], wide.views[view]) for view in shape.views]
        most = np.sum(views, axis=0)[:, : len(people)] - people.levels[shape.shape] + ROUNDING
        best = most.reshape(n, shape.n_warps, len(people)).max(axis=1)
        total += weights[shape.shape] * (best - shape.centers) / shape.deviations
    return np.asarray(total - light_penalty(Scores(total, reach.cohort), asked, people))


def _lines(cohort_mean: Floats) -> Floats:
    """Return the lines through the knots, given the mean closeness to the cohort, (K, n) -> (K, n, lines, 2)."""
    values = [np.log(np.exp(-SHARPNESS * np.sqrt(1 - x)) / cohort_mean + FLOOR) for x in KNOTS]
    lines = []
    for (left, right), (low, high) in zip(pairwise(KNOTS), pairwise(values), strict=True):
        steepness = (high - low) / (right - left)
        lines.append(np.stack([low - steepness * left, steepness], axis=-1))
    return np.stack(lines, axis=2).astype(np.float32)


def _in_view(units: Floats, lines: Floats, people: list[tuple[Array, Floats, Floats]]) -> Floats:
    K, n, _ = units.shape
    found = np.zeros((len(people), n, WIDE), np.float32)
    for (codes, scales, weights), out in zip(people, found, strict=True):
        _loop(*codes.shape[1:3])(units, codes, scales, lines, weights, out)
    return np.asarray(found.swapaxes(0, 1).reshape(n, -1) / K)


def _laid_wide(blocks: Blocks, weights: Floats) -> Iterator[tuple[Array, Floats, Floats]]:
    """Lay some blocks side by side, (K, r, D, WIDE), (K, r, WIDE) and (K, WIDE); the last ones are filled up with 0."""
    assert np.array_equal(blocks.places, np.arange(len(blocks.places))), "people were appended since they were laid out"
    for start in range(0, len(blocks.codes), BLOCKS):
        part, own = slice(start, start + BLOCKS), weights[:, start * LANES : (start + BLOCKS) * LANES]
        codes, scales = np.concatenate(blocks.codes[part], axis=-1), np.concatenate(blocks.scales[part], axis=-1)
        yield _widened(codes), _widened(scales), _widened(own)


def _widened(lanes: Array) -> Array:
    whole = np.zeros((*lanes.shape[:-1], WIDE), lanes.dtype)
    whole[..., : lanes.shape[-1]] = lanes
    return whole


@cache
def _loop(R: int, D: int) -> Any:
    """Make the loop for R directions of D numbers that adds the bounds of some people to ``out``, (n, WIDE).

    It need not round as it is written, unlike the score: products and sums are taken in one.
    """
    from numba import njit

    how: dict[str, Any] = {"fastmath": True, "nogil": True, "error_model": "numpy"}
    room: dict[str, Any] = {}
    exec(_squares_written_out(R, D), room)
    squares = njit(room["squares"], **how)

    @njit(**how)  # type: ignore[untyped-decorator]
    def decode(codes: Array, scales: Floats, k: int, directions: Floats) -> None:
        for r in range(R):
            for d in range(D):
                for lane in range(WIDE):
                    directions[r, d, lane] = np.float32(codes[k, r, d, lane]) * scales[k, r, lane]

    @njit(**how)  # type: ignore[untyped-decorator]
    def add(x: Floats, lines: Floats, k: int, i: int, weights: Floats, out: Floats) -> None:
        a0, a1, a2, a3 = lines[k, i, 0, 0], lines[k, i, 1, 0], lines[k, i, 2, 0], lines[k, i, 3, 0]
        b0, b1, b2, b3 = lines[k, i, 0, 1], lines[k, i, 1, 1], lines[k, i, 2, 1], lines[k, i, 3, 1]
        for lane in range(WIDE):
            t = x[lane]
            out[i, lane] += weights[k, lane] * max(max(a0 + b0 * t, a1 + b1 * t), max(a2 + b2 * t, a3 + b3 * t))

    @njit(**how)  # type: ignore[untyped-decorator]
    def loop(units: Floats, codes: Array, scales: Floats, lines: Floats, weights: Floats, out: Floats) -> None:
        directions, x = np.empty((R, D, WIDE), np.float32), np.empty(WIDE, np.float32)
        for k in range(len(units)):
            decode(codes, scales, k, directions)
            for i in range(len(units[k])):
                squares(units, k, i, directions, x)
                add(x, lines, k, i, weights, out)

    return loop


def _squares_written_out(R: int, D: int) -> str:
    """Write the function that puts the squares of one patch in the spans of everybody into ``x``, (WIDE,).

    With every number of the patch in a name of its own, sums stay in the processor; in a loop they would go to memory
    and back.
    """
    text = ["def squares(units, k, i, directions, x):"]
    text += [f"    u{d} = units[k, i, {d}]" for d in range(D)]
    text += [f"    for lane in range({WIDE}):"]
    for r in range(R):
        text += [f"        s{r} = " + " + ".join(f"u{d} * directions[{r}, {d}, lane]" for d in range(D))]
    text += ["        x[lane] = " + " + ".join(f"s{r} * s{r}" for r in range(R))]
    return "\n".join(text)
