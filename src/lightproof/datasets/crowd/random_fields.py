"""Random numbers that depend on a key and an index alone, and smooth random fields made of them.

A number is its key and index scrambled (SplitMix64), so nothing has to be drawn before it. Bell-shaped numbers are sums
of bytes. All are whole numbers, or sums and products of them in one order: the same on every machine.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.core.jit import compiled
from lightproof.types import Floats

Keys: TypeAlias = NDArray[np.uint64]

BELL: Final = 209.02  # standard deviation of a sum of eight bytes
UNIT: Final = np.float32(1 / 147.8)  # one over the standard deviation of a sum of four bytes

_MEAN: Final = 510  # of a sum of four bytes
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_BYTES: Final = np.uint64(0x00FF00FF00FF00FF)
_LOW: Final = np.uint64(0xFFFF)
# Numba makes a float of two kinds of whole numbers, so even a shift must be an uint64.
_8, _16, _27, _30, _31, _32, _48 = (np.uint64(shift) for shift in (8, 16, 27, 30, 31, 32, 48))


@compiled
def scrambled(key: np.uint64, index: int) -> np.uint64:
    """Return 64 random bits."""
    bits = key + np.uint64(index) * _GOLDEN
    bits = (bits ^ (bits >> _30)) * _FIRST
    bits = (bits ^ (bits >> _27)) * _SECOND
    return bits ^ (bits >> _31)


@compiled
def keys_of(key: int, indices: Keys) -> Keys:
    """Return a key for each index, shape (n,); different indices have different keys."""
    keys, salt = np.empty(len(indices), np.uint64), scrambled(np.uint64(key), 1)
    for i in range(len(indices)):
        keys[i] = scrambled(salt ^ indices[i], 1)
    return keys


@compiled
def bells_of(keys: Keys, count: int) -> Floats:
    """Return bell-shaped whole numbers, mean 0, standard deviation `BELL`, none beyond 1020, shape (n, count)."""
    bells = np.empty((len(keys), count), np.float32)
    for i in range(len(keys)):
        for j in range(count):
            bits = scrambled(keys[i], j)
            pairs = (bits & _BYTES) + ((bits >> _8) & _BYTES)
            fours = pairs + (pairs >> _32)
            bells[i, j] = np.int64((fours & _LOW) + ((fours >> _16) & _LOW)) - 2 * _MEAN
    return bells


@compiled
def add_grain(key: np.uint64, first: np.float32, second: np.float32, fields: Floats) -> None:
    """Add white noise of these standard deviations to two fields, (2, h, w)."""
    height, width = fields.shape[1:]
    for i in range(height):
        line_0, line_1 = fields[0, i], fields[1, i]
        for j in range(width):
            bits = scrambled(key, i * width + j)
            pairs = (bits & _BYTES) + ((bits >> _8) & _BYTES)
            low, high = pairs + (pairs >> _16), (pairs >> _32) + (pairs >> _48)
            line_0[j] += first * UNIT * np.float32(np.int64(low & _LOW) - _MEAN)
            line_1[j] += second * UNIT * np.float32(np.int64(high & _LOW) - _MEAN)


@compiled
def put_doubled(small: Floats, large: Floats) -> None:
    """Stretch fields (2, h, w) smoothly to about twice the size, (2, up to 2 h, up to 2 w)."""
    near, far = np.float32(0.75), np.float32(0.25)
    height, width = large.shape[1:]
    rows, columns = small.shape[1:]
    mixed = np.empty(columns + 2, np.float32)
    for f in range(2):
        for i in range(height):
            nearer, farther = small[f, i // 2], small[f, min(max(i // 2 - 1 + 2 * (i % 2), 0), rows - 1)]
            for j in range(columns):
                mixed[j + 1] = near * nearer[j] + far * farther[j]
            mixed[0], mixed[columns + 1] = mixed[1], mixed[columns]
            line = large[f, i]
            for j in range(width // 2):
                line[2 * j] = near * mixed[j + 1] + far * mixed[j]
                line[2 * j + 1] = near * mixed[j + 1] + far * mixed[j + 2]
            if width % 2:
                line[width - 1] = near * mixed[width // 2 + 1] + far * mixed[width // 2]
