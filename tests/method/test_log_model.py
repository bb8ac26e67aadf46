"""What the logarithm does to the light, as docs/method.md derives it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lightproof.method.deformations import ambient, first_order
from lightproof.method.gradients import GRADIENTS, central_differences
from lightproof.method.illumination import log
from lightproof.method.transform import discrete_rcdt, flatten, projection_angles, translation_vectors

FLOOR = 1 / 255
SIDE = 6
ANGLES = projection_angles(5)
TRANSLATIONS = translation_vectors(ANGLES, SIDE**2)
ROW, COLUMN = np.mgrid[-3.5:4, -3.5:4]

# Pictures of 8 x 8 pixels around a patch of 6 x 6, so that the patch has no border.
pictures = st.builds(
    lambda seed, low: low + (0.7 - low) * np.random.default_rng(seed).random((8, 8)),
    st.integers(0, 2**32 - 1),
    st.floats(0.01, 0.5),
)
slopes = st.floats(-0.05, 0.05)


def cloud_of(image, gradient=central_differences):
    return gradient(image)[:, 1:-1, 1:-1].reshape(2, -1).T


def features(image, gradient=central_differences):
    return flatten(discrete_rcdt(cloud_of(image, gradient), ANGLES))


def tangent(image, rate):
    """First-order change of the log features of a picture whose logarithm changes by ``rate``."""
    return flatten(first_order(cloud_of(log(image)), cloud_of(rate)[None], ANGLES))[0]


def outside(vector, *rows):
    """Share of a vector that is outside the span of the rows and the translation vectors."""
    basis = np.concatenate([np.reshape(rows, (-1, vector.size)), TRANSLATIONS])
    left = vector - np.linalg.lstsq(basis.T, vector, rcond=None)[0] @ basis
    return np.linalg.norm(left) / np.linalg.norm(vector)


def exponential_ramp(right, down):
    """A light that falls off by a fixed share a pixel; 1 where it is brightest."""
    ramp = right * COLUMN + down * ROW
    return np.exp(ramp - ramp.max())


@pytest.mark.parametrize("gradient", GRADIENTS)
@given(image=pictures, right=slopes, down=slopes)
def test_under_log_an_exponential_ramp_of_light_adds_only_translation_vectors(image, gradient, right, down):
    shaded = (FLOOR + image) * exponential_ramp(right, down) - FLOOR
    assume(shaded.min() > 0)
    # The unit of the differences: of a ramp of slope 1 a pixel they are 8 for Sobel and 1 for central differences.
    unit = {"sobel": 8, "central": 1}[gradient] / np.log(256)
    expected = features(log(image), GRADIENTS[gradient]) + unit * np.array([right, down]) @ TRANSLATIONS
    assert_allclose(features(log(shaded), GRADIENTS[gradient]), expected, atol=1e-10)


@given(pictures, slopes, slopes)
def test_the_floor_of_the_log_bends_this_law_by_no_more_than_its_share_of_the_darkest_pixel(image, right, down):
    light = exponential_ramp(right, down)
    bent = np.log1p(FLOOR * (1 / light.min() - 1) / (FLOOR + image.min())) / np.log(256)
    expected = features(log(image)) + np.array([right, down]) @ TRANSLATIONS / np.log(256)
    # Pixels are off by 0 to `bent`, half their difference by half of it, a projection of two of them by root two more.
    assert np.abs(features(log(image * light)) - expected).max() <= bent / np.sqrt(2) + 1e-12


@given(pictures, st.floats(0.1, 1))
def test_under_log_contrast_changes_the_features_by_no_more_than_the_floor_does(image, gain):
    bent = np.log1p(FLOOR * (1 / gain - 1) / (FLOOR + image.min())) / np.log(256)
    assert np.abs(features(log(gain * image)) - features(log(image))).max() <= bent / np.sqrt(2) + 1e-12


def test_under_plain_pixels_contrast_is_a_ray_and_under_log_nearly_a_point(rng):
    image = 0.3 + 0.5 * rng.random((8, 8))
    plain, logs = features(image), features(log(image))
    assert_allclose(features(image / 4), plain / 4)
    assert np.linalg.norm(features(log(image / 4)) - logs) < 0.05 * np.linalg.norm(logs)


@given(pictures, st.floats(0.2, 1), st.floats(0, 0.3))
def test_under_log_contrast_and_brightness_are_one_change_of_the_floor(image, gain, brightness):
    floor = (FLOOR + brightness) / gain
    assert_allclose(features(log(gain * image + brightness)), features(np.log(floor + image) / np.log(256)), atol=1e-12)


def test_under_much_ambient_light_the_log_features_turn_into_the_plain_ones(rng):
    image = rng.random((8, 8))
    plain = features(image)
    apart = [np.linalg.norm(floor * features(np.log(floor + image)) - plain) for floor in (1, 10, 100)]
    assert apart[1] < apart[0] / 5
    assert apart[2] < 0.01 * np.linalg.norm(plain)


def rates(image):
    """Rates of the logarithm under even light and under ramps to the right and down."""
    return [ambient(image), COLUMN * ambient(image), ROW * ambient(image)]


@pytest.mark.parametrize(("which", "added"), [(0, np.ones((8, 8))), (1, COLUMN), (2, ROW)], ids=["even", "x", "y"])
@given(image=pictures)
def test_tangents_of_added_light_are_the_rates_of_change_of_the_log_features(image, which, added):
    assume(np.diff(discrete_rcdt(cloud_of(log(image)), ANGLES)).min() > 1e-5)  # no change of order within a step
    step = 1e-9
    rate = (features(log(image + step * added)) - features(log(image - step * added))) / (2 * step)
    assert_allclose(tangent(image, rates(image)[which]), rate, rtol=1e-4, atol=1e-4 * np.abs(rate).max())


def test_the_tangent_of_ambient_light_weighs_each_gradient_by_its_darkness():
    ramp = 0.2 + 0.001 * COLUMN + 0.0003 * ROW + 0.00001 * COLUMN * ROW  # smooth: differences are derivatives
    darkness = 1 / (FLOOR + ramp[1:-1, 1:-1].ravel())
    weighed = first_order(cloud_of(log(ramp)), -(darkness[:, None] * cloud_of(log(ramp)))[None], ANGLES)
    assert_allclose(tangent(ramp, ambient(ramp)), flatten(weighed)[0], rtol=1e-3, atol=1e-6)


@given(pictures)
def test_in_a_patch_of_nearly_one_brightness_ambient_light_is_a_loss_of_contrast(image):
    darkness = 1 / (FLOOR + image)
    middle, spread = (darkness.max() + darkness.min()) / 2, np.ptp(darkness) / 2
    cloud = cloud_of(log(image))
    left = tangent(image, ambient(image)) + middle * features(log(image))
    # No point is farther from the scaled cloud than the spread of the darkness lets it be.
    assert np.abs(left).max() <= spread * np.abs(cloud).sum(axis=1).max() + 1e-9


def test_a_multiplicative_ramp_breaks_the_plain_model_and_not_the_log_model(rng):
    image = 0.2 + 0.6 * rng.random((8, 8))
    shaded = image * exponential_ramp(0.1, -0.06)
    assert outside(features(shaded), features(image)) > 0.05
    assert outside(features(log(shaded)), features(log(image))) < 0.01
    # With the floor gone nothing is left, and the scale is not needed either: a point and translations.
    assert outside(features(np.log(shaded)) - features(np.log(image))) < 1e-10


def test_added_light_breaks_the_log_model_and_not_the_plain_one(rng):
    image = 0.05 + 0.6 * rng.random((8, 8))
    hazy = 0.7 * image + 0.2 + 0.01 * COLUMN
    assert outside(features(hazy), features(image)) < 1e-10
    assert outside(features(log(hazy)), features(log(image))) > 0.05


def test_what_the_tangents_of_added_light_leave_is_of_second_order(rng):
    image = 0.2 + 0.3 * rng.random((8, 8))
    rows = [features(log(image)), *(tangent(image, rate) for rate in rates(image))]
    left, without = [], []
    for little in (4e-4, 2e-4):
        relit = features(log(image + little * (1 + 0.2 * COLUMN - 0.1 * ROW)))
        left.append(outside(relit, *rows))
        without.append(outside(relit, rows[0]))
    assert without[0] / without[1] == pytest.approx(2, rel=0.05)
    assert left[0] / left[1] == pytest.approx(4, rel=0.05)
    assert left[0] < 0.01 * without[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ambient_is_the_rate_of_the_log_at_every_pixel(dtype):
    image = np.array([[0.0, 0.1], [0.5, 1.0]])
    step = 1e-8
    expected = (np.log1p(255 * (image + step)) - np.log1p(255 * (image - step))) / (2 * step * np.log(256))
    assert_allclose(ambient(image.astype(dtype)), expected, rtol=1e-6)
    assert ambient(image.astype(dtype)).dtype == dtype
