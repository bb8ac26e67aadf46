"""File -> grey image; the only door for image formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from lightproof.errors import BadImage


def read_grey(path: Path) -> NDArray[np.uint8]:
    """Read an image file as grey values.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ndarray of shape (h, w), uint8
    """
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("L"))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as problem:
        raise BadImage(str(path), "a readable image file", str(problem)) from None
