"""Image -> image with less of the light in it.

To add a normalizer, write a function from images in [0, 1] to images and enter it in :data:`LIGHTS`; every estimator
and command then offers it by that name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lightproof.errors import BadImage
from lightproof.images import ROUNDING
from lightproof.types import Floats


def none(images: Floats) -> Floats:
    """Return the images as they are."""
    return images


def log(images: Floats) -> Floats:
    r"""Logarithm of the pixels: :math:`\log(1 + 255 I) / \log 256`, from [0, 1] to [0, 1].

    The authors' released code uses the same curve, scaled to 0..255.

    Parameters
    ----------
    images : ndarray of shape (..., h, w)
        Pixels in [0, 1].

    Returns
    -------
    ndarray of shape (..., h, w)
    """
    low, high = float(images.min()), float(images.max())
    # Resizing may leave [0, 1] by rounding; a picture in 0..255 leaves it by far and would be bent wrongly.
    if low < -ROUNDING or high > 1 + ROUNDING:
        raise BadImage("Pixels for light='log'", "within [0, 1]", f"{low:.6g} to {high:.6g}")
    return np.log1p(255 * np.clip(images, 0, 1)) / images.dtype.type(np.log(256))


LIGHTS: Final[dict[str, Callable[[Floats], Floats]]] = {"none": none, "log": log}
