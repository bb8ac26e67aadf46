from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lightproof.errors import BadImage
from lightproof.light import LIGHTS, log, none


def test_none_changes_nothing(rng):
    image = rng.random((4, 4))
    assert none(image) is image


def test_log_maps_black_to_0_and_white_to_1_by_the_curve_of_the_released_code():
    grey = np.array([[0.0, 1 / 255, 100 / 255, 1.0]])
    assert_allclose(log(grey), np.log([[1, 2, 101, 256]]) / np.log(256))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LIGHTS)
def test_normalizers_keep_shape_and_dtype(rng, name, dtype):
    image = rng.random((2, 5, 7)).astype(dtype)
    assert LIGHTS[name](image).shape == image.shape
    assert LIGHTS[name](image).dtype == dtype


def test_log_refuses_a_picture_that_is_not_in_0_to_1():
    with pytest.raises(BadImage, match=r"^Pixels for light='log' must be within \[0, 1\]; got 0 to 200\.$"):
        log(np.array([[0.0, 200.0]]))
    with pytest.raises(BadImage, match=r"got -0\.5 to 0\.5\.$"):
        log(np.array([[-0.5, 0.5]]))


def test_log_forgives_rounding_at_the_ends():
    assert_allclose(log(np.array([[-1e-7, 1 + 1e-7]])), [[0, 1]])
