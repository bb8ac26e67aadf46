"""Patches sorted all at once, against NumPy's sort of each."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.method.patches import PatchGrid
from lightproof.method.sorting_network import PatchSorter, plan_sorting
from lightproof.method.transform import cosines, directions, project, projection_angles
from tests.examples import examples

cells = st.integers(1, 7).flatmap(lambda cell: st.tuples(st.just(cell), st.integers(0, cell - 1)))


def sorted_by_network(grid, fields, weights):
    """Sort fields of numbers, (n, m, h, w): each is the first part of vectors that are projected on the first axis."""
    sorter = PatchSorter(grid, np.array([[1.0, 0.0]]), weights)
    out = np.empty((*fields.shape[:2], len(weights), grid.n_patches), fields.dtype)
    for field, place in zip(fields.swapaxes(0, 1), out.swapaxes(0, 1), strict=True):
        found = np.empty_like(place[:, None])
        sorter.sort(np.stack([field, np.zeros_like(field)], axis=1), found)
        place[...] = found[:, 0]
    return out


@pytest.mark.slow
@examples(40)
@given(cells, st.integers(0, 9), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_every_patch_is_sorted_as_numpy_sorts_it(cell_and_overlap, more_rows, more_columns, seed):
    cell, overlap = cell_and_overlap
    grid = PatchGrid(cell + more_rows, cell + more_columns, cell, overlap)
    fields = np.random.default_rng(seed).normal(size=(2, 2, grid.height, grid.width))
    found = sorted_by_network(grid, fields, np.eye(cell**2))
    assert_array_equal(found.transpose(0, 3, 1, 2), np.sort(grid.gather(fields), axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "stride"), [(2, 1), (2, 2), (3, 2), (4, 2), (4, 3), (3, 1)])
def test_the_network_sorts_all_zeros_and_ones_and_so_everything(cell, stride):
    """Knuth's law: a network that sorts every sequence of 0 and 1 sorts every sequence."""
    size = cell**2
    patches = np.array(list(product((0.0, 1.0), repeat=size if size <= 9 else 12)))
    patches = np.pad(patches, ((0, 0), (size - patches.shape[1], 0)), mode="symmetric")
    grid = PatchGrid(cell, cell, cell, cell - stride)
    found = sorted_by_network(grid, patches.reshape(-1, 1, cell, cell), np.eye(size))
    assert_array_equal(found[:, 0, :, 0], np.sort(patches, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_sums_are_the_products_of_the_sorted_points_with_the_weights(rng, dtype):
    grid, weights = PatchGrid(20, 17, 6, 3), cosines(36, 5).astype(dtype)
    fields = rng.normal(size=(3, 4, 20, 17)).astype(dtype)
    found = sorted_by_network(grid, fields, weights)
    assert found.dtype == dtype
    expected = np.sort(grid.gather(fields), axis=-1) @ weights.T
    assert_allclose(found.transpose(0, 3, 1, 2), expected, atol=1e-5 if dtype == np.float32 else 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_are_projected_on_each_direction_before_they_are_sorted(rng, dtype):
    grid, weights, angles = PatchGrid(20, 17, 4, 2), cosines(16, 3).astype(dtype), projection_angles(5)
    fields = rng.normal(size=(3, 2, 20, 17)).astype(dtype)
    found = np.empty((3, 5, 3, grid.n_patches), dtype)
    PatchSorter(grid, directions(angles), weights).sort(fields, found)
    expected = np.sort(grid.gather(project(fields, angles)), axis=-1) @ weights.T
    assert_allclose(found.transpose(0, 3, 1, 2), expected, atol=1e-5 if dtype == np.float32 else 1e-13)


def test_an_image_is_sorted_alike_whatever_others_there_are(rng):
    grid, weights = PatchGrid(24, 21, 4, 1), cosines(16, 3).astype(np.float32)
    fields = rng.normal(size=(7, 3, 24, 21)).astype(np.float32)
    alone = np.concatenate([sorted_by_network(grid, fields[i : i + 1], weights) for i in range(7)])
    assert_array_equal(sorted_by_network(grid, fields, weights), alone)


@pytest.mark.slow
def test_equal_points_stay_equal():
    grid = PatchGrid(6, 6, 6, 0)
    found = sorted_by_network(grid, np.full((1, 1, 6, 6), 0.25), np.eye(36))
    assert_array_equal(found, np.full_like(found, 0.25))


def test_overlapping_patches_share_comparisons():
    """By hand: 26 comparisons sort 9 points, 30 and 77 merge twice 9 and twice 18; alone 36 points take more."""
    assert len(plan_sorting(6, 3).steps) == 26 + 30 + 77
    assert len(plan_sorting(6, 6).steps) > 26 + 30 + 77
    assert len(plan_sorting(2, 2).steps) == 5


def test_a_plan_needs_hardly_more_rows_than_a_patch_has_points():
    for cell, stride in [(6, 3), (4, 3), (4, 4), (8, 4)]:
        plan = plan_sorting(cell, stride)
        assert cell**2 < plan.n_rows <= cell**2 + 3
        assert len(set(plan.sorted_rows)) == cell**2


def test_no_step_writes_where_it_reads():
    """Else numbers could not be compared many at a time."""
    for cell, stride in [(6, 3), (4, 3), (5, 2)]:
        for first, second, smaller, larger in plan_sorting(cell, stride).steps:
            assert len({smaller, larger} - {first[0], second[0]}) == 2
