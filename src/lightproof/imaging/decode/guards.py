"""The limits that hold for every format, looked at before a pixel is unpacked.

What these guards, and those of each format, raise as an `OSError`, the door makes a sentence of.
"""

from __future__ import annotations

import io
from typing import Any, Final

from PIL import ExifTags

from lightproof.errors import BadImage, TooManyPixels
from lightproof.imaging.decode.files import READABLE

MOST_PIXELS: Final = 120_000_000
"""The largest picture that is unpacked; phones take up to 108 million pixels, or a little more."""

MOST_SIDE: Final = 65_535
"""The longest side of a picture; no JPEG can have a longer one."""

MOST_NOTES: Final = 2**20
"""Bytes of a camera's notes; honest ones have less than 2**16."""

_MOST_READS: Final = 1_000_000  # pieces a decoder may ask for; honest files need some thousands
_PIXELS_PER_BYTE: Final = 4096  # no photograph beyond the next number of pixels is packed that tightly
_PACKED_FREELY: Final = 2**24


class Stream(io.BytesIO):
    """Contents for Pillow that never end silently, and cannot be asked for crumbs without end.

    Pillow can be told, for the whole process, to fill what a truncated file lacks with grey. And its loops over parts
    of a file run in Python: a file of millions of tiny parts would keep them busy for minutes.
    """

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, and at least one of them."""
        self.reads += 1
        if self.reads > _MOST_READS:
            raise OSError("too many tiny parts")
        got = io.BytesIO.read(self, size)
        if size and not got:
            raise OSError("a truncated file")
        return got


def size_limit(most: int | None = None) -> str:
    """Say how large a picture may be.

    Parameters
    ----------
    most : int, optional
        Pixels, where that is fewer than anywhere.

    Returns
    -------
    str
    """
    return f"a picture of at most {_limit(most)} pixels and {MOST_SIDE} a side"


def _limit(most: int | None) -> int:
    return MOST_PIXELS if most is None else min(most, MOST_PIXELS)


def check_size(width: int, height: int, contents: bytes, where: str, most: int | None = None) -> None:
    """Refuse a picture that is too large, or much too large for its file.

    Parameters
    ----------
    width, height : int
        As the header says.
    contents : bytes
        The whole file.
    where : str
        What an error calls it.
    most : int, optional
        Pixels it may have, where that is fewer than anywhere.
    """
    if width * height > _limit(most) or max(width, height) > MOST_SIDE:
        raise TooManyPixels(where, size_limit(most), f"{height} x {width}")
    if width * height > max(_PACKED_FREELY, _PIXELS_PER_BYTE * len(contents)):
        raise BadImage(where, READABLE, f"{height} x {width} pixels in {len(contents)} bytes")


def check_gaps(image: Any) -> None:
    """Refuse tiles of bare pixels that leave gaps: Pillow would leave them black and say nothing.

    Parameters
    ----------
    image : Pillow's image, not yet loaded
    """
    boxes = [tile[1] for tile in image.tile if tile[0] == "raw"]
    if not boxes:
        return
    planar = image.format == "TIFF" and image.tag_v2.get(ExifTags.Base.PlanarConfiguration) == 2
    layers = len(image.getbands()) if planar else 1
    covered = sum((right - left) * (bottom - top) for left, top, right, bottom in boxes)
    if covered < image.width * image.height * layers:
        raise OSError("a truncated file")
