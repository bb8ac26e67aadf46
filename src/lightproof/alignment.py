r"""Similarities of the plane: a picture moved, scaled and turned; the copies of a photo that go into its span.

A similarity is four numbers: the move to the right and down in shares of the height, the logarithm of the scale, and
the angle in radians. It tells where a pixel of the result comes from: from :math:`c + m + s\,e^{i\varphi}(z - c)`, with
the middle c of the picture.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from skimage.transform import warp as resample

from lightproof.types import Array, Floats

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
    made = [warp(pictures, np.tile(_in_heights(copy), (len(pictures), 1))) for copy in COPIES[copies]]
    return np.stack([pictures, *made], axis=1)


def _in_heights(copy: tuple[float, float, float, float]) -> Floats:
    return np.array(copy) * (STEP, STEP, 1, 1)
