"""Which photos of a folder are to be worked on: all but those that are settled already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from lightproof.errors import BadImage, DuplicatePhoto
from lightproof.gallery.taking import Job, Way, hash_of
from lightproof.pixels import contents_of, in_one_line
from lightproof.store import Refusal, Store

TOGETHER: Final = 48
"""Photos that are worked on in one go."""

LOOKED_UP: Final = 480
"""Photos that the store is asked about in one question."""


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
        Photos that are new.
    people : int
        People they are of.
    known : int
        Photos that were there already.
    refused : list of Refused
        Photos that were not enrolled now.
    refused_before : list of Refused
        Photos that were refused earlier and not tried again.
    removed : list of str
        Photos that are no longer in the folder, by :meth:`Gallery.sync`.
    gone : list of str
        People who left with them.
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


class Plan(NamedTuple):
    """What there is to do: files by person, and what is known before anything is read."""

    folder: str
    files: list[tuple[str, str, str]]
    ignored: list[Refused]
    retry: bool
    syncing: bool


class Work:
    """Reads what each file holds, and leaves out what need not be done.

    Parameters
    ----------
    store : Store
    plan : Plan
    way : Way
    report : FolderReport
        Filled in on the way.

    Attributes
    ----------
    seen : dict of str to str
        The hash of every photo in the folder, and whose it is.
    unread : set of str
        Files that are there but cannot be read.
    movable : dict of str to str
        Photos that came from this folder, and whose they were before: they move with their files.
    """

    def __init__(self, store: Store, plan: Plan, way: Way, report: FolderReport) -> None:
        self._store, self._plan, self._way, self._report = store, plan, way, report
        self.seen: dict[str, str] = {}
        self.unread: set[str] = set()
        came = (photo for photo in store.photos() if photo.folder == plan.folder) if plan.syncing else ()
        self.movable = {photo.hash: photo.person for photo in came}

    def pieces(self) -> Iterator[tuple[list[Job], int]]:
        """Yield files to be worked on, and how many files that settles; a person's files stay together if they fit."""
        waiting: list[Job] = []
        settled = 0
        for start in range(0, len(self._plan.files), LOOKED_UP):
            files = self._plan.files[start : start + LOOKED_UP]
            jobs = self._new(files)
            settled += len(files) - len(jobs)
            for own in _by_person(jobs):
                if waiting and len(waiting) + len(own) > TOGETHER:
                    yield waiting, settled + len(waiting)
                    waiting, settled = [], 0
                waiting += own
        if waiting or settled:
            yield waiting, settled + len(waiting)

    def _new(self, files: Sequence[tuple[str, str, str]]) -> list[Job]:
        jobs = [job for file in files if (job := self._read(*file))]
        hashes = {job.hash for job in jobs}
        known, refused = self._store.known_hashes(hashes), self._store.refusals(hashes)
        return [job for job in jobs if not self._is_done(job, known.get(job.hash), refused.get(job.hash))]

    def _read(self, person: str, source: str, path: str) -> Job | None:
        try:
            contents, _ = contents_of(path, source)
        except BadImage as mistake:
            self.unread.add(source)
            self._report.refused.append(Refused(in_one_line(source), str(mistake)))
            return None
        return Job(person, source, path, hash_of(contents))

    def _is_done(self, job: Job, owner: str | None, refusal: Refusal | None) -> bool:
        if owner is None and refusal and not self._plan.retry and refusal.parameters == self._way.looking:
            self._report.refused_before.append(Refused(in_one_line(job.source), refusal.reason))
            return True
        if job.hash in self.movable:
            # It goes where the first of its files is now.
            owner = self.seen.get(job.hash) or (job.person if owner == job.person else None)
        else:
            owner = owner or self.seen.get(job.hash)
        self.seen.setdefault(job.hash, job.person)
        if owner == job.person:
            self._report.known += 1
        elif owner is not None:
            mistake = DuplicatePhoto(in_one_line(job.source), job.person, owner)
            self._report.refused.append(Refused(in_one_line(job.source), str(mistake)))
        else:
            return False
        return True


def _by_person(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Jobs of one person, no more than are worked on in one go."""
    for _, group in groupby(jobs, key=lambda job: job.person):
        own = list(group)
        yield from (own[start : start + TOGETHER] for start in range(0, len(own), TOGETHER))
