from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

from lightproof import FaceRecognizer
from lightproof.errors import BadImage
from lightproof.method.illumination import LIGHTS, ROWS_PER_PIXEL_OF_BLUR, log, none, tan_triggs, tan_triggs_by_height


def test_none_changes_nothing(rng):
    image = rng.random((4, 4))
    assert none(image) is image


def test_log_maps_black_to_0_and_white_to_1_by_the_curve_of_the_released_code():
    grey = np.array([[0.0, 1 / 255, 100 / 255, 1.0]])
    assert_allclose(log(grey), np.log([[1, 2, 101, 256]]) / np.log(256))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LIGHTS)
def test_normalizers_keep_shape_and_dtype(rng, name, dtype):
    for shape in ((5, 7), (2, 5, 7), (3, 2, 5, 7)):
        image = rng.random(shape).astype(dtype)
        before = image.copy()
        assert LIGHTS[name](image).shape == image.shape
        assert LIGHTS[name](image).dtype == dtype
        assert_array_equal(image, before)


@pytest.mark.parametrize("name", sorted(set(LIGHTS) - {"none"}))
def test_normalizers_refuse_a_picture_that_is_not_in_0_to_1(name):
    expected = rf"^Pixels for light='{name}' must be within \[0, 1\]; got 0 to 200\.$"
    with pytest.raises(BadImage, match=expected):
        LIGHTS[name](np.array([[0.0, 200.0]]))
    with pytest.raises(BadImage, match=r"got -0\.5 to 0\.5\.$"):
        LIGHTS[name](np.array([[-0.5, 0.5]]))


def test_log_forgives_rounding_at_the_ends():
    assert_allclose(log(np.array([[-1e-7, 1 + 1e-7]])), [[0, 1]])


def test_tan_triggs_forgives_rounding_at_the_ends(rng):
    image = rng.random((8, 8))
    image[0, :2] = 0, 1
    bent = image.copy()
    bent[0, :2] = -1e-7, 1 + 1e-7
    assert_array_equal(tan_triggs(bent), tan_triggs(image))


def smooth(image, sigma):
    """Blur pixel by pixel, up to 3 sigma away, the outermost pixels repeated."""
    reach = 3 * sigma
    padded = np.pad(image, reach, mode="edge")
    steps = range(-reach, reach + 1)
    weights = np.array([[math.exp(-(i * i + j * j) / (2 * sigma**2)) for j in steps] for i in steps])
    out = np.empty_like(image)
    for r, c in np.ndindex(image.shape):
        window = padded[r : r + len(steps), c : c + len(steps)]
        out[r, c] = np.sum(weights * window) / weights.sum()
    return out


def test_tan_triggs_is_the_loop_over_the_formula(rng):
    images = rng.random((2, 14, 11))
    images[0, 3:6] = 0
    for image, mapped in zip(images, tan_triggs(images), strict=True):
        curved = image**0.2
        bands = smooth(curved, 1) - smooth(curved, 2)
        bands = bands / np.mean([abs(value) ** 0.1 for value in bands.ravel()]) ** 10
        bands = bands / np.mean([min(10, abs(value)) ** 0.1 for value in bands.ravel()]) ** 10
        assert_allclose(mapped, 10 * np.tanh(bands / 10), atol=1e-9)


def test_tan_triggs_makes_a_bright_spot_positive_and_stays_within_10():
    image = np.full((15, 15), 0.1)
    image[7, 7] = 1
    mapped = tan_triggs(image)
    assert mapped[7, 7] == mapped.max() > 0
    assert np.abs(mapped).max() <= 10


@pytest.mark.parametrize("gain", [0.1, 0.5, 0.99])
def test_tan_triggs_does_not_change_with_more_light(rng, gain):
    """Gamma makes a power of the gain, and the contrast loses it."""
    image = rng.uniform(0.1, 1, (12, 12))
    assert_allclose(tan_triggs(gain * image), tan_triggs(image), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("grey", [0, 0.1, 0.7, 1])
def test_tan_triggs_makes_no_contrast_of_an_even_picture(grey, dtype):
    assert_array_equal(tan_triggs(np.full((1, 20, 20), grey, dtype)), 0)


@pytest.mark.parametrize("name", LIGHTS)
def test_the_recognizer_offers_every_normalizer(frontal, lit, name):
    recognizer = FaceRecognizer("paper", light=name, weights="length").fit(frontal.images, frontal.labels)
    side = lit.take(np.abs(lit.azimuths) == 50)
    assert recognizer.score(side.images, side.labels) == 1.0


def smooth_picture(rows, columns):
    """Draw the same picture at any size: gentle waves, given in shares of the height."""
    y, x = (np.mgrid[:rows, :columns] + 0.5) / rows
    return 0.5 + 0.15 * np.sin(17 * x + 3 * y) + 0.15 * np.cos(19 * y - 5 * x) + 0.1 * np.sin(11 * x * y)


def test_light_by_name_is_the_one_that_goes_by_the_height(rng):
    image = rng.random((1, 40, 30))
    assert_array_equal(LIGHTS["tan-triggs"](image), tan_triggs_by_height(image))


def test_tan_triggs_by_height_has_a_blur_of_one_pixel_at_96_rows(rng):
    assert ROWS_PER_PIXEL_OF_BLUR == 96
    image = rng.random((2, 96, 84))
    assert_array_equal(tan_triggs_by_height(image), tan_triggs(image))
    assert_array_equal(tan_triggs_by_height(image), tan_triggs(image, 1.0))


@pytest.mark.parametrize(("rows", "blur"), [(48, 0.5), (64, 2 / 3), (192, 2.0)])
def test_the_blur_of_tan_triggs_grows_with_the_height_and_not_with_the_width(rng, rows, blur):
    for columns in (30, 90):
        image = rng.random((1, rows, columns))
        assert_allclose(tan_triggs_by_height(image), tan_triggs(image, blur), atol=1e-12)
        assert not np.allclose(tan_triggs_by_height(image), tan_triggs(image), atol=0.1)


@pytest.mark.parametrize("times", [2, 3])
def test_enlarging_a_picture_enlarges_what_tan_triggs_makes_of_it(times):
    small, large = smooth_picture(96, 84), smooth_picture(96 * times, 84 * times)
    mapped = tan_triggs_by_height(large).reshape(96, times, 84, times).mean(axis=(1, 3))
    expected = tan_triggs_by_height(small)
    inside = (slice(8, -8), slice(8, -8))  # beyond the border there is no picture to enlarge
    off = np.sqrt(np.mean(np.square(mapped - expected)[inside]))
    assert off < 0.05 * np.std(expected[inside])
    fixed = tan_triggs(large).reshape(96, times, 84, times).mean(axis=(1, 3))
    assert off < np.sqrt(np.mean(np.square(fixed - expected)[inside])) / 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("blur", [0.5, 1, 1.7])
def test_the_blur_by_matrices_is_scipys_filter(rng, blur, dtype):
    image = rng.random((23, 17)).astype(dtype)
    curved = image.astype(float) ** 0.2
    wide = {"mode": "nearest", "axes": (0, 1)}
    bands = ndimage.gaussian_filter(curved, blur, radius=math.ceil(3 * blur), **wide)
    bands -= ndimage.gaussian_filter(curved, 2 * blur, radius=math.ceil(6 * blur), **wide)
    bands /= np.mean(np.abs(bands) ** 0.1) ** 10
    bands /= np.mean(np.minimum(10, np.abs(bands)) ** 0.1) ** 10
    assert_allclose(tan_triggs(image, blur), 10 * np.tanh(bands / 10), atol=1e-3 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 9, 7), (1, 24, 21), (1, 96, 84), (1, 192, 168)])
@pytest.mark.parametrize("grey", [0, 0.3, 1])
def test_tan_triggs_by_height_makes_no_contrast_of_an_even_picture_of_any_size(shape, grey, dtype):
    assert_array_equal(tan_triggs_by_height(np.full(shape, grey, dtype)), 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 48, 42), (1, 72, 63), (1, 96, 84), (1, 192, 168)])
@pytest.mark.parametrize("pixel", [(0, 0), (11, 9)])
def test_a_picture_of_which_one_pixel_differs_has_its_contrast_there_and_none_elsewhere(shape, pixel, dtype):
    """The tenth power of the mean of so little is 0 in float32."""
    image = np.full(shape, 0.5, dtype)
    image[0, *pixel] += 1 / 255
    mapped = tan_triggs_by_height(image)[0]
    assert np.isfinite(mapped).all()
    assert mapped[pixel] == mapped.max() > 9
    assert np.abs(mapped).max() <= 10
    assert_array_equal(mapped[24:, 22:], 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pictures_lie_in_memory_as_they_like(rng, dtype):
    images = rng.random((3, 30, 24)).astype(dtype).transpose(0, 2, 1)
    assert_array_equal(tan_triggs(images), tan_triggs(images.copy()))
    assert_array_equal(tan_triggs(images[1]), tan_triggs(images)[1])
