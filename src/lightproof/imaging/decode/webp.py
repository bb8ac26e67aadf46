"""The size of a WebP picture, before Pillow makes room for it as soon as it opens the file."""

from __future__ import annotations


def size_of(contents: bytes) -> tuple[int, int]:
    """Return width and height as the header says.

    Parameters
    ----------
    contents : bytes
        The whole file, or less.

    Returns
    -------
    width, height : int
    """
    header = contents[:30].ljust(30, b"\0")
    if header[15:16] == b"X":
        return _number(header[24:27]) + 1, _number(header[27:30]) + 1
    if header[15:16] == b"L":
        both = _number(header[21:25])
        return (both & 0x3FFF) + 1, (both >> 14 & 0x3FFF) + 1
    return _number(header[26:28]) & 0x3FFF, _number(header[28:30]) & 0x3FFF


def _number(digits: bytes) -> int:
    return int.from_bytes(digits, "little")
