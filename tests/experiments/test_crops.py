from __future__ import annotations

import numpy as np
import pytest

from lightproof.experiments.crops import CROPS, full, interior, outer


@pytest.fixture
def numbered():
    """Two pictures in which every pixel has a value of its own."""
    return np.arange(2 * 16 * 24, dtype=np.float32).reshape(2, 16, 24)


def test_the_interior_leaves_out_an_eighth_on_every_side(numbered):
    np.testing.assert_array_equal(interior(numbered), numbered[:, 2:14, 3:21])


def test_interior_and_rim_share_no_pixel_and_together_are_all(numbered):
    for whole, inside, rim in zip(full(numbered), interior(numbered), outer(numbered), strict=True):
        assert not set(inside.flat) & set(rim.flat)
        assert set(inside.flat) | set(rim.flat) == set(whole.flat)


def test_the_rim_is_four_strips(numbered):
    rim = outer(numbered)
    assert rim.shape == (2, 2 + 2 + 3 + 3, 24)
    np.testing.assert_array_equal(rim[:, :2], numbered[:, :2])
    np.testing.assert_array_equal(rim[:, 2:4], numbered[:, -2:])
    np.testing.assert_array_equal(rim[:, 4:7, :16], numbered[:, :, :3].transpose(0, 2, 1))
    np.testing.assert_array_equal(rim[:, 7:, :16], numbered[:, :, -3:].transpose(0, 2, 1))
    np.testing.assert_array_equal(rim[:, 7:, 16:], np.repeat(rim[:, 7:, 15:16], 8, axis=2))


def test_a_change_inside_is_not_seen_on_the_rim(numbered, rng):
    changed = numbered.copy()
    changed[:, 2:14, 3:21] = rng.random((2, 12, 18))
    np.testing.assert_array_equal(outer(changed), outer(numbered))


@pytest.mark.parametrize("crop", CROPS)
def test_every_crop_is_large_enough_for_every_method(crop):
    shape = CROPS[crop](np.zeros((1, 64, 64), np.float32)).shape[1:]
    assert shape == {"full": (64, 64), "interior": (48, 48), "outer": (32, 64)}[crop]
