"""Photos of many people -> spans in whole numbers, several people at a time.

What is kept in whole numbers need not be found to the last digit. So the directions come from the inner products of the
samples, which are small matrices, and all patches of several people are worked on at once. Where that is not sure of a
direction, LAPACK is asked.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lightproof.core.eigh import inner_products, symmetric_eigen
from lightproof.core.jit import compiled
from lightproof.method.subspaces import PatchSpans, SharedSpan, encoded, principal_directions, stand_ins
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
    depends on the others beside it. The first direction points to where the first sample does: a span does not need
    that, but :mod:`lightproof.matching.binary_codes` reads signs off it.

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
    codes = encoded(vectors)
    _point_along(samples, codes)
    samples_kept = stand_ins(strengths.transpose(1, 2, 0))
    return [PatchSpans(codes[i], samples_kept[i], shared) for i in range(len(samples))]


def _leading_directions(samples: Floats, most: int) -> tuple[Floats, Floats]:
    """Find the strongest directions of each patch, of any length, (b, L, D, K) -> (r, b, D, K), and strengths.

    By the inner products of the samples in float32. That is sure of a direction only as long as it is not much weaker
    than the first; the others are found by principal_directions.
    """
    b, L, D, K = samples.shape
    r = min(most, L, D)
    vectors, strengths = np.empty((r, b, D, K), samples.dtype), np.empty((r, b, K))
    if L == 1 or L > FEW or samples.dtype != np.float32:
        _put_exact(samples, np.ones((b, K), bool), vectors, strengths)
        return vectors, strengths
    products, trace = inner_products(samples), np.empty((b, K), samples.dtype)
    _scale(products, trace.dtype.type(FAINT), trace)
    values, weights, beside = symmetric_eigen(products, r)
    _add_up(samples, weights, vectors)
    values = np.maximum(values, 0)
    strengths[...] = np.sqrt(values * trace[:, None]).swapaxes(0, 1)
    sure = (values[:, -1] > WEAK) & (beside < SETTLED * values[:, -1])
    person, patch = np.nonzero(trace <= FAINT)
    sure[person, patch] = ~samples[person, :, :, patch].any(axis=(1, 2))  # a black patch spans nothing, for sure
    if not sure.all():
        _put_exact(samples, ~sure, vectors, strengths)
    return vectors, strengths


@compiled
def _point_along(samples: Floats, codes: Array) -> None:
    """Turn the first direction of each patch, codes (b, K, r, D), toward the first sample, (b, L, D, K), in place."""
    b, K, _, D = codes.shape
    along = np.empty(K, samples.dtype)
    for person in range(b):
        along[...] = 0
        for d in range(D):
            sample = samples[person, 0, d]
            for k in range(K):
                along[k] += sample[k] * codes[person, k, 0, d]
        for k in range(K):
            if along[k] < 0:
                for d in range(D):
                    codes[person, k, 0, d] = -codes[person, k, 0, d]


@compiled
def _scale(matrices: Floats, faint: np.floating[Any], trace: Floats) -> None:
    """Bring matrices, shape (b, L, L, K), to the trace 1; it is put into ``trace``. Faint ones become 0."""
    b, L, _, K = matrices.shape
    scale = np.empty(K, trace.dtype)
    for person in range(b):
        total = trace[person]
        total[...] = 0
        for i in range(L):
            for k in range(K):
                total[k] += matrices[person, i, i, k]
        for k in range(K):
            scale[k] = trace.dtype.type(1) / total[k] if total[k] > faint else trace.dtype.type(0)
        for i in range(L):
            for j in range(L):
                for k in range(K):
                    matrices[person, i, j, k] *= scale[k]


@compiled
def _add_up(samples: Floats, weights: Floats, vectors: Floats) -> None:
    """Sum up samples, shape (b, L, D, K), with weights, shape (b, r, L, K), into vectors, shape (r, b, D, K)."""
    b, L, D, K = samples.shape
    for person in range(b):
        for r in range(len(vectors)):
            for d in range(D):
                place = vectors[r, person, d]
                place[...] = 0
                for i in range(L):
                    weight, sample = weights[person, r, i], samples[person, i, d]
                    for k in range(K):
                        place[k] += weight[k] * sample[k]


def _put_exact(samples: Floats, where: Array, vectors: Floats, strengths: Floats) -> None:
    """Put the directions that LAPACK finds into some patches, in place."""
    person, patch = np.nonzero(where)
    found = principal_directions(samples[person, :, :, patch])
    vectors[:, person, :, patch] = found.vectors[:, : len(vectors)]
    strengths[:, person, patch] = found.strengths[:, : len(strengths)].T
