"""A folder against the gallery: whose its files are, and which of them need work.

A folder belongs to the person it is called after. People may be renamed in the gallery while their folders keep their
names: then a folder belongs to the person as whom its photos were enrolled, whatever that person is called now. A photo
goes to another person only when its file has gone to another folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import Final
from unicodedata import normalize

from lightproof.core.executors import Executor
from lightproof.errors import DuplicatePhoto
from lightproof.gallery.enrollment import BatchResult, EnrollmentConfig, PhotoFile
from lightproof.gallery.folders.scan import FolderReport, FolderScan, Refused, hashed, hashing, why_unread
from lightproof.gallery.store import NewPhoto, Photo, Refusal, Store, storable
from lightproof.imaging.decode import in_one_line

FACES_PER_BATCH: Final = 48

PHOTOS_PER_BATCH: Final = 12
"""Fewer than faces, because a face must be found first: all workers should finish at about the same time."""

FILES_PER_READ: Final = 120

FILES_PER_QUERY: Final = 480
"""Files that the store is asked about together."""

Batch = tuple[list[PhotoFile], int]
"""Files to be worked on, and how many files are settled with them."""


class Ownership:
    """Whose the files of a folder are, by the photos that were enrolled from the same folder before."""

    def __init__(self, enrolled: Iterable[Photo], files: Sequence[PhotoFile]) -> None:
        self.photos = {photo.hash: photo for photo in enrolled}
        self._files = files
        self._by_source = {storable(file.source): file for file in files}
        self._hashes_of: dict[str, set[str]] = {}
        self._stays: dict[str, bool] = {}
        self._just_read: Mapping[str, str] = {}
        folders = {file.person for file in files}
        by_folder: dict[str, list[Photo]] = {}
        for photo in self.photos.values():
            by_folder.setdefault(normalize("NFC", (photo.source or "").partition("/")[0]), []).append(photo)
        renamed = {folder: self._renamed_owner(folder, own, folders) for folder, own in by_folder.items()}
        self._renamed = {folder: person for folder, person in renamed.items() if person is not None}

    def use_hashes(self, hashes: Mapping[str, str]) -> None:
        """Use the hashes of files that were just read, by path; all others are read here."""
        self._just_read = hashes

    def person_of(self, folder: str) -> str:
        """Return whose a folder is."""
        return self._renamed.get(folder, folder)

    def stays(self, photo: Photo) -> bool:
        """Whether a photo's file is still where it was when it was enrolled."""
        if photo.hash not in self._stays:
            self._stays[photo.hash] = self._is_in_place(photo)
        return self._stays[photo.hash]

    def is_at_home(self, photo: Photo) -> bool:
        """Whether a file in a folder of the photo's own person holds it, whatever the file is called."""
        if photo.person not in self._hashes_of:
            own = [file for file in self._files if self.person_of(file.person) == photo.person]
            self._hashes_of[photo.person] = {hashed(file).hash for file in own}
        return photo.hash in self._hashes_of[photo.person]

    def _renamed_owner(self, folder: str, photos: Sequence[Photo], folders: set[str]) -> str | None:
        """Find the one person of another name whom a folder's photos are of; None if it is of its own name."""
        person = photos[0].person
        if person == folder or any(photo.person != person for photo in photos):
            return None
        # If the person's photos have gone to a folder of the right name, the folder of the old name is a new one.
        return person if person not in folders or any(map(self.stays, photos)) else None

    def _is_in_place(self, photo: Photo) -> bool:
        file = self._by_source.get(photo.source or "")
        if file is None:
            return False
        # A file that cannot be read now is no reason to move its photo.
        return (self._just_read.get(file.path) or hashed(file).hash) in (photo.hash, "")


class FolderDiff:
    """Finds the files of a folder that need work, and reports on all others.

    An empty gallery needs all files: then they are not read before they are worked on, and copies are left out
    afterwards. With ``retry``, refused photos are tried again; when ``moving``, a photo follows its file to the folder
    of another person.

    Attributes
    ----------
    seen : dict of str to PhotoFile
        The first file of every photo in the folder, by hash.
    unread : set of str
        Files that cannot be read now.
    moves : dict of str to str
        The new people of photos whose files have gone to another person's folder.
    sources : dict of str to str
        The new names of files whose photos stay with their people.
    """

    def __init__(
        self, store: Store, scan: FolderScan, config: EnrollmentConfig, report: FolderReport, executor: Executor,
        *, retry: bool, moving: bool,
    ) -> None:  # fmt: skip
        self._store, self._scan, self._config, self._report = store, scan, config, report
        self._executor, self._retry, self._moving = executor, retry, moving
        self.ownership = Ownership(store.photos(folder=scan.name), scan.files)
        self.seen: dict[str, PhotoFile] = {}
        self.unread: set[str] = set()
        self.moves: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        self._refused_before: dict[str, Refusal] = {}
        self._copies: list[PhotoFile] = []
        counts = store.counts()
        self._is_new = not (counts.photos or counts.refused)

    @property
    def n_batches(self) -> int:
        """The largest number of batches."""
        return -(-len(self._scan.files) // _batch_size(self._config))

    def batches(self) -> Iterator[Batch]:
        """Yield files to be worked on, and how many files that settles; a person's files stay together if they fit."""
        waiting: list[PhotoFile] = []
        settled = 0
        most = _batch_size(self._config)
        for files, n_others in self._blocks():
            settled += n_others
            for own in _by_person(files, most):
                if waiting and len(waiting) + len(own) > most:
                    yield waiting, settled + len(waiting)
                    waiting, settled = [], 0
                waiting += own
        if waiting or settled:
            yield waiting, settled + len(waiting)

    def _blocks(self) -> Iterator[tuple[list[PhotoFile], int]]:
        """Yield files to be worked on, many at a time, and the number of other files between them."""
        if self._is_new:
            unread = iter(self._scan.files)
            while some := list(islice(unread, FILES_PER_QUERY)):
                yield some, 0
            return
        files = self._read_all()
        while block := list(islice(files, FILES_PER_QUERY)):
            new = self._new_files(block)
            yield new, len(block) - len(new)

    def _read_all(self) -> Iterator[PhotoFile]:
        files = self._scan.files
        parts = [files[start : start + FILES_PER_READ] for start in range(0, len(files), FILES_PER_READ)]
        read: Iterator[list[PhotoFile]] = self._executor.map(hashing(self._scan.path), parts, len(parts), light=True)
        return chain.from_iterable(read)

    def _new_files(self, block: Sequence[PhotoFile]) -> list[PhotoFile]:
        self.ownership.use_hashes({file.path: file.hash for file in block if file.hash})
        readable = []
        for file in block:
            if file.hash:
                readable.append(file._replace(person=self.ownership.person_of(file.person)))
            else:
                self.unread.add(storable(file.source))
                self._report.refused.append(Refused(in_one_line(file.source), why_unread(file)))
        hashes = {file.hash for file in readable}
        owners, refusals = self._store.owners_of(hashes), self._store.refusals(hashes)
        return [file for file in readable if not self._is_settled(file, owners.get(file.hash), refusals.get(file.hash))]

    def _is_settled(self, file: PhotoFile, owner: str | None, refusal: Refusal | None) -> bool:
        first = self.seen.setdefault(file.hash, file)
        if owner is not None:
            return self._stays_enrolled(file, owner)
        if first is not file:
            # What comes of the first file is not known yet.
            self._copies.append(file)
            return True
        if refusal and not self._retry and refusal.parameters == self._config.detector:
            self._refused_before[file.hash] = refusal
            self._report.refused_before.append(_refused_too(file, refusal))
            return True
        return False

    def _stays_enrolled(self, file: PhotoFile, owner: str) -> bool:
        """Whether an enrolled photo stays with its person: it moves when its file has left the person's folders."""
        photo = self.ownership.photos.get(file.hash)
        if photo is None or self.ownership.stays(photo):
            is_own_file = photo is not None and photo.source == storable(file.source)
            self._report_known(file, file.person if is_own_file else owner)
            return True
        if file.hash not in self.moves:
            if file.person == owner:
                self.sources.setdefault(file.hash, file.source)
            elif self._moving and self.seen[file.hash] is file and not self.ownership.is_at_home(photo):
                self.moves[file.hash] = file.person
                return False
        self._report_known(file, self.moves.get(file.hash, owner))
        return True

    def _report_known(self, file: PhotoFile, owner: str) -> None:
        if owner == file.person:
            self._report.known += 1
        else:
            mistake = DuplicatePhoto(in_one_line(file.source), file.person, owner)
            self._report.refused.append(Refused(in_one_line(file.source), str(mistake)))

    def without_copies(self, result: BatchResult) -> BatchResult:
        """Leave out results of files that hold the same as an earlier file, where that shows only now."""
        if not self._is_new:
            return result
        photos = {name: [one for one in own if self._is_first(name, one)] for name, own in result.photos.items()}
        refused = [refusal for refusal in result.refused if self._is_first(refusal.person or "", refusal)]
        spans = {name: span for name, span in result.spans.items() if len(photos[name]) == len(result.photos[name])}
        return BatchResult({name: own for name, own in photos.items() if own}, spans, refused, result.unread)

    def _is_first(self, person: str, result: NewPhoto | Refusal) -> bool:
        file = PhotoFile(person, result.source or "", "", result.hash)
        if self.seen.setdefault(file.hash, file) is file:
            return True
        self._copies.append(file)
        return False

    def report_copies(self, refused: Mapping[str, Refusal]) -> None:
        """Report on files that hold the same as an earlier file, as on that file, given this run's refusals by hash."""
        owners = self._store.owners_of({file.hash for file in self._copies})
        for file in self._copies:
            if file.hash in refused:
                self._report.refused.append(_refused_too(file, refused[file.hash]))
            elif file.hash in self._refused_before:
                self._report.refused_before.append(_refused_too(file, self._refused_before[file.hash]))
            else:
                self._report_known(file, owners.get(file.hash, self.seen[file.hash].person))


def _refused_too(file: PhotoFile, refusal: Refusal) -> Refused:
    """Give the reason of a file that holds the same, under the name of this one."""
    name, other = in_one_line(file.source), in_one_line(refusal.source)
    reason = refusal.reason
    return Refused(name, name + reason.removeprefix(other) if reason.startswith(other) else reason)


def _batch_size(config: EnrollmentConfig) -> int:
    return FACES_PER_BATCH if config.cropped else PHOTOS_PER_BATCH


def _by_person(files: Sequence[PhotoFile], most: int) -> Iterator[list[PhotoFile]]:
    """Yield files of one person, so many at most."""
    for _, group in groupby(files, key=lambda file: file.person):
        own = list(group)
        yield from (own[start : start + most] for start in range(0, len(own), most))
