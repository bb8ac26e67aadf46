from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lightproof.errors import BadParameter, GridDoesNotFit
from lightproof.method.patches import PatchGrid


@st.composite
def grids(draw):
    cell = draw(st.integers(1, 6))
    overlap = draw(st.integers(0, cell - 1))
    return PatchGrid(draw(st.integers(cell, 20)), draw(st.integers(cell, 20)), cell, overlap)


@given(grids(), st.integers(1, 3), st.integers(1, 2))
def test_gathering_equals_cutting_patch_by_patch(grid, m, n):
    fields = np.arange(n * m * grid.height * grid.width).reshape(n, m, grid.height, grid.width)
    gathered = grid.gather(fields)
    k = 0
    for top in range(0, grid.height - grid.cell + 1, grid.stride):
        for left in range(0, grid.width - grid.cell + 1, grid.stride):
            patch = fields[:, :, top : top + grid.cell, left : left + grid.cell]
            assert_array_equal(gathered[:, k], patch.reshape(n, m, -1))
            assert_array_equal(grid.corners[k], [top, left])
            k += 1
    assert k == grid.n_patches == grid.rows * grid.columns


@pytest.mark.parametrize("grid", [PatchGrid(18, 23, 4), PatchGrid(13, 12, 6), PatchGrid(9, 11, 4, overlap=1)])
def test_lanes_are_the_same_patches_with_the_pixels_first(rng, grid):
    fields = rng.random((3, 2, grid.height, grid.width)).astype(np.float32)
    assert_array_equal(grid.lanes(fields), grid.gather(fields).transpose(0, 2, 3, 1))


def test_the_grid_of_the_authors_has_21_x_21_patches():
    grid = PatchGrid(64, 64, cell=4, overlap=1)
    assert (grid.rows, grid.columns, grid.n_patches, grid.n_points, grid.stride) == (21, 21, 441, 16, 3)


def test_a_map_of_a_wide_grid_has_its_rows_and_columns():
    grid = PatchGrid(8, 20, cell=4)
    values = np.arange(grid.n_patches)
    picture = grid.as_map(values)
    assert picture.shape == (2, 5)
    for k, (top, left) in enumerate(grid.corners):
        assert picture[top // 4, left // 4] == values[k]


@pytest.mark.parametrize("overlap", [4, -1, 1.0, True, None])
def test_an_overlap_outside_the_cell_is_refused(overlap):
    with pytest.raises(BadParameter, match=r"^`overlap` of PatchGrid must be an int from 0 to cell - 1 = 3; got .*\.$"):
        PatchGrid(64, 64, 4, overlap)


@pytest.mark.parametrize("name", ["height", "width", "cell"])
@pytest.mark.parametrize("value", [0, 2.5, True, "3"])
def test_sides_are_whole_numbers(name, value):
    with pytest.raises(BadParameter, match=rf"^`{name}` of PatchGrid must be an int of 1 or more; got "):
        PatchGrid(**{"height": 8, "width": 8, "cell": 2} | {name: value})


def test_a_grid_that_does_not_fit_names_the_least_image_that_would():
    expected = r"^PatchGrid needs an image of at least 8 x 8 pixels for cell=8; got 64 x 7\.$"
    with pytest.raises(GridDoesNotFit, match=expected):
        PatchGrid(64, 7, cell=8)
