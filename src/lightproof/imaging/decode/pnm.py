"""PNM files: the commonest need no decoder, and the rare ones Pillow reads slowly."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lightproof.errors import BadImage
from lightproof.imaging.decode.guards import check_size

_MOST_TEXT: Final = 8 * 2**20  # bytes of a picture written as text, which is slow to read


_BARE: Final = re.compile(rb"P5\s{1,9}(\d{1,5})\s{1,9}(\d{1,5})\s{1,9}255\s")


def bare_grey(contents: bytes, where: str, most: int | None) -> NDArray[np.uint8] | None:
    """Read a file of grey bytes under a plain header, as most data sets of faces come.

    Parameters
    ----------
    contents : bytes
        The whole file.
    where : str
        What an error calls it.
    most : int, optional
        Pixels it may have, where that is fewer than anywhere.

    Returns
    -------
    ndarray of shape (h, w), uint8, or None
        Writable, and nobody else's. None if it is another kind of file, or has fewer pixels than it says.
    """
    head = _BARE.match(contents)
    if not head:
        return None
    width, height = map(int, head.groups())
    check_size(width, height, contents, where, most)
    if not 0 < width * height <= len(contents) - head.end():
        return None
    return np.frombuffer(contents, np.uint8, width * height, head.end()).reshape(height, width).copy()


def without_comments(contents: bytes, where: str) -> bytes:
    """Cut the comments out of a picture that is written as text.

    Pillow cuts them out one by one, and copies what is left each time.

    Parameters
    ----------
    contents : bytes
        The whole file.
    where : str
        What an error calls it.

    Returns
    -------
    bytes
        All contents where they are no text.
    """
    if contents[1] not in b"123":
        return contents
    if len(contents) > _MOST_TEXT:
        raise BadImage(where, f"a file of at most {_MOST_TEXT} bytes where it is a text", f"{len(contents)}")
    return re.sub(rb"#[^\r\n]*", b"", contents)


def has_odd_white(image: Any) -> bool:
    """Tell whether white is neither 255 nor 65535, which Pillow would bring to it pixel by pixel.

    Parameters
    ----------
    image : Pillow's image, not yet loaded

    Returns
    -------
    bool
    """
    return bool(image.tile) and image.tile[0][0] == "ppm"


def with_white_of_255(image: Any, contents: bytes) -> Image.Image:
    """Read a picture of odd white.

    Parameters
    ----------
    image : Pillow's image, not yet loaded
    contents : bytes
        The whole file.

    Returns
    -------
    Pillow's image
    """
    offset, (_, white) = image.tile[0][2:]
    shape = (image.height, image.width, len(image.getbands()))
    values = np.frombuffer(contents, ">u2" if white > 255 else "u1", np.prod(shape), offset).reshape(shape)
    eight_bits = np.minimum(np.rint(np.arange(65536) * 255 / white), 255).astype(np.uint8)
    return Image.fromarray(eight_bits[values].squeeze(2) if shape[2] == 1 else eight_bits[values])
