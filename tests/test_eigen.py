"""Small symmetric matrices, all at once, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.eigen import common_axes, inner_products, symmetric_eigen, turned


def of_trace_one(rng, L, P):
    """Make matrices that are not far from diagonal, (L, L, P)."""
    samples = rng.normal(size=(P, L, 9)) * 0.3 ** np.arange(L)[:, None]
    products = samples @ samples.swapaxes(1, 2)
    return (products / np.trace(products, axis1=1, axis2=2)[:, None, None]).transpose(1, 2, 0)


def test_inner_products_by_hand():
    samples = np.array([[1.0, 2, 3], [0, 1, -1]])[None, :, :, None]
    assert_array_equal(inner_products(samples)[0, :, :, 0], [[14, -1], [-1, 2]])


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 21), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_inner_products_are_those_of_all_pairs(b, L, D, K, seed):
    samples = np.random.default_rng(seed).normal(size=(b, L, D, K))
    assert_allclose(inner_products(samples), np.einsum("bidk,bjdk->bijk", samples, samples), atol=1e-12)


@pytest.mark.parametrize("L", [2, 3, 5, 8])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_eigenvectors_make_the_matrix_diagonal(L, seed):
    matrices = of_trace_one(np.random.default_rng(seed), L, 6)
    values, vectors, beside = symmetric_eigen(matrices.copy())
    assert_allclose(np.einsum("iap,jap->ijp", vectors, vectors), np.eye(L)[:, :, None] + np.zeros(6), atol=1e-12)
    diagonal = np.einsum("iap,abp,jbp->ijp", vectors, matrices, vectors)
    assert_allclose(np.einsum("iip->ip", diagonal), values, atol=1e-12)
    off = np.abs(diagonal - values * np.eye(L)[:, :, None])
    assert_allclose(off.max(axis=(0, 1)), beside, atol=1e-12)
    assert np.median(beside) < 1e-4


def test_eigenvalues_are_lapacks_where_nothing_is_left_beside_them(rng):
    matrices = of_trace_one(rng, 5, 200)
    values, _, beside = symmetric_eigen(matrices.copy())
    sure = beside < 1e-6
    assert sure.mean() > 0.5
    expected = np.linalg.eigvalsh(matrices.transpose(2, 0, 1))
    assert_allclose(np.sort(values, axis=0).T[sure], expected[sure], atol=1e-10)


def test_a_quarter_turn_by_hand():
    """[[2, 1], [1, 2]] / 4 has 3/4 along (1, 1) and 1/4 along (1, -1)."""
    values, vectors, beside = symmetric_eigen(np.array([[[0.5], [0.25]], [[0.25], [0.5]]]))
    assert_allclose(np.sort(values[:, 0]), [0.25, 0.75])
    assert_allclose(np.abs(vectors[:, :, 0]), np.sqrt(0.5))
    assert beside[0] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_of_0_and_a_diagonal_one_are_left_as_they_are(dtype):
    diagonal = np.zeros((3, 3, 2), dtype)
    diagonal[range(3), range(3), 1] = 0.5, 0.25, 0.25
    values, vectors, beside = symmetric_eigen(diagonal.copy())
    assert values.dtype == vectors.dtype == dtype
    assert_array_equal(values, diagonal[range(3), range(3)])
    assert_array_equal(vectors, np.eye(3)[:, :, None] * np.ones(2))
    assert not beside.any()


def test_a_matrix_is_turned_alike_whatever_stands_beside_it(rng):
    matrices = of_trace_one(rng, 5, 40).astype(np.float32)
    whole = symmetric_eigen(matrices.copy())
    for some in (slice(0, 1), slice(7, 20)):
        part = symmetric_eigen(matrices[:, :, some].copy())
        for found, expected in zip(part, whole, strict=True):
            assert_array_equal(found, expected[..., some])


def test_common_axes_make_matrices_that_share_them_diagonal(rng):
    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    weights = np.array([8.0, 4, 2, 1])[:, None] * rng.uniform(0.9, 1.1, (4, 6))
    matrices = np.einsum("ia,ik,ib->abk", axes, weights, axes)[None]
    found = common_axes(matrices)
    assert_allclose(np.abs(found[0] @ axes.T), np.eye(4), atol=1e-6)
    diagonal = turned(matrices, found)[0]
    assert_allclose(diagonal, weights * np.eye(4)[:, :, None], atol=1e-6)
