"""Samples of several people -> spans in whole numbers, all patches of all of them at once.

Whole numbers do not need directions to the last digit. So the directions come from the inner products of the samples,
which are small matrices. Where these do not determine a direction well enough, LAPACK computes it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lightproof.core.eigh import inner_products, symmetric_eigen
from lightproof.core.jit import compiled
from lightproof.method.subspaces import PatchSpans, SharedSpan, encoded, principal_directions, stand_ins
from lightproof.types import Array, Floats

MAX_SAMPLES: Final = 12
"""Samples of a person up to which inner products are faster than LAPACK."""

MIN_TRACE: Final = 1e-20
"""Sum of squares below which some squares may have vanished in float32."""

MIN_EIGENVALUE: Final = 1e-4
"""Share of the trace below which a float32 eigenvalue does not determine its direction."""

MAX_SKEW: Final = 1e-3
"""How far two directions may be from right angles, as a share of the weakest: whole numbers cannot show it."""


def compact_spans(samples: Floats, most: int, shared: SharedSpan) -> list[PatchSpans]:
    """Span the samples of several people, at most ``most`` directions each, in whole numbers.

    The same as :func:`span_photos` and :meth:`PatchSpans.compact` within rounding, but much faster. ``samples`` has the
    shape (b, L, D, K), L samples of each of b people; ``shared`` is without directions. A span does not depend on the
    other people. Its first direction points along the first sample, because :mod:`lightproof.matching.binary_codes`
    reads signs off it.
    """
    vectors, strengths = _leading_directions(samples, most)
    codes = encoded(vectors)
    _fix_signs(samples, codes)
    samples_kept = stand_ins(strengths.transpose(1, 2, 0))
    # Copies, so that nobody's span keeps those in memory that were made beside it.
    return [PatchSpans(codes[i].copy(), samples_kept[i].copy(), shared) for i in range(len(samples))]


def _leading_directions(samples: Floats, most: int) -> tuple[Floats, Floats]:
    """Find the strongest directions of each patch, of any length, (b, L, D, K) -> (r, b, D, K), and strengths.

    The inner products in float32 determine a direction only if it is not much weaker than the first; else
    :func:`principal_directions` finds it.
    """
    b, L, D, K = samples.shape
    r = min(most, L, D)
    vectors, strengths = np.empty((r, b, D, K), samples.dtype), np.empty((r, b, K))
    if L == 1 or L > MAX_SAMPLES or samples.dtype != np.float32:
        _put_exact(samples, np.ones((b, K), bool), vectors, strengths)
        return vectors, strengths
    products, trace = inner_products(samples), np.empty((b, K), samples.dtype)
    _scale_to_trace_1(products, trace.dtype.type(MIN_TRACE), trace)
    values, weights, skew = symmetric_eigen(products, r)
    _put_sums(samples, weights, vectors)
    values = np.maximum(values, 0)
    strengths[...] = np.sqrt(values * trace[:, None]).swapaxes(0, 1)
    sure = (values[:, -1] > MIN_EIGENVALUE) & (skew < MAX_SKEW * values[:, -1])
    person, patch = np.nonzero(trace <= MIN_TRACE)
    sure[person, patch] = ~samples[person, :, :, patch].any(axis=(1, 2))  # a black patch spans nothing
    if not sure.all():
        _put_exact(samples, ~sure, vectors, strengths)
    return vectors, strengths


@compiled
def _fix_signs(samples: Floats, codes: Array) -> None:
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
def _scale_to_trace_1(matrices: Floats, faint: np.floating[Any], trace: Floats) -> None:
    """Scale matrices, (b, L, L, K), to trace 1, put the old one into ``trace``; faint matrices become 0."""
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
def _put_sums(samples: Floats, weights: Floats, vectors: Floats) -> None:
    """Put weighted sums of samples, (b, L, D, K), with weights (b, r, L, K), into ``vectors``, (r, b, D, K)."""
    b, L, D, K = samples.shape
    for person in range(b):
        for r in range(len(vectors)):
            for d in range(D):
                total = vectors[r, person, d]
                total[...] = 0
                for i in range(L):
                    weight, sample = weights[person, r, i], samples[person, i, d]
                    for k in range(K):
                        total[k] += weight[k] * sample[k]


def _put_exact(samples: Floats, where: Array, vectors: Floats, strengths: Floats) -> None:
    """Put the directions that LAPACK finds into the marked patches, in place."""
    person, patch = np.nonzero(where)
    exact = principal_directions(samples[person, :, :, patch])
    vectors[:, person, :, patch] = exact.vectors[:, : len(vectors)]
    strengths[:, person, patch] = exact.strengths[:, : len(strengths)].T
