"""The files of a folder of photos, one folder a person: their names, and hashes of their contents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from lightproof.core.executors import Task
from lightproof.errors import BadImage, BadLabels, DatasetMissing
from lightproof.gallery.enrollment import PhotoFile, hash_of
from lightproof.gallery.store import check_name, storable
from lightproof.imaging.decode import ENDINGS, contents_of, in_one_line

DANGLING: Final = "a link to nothing"

LEGAL: Final = "a folder with a folder of photos for each person (name/photo.jpg)"


class Refused(NamedTuple):
    """A photo that was not enrolled, and why."""

    photo: str
    reason: str


@dataclass
class FolderReport:
    """What came of a folder.

    Attributes
    ----------
    enrolled : int
        Photos that this call added.
    people : int
        People on the added photos.
    known : int
        Photos that were enrolled already.
    refused : list of Refused
        Photos that could not be enrolled now.
    refused_before : list of Refused
        Photos that were refused earlier and not tried again.
    removed : list of str
        Photos that are no longer in the folder, by :meth:`Gallery.sync`.
    gone : list of str
        People who left: all their photos are gone, or lie in other people's folders now.
    ignored : list of Refused
        Files that are no photos of a person.
    dry_run : bool
        Whether nothing was done.
    """

    enrolled: int = 0
    people: int = 0
    known: int = 0
    refused: list[Refused] = field(default_factory=list)
    refused_before: list[Refused] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    ignored: list[Refused] = field(default_factory=list)
    dry_run: bool = False


class FolderScan(NamedTuple):
    """The files of a folder, not yet read, and what is ignored.

    The gallery knows the folder by its name; the path is absolute, because the workers of a cluster stand elsewhere.
    """

    name: str
    path: str
    files: list[PhotoFile]
    ignored: list[Refused]


def scan_folder(folder: str | os.PathLike[str], *, syncing: bool = False) -> FolderScan:
    """List the files of a folder, in order; refuse a folder without a photo.

    For a sync also refuse a link to nothing: behind it there may be people, who must not be lost with their disk.
    """
    top = Path(folder)
    if not top.is_dir():
        raise DatasetMissing(top, LEGAL, "a file" if top.exists() else "no such folder")
    files: list[PhotoFile] = []
    ignored = []
    for parts, path in _files_below(top):
        name = "/".join(parts)
        if any(part.startswith(".") for part in parts):
            continue
        if os.path.splitext(name)[1].lower() not in ENDINGS:
            dangling = os.path.islink(path) and not os.path.exists(path)
            ignored.append(Refused(in_one_line(name), DANGLING if dangling else "not a picture"))
        elif len(parts) < 2:
            ignored.append(Refused(in_one_line(name), "not in a person's folder"))
        else:
            try:
                files.append(PhotoFile(check_name(parts[0]), name, path))
            except BadLabels as mistake:
                ignored.append(Refused(in_one_line(name), str(mistake)))
    if not files:
        raise DatasetMissing(top, LEGAL, "no photo in it")
    links = [file.photo for file in ignored if file.reason == DANGLING]
    if syncing and links:
        raise DatasetMissing(top / links[0], "a link to something", DANGLING)
    return FolderScan(storable(str(top.resolve())), os.path.abspath(folder), files, ignored)


def _files_below(top: Path) -> list[tuple[tuple[str, ...], str]]:
    """List all files below a folder, in order: the parts of their names in it, and their paths.

    Refuses a folder that cannot be listed: it may hold people, who must not be lost.
    """

    def refuse(problem: OSError) -> None:
        unlisted = Path(problem.filename or top)
        raise DatasetMissing(unlisted, "a folder that can be listed", problem.strerror or "an error")

    files: list[tuple[tuple[str, ...], str]] = []
    whole = os.path.abspath(top)
    real: dict[str, str] = {}
    seen = set()
    for folder, below, names in os.walk(whole, onerror=refuse, followlinks=True):
        above, name = os.path.split(folder)
        linked = folder == whole or os.path.islink(folder)
        real[folder] = os.path.realpath(folder) if linked else f"{real[above]}{os.sep}{name}"
        if real[folder] in seen:  # a second link to a folder, or links in a circle
            below.clear()
            continue
        seen.add(real[folder])
        below.sort()
        parts = tuple(folder[len(whole.rstrip(os.sep)) :].split(os.sep)[1:]) if folder != whole else ()
        files += [((*parts, name), f"{folder}{os.sep}{name}") for name in names]
    return sorted(files)


def hashing(path: str) -> Task[list[PhotoFile], list[PhotoFile]]:
    """Make the task that reads some files of the folder at ``path``, and fills in their hashes or problems."""
    return Task(
        do=partial(hash_files, path=path),
        parts=lambda files: [[file] for file in files],
        lost=lambda files, deaths: [file._replace(problem=f"{deaths} dead workers") for file in files],
    )


def hash_files(files: Sequence[PhotoFile], path: str) -> list[PhotoFile]:
    """Fill in the hashes of some files of the folder at ``path``."""
    check_visible(path)
    return [hashed(file) for file in files]


def check_visible(path: str) -> None:
    """Refuse to work where the folder cannot be seen; without this, all its files would seem to be missing."""
    if not os.path.isdir(path):
        raise DatasetMissing(Path(path), "a folder that every worker sees under this path", "none there")


def hashed(file: PhotoFile) -> PhotoFile:
    """Fill in the hash of a file, or why it cannot be read."""
    try:
        return file._replace(hash=hash_of(contents_of(file.path, file.source)[0]))
    except BadImage as mistake:
        return file._replace(problem=mistake.got)


def why_unread(file: PhotoFile) -> str:
    """Say why a file was not read; if this process can read it, the reason lies with the worker."""
    try:
        contents_of(file.path, file.source)
    except BadImage as mistake:
        return str(mistake)
    return str(BadImage(in_one_line(file.source), "a file that every worker can read", file.problem))
