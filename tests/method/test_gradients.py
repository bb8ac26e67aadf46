from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import ndimage

from lightproof.method.gradients import GRADIENTS, central_differences, sobel


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (5, 9, 4)])
def test_sobel_equals_scipy_with_a_mirrored_border(rng, shape, dtype):
    images = rng.random(shape).astype(dtype)
    expected = np.stack([ndimage.sobel(images, axis=axis, mode="mirror") for axis in (-1, -2)], axis=-3)
    if images.ndim == 3:  # scipy smooths along every other axis, images included
        expected = np.stack([np.stack([ndimage.sobel(i, axis=a, mode="mirror") for a in (-1, -2)]) for i in images])
    assert_allclose(sobel(images), expected, atol=1e-5 if dtype == np.float32 else 1e-12)
    assert sobel(images).dtype == dtype


def test_sobel_of_a_known_picture():
    image = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    horizontal, vertical = sobel(image)
    assert_allclose(horizontal, [[0, 4, 0]] * 3)
    assert_allclose(vertical, np.zeros((3, 3)))


def test_central_differences_of_a_ramp_are_its_slope_up_to_the_border():
    rows, columns = np.mgrid[0:5, 0:7]
    horizontal, vertical = central_differences(2.0 * columns - 3.0 * rows)
    assert_allclose(horizontal, np.full((5, 7), 2.0))
    assert_allclose(vertical, np.full((5, 7), -3.0))


def test_sobel_of_a_ramp_is_constant_inside_and_zero_across_the_border():
    horizontal, _ = sobel(2.0 * np.mgrid[0:5, 0:7][1])
    assert_allclose(horizontal[:, 1:-1], 16.0)
    assert_allclose(horizontal[:, [0, -1]], 0.0)


@pytest.mark.parametrize("name", GRADIENTS)
def test_brightness_leaves_the_differences_alone(rng, name):
    image = rng.random((6, 8))
    assert_allclose(GRADIENTS[name](image + 5.0), GRADIENTS[name](image), atol=1e-12)
