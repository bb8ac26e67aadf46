from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lightproof.stack import residuals, stack_spans
from lightproof.subspaces import SharedSpan, count_components, principal_directions, span_photos

DTYPES = [np.float32, np.float64]


def loose(dtype):
    return {"rtol": 1e-3, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-12}


def least_squares_distance(x, spanning):
    """Distance to a span by another road: solve for the coefficients."""
    coefficients, *_ = np.linalg.lstsq(spanning.T.astype(float), x.astype(float), rcond=None)
    return np.linalg.norm(x - coefficients @ spanning)


def two_fixed(D, rng):
    return rng.normal(size=(2, D))


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
    shared = SharedSpan.of(fixed)
    photos = rng.normal(size=(C, K, L, D))
    people = [span_photos(samples, shared) for samples in photos]
    stack = stack_spans(people, 1.0, span)
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
    shared = SharedSpan.of(fixed)
    photos = rng.normal(size=(5, 2, 16)).astype(dtype)
    stack = stack_spans([span_photos(photos, shared)], 1.0, span)
    inside = (3 * photos[:, 0] - photos[:, 1] + 20 * fixed[0] - 5 * fixed[1]).astype(dtype)
    lengths = np.linalg.norm(inside, axis=1)
    tiny = 1e-6 if dtype == np.float32 else 1e-14
    assert (residuals(inside[None], stack)[:, 0, 0] <= tiny * lengths).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_distances_keep_their_digits(rng, dtype):
    """The difference of squares alone would lose them: 1 - cos^2 of a tiny angle."""
    line = np.zeros((1, 1, 12), dtype)
    line[..., 0] = 1
    nothing = SharedSpan.of(np.zeros((0, 12)))
    stack = stack_spans([span_photos(line, nothing)], 1.0, "kept")
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
    shared = SharedSpan.of(fixed)
    photos = rng.normal(size=(4, L, D)).astype(dtype)
    photos[0] = 0
    photos[1] = fixed[0].astype(dtype)
    photos[2] = photos[2, :1]
    person = span_photos(photos, shared)
    stack = stack_spans([person, person], 0.99, span)
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
    shared = SharedSpan.of(fixed)
    photos, x = rng.normal(size=(3, 6, 2, 16)), rng.normal(size=(5, 6, 16))
    found = {}
    for dtype in DTYPES:
        people = [span_photos(p.astype(dtype), shared) for p in photos]
        found[dtype] = residuals(x.astype(dtype), stack_spans(people, 0.9, "joint"))
    assert_allclose(found[np.float32], found[np.float64], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("components", [0.8, 0.95, 1, 3, 4])
@pytest.mark.parametrize("photos_each", [(4, 4, 4), (1, 4, 2), (12, 1, 3)])
def test_joint_spans_equal_the_decomposition_of_photos_and_fixed_vectors_together(rng, components, photos_each):
    """The released code's rule, by the direct road: one SVD, unsquared singular values, the largest count for all."""
    D, K = 10, 7
    fixed = two_fixed(D, rng)
    shared = SharedSpan.of(fixed)
    photos = [rng.normal(size=(K, L, D)) * rng.uniform(0.05, 2, size=(K, 1, 1)) for L in photos_each]
    stack = stack_spans([span_photos(p, shared) for p in photos], components, "joint")
    x = rng.normal(size=(5, K, D))
    found = residuals(x, stack)
    for k in range(K):
        turned = [np.linalg.svd(np.concatenate([p[k], fixed]), full_matrices=False)[1:] for p in photos]
        count = components
        if isinstance(components, float):
            count = max(int(np.argmax(np.cumsum(s) / s.sum() >= components)) + 1 for s, _ in turned)
        for c, (_, right) in enumerate(turned):
            basis = right[:count]
            expected = np.linalg.norm(x[:, k] - x[:, k] @ basis.T @ basis, axis=1)
            assert_allclose(found[k, :, c], expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("components", [0.6, 0.9, 3, 4])
def test_kept_spans_hold_the_share_of_variance_beyond_the_fixed_vectors(rng, components):
    """The paper's rule, by the direct road: squared singular values of what the fixed vectors leave."""
    D, K = 10, 6
    fixed = two_fixed(D, rng)
    shared = SharedSpan.of(fixed)
    photos = rng.normal(size=(K, 5, D)) * np.array([5.0, 2.0, 1.0, 0.5, 0.2])[:, None]
    stack = stack_spans([span_photos(photos, shared)], components, "kept")
    x = rng.normal(size=(4, K, D))
    found = residuals(x, stack)
    across = np.eye(D) - shared.vectors.T @ shared.vectors
    for k in range(K):
        _, s, right = np.linalg.svd(photos[k] @ across, full_matrices=False)
        count = components - 2
        if isinstance(components, float):
            count = int(np.argmax(np.cumsum(s**2) / np.sum(s**2) >= components)) + 1
        basis = np.concatenate([shared.vectors, right[:count]])
        expected = np.linalg.norm(x[:, k] - x[:, k] @ basis.T @ basis, axis=1)
        assert_allclose(found[k, :, 0], expected, rtol=1e-9, atol=1e-11)


def test_kept_spans_hold_the_fixed_vectors_however_small_the_photos(rng):
    fixed = two_fixed(16, rng)
    shared = SharedSpan.of(fixed)
    photos = 1e-3 * rng.normal(size=(1, 1, 16))
    stack = stack_spans([span_photos(photos, shared)], 0.99, "kept")
    assert_allclose(residuals(fixed[None, :1], stack), 0, atol=1e-12)
    assert_allclose(residuals(photos, stack), 0, atol=1e-12)


def test_the_photos_can_be_read_back(rng):
    fixed = two_fixed(16, rng)
    shared = SharedSpan.of(fixed)
    photos = rng.normal(size=(4, 3, 16))
    assert_allclose(span_photos(photos, shared).samples(), photos, atol=1e-12)


@pytest.mark.parametrize(("components", "columns"), [(1, 3), (2, 3), (3, 3), (5, 5), (99, 7)])
def test_an_int_counts_shared_and_own_directions_together(rng, components, columns):
    person = span_photos(rng.normal(size=(4, 5, 16)), SharedSpan.of(two_fixed(16, rng)))
    assert stack_spans([person], components, "kept").columns.shape == (4, 16, columns)


def test_dependent_fixed_vectors_span_one_direction():
    """One angle alone makes the two translation vectors collinear."""
    shared = SharedSpan.of(np.outer([0.6, 0.8], np.arange(1.0, 9.0)))
    assert shared.vectors.shape == (1, 8)
    assert_allclose(shared.fixed @ shared.vectors, np.outer([0.6, 0.8], np.arange(1.0, 9.0)))
