"""Single pictures: a face, a map of patches laid over a face."""

from __future__ import annotations

import io

import numpy as np
from matplotlib import colormaps
from PIL import Image

from lightproof.types import Array, Floats


def png_of(image: Array, scale: int = 1) -> bytes:
    """Encode a grey (h, w) or colour (h, w, 3) uint8 picture, enlarged pixel by pixel."""
    large = np.repeat(np.repeat(image, scale, axis=0), scale, axis=1)
    out = io.BytesIO()
    Image.fromarray(large).save(out, "PNG")
    return out.getvalue()


def overlay_map(image: Array, patch_map: Floats, strength: float = 0.55) -> Array:
    """Lay a map of patches over a face: blue speaks for the answer, red against it.

    Parameters
    ----------
    image : ndarray of shape (h, w), uint8
    patch_map : ndarray of shape (rows, columns)
        Positive speaks for.
    strength : float
        How much of the color covers the face.

    Returns
    -------
    ndarray of shape (h, w, 3), uint8
    """
    # The strongest tenth share one color, so that a single patch does not pale all others.
    top = float(np.quantile(np.abs(patch_map), 0.9)) or 1.0
    color = colormaps["RdBu"](np.clip(0.5 + patch_map / (2 * top), 0, 1))[:, :, :3]
    sheet = Image.fromarray((255 * color).astype(np.uint8)).resize(image.shape[::-1], Image.Resampling.BILINEAR)
    # Dark faces are lifted for the eye only, or the colors would float on black.
    grey = 255 * np.sqrt(image / 255.0)
    mixed = (1 - strength) * grey[:, :, None] + strength * np.asarray(sheet)
    return mixed.astype(np.uint8)
