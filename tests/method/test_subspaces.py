from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.method.subspace_bank import relative_residuals, residuals, stack_spans
from lightproof.method.subspaces import LEVELS, SharedSpan, count_components, decoded, principal_directions, span_photos

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


NOTHING_SHARED = SharedSpan.of(np.zeros((0, 12)))


def spans_of(rng, K=5, L=4, D=12, dtype=np.float32):
    return span_photos(rng.normal(size=(K, L, D)).astype(dtype), SharedSpan.of(np.zeros((0, D))))


def lines(*directions):
    """Stack people who are a line each, in one patch."""
    D = len(directions[0])
    nothing = SharedSpan.of(np.zeros((0, D)))
    return stack_spans([span_photos(np.array([[d]], float), nothing) for d in directions], 1.0, "kept")


@pytest.mark.parametrize("dtype", DTYPES)
def test_floats_are_decoded_already(rng, dtype):
    vectors = rng.normal(size=(3, 4)).astype(dtype)
    assert decoded(vectors, axis=-1) is vectors


def test_whole_numbers_decode_to_unit_vectors_along_the_axis():
    codes = np.array([[3, 4], [0, 0], [-127, 0]], np.int8)
    before = codes.copy()
    assert_allclose(decoded(codes, axis=-1), [[0.6, 0.8], [0, 0], [-1, 0]], rtol=1e-6)
    assert_allclose(decoded(codes.T, axis=0), np.transpose([[0.6, 0.8], [0, 0], [-1, 0]]), rtol=1e-6)
    assert decoded(codes, axis=-1).dtype == np.float32
    assert_array_equal(codes, before)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@given(most=st.integers(1, 6), L=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_compact_directions_are_the_directions_within_rounding(dtype, most, L, seed):
    spans = spans_of(np.random.default_rng(seed), L=L, dtype=dtype)
    small = spans.compact(most)
    assert small.own.dtype == np.int8
    assert small.own.shape == (5, min(most, L), 12)
    assert_array_equal(np.abs(small.own.astype(int)).max(axis=-1), LEVELS)
    assert_allclose(np.linalg.norm(small.directions, axis=-1), 1, rtol=1e-6)
    # Each of the D numbers is off by half a code at most, of 127 for the largest.
    largest = np.abs(spans.own[:, :most]).max(axis=-1, keepdims=True)
    assert (np.abs(small.directions - spans.own[:, :most]) < 2 * largest * np.sqrt(12) / 2 / LEVELS).all()


def test_compact_takes_a_quarter_of_the_room(rng):
    spans = spans_of(rng)
    assert spans.compact(4).own.nbytes * 4 == spans.own.nbytes


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_compact_keeps_the_strengths_of_what_it_keeps_in_half_precision(most, L, seed):
    spans = spans_of(np.random.default_rng(seed), L=L)
    small = spans.compact(most)
    assert small.coordinates.dtype == np.float16
    assert_allclose(small.own_variance, spans.own_variance[:, :most], rtol=2e-3)
    assert_array_equal(small.rank, np.minimum(spans.rank, most))


def test_the_stand_ins_of_a_compact_span_span_the_same(rng):
    spans = spans_of(rng)
    small = spans.compact(3)
    again = span_photos(small.samples().astype(np.float32), spans.shared)
    x = rng.normal(size=(6, 5, 12)).astype(np.float32)
    first, second, whole = (residuals(x, stack_spans([s], 3, "kept")) for s in (small, again, spans))
    assert_allclose(second, first, rtol=0.02)
    assert_allclose(first, whole, rtol=0.05)
    assert_allclose(again.own_variance[:, :3], small.own_variance, rtol=0.05)


@pytest.mark.slow
def test_compact_drops_what_is_weakest(rng):
    strengths = np.array([5.0, 3.0, 1e-2])
    directions = np.linalg.qr(rng.normal(size=(12, 3)))[0].T
    spans = span_photos((strengths[:, None] * directions)[None], NOTHING_SHARED)
    small = spans.compact(2)
    assert_allclose(np.abs(np.sum(small.directions[0] * directions[:2], axis=1)), 1, atol=1e-3)
    assert_allclose(np.sqrt(small.own_variance[0]), strengths[:2], rtol=2e-3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_compact_black_and_collinear_patches_are_safe(rng, dtype):
    photos = rng.normal(size=(3, 4, 12)).astype(dtype)
    photos[0] = 0
    photos[1] = photos[1, :1]
    small = span_photos(photos, NOTHING_SHARED).compact(3)
    assert_array_equal(small.rank, [0, 1, 3])
    assert not small.own[0].any()
    x = rng.normal(size=(2, 3, 12)).astype(dtype)
    found = residuals(x, stack_spans([small, small], 3, "kept"))
    assert np.isfinite(found).all()
    assert_allclose(found[0, :, 0], np.linalg.norm(x[:, 0], axis=1), rtol=1e-5)


def test_photos_added_to_a_compact_span_are_in_the_span_then(rng):
    small = spans_of(rng, L=2).compact(4)
    photo = rng.normal(size=(5, 1, 12)).astype(np.float32)
    more = span_photos(np.concatenate([small.samples().astype(np.float32), photo], axis=1), small.shared).compact(4)
    x = photo.transpose(1, 0, 2)
    before, after = (residuals(x, stack_spans([s], 4, "kept")) for s in (small, more))
    assert (after < 0.05 * np.linalg.norm(x, axis=2).T[:, :, None]).all()
    assert (after < before).all()
    assert_array_equal(more.rank, 3)


def test_a_stack_of_compact_spans_is_of_whole_numbers(rng):
    people = [spans_of(rng).compact(3) for _ in range(4)]
    stack = stack_spans(people, 3, "kept")
    assert stack.columns.dtype == np.int8
    assert stack.columns.nbytes == sum(person.own.nbytes for person in people)


@pytest.mark.parametrize("compact", [True, False])
def test_take_returns_the_first_directions_of_some_people(rng, compact):
    people = [spans_of(rng) for _ in range(5)]
    people = [spans.compact(3) for spans in people] if compact else people
    stack = stack_spans(people, 3, "kept")
    assert stack.depth == 3
    for depth in (1, 2, 3):
        found = stack.take(np.array([4, 0, 2]), depth)
        assert found.shape == (5, 12, depth, 3)
        for place, person in enumerate((4, 0, 2)):
            expected = people[person].directions[:, :depth].transpose(0, 2, 1)
            assert_allclose(found[..., place], expected, rtol=1e-6)


def test_take_leaves_out_the_shared_directions(rng):
    shared = SharedSpan.of(two_fixed(12, rng))
    people = [span_photos(rng.normal(size=(3, 2, 12)), shared) for _ in range(3)]
    stack = stack_spans(people, 1.0, "kept")
    assert (stack.n_shared, stack.depth) == (2, 2)
    assert_array_equal(stack.take(np.array([1]), 2)[..., 0], people[1].own.transpose(0, 2, 1))


@pytest.mark.parametrize("compact", [True, False])
def test_some_patches_of_a_stack_are_measured_as_in_the_whole(rng, compact):
    people = [spans_of(rng, K=7) for _ in range(3)]
    stack = stack_spans([s.compact(3) for s in people] if compact else people, 3, "kept")
    part = replace(stack, columns=decoded(stack.columns[2:5], axis=1))
    assert (part.n_shared, part.n_people, part.columns.shape) == (0, 3, (3, 12, 9))
    assert_allclose(np.linalg.norm(part.columns, axis=1), 1, rtol=1e-6)
    x = rng.normal(size=(4, 7, 12)).astype(np.float32)
    assert_allclose(residuals(x[:, 2:5], part), residuals(x, stack)[2:5], rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("degrees", [0, 1, 30, 45, 89, 90, 120, 180])
@pytest.mark.parametrize("length", [1e-4, 1, 300])
def test_the_relative_distance_to_a_line_is_the_sine_of_the_angle(dtype, degrees, length):
    angle = np.radians(degrees)
    x = length * np.array([np.cos(angle), np.sin(angle)])
    stack = stack_spans([span_photos(np.array([[[2.0, 0]]], dtype), SharedSpan.of(np.zeros((0, 2))))], 1.0, "kept")
    found = relative_residuals(x[None, None].astype(dtype), stack)
    assert found.dtype == dtype
    assert_allclose(found[0, 0, 0], abs(np.sin(angle)), **loose(dtype))


def test_the_relative_distance_to_a_plane_is_the_sine_of_its_angle_by_hand():
    """The plane z = 0 and the vector (1, 2, 2): the angle between them has the sine 2 / 3."""
    plane = span_photos(np.array([[[1.0, 1, 0], [0, 3, 0]]]), SharedSpan.of(np.zeros((0, 3))))
    found = relative_residuals(np.array([[[1.0, 2, 2]]]), stack_spans([plane], 1.0, "kept"))
    assert_allclose(found, 2 / 3)


@given(st.integers(0, 2**32 - 1))
def test_the_relative_distance_is_the_sine_of_the_principal_angle(seed):
    rng = np.random.default_rng(seed)
    photos, x = rng.normal(size=(1, 3, 9)), rng.normal(size=(1, 1, 9))
    stack = stack_spans([span_photos(photos, SharedSpan.of(np.zeros((0, 9))))], 1.0, "kept")
    basis = np.linalg.qr(photos[0].T)[0]
    angle = np.arccos(np.clip(np.linalg.norm(basis.T @ x[0, 0]) / np.linalg.norm(x), 0, 1))
    assert_allclose(relative_residuals(x, stack)[0, 0, 0], np.sin(angle), atol=1e-7)


@given(st.floats(1e-3, 1e3), st.integers(0, 2**32 - 1))
def test_the_relative_distance_does_not_change_with_the_length(gain, seed):
    rng = np.random.default_rng(seed)
    stack = lines(rng.normal(size=6), rng.normal(size=6))
    x = rng.normal(size=(3, 1, 6))
    assert_allclose(relative_residuals(gain * x, stack), relative_residuals(x, stack), rtol=1e-8)
    assert_allclose(residuals(gain * x, stack), gain * residuals(x, stack), rtol=1e-8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_relative_distances_stay_within_0_and_1(rng, dtype):
    people = [spans_of(rng, dtype=dtype).compact(3) for _ in range(3)]
    stack = stack_spans(people, 3, "kept")
    inside = people[0].samples().astype(dtype).transpose(1, 0, 2)
    found = relative_residuals(np.concatenate([inside, rng.normal(size=(20, 5, 12)).astype(dtype)]), stack)
    assert found.min() >= 0
    assert found.max() <= 1
    assert found[:, :3, 0].max() < 0.02


@pytest.mark.parametrize("n_fixed", [0, 2])
def test_a_vector_of_0_has_a_relative_distance_of_1_to_everybody(rng, n_fixed):
    shared = SharedSpan.of(rng.normal(size=(n_fixed, 12)))
    people = [span_photos(rng.normal(size=(4, 2, 12)), shared) for _ in range(3)]
    assert_array_equal(relative_residuals(np.zeros((2, 4, 12)), stack_spans(people, 1.0, "kept")), 1)


@given(st.integers(0, 2**32 - 1))
def test_shared_directions_do_not_count_in_the_relative_distance(seed):
    rng = np.random.default_rng(seed)
    fixed = two_fixed(12, rng)
    shared = SharedSpan.of(fixed)
    stack = stack_spans([span_photos(rng.normal(size=(1, 2, 12)), shared) for _ in range(3)], 1.0, "kept")
    x = rng.normal(size=(4, 1, 12))
    beyond = x - x @ shared.vectors.T @ shared.vectors
    expected = residuals(beyond, stack) / np.linalg.norm(beyond, axis=2).T[:, :, None]
    assert_allclose(relative_residuals(x, stack), expected, rtol=1e-7)
    assert_allclose(relative_residuals(x + 5 * fixed[0] - 3 * fixed[1], stack), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_vector_with_nothing_but_shared_directions_has_a_relative_distance_of_1_to_everybody(rng, dtype):
    fixed = two_fixed(12, rng)
    shared = SharedSpan.of(fixed)
    stack = stack_spans([span_photos(rng.normal(size=(1, 2, 12)).astype(dtype), shared)], 1.0, "kept")
    within = (np.array([[3, 1], [20, -5], [7, 2], [1, 1]]) @ fixed).astype(dtype)
    assert_array_equal(relative_residuals(within[:, None], stack), 1)
