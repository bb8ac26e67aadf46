from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.estimators.baselines.reflectance_maps import (
    DARKEST,
    gradient_face,
    log_dct,
    multiscale_log_differences,
    stretch,
    weber_face,
    zig_zag,
)

MAPS = [weber_face, gradient_face, multiscale_log_differences, log_dct, stretch]
SHARP = 0.01
"""A Gaussian of this width leaves a picture as it is."""


def gaussian(sigma, reach):
    weights = [math.exp(-(i**2) / (2 * sigma**2)) for i in range(-reach, reach + 1)]
    return np.array(weights) / sum(weights)


def filtered(image, kernel):
    """Correlate with a square kernel, pixel by pixel, the outermost pixels repeated."""
    reach = len(kernel) // 2
    padded = np.pad(image, reach, mode="edge")
    out = np.empty_like(image)
    for r, c in np.ndindex(image.shape):
        out[r, c] = np.sum(padded[r : r + len(kernel), c : c + len(kernel)] * kernel)
    return out


def angle_between(a, b):
    return np.abs(np.angle(np.exp(1j * (a - b))))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [(9, 13), (16, 8)])
@pytest.mark.parametrize("function", MAPS)
def test_maps_keep_shape_and_dtype_and_leave_their_input(rng, function, size, dtype):
    images = rng.random((3, *size)).astype(dtype)
    before = images.copy()
    mapped = function(images)
    assert mapped.shape == images.shape
    assert mapped.dtype == dtype
    assert_array_equal(images, before)
    assert_allclose(mapped[1], function(images[[1]])[0], atol=1e-5, err_msg="a picture must not depend on others")


@pytest.mark.parametrize("function", MAPS)
def test_black_pictures_have_finite_maps(function):
    assert np.isfinite(function(np.zeros((1, 8, 8)))).all()


def test_weber_face_by_arithmetic():
    image = np.full((3, 3), 0.25)
    image[1, 1] = 0.5
    mapped = weber_face(image[None], sigma=SHARP)[0]
    # In the middle eight neighbors are darker by 0.25. Mirrored at the border, a corner sees one brighter pixel, and
    # the middle of an edge too.
    assert_allclose(mapped[1, 1], math.atan(2 * 8 * 0.25 / (0.5 + 0.01 / 255)))
    around = math.atan(2 * -0.25 / (0.25 + 0.01 / 255))
    assert_allclose(np.delete(mapped.ravel(), 4), around)


def test_weber_face_is_the_loop_over_the_formula(rng):
    image, sigma, alpha = rng.random((10, 8)), 0.8, 3.0
    kernel = gaussian(sigma, 3)
    smooth = filtered(image, np.outer(kernel, kernel))
    padded = np.pad(smooth, 1, mode="symmetric")
    expected = np.empty_like(image)
    for r, c in np.ndindex(image.shape):
        differences = [smooth[r, c] - padded[r + i, c + j] for i in range(3) for j in range(3)]
        expected[r, c] = math.atan(alpha * sum(differences) / (smooth[r, c] + DARKEST))
    assert_allclose(weber_face(image[None], sigma, alpha)[0], expected, atol=1e-12)


@given(st.floats(0.25, 4), st.integers(0, 99))
def test_weber_face_does_not_change_with_more_light(gain, seed):
    image = np.random.default_rng(seed).uniform(0.2, 1, (1, 12, 12))
    # F is at least 0.05, so that DARKEST changes the quotient t by less than 0.0008 t, its arctan by half of that.
    assert_allclose(weber_face(image * gain), weber_face(image), atol=4e-4)


@pytest.mark.parametrize("degrees", [0, 30, 90, 135, 180, 225, 270, 359])
def test_the_gradient_face_of_a_ramp_is_its_direction(degrees):
    angle = math.radians(degrees)
    rows, columns = np.mgrid[:11, :11] / 40
    ramp = 0.5 + math.cos(angle) * columns + math.sin(angle) * rows
    inside = gradient_face(ramp[None])[0, 2:-2, 2:-2]
    assert_allclose(angle_between(inside, angle), 0, atol=1e-9)


def test_gradient_face_is_the_loop_over_the_formula(rng):
    image, sigma = rng.random((10, 8)), 0.75
    steps = np.arange(-2, 3)
    # Derivatives of a Gaussian up to a common factor; correlation turns the sign round.
    bell = np.exp(-(steps**2) / (2 * sigma**2))
    across, down = filtered(image, np.outer(bell, steps * bell)), filtered(image, np.outer(steps * bell, bell))
    expected = np.arctan2(down, across) % (2 * np.pi)
    assert_allclose(gradient_face(image[None], sigma)[0], expected, atol=1e-9)


@given(st.floats(0.01, 10), st.floats(-1, 1), st.integers(0, 99))
def test_gradient_face_does_not_change_with_gain_and_brightness(gain, brightness, seed):
    image = np.random.default_rng(seed).random((1, 8, 8))
    turned = angle_between(gradient_face(gain * image + brightness), gradient_face(image))
    assert turned.max() < 1e-7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_face_lies_in_one_turn_and_is_0_where_nothing_changes(rng, dtype):
    angles = gradient_face(rng.random((20, 16, 16)).astype(dtype))
    assert angles.min() >= 0
    assert angles.max() < 2 * np.pi
    assert angles.max() > 5
    for grey in (0, 0.3, 1):
        assert_array_equal(gradient_face(np.full((1, 6, 6), grey, dtype)), 0)


def test_gradient_face_never_rounds_up_to_a_full_turn():
    """Rightward, and upward by less than a rounding of the full turn."""
    rows, columns = np.mgrid[:7, :7].astype(np.float64)
    angles = gradient_face((columns / 8 - rows * 1e-18)[None])
    falling = gradient_face((columns / 8)[None] - 1e-17 * rows[None])
    assert max(angles.max(), falling.max()) < 2 * np.pi


def test_multiscale_log_differences_of_a_step_by_counting():
    """Left of the step, a ring of 8 k pixels has 4 k - 1 on the other side: two for each of k - 1 columns, one side."""
    left, right = 1.0, 3.0
    logs = np.where(np.arange(31) < 15, left, right) * np.ones((31, 1))
    mapped = multiscale_log_differences(np.expm1(logs)[None] / 255)
    expected = sum((left - right) * (4 * k - 1) / (8 * k) / k for k in range(1, 7))
    assert_allclose(mapped[0, 15, 14], expected)
    assert_allclose(mapped[0, 15, 15], -expected)
    assert_allclose(mapped[0, 15, [0, 1, 29, 30]], 0, atol=1e-12)


def test_multiscale_log_differences_are_the_loop_over_the_formula(rng):
    image, scales = rng.random((8, 10)), 3
    padded = np.pad(np.log(1 + 255 * image), scales, mode="edge")
    expected = np.zeros_like(image)
    for r, c in np.ndindex(image.shape):
        here = padded[r + scales, c + scales]
        for k in range(1, scales + 1):
            ring = [(i, j) for i in range(-k, k + 1) for j in range(-k, k + 1) if max(abs(i), abs(j)) == k]
            differences = [here - padded[r + scales + i, c + scales + j] for i, j in ring]
            expected[r, c] += np.mean(differences) / k
    assert_allclose(multiscale_log_differences(image[None], scales)[0], expected, atol=1e-12)


def test_zig_zag_begins_as_in_jpeg():
    expected = [(0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (0, 3), (1, 2), (2, 1), (3, 0), (4, 0)]
    assert zig_zag(8, 8)[:11].tolist() == [list(place) for place in expected]
    assert len({tuple(place) for place in zig_zag(5, 7).tolist()}) == 35


@given(st.lists(st.floats(-0.25, 0.25), min_size=6, max_size=6), st.integers(0, 99))
def test_log_dct_loses_every_sum_of_the_slowest_waves(weights, seed):
    height, width = 12, 9
    logs = np.random.default_rng(seed).uniform(2, 4, (height, width))
    rows, columns = np.mgrid[:height, :width]
    slow = [(0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2)]
    light = sum(
        weight * np.cos(np.pi * u * (rows + 0.5) / height) * np.cos(np.pi * v * (columns + 0.5) / width)
        for weight, (u, v) in zip(weights, slow, strict=True)
    )
    lit, plain = (log_dct(np.expm1(picture)[None] / 255, discard=5) for picture in (logs + light, logs))
    assert_allclose(lit, plain, atol=1e-9)


def test_log_dct_keeps_the_next_wave_and_gives_every_picture_the_same_mean(rng):
    height, width = 12, 9
    wave = np.cos(np.pi * 3 * (np.arange(width) + 0.5) / width) * np.ones((height, 1))
    logs = 3 + wave
    mapped = log_dct(np.expm1(logs)[None] / 255, discard=5)[0]
    assert_allclose(mapped, np.log(128) + wave, atol=1e-9)
    assert_allclose(log_dct(np.expm1(logs)[None] / 255, discard=6), np.log(128), atol=1e-9)
    assert_allclose(log_dct(rng.random((4, 12, 9))).mean(axis=(1, 2)), np.log(128))


def test_log_dct_that_discards_nothing_only_moves_the_mean(rng):
    logs = np.log1p(255 * rng.random((1, 7, 7)))
    assert_allclose(log_dct(np.expm1(logs) / 255, discard=0), logs - logs.mean() + np.log(128), atol=1e-12)


def test_stretch_takes_255_steps_rounded_up():
    image = np.array([[[0.2, 0.6], [0.2001, 0.4]]])
    assert_allclose(stretch(image), [[[0, 1], [1 / 255, 128 / 255]]])
    assert_array_equal(stretch(np.full((1, 2, 2), 0.7)), 0)
