"""Patches to look at: their gradients as clouds, and the light model applied to them."""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.core.images import bring_to_size
from lightproof.method.gradients import GRADIENTS
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import PRESETS
from lightproof.plots import DrawnPatch
from lightproof.types import Array, Floats

SIZE: Final = PRESETS["paper"].shape
"""Faces are brought to it before gradients are taken, as the recognizer does."""

SLOPE: Final = 255 / 8
"""Turns Sobel sums of pixels with white = 1 into grey values per pixel: they count a slope eight times."""


def relit(pixels: Floats, alpha: float = 1.0, ramp: tuple[float, float] = (0.0, 0.0)) -> Floats:
    r"""Change the light of a whole picture by eq. (imageSpace) with :math:`\beta = 0`: :math:`\alpha I + b \cdot x`.

    Parameters
    ----------
    pixels : ndarray of shape (h, w)
        White = 1; the result may leave [0, 1].
    alpha : float
    ramp : (float, float)
        b in grey values per pixel, to the right and downward; x is 0 in the middle of the picture.

    Returns
    -------
    ndarray of shape (h, w)
    """
    down, across = (np.arange(side) - (side - 1) / 2 for side in pixels.shape)
    changed: Floats = alpha * pixels + (ramp[0] * across + ramp[1] * down[:, None]) / 255
    return changed


def patch_clouds(pixels: Floats, grid: PatchGrid) -> Floats:
    """Gradients of every patch in grey values per pixel, (h, w) -> (K, N, 2), x first."""
    gradients = SLOPE * GRADIENTS[PRESETS["paper"].gradient](pixels)
    return np.swapaxes(grid.gather(gradients[None])[0], -1, -2)


def telling_patch(pixels: Floats, grid: PatchGrid, steepest: float = np.inf) -> int:
    """Find the patch whose gradients fill the widest area, away from the border of the picture.

    Parameters
    ----------
    pixels : ndarray of shape (h, w)
    grid : PatchGrid
    steepest : float
        Patches with steeper slopes are passed over, if there are others.
    """
    every = patch_clouds(pixels, grid)
    centered = every - every.mean(axis=1, keepdims=True)
    area = np.linalg.det(np.swapaxes(centered, 1, 2) @ centered)
    middle = (grid.corners + grid.cell / 2) / (grid.height, grid.width)
    area[np.abs(middle - 0.5).max(axis=1) > 0.36] = -1
    gentle = np.where(np.abs(every).max(axis=(1, 2)) <= steepest, area, -1)
    return int(np.argmax(gentle if gentle.max() >= 0 else area))


def patch_relit(
    title: str, image: Array, alpha: float, ramp: tuple[float, float], grid: PatchGrid, k: int
) -> DrawnPatch:
    """Change the light of a photo and take patch k of the result."""
    # The photo is shown in its own size, where a pixel is a smaller part of the same ramp.
    fine = (ramp[0] * grid.width / image.shape[1], ramp[1] * grid.height / image.shape[0])
    shown = grey(relit(bring_to_size(image[None], None, np.float64)[0], alpha, fine))
    return patch_of(title, shown, relit(seen(image), alpha, ramp), grid, k)


def patch_of(title: str, image: Array, pixels: Floats, grid: PatchGrid, k: int) -> DrawnPatch:
    """Take patch k of a photo to be drawn; ``pixels`` is the photo as :func:`seen`."""
    top, left = grid.corners[k].tolist()
    box = (left / grid.width, top / grid.height, grid.cell / grid.width, grid.cell / grid.height)
    cut = grid.gather(pixels[None, None])[0, k].reshape(grid.cell, grid.cell)
    return DrawnPatch(title, image, box, grey(cut), patch_clouds(pixels, grid)[k])


def seen(image: Array) -> Floats:
    """Bring a photo to the size in which the recognizer sees it, white = 1."""
    pixels: Floats = bring_to_size(image[None], SIZE, np.float64)[0]
    return pixels


def grey(pixels: Floats) -> Array:
    """Turn pixels with white = 1 into uint8, cut off at black and white."""
    return np.clip(np.rint(255 * pixels), 0, 255).astype(np.uint8)
