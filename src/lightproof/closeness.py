r"""How close patches of photos are to people, and what that says: the loops behind every answer of a gallery.

Templates are whole numbers, and a question compares nine views of a photo with hundreds of people in hundreds of
patches. So people are laid side by side, :data:`LANES` of them in a block, and each step of the arithmetic is taken for
a block at once. What comes out for a person does not depend on who else is in the block, nor on where, nor on how many
blocks there are: the same numbers to the last bit on one machine or on many.

Exponential and logarithm are sums of products written out, right to a few millionths: a loop that calls the
library's own cannot be taken many at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lightproof.aggregate import SHARPNESS
from lightproof.compiled import compiled
from lightproof.types import Array, Floats, Ints

LANES: Final = 64
"""People side by side in a block."""

STEP: Final = 4
"""Numbers of a patch that are multiplied in one go; vectors are filled up with 0 to a multiple of it."""

FLOOR: Final = 0.2
"""Added to the quotient of two closenesses: a patch that matches nobody must not outweigh all others."""

# exp(x) = (1 + y + ... + y^6 / 6!)^32 with y = x / 32, which is small enough here.
_PART: Final = np.float32(-SHARPNESS / 32)
_E2, _E3, _E4, _E5, _E6 = (np.float32(1 / n) for n in (2, 6, 24, 120, 720))

# log(1 + x) = x - x^2 / 2 + x^3 P(x) for mantissas around 1; the P of Cephes by S. Moshier, see its logf.
_ONE, _HALF, _ZERO, _FLOOR = np.float32(1), np.float32(0.5), np.float32(0), np.float32(FLOOR)
_ROOT: Final = np.float32(0.70710678)
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
        Of each block.
    scales : list of ndarray of shape (K, r, LANES), float32
        What makes unit vectors of them.
    places : ndarray of shape (C,)
        The lane of each person, counted through all blocks; lanes may be empty.
    """

    codes: list[Array]
    scales: list[Floats]
    places: Ints

    @property
    def n_people(self) -> int:
        """How many people there are."""
        return len(self.places)


def lay_out(own: Array) -> Blocks:
    """Lay directions in whole numbers side by side.

    Parameters
    ----------
    own : ndarray of shape (C, K, r, D), int8
        Of everybody; 0 where a person has fewer directions.

    Returns
    -------
    Blocks
    """
    C, K, r, D = own.shape
    blocks = -(-C // LANES)
    codes = np.zeros((blocks, K, r, -(-D // STEP) * STEP, LANES), np.int8)
    scales = np.zeros((blocks, K, r, LANES), np.float32)
    _lay_out(own, codes, scales)
    return Blocks(list(codes), list(scales), np.arange(C))


def side_by_side(parts: Sequence[Blocks]) -> Blocks:
    """Put people who are laid out already beside others; nobody is moved within a block."""
    starts = np.cumsum([0, *(LANES * len(part.codes) for part in parts[:-1])])
    return Blocks(
        [codes for part in parts for codes in part.codes],
        [scales for part in parts for scales in part.scales],
        np.concatenate([part.places + start for part, start in zip(parts, starts, strict=True)]),
    )


def unit_vectors(vectors: Floats) -> Floats:
    """Bring the vectors of patches to length 1, patches first, (n, K, D) -> (K, n, D filled up); 0 stays 0.

    float32 in any case: the templates tell no more.
    """
    n, K, D = vectors.shape
    units = np.zeros((K, n, -(-D // STEP) * STEP), np.float32)
    length = np.sqrt(np.vecdot(vectors, vectors))[..., None]
    units[:, :, :D] = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0).swapaxes(0, 1)
    return units


def closeness(units: Floats, people: Blocks) -> Floats:
    r"""How close each patch of some photos is to each person: :math:`e^{-6 s}`, s the sine of the angle to the span.

    Parameters
    ----------
    units : ndarray of shape (K, n, D filled up)
        Of :func:`unit_vectors`; a vector of 0 is at right angles to everybody.
    people : Blocks

    Returns
    -------
    ndarray of shape (K, n, C), float32
    """
    K, n, _ = units.shape
    close = np.zeros((len(people.codes), K, n, LANES), np.float32)
    for codes, scales, out in zip(people.codes, people.scales, close, strict=True):
        _measure(units, codes, scales, out)
    return np.ascontiguousarray(close.transpose(1, 2, 0, 3).reshape(K, n, len(close) * LANES)[:, :, people.places])


def summed_evidence(units: Floats, people: Blocks, usual: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Sum up over the patches what they say for each person.

    Parameters
    ----------
    units : ndarray of shape (K, n, D filled up)
    people : Blocks
    usual : ndarray of shape (K, n)
        How close just anybody is to each patch.
    weights : ndarray of shape (K, C)

    Returns
    -------
    evidence : ndarray of shape (n, C), float32
        Of the logarithm of (closeness over the usual one, plus the floor), weighed.
    closeness : ndarray of shape (n, C), float32
        Weighed.
    """
    (K, n, _), blocks = units.shape, len(people.codes)
    share = (1 / usual).astype(np.float32)
    lanes = np.zeros((K, blocks * LANES), np.float32)
    lanes[:, people.places] = weights
    said = np.zeros((blocks, 2, n, LANES), np.float32)
    for i in range(blocks):
        own = np.ascontiguousarray(lanes[:, i * LANES : (i + 1) * LANES])
        _sum_up(units, people.codes[i], people.scales[i], share, own, said[i])
    evidence, close = said.transpose(1, 2, 0, 3).reshape(2, n, blocks * LANES)[:, :, people.places]
    return evidence, close


@compiled
def _lay_out(own: Array, codes: Array, scales: Floats) -> None:
    C, K, n, D = own.shape
    for c in range(C):
        block, lane = c // LANES, c % LANES
        for k in range(K):
            for r in range(n):
                direction = own[c, k, r]
                square = np.int32(0)
                for d in range(D):
                    square += np.int32(direction[d]) * np.int32(direction[d])
                    codes[block, k, r, d, lane] = direction[d]
                scales[block, k, r, lane] = _ONE / np.sqrt(max(np.float32(square), _ONE))


@compiled
def _decode(codes: Array, scales: Floats, directions: Floats) -> None:
    """Make unit vectors of the directions of a patch, (r, D, LANES)."""
    for r in range(codes.shape[0]):
        scale = scales[r]
        for d in range(codes.shape[1]):
            row, place = codes[r, d], directions[r, d]
            for lane in range(LANES):
                place[lane] = np.float32(row[lane]) * scale[lane]


@compiled
def _compare(unit: Floats, directions: Floats, room: Floats, close: Floats) -> None:
    """Put the closeness of a patch, (D,), to everybody in a block, (r, D, LANES), into ``close``, (LANES,)."""
    for lane in range(LANES):
        close[lane] = _ZERO
    for r in range(len(directions)):
        for lane in range(LANES):
            room[lane] = _ZERO
        for d in range(0, len(unit), STEP):
            x, y, z, w = unit[d], unit[d + 1], unit[d + 2], unit[d + 3]
            a, b, c, e = directions[r, d], directions[r, d + 1], directions[r, d + 2], directions[r, d + 3]
            for lane in range(LANES):
                room[lane] = (((room[lane] + x * a[lane]) + y * b[lane]) + z * c[lane]) + w * e[lane]
        for lane in range(LANES):
            close[lane] += room[lane] * room[lane]
    for lane in range(LANES):
        x = np.sqrt(max(_ONE - close[lane], _ZERO)) * _PART
        e = _ONE + x * (_ONE + x * (_E2 + x * (_E3 + x * (_E4 + x * (_E5 + x * _E6)))))
        e *= e
        e *= e
        e *= e
        e *= e
        close[lane] = e * e


@compiled
def _logarithms(values: Floats, bits: Array, mantissas: Floats, mantissa_bits: Array, out: Floats) -> None:
    """Put the natural logarithms of positive numbers, (LANES,), into ``out``; ``bits`` are those of the numbers."""
    for lane in range(LANES):
        mantissa_bits[lane] = (bits[lane] & 0x007FFFFF) | 0x3F000000
    for lane in range(LANES):
        power = np.float32((bits[lane] >> 23) - 126)
        x, low = mantissas[lane], mantissas[lane] < _ROOT
        x = (x + x if low else x) - _ONE
        power = power - _ONE if low else power
        square = x * x
        y = ((((((((_P8 * x + _P7) * x + _P6) * x + _P5) * x + _P4) * x + _P3) * x + _P2) * x + _P1) * x + _P0) * x
        y = (y * square + power * _LN2_LOW) - _HALF * square
        out[lane] = (x + y) + power * _LN2_HIGH


@compiled
def _measure(units: Floats, codes: Array, scales: Floats, close: Floats) -> None:
    K, n, D = units.shape
    directions, room = np.empty((codes.shape[1], D, LANES), np.float32), np.empty(LANES, np.float32)
    for k in range(K):
        _decode(codes[k], scales[k], directions)
        for i in range(n):
            _compare(units[k, i], directions, room, close[k, i])


@compiled
def _sum_up(units: Floats, codes: Array, scales: Floats, share: Floats, weights: Floats, said: Floats) -> None:
    """Add what all patches say for a block of people, and how close they are, to ``said``, (2, n, LANES)."""
    K, n, D = units.shape
    directions, room = np.empty((codes.shape[1], D, LANES), np.float32), np.empty(LANES, np.float32)
    close, values = np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    mantissas, logarithms = np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    bits, mantissa_bits = values.view(np.int32), mantissas.view(np.int32)
    for k in range(K):
        _decode(codes[k], scales[k], directions)
        weight = weights[k]
        for i in range(n):
            _compare(units[k, i], directions, room, close)
            more = share[k, i]
            for lane in range(LANES):
                values[lane] = close[lane] * more + _FLOOR
            _logarithms(values, bits, mantissas, mantissa_bits, logarithms)
            evidence, near = said[0, i], said[1, i]
            for lane in range(LANES):
                evidence[lane] += logarithms[lane] * weight[lane]
                near[lane] += close[lane] * weight[lane]
