"""Whose the photos of a folder are.

A folder is of the person it is called after. People may be renamed in the gallery while their folders keep their names:
then a folder is of the person whom its photos were enrolled as, whatever that person is called now. A photo goes to
somebody else only when its file has gone to another folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from unicodedata import normalize

from lightproof.errors import BadImage
from lightproof.gallery.enrollment import hash_of
from lightproof.gallery.store import Photo, storable
from lightproof.imaging.decode import contents_of


class Picture(NamedTuple):
    """A picture in a folder: the name of the person's folder, its place in the whole folder, and the file itself."""

    folder: str
    source: str
    path: str


class Belonging:
    """Tells whose a file is, by what was enrolled from the same folder before.

    Parameters
    ----------
    enrolled : list of Photo
        What came from the folder.
    files : list of Picture
        What is in it now.

    Attributes
    ----------
    photos : dict of str to Photo
        What came from the folder, by hash.
    """

    def __init__(self, enrolled: Iterable[Photo], files: Sequence[Picture]) -> None:
        self.photos = {photo.hash: photo for photo in enrolled}
        self._files = files
        self._paths = {storable(file.source): file.path for file in files}
        self._held: dict[str, set[str]] = {}
        self._stays: dict[str, bool] = {}
        self._just_read: Mapping[str, str] = {}
        folders = {file.folder for file in files}
        came: dict[str, list[Photo]] = {}
        for photo in self.photos.values():
            came.setdefault(_folder_of(photo), []).append(photo)
        renamed = {folder: self._renamed_owner(folder, own, folders) for folder, own in came.items()}
        self._renamed = {folder: person for folder, person in renamed.items() if person is not None}

    def look_at(self, hashes: Mapping[str, str]) -> None:
        """Take what some files hold, by path, from who has just read them; all others are read here."""
        self._just_read = hashes

    def person_of(self, folder: str) -> str:
        """Say whose a folder is."""
        return self._renamed.get(folder, folder)

    def stays(self, photo: Photo) -> bool:
        """Whether a photo's file is still where it was when it was enrolled."""
        if photo.hash not in self._stays:
            self._stays[photo.hash] = self._is_there(photo)
        return self._stays[photo.hash]

    def is_at_home(self, photo: Photo) -> bool:
        """Whether a file in a folder of the photo's own person holds it, whatever the file is called."""
        if photo.person not in self._held:
            own = [file.path for file in self._files if self.person_of(file.folder) == photo.person]
            self._held[photo.person] = {number for path in own if (number := _hash_at(path))}
        return photo.hash in self._held[photo.person]

    def _renamed_owner(self, folder: str, came: Sequence[Photo], folders: set[str]) -> str | None:
        """Find the one person of another name whom a folder's photos are of; None if it is of its own name."""
        person = came[0].person
        if person == folder or any(photo.person != person for photo in came):
            return None
        # Where the person's photos have gone to a folder with the right name, the one with the old name is a new one.
        return person if person not in folders or any(map(self.stays, came)) else None

    def _is_there(self, photo: Photo) -> bool:
        path = self._paths.get(photo.source or "")
        if path is None:
            return False
        # What cannot be read now is no reason to move anything.
        return (self._just_read.get(path) or _hash_at(path)) in (photo.hash, None)


def _hash_at(path: str) -> str | None:
    """Sum up what a file holds; None where nobody can tell."""
    try:
        return hash_of(contents_of(path, None)[0])
    except BadImage:
        return None


def _folder_of(photo: Photo) -> str:
    return normalize("NFC", (photo.source or "").partition("/")[0])
