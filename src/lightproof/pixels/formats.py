"""Contents -> the format, whatever the file is called."""

from __future__ import annotations

import re
from typing import Final

from lightproof.errors import BadImage

_STARTS: Final = {
    "JPEG": rb"\xff\xd8\xff",
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "WEBP": rb"RIFF....WEBPVP8[ LX]",
    "TIFF": rb"II[*+]\0|MM\0[*+]",
    "BMP": rb"BM",
    "GIF": rb"GIF8[79]a",
    "PPM": rb"P[1-6f]\s",
}
"""How a file of each format begins, by Pillow's name for it."""

_OTHERS: Final = {"a HEIF photo or a video": rb"....ftyp", "a PDF file": rb"%PDF", "a ZIP file": rb"PK"}
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


def _first_that_fits(contents: bytes, starts: dict[str, bytes]) -> str | None:
    return next((name for name, start in starts.items() if re.match(start, contents, re.DOTALL)), None)
