"""Eigenvectors of thousands of small symmetric matrices at once, by Jacobi's rotations.

LAPACK takes one call a matrix, and for matrices of five rows the call is most of the work. Here one entry of a few
dozen matrices is one short array, and every rotation turns all of them. The result of a matrix depends on nothing but
that matrix: it is the same to the last bit whatever matrices stand beside it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lightproof.core.jit import compiled, written_out
from lightproof.types import Array, Floats

SWEEPS: Final = 4  # over all pairs of rows; each of the last ones squares, about, what is left beside the diagonal
FEW_ROWS: Final = 5  # up to which that many sweeps suffice for nearly all matrices; larger ones take one more
LANES: Final = 16  # numbers that a processor works on at once


def inner_products(samples: Floats) -> Floats:
    """Multiply each two samples of a person, (b, L, D, K) -> (b, L, L, K)."""
    b, L, _, K = samples.shape
    out = np.zeros((b, L, L, K), samples.dtype)
    _put_inner_products(samples, out)
    return out


@compiled
def _put_inner_products(samples: Floats, out: Floats) -> None:
    b, L, D, K = samples.shape
    for person in range(b):
        for i in range(L):
            for j in range(i, L):
                place, mirrored = out[person, i, j], out[person, j, i]
                for d in range(D):
                    one, other = samples[person, i, d], samples[person, j, d]
                    for k in range(K):
                        place[k] += one[k] * other[k]
                for k in range(K):
                    mirrored[k] = place[k]


def symmetric_eigen(matrices: Floats, r: int) -> tuple[Floats, Floats, Floats]:
    """Find the ``r`` largest eigenvalues and their vectors of matrices (b, L, L, K) of trace 1, or 0.

    Only what is on and above the diagonal is read; all of it is changed.

    Returns
    -------
    values : ndarray of shape (b, r, K)
        The largest first.
    vectors : ndarray of shape (b, r, L, K)
        ``vectors[:, i]`` belongs to ``values[:, i]``.
    beside : ndarray of shape (b, K)
        The largest number that is left beside the diagonal.
    """
    b, L, _, K = matrices.shape
    values, vectors = np.empty((b, r, K), matrices.dtype), np.empty((b, r, L, K), matrices.dtype)
    beside = np.zeros((b, K), matrices.dtype)
    _put_eigen(matrices, SWEEPS + (L > FEW_ROWS), LANES, values, vectors, beside)
    return values, vectors, beside


@compiled
def _put_eigen(matrices: Floats, sweeps: int, lanes: int, values: Floats, vectors: Floats, beside: Floats) -> None:
    b, L, _, K = matrices.shape
    # Matrices of zeros fill the last group: then none of the others is left over, to be turned alone.
    width = (K + lanes - 1) // lanes * lanes
    entry, vector = np.zeros((L, L, width), matrices.dtype), np.empty((L, L, width), matrices.dtype)
    for person in range(b):
        for i in range(L):
            for j in range(i, L):
                place, given = entry[i, j], matrices[person, i, j]
                for k in range(K):
                    place[k] = given[k]
        _make_diagonal(entry, vector, sweeps)
        _put_largest(entry, vector, values[person], vectors[person])
        _put_beside(entry, beside[person])


@compiled
def _make_diagonal(entry: Floats, vector: Floats, sweeps: int) -> None:
    """Turn K matrices until they are diagonal, reading only what is on and above the diagonal, (L, L, K).

    Row i of ``vector``, (L, L, K), becomes the vector that belongs to entry i of the diagonal.
    """
    L, _, K = entry.shape
    vector[...] = 0
    for i in range(L):
        vector[i, i] = 1
    cosine, sine = np.empty(K, entry.dtype), np.empty(K, entry.dtype)
    for _ in range(sweeps):
        for p in range(L - 1):
            for q in range(p + 1, L):
                _choose_turn(entry[p, p], entry[q, q], entry[p, q], cosine, sine)
                for i in range(L):
                    if i not in (p, q):
                        _turn(entry[min(i, p), max(i, p)], entry[min(i, q), max(i, q)], cosine, sine)
                    _turn(vector[p, i], vector[q, i], cosine, sine)


@written_out
def _choose_turn(first: Floats, second: Floats, between: Floats, cosine: Floats, sine: Floats) -> None:
    r"""Take the smaller angle that makes ``between`` 0, and make it so.

    With d = second - first and t = 2 between, its tangent is :math:`t / (d \pm \sqrt{d^2 + t^2})`.
    """
    nothing, one = cosine.dtype.type(0), cosine.dtype.type(1)
    tiny = cosine.dtype.type(np.finfo(cosine.dtype).tiny)
    little = cosine.dtype.type(np.finfo(cosine.dtype).eps ** 2)
    for k in range(len(cosine)):
        # Tiny numbers count as 0: processors are slow with subnormal ones.
        twice = between[k] + between[k] if abs(between[k]) > little else nothing
        apart = second[k] - first[k]
        root = math.copysign(math.sqrt(apart * apart + twice * twice), apart)
        tangent = twice / (apart + root + tiny)  # not 0 / 0 where there is nothing to turn
        cosine[k] = one / math.sqrt(one + tangent * tangent)
        sine[k] = tangent * cosine[k]
        first[k] -= tangent * between[k]
        second[k] += tangent * between[k]
        between[k] = 0


@written_out
def _turn(one: Floats, other: Floats, cosine: Floats, sine: Floats) -> None:
    for k in range(len(cosine)):
        before = one[k]
        one[k] = cosine[k] * before - sine[k] * other[k]
        other[k] = sine[k] * before + cosine[k] * other[k]


@compiled
def _put_largest(entry: Floats, vector: Floats, values: Floats, vectors: Floats) -> None:
    """Put the largest numbers of the diagonal, in order, and their vectors into ``values`` and ``vectors``.

    For each number we count how many are larger. That is more work than searching for the largest, but the same for
    all matrices, so many are done at a time.
    """
    L, K = len(entry), values.shape[1]
    before = np.zeros((L, K), np.int32)
    values[...] = 0
    vectors[...] = 0
    for i in range(L):
        count, number = before[i], entry[i, i]
        for j in range(L):
            other, earlier = entry[j, j], j < i
            for k in range(K):
                count[k] += other[k] > number[k] or (earlier and other[k] == number[k])
        for place in range(len(values)):
            _add_where(count, place, number, values[place])
            for j in range(L):
                _add_where(count, place, vector[i, j], vectors[place, j])


@compiled
def _add_where(count: Array, wanted: int, numbers: Floats, out: Floats) -> None:
    place, none = np.int32(wanted), out.dtype.type(0)
    for k in range(len(out)):
        number = numbers[k]
        out[k] += number if count[k] == place else none


@compiled
def _put_beside(entry: Floats, beside: Floats) -> None:
    for i in range(len(entry)):
        for j in range(i + 1, len(entry)):
            number = entry[i, j]
            for k in range(len(beside)):
                one, other = abs(number[k]), beside[k]
                beside[k] = one if one > other else other
