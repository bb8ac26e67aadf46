r"""Closeness and scores of patches: the loops behind every answer of a gallery.

A question compares a photo with hundreds of templates of whole numbers, in hundreds of patches, and in some views
after eight moves, too. So people are laid side by side, :data:`LANES` of them in a block, and each step of the
arithmetic is done for a block at once.
The result for a person does not depend on who else is in the block, nor on where, nor on how many blocks there are: it
is the same to the last bit on one machine or on many.

Exponential and logarithm are polynomials, right to a few millionths: the compiler cannot vectorize a loop that calls
the library's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lightproof.core.jit import compiled, written_out
from lightproof.method.aggregate import SHARPNESS
from lightproof.types import Array, Floats, Ints

LANES: Final = 64
"""People side by side in a block."""

NUMBERS_PER_STEP: Final = 2
"""Numbers of a patch that are multiplied at once; vectors are filled up with 0 to a multiple of it."""

PATCHES_PER_PASS: Final = 3
"""Patches that are compared at once: each template is read once for all of them."""

FLOOR: Final = 1.0
"""Added to the quotient of two closenesses, so that a patch that matches nobody does not outweigh all others."""

# exp(x) = (1 + y + ... + y^6 / 6!)^32 with y = x / 32, which is small enough here.
_PART: Final = np.float32(-SHARPNESS / 32)
_E2, _E3, _E4, _E5, _E6 = (np.float32(1 / n) for n in (2, 6, 24, 120, 720))

# log(1 + x) = x - x^2 / 2 + x^3 P(x) for mantissas around 1; the P of Cephes by S. Moshier, see its logf.
_ONE, _HALF, _ZERO, _FLOOR = np.float32(1), np.float32(0.5), np.float32(0), np.float32(FLOOR)
# The bits of the root of 1/2, where mantissas begin, and those that hold the power of 2.
_ROOT_BITS, _POWER_BITS, _POWER = np.int32(0x3F3504F3), np.int32(-(2**23)), np.float32(2.0**-23)
_P8, _P7, _P6, _P5, _P4, _P3, _P2, _P1, _P0 = (
    np.float32(number)
    for number in (
        7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
    )
)  # fmt: skip
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Directions of many people, laid side by side.

    Attributes
    ----------
    codes : list of ndarray of shape (K, r, D filled up, LANES), int8
    scales : list of ndarray of shape (K, r, LANES), float32
        Factors that make unit vectors of them.
    places : ndarray of shape (C,)
        The lane of each person, counted through all blocks; lanes may be empty.
    """

    codes: list[Array]
    scales: list[Floats]
    places: Ints


def lay_out(own: Array) -> Blocks:
    """Lay directions side by side, (C, K, r, D), int8; they are 0 where a person has fewer."""
    C, K, r, D = own.shape
    blocks = -(-C // LANES)
    codes = np.zeros((blocks, K, r, -(-D // NUMBERS_PER_STEP) * NUMBERS_PER_STEP, LANES), np.int8)
    scales = np.zeros((blocks, K, r, LANES), np.float32)
    _lay_out(own, codes, scales)
    return Blocks(list(codes), list(scales), np.arange(C))


def side_by_side(parts: Sequence[Blocks]) -> Blocks:
    """Append blocks to others; nothing is moved within a block."""
    starts = np.cumsum([0, *(LANES * len(part.codes) for part in parts[:-1])])
    return Blocks(
        [codes for part in parts for codes in part.codes],
        [scales for part in parts for scales in part.scales],
        np.concatenate([part.places + start for part, start in zip(parts, starts, strict=True)]),
    )


def unit_vectors(vectors: Floats) -> Floats:
    """Bring the vectors of patches to length 1, patches first, (n, K, D) -> (K, n, D filled up), float32; 0 stays 0."""
    n, K, D = vectors.shape
    units = np.zeros((K, n, -(-D // NUMBERS_PER_STEP) * NUMBERS_PER_STEP), np.float32)
    length = np.sqrt(np.vecdot(vectors, vectors))[..., None]
    units[:, :, :D] = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0).swapaxes(0, 1)
    return units


def closeness(units: Floats, people: Blocks) -> Floats:
    r"""Closeness of each patch of photos to each person, shape (K, n, C), float32, given :func:`unit_vectors`.

    It is :math:`e^{-6 s}`, s the sine of the angle to the span; a vector of 0 is at right angles to everybody.
    """
    return _of_people(_closeness_of_lanes(units, people), people)


def cohort_scores(units: Floats, cohort: Blocks, weights: Floats) -> tuple[Floats, Floats]:
    """Compute the mean :func:`closeness` of each patch to the cohort, (K, n), and the :func:`summed_scores`, (n, C)."""
    close = _closeness_of_lanes(units, cohort)
    mean = np.asarray(_of_people(close, cohort).mean(axis=2))
    inverse = (1 / mean).astype(np.float32)
    sums = np.zeros((len(close), 2, units.shape[1], LANES), np.float32)
    for block, weight, out in zip(close, _in_lanes(weights, cohort), sums, strict=True):
        _sum_up_measured(block, inverse, weight, out)
    return mean, _of_people(sums, cohort)[0]


def summed_scores(units: Floats, people: Blocks, cohort_mean: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Sum the scores of the patches for each person, weighted by (K, C), and their closeness; both (n, C), float32.

    The score of a patch is the logarithm of (closeness over its cohort mean, (K, n), plus the floor).
    """
    inverse, lanes = (1 / cohort_mean).astype(np.float32), _in_lanes(weights, people)
    sums = np.zeros((len(lanes), 2, units.shape[1], LANES), np.float32)
    for codes, scales, weight, out in zip(people.codes, people.scales, lanes, sums, strict=True):
        _sum_up(units, codes, scales, inverse, weight, out)
    scores, close = _of_people(sums, people)
    return scores, close


def _closeness_of_lanes(units: Floats, people: Blocks) -> Floats:
    """Return the closeness to all lanes, shape (blocks, K, n, LANES)."""
    K, n, _ = units.shape
    close = np.zeros((len(people.codes), K, n, LANES), np.float32)
    for codes, scales, out in zip(people.codes, people.scales, close, strict=True):
        _measure(units, codes, scales, out)
    return close


def _in_lanes(weights: Floats, people: Blocks) -> Floats:
    """Lay the weights of the patches of each person, (K, C), out like their directions: (blocks, K, LANES)."""
    lanes = np.zeros((len(weights), len(people.codes) * LANES), np.float32)
    lanes[:, people.places] = weights
    return np.ascontiguousarray(lanes.reshape(len(weights), -1, LANES).swapaxes(0, 1))


def _of_people(lanes: Floats, people: Blocks) -> Floats:
    """Pick the people out of the lanes, (blocks, a, n, LANES) -> (a, n, C)."""
    blocks, a, n, _ = lanes.shape
    n_people = len(people.places)
    if blocks == 1 and np.array_equal(people.places, np.arange(n_people)):
        return lanes[0, :, :, :n_people]
    return np.ascontiguousarray(lanes.transpose(1, 2, 0, 3).reshape(a, n, blocks * LANES)[:, :, people.places])


@compiled
def _lay_out(own: Array, codes: Array, scales: Floats) -> None:
    C, K, n, D = own.shape
    for block in range(len(codes)):
        first = block * LANES
        people = own[first : min(first + LANES, C)]
        for k in range(K):
            for r in range(n):
                for lane in range(len(people)):
                    direction = people[lane, k, r]
                    square = np.int32(0)
                    for d in range(D):
                        square += np.int32(direction[d]) * np.int32(direction[d])
                    scales[block, k, r, lane] = _ONE / np.sqrt(max(np.float32(square), _ONE))
                for d in range(D):
                    place = codes[block, k, r, d]
                    for lane in range(len(people)):
                        place[lane] = people[lane, k, r, d]


@compiled
def _decode(codes: Array, scales: Floats, directions: Floats) -> None:
    """Make unit vectors of the directions of a patch, (r, D, LANES)."""
    for r in range(codes.shape[0]):
        scale = scales[r]
        for d in range(codes.shape[1]):
            row, place = codes[r, d], directions[r, d]
            for lane in range(LANES):
                place[lane] = np.float32(row[lane]) * scale[lane]


@written_out
def _compare(units: Floats, first: int, directions: Floats, sums: Floats, close: Floats) -> None:
    """Put the closeness of a few patches of (n, D) to everybody in a block, (r, D, LANES), into ``close``.

    These are :data:`PATCHES_PER_PASS` patches from ``first`` on; if fewer are left, the last one is repeated.
    """
    last = len(units) - 1
    one, two, three = units[first], units[min(first + 1, last)], units[min(first + 2, last)]
    u, v, w = sums[0], sums[1], sums[2]
    x, y, z = close[0], close[1], close[2]
    for lane in range(LANES):
        x[lane] = _ZERO
        y[lane] = _ZERO
        z[lane] = _ZERO
    for r in range(len(directions)):
        for lane in range(LANES):
            u[lane] = _ZERO
            v[lane] = _ZERO
            w[lane] = _ZERO
        for d in range(0, directions.shape[1], NUMBERS_PER_STEP):
            a, b = directions[r, d], directions[r, d + 1]
            u1, v1, w1, u2, v2, w2 = one[d], two[d], three[d], one[d + 1], two[d + 1], three[d + 1]
            for lane in range(LANES):
                u[lane] = (u[lane] + u1 * a[lane]) + u2 * b[lane]
                v[lane] = (v[lane] + v1 * a[lane]) + v2 * b[lane]
                w[lane] = (w[lane] + w1 * a[lane]) + w2 * b[lane]
        for lane in range(LANES):
            x[lane] += u[lane] * u[lane]
            y[lane] += v[lane] * v[lane]
            z[lane] += w[lane] * w[lane]
    for row in range(PATCHES_PER_PASS):
        near = close[row]
        for lane in range(LANES):
            t = np.sqrt(max(_ONE - near[lane], _ZERO)) * _PART
            e = _ONE + t * (_ONE + t * (_E2 + t * (_E3 + t * (_E4 + t * (_E5 + t * _E6)))))
            e *= e
            e *= e
            e *= e
            e *= e
            near[lane] = e * e


@written_out
def _logarithms(bits: Array, mantissas: Floats, mantissa_bits: Array, powers: Floats, out: Floats) -> None:
    """Put the natural logarithms of positive numbers, (LANES,), given as their bits, into ``out``."""
    for lane in range(LANES):
        # The power of 2 that brings the number nearest to 1; what is left is the mantissa.
        power = (bits[lane] - _ROOT_BITS) & _POWER_BITS
        mantissa_bits[lane] = bits[lane] - power
        powers[lane] = np.float32(np.int32(power)) * _POWER
    for lane in range(LANES):
        x, power = mantissas[lane] - _ONE, powers[lane]
        square = x * x
        y = ((((((((_P8 * x + _P7) * x + _P6) * x + _P5) * x + _P4) * x + _P3) * x + _P2) * x + _P1) * x + _P0) * x
        y = (y * square + power * _LN2_LOW) - _HALF * square
        out[lane] = (x + y) + power * _LN2_HIGH


@compiled
def _measure(units: Floats, codes: Array, scales: Floats, out: Floats) -> None:
    """Put the closeness of every patch to a block of people into ``out``, (K, n, LANES)."""
    K, n, D = units.shape
    directions = np.empty((codes.shape[1], D, LANES), np.float32)
    sums, close = np.empty((PATCHES_PER_PASS, LANES), np.float32), np.empty((PATCHES_PER_PASS, LANES), np.float32)
    for k in range(K):
        _decode(codes[k], scales[k], directions)
        for first in range(0, n, PATCHES_PER_PASS):
            _compare(units[k], first, directions, sums, close)
            for i in range(first, min(first + PATCHES_PER_PASS, n)):
                out[k, i] = close[i - first]


@written_out
def _add(close: Floats, inverse: Any, weight: Floats, room: Floats, bits: Array, scores: Floats, sums: Floats) -> None:
    """Add the scores of one patch for a block of people, and its closeness, (LANES,); ``bits`` are those of room."""
    values, mantissas, powers, logarithms = room[0], room[1], room[2], room[3]
    for lane in range(LANES):
        values[lane] = close[lane] * inverse + _FLOOR
    _logarithms(bits[0], mantissas, bits[1], powers, logarithms)
    for lane in range(LANES):
        scores[lane] += logarithms[lane] * weight[lane]
        sums[lane] += close[lane] * weight[lane]


@compiled
def _sum_up(units: Floats, codes: Array, scales: Floats, inverse: Floats, weights: Floats, out: Floats) -> None:
    """Add the scores of all patches for a block of people, and their closeness, to ``out``, (2, n, LANES)."""
    K, n, D = units.shape
    directions = np.empty((codes.shape[1], D, LANES), np.float32)
    sums, close = np.empty((PATCHES_PER_PASS, LANES), np.float32), np.empty((PATCHES_PER_PASS, LANES), np.float32)
    room = np.empty((4, LANES), np.float32)
    bits = room.view(np.int32)
    for k in range(K):
        _decode(codes[k], scales[k], directions)
        for first in range(0, n, PATCHES_PER_PASS):
            _compare(units[k], first, directions, sums, close)
            for i in range(first, min(first + PATCHES_PER_PASS, n)):
                _add(close[i - first], inverse[k, i], weights[k], room, bits, out[0, i], out[1, i])


@compiled
def _sum_up_measured(close: Floats, inverse: Floats, weights: Floats, out: Floats) -> None:
    """Do the same with closenesses, (K, n, LANES), that are given."""
    K, n, _ = close.shape
    room = np.empty((4, LANES), np.float32)
    bits = room.view(np.int32)
    for k in range(K):
        for i in range(n):
            _add(close[k, i], inverse[k, i], weights[k], room, bits, out[0, i], out[1, i])
