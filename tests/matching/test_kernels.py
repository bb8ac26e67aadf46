"""The loops behind every answer of a gallery, against NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.matching.kernels import FLOOR, LANES, closeness, cohort_scores, lay_out, summed_scores, unit_vectors
from tests.examples import examples


def people(rng, count, K=5, r=2, D=6):
    return rng.integers(-127, 128, (count, K, r, D)).astype(np.int8)


def photos(rng, n, K=5, D=6):
    return rng.normal(size=(n, K, D)).astype(np.float32)


def slow_closeness(vectors, own):
    """exp(-6 s), s the length of what is left of a unit vector over each direction in turn, shape (K, n, C)."""
    x = vectors.astype(float)
    length = np.linalg.norm(x, axis=2, keepdims=True)
    x = np.divide(x, length, out=np.zeros_like(x), where=length > 0)
    size = np.linalg.norm(own.astype(float), axis=3, keepdims=True)
    unit = own / np.maximum(size, 1)
    explained = (np.einsum("nkd,ckrd->kncr", x, unit) ** 2).sum(axis=3)
    return np.exp(-6 * np.sqrt(np.clip(1 - explained, 0, 1)))


@pytest.mark.parametrize("count", [1, LANES - 1, LANES, LANES + 1, 150])
@pytest.mark.parametrize("D", [1, 4, 9])
def test_the_closeness_is_that_of_a_plain_formula(rng, count, D):
    own, vectors = people(rng, count, r=1, D=D), photos(rng, 3, D=D)
    found = closeness(unit_vectors(vectors), lay_out(own))
    assert found.shape == (5, 3, count)
    # Where the patch lies in the span itself, rounding takes three digits of the sine.
    assert_allclose(found, slow_closeness(vectors, own), rtol=4e-3)
    clear = slow_closeness(vectors, own) < 0.9
    assert_allclose(found[clear], slow_closeness(vectors, own)[clear], rtol=2e-5)


@examples(40)
@given(st.integers(1, 140), st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_what_is_said_is_the_sum_of_weighed_logarithms(count, n, r, seed):
    rng = np.random.default_rng(seed)
    own, vectors = people(rng, count, r=r), photos(rng, n)
    usual = rng.uniform(0.002, 1, (5, n)).astype(np.float32)
    weights = rng.uniform(0, 3, (5, count)).astype(np.float32)
    said, near = summed_scores(unit_vectors(vectors), lay_out(own), usual, weights)
    close = slow_closeness(vectors, own)
    expected = (np.log(close / usual[:, :, None] + FLOOR) * weights[:, None]).sum(axis=0)
    assert_allclose(said, expected, rtol=1e-4, atol=1e-2)
    assert_allclose(near, (close * weights[:, None]).sum(axis=0), rtol=2e-3)


def test_cohort_scores_are_those_of_the_mean_closeness_to_the_last_bit(rng):
    cohort, units = lay_out(people(rng, 60)), unit_vectors(photos(rng, 7))
    weights = rng.uniform(0, 3, (5, 60)).astype(np.float32)
    usual, said = cohort_scores(units, cohort, weights)
    assert_array_equal(usual, closeness(units, cohort).mean(axis=2))
    assert_array_equal(said, summed_scores(units, cohort, usual, weights)[0])


def test_nobody_depends_on_who_else_is_there_nor_on_the_place(rng):
    own, vectors = people(rng, 200), photos(rng, 9)
    usual, weights = np.full((5, 9), 0.01, np.float32), rng.uniform(0, 2, (5, 200)).astype(np.float32)
    together = summed_scores(unit_vectors(vectors), lay_out(own), usual, weights)
    for some in (np.arange(3), np.array([77]), rng.permutation(200)):
        alone = summed_scores(unit_vectors(vectors), lay_out(own[some]), usual, weights[:, some])
        for one, all_of_them in zip(alone, together, strict=True):
            assert_array_equal(one, all_of_them[:, some])


def test_photos_are_judged_one_by_one(rng):
    own, vectors = people(rng, 70), photos(rng, 20)
    usual, weights = np.full((5, 20), 0.01, np.float32), np.ones((5, 70), np.float32)
    together, _ = summed_scores(unit_vectors(vectors), lay_out(own), usual, weights)
    for i in range(20):
        alone, _ = summed_scores(unit_vectors(vectors[i : i + 1]), lay_out(own), usual[:, :1], weights)
        assert_array_equal(alone[0], together[i])


def test_a_black_patch_is_at_right_angles_to_everybody(rng):
    own, vectors = people(rng, 3), np.zeros((1, 5, 6), np.float32)
    assert_allclose(closeness(unit_vectors(vectors), lay_out(own)), np.exp(-6), rtol=4e-6)
    own[1] = 0
    assert_allclose(closeness(unit_vectors(photos(rng, 2)), lay_out(own))[:, :, 1], np.exp(-6), rtol=4e-6)


def test_nobody_at_all_is_an_answer(rng):
    said, near = summed_scores(unit_vectors(photos(rng, 4)), lay_out(people(rng, 0)), np.ones((5, 4)), np.ones((5, 0)))
    assert said.shape == near.shape == (4, 0)
