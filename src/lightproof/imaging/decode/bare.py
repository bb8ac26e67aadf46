"""A file of bare bytes -> grey image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lightproof.errors import BadImage
from lightproof.imaging.decode.files import contents_of


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
    contents, where = contents_of(path, None, legal)
    numbers = np.frombuffer(contents, np.uint8)
    if numbers.size != height * width * 3:
        raise BadImage(where, legal, f"{numbers.size} bytes")
    by_plane = numbers.reshape(3, height, width).transpose(1, 2, 0)
    by_pixel = numbers.reshape(height, width, 3)
    colors = min(by_plane, by_pixel, key=_total_variation)
    return np.array(Image.fromarray(np.ascontiguousarray(colors)).convert("L"))


def _total_variation(colors: NDArray[np.uint8]) -> float:
    values = colors.astype(np.int16)
    return float(np.abs(np.diff(values, axis=0)).sum() + np.abs(np.diff(values, axis=1)).sum())
