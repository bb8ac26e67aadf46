"""Where in a patch the gradients lie, and what of that the light leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.method.dct import PatchDCT
from lightproof.method.gradients import GRADIENTS
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import MethodSettings
from lightproof.method.transform import plane_cosines
from tests.examples import examples

CELL = 6
GRID = PatchGrid(30, 24, cell=CELL)


def placer(detail=3, gradient="central", dtype="float64"):
    return PatchDCT(MethodSettings(cell=CELL, gradient=gradient, dtype=dtype), GRID, detail)


def inner_patches():
    """Patches whose gradients do not look beyond the picture."""
    inside = np.zeros((GRID.rows, GRID.columns), bool)
    inside[1:-1, 1:-1] = True
    return inside.ravel()


@pytest.mark.slow
@pytest.mark.parametrize("gradient", GRADIENTS)
@given(st.integers(0, 2**32 - 1))
@examples(20)
def test_a_change_of_light_only_scales_a_patch(gradient, seed):
    rng = np.random.default_rng(seed)
    picture = rng.random((GRID.height, GRID.width))
    alpha, beta, right, down = rng.uniform(0.2, 3), rng.uniform(-1, 1), *rng.uniform(-0.5, 0.5, 2)
    rows, columns = np.mgrid[: GRID.height, : GRID.width]
    relit = alpha * picture + beta + right * columns + down * rows
    before, after = placer(gradient=gradient).describe(np.stack([picture, relit]))[:, inner_patches()]
    assert_allclose(after, alpha * before, atol=1e-9)


@pytest.mark.parametrize("detail", [1, 2, CELL - 1])
def test_features_equal_a_plain_loop_over_patches(rng, detail):
    pictures = rng.random((3, GRID.height, GRID.width))
    found = placer(detail).describe(pictures)
    fields = GRADIENTS["central"](pictures)
    for n, pair in enumerate(fields):
        for k, (top, left) in enumerate(GRID.corners):
            cut = pair[:, top : top + CELL, left : left + CELL]
            expected = [plane_cosines(CELL, detail) @ field.ravel() for field in cut]
            assert_allclose(found[n, k], np.concatenate(expected), atol=1e-12)


def test_samples_are_the_features_with_patches_last(rng):
    copied = rng.random((2, 5, GRID.height, GRID.width))
    found = placer().samples(GRADIENTS["central"](copied))
    assert found.shape == (2, 5, placer().n_numbers, GRID.n_patches)
    for photo, copies in zip(found, copied, strict=True):
        assert_allclose(photo, placer().describe(copies).swapaxes(1, 2), atol=1e-12)


def test_gradients_that_change_places_change_the_features(rng):
    """That is what the sorted projections forget."""
    picture = rng.random((1, GRID.height, GRID.width))
    found, mirrored = placer().describe(picture), placer().describe(picture[:, :, ::-1])
    assert np.abs(found - mirrored).max() > 0.1


def test_features_have_the_type_that_is_asked_for(rng):
    pictures = rng.random((1, GRID.height, GRID.width)).astype("float32")
    assert placer(dtype="float32").describe(pictures).dtype == np.float32


def test_a_picture_is_described_alike_whatever_stands_beside_it(rng):
    pictures = rng.random((4, GRID.height, GRID.width)).astype("float32")
    own = placer(dtype="float32")
    assert_array_equal(own.describe(pictures)[2], own.describe(pictures[2:3])[0])
