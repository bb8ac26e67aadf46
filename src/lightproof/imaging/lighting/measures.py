"""Plain figures of a face: how bright, how balanced, how sharp."""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.core.images import bring_to_size
from lightproof.types import Array, Floats

BRIGHT: Final = 0.95
"""The brightness of a face is the grey value that this share of its pixels does not exceed."""

SHADOW: Final = 0.25
"""A pixel is in shadow when it is darker than this share of the brightness."""

WHITE: Final = 250
BLACK: Final = 5
"""Grey values from which on, and up to which, nothing can be told apart."""

ROWS: Final = 96
"""Height at which sharpness is judged: finer detail is noise, and no feature of a face."""


def brightness(face: Array) -> float:
    """Grey value of the bright parts, 0 to 255: ``np.quantile(face, BRIGHT)``, read off the histogram."""
    darker = np.cumsum(np.bincount(face.ravel(), minlength=256))
    place = BRIGHT * (face.size - 1)
    below, above = np.searchsorted(darker, [int(place), min(int(place) + 1, face.size - 1)], side="right")
    return float(below + (above - below) * (place - int(place)))


def balance(face: Array) -> float:
    """(left - right) / (left + right) of the mean grey values of both halves of the picture; 0 for a black one."""
    half = face.shape[1] // 2
    left, right = float(face[:, :half].mean()), float(face[:, -half:].mean())
    return (left - right) / (left + right) if left + right > 0 else 0.0


def shadow_share(face: Array) -> float:
    """Share of the pixels that are much darker than the bright parts."""
    return float(np.mean(face < SHADOW * brightness(face)))


def clipped_share(face: Array) -> float:
    """Share of the pixels that are white."""
    return float(np.mean(face >= WHITE))


def black_share(face: Array) -> float:
    """Share of the pixels that are black."""
    return float(np.mean(face <= BLACK))


def sharpness(face: Array) -> float:
    """Share of all change from pixel to pixel that a blur of one pixel takes away, 0 to 1; 0 for an even picture.

    A picture that is blurred already has little to lose. The gain of the camera cancels out; its noise counts as
    detail.
    """
    from scipy.ndimage import gaussian_filter  # loaded when it is needed: where the light stands is told without

    height = min(ROWS, face.shape[0])
    width = max(2, round(height * face.shape[1] / face.shape[0]))
    small = bring_to_size(face[None], (height, width), np.float64)[0]
    change = _change(small)
    # A grey value on a handful of pixels is no picture.
    return 1 - _change(gaussian_filter(small, 1.0, mode="nearest")) / change if change > 1e-6 * small.size else 0.0


def _change(image: Floats) -> float:
    return float(sum(np.abs(np.diff(image, axis=axis)).sum() for axis in (0, 1)))
