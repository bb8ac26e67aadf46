from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from lightproof.metrics import compare_by_person, mcnemar, wilson_interval


def test_wilson_is_the_formula():
    """Center and half width as Wilson (1927) has them, with z = 1.959964."""
    right, n, z = 7, 20, 1.959963984540054
    share = right / n
    center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    np.testing.assert_allclose(wilson_interval(right, n), [center - half, center + half])


@given(n=st.integers(1, 500), data=st.data())
def test_for_whole_numbers_wilson_is_that_of_scipy(n, data):
    right = data.draw(st.integers(0, n))
    expected = binomtest(right, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson_interval(right, n), (expected.low, expected.high), atol=1e-9)


def test_between_two_whole_numbers_the_interval_lies_between_theirs():
    ends = np.array([wilson_interval(right, 20) for right in (18, 18.5, 19)])
    assert (np.diff(ends, axis=0) > 0).all()


@given(n=st.integers(1, 500), data=st.data())
def test_the_interval_holds_the_share_and_stays_within_0_and_1(n, data):
    right = data.draw(st.integers(0, n))
    low, high = wilson_interval(right, n)
    assert 0 <= low <= right / n + 1e-12
    assert right / n - 1e-12 <= high <= 1


def test_more_photos_narrow_the_interval():
    few, many = wilson_interval(8, 10), wilson_interval(800, 1000)
    assert many[1] - many[0] < (few[1] - few[0]) / 5


def test_mcnemar_counts_only_photos_on_which_the_methods_differ():
    first = np.array([True] * 50 + [True] * 9 + [False] + [False] * 40)
    second = np.array([True] * 50 + [False] * 9 + [True] + [False] * 40)
    found = mcnemar(first, second)
    assert found[:2] == (9, 1)
    # Twice the chance of 9 or more heads in 10 throws: 2 * (10 + 1) / 1024.
    assert found.p == pytest.approx(22 / 1024)


def test_mcnemar_turned_around_swaps_the_counts_and_keeps_p(rng):
    first, second = rng.random((2, 3, 60)) < 0.7
    there, back = mcnemar(first, second), mcnemar(second, first)
    assert (there.first_only, there.second_only, there.p) == (back.second_only, back.first_only, back.p)


def test_the_same_answers_cannot_be_told_apart():
    answers = np.array([True, False, True])
    assert mcnemar(answers, answers) == (0, 0, 1.0)


def test_with_several_galleries_a_photo_counts_once():
    first = np.array([[True, True], [True, False], [True, True]])
    second = np.array([[False, True], [False, True], [True, True]])
    assert mcnemar(first, second)[:2] == (1, 1)


def test_by_person_many_photos_of_one_person_weigh_no_more_than_one():
    people = np.array(["a"] * 30 + ["b", "c"])
    first = np.array([True] * 30 + [False, False])
    second = np.array([False] * 30 + [True, True])
    assert mcnemar(first, second)[:2] == (30, 2)
    assert compare_by_person(first, second, people)[:2] == (1, 2)


def test_by_person_galleries_count_one_by_one():
    """Photo 1 of a is won 3 : 0, photos 2 and 3 are lost 0 : 1: a is ahead for the first method, 3 to 2."""
    people = np.array(["a", "a", "a"])
    first = np.array([[True, False, False], [True, False, False], [True, False, False]])
    second = np.array([[False, True, True], [False, False, False], [False, False, False]])
    assert compare_by_person(first, second, people)[:2] == (1, 0)
    assert mcnemar(first, second)[:2] == (1, 2)
