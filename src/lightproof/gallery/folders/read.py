"""What the files of a folder hold, read by whoever works."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from lightproof.core.executors import Task
from lightproof.errors import BadImage, DatasetMissing
from lightproof.gallery.enrollment import hash_of
from lightproof.gallery.folders.ownership import Picture
from lightproof.imaging.decode import contents_of, in_one_line

READ: Final = 120
"""Files that are read in one go."""


class Read(NamedTuple):
    """What a file holds, as a hash; empty where it could not be read, and then why."""

    hash: str
    problem: str = ""


class File(Protocol):
    """A file somewhere in a folder."""

    @property
    def source(self) -> str:
        """Its place in the folder."""

    @property
    def path(self) -> str:
        """Where it is."""


def reading(folder: str) -> Task[list[Picture], list[Read]]:
    """Tell how some files of a folder are read."""
    return Task(
        do=partial(read, folder=folder),
        parts=lambda files: [[file] for file in files],
        lost=lambda files, deaths: [Read("", f"; got {deaths} dead workers") for _ in files],
    )


def read(files: Sequence[Picture], folder: str) -> list[Read]:
    """Read some files of a folder, which must be there."""
    check_visible(folder)
    return [_read(file) for file in files]


def check_visible(folder: str) -> None:
    """Refuse to work where the folder is not to be seen; where it is, a file may still be missing."""
    if not os.path.isdir(folder):
        raise DatasetMissing(Path(folder), "a folder that every worker sees under this path", "none there")


def why_unread(file: File, problem: str) -> str:
    """Tell why a file was not read: if it can be read here, whoever worked is to blame."""
    try:
        contents_of(file.path, file.source)
    except BadImage as mistake:
        return str(mistake)
    got = problem.rpartition("; got ")[2].rstrip(".")
    return str(BadImage(in_one_line(file.source), "a file that every worker can read", got))


def _read(file: Picture) -> Read:
    try:
        return Read(hash_of(contents_of(file.path, file.source)[0]))
    except BadImage as mistake:
        return Read("", str(mistake))
