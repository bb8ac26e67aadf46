"""One photo at many sizes, so that a square of any size is cut from few pixels."""

from __future__ import annotations

import cmath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.types import Floats


class Window(NamedTuple):
    """A square of the photo: its middle, its side in pixels, its turn in radians, whether it is seen in a mirror."""

    middle: complex
    side: float
    turn: float = 0.0
    mirrored: bool = False

    def to_photo(self, points: NDArray[np.complex128], pixels: int) -> NDArray[np.complex128]:
        """Take places in the square, drawn with so many pixels a side, to places in the photo.

        In the square pixel i reaches from i to i + 1; in the photo its middle is at i.
        """
        centered = points - pixels / 2 * (1 + 1j)
        if self.mirrored:
            centered = -centered.conj()
        return self.middle + centered * cmath.rect(self.side / pixels, self.turn)


class Pyramid:
    """A photo, and the same photo halved again and again.

    Parameters
    ----------
    image : ndarray of shape (h, w), uint8
    """

    def __init__(self, image: NDArray[np.uint8]) -> None:
        self._levels: list[Floats] = [image.astype(np.float32) / np.float32(255)]
        self.height, self.width = image.shape

    def square(self, window: Window, pixels: int) -> Floats:
        """Draw a square of the photo with so many pixels a side; beyond the photo it is black."""
        from skimage.transform import AffineTransform, warp  # loaded when it is needed, as in `eye_alignment`

        level = self._level_for(window.side / pixels)
        halved = 2.0**level
        # The middle of pixel 0 is at 0 on every level, so a place moves by the half pixel that it gains or loses.
        corner = window.to_photo(np.array([0.5 + 0.5j, 1.5 + 0.5j, 0.5 + 1.5j]), pixels)
        here, right, down = ((corner + 0.5 + 0.5j) / halved - 0.5 - 0.5j).tolist()
        matrix = np.array(
            [
                [(right - here).real, (down - here).real, here.real],
                [(right - here).imag, (down - here).imag, here.imag],
                [0, 0, 1],
            ]
        )
        drawn: Floats = warp(  # type: ignore[no-untyped-call]
            self._levels[level],
            AffineTransform(matrix=matrix),  # type: ignore[no-untyped-call]
            output_shape=(pixels, pixels),
            order=1,
            mode="constant",
        )
        return drawn

    def _level_for(self, step: float) -> int:
        """Choose the level on which the square takes about every pixel: none is skipped, few are read twice."""
        level = 0
        while step >= 1.5 and min(self._levels[level].shape) >= 2:
            level, step = level + 1, step / 2
            if level == len(self._levels):
                self._levels.append(_halved(self._levels[-1]))
        return level


def _halved(image: Floats) -> Floats:
    height, width = (side // 2 for side in image.shape)
    blocks = image[: 2 * height, : 2 * width].reshape(height, 2, width, 2)
    half: Floats = blocks.mean(axis=(1, 3))
    return half
