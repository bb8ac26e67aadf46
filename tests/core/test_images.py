from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage
from skimage.transform import resize

from lightproof.core.images import bring_to_size, check_images
from lightproof.core.resampling import gaussian, reach_of
from lightproof.errors import BadImage


@pytest.mark.parametrize("shape", [(192, 168), (64, 70), (30, 100), (64, 64), (20, 20)])
def test_resizing_equals_scikit_image(rng, shape):
    images = rng.random((3, *shape))
    expected = [resize(image, (64, 64), anti_aliasing=True) for image in images]
    assert_allclose(bring_to_size(images, (64, 64), np.float64), expected, atol=1e-12)
    assert_allclose(bring_to_size(images, (64, 64), np.float32), expected, atol=2e-6)


@pytest.mark.parametrize(("dtype", "white"), [("uint8", 255), ("uint16", 65535)])
def test_white_is_1_whatever_the_dtype(dtype, white):
    images = np.full((1, 10, 10), white, dtype)
    assert_allclose(bring_to_size(images, (4, 4), np.float64), np.ones((1, 4, 4)))
    assert_allclose(bring_to_size(images, None, np.float64), np.ones((1, 10, 10)))


def test_a_list_of_different_sizes_equals_one_by_one(rng):
    images = [rng.integers(0, 256, (20, 30)).astype("uint8"), rng.random((40, 25)), rng.random((20, 30))]
    together = bring_to_size(check_images(images), (16, 16), np.float64)
    for image, small in zip(images, together, strict=True):
        assert_allclose(small, bring_to_size(image[None], (16, 16), np.float64)[0], atol=1e-12)


def test_8_bit_smoothing_rounds_the_smoothed_picture_down(rng):
    image = rng.integers(0, 256, (96, 80)).astype("uint8")
    smoothed = ndimage.gaussian_filter(image, ((96 / 64 - 1) / 2, (80 / 64 - 1) / 2), mode="mirror")
    assert smoothed.dtype == np.uint8
    expected = resize(smoothed / 255.0, (64, 64), anti_aliasing=False)
    rounded = bring_to_size(image[None], (64, 64), np.float64, "8-bit")[0]
    assert_allclose(rounded, expected, atol=1e-12)
    assert np.abs(rounded - bring_to_size(image[None], (64, 64), np.float64)[0]).max() > 1e-3


@pytest.mark.parametrize("sigma", [1.0, 0.8125, 0.5, 0.25])
def test_the_weights_of_8_bit_smoothing_are_rounded_right_to_the_last_bit(sigma):
    reach = reach_of(sigma)
    exact = [float(Decimal(-0.5 / sigma**2 * step**2).exp()) for step in range(-reach, reach + 1)]
    assert gaussian(sigma, reach).tolist() == (np.array(exact) / np.sum(exact)).tolist()


def test_8_bit_smoothing_needs_8_bit_images(rng):
    with pytest.raises(BadImage, match=r"^Pixels for smoothing='8-bit' must be uint8; got float64\.$"):
        bring_to_size(rng.random((1, 96, 80)), (64, 64), np.float64, "8-bit")


def test_a_good_stack_is_taken_as_it_is(rng):
    images = rng.random((2, 5, 6))
    assert check_images(images) is images


SHAPE = r"a stack of grey images of shape \(n, h, w\) or a list of grey images of shape \(h, w\)"
DTYPE = "uint8, uint16 or float with white = 1"
SPOILED = np.zeros((2, 4, 4))
SPOILED[1, 2, 3] = np.nan
BRIGHT = np.zeros((2, 4, 4))
BRIGHT[1, 2, 3] = 250
ENDLESS = np.zeros((4, 4))
ENDLESS[0, 1] = -np.inf


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (SPOILED, r"^Pixels of X\[1\] must be finite numbers; got nan at row 2, column 3\.$"),
        ([np.zeros((4, 4)), ENDLESS], r"^Pixels of X\[1\] must be finite numbers; got -inf at row 0, column 1\.$"),
        ([], r"^X must be at least one image; got none\.$"),
        (np.zeros((0, 4, 4)), r"^X must be at least one image; got none\.$"),
        (np.zeros((4, 4)), rf"^X must be {SHAPE}; got an array of shape \(4, 4\); one image is X\[None\], flattened"),
        (
            np.zeros((2, 8, 8, 3)),
            rf"^X must be {SHAPE}; got colour of shape \(2, 8, 8, 3\); convert it to grey first\.$",
        ),
        (np.zeros((8, 8, 3)), rf"^X must be {SHAPE}; got colour of shape \(8, 8, 3\); convert it to grey first\.$"),
        (
            [np.zeros((8, 8, 3))],
            r"^X\[0\] must be a grey image of shape \(h, w\); got colour of shape \(8, 8, 3\); convert",
        ),
        (np.zeros(7), rf"^X must be {SHAPE}; got an array of shape \(7,\)\.$"),
        (
            [np.zeros((4, 4)), np.zeros(5)],
            r"^X\[1\] must be a grey image of shape \(h, w\); got an array of shape \(5,\)\.$",
        ),
        (
            np.zeros((1, 4, 4), int),
            rf"^Pixels of X\[0\] must be {DTYPE}; got int64; 0..255 is \.astype\('uint8'\)\.$",
        ),
        (
            np.zeros((1, 4, 4), complex),
            rf"^Pixels of X\[0\] must be {DTYPE}; got complex128\.$",
        ),
        (np.zeros((1, 4, 4), bool), rf"^Pixels of X\[0\] must be {DTYPE}; got bool\.$"),
        ([[["a", "b"], ["c", "d"]]], rf"^Pixels of X\[0\] must be {DTYPE}; got str\.$"),
        ([[[1.0, 2.0], [3.0]]], r"^X\[0\] must be a grey image of shape \(h, w\); got a ragged list\.$"),
        (
            np.zeros((2, 8, 8, 1)),
            rf"^X must be {SHAPE}; got shape \(2, 8, 8, 1\); drop the last axis",
        ),
        (np.ma.zeros((2, 8, 8)), rf"^X must be {SHAPE}; got a masked array; fill it first\.$"),
        (
            [np.ma.zeros((8, 8))],
            r"^X\[0\] must be a grey image .*; got a masked array; fill it first\.$",
        ),
        ([None], rf"^Pixels of X\[0\] must be {DTYPE}; got NoneType\.$"),
        (BRIGHT, r"^Pixels of X\[1\] must be .* white = 1; got floats from 0 to 250; divide by 255 first\.$"),
        (1e30 * BRIGHT, r"^Pixels of X\[1\] must be .* white = 1; got floats from 0 to 2\.5e\+32\.$"),
        ([1 - BRIGHT[1]], r"^Pixels of X\[0\] must be .* white = 1; got floats from -249 to 1\.$"),
        ("face.png", rf"^X must be {SHAPE}; got a str\.$"),
        (None, rf"^X must be {SHAPE}; got a NoneType\.$"),
        (np.zeros((1, 3, 9)), r"^X\[0\] must be at least 4 x 4 pixels for cell=4; got 3 x 9\.$"),
        ([np.zeros((9, 9)), np.zeros((9, 2))], r"^X\[1\] must be at least 4 x 4 pixels for cell=4; got 9 x 2\.$"),
    ],
)
def test_bad_images_get_one_sentence(X, message):
    with pytest.raises(BadImage, match=message):
        check_images(X, cell=4)


def test_sizes_must_agree_when_none_is_asked_for(rng):
    images = [rng.random((4, 5)), rng.random((4, 6))]
    expected = r"^X\[1\] must be of the size of X\[0\], 4 x 5, when size=None; got 4 x 6\.$"
    with pytest.raises(BadImage, match=expected):
        bring_to_size(images, None, np.float64)


def test_an_object_array_of_images_is_a_list(rng):
    images = np.empty(2, object)
    images[0], images[1] = rng.random((4, 5)), rng.random((6, 7))
    assert_array_equal(check_images(images)[1], images[1])


def test_floats_for_a_normalizer_must_be_in_0_to_1(rng):
    good, bad = rng.random((2, 4, 4)), 3 * rng.random((2, 4, 4)) - 1
    assert check_images(good, unit=True) is good
    check_images(np.array([[[-1e-7, 0.0], [1.0, 1 + 1e-7]]]), unit=True)
    check_images(bad)
    with pytest.raises(
        BadImage, match=r"^Pixels of X\[0\] must be within \[0, 1\] for this light; got -.* to 1\..*\.$"
    ):
        check_images(bad, unit=True)


def test_a_single_row_is_too_small_whatever_the_cell():
    with pytest.raises(BadImage, match=r"^X\[0\] must be at least 2 x 2 pixels; got 1 x 9\.$"):
        check_images(np.zeros((1, 1, 9)), cell=1)
