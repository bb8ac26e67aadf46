"""Loops that run as machine code, against the same loops run by Python."""

from __future__ import annotations

import subprocess
import sys

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lightproof.core.jit import compiled


@compiled
def halved(values):
    """Halve in place."""
    for i in range(len(values)):
        values[i] /= 2


@compiled
def quartered(values):
    halved(values)
    halved(values)


@compiled
def ratio(one, other):
    return one / other


def test_a_loop_is_compiled_for_the_types_it_meets():
    for dtype in (np.float32, np.float64):
        values = np.arange(4, dtype=dtype)
        halved(values)
        assert_array_equal(values, np.arange(4) / 2)
    assert len(halved.machine_code.signatures) == 2


def test_a_loop_may_call_another():
    values = np.arange(4.0)
    quartered(values)
    assert_array_equal(values, np.arange(4) / 4)


def test_a_loop_keeps_its_name_and_what_is_said_of_it():
    assert (halved.__name__, halved.__doc__) == ("halved", "Halve in place.")


def test_numbers_divide_as_in_numpy():
    assert ratio(1.0, 0.0) == np.inf
    assert np.isnan(ratio(0.0, 0.0))


def test_where_machine_code_cannot_be_kept_it_is_made_each_time(monkeypatch):
    asked = []

    def njit(function, cache=False, **how):
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return made(function, **how)

    made = numba.njit
    monkeypatch.setattr(numba, "njit", njit)
    twice = compiled(lambda number: number + number)
    assert twice(2) == 4
    assert asked == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), EOFError("Ran out of input"), KeyError(7)])
@pytest.mark.parametrize("moment", ["save_overload", "load_overload"])
def test_a_full_disk_or_a_spoiled_file_costs_only_time(monkeypatch, problem, moment):
    def fail(*_):
        raise problem

    monkeypatch.setattr(numba.core.caching.FunctionCache, moment, fail)
    for loop, share in ((compiled(halved._loop), 2), (compiled(quartered._loop), 4)):
        values = np.arange(4.0)
        loop(values)
        assert_array_equal(values, np.arange(4) / share)


@pytest.mark.slow
def test_what_cannot_be_compiled_is_told():
    with pytest.raises(numba.TypingError, match="Failed in nopython mode"):
        halved("abc")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["lightproof", "lightproof.cli", "lightproof.gallery"])
def test_numba_is_not_loaded_before_it_is_needed(module):
    code = f"import sys, {module}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
