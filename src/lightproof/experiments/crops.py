"""Crops: the part of a picture that a method sees.

Sets that are cut from one capture session show the same hair and the same outline in every photo of a person. A method
that does as well on the rim of the picture as on the face has learned the session, not the person.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lightproof.types import Floats


def full(images: Floats) -> Floats:
    """Return the whole pictures."""
    return images


def interior(images: Floats) -> Floats:
    """Leave out an eighth of the height and width on every side, (n, h, w) -> (n, h - 2 (h // 8), w - 2 (w // 8))."""
    down, across = _rim(images)
    return np.ascontiguousarray(images[:, down : images.shape[1] - down, across : images.shape[2] - across])


def outer(images: Floats) -> Floats:
    """Keep only what :func:`interior` leaves out: four strips laid on each other, each as long as the longer side.

    From above: the top, the bottom, the left and the right side turned on their side, each with both its corners.
    Where sides differ in length the shorter ones repeat their last pixel.
    """
    down, across = _rim(images)
    strips = [images[:, :down], images[:, -down:], _turned(images[:, :, :across]), _turned(images[:, :, -across:])]
    longest = max(images.shape[1:])
    filled = [np.pad(s, ((0, 0), (0, 0), (0, longest - s.shape[2])), mode="edge") for s in strips]
    return np.concatenate(filled, axis=1)


CROPS: Final[dict[str, Callable[[Floats], Floats]]] = {"full": full, "interior": interior, "outer": outer}


def _rim(images: Floats) -> tuple[int, int]:
    return max(1, images.shape[1] // 8), max(1, images.shape[2] // 8)


def _turned(images: Floats) -> Floats:
    return images.transpose(0, 2, 1)
