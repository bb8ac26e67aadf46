"""Small symmetric matrices, all at once, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.core.eigh import inner_products, symmetric_eigen
from tests.examples import examples


def of_trace_one(rng, L, K):
    """Make matrices of samples that differ in strength, (1, L, L, K)."""
    samples = rng.normal(size=(K, L, 9)) * 0.5 ** np.arange(L)[:, None]
    products = samples @ samples.swapaxes(1, 2)
    return (products / np.trace(products, axis1=1, axis2=2)[:, None, None]).transpose(1, 2, 0)[None]


def test_inner_products_by_hand():
    samples = np.array([[1.0, 2, 3], [0, 1, -1]])[None, :, :, None]
    assert_array_equal(inner_products(samples)[0, :, :, 0], [[14, -1], [-1, 2]])


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 21), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_inner_products_are_those_of_all_pairs(b, L, D, K, seed):
    samples = np.random.default_rng(seed).normal(size=(b, L, D, K))
    assert_allclose(inner_products(samples), np.einsum("bidk,bjdk->bijk", samples, samples), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("L", [1, 2, 3, 5, 8, 12])
@examples(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_eigenvectors_make_the_matrix_diagonal(L, seed):
    matrices = of_trace_one(np.random.default_rng(seed), L, 6)
    values, vectors, beside = symmetric_eigen(matrices.copy(), L)
    right_angles = np.einsum("biak,bjak->bijk", vectors, vectors)
    assert_allclose(right_angles, np.broadcast_to(np.eye(L)[:, :, None], (1, L, L, 6)), atol=1e-12)
    diagonal = np.einsum("biak,back,bjck->bijk", vectors, matrices, vectors)
    assert_allclose(np.einsum("biik->bik", diagonal), values, atol=1e-12)
    off = np.abs(diagonal - values[:, :, None] * np.eye(L)[:, :, None])
    assert_allclose(off.max(axis=(1, 2)), beside, atol=1e-12)
    assert np.median(beside) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("r", [1, 3, 5])
def test_the_largest_eigenvalues_come_first_and_are_lapacks(rng, r):
    matrices = of_trace_one(rng, 5, 200)
    values, _, beside = symmetric_eigen(matrices.copy(), r)
    assert beside.max() < 1e-6
    expected = np.linalg.eigvalsh(matrices.transpose(0, 3, 1, 2))[..., ::-1][..., :r]
    assert_allclose(values.swapaxes(1, 2), expected, atol=1e-10)


def test_a_quarter_turn_by_hand():
    """[[2, 1], [1, 2]] / 4 has 3/4 along (1, 1) and 1/4 along (1, -1)."""
    values, vectors, beside = symmetric_eigen(np.array([[0.5, 0.25], [0.25, 0.5]])[None, :, :, None], 2)
    assert_allclose(values[0, :, 0], [0.75, 0.25])
    assert_allclose(np.abs(vectors[0, :, :, 0]), np.sqrt(0.5))
    assert_allclose(np.prod(vectors[0, :, :, 0], axis=1), [0.5, -0.5])
    assert beside[0, 0] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_of_0_and_a_diagonal_one_are_left_as_they_are(dtype):
    diagonal = np.zeros((1, 3, 3, 2), dtype)
    diagonal[0, range(3), range(3), 1] = 0.5, 0.25, 0.125
    values, vectors, beside = symmetric_eigen(diagonal.copy(), 3)
    assert values.dtype == vectors.dtype == beside.dtype == dtype
    assert_array_equal(values[0], diagonal[0, range(3), range(3)])
    assert_array_equal(vectors[0], np.eye(3)[:, :, None] * np.ones(2))
    assert not beside.any()


def test_what_is_below_the_diagonal_is_not_read(rng):
    matrices = of_trace_one(rng, 4, 5)
    upper = np.triu(matrices.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1).copy()
    for found, expected in zip(symmetric_eigen(upper, 4), symmetric_eigen(matrices.copy(), 4), strict=True):
        assert_array_equal(found, expected)


def test_a_matrix_is_turned_alike_whatever_stands_beside_it(rng):
    matrices = of_trace_one(rng, 5, 40).astype(np.float32)
    whole = symmetric_eigen(matrices.copy(), 3)
    for some in (slice(0, 1), slice(7, 20)):
        part = symmetric_eigen(matrices[..., some].copy(), 3)
        for found, expected in zip(part, whole, strict=True):
            assert_array_equal(found, expected[..., some])
