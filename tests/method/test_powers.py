"""Powers of many numbers, against the C library's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lightproof.method.illumination import MAX_POWER_ERROR, NUMBERS_PER_BLOCK, power


def by_the_library(numbers, exponent):
    """Raise numbers one by one: NumPy takes another way where there are many and the processor has one."""
    return np.array([np.float32(number) ** np.float32(exponent) for number in numbers])


@given(st.floats(0, 2**30, width=32), st.sampled_from([0.1, 0.2, 0.35, 0.5, 1.0]))
def test_a_power_is_that_of_the_library_to_the_last_bit(number, exponent):
    numbers = np.full(3, number, np.float32)
    assert_array_equal(power(numbers, exponent), by_the_library(numbers, exponent))


@pytest.mark.parametrize("exponent", [0.1, 0.2])
def test_neighbors_are_rounded_as_the_library_rounds_them(exponent):
    ones = np.arange(40 * NUMBERS_PER_BLOCK + 7, dtype=np.int32) + np.float32(0.3).view(np.int32)
    numbers = ones.view(np.float32)
    assert_array_equal(power(numbers, exponent), by_the_library(numbers, exponent))


def test_most_roundings_are_sure_without_the_library(rng):
    exact = rng.random(10_000).astype(np.float32).astype(np.float64) ** float(np.float32(0.2))
    unsure = (exact * (1 - MAX_POWER_ERROR)).astype(np.float32) != (exact * (1 + MAX_POWER_ERROR)).astype(np.float32)
    assert 0 < np.mean(unsure) < 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_and_what_is_no_number_become_what_they_become_in_numpy(dtype):
    numbers = np.array([[0.0, -0.0, 1.0], [np.inf, np.nan, np.finfo(np.float32).smallest_subnormal]], dtype)
    found = power(numbers, 0.2)
    assert found.dtype == dtype
    assert_array_equal(found, numbers ** dtype(0.2))


def test_a_slice_is_raised_like_its_copy(rng):
    numbers = rng.random((6, 8, 10)).astype(np.float32)[:, ::2, 1:]
    assert_array_equal(power(numbers, 0.2), power(numbers.copy(), 0.2))


def test_numbers_of_double_precision_stay_so(rng):
    numbers = rng.random(50)
    assert_array_equal(power(numbers, 0.2), numbers**0.2)
