"""What a JPEG, PNG, WebP, TIFF or other picture file is refused for, most of it before a pixel is unpacked.

A guard that knows no better sentence raises an `OSError`; :func:`lightproof.imaging.decode.read_grey` makes a
`BadImage` of it.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any, Final, Literal

import numpy as np
from PIL import ExifTags, Image, ImageChops

from lightproof.errors import BadImage, TooManyPixels
from lightproof.imaging.decode.files import READABLE

# --- Every format

ENDINGS: Final = frozenset(
    {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".pbm", ".pgm", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}
)
"""File name endings of pictures, in small or capital letters; a folder's other files are left out."""

MOST_PIXELS: Final = 120_000_000  # of a picture that is unpacked; phones take up to 108 million, or a little more
MOST_SIDE: Final = 65_535  # the longest side of a picture; no JPEG can have a longer one
MOST_NOTES: Final = 2**20  # bytes of a camera's notes; honest ones have less than 2**16
_MOST_READS: Final = 1_000_000  # pieces a decoder may ask for; honest files need some thousands
_PIXELS_PER_BYTE: Final = 4096  # no photograph beyond the next number of pixels is packed that tightly
_PACKED_FREELY: Final = 2**24

_STARTS: Final = {
    "JPEG": re.compile(rb"\xff\xd8\xff", re.DOTALL),
    "PNG": re.compile(rb"\x89PNG\r\n\x1a\n", re.DOTALL),
    "WEBP": re.compile(rb"RIFF....WEBPVP8[ LX]", re.DOTALL),
    "TIFF": re.compile(rb"II[*+]\0|MM\0[*+]", re.DOTALL),
    "BMP": re.compile(rb"BM", re.DOTALL),
    "GIF": re.compile(rb"GIF8[79]a", re.DOTALL),
    "PPM": re.compile(rb"P[1-6f]\s", re.DOTALL),
}
"""How a file of each format begins, by Pillow's name for it."""

_OTHERS: Final = {
    "a HEIF photo or a video": re.compile(rb"....ftyp", re.DOTALL),
    "a PDF file": re.compile(rb"%PDF", re.DOTALL),
    "a ZIP file": re.compile(rb"PK", re.DOTALL),
}
"""What people take for a picture most often."""


def format_of(contents: bytes, where: str) -> str:
    """Return Pillow's name for the format of a file, whatever its name ends in; refuse all other formats."""
    for name, start in _STARTS.items():
        if start.match(contents):
            return name
    unknown = "something else" if contents else "an empty file"
    got = next((other for other, start in _OTHERS.items() if start.match(contents)), unknown)
    raise BadImage(where, "a JPEG, PNG, WebP, TIFF, BMP, GIF, PBM, PGM or PPM picture", got)


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


def check_size(width: int, height: int, contents: bytes, where: str, most: int | None = None) -> None:
    """Refuse a picture that is too large, or much too large for its file.

    ``most`` is a lower limit of pixels than the one for all pictures.
    """
    limit = MOST_PIXELS if most is None else min(most, MOST_PIXELS)
    if width * height > limit or max(width, height) > MOST_SIDE:
        raise TooManyPixels(where, size_limit(limit), f"{height} x {width}")
    if width * height > max(_PACKED_FREELY, _PIXELS_PER_BYTE * len(contents)):
        raise BadImage(where, READABLE, f"{height} x {width} pixels in {len(contents)} bytes")


def size_limit(pixels: int) -> str:
    """Say how large a picture may be."""
    return f"a picture of at most {pixels} pixels and {MOST_SIDE} a side"


def check_gaps(image: Any) -> None:
    """Refuse an image, not yet loaded, whose tiles of bare pixels leave gaps: Pillow silently leaves them black."""
    boxes = [tile[1] for tile in image.tile if tile[0] == "raw"]
    if not boxes:
        return
    planar = image.format == "TIFF" and image.tag_v2.get(ExifTags.Base.PlanarConfiguration) == 2
    layers = len(image.getbands()) if planar else 1
    covered = sum((right - left) * (bottom - top) for left, top, right, bottom in boxes)
    if covered < image.width * image.height * layers:
        raise OSError("a truncated file")


# --- JPEG

_MOST_SCANNED: Final = 20 * MOST_PIXELS  # pixels of all scans; cameras write up to 10 scans or so
_MOST_SEGMENTS: Final = 20_000

_MARKER: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")  # but for the restarts within a scan
_END, _SCAN, _NOTES = 0xD9, 0xDA, 0xE1
_HEADERS: Final = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

_NOISE: Final = bytes(range(7, 251, 3))
_MORE_SCAN: Final = _NOISE + b"".join(bytes([0xFF, 0xD0 + n]) + _NOISE for n in range(8)) + b"\xff\xd9"
"""Goes on with a scan that came to its end too early, also at a restart; a whole scan does not mind it."""


def check_jpeg_work(contents: bytes, where: str) -> None:
    """Refuse a JPEG that would keep the decoder busy for hours: each scan goes over the whole picture once more."""
    scans = notes = pixels = 0
    for number, (_, start) in enumerate(_jpeg_segments(contents)):
        marker = start[1]
        scans += marker == _SCAN
        notes += int.from_bytes(start[2:4]) if marker == _NOTES and start[4:8] == b"Exif" else 0
        if marker in _HEADERS:  # the decoder might take any of several
            width, height = int.from_bytes(start[7:9]), int.from_bytes(start[5:7])
            check_size(width, height, contents, where)
            pixels = max(pixels, width * height)
        if scans * pixels > _MOST_SCANNED or number > _MOST_SEGMENTS or notes > MOST_NOTES:
            raise OSError("too many scans, segments or notes")


def check_jpeg_whole(image: Image.Image, contents: bytes) -> None:
    """Refuse a loaded JPEG whose data stop too early: the decoder silently fills the rest with mid-grey.

    Where the last pixel is mid-grey, we give the decoder more data. If they change the picture, it was not complete.
    """
    last = image.getpixel((image.width - 1, image.height - 1))
    if not {127, 128}.issuperset(last if isinstance(last, tuple) else (last,)):
        return
    end = max((start for start, _ in _jpeg_segments(contents)), default=0)
    with Image.open(Stream(contents[:end] + _MORE_SCAN), formats=["JPEG"]) as longer:
        if ImageChops.difference(image, longer).getbbox():
            raise OSError("a truncated file")


def _jpeg_segments(contents: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the start and the first bytes of each segment of the first picture in the file."""
    position = 2
    while marker := _MARKER.search(contents, position):
        yield marker.start(), contents[marker.start() : marker.start() + 12]
        if contents[marker.start() + 1] == _END:  # others may follow
            return
        position = marker.end() + int.from_bytes(contents[marker.end() : marker.end() + 2])


# --- PNG

_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # numbers of a pixel, by the kind of color
_ONE_PASS: Final = ((0, 0, 1, 1),)
_ADAM7: Final = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""The passes of an interlaced file: first column, first row, and the steps to the next ones."""


def check_png_sums(contents: bytes) -> None:
    """Refuse a PNG with a wrong checksum, or without its end."""
    with Image.open(Stream(contents), formats=["PNG"]) as chunks:
        chunks.verify()


def check_png_whole(image: Image.Image, contents: bytes) -> None:
    """Refuse a loaded PNG of sound chunks that unpack to too few rows: the decoder silently leaves the others black."""
    *_, bits, colors, _, _, interlaced = struct.unpack_from(">2I5B", contents, 16)
    last = image.getpixel((image.width - 1, image.height - 1))
    if not interlaced and np.any(last):  # complete: no need to unpack it once more
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


# --- TIFF

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


def check_tiff_directories(contents: bytes) -> None:
    """Refuse a TIFF whose directories would fill the memory with numbers, or whose tiles would fill it with pixels."""
    order: _Order = "little" if contents[:1] == b"I" else "big"
    big = 43 in contents[2:4]
    directories, numbers = [int.from_bytes(contents[8:16] if big else contents[4:8], order)], 0
    for directory in directories:  # it grows below
        for tag, kind, count, value in _tiff_entries(contents, directory, order, big):
            numbers += 1 if kind in _NOT_UNPACKED else 1 + count
            first = int.from_bytes(value[: _SIZES.get(kind, 0)], order)
            if tag in _FURTHER_DIRECTORIES and first not in directories:
                directories.append(first)
            too_large = tag in _LARGEST and (count > 1 or first > _LARGEST[tag])
            if too_large or numbers > _MOST_NUMBERS or len(directories) > _MOST_DIRECTORIES:
                raise OSError("too many entries, numbers or samples, or too large tiles")


def _tiff_entries(contents: bytes, start: int, order: _Order, big: bool) -> Iterator[tuple[int, int, int, bytes]]:
    """Return tag, type, count and value of each entry of a directory."""
    head, layout = (8, "HHQ8s") if big else (2, "HHL4s")
    entry = struct.Struct(("<" if order == "little" else ">") + layout)
    count = int.from_bytes(contents[start : start + head], order)
    entries = contents[start + head : start + head + count * entry.size]
    return entry.iter_unpack(entries[: len(entries) // entry.size * entry.size])


# --- WebP


def webp_size(contents: bytes) -> tuple[int, int]:
    """Return width and height from the header: Pillow makes room for a WebP picture as soon as it opens the file."""

    def number(start: int, end: int) -> int:
        return int.from_bytes(header[start:end], "little")

    header = contents[:30].ljust(30, b"\0")
    if header[15:16] == b"X":
        return number(24, 27) + 1, number(27, 30) + 1
    if header[15:16] == b"L":
        both = number(21, 25)
        return (both & 0x3FFF) + 1, (both >> 14 & 0x3FFF) + 1
    return number(26, 28) & 0x3FFF, number(28, 30) & 0x3FFF
