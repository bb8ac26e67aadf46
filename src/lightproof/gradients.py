"""Image -> horizontal and vertical differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lightproof.types import Floats


def sobel(images: Floats) -> Floats:
    """Sobel 3 x 3 differences with a reflect-101 border, not scaled, as the authors' code takes them.

    The border repeats the picture mirrored about its last row and column, so the outermost difference across a border
    is 0 whatever the light: patches that touch the border do not follow the model of eq. (imageSpace) exactly.

    Parameters
    ----------
    images : ndarray of shape (..., h, w)
        At least 2 x 2 pixels each.

    Returns
    -------
    ndarray of shape (..., 2, h, w)
        The horizontal difference first (positive to the right), then the vertical one (positive downward).
    """
    bordered = _reflect_101(images)
    out = np.empty((*images.shape[:-2], 2, *images.shape[-2:]), images.dtype)
    smooth_down = _one_two_one(np.swapaxes(bordered, -1, -2))
    np.subtract(smooth_down[..., 2:, :], smooth_down[..., :-2, :], out=np.swapaxes(out[..., 0, :, :], -1, -2))
    smooth_across = _one_two_one(bordered)
    np.subtract(smooth_across[..., 2:, :], smooth_across[..., :-2, :], out=out[..., 1, :, :])
    return out


def central_differences(images: Floats) -> Floats:
    """Half the difference of the two neighbors; at the border, the one-sided difference.

    Exact for a ramp of light everywhere, the border included.

    Parameters
    ----------
    images : ndarray of shape (..., h, w)
        At least 2 x 2 pixels each.

    Returns
    -------
    ndarray of shape (..., 2, h, w)
        The horizontal difference first (positive to the right), then the vertical one (positive downward).
    """
    return np.stack([np.gradient(images, axis=-1), np.gradient(images, axis=-2)], axis=-3)


GRADIENTS: Final[dict[str, Callable[[Floats], Floats]]] = {"sobel": sobel, "central": central_differences}


def _one_two_one(bordered: Floats) -> Floats:
    """Sum neighbors along the last axis with weights 1, 2, 1: (..., h, w + 2) -> (..., h, w)."""
    out = bordered[..., 1:-1] * bordered.dtype.type(2)
    out += bordered[..., :-2]
    out += bordered[..., 2:]
    return out


def _reflect_101(images: Floats) -> Floats:
    """Add one pixel on every side, mirrored about the outermost row and column."""
    height, width = images.shape[-2:]
    # Written out because np.pad takes as long as the Sobel sums themselves.
    out = np.empty((*images.shape[:-2], height + 2, width + 2), images.dtype)
    out[..., 1:-1, 1:-1] = images
    out[..., 0, 1:-1] = images[..., 1, :]
    out[..., -1, 1:-1] = images[..., -2, :]
    out[..., :, 0] = out[..., :, 2]
    out[..., :, -1] = out[..., :, -3]
    return out
