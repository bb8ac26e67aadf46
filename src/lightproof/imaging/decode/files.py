"""A path, or bytes -> the contents of a plain file of bounded length, and what to call it."""

from __future__ import annotations

import os
import stat
from typing import Final

from lightproof.errors import BadImage

MOST_BYTES: Final = 64 * 2**20  # of a file that is read; the largest photos of phones have half of that
READABLE: Final = "a readable image file"  # what a file must be where nothing better can be said

_LONGEST_NAME: Final = 300  # letters
_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def contents_of(source: object, where: str | None, legal: str = READABLE) -> tuple[bytes, str]:
    """Return the contents of a file, given by its path or as such, and what errors call it, in one line.

    They call it ``where``, else by its path, or "the picture" for contents; ``legal`` says what it must be.
    """
    if isinstance(source, bytes):
        where = in_one_line(where or "the picture", _LONGEST_NAME)
        if len(source) > MOST_BYTES:
            raise _too_long(len(source), where)
        return source, where
    if not isinstance(source, str | os.PathLike):
        raise BadImage("`source`", "the path of an image file, or the bytes of one", f"a {type(source).__name__}")
    path = os.fsdecode(source)
    where = in_one_line(where or path or "an empty path", _LONGEST_NAME)
    try:
        return _plain_file(path, where, legal), where
    except BadImage:
        raise
    except OSError as problem:
        raise BadImage(where, legal, in_one_line(problem.strerror or str(problem))) from None
    except ValueError:  # a null byte, or letters that no file system has
        raise BadImage(where, legal, "a path with letters that no path may have") from None


def in_one_line(text: str, most: int = 120) -> str:
    """Make one printable line of at most ``most`` letters and three dots; of a long path the end says most."""
    if len(text) > most:
        text = f"{text[: most // 3]}...{text[-most // 3 * 2 :]}"
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _plain_file(path: str, where: str, legal: str) -> bytes:
    # Opening a pipe may wait for ever, and opening a device may set it in motion: so we look before we open, and once
    # more after it, because somebody may have exchanged the two in between.
    _check_plain(os.stat(path), where, legal)
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | _NO_WAITING)) as file:
        status = os.fstat(file.fileno())
        _check_plain(status, where, legal)
        return file.read(status.st_size)  # no more, even if the file has grown


def _check_plain(status: os.stat_result, where: str, legal: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise BadImage(where, legal, "a folder")
    if not stat.S_ISREG(status.st_mode):
        raise BadImage(where, legal, "a pipe, a socket or a device")
    if status.st_size > MOST_BYTES:
        raise _too_long(status.st_size, where)


def _too_long(length: int, where: str) -> BadImage:
    return BadImage(where, f"a file of at most {MOST_BYTES} bytes", f"{length}")
