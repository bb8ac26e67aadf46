"""Photos of many people -> spans in whole numbers, several people at a time.

What is kept in whole numbers need not be found to the last digit. So the directions come from the inner products of the
samples, which are small matrices, and all patches of several people are worked on at once. Where that is not sure of a
direction, LAPACK is asked.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.eigen import common_axes, inner_products, symmetric_eigen, turned
from lightproof.subspaces import PatchSpans, SharedSpan, encoded, principal_directions, stand_ins
from lightproof.types import Array, Floats

FEW: Final = 12
"""Samples up to which the fast way is fast."""

FAINT: Final = 1e-20
"""Sum of squares below which some may have vanished in float32."""

WEAK: Final = 1e-4
"""Share of the trace below which an eigenvalue in float32 tells too little of its direction."""

SETTLED: Final = 1e-3
"""How far two directions may be from right angles, as a share of the weakest: less than whole numbers can tell."""


def compact_spans(samples: Floats, most: int, shared: SharedSpan) -> list[PatchSpans]:
    """Span the photos of several people who have as many photos each, in whole numbers.

    The same as :func:`span_photos` and :meth:`PatchSpans.compact` within rounding, but much faster. Nobody's span
    depends on the others beside it.

    Parameters
    ----------
    samples : ndarray of shape (b, L, D, K)
        Patch transforms of the L photos of each of b people.
    most : int
        Directions to keep.
    shared : SharedSpan
        Without directions.

    Returns
    -------
    list of PatchSpans
    """
    vectors, strengths = _leading_directions(samples, most)
    codes = np.ascontiguousarray(encoded(vectors, axis=2).transpose(1, 3, 0, 2))
    samples_kept = stand_ins(strengths.transpose(1, 2, 0))
    return [PatchSpans(codes[i], samples_kept[i], shared) for i in range(len(samples))]


def _leading_directions(samples: Floats, most: int) -> tuple[Floats, Floats]:
    """Find the strongest directions of each patch, of any length, (b, L, D, K) -> (r, b, D, K), and strengths.

    By the inner products of the samples in float32. That is sure of a direction only as long as it is not much weaker
    than the first; the others are found by principal_directions.
    """
    b, L, D, K = samples.shape
    r = min(most, L, D)
    if L == 1 or L > FEW or samples.dtype != np.float32:
        vectors, strengths = np.empty((r, b, D, K), samples.dtype), np.empty((r, b, K))
        _put_exact(samples, np.ones((b, K), bool), vectors, strengths)
        return vectors, strengths
    products = inner_products(samples)
    trace = products[:, 0, 0].copy()
    for i in range(1, L):
        trace += products[:, i, i]
    usable = trace > FAINT
    products *= np.divide(1, trace, out=np.zeros_like(trace), where=usable)[:, None, None]
    values, weights, sure = _strongest(products, r)
    vectors, part = np.empty((r, b, D, K), samples.dtype), np.empty((b, D, K), samples.dtype)
    for weight, vector in zip(weights, vectors, strict=True):
        np.multiply(weight[0], samples[:, 0], out=vector)
        for i in range(1, L):
            vector += np.multiply(weight[i], samples[:, i], out=part)
    strengths = np.sqrt(values * trace)
    person, patch = np.nonzero(~usable)
    sure[person, patch] = ~samples[person, :, :, patch].any(axis=(1, 2))  # a black patch spans nothing, for sure
    _put_exact(samples, ~sure, vectors, strengths)
    return vectors, strengths


def _strongest(products: Floats, r: int) -> tuple[Floats, Floats, Array]:
    """Find the strongest directions from inner products of trace 1, shape (b, L, L, K).

    Returns
    -------
    values : ndarray of shape (r, b, K)
        Squared strengths.
    weights : ndarray of shape (r, L, b, 1, K)
        What each sample counts in each direction.
    sure : ndarray of shape (b, K), bool
        Whether all r are strong enough to be trusted.
    """
    b, L, _, K = products.shape
    axes = common_axes(products)
    together = np.ascontiguousarray(turned(products, axes).transpose(1, 2, 0, 3)).reshape(L, L, b * K)
    values, basis, beside = symmetric_eigen(together)
    order = np.argsort(-values.T, axis=1, kind="stable")[:, :r].T
    places = np.arange(b * K)
    values = np.maximum(values[order, places], 0)
    sure = (values[-1] > WEAK) & (beside < SETTLED * values[-1])
    # As one list of numbers: to take whole rows by an index for each place is slower.
    basis = basis.take((order[:, None] * L + np.arange(L)[:, None]) * (b * K) + places).reshape(r, L, b, K)
    weights = np.matmul(axes.swapaxes(1, 2)[:, None], basis.transpose(2, 0, 1, 3)).transpose(1, 2, 0, 3)
    return values.reshape(r, b, K), weights[:, :, :, None], sure.reshape(b, K)


def _put_exact(samples: Floats, where: Array, vectors: Floats, strengths: Floats) -> None:
    """Put the directions that LAPACK finds into some patches, in place."""
    person, patch = np.nonzero(where)
    found = principal_directions(samples[person, :, :, patch])
    vectors[:, person, :, patch] = found.vectors[:, : len(vectors)]
    strengths[:, person, patch] = found.strengths[:, : len(strengths)].T
