"""Contents -> the format, whatever the file is called."""

from __future__ import annotations

import re
from typing import Final

from lightproof.errors import BadImage

ENDINGS: Final = frozenset(
    {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".pbm", ".pgm", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}
)
"""What the name of a picture ends in, in small or capital letters; in a folder other files are left out."""

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
    """Return Pillow's name for the format of a file.

    Parameters
    ----------
    contents : bytes
    where : str
        What an error calls the file.

    Returns
    -------
    str
    """
    if name := _first_that_fits(contents, _STARTS):
        return name
    got = _first_that_fits(contents, _OTHERS) or ("something else" if contents else "an empty file")
    raise BadImage(where, "a JPEG, PNG, WebP, TIFF, BMP, GIF, PBM, PGM or PPM picture", got)


def _first_that_fits(contents: bytes, starts: dict[str, re.Pattern[bytes]]) -> str | None:
    return next((name for name, start in starts.items() if start.match(contents)), None)
