"""What a TIFF file may do to its decoder."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, Literal

from PIL import ExifTags

from lightproof.imaging.decode.guards import MOST_SIDE

_Order = Literal["little", "big"]

_MOST_NUMBERS: Final = 200_000  # and entries together; a strip for each row has two numbers a row
_MOST_DIRECTORIES: Final = 9  # cameras write up to 4
_LARGEST: Final[dict[int, int]] = {
    ExifTags.Base.TileWidth: MOST_SIDE,
    ExifTags.Base.TileLength: MOST_SIDE,
    ExifTags.Base.SamplesPerPixel: 6,
}
"""The largest value of an entry; libtiff makes room for whole tiles, and Pillow complains of samples aloud."""

_FURTHER_DIRECTORIES: Final = {ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo, ExifTags.IFD.Interop}
"""The entries that lead to directories which Pillow reads too."""

_SIZES: Final = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
"""Bytes of a number, by its type."""

_NOT_UNPACKED: Final = {1, 2, 7}
"""The types of bytes and texts."""


def check_directories(contents: bytes) -> None:
    """Refuse directories that would fill the memory with numbers, and tiles that would fill it with pixels.

    Parameters
    ----------
    contents : bytes
        The whole file.
    """
    order: _Order = "little" if contents[:1] == b"I" else "big"
    big = 43 in contents[2:4]
    directories, numbers = [int.from_bytes(contents[8:16] if big else contents[4:8], order)], 0
    for directory in directories:  # it grows below
        for tag, kind, count, value in _entries(contents, directory, order, big):
            numbers += 1 if kind in _NOT_UNPACKED else 1 + count
            first = int.from_bytes(value[: _SIZES.get(kind, 0)], order)
            if tag in _FURTHER_DIRECTORIES and first not in directories:
                directories.append(first)
            too_large = tag in _LARGEST and (count > 1 or first > _LARGEST[tag])
            if too_large or numbers > _MOST_NUMBERS or len(directories) > _MOST_DIRECTORIES:
                raise OSError("too many entries, numbers or samples, or too large tiles")


def _entries(contents: bytes, start: int, order: _Order, big: bool) -> Iterator[tuple[int, int, int, bytes]]:
    """Return tag, type, count and value of each entry of a directory."""
    head, layout = (8, "HHQ8s") if big else (2, "HHL4s")
    entry = struct.Struct(("<" if order == "little" else ">") + layout)
    count = int.from_bytes(contents[start : start + head], order)
    entries = contents[start + head : start + head + count * entry.size]
    return entry.iter_unpack(entries[: len(entries) // entry.size * entry.size])
