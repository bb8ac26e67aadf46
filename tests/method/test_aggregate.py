"""Every rule is a sum over the patches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.method.aggregate import AGGREGATES, RELATIVE, SHARPNESS, bounded, combine

shapes = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 5))
shares = shapes.flatmap(lambda shape: arrays(float, shape, elements=st.floats(0, 1)))


@pytest.mark.parametrize("rule", AGGREGATES)
@given(distances=shares)
def test_what_the_patches_add_sums_to_the_whole(rule, distances):
    added = AGGREGATES[rule](distances)
    assert added.shape == distances.shape
    assert (added >= 0).all()
    assert_allclose(added.sum(axis=0), combine(distances, rule), rtol=1e-12)


@pytest.mark.parametrize("rule", AGGREGATES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rules_keep_the_dtype_and_leave_the_distances_alone(rng, rule, dtype):
    distances = rng.random((5, 3, 4)).astype(dtype)
    before = distances.copy()
    assert AGGREGATES[rule](distances).dtype == combine(distances, rule).dtype == dtype
    assert_array_equal(distances, before)


@pytest.mark.parametrize("rule", AGGREGATES)
def test_an_image_is_judged_without_the_others(rng, rule):
    distances = rng.random((5, 3, 4))
    assert_allclose(combine(distances[:, 1:2], rule)[0], combine(distances, rule)[1], rtol=1e-12)


@pytest.mark.parametrize("rule", AGGREGATES)
def test_nearer_in_every_patch_is_nearer(rng, rule):
    distances = rng.uniform(0.1, 0.9, (6, 2, 3))
    distances[:, :, 1] = 0.5 * distances.min(axis=2)
    assert_array_equal(combine(distances, rule).argmin(axis=1), 1)


@given(shares)
def test_sum_is_the_sum(distances):
    assert_array_equal(combine(distances, "sum"), distances.sum(axis=0))


@given(shares)
def test_normalized_divides_each_patch_by_the_norm_over_the_people(distances):
    expected = np.zeros(distances.shape[1:])
    for patch in distances:
        expected += patch / np.linalg.norm(patch + 1e-5, axis=1, keepdims=True)
    assert_allclose(combine(distances, "normalized"), expected, rtol=1e-9)


@given(shares)
def test_bounded_follows_its_formula_within_0_and_1(distances):
    added = bounded(distances)
    assert_allclose(added, 1 - np.exp(-SHARPNESS * distances), atol=1e-15)
    assert added.min() >= 0
    assert added.max() < 1


@given(st.floats(0, 1), st.floats(1e-6, 1))
def test_bounded_rises_with_the_distance_but_ever_less(near, step):
    far, farther = near + step, near + 2 * step
    added = bounded(np.array([near, far, farther])[:, None, None]).ravel()
    assert added[0] < added[1] < added[2]
    assert added[1] - added[0] > added[2] - added[1]


def test_a_perfect_match_adds_nothing_under_bounded():
    assert bounded(np.zeros((1, 1, 1)))[0, 0, 0] == 0


def test_a_patch_far_from_everybody_has_no_say_under_bounded(rng):
    distances = rng.random((7, 2, 4))
    shadow = np.ones((3, 2, 4))
    clear, shaded = (combine(d, "bounded") for d in (distances, np.concatenate([distances, shadow])))
    added = shaded - clear
    assert_allclose(added, np.broadcast_to(added[:, :1], added.shape), rtol=1e-12)
    assert_allclose(added, 3 * (1 - np.exp(-SHARPNESS)), rtol=1e-12)


def test_one_covered_patch_outvotes_the_others_under_sum_but_not_under_bounded():
    """Person 0 is nearer in nine patches of ten; a hand covers the tenth, which by chance is like person 1."""
    distances = np.tile([0.02, 0.1], (10, 1))[:, None, :]
    distances[9, 0] = 0.99, 0.1
    assert combine(distances, "sum")[0].argmin() == 1
    assert combine(distances, "bounded")[0].argmin() == 0


def test_rules_for_relative_distances_are_rules():
    assert set(RELATIVE) < set(AGGREGATES)
