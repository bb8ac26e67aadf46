"""Eigenvectors of thousands of small symmetric matrices at once, by Jacobi's rotations.

LAPACK is called once a matrix, and for matrices of five rows that is mostly the call. Here one number of all matrices
is one long array, and every rotation turns all of them. Nothing else goes into the result of a person's matrices than
these: it is the same to the last bit whoever stands beside.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.types import Array, Floats

SWEEPS: Final = 3
"""Rounds over all pairs of rows; each takes a number beside the diagonal to about its square."""


def inner_products(samples: Floats) -> Floats:
    """Multiply all samples with each other.

    Parameters
    ----------
    samples : ndarray of shape (b, L, D, K)

    Returns
    -------
    ndarray of shape (b, L, L, K)
    """
    b, L, D, K = samples.shape
    out = np.empty((b, L, L, K), samples.dtype)
    products = np.empty((b, D, K), samples.dtype)
    for i in range(L):
        for j in range(i, L):
            np.multiply(samples[:, i], samples[:, j], out=products)
            # Halves are added to halves: in the same order however many there are beside each other.
            left = D
            while left > 1:
                half = left // 2
                products[:, :half] += products[:, left - half : left]
                left -= half
            out[:, i, j] = out[:, j, i] = products[:, 0]
    return out


def common_axes(matrices: Floats) -> Floats:
    """Find the axes that suit all K matrices of each person together, (b, L, L, K) -> (b, L, L); each row is one.

    Patches are much alike in how their samples differ: along these axes all matrices are nearly diagonal, and few
    rounds are left to do.
    """
    return np.linalg.eigh(matrices.sum(axis=-1))[1].swapaxes(1, 2)[:, ::-1]


def turned(matrices: Floats, axes: Floats) -> Floats:
    """Write matrices in other axes, (b, L, L, K), (b, L, L) -> (b, L, L, K)."""
    b, L, _, K = matrices.shape
    both = np.einsum("bip,bjq->bijpq", axes, axes).reshape(b, L * L, L * L)
    return np.asarray(both @ matrices.reshape(b, L * L, K)).reshape(b, L, L, K)


def symmetric_eigen(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """Find eigenvalues and eigenvectors of matrices that are not far from diagonal.

    Parameters
    ----------
    matrices : ndarray of shape (L, L, P)
        P matrices of trace 1, or 0. Only what is on and above the diagonal is read; all of it is changed.

    Returns
    -------
    values : ndarray of shape (L, P)
        In no order.
    vectors : ndarray of shape (L, L, P)
        ``vectors[i]`` belongs to ``values[i]``.
    beside : ndarray of shape (P,)
        The largest number that is left beside the diagonal.
    """
    L, _, P = matrices.shape
    entry = [[matrices[min(i, j), max(i, j)] for j in range(L)] for i in range(L)]
    vectors = [np.zeros((L, P), matrices.dtype) for _ in range(L)]
    for i in range(L):
        vectors[i][i] = 1
    turn = _Turn(P, matrices.dtype)
    for _ in range(SWEEPS):
        for p in range(L - 1):
            for q in range(p + 1, L):
                turn.choose(entry[p][p], entry[q][q], entry[p][q])
                for k in set(range(L)) - {p, q}:
                    entry[k][p] = entry[p][k] = turn.apply(entry[k][p], entry[k][q])
                vectors[p] = turn.apply(vectors[p], vectors[q])
    beside = np.zeros(P, matrices.dtype)
    for p in range(L - 1):
        for q in range(p + 1, L):
            np.maximum(beside, np.abs(entry[p][q]), out=beside)
    return np.stack([entry[i][i] for i in range(L)]), np.stack(vectors), beside


class _Turn:
    """A rotation of two rows in every matrix; keeps its arrays, which are too many to be made anew each time."""

    def __init__(self, P: int, dtype: np.dtype) -> None:
        self.tangent, self.cosine, self.sine, self.apart, self.twice = (np.empty(P, dtype) for _ in range(5))
        self.tiny = dtype.type(np.finfo(dtype).tiny)
        self.spare: dict[tuple[int, ...], tuple[Array, Array]] = {}

    def choose(self, first: Floats, second: Floats, beside: Floats) -> None:
        r"""Take the smaller angle that makes ``beside`` 0, and make it so.

        With d = second - first and b = 2 beside, the tangent is :math:`b / (d \pm \sqrt{d^2 + b^2})`.
        """
        t, c, s, d, b = self.tangent, self.cosine, self.sine, self.apart, self.twice
        np.subtract(second, first, out=d)
        np.add(beside, beside, out=b)
        np.multiply(d, d, out=t)
        np.multiply(b, b, out=s)
        t += s
        np.sqrt(t, out=t)
        np.copysign(t, d, out=t)
        t += d
        t += self.tiny  # 0 / 0 where there is nothing to turn
        np.divide(b, t, out=t)
        np.multiply(t, t, out=c)
        c += 1
        np.sqrt(c, out=c)
        np.divide(1, c, out=c)
        np.multiply(t, c, out=s)
        np.multiply(t, beside, out=d)
        first -= d
        second += d
        beside[...] = 0

    def apply(self, first: Floats, second: Floats) -> Floats:
        """Turn two rows: the second in place; the first is returned, and where it stood will be used again."""
        if first.shape not in self.spare:
            self.spare[first.shape] = np.empty_like(first), np.empty_like(first)
        turned_first, other = self.spare[first.shape]
        np.multiply(self.cosine, first, out=turned_first)
        np.multiply(self.sine, second, out=other)
        turned_first -= other
        first *= self.sine
        second *= self.cosine
        second += first
        self.spare[first.shape] = first, other
        return turned_first
