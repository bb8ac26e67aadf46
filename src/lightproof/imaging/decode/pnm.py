"""PNM files and files of bare bytes: the commonest need no decoder, and the rare ones Pillow reads slowly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lightproof.errors import BadImage
from lightproof.imaging.decode.files import contents_of
from lightproof.imaging.decode.format_guards import check_size

_MOST_TEXT: Final = 8 * 2**20  # bytes of a picture written as text, which is slow to read

_PLAIN: Final = re.compile(rb"P5\s{1,9}(\d{1,5})\s{1,9}(\d{1,5})\s{1,9}255\s")


def plain_grey(contents: bytes, where: str, most: int | None) -> NDArray[np.uint8] | None:
    """Read a file of grey bytes under a plain header, as most data sets of faces come; the array is nobody else's.

    Returns None for another kind of file, or one that has fewer pixels than it says.
    """
    head = _PLAIN.match(contents)
    if not head:
        return None
    width, height = map(int, head.groups())
    check_size(width, height, contents, where, most)
    if not 0 < width * height <= len(contents) - head.end():
        return None
    return np.frombuffer(contents, np.uint8, width * height, head.end()).reshape(height, width).copy()


def without_comments(contents: bytes, where: str) -> bytes:
    """Cut the comments out of a whole file if it is written as text: Pillow copies all that follows each of them."""
    if contents[1] not in b"123":
        return contents
    if len(contents) > _MOST_TEXT:
        raise BadImage(where, f"a file of at most {_MOST_TEXT} bytes where it is a text", f"{len(contents)}")
    return re.sub(rb"#[^\r\n]*", b"", contents)


def has_odd_white(image: Any) -> bool:
    """Tell of an image, not yet loaded, whether its white is neither 255 nor 65535: Pillow scales pixel by pixel."""
    return bool(image.tile) and image.tile[0][0] == "ppm"


def with_white_of_255(image: Any, contents: bytes) -> Image.Image:
    """Read a picture of odd white from its whole file, given Pillow's image of it, not yet loaded."""
    offset, (_, white) = image.tile[0][2:]
    shape = (image.height, image.width, len(image.getbands()))
    values = np.frombuffer(contents, ">u2" if white > 255 else "u1", np.prod(shape), offset).reshape(shape)
    eight_bits = np.minimum(np.rint(np.arange(65536) * 255 / white), 255).astype(np.uint8)
    return Image.fromarray(eight_bits[values].squeeze(2) if shape[2] == 1 else eight_bits[values])


def read_raw_grey(path: Path, height: int, width: int) -> NDArray[np.uint8]:
    """Read a file of bare red, green and blue bytes as grey values.

    Such a file does not say whether it holds three pictures one after the other or three bytes for each pixel. Read
    the wrong way, neighboring pixels have little in common; so the reading with the smaller total variation is taken.
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
