"""The laws of the appendix, and agreement with POT on the same projections."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.errors import BadParameter
from lightproof.method.transform import (
    cosines,
    directions,
    discrete_cdt,
    discrete_rcdt,
    flatten,
    plane_cosines,
    projection_angles,
    sliced_wasserstein,
    translation_vectors,
    wasserstein_1d,
)

coordinate = st.floats(-100, 100, allow_subnormal=False)
points = st.integers(1, 20).flatmap(lambda n: arrays(float, n, elements=coordinate))
clouds = st.integers(1, 20).flatmap(lambda n: arrays(float, (n, 2), elements=coordinate))
cloud_pairs = st.integers(1, 20).flatmap(lambda n: arrays(float, (2, n, 2), elements=coordinate))
gains = st.floats(0.01, 50)
shifts = st.floats(-100, 100)
schemes = st.sampled_from([("uniform", m) for m in (1, 2, 4, 7)] + [("authors", m) for m in (2, 3, 4, 6)])


def close(actual, expected, scale=1.0):
    assert_allclose(actual, expected, rtol=1e-10, atol=1e-9 * max(1.0, scale))


@given(points)
def test_cdt_is_the_same_points_in_increasing_order(values):
    out = discrete_cdt(values)
    assert (np.diff(out) >= 0).all()
    assert sorted(values.tolist()) == out.tolist()


@given(points, shifts)
def test_translation_adds_the_shift_to_the_cdt(values, shift):
    close(discrete_cdt(values + shift), discrete_cdt(values) + shift)


def test_moving_points_apart_is_not_a_translation():
    values = np.array([0.0, 1.0, 3.0])
    moved = values + np.array([5.0, 0.0, 0.0])
    assert not np.allclose(discrete_cdt(moved), discrete_cdt(values) + 5.0)


@given(points, gains)
def test_scaling_scales_the_cdt(values, gain):
    close(discrete_cdt(gain * values), gain * discrete_cdt(values), 5000)


def test_scaling_by_a_negative_number_breaks_the_scaling_law():
    values = np.array([1.0, 2.0, 4.0])
    assert not np.allclose(discrete_cdt(-values), -discrete_cdt(values))


@given(points, st.floats(0.1, 3), st.floats(0, 2), shifts)
def test_a_strictly_increasing_map_composes_with_the_cdt(values, slope, cubic, shift):
    def increasing(z):
        return slope * z + cubic * (z / 100) ** 3 + shift

    close(discrete_cdt(increasing(values)), increasing(discrete_cdt(values)), 1000)


def test_a_decreasing_map_does_not_compose_with_the_cdt():
    values = np.array([0.0, 1.0, 3.0])
    assert not np.allclose(discrete_cdt(np.exp(-values)), np.exp(-discrete_cdt(values)))


@given(points, st.floats(0, 1), gains, gains, shifts, shifts)
def test_cdts_of_one_set_under_increasing_maps_are_convex(values, mix, gain_a, gain_b, shift_a, shift_b):
    blend = mix * discrete_cdt(gain_a * values + shift_a) + (1 - mix) * discrete_cdt(gain_b * values + shift_b)
    blended_map = (mix * gain_a + (1 - mix) * gain_b) * values + mix * shift_a + (1 - mix) * shift_b
    close(blend, discrete_cdt(blended_map), 5000)


def test_cdts_under_maps_that_are_not_increasing_are_not_convex():
    values = np.array([1.0, 2.0, 4.0])
    blend = 0.5 * discrete_cdt(values) + 0.5 * discrete_cdt(-values)
    assert not np.allclose(blend, discrete_cdt(0.5 * values - 0.5 * values))


@given(clouds, gains, shifts, shifts, schemes)
def test_light_scales_the_rcdt_and_adds_translation_vectors(cloud, gain, right, down, scheme):
    angles = projection_angles(scheme[1], scheme[0])
    relit = flatten(discrete_rcdt(gain * cloud + [right, down], angles))
    unit = translation_vectors(angles, len(cloud))
    close(relit, gain * flatten(discrete_rcdt(cloud, angles)) + right * unit[0] + down * unit[1], 5000)


@given(clouds, st.floats(0, 1), gains, gains, arrays(float, (2, 2), elements=shifts), schemes)
def test_rcdts_of_one_cloud_under_the_light_model_are_convex(cloud, mix, gain_a, gain_b, b, scheme):
    angles = projection_angles(scheme[1], scheme[0])
    blend = mix * discrete_rcdt(gain_a * cloud + b[0], angles) + (1 - mix) * discrete_rcdt(
        gain_b * cloud + b[1], angles
    )
    between = (mix * gain_a + (1 - mix) * gain_b) * cloud + mix * b[0] + (1 - mix) * b[1]
    close(blend, discrete_rcdt(between, angles), 5000)


def test_rcdts_under_a_shear_are_not_convex(rng):
    cloud, angles = rng.normal(size=(16, 2)), projection_angles(4)
    sheared = cloud @ np.array([[1.0, 0.0], [3.0, 1.0]])
    blend = 0.5 * discrete_rcdt(cloud, angles) + 0.5 * discrete_rcdt(sheared, angles)
    assert not np.allclose(blend, discrete_rcdt(0.5 * cloud + 0.5 * sheared, angles), atol=1e-3)


@given(cloud_pairs)
def test_wasserstein_1d_equals_pot(pair):
    first, second = pair[0, :, 0], pair[1, :, 0]
    close(wasserstein_1d(first, second) ** 2, ot.wasserstein_1d(first, second, p=2), 1e4)


@given(cloud_pairs, schemes)
def test_sliced_wasserstein_equals_pot_on_the_same_projections(pair, scheme):
    angles = projection_angles(scheme[1], scheme[0])
    expected = ot.sliced_wasserstein_distance(pair[0], pair[1], projections=directions(angles).T, p=2)
    close(sliced_wasserstein(pair[0], pair[1], angles) ** 2, expected**2, 1e4)


@given(cloud_pairs, schemes)
def test_sliced_wasserstein_is_the_scaled_distance_of_flattened_rcdts(pair, scheme):
    angles = projection_angles(scheme[1], scheme[0])
    apart = flatten(discrete_rcdt(pair[0], angles)) - flatten(discrete_rcdt(pair[1], angles))
    close(sliced_wasserstein(pair[0], pair[1], angles), np.linalg.norm(apart) / np.sqrt(apart.size), 1e3)


@pytest.mark.parametrize(
    ("m", "degrees"),
    [(2, [30, 120]), (3, [0, 45, 135]), (4, [0, 45, 135, 179]), (5, [0, 44.75, 89.5, 134.25, 179]), (1, [0])],
)
def test_authors_angles_are_those_of_the_released_code(m, degrees):
    assert_allclose(np.rad2deg(projection_angles(m, "authors")), degrees, atol=1e-12)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 45])
def test_uniform_angles_divide_the_half_circle_evenly(m):
    assert_allclose(np.diff([*projection_angles(m), np.pi]), np.full(m, np.pi / m), atol=1e-12)


@pytest.mark.parametrize("m", [0, -1, 2.0, True, "4"])
def test_a_bad_number_of_angles_is_named(m):
    with pytest.raises(BadParameter, match=r"^`m` of projection_angles must be an int of 1 or more; got .*\.$"):
        projection_angles(m)


def test_an_unknown_scheme_is_named():
    with pytest.raises(
        BadParameter, match=r"^`scheme` of projection_angles must be one of 'uniform', 'authors'; got 'x'"
    ):
        projection_angles(4, "x")


def test_clouds_of_different_sizes_have_no_distance(rng):
    with pytest.raises(
        BadParameter, match=r"`second` of sliced_wasserstein must be as many points as `first`, 5; got 4"
    ):
        sliced_wasserstein(rng.normal(size=(5, 2)), rng.normal(size=(4, 2)), projection_angles(2))
    with pytest.raises(BadParameter, match=r"`second` of wasserstein_1d must be as many points as `first`, 5; got 4"):
        wasserstein_1d(rng.normal(size=5), rng.normal(size=4))


def test_translation_vectors_hold_cosine_and_sine_for_every_point():
    vectors = translation_vectors(np.array([0.0, np.pi / 2]), 3)
    assert_allclose(vectors, [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], atol=1e-15)


def test_flatten_keeps_the_points_of_an_angle_together():
    assert_array_equal(flatten(np.array([[1, 2, 3], [4, 5, 6]])), [1, 2, 3, 4, 5, 6])


waves = st.integers(2, 20).flatmap(lambda N: st.tuples(st.just(N), st.integers(1, N - 1)))


@given(waves)
def test_cosines_are_orthonormal_and_hold_no_constant(sizes):
    N, detail = sizes
    kept = cosines(N, detail)
    assert kept.shape == (detail, N)
    assert_allclose(kept @ kept.T, np.eye(detail), atol=1e-12)
    assert_allclose(kept @ np.ones(N), 0, atol=1e-12)


@given(waves)
def test_cosines_follow_the_formula(sizes):
    N, detail = sizes
    by_hand = [[np.cos(np.pi * j * (n + 0.5) / N) for n in range(N)] for j in range(1, detail + 1)]
    assert_allclose(cosines(N, detail), np.sqrt(2 / N) * np.array(by_hand), atol=1e-12)


@pytest.mark.parametrize(("cell", "detail"), [(2, 1), (6, 3), (6, 5)])
def test_cosines_of_a_plane_are_orthonormal_and_hold_no_constant(cell, detail):
    kept = plane_cosines(cell, detail)
    assert kept.shape == ((detail + 1) ** 2 - 1, cell**2)
    assert_allclose(kept @ kept.T, np.eye(len(kept)), atol=1e-12)
    assert_allclose(kept.sum(axis=1), 0, atol=1e-12)


def test_cosines_of_a_plane_follow_the_formula():
    row, column = np.mgrid[:6, :6]
    wave = np.cos(np.pi * 2 * (row + 0.5) / 6) * np.cos(np.pi * 1 * (column + 0.5) / 6)
    assert_allclose(plane_cosines(6, 3)[2 * 4 + 1 - 1], (wave / np.linalg.norm(wave)).ravel(), atol=1e-12)


@given(waves, schemes)
def test_cosines_leave_nothing_of_translation_vectors(sizes, scheme):
    N, detail = sizes
    name, m = scheme
    vectors = translation_vectors(projection_angles(m, name), N).reshape(2, m, N)
    assert_allclose(vectors @ cosines(N, detail).T, 0, atol=1e-12)


@given(waves, st.data())
def test_cosines_of_a_patch_do_not_change_with_a_translation_of_the_cloud(sizes, data):
    N, detail = sizes
    cloud = data.draw(arrays(float, (N, 2), elements=coordinate))
    shift, angles = np.array([data.draw(shifts), data.draw(shifts)]), projection_angles(4, "uniform")
    still, moved = (discrete_rcdt(c, angles) @ cosines(N, detail).T for c in (cloud, cloud + shift))
    close(moved, still, 1000)


@given(cloud_pairs.filter(lambda pair: pair.shape[1] > 1))
def test_all_cosines_keep_every_distance_of_centered_curves(pair):
    N = pair.shape[1]
    first, second = (discrete_cdt(cloud[:, 0]) for cloud in pair)
    apart = (first - first.mean()) - (second - second.mean())
    kept = cosines(N, N - 1) @ (first - second)
    close(np.linalg.norm(kept), np.linalg.norm(apart), 1000)
    close(kept @ cosines(N, N - 1), apart, 1000)


@given(st.integers(0, 2**32 - 1))
def test_a_distance_in_fewer_cosines_is_never_longer(seed):
    curves = discrete_cdt(np.random.default_rng(seed).normal(size=(2, 36)))
    lengths = [np.linalg.norm(cosines(36, detail) @ (curves[0] - curves[1])) for detail in range(1, 36)]
    assert (np.diff(lengths) >= -1e-12).all()


@pytest.mark.parametrize(
    "quantile",
    [lambda u: u, lambda u: u**3, lambda u: np.log(u / (1 - u)), lambda u: np.tanh(8 * u - 4)],
    ids=["even", "bent", "logistic", "steep"],
)
def test_a_few_cosines_hold_nearly_all_of_a_smooth_rising_curve(quantile):
    curve = quantile((np.arange(36) + 0.5) / 36)
    centered = curve - curve.mean()
    assert np.sum((cosines(36, 5) @ centered) ** 2) > 0.97 * np.sum(centered**2)


def test_a_few_cosines_do_not_hold_a_curve_that_is_not_sorted():
    zigzag = np.tile([1.0, -1.0], 18)
    assert np.sum((cosines(36, 5) @ zigzag) ** 2) < 0.01 * np.sum(zigzag**2)


@pytest.mark.parametrize("detail", [0, -1, 36, 99, 2.0, True, "all", None])
def test_a_bad_number_of_cosines_is_named(detail):
    with pytest.raises(
        BadParameter, match=rf"^`detail` of cosines must be an int from 1 to N - 1 = 35; got {detail!r}\.$"
    ):
        cosines(36, detail)
