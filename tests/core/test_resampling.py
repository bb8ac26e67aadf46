"""Blurring and resizing are what SciPy and scikit-image do, to single pixels and to the borders."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage
from skimage.transform import resize

from lightproof.core.resampling import blurring, resizing

DOUBLE = np.dtype(np.float64)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize(
    ("old", "new"), [(192, 72), (168, 63), (192, 16), (100, 72), (50, 72), (64, 64), (17, 16), (40, 2), (2, 16)]
)
def test_a_single_pixel_is_resized_as_by_scikit_image(old, new, smooth):
    expected = resize(np.eye(old), (new, old), order=1, mode="reflect", anti_aliasing=smooth)
    assert_allclose(resizing(old, new, smooth, DOUBLE).matrix, expected, atol=1e-15)


@pytest.mark.parametrize(
    ("side", "sigma", "radius"), [(72, 0.75, 3), (63, 1.5, 5), (96, 2.0, 6), (5, 1.0, 3), (3, 2.0, 6)]
)
def test_a_single_pixel_is_blurred_as_by_scipy(side, sigma, radius):
    expected = ndimage.gaussian_filter1d(np.eye(side), sigma, axis=0, mode="nearest", radius=radius)
    assert_allclose(blurring(side, sigma, radius, DOUBLE).matrix, expected, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_down_and_across_are_products_with_the_matrix(rng, dtype):
    found = resizing(30, 13, True, np.dtype(dtype))
    assert found.matrix.dtype == dtype
    images = rng.random((4, 30, 30)).astype(dtype)
    assert_allclose(found.down(images), found.matrix @ images, rtol=1e-5 if dtype == np.float32 else 1e-13)
    expected = np.einsum("nhw,vw->nhv", images, found.matrix)
    assert_allclose(found.across(images), expected, rtol=1e-5 if dtype == np.float32 else 1e-13)


def test_no_picture_depends_on_the_others_beside_it(rng):
    found, images = resizing(30, 13, True, np.dtype(np.float32)), rng.integers(0, 256, (4, 30, 30)).astype(np.uint8)
    together = found.across(found.down(images))
    assert_array_equal(together, np.concatenate([found.across(found.down(image[None])) for image in images]))


def test_a_large_picture_is_resized_by_few_weights():
    """A matrix of all its pixels by all would take gigabytes."""
    tracemalloc.start()
    try:
        found = resizing(20_000, 192, True, np.dtype(np.float32))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert_allclose(found.weights.sum(axis=1), 1, rtol=1e-5)
    assert most < 40 * found.matrix.nbytes
