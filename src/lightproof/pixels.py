"""File -> grey image; the only door for image formats."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from lightproof.errors import BadImage
from lightproof.images import BRIGHTEST, ROUNDING

_TURNS: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes a photo upright, by the orientation that the camera noted."""

_WHITES: Final = ((BRIGHTEST, 1.0), (255.0, 255.0), (65535.0, 65535.0))
"""The brightest pixel that still speaks for a scale, and white in that scale."""


def read_grey(path: Path) -> NDArray[np.uint8]:
    """Read an image file as grey values, turned upright where the file says how it was held.

    Sixteen bits keep their upper eight. A file of floats does not say what white is: up to 10 it is 1, and light beyond
    it is cut off; up to 255 it is 255, and up to 65535 it is 65535. So for a file of 32-bit whole numbers, but for 1.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ndarray of shape (h, w), uint8
    """
    try:
        with warnings.catch_warnings():
            # Spoiled notes of the camera do not spoil the picture.
            warnings.filterwarnings("ignore", category=UserWarning, module="PIL")
            with Image.open(path) as image:
                return _grey(_upright(image), path)
    except BadImage:
        raise
    except Exception as problem:  # decoders meet a broken file with almost any error
        raise BadImage(str(path), "a readable image file", str(problem) or type(problem).__name__) from None


def read_raw_grey(path: Path, height: int, width: int) -> NDArray[np.uint8]:
    """Read a file of bare red, green and blue bytes as grey values.

    Such a file does not say whether it holds three pictures one after the other or three bytes for each pixel. Read
    the wrong way, neighbors are strangers; so the reading with the smaller total variation is taken.

    Parameters
    ----------
    path : Path
    height, width : int
        Of the picture.

    Returns
    -------
    ndarray of shape (h, w), uint8
    """
    legal = f"a file of {height} x {width} x 3 bytes"
    try:
        numbers = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as problem:
        raise BadImage(str(path), legal, str(problem)) from None
    if numbers.size != height * width * 3:
        raise BadImage(str(path), legal, f"{numbers.size} bytes")
    by_plane = numbers.reshape(3, height, width).transpose(1, 2, 0)
    by_pixel = numbers.reshape(height, width, 3)
    colors = min(by_plane, by_pixel, key=_total_variation)
    return np.asarray(Image.fromarray(np.ascontiguousarray(colors)).convert("L"))


def _upright(image: Image.Image) -> Image.Image:
    image.load()  # some formats turn the picture themselves here, and then forget the note
    turn = _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    return image if turn is None else image.transpose(turn)


def _grey(image: Image.Image, path: Path) -> NDArray[np.uint8]:
    # Pillow would cut everything above 255 off, and floats to whole numbers.
    if image.mode in {"I", "F"}:
        return _scaled(np.asarray(image), path)
    if image.mode.startswith("I;16"):
        return (np.asarray(image) >> 8).astype(np.uint8)
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    return np.asarray(image.convert("L"))


def _scaled(values: NDArray[np.int32] | NDArray[np.float32], path: Path) -> NDArray[np.uint8]:
    whites = _WHITES if values.dtype.kind == "f" else _WHITES[1:]
    lowest, highest = float(values.min()), float(values.max())  # both NaN where any pixel is
    white = next((white for limit, white in whites if highest <= limit), None)
    if white is None or lowest < -ROUNDING * white:
        names = ", ".join(f"{white:g}" for _, white in whites)
        raise BadImage(
            str(path), f"a picture from 0 to white, which is one of {names}", f"values from {lowest:g} to {highest:g}"
        )
    grey: NDArray[np.uint8] = np.clip(np.rint(values * (255 / white)), 0, 255).astype(np.uint8)
    return grey


def _total_variation(colors: NDArray[np.uint8]) -> float:
    values = colors.astype(np.int16)
    return float(np.abs(np.diff(values, axis=0)).sum() + np.abs(np.diff(values, axis=1)).sum())
