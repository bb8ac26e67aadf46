"""What the decoder of PNG files keeps silent about."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final

import numpy as np
from PIL import Image

from lightproof.imaging.decode.guards import Stream

_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Numbers of a pixel, by the kind of color."""

_ONE_PASS: Final = ((0, 0, 1, 1),)
_ADAM7: Final = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""The passes of an interlaced file: first column, first row, and the steps to the next ones."""


def check_sums(contents: bytes) -> None:
    """Refuse a file with a wrong checksum, or without its end.

    Parameters
    ----------
    contents : bytes
        The whole file.
    """
    with Image.open(Stream(contents), formats=["PNG"]) as chunks:
        chunks.verify()


def check_whole(image: Image.Image, contents: bytes) -> None:
    """Refuse a file whose data unpack to too few rows: the decoder leaves the others black and says nothing.

    Parameters
    ----------
    image : Pillow's image, loaded
    contents : bytes
        The whole file, whose chunks are sound.
    """
    *_, bits, colors, _, _, interlaced = struct.unpack_from(">2I5B", contents, 16)
    last = image.getpixel((image.width - 1, image.height - 1))
    if not interlaced and np.any(last):  # so nobody needs to unpack it once more
        return
    passes = _ADAM7 if interlaced else _ONE_PASS
    sizes = ((-(-(image.width - x) // dx), -(-(image.height - y) // dy)) for x, y, dx, dy in passes)
    depth = bits * _SAMPLES[colors]
    missing = sum(height * (1 + -(-width * depth // 8)) for width, height in sizes if width > 0 and height > 0)
    unpacker = zlib.decompressobj()
    for data in _packed_rows(contents):
        while data and missing > 0:
            missing -= len(unpacker.decompress(data, 2**20))
            data = unpacker.unconsumed_tail
    if missing > 0:
        raise OSError("a truncated file")


def _packed_rows(contents: bytes) -> Iterator[bytes]:
    position = 8
    while position < len(contents):
        size = int.from_bytes(contents[position : position + 4])
        if contents[position + 4 : position + 8] == b"IDAT":
            yield contents[position + 8 : position + 8 + size]
        position += 12 + size
