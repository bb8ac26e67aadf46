"""Spans of everybody -> bases; vectors -> distances to all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from lightproof.method.subspaces import PatchSpans, count_components, decoded
from lightproof.types import Array, Floats, Ints

SPANS: Final = ("kept", "joint")

PATCHES_PER_BLOCK: Final = 64
"""Patches measured together: their numbers stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class SubspaceStack:
    """Everybody's subspace in every patch, laid out so that one matrix product per patch gives all residuals.

    Attributes
    ----------
    columns : ndarray of shape (K, D, t + depth * C)
        The t shared directions, then the first direction of everybody, the second of everybody, and so on; 0 where a
        person has fewer. In a patch whose spans do not hold the shared directions, those are 0 too. Whole numbers
        where the spans are compact.
    n_shared : int
    n_people : int
    """

    columns: Array
    n_shared: int
    n_people: int

    def take(self, people: Ints, depth: int) -> Floats:
        """Return the first own directions of some people as unit vectors, shape (K, D, depth, p)."""
        first = np.arange(self.n_shared, self.columns.shape[2], self.n_people)[:depth]
        return decoded(self.columns.take(first[:, None] + people, axis=2), axis=1)

    @property
    def depth(self) -> int:
        """Own directions of a person, at most."""
        return int(self.columns.shape[2] - self.n_shared) // self.n_people

    def basis(self, patch: Array, person: Array) -> Floats:
        """Return the bases of some (patch, person) pairs, shape (p, t + depth, D)."""
        shared = np.broadcast_to(np.arange(self.n_shared), (len(patch), self.n_shared))
        own = np.arange(self.n_shared, self.columns.shape[2], self.n_people) + person[:, None]
        return self.columns[patch[:, None], :, np.concatenate([shared, own], axis=1)]


def length_weights(people: Sequence[PatchSpans]) -> Floats:
    r"""Weigh each patch of each person by its length: the weights :math:`p_k` of eq. (dis), shape (K, C), float32.

    :math:`p_k \propto l_k / (l_k + \tilde l)` with the length :math:`l_k` of the photos' vectors in the patch, beyond
    the shared directions, and its median over the patches; the mean over the patches is 1. Bare skin tells less than
    an eye, and the enrolled photos alone show it.
    """
    if len({person.coordinates.shape for person in people}) > 1:
        squared = np.array([person.own_variance.sum(axis=1) for person in people])
    else:
        beyond = np.stack([person.coordinates for person in people])[..., people[0].n_shared :]
        squares = np.square(beyond.reshape(*beyond.shape[:2], -1), dtype=np.float64)
        # A loop over the few numbers of a patch: NumPy's own sum is slow there.
        squared = np.asarray(sum(np.moveaxis(squares, 2, 0), np.zeros(beyond.shape[:2])))
    lengths = np.sqrt(squared).T
    shares = lengths / (lengths + np.median(lengths, axis=0) + np.finfo(float).tiny)
    mean = shares.mean(axis=0)
    weights: Floats = np.divide(shares, mean, out=np.ones_like(shares), where=mean > 0)
    return weights.astype(np.float32)


def stack_spans(people: Sequence[PatchSpans], components: float | int, span: str) -> SubspaceStack:
    """Choose everybody's components and lay the bases out for :func:`residuals`.

    Parameters
    ----------
    people : sequence of PatchSpans
        All with the same shared span.
    components : float or int
        See :func:`lightproof.method.subspaces.count_components`. An int counts shared and own directions together.
    span : {"kept", "joint"}
        ``"kept"``: the shared directions are always kept, whatever ``components``; a float is the share of the
        variance that the photos have beyond them. ``"joint"``: photos and fixed vectors go into one decomposition, a
        float is the share of the sum of its singular values, and the largest count of anybody in a patch serves
        everybody there, as in the authors' code.

    Returns
    -------
    SubspaceStack
    """
    shared, (K, _, D) = people[0].shared.vectors, people[0].own.shape
    if span == "kept":
        bases = [_first(person.own, _own_counts(person, components)) for person in people]
        whole = np.ones(K, bool)
    else:
        counts = _joint_counts(people, components)
        # Where everybody keeps all components, the joint span is the shared span plus the own one.
        whole = np.all([counts >= person.rank for person in people], axis=0)
        bases = [_joint_basis(person, counts, whole) for person in people]
    # At least one column per person, even if it is 0: everybody has a distance.
    depth, t, C = max(1, *(basis.shape[1] for basis in bases)), len(shared), len(people)
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
    out = np.empty((vectors.shape[1], len(vectors), stack.n_people), vectors.dtype)
    for start in range(0, len(out), PATCHES_PER_BLOCK):
        block = slice(start, start + PATCHES_PER_BLOCK)
        units = replace(stack, columns=decoded(stack.columns[block], axis=1))
        _measure(vectors[:, block], units, out[block])
    return out


def relative_residuals(vectors: Floats, stack: SubspaceStack) -> Floats:
    """Distance of each vector to each subspace over the vector's length: the sine of the angle, (n, K, D) -> (K, n, C).

    The length is that beyond the shared directions. A vector with nothing there has a distance of 1 to everybody.
    """
    distances = residuals(vectors, stack)
    length = _length_beyond(vectors, stack.columns[:, :, : stack.n_shared])[:, :, None]
    sines: Floats = np.divide(distances, length, out=np.ones_like(distances), where=length > 0)
    return np.minimum(sines, 1, out=sines)


def _length_beyond(vectors: Floats, shared: Floats) -> Floats:
    """Length of what vectors have at right angles to the shared directions, 0 where it may be rounding, (K, n)."""
    patchwise = vectors.transpose(1, 0, 2)
    if shared.shape[2] == 0:
        return np.asarray(np.sqrt(np.vecdot(patchwise, patchwise)))
    rest = patchwise - np.matmul(np.matmul(patchwise, shared), shared.transpose(0, 2, 1))
    length: Floats = np.sqrt(np.vecdot(rest, rest))
    rounding = 8 * np.finfo(vectors.dtype).eps * np.sqrt(np.vecdot(patchwise, patchwise))
    return np.where(length > rounding, length, 0)


def _measure(vectors: Floats, stack: SubspaceStack, out: Floats) -> None:
    """Put the residuals of a few patches into ``out``."""
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
    np.subtract(left[:, :, None], explained, out=out)
    # Below this share of the length, rounding leaves fewer than three digits (float32) or six (float64).
    shaky = length * vectors.dtype.type(1e-4 if vectors.dtype == np.float32 else 1e-9)
    unsure = np.flatnonzero(out < shaky[:, :, None])
    with np.errstate(invalid="ignore"):  # a negative square is among the unsure ones
        np.sqrt(out, out=out)
    if len(unsure):
        _subtract_projection(out, np.unravel_index(unsure, out.shape), patchwise, stack)


def _subtract_projection(
    out: Floats, where: tuple[Array, ...], patchwise: Floats, stack: SubspaceStack, block: int = 4096
) -> None:
    """Put ``x - B B^T x`` itself where the difference of squares is mostly rounding."""
    for start in range(0, len(where[0]), block):
        patch, image, person = (axis[start : start + block] for axis in where)
        x = patchwise[patch, image].astype(np.float64)
        basis = stack.basis(patch, person).astype(np.float64)
        # Twice: a basis kept in float32 is orthonormal to seven digits only, and the first pass leaves as much.
        for _ in range(2):
            x -= np.einsum("prd,pr->pd", basis, np.einsum("prd,pd->pr", basis, x))
        out[patch, image, person] = np.linalg.norm(x, axis=1)


def _first(directions: Floats, counts: Ints) -> Floats:
    """Keep the first ``counts`` directions of each patch and put 0 in the place of the others."""
    depth = int(counts.max(initial=0))
    kept = (np.arange(depth) < counts[:, None])[:, : directions.shape[1], None]
    return np.where(kept, directions[:, :depth], 0)


def _own_counts(person: PatchSpans, components: float | int) -> Ints:
    """Count own directions to keep beside all shared ones, shape (K,)."""
    if isinstance(components, float):
        return count_components(person.own_variance, components)
    return count_components(person.own_variance, max(components - person.n_shared, 0))


def _joint_counts(people: Sequence[PatchSpans], components: float | int) -> Ints:
    """Largest number of joint components that anybody needs, patch by patch, shape (K,)."""
    most: Ints = np.max([person.rank for person in people], axis=0)
    if not isinstance(components, float):
        return np.full(len(most), components)
    counts = np.zeros_like(most)
    for person in people:
        # No person can need more than all components: the others need not be decomposed.
        if (counts >= most).all():
            break
        counts = np.maximum(counts, count_components(person.joint.strengths, components))
    return counts


def _joint_basis(person: PatchSpans, counts: Ints, whole: Array) -> Floats:
    """Own directions where the span is whole, else the first joint components, shape (K, depth, D)."""
    if whole.all():
        return person.own
    cut = _first(person.joint_vectors(int(counts[~whole].max())), np.where(whole, 0, counts))
    own = person.own if whole.any() else person.own[:, :0]
    basis = np.zeros((len(counts), max(cut.shape[1], own.shape[1]), person.own.shape[2]), person.own.dtype)
    basis[whole, : own.shape[1]] = own[whole]
    basis[~whole, : cut.shape[1]] = cut[~whole]
    return basis
