r"""Samples -> orthonormal bases; vectors -> residuals.

A person's subspace in patch k is :math:`\mathbb V_k^c` of eq. (subspace): the span of the transforms of the person's
photos and of the translation vectors :math:`\mathbb U_T`. :math:`\mathbb U_T` is the same for everybody, so it is
split off: a person keeps the directions of the photos that are at right angles to it, and the photos' coordinates.
From these two every rule for the number of components follows, without the photos and without anybody else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from lightproof.types import Array, Floats, Ints

SPANS: Final = ("kept", "joint")


class Directions(NamedTuple):
    """Orthonormal directions of some samples, the strongest first.

    Attributes
    ----------
    vectors : ndarray of shape (..., r, D), float64
        Directions that are only rounding are 0.
    strengths : ndarray of shape (..., r), float64
        Singular values.
    coordinates : ndarray of shape (..., L, r), float64
        The samples in this basis.
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
    """Tell how many leading directions to keep.

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
    # Half a rounding error of slack: 1.0 must not ask for a direction more than there is.
    reached = np.cumsum(weights, axis=-1) >= total * (components - 1e-12)
    needed: Ints = np.minimum(np.argmax(reached, axis=-1) + 1, rank)
    return needed


@dataclass(frozen=True, eq=False)
class PatchSpans:
    """What is kept of one person: the span of the photos in every patch.

    Attributes
    ----------
    own : ndarray of shape (K, r, D)
        Orthonormal directions of the photos at right angles to the shared ones, the strongest first.
    coordinates : ndarray of shape (K, L, t + r), float64
        The photos in the basis of the t shared and r own directions.
    """

    own: Floats
    coordinates: Floats

    @property
    def n_shared(self) -> int:
        """Number of shared directions, t."""
        return int(self.coordinates.shape[2] - self.own.shape[1])

    def samples(self, shared: Floats) -> Floats:
        """Return the photos' patch vectors again, shape (K, L, D)."""
        t = self.n_shared
        return np.asarray(self.coordinates[:, :, :t] @ shared + self.coordinates[:, :, t:] @ self.own)

    def own_counts(self, components: float | int) -> Ints:
        """Count own directions to keep beside all shared ones, shape (K,); an int counts the shared ones too."""
        if isinstance(components, float):
            return count_components(self._own_variance, components)
        return count_components(self._own_variance, max(components - self.n_shared, 0))

    @cached_property
    def _own_variance(self) -> Floats:
        return np.asarray(np.sum(np.square(self.coordinates[:, :, self.n_shared :]), axis=1))


def span_photos(samples: Floats, shared: Floats) -> PatchSpans:
    """Span the photos of one person, patch by patch.

    Parameters
    ----------
    samples : ndarray of shape (K, L, D)
        Patch transforms of the person's L photos.
    shared : ndarray of shape (t, D)
        Orthonormal directions that are in everybody's span; t may be 0.

    Returns
    -------
    PatchSpans
        ``own`` in the dtype of the samples.
    """
    exact = samples.astype(np.float64, copy=False)
    in_shared = exact @ shared.T
    rest = exact - in_shared @ shared
    # The rounding error is that of the whole samples: what they leave outside the shared span may be nothing else.
    own = principal_directions(rest, noise=rounding_error(samples))
    coordinates = np.concatenate([in_shared, own.coordinates], axis=-1)
    return PatchSpans(own.vectors.astype(samples.dtype, copy=False), coordinates)


@dataclass(frozen=True, eq=False)
class SubspaceStack:
    """Everybody's subspace in every patch, laid out so that one matrix product a patch gives all residuals.

    Attributes
    ----------
    columns : ndarray of shape (K, D, t + depth * C)
        The t shared directions, then the first direction of everybody, the second of everybody, and so on; 0 where a
        person has fewer. In a patch whose spans do not hold the shared directions, those are 0 too.
    n_shared : int
    n_people : int
    """

    columns: Floats
    n_shared: int
    n_people: int

    def basis(self, patch: Array, person: Array) -> Floats:
        """Return the bases of some (patch, person) pairs, shape (p, t + depth, D)."""
        shared = np.broadcast_to(np.arange(self.n_shared), (len(patch), self.n_shared))
        own = np.arange(self.n_shared, self.columns.shape[2], self.n_people) + person[:, None]
        return self.columns[patch[:, None], :, np.concatenate([shared, own], axis=1)]


def stack_spans(
    people: Sequence[PatchSpans], shared: Floats, fixed: Floats, components: float | int, span: str
) -> SubspaceStack:
    """Choose everybody's components and lay the bases out for :func:`residuals`.

    Parameters
    ----------
    people : sequence of PatchSpans
    shared : ndarray of shape (t, D)
        Orthonormal basis of the span of ``fixed``.
    fixed : ndarray of shape (f, D)
        The vectors every span starts from, the translation vectors.
    components : float or int
        See :func:`count_components`. An int counts shared and own directions together.
    span : {"kept", "joint"}
        ``"kept"``: the shared directions are always kept, a float is the share of the variance of the photos.
        ``"joint"``: photos and ``fixed`` go into one decomposition, a float is the share of the sum of its singular
        values, and the largest count of anybody in a patch serves everybody there, as in the authors' code.

    Returns
    -------
    SubspaceStack
    """
    K, _, D = people[0].own.shape
    if span == "kept":
        bases = [np.where(_first(p.own, p.own_counts(components)), p.own, 0) for p in people]
        whole = np.ones(K, bool)
    else:
        fixed_in_shared = fixed @ shared.T
        counts = _joint_counts(people, fixed_in_shared, components)
        # Where nothing is cut off anybody, the joint span is the shared span plus the own one: no need to mix them.
        whole = np.all([counts >= _rank(p) for p in people], axis=0)
        bases = [_joint_bases(p, shared, fixed_in_shared, counts, whole) for p in people]
    depth, t, C = max(basis.shape[1] for basis in bases), len(shared), len(people)
    rows = np.zeros((K, t + depth * C, D), people[0].own.dtype)
    rows[:, :t] = shared * whole[:, None, None]
    for c, basis in enumerate(bases):
        rows[:, t + c : t + c + basis.shape[1] * C : C] = basis
    return SubspaceStack(np.ascontiguousarray(rows.transpose(0, 2, 1)), t, C)


def residuals(vectors: Floats, stack: SubspaceStack) -> Floats:
    r"""Distance of each vector to each subspace: :math:`\lVert x - B B^T x \rVert`, the unnumbered equation of Testing.

    Computed as :math:`\sqrt{\lVert x \rVert^2 - \lVert B^T x \rVert^2}`; where that difference is so small that
    rounding would spoil it, the vector itself is subtracted.

    Parameters
    ----------
    vectors : ndarray of shape (n, K, D)
    stack : SubspaceStack

    Returns
    -------
    ndarray of shape (K, n, C)
    """
    t, C = stack.n_shared, stack.n_people
    patchwise = vectors.transpose(1, 0, 2)
    squares = np.matmul(patchwise, stack.columns)
    np.multiply(squares, squares, out=squares)
    length = np.ascontiguousarray(np.vecdot(vectors, vectors).T)
    left = length.copy()
    for column in range(t):
        left -= squares[:, :, column]
    explained = squares[:, :, t : t + C]
    for start in range(t + C, squares.shape[2], C):
        explained += squares[:, :, start : start + C]
    square = np.subtract(left[:, :, None], explained)
    # Below this share of the length, rounding leaves fewer than three digits (float32) or six (float64).
    shaky = length * vectors.dtype.type(1e-4 if vectors.dtype == np.float32 else 1e-9)
    unsure = np.flatnonzero(square < shaky[:, :, None])
    with np.errstate(invalid="ignore"):  # a square below 0 is among the unsure
        np.sqrt(square, out=square)
    if len(unsure):
        _subtract_projection(square, np.unravel_index(unsure, square.shape), patchwise, stack)
    distances: Floats = square
    return distances


def _subtract_projection(
    out: Floats, where: tuple[Array, ...], patchwise: Floats, stack: SubspaceStack, block: int = 4096
) -> None:
    for start in range(0, len(where[0]), block):
        patch, image, person = (axis[start : start + block] for axis in where)
        x = patchwise[patch, image].astype(np.float64)
        basis = stack.basis(patch, person).astype(np.float64)
        # Twice is enough: the second pass takes off what the first left by rounding.
        for _ in range(2):
            x -= np.einsum("prd,pr->pd", basis, np.einsum("prd,pd->pr", basis, x))
        out[patch, image, person] = np.linalg.norm(x, axis=1)


def _first(directions: Floats, counts: Ints) -> Array:
    """Mark the first ``counts`` directions, shape (K, r, 1)."""
    return (np.arange(directions.shape[1]) < counts[:, None])[:, :, None]


def _rank(person: PatchSpans) -> Ints:
    return person.n_shared + count_components(person._own_variance, person.own.shape[1])


def _joint_matrix(person: PatchSpans, fixed_in_shared: Floats, patches: Array) -> Floats:
    """Photos and fixed vectors in the basis of shared and own directions, shape (p, L + f, t + r)."""
    coordinates = person.coordinates[patches]
    fixed = np.zeros((len(coordinates), len(fixed_in_shared), coordinates.shape[2]))
    fixed[:, :, : person.n_shared] = fixed_in_shared
    return np.concatenate([coordinates, fixed], axis=1)


def _joint_counts(people: Sequence[PatchSpans], fixed_in_shared: Floats, components: float | int) -> Ints:
    """Largest number of joint components that anybody needs, patch by patch, shape (K,)."""
    K = len(people[0].own)
    if not isinstance(components, float):
        return np.full(K, components)
    most = np.max([_rank(p) for p in people], axis=0)
    counts = np.zeros(K, np.intp)
    for person in people:
        # Once somebody needs all there is, nobody can need more, so later people cost nothing in that patch.
        open_patches = np.flatnonzero(counts < most)
        matrix = _joint_matrix(person, fixed_in_shared, open_patches)
        singular = np.linalg.svd(matrix, compute_uv=False)
        counts[open_patches] = np.maximum(counts[open_patches], count_components(singular, components))
    return counts


def _joint_bases(person: PatchSpans, shared: Floats, fixed_in_shared: Floats, counts: Ints, whole: Array) -> Floats:
    """Own directions where the span is whole, else the first joint components, shape (K, depth, D)."""
    cut = np.flatnonzero(~whole)
    if len(cut) == 0:
        return person.own
    kept = person.own.shape[1]
    depth = max(int(counts[cut].max()), kept)
    bases = np.zeros((len(person.own), depth, person.own.shape[2]), person.own.dtype)
    bases[whole, :kept] = person.own[whole]
    turn = principal_directions(_joint_matrix(person, fixed_in_shared, cut)).vectors
    t = person.n_shared
    joint = turn[:, :depth, :t] @ shared + turn[:, :depth, t:] @ person.own[cut]
    joint = np.where(_first(joint, counts[cut]), joint, 0)
    bases[cut, : joint.shape[1]] = joint
    return bases
