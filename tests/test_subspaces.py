from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lightproof.subspaces import (
    count_components,
    principal_directions,
    residuals,
    span_photos,
    stack_spans,
)

DTYPES = [np.float32, np.float64]


def loose(dtype):
    return {"rtol": 1e-3, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-12}


def least_squares_distance(x, spanning):
    """Distance to a span by another road: solve for the coefficients."""
    coefficients, *_ = np.linalg.lstsq(spanning.T.astype(float), x.astype(float), rcond=None)
    return np.linalg.norm(x - coefficients @ spanning)


def two_fixed(D, rng):
    return rng.normal(size=(2, D))


def shared_of(fixed):
    found = principal_directions(fixed)
    return found.vectors[found.strengths > 0]


@pytest.mark.parametrize("L", [1, 2, 5, 12])
def test_directions_are_orthonormal_and_rebuild_the_samples(rng, L):
    samples = rng.normal(size=(4, L, 8))
    found = principal_directions(samples)
    gram = found.vectors @ found.vectors.transpose(0, 2, 1)
    assert_allclose(gram, np.broadcast_to(np.eye(min(L, 8)), gram.shape), atol=1e-12)
    assert_allclose(found.coordinates @ found.vectors, samples, atol=1e-12)
    assert_allclose(np.linalg.norm(found.coordinates, axis=1), found.strengths, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_collinear_samples_span_one_direction(rng, dtype):
    line = rng.normal(size=16)
    samples = np.outer([1.0, 0.3, -7.0, 0.0], line).astype(dtype)
    found = principal_directions(samples[None])
    assert np.count_nonzero(found.strengths) == 1
    assert_allclose(np.abs(found.vectors[0, 0] @ line) / np.linalg.norm(line), 1, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("L", [1, 3])
def test_a_black_patch_spans_nothing(dtype, L):
    found = principal_directions(np.zeros((2, L, 6), dtype))
    assert not found.vectors.any()
    assert not found.strengths.any()
    assert not np.isnan(found.coordinates).any()


@pytest.mark.parametrize(
    ("weights", "components", "expected"),
    [
        ([4.0, 3.0, 2.0, 1.0], 0.4, 1),
        ([4.0, 3.0, 2.0, 1.0], 0.41, 2),
        ([4.0, 3.0, 2.0, 1.0], 0.7, 2),
        ([4.0, 3.0, 2.0, 1.0], 1.0, 4),
        ([4.0, 3.0, 0.0, 0.0], 1.0, 2),
        ([4.0, 3.0, 0.0, 0.0], 3, 2),
        ([4.0, 3.0, 2.0, 1.0], 3, 3),
        ([0.0, 0.0], 0.99, 0),
        ([0.0, 0.0], 1, 0),
    ],
)
def test_components_are_counted_by_share_or_by_number(weights, components, expected):
    assert count_components(np.array(weights), components) == expected


@given(st.integers(1, 6), st.integers(0, 2), st.sampled_from(["kept", "joint"]), st.integers(0, 2**32 - 1))
def test_residuals_equal_the_least_squares_distance(L, n_fixed, span, seed):
    rng = np.random.default_rng(seed)
    D, K, C = 9, 3, 2
    fixed = rng.normal(size=(n_fixed, D))
    shared = shared_of(fixed) if n_fixed else np.zeros((0, D))
    photos = rng.normal(size=(C, K, L, D))
    people = [span_photos(samples, shared) for samples in photos]
    stack = stack_spans(people, shared, fixed, 1.0, span)
    x = rng.normal(size=(4, K, D))
    found = residuals(x, stack)
    for k in range(K):
        for c in range(C):
            spanning = np.concatenate([photos[c, k], fixed])
            expected = [least_squares_distance(x[i, k], spanning) for i in range(4)]
            assert_allclose(found[k, :, c], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("span", ["kept", "joint"])
def test_what_lies_in_the_span_is_at_distance_0(rng, dtype, span):
    fixed = two_fixed(16, rng)
    shared = shared_of(fixed)
    photos = rng.normal(size=(5, 2, 16)).astype(dtype)
    stack = stack_spans([span_photos(photos, shared)], shared, fixed, 1.0, span)
    inside = (3 * photos[:, 0] - photos[:, 1] + 20 * fixed[0] - 5 * fixed[1]).astype(dtype)
    lengths = np.linalg.norm(inside, axis=1)
    tiny = 1e-6 if dtype == np.float32 else 1e-14
    assert (residuals(inside[None], stack)[:, 0, 0] <= tiny * lengths).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_distances_keep_their_digits(rng, dtype):
    """The difference of squares alone would lose them: 1 - cos^2 of a tiny angle."""
    line = np.zeros((1, 1, 12), dtype)
    line[..., 0] = 1
    nothing = np.zeros((0, 12))
    stack = stack_spans([span_photos(line, nothing)], nothing, nothing, 1.0, "kept")
    for small in (1e-2, 1e-4, 1e-6):
        x = np.zeros((1, 1, 12), dtype)
        x[..., 0], x[..., 1] = 1, small
        assert_allclose(residuals(x, stack)[0, 0, 0], small, rtol=1e-3 if dtype == np.float32 else 1e-7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("span", ["kept", "joint"])
@pytest.mark.parametrize("L", [1, 2, 4, 30])
def test_degenerate_photos_are_safe(rng, dtype, span, L):
    """Black patches, photos inside the shared span, the same photo twice, more photos than dimensions."""
    D, fixed = 12, two_fixed(12, rng)
    shared = shared_of(fixed)
    photos = rng.normal(size=(4, L, D)).astype(dtype)
    photos[0] = 0
    photos[1] = fixed[0].astype(dtype)
    photos[2] = photos[2, :1]
    person = span_photos(photos, shared)
    stack = stack_spans([person, person], shared, fixed, 0.99, span)
    x = rng.normal(size=(3, 4, D)).astype(dtype)
    x[1] = 0
    found = residuals(x, stack)
    assert np.isfinite(found).all()
    assert (found[:, 1] == 0).all()
    if span == "kept":
        expected = [least_squares_distance(x[0, k], fixed) for k in (0, 1)]
        assert_allclose(found[:2, 0, 0], expected, **loose(dtype))


def test_float32_and_float64_agree(rng):
    fixed = two_fixed(16, rng)
    shared = shared_of(fixed)
    photos, x = rng.normal(size=(3, 6, 2, 16)), rng.normal(size=(5, 6, 16))
    found = {}
    for dtype in DTYPES:
        people = [span_photos(p.astype(dtype), shared) for p in photos]
        found[dtype] = residuals(x.astype(dtype), stack_spans(people, shared, fixed, 0.9, "joint"))
    assert_allclose(found[np.float32], found[np.float64], rtol=1e-4, atol=1e-5)


def test_joint_spans_equal_the_decomposition_of_photos_and_fixed_vectors_together(rng):
    """The released code's rule, by the direct road: one SVD, unsquared singular values, the largest count for all."""
    D, K, C, share = 10, 7, 3, 0.8
    fixed = two_fixed(D, rng)
    shared = shared_of(fixed)
    photos = rng.normal(size=(C, K, 4, D)) * rng.uniform(0.05, 2, size=(C, K, 1, 1))
    stack = stack_spans([span_photos(p, shared) for p in photos], shared, fixed, share, "joint")
    x = rng.normal(size=(5, K, D))
    found = residuals(x, stack)
    counts = []
    for k in range(K):
        turned = [np.linalg.svd(np.concatenate([photos[c, k], fixed]), full_matrices=False)[1:] for c in range(C)]
        count = max(int(np.argmax(np.cumsum(s) / s.sum() >= share)) + 1 for s, _ in turned)
        counts.append(count)
        for c, (_, right) in enumerate(turned):
            basis = right[:count]
            expected = np.linalg.norm(x[:, k] - x[:, k] @ basis.T @ basis, axis=1)
            assert_allclose(found[k, :, c], expected, rtol=1e-9, atol=1e-11)
    assert 1 < min(counts) < 6, "the case must cut something off"


def test_kept_spans_hold_the_fixed_vectors_however_small_the_photos(rng):
    fixed = two_fixed(16, rng)
    shared = shared_of(fixed)
    photos = 1e-3 * rng.normal(size=(1, 1, 16))
    stack = stack_spans([span_photos(photos, shared)], shared, fixed, 0.99, "kept")
    assert_allclose(residuals(fixed[None, :1], stack), 0, atol=1e-12)
    assert_allclose(residuals(photos, stack), 0, atol=1e-12)


def test_the_photos_can_be_read_back(rng):
    fixed = two_fixed(16, rng)
    shared = shared_of(fixed)
    photos = rng.normal(size=(4, 3, 16))
    assert_allclose(span_photos(photos, shared).samples(shared), photos, atol=1e-12)


def test_an_int_counts_shared_and_own_directions_together(rng):
    fixed = two_fixed(16, rng)
    shared = shared_of(fixed)
    person = span_photos(rng.normal(size=(4, 5, 16)), shared)
    assert [int(person.own_counts(n)[0]) for n in (1, 2, 3, 5, 99)] == [0, 0, 1, 3, 5]
