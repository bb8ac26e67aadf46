r"""Similarities of the plane: a picture moved, scaled and turned; the copies of a photo that go into its span.

A similarity is four numbers: the move to the right and down in shares of the height, the logarithm of the scale, and
the angle in radians. It tells where a pixel of the result comes from: from :math:`c + m + s\,e^{i\varphi}(z - c)`, with
the middle c of the picture.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lightproof.core.jit import compiled
from lightproof.types import Array, Floats, Ints

STEP: Final = 1 / 96
"""How far a copy is moved, in heights: about the error of eyes marked by hand."""

COPIES: Final[dict[str, tuple[tuple[float, float, float, float], ...]]] = {
    "none": (),
    "cross": tuple((right, down, 0, 0) for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1))),
    "square": tuple((right, down, 0, 0) for right in (-1, 0, 1) for down in (-1, 0, 1) if right or down),
}
"""Copies that share a photo's span, as similarities whose moves are in steps."""


def moved(points: Array, similarities: Floats) -> Array:
    """Tell where points come from under each similarity.

    Parameters
    ----------
    points : ndarray of shape (p,), complex
        Column + i row, from the middle of the picture, in heights.
    similarities : ndarray of shape (..., 4)

    Returns
    -------
    ndarray of shape (..., p), complex
    """
    turn = np.exp(similarities[..., 2] + 1j * similarities[..., 3])
    move = similarities[..., 0] + 1j * similarities[..., 1]
    return np.asarray(move[..., None] + turn[..., None] * points)


def warp(pictures: Floats, similarities: Floats) -> Floats:
    """Move, scale and turn each picture by its own similarity; beyond the border the picture is mirrored.

    Parameters
    ----------
    pictures : ndarray of shape (n, h, w)
    similarities : ndarray of shape (n, 4)

    Returns
    -------
    ndarray of shape (n, h, w)
    """
    from skimage.transform import warp as resample  # loaded when it is needed, as in :mod:`lightproof.core.images`

    height, width = pictures.shape[1:]
    middle = complex(width - 1, height - 1) / 2
    out = np.empty_like(pictures)
    for picture, (right, down, growth, angle), place in zip(pictures, similarities, out, strict=True):
        turn = np.exp(growth + 1j * angle)
        move = middle + height * complex(right, down) - turn * middle
        back = np.array([[turn.real, -turn.imag, move.real], [turn.imag, turn.real, move.imag], [0, 0, 1]])
        writable = np.require(picture, requirements="W")  # scikit-image asks for it, though it only reads
        place[...] = resample(writable, back, order=1, mode="reflect", clip=False)  # type: ignore[no-untyped-call]
    return out


def with_copies(pictures: Floats, copies: str) -> Floats:
    """Put copies of each picture beside it.

    Parameters
    ----------
    pictures : ndarray of shape (n, h, w)
    copies : str
        A name in :data:`COPIES`.

    Returns
    -------
    ndarray of shape (n, 1 + number of copies, h, w)
        The picture itself first.
    """
    out = np.empty((len(pictures), 1 + len(COPIES[copies]), *pictures.shape[1:]), pictures.dtype)
    out[:, 0] = pictures
    for place, copy in enumerate(COPIES[copies], start=1):
        right, down, growth, angle = _in_heights(copy)
        if growth == angle == 0:
            _translate(pictures, right * pictures.shape[1], down * pictures.shape[1], out, place)
        else:
            out[:, place] = warp(pictures, np.tile(_in_heights(copy), (len(pictures), 1)))
    return out


def _in_heights(copy: tuple[float, float, float, float]) -> Floats:
    return np.array(copy) * (STEP, STEP, 1, 1)


def _translate(pictures: Floats, right: float, down: float, out: Floats, place: int) -> None:
    """Do what :func:`warp` does for a move alone, given in pixels: a weighted sum of pictures moved by whole pixels."""
    reach = math.ceil(max(abs(right), abs(down)))
    shares = [
        (row - reach, column - reach, share * part)
        for row, share in _between(down + reach)
        for column, part in _between(right + reach)
    ]
    rows, columns, weights = map(np.array, zip(*shares, strict=True))
    _put_moved(pictures, rows, columns, weights.astype(pictures.dtype), out, place)


@compiled
def _put_moved(pictures: Floats, rows: Ints, columns: Ints, weights: Floats, out: Floats, copy: int) -> None:
    """Put weighted sums of pictures, (n, h, w), moved by some rows and columns into ``out[:, copy]``."""
    n, height, width = pictures.shape
    for picture in range(n):
        for i in range(height):
            place = out[picture, copy, i]
            place[...] = 0
            for move in range(len(rows)):
                line, right, weight = pictures[picture, _mirrored(i + rows[move], height)], columns[move], weights[move]
                # What comes from inside the picture lies side by side.
                first, last = min(max(-right, 0), width), max(min(width - right, width), 0)
                inner, source = place[first:last], line[first + right : last + right]
                for j in range(len(inner)):
                    inner[j] += weight * source[j]
                for j in range(first):
                    place[j] += weight * line[_mirrored(j + right, width)]
                for j in range(last, width):
                    place[j] += weight * line[_mirrored(j + right, width)]


@compiled
def _mirrored(place: int, side: int) -> int:
    """Tell which of ``side`` lines stands at a place that may lie beyond the first or the last."""
    period = max(2 * side - 2, 1)
    inside = place % period
    return inside if inside < side else period - inside


def _between(place: float) -> list[tuple[int, float]]:
    """Tell between which whole numbers a number lies, and how much each counts; one that counts nothing is left out."""
    whole = math.floor(place)
    return [(at, share) for at, share in ((whole, 1 - place + whole), (whole + 1, place - whole)) if share > 0]
