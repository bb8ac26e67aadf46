"""Powers of many numbers at once, each rounded as the C library rounds it.

The C library computes one power at a time. Here many are computed together, in float64, by polynomials for the
logarithm and the exponential that are good to about ten digits. That decides how nearly all of them are rounded to
float32; only powers next to the middle between two float32 numbers are left to the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from lightproof.core.jit import compiled
from lightproof.types import Array, Floats

NUMBERS_PER_BLOCK: Final = 512
"""Numbers worked on at a time: they stay in the processor's first cache."""

MAX_ERROR: Final = 2.0**-29
"""Largest relative error of the powers computed here."""

SQRT_HALF_BITS: Final = 0x3F3504F3
"""The bits of the square root of 1/2 as a float32."""


def power(numbers: Floats, exponent: float) -> Floats:
    """Raise numbers to a power between 0 and 1: ``numbers ** exponent``.

    Parameters
    ----------
    numbers : ndarray of any shape
    exponent : float

    Returns
    -------
    ndarray of the same shape
        Contiguous.
    """
    if numbers.dtype != np.float32:
        return np.ascontiguousarray(numbers**exponent)
    flat = np.ascontiguousarray(numbers).ravel()
    out = np.empty_like(flat)
    _put_powers(flat, flat.view(np.int32), np.float32(exponent), LOGARITHM_COEFFICIENTS, EXPONENTIAL_COEFFICIENTS, out)
    return out.reshape(numbers.shape)


def _fitted(function: Callable[[Floats], Floats], degree: int, low: float, high: float) -> Floats:
    fit = Chebyshev.interpolate(function, degree, [low, high])
    return np.asarray(fit.convert(kind=Polynomial).coef)


def _logarithm(square: Floats) -> Floats:
    """Return log2((1 + s) / (1 - s)) / s of the square of s."""
    s = np.sqrt(np.maximum(square, 1e-12))
    return np.asarray(2 * np.arctanh(s) / (s * math.log(2)))


LOGARITHM_COEFFICIENTS: Final = _fitted(_logarithm, 4, 0.0, (math.sqrt(2) - 1) ** 4)
EXPONENTIAL_COEFFICIENTS: Final = _fitted(np.exp2, 7, -0.5, 0.5)
"""Of polynomials: of the logarithm, in the square of s = (x - 1) / (x + 1), and of 2 ** x."""


@compiled
def _put_powers(
    numbers: Floats, bits: Array, exponent: np.floating[Any], logarithm: Floats, exponential: Floats, out: Floats
) -> None:
    whole, part = np.empty(NUMBERS_PER_BLOCK, np.int32), np.empty(NUMBERS_PER_BLOCK, np.int32)
    scale, left = np.empty(NUMBERS_PER_BLOCK, np.int64), np.empty(NUMBERS_PER_BLOCK, np.float64)
    unsure = np.empty(NUMBERS_PER_BLOCK, np.float32)
    for start in range(0, len(numbers), NUMBERS_PER_BLOCK):
        block = slice(start, start + NUMBERS_PER_BLOCK)
        _take_apart(bits[block], whole, part)
        _put_logarithms(whole, part.view(np.float32), np.float64(exponent), logarithm, left)
        _split(left, scale)
        _put_exponentials(left, scale.view(np.float64), exponential, unsure, out[block])
        _ask_library(numbers[block], bits[block], unsure, exponent, out[block])


@compiled
def _take_apart(bits: Array, whole: Array, part: Array) -> None:
    """Write numbers as ``2 ** whole * part``, with a part from sqrt(1/2) to sqrt(2)."""
    half = np.int32(SQRT_HALF_BITS)
    for k in range(len(bits)):
        above = bits[k] - half
        whole[k] = above >> np.int32(23)
        part[k] = (above & np.int32(0x7FFFFF)) + half


@compiled
def _put_logarithms(whole: Array, part: Floats, exponent: float, logarithm: Floats, out: Floats) -> None:
    a, b, c, d, e = logarithm[0], logarithm[1], logarithm[2], logarithm[3], logarithm[4]
    for k in range(len(out)):
        x = np.float64(part[k])
        s = (x - 1) / (x + 1)
        square = s * s
        out[k] = exponent * (whole[k] + s * (a + square * (b + square * (c + square * (d + square * e)))))


@compiled
def _split(numbers: Floats, scale: Array) -> None:
    """Subtract from each number the nearest whole one; put the bits of 2 to that power into ``scale``."""
    for k in range(len(numbers)):
        nearest = np.rint(numbers[k])
        numbers[k] -= nearest
        scale[k] = (np.int64(np.int32(nearest)) + np.int64(1023)) << np.int64(52)


@compiled
def _put_exponentials(left: Floats, scale: Floats, exponential: Floats, unsure: Floats, out: Floats) -> None:
    a, b, c, d = exponential[0], exponential[1], exponential[2], exponential[3]
    e, f, g, h = exponential[4], exponential[5], exponential[6], exponential[7]
    for k in range(len(out)):
        x = left[k]
        power = scale[k] * (a + x * (b + x * (c + x * (d + x * (e + x * (f + x * (g + x * h)))))))
        lowest, highest = np.float32(power * (1 - MAX_ERROR)), np.float32(power * (1 + MAX_ERROR))
        out[k] = lowest
        unsure[k] = highest - lowest


@compiled
def _ask_library(numbers: Floats, bits: Array, unsure: Floats, exponent: np.floating[Any], out: Floats) -> None:
    """Let the library compute the powers whose rounding is not sure, and those of numbers without a logarithm."""
    where, count = np.empty(NUMBERS_PER_BLOCK, np.intp), 0
    least, beyond = np.int32(0x800000), np.int32(0x7F800000)
    # First find them all, then compute: no computation waits for the next test.
    for k in range(len(out)):
        where[count] = k
        count += (unsure[k] != 0) | (bits[k] < least) | (bits[k] >= beyond)
    for i in range(count):
        out[where[i]] = numbers[where[i]] ** exponent
