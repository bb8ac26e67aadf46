r"""Similarities of the plane: a picture moved, scaled and turned; the copies of a photo that go into its span.

A similarity is four numbers: the move to the right and down in shares of the height, the logarithm of the scale, and
the angle in radians. A pixel z of the result comes from :math:`c + m + s\,e^{i\varphi}(z - c)`, with the middle c of
the picture.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Final

import numpy as np

from lightproof.core.jit import compiled
from lightproof.types import Array, Floats, Ints

COPY_STEP: Final = 1 / 96
"""Move of a copy, in heights: about the error of eyes marked by hand."""

COPIES: Final[dict[str, tuple[tuple[float, float, float, float], ...]]] = {
    "none": (),
    "cross": tuple((right, down, 0, 0) for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1))),
    "square": tuple((right, down, 0, 0) for right in (-1, 0, 1) for down in (-1, 0, 1) if right or down),
}
"""Copies that share a photo's span, as similarities whose moves are in multiples of COPY_STEP."""


def moved(points: Array, similarities: Floats) -> Array:
    """Return where points come from under each similarity, (p,), (..., 4) -> (..., p).

    Points are complex, column + i row, from the middle of the picture, in heights.
    """
    turn = np.exp(similarities[..., 2] + 1j * similarities[..., 3])
    move = similarities[..., 0] + 1j * similarities[..., 1]
    return np.asarray(move[..., None] + turn[..., None] * points)


def warp(pictures: Floats, similarities: Floats) -> Floats:
    """Move, scale and turn each picture, (n, h, w), by its own similarity, (n, 4); mirrored beyond the border."""
    from skimage.transform import warp as resample  # loaded when it is needed, as in :mod:`lightproof.core.images`

    height, width = pictures.shape[1:]
    middle = complex(width - 1, height - 1) / 2
    out = np.empty_like(pictures)
    for picture, (right, down, growth, angle), warped in zip(pictures, similarities, out, strict=True):
        turn = np.exp(growth + 1j * angle)
        move = middle + height * complex(right, down) - turn * middle
        back = np.array([[turn.real, -turn.imag, move.real], [turn.imag, turn.real, move.imag], [0, 0, 1]])
        writable = np.require(picture, requirements="W")  # scikit-image asks for it, though it only reads
        warped[...] = resample(writable, back, order=1, mode="reflect", clip=False)  # type: ignore[no-untyped-call]
    return out


def with_copies(pictures: Floats, copies: str) -> Floats:
    """Put copies of each picture after it, (n, h, w) -> (n, 1 + copies, h, w); ``copies`` is a name in COPIES."""
    out = np.empty((len(pictures), 1 + len(COPIES[copies]), *pictures.shape[1:]), pictures.dtype)
    out[:, 0] = pictures
    for i, copy in enumerate(COPIES[copies], start=1):
        right, down, growth, angle = similarity = np.array(copy) * (COPY_STEP, COPY_STEP, 1, 1)
        if growth == angle == 0:
            _translate(pictures, right * pictures.shape[1], down * pictures.shape[1], out, i)
        else:
            out[:, i] = warp(pictures, np.tile(similarity, (len(pictures), 1)))
    return out


def _translate(pictures: Floats, right: float, down: float, out: Floats, copy: int) -> None:
    """Do what :func:`warp` does for a move in pixels: put a weighted sum of whole moves into ``out[:, copy]``."""
    reach = math.ceil(max(abs(right), abs(down)))
    corners = product(_linear_weights(down + reach), _linear_weights(right + reach))
    shares = [(row - reach, column - reach, share * part) for (row, share), (column, part) in corners]
    rows, columns, weights = map(np.array, zip(*shares, strict=True))
    _put_moved(pictures, rows, columns, weights.astype(pictures.dtype), out, copy)


@compiled
def _put_moved(pictures: Floats, rows: Ints, columns: Ints, weights: Floats, out: Floats, copy: int) -> None:
    """Put weighted sums of pictures, (n, h, w), moved by some rows and columns into ``out[:, copy]``."""
    n, height, width = pictures.shape
    for picture in range(n):
        for i in range(height):
            total = out[picture, copy, i]
            total[...] = 0
            for move in range(len(rows)):
                line, right, weight = pictures[picture, _mirrored(i + rows[move], height)], columns[move], weights[move]
                # Pixels from inside the picture lie side by side.
                first, last = min(max(-right, 0), width), max(min(width - right, width), 0)
                inner, source = total[first:last], line[first + right : last + right]
                for j in range(len(inner)):
                    inner[j] += weight * source[j]
                for j in range(first):
                    total[j] += weight * line[_mirrored(j + right, width)]
                for j in range(last, width):
                    total[j] += weight * line[_mirrored(j + right, width)]


@compiled
def _mirrored(place: int, side: int) -> int:
    """Return which of ``side`` lines stands at a place that may lie beyond the border."""
    period = max(2 * side - 2, 1)
    inside = place % period
    return inside if inside < side else period - inside


def _linear_weights(place: float) -> list[tuple[int, float]]:
    """Return the whole numbers around a number, and the weight of each in between; weights of 0 are left out."""
    whole = math.floor(place)
    return [(at, share) for at, share in ((whole, 1 - place + whole), (whole + 1, place - whole)) if share > 0]
