"""A photo as it lies in the file -> upright, by the note of the camera."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from lightproof.imaging.decode.guards import MOST_NOTES

_TURNS: Final[dict[object, Callable[[NDArray[np.uint8]], NDArray[np.uint8]]]] = {
    2: np.fliplr,
    3: lambda image: image[::-1, ::-1],
    4: np.flipud,
    5: np.transpose,
    6: lambda image: np.rot90(image, -1),
    7: lambda image: image[::-1, ::-1].T,
    8: np.rot90,
}
"""What makes a photo upright, by the orientation that the camera noted."""


def upright(grey: NDArray[np.uint8], image: Image.Image) -> NDArray[np.uint8]:
    """Turn grey values as the file says.

    Parameters
    ----------
    grey : ndarray of shape (h, w), uint8
    image : Pillow's image, loaded
        Which they are from.

    Returns
    -------
    ndarray of shape (h, w) or (w, h), uint8
        In rows.
    """
    turn = _TURNS.get(_orientation(image), np.asarray)
    return np.ascontiguousarray(turn(grey))


def _orientation(image: Image.Image) -> object:
    if len(image.info.get("exif", b"")) > MOST_NOTES:  # Pillow unpacks all of them
        return None
    try:
        return image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # spoiled notes of the camera do not spoil the picture
        return None
