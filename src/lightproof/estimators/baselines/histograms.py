"""Features that count: histograms of oriented gradients, and of local binary patterns."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from skimage.feature import hog, local_binary_pattern

from lightproof.estimators.baselines.picture_features import SIZE, PictureFeatures, Rule, at_least, one_of
from lightproof.method.illumination import LIGHTS
from lightproof.types import Array, Floats

PATTERNS: Final = 59
"""Kinds of pattern of 8 neighbors: 58 with at most two changes around the circle, and all others as one."""

GREYS: Final = 65535
"""Patterns compare whole numbers; 16 bits keep all that a photo holds."""


class HoG(PictureFeatures):
    """Histograms of oriented gradients, scikit-image's ``hog``: 9 unsigned orientations, L2-Hys.

    N. Dalal, B. Triggs, "Histograms of Oriented Gradients for Human Detection", CVPR 2005.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to; at least one block.
    light : {"none", "log", "tan-triggs"}, default="none"
        What is done against the light first; see :mod:`lightproof.method.illumination`.
    cell : int, default=8
        Side of a cell in pixels.
    block : int, default=3
        Side of a block in cells.
    """

    def __init__(self, size: Any = SIZE, *, light: str = "none", cell: int = 8, block: int = 3) -> None:
        self.size = size
        self.light = light
        self.cell = cell
        self.block = block

    def _describe(self, pixels: Floats) -> Floats:
        cell, block = (self.cell, self.cell), (self.block, self.block)
        lit = LIGHTS[self.light](pixels)
        return np.stack([hog(image, pixels_per_cell=cell, cells_per_block=block) for image in lit])

    def _rules(self) -> dict[str, Rule]:
        return {"light": one_of(tuple(LIGHTS)), "cell": at_least(1), "block": at_least(1)}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        side = self.cell * self.block
        legal = f"at least {side} x {side} for cell={self.cell} and block={self.block}"
        self._check("size", (legal, lambda size: min(size) >= side))


class LBP(PictureFeatures):
    """Histograms of local binary patterns, one for each cell of the picture.

    The pattern of a pixel says which of its 8 neighbors on the circle of radius 1 are at least as bright, by
    scikit-image's ``local_binary_pattern``. Gain and brightness of the light change no pattern. Neighbors beyond the
    border count as black.

    T. Ahonen, A. Hadid, M. Pietikäinen, "Face Description with Local Binary Patterns: Application to Face
    Recognition", IEEE Transactions on Pattern Analysis and Machine Intelligence 28(12), 2006. The article takes
    8 neighbors at radius 2 and cells of 18 x 21 pixels, weighed by place; radius 1 and even cells of 8 x 8 are ours.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    cell : int, default=8
        Side of a cell in pixels; what is left over at the right and below belongs to the last cells.
    """

    def __init__(self, size: Any = SIZE, *, cell: int = 8) -> None:
        self.size = size
        self.cell = cell

    def _describe(self, pixels: Floats) -> Floats:
        cells = _cell_numbers(pixels.shape[1:], self.cell)
        whole = np.rint(pixels * GREYS).astype(np.int32)
        return np.stack([_histograms(image, cells) for image in whole])

    def _rules(self) -> dict[str, Rule]:
        return {"cell": at_least(1)}


def _cell_numbers(shape: tuple[int, ...], cell: int) -> Array:
    across, down = (np.minimum(np.arange(side) // cell, max(side // cell - 1, 0)) for side in (shape[1], shape[0]))
    numbers: Array = down[:, None] * (across[-1] + 1) + across
    return numbers


def _histograms(image: Array, cells: Array) -> Floats:
    patterns = local_binary_pattern(image, 8, 1, "nri_uniform").astype(np.intp)  # type: ignore[no-untyped-call]
    counts = np.bincount((cells * PATTERNS + patterns).ravel(), minlength=PATTERNS * (int(cells.max()) + 1))
    return counts.astype(np.float64)
