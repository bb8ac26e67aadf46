"""Pillow's modes -> grey values of eight bits."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageChops, ImageCms

from lightproof.core.images import BRIGHTEST, ROUNDING
from lightproof.errors import BadImage

BEHIND: Final = 128
"""What is seen through transparent pixels: mid-grey, which is neither shadow nor glare, whatever lies hidden there."""

_WHITES: Final = ((BRIGHTEST, 1.0), (255.0, 255.0), (65535.0, 65535.0))
"""The brightest pixel that still speaks for a scale, and white in that scale."""


def grey_of(image: Any, where: str) -> NDArray[np.uint8]:
    """Return the grey values of a picture.

    Parameters
    ----------
    image : Pillow's image, loaded
    where : str
        What an error calls it.

    Returns
    -------
    ndarray of shape (h, w), uint8
        Writable, and nobody else's.
    """
    # Pillow would cut everything above 255 off, and floats to whole numbers.
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PPM"):
        return _upper_eight(image)
    if image.mode in {"I", "F"}:
        return _scaled(np.asarray(image), where)
    if image.mode == "LAB":
        profiles = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        image = ImageCms.profileToProfile(image, *profiles, outputMode="RGB")
    if image.mode == "CMYK" and image.format == "JPEG" and "adobe" not in image.info:
        image = ImageChops.invert(image)  # Adobe writes ink as light, and Pillow takes every JPEG file for Adobe's
    if image.has_transparency_data:
        return _before_grey(image, where)
    return np.array(image.convert("L"))


def _upper_eight(image: Any) -> NDArray[np.uint8]:
    tags = getattr(image, "tag_v2", {})
    surplus = 4 if tags.get(ExifTags.Base.BitsPerSample) == (12,) else 8
    grey: NDArray[np.uint8] = (np.asarray(image) >> surplus).astype(np.uint8)
    zero_is_white = tags.get(ExifTags.Base.PhotometricInterpretation) == 0  # Pillow forgets to turn it
    return ~grey if zero_is_white else grey


def _before_grey(image: Image.Image, where: str) -> NDArray[np.uint8]:
    image = image.convert("RGBA")
    alpha = image.getchannel("A")
    if not alpha.getbbox():
        raise BadImage(where, "a picture that can be seen", "only transparent pixels")
    return np.array(Image.composite(image.convert("L"), Image.new("L", image.size, BEHIND), alpha))


def _scaled(values: NDArray[np.int32] | NDArray[np.float32], where: str) -> NDArray[np.uint8]:
    whites = _WHITES if values.dtype.kind == "f" else _WHITES[1:]
    lowest, highest = float(values.min()), float(values.max())  # both NaN where any pixel is
    white = next((white for limit, white in whites if highest <= limit), None)
    if white is None or lowest < -ROUNDING * white:
        names = ", ".join(f"{white:g}" for _, white in whites)
        raise BadImage(
            where, f"a picture from 0 to white, which is one of {names}", f"values from {lowest:g} to {highest:g}"
        )
    grey: NDArray[np.uint8] = np.clip(np.rint(values * (255 / white)), 0, 255).astype(np.uint8)
    return grey
