r"""Samples -> directions; photos of a person -> spans.

A person's subspace in patch k is :math:`\mathbb V_k^c` of eq. (subspace): the span of the transforms of the person's
photos and of the translation vectors :math:`\mathbb U_T`. :math:`\mathbb U_T` is the same for everybody, so it is
split off: a person keeps the directions of the photos that are at right angles to it, and the photos' coordinates.
From these two every rule for the number of components follows, without the photos and without anybody else.
:mod:`lightproof.method.subspace_bank` makes bases of them and measures distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, Self

import numpy as np

from lightproof.core.jit import compiled
from lightproof.types import Array, Floats, Ints

LEVELS: Final = 127
"""Largest whole number of a rounded direction."""


class Directions(NamedTuple):
    """Orthonormal directions of some samples, (..., r, D), the strongest first; those that are only rounding are 0.

    ``strengths``, (..., r), are the singular values, ``coordinates``, (..., L, r), the samples in this basis. All are
    float64.
    """

    vectors: Floats
    strengths: Floats
    coordinates: Floats


def principal_directions(samples: Floats, noise: Floats | None = None) -> Directions:
    """Find the orthonormal directions of the samples: PCA about the origin.

    Not centered: a subspace through the origin is what eq. (subspace) spans. Directions within the rounding error of
    the samples are 0, with a strength of 0, so collinear and all-zero samples are safe.

    Parameters
    ----------
    samples : ndarray of shape (..., L, D)
    noise : ndarray of shape (...), optional
        Singular values up to this are rounding. By default the rounding error of the longest sample.

    Returns
    -------
    Directions
        r = min(L, D) of them.
    """
    exact = samples.astype(np.float64, copy=False)
    floor = (rounding_error(samples) if noise is None else noise)[..., None]
    if exact.shape[-2] == 1:
        # One photo a person: a length and a direction. LAPACK would take a hundred times as long.
        singular = np.sqrt(np.vecdot(exact, exact))
        strengths = np.where(singular > floor, singular, 0.0)
        inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=strengths > 0)
        return Directions(exact * inverse[..., None], strengths, strengths[..., None])
    left, singular, right = np.linalg.svd(exact, full_matrices=False)
    strengths = np.where(singular > floor, singular, 0.0)
    return Directions(np.where(strengths[..., None] > 0, right, 0.0), strengths, left * strengths[..., None, :])


def rounding_error(samples: Floats) -> Floats:
    """Length up to which a direction of the samples may be made of rounding alone, (..., L, D) -> (...)."""
    longest: Floats = np.sqrt(np.vecdot(samples, samples).max(axis=-1)).astype(np.float64)
    longest *= max(samples.shape[-2:]) * float(np.finfo(samples.dtype).eps)
    return longest


def count_components(weights: Floats, components: float | int) -> Ints:
    """Count the leading directions to keep.

    Parameters
    ----------
    weights : ndarray of shape (..., r)
        Weight of each direction, descending: squared singular values for a share of variance.
    components : float or int
        A float in (0, 1] keeps the fewest directions whose weights add up to that share; an int keeps that many.
        Directions of weight 0 are never kept.

    Returns
    -------
    ndarray of shape (...)
    """
    rank = np.asarray(np.count_nonzero(weights > 0, axis=-1))
    if not isinstance(components, float):
        fewer: Ints = np.minimum(components, rank)
        return fewer
    total = weights.sum(axis=-1, keepdims=True)
    # Some roundings of slack: the running sum may miss the total by them, and 1.0 must still be reached.
    reached = np.cumsum(weights, axis=-1) >= total * (components - 1e-12)
    needed: Ints = np.minimum(np.argmax(reached, axis=-1) + 1, rank)
    return needed


def decoded(own: Array, axis: int) -> Floats:
    """Return directions as unit vectors: whole numbers are scaled along ``axis``, floats are so already."""
    if own.dtype != np.int8:
        return own
    numbers = own.astype(np.float32)
    first = np.moveaxis(numbers, axis, 0)
    square = np.einsum("d...,d...->...", first, first)
    # Whole numbers: a square is 0 or at least 1.
    first *= 1 / np.sqrt(np.maximum(square, 1))
    return numbers


def encoded(directions: Floats) -> Array:
    """Return directions in whole numbers up to ``LEVELS``, (r, b, D, K) -> (b, K, r, D), int8; 0 stays 0."""
    r, b, D, K = directions.shape
    codes = np.empty((b, K, r, D), np.int8)
    _put_codes(directions, LEVELS, codes)
    return codes


@compiled
def _put_codes(directions: Floats, levels: int, codes: Array) -> None:
    n, b, D, K = directions.shape
    none, most = directions.dtype.type(0), directions.dtype.type(levels)
    largest, so_far = np.empty(K, directions.dtype), np.empty(K, directions.dtype)
    rounded = np.empty((D, K), np.int8)
    for r in range(n):
        for person in range(b):
            largest[...] = 0
            for d in range(D):
                # Two arrays in turn: in one array, every number would need a test of its own.
                largest, so_far, line = so_far, largest, directions[r, person, d]
                for k in range(K):
                    size, previous = abs(line[k]), so_far[k]
                    largest[k] = size if size > previous else previous
            for k in range(K):
                largest[k] = most / largest[k] if largest[k] > none else none
            for d in range(D):
                for k in range(K):
                    rounded[d, k] = np.rint(directions[r, person, d, k] * largest[k])
            for k in range(np.uintp(K)):
                for d in range(np.uintp(D)):
                    codes[person, k, r, d] = rounded[d, k]


def stand_ins(strengths: Floats) -> Floats:
    """Return samples that lie along the directions, (..., r) -> (..., r, r)."""
    samples = np.zeros((*strengths.shape, strengths.shape[-1]), np.float16)
    np.einsum("...ii->...i", samples)[...] = strengths
    return samples


@dataclass(frozen=True, eq=False)
class SharedSpan:
    """The vectors that are in everybody's span, and an orthonormal basis of them.

    Attributes
    ----------
    vectors : ndarray of shape (t, D), float64
        Orthonormal.
    fixed : ndarray of shape (f, t), float64
        The f vectors it was made of, in this basis; t < f if they are dependent.
    """

    vectors: Floats
    fixed: Floats

    @classmethod
    def of(cls, fixed: Floats) -> Self:
        """Span some vectors, shape (f, D); f may be 0."""
        if len(fixed) == 0:
            return cls(np.zeros((0, fixed.shape[1])), np.zeros((0, 0)))
        directions = principal_directions(fixed)
        real = directions.strengths > 0
        return cls(directions.vectors[real], directions.coordinates[:, real])


@dataclass(frozen=True, eq=False)
class PatchSpans:
    """The span of a person's photos in every patch.

    Attributes
    ----------
    own : ndarray of shape (K, r, D)
        Orthonormal directions of the photos at right angles to the shared ones, the strongest first. Whole numbers
        (int8) are directions too, of any length: see :meth:`compact`.
    coordinates : ndarray of shape (K, L, t + r)
        The photos in the basis of the t shared and r own directions.
    shared : SharedSpan
    """

    own: Array
    coordinates: Floats
    shared: SharedSpan

    def compact(self, most: int) -> Self:
        """Keep at most ``most`` directions, in whole numbers, and as many stand-ins for the photos.

        Only for spans without shared directions.
        """
        own, strengths = self.own[:, :most], np.sqrt(self.own_variance[:, :most])
        codes = encoded(own[None].transpose(2, 0, 3, 1))[0]
        return type(self)(codes, stand_ins(strengths), self.shared)

    @property
    def directions(self) -> Floats:
        """Own directions as unit vectors, shape (K, r, D)."""
        return decoded(self.own, axis=-1)

    @property
    def n_shared(self) -> int:
        """Number of shared directions, t."""
        return len(self.shared.vectors)

    @property
    def own_variance(self) -> Floats:
        """Variance of the photos about the origin along each own direction, shape (K, r)."""
        return np.asarray(np.sum(np.square(self.coordinates[:, :, self.n_shared :], dtype=np.float64), axis=1))

    @cached_property
    def rank(self) -> Ints:
        """Dimension of the whole span, shape (K,)."""
        return self.n_shared + np.asarray(np.count_nonzero(self.own_variance, axis=1))

    @cached_property
    def joint(self) -> Directions:
        """Directions of the photos and the fixed vectors together, in the basis of shared and own directions."""
        K, _, width = self.coordinates.shape
        fixed = np.zeros((K, len(self.shared.fixed), width))
        fixed[:, :, : self.n_shared] = self.shared.fixed
        return principal_directions(np.concatenate([self.coordinates, fixed], axis=1))

    def samples(self, most: int | None = None) -> Floats:
        """Return the photos' patch vectors again, or the first of them, shape (K, L, D)."""
        return self._lift(self.coordinates[:, :most])

    def joint_vectors(self, count: int) -> Floats:
        """Return the first ``count`` joint directions, or all there are, shape (K, at most count, D)."""
        return self._lift(self.joint.vectors[:, :count])

    def _lift(self, coordinates: Floats) -> Floats:
        t = self.n_shared
        return np.asarray(coordinates[:, :, :t] @ self.shared.vectors + coordinates[:, :, t:] @ self.directions)


def span_photos(samples: Floats, shared: SharedSpan) -> PatchSpans:
    """Span the photos of one person, patch by patch.

    ``samples`` are the patch transforms of the person's L photos, (K, L, D); ``own`` gets their dtype.
    """
    exact = samples.astype(np.float64, copy=False)
    in_shared = exact @ shared.vectors.T
    rest = exact - in_shared @ shared.vectors
    # The rounding error of the whole samples: outside the shared span there may be nothing else.
    own = principal_directions(rest, noise=rounding_error(samples))
    coordinates = np.concatenate([in_shared, own.coordinates], axis=-1)
    return PatchSpans(own.vectors.astype(samples.dtype, copy=False), coordinates, shared)
