"""What a JPEG file may do to its decoder, and what its decoder keeps silent about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from PIL import Image, ImageChops

from lightproof.imaging.decode.guards import MOST_NOTES, MOST_PIXELS, Stream, check_size

_MOST_WORK: Final = 20 * MOST_PIXELS  # pixels of all scans; cameras write up to 10 scans or so
_MOST_SEGMENTS: Final = 20_000

_MARKER: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")  # but for the restarts within a scan
_END, _SCAN, _NOTES = 0xD9, 0xDA, 0xE1
_HEADERS: Final = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

_NOISE: Final = bytes(range(7, 251, 3))
_MORE_SCAN: Final = _NOISE + b"".join(bytes([0xFF, 0xD0 + n]) + _NOISE for n in range(8)) + b"\xff\xd9"
"""Goes on with a scan that came to its end too early, also at a restart; a whole scan does not mind it."""


def check_work(contents: bytes, where: str) -> None:
    """Refuse what would keep the decoder busy for hours: each scan goes over the whole picture once more.

    Parameters
    ----------
    contents : bytes
        The whole file.
    where : str
        What an error calls it.
    """
    scans = notes = pixels = 0
    for number, (_, start) in enumerate(_segments(contents)):
        marker = start[1]
        scans += marker == _SCAN
        notes += int.from_bytes(start[2:4]) if marker == _NOTES and start[4:8] == b"Exif" else 0
        if marker in _HEADERS:  # the decoder might take any of several
            width, height = int.from_bytes(start[7:9]), int.from_bytes(start[5:7])
            check_size(width, height, contents, where)
            pixels = max(pixels, width * height)
        if scans * pixels > _MOST_WORK or number > _MOST_SEGMENTS or notes > MOST_NOTES:
            raise OSError("too many scans, segments or notes")


def check_whole(image: Image.Image, contents: bytes) -> None:
    """Refuse a file whose data stop before its end: the decoder fills the rest with mid-grey and says nothing.

    Where the last pixel is mid-grey, we give the decoder more data. If they change the picture, it was not complete.

    Parameters
    ----------
    image : Pillow's image, loaded
    contents : bytes
        The whole file.
    """
    last = image.getpixel((image.width - 1, image.height - 1))
    if not {127, 128}.issuperset(last if isinstance(last, tuple) else (last,)):
        return
    end = max((start for start, _ in _segments(contents)), default=0)
    with Image.open(Stream(contents[:end] + _MORE_SCAN), formats=["JPEG"]) as longer:
        if ImageChops.difference(image, longer).getbbox():
            raise OSError("a truncated file")


def _segments(contents: bytes) -> Iterator[tuple[int, bytes]]:
    """Return each segment of the first picture in the file: where it begins, and its first bytes."""
    position = 2
    while found := _MARKER.search(contents, position):
        yield found.start(), contents[found.start() : found.start() + 12]
        if contents[found.start() + 1] == _END:  # others may follow
            return
        position = found.end() + int.from_bytes(contents[found.end() : found.end() + 2])
