r"""Similarities of the plane: a picture moved, scaled and turned; the copies of a photo that go into its span.

A similarity is four numbers: the move to the right and down in shares of the height, the logarithm of the scale, and
the angle in radians. It tells where a pixel of the result comes from: from :math:`c + m + s\,e^{i\varphi}(z - c)`, with
the middle c of the picture.
"""

from __future__ import annotations

from typing import Final

import numpy as np

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
    n, height, width = pictures.shape
    rows, columns = (axis.ravel().astype(pictures.dtype) for axis in np.mgrid[:height, :width])
    x, y = columns - (width - 1) / 2, rows - (height - 1) / 2
    turn = np.exp(similarities[:, 2] + 1j * similarities[:, 3])[:, None] - 1
    # A pixel's own place and how far it moves: where nothing moves, it is read off as it is.
    grow, tilt = turn.real.astype(pictures.dtype), turn.imag.astype(pictures.dtype)
    across, along = (height * similarities[:, i : i + 1].astype(pictures.dtype) for i in (0, 1))
    row, below, down = _between(rows + (along + grow * y + tilt * x), height)
    column, beside, right = _between(columns + (across + grow * x - tilt * y), width)
    # Read off by hand: SciPy's and scikit-image's warps take three times as long on pictures as small as these.
    first = np.arange(n)[:, None] * (height * width)
    flat = np.ascontiguousarray(pictures).ravel()
    upper, lower = (
        (1 - right) * flat.take(first + line * width + column) + right * flat.take(first + line * width + beside)
        for line in (row, below)
    )
    out: Floats = (1 - down) * upper + down * lower
    return out.reshape(pictures.shape)


def _between(places: Floats, side: int) -> tuple[Ints, Ints, Floats]:
    """Tell between which two pixels of a side places lie, mirrored at its ends, and how far on the way."""
    inside = np.abs(places)
    inside = np.clip(side - 1 - np.abs(side - 1 - inside), 0, side - 1)
    before = inside.astype(np.intp)
    return before, np.minimum(before + 1, side - 1), inside - before.astype(inside.dtype)


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
    made = [warp(pictures, np.tile(_in_heights(copy), (len(pictures), 1))) for copy in COPIES[copies]]
    return np.stack([pictures, *made], axis=1)


def _in_heights(copy: tuple[float, float, float, float]) -> Floats:
    return np.array(copy) * (STEP, STEP, 1, 1)
