"""Which photos of a folder are to be worked on: all but those that are settled already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from typing import Final, NamedTuple

from lightproof.core.executors import Executor
from lightproof.errors import DuplicatePhoto
from lightproof.gallery.enrollment import BatchResult, EnrollmentConfig, Job
from lightproof.gallery.folders.ownership import Belonging, Picture
from lightproof.gallery.folders.read import READ, Read, reading, why_unread
from lightproof.gallery.store import NewPhoto, Refusal, Store, storable
from lightproof.imaging.decode import in_one_line

TOGETHER: Final = 48
"""Faces that are worked on in one go."""

PHOTOGRAPHS: Final = 12
"""Photographs, in which faces must be found first: no worker should have many left when the others are done."""

LOOKED_UP: Final = 480
"""Photos that the store is asked about in one question."""


Piece = tuple[list[Job], int]
"""Files to be worked on, and how many files are settled with them."""


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
        Photos that are new, and were added by this call.
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
        People who left: all their photos are no longer there, or lie in other people's folders now.
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
    """What there is to do: files by person, and what is known before anything is read.

    Attributes
    ----------
    folder : str
        As the gallery calls it.
    top : str
        Where it is.
    """

    folder: str
    top: str
    files: list[Picture]
    ignored: list[Refused]
    retry: bool
    syncing: bool


class Work:
    """Reads what each file holds, and leaves out what need not be done.

    Where the gallery knows nothing yet, all of it has to be done: then files are not read before they are worked on,
    and only those that hold the same as another one are left out, afterwards.

    Parameters
    ----------
    store : Store
    plan : Plan
    config : EnrollmentConfig
    report : FolderReport
        Filled in on the way.
    executor : Executor
        Reads the files.

    Attributes
    ----------
    belonging : Belonging
        Whose the files are.
    seen : dict of str to Job
        The first file of every photo in the folder, by hash.
    unread : set of str
        Files that are there but cannot be read.
    moves : dict of str to str
        Photos whose files have gone to the folder of somebody else, and whose they are to be.
    sources : dict of str to str
        Photos that stay whose they are and whose files have gone elsewhere, and where to.
    """

    def __init__(
        self, store: Store, plan: Plan, config: EnrollmentConfig, report: FolderReport, executor: Executor
    ) -> None:
        self._store, self._plan, self._way, self._report, self._executor = store, plan, config, report, executor
        self.belonging = Belonging(store.photos(folder=plan.folder), plan.files)
        self.seen: dict[str, Job] = {}
        self.unread: set[str] = set()
        self.moves: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        self._before: dict[str, Refusal] = {}
        self._twins: list[Job] = []
        there = store.counts()
        self._is_new = not (there.photos or there.refused)

    def pieces(self) -> Iterator[Piece]:
        """Yield files to be worked on, and how many files that settles; a person's files stay together if they fit."""
        waiting: list[Job] = []
        settled = 0
        most = together(self._way)
        for jobs, others in self._blocks():
            settled += others
            for own in _by_person(jobs, most):
                if waiting and len(waiting) + len(own) > most:
                    yield waiting, settled + len(waiting)
                    waiting, settled = [], 0
                waiting += own
        if waiting or settled:
            yield waiting, settled + len(waiting)

    def _blocks(self) -> Iterator[tuple[list[Job], int]]:
        """Yield files to be worked on, many at a time, and how many others there are between them."""
        if self._is_new:
            unread = (Job(file.folder, file.source, file.path, "") for file in self._plan.files)
            while some := list(islice(unread, LOOKED_UP)):
                yield some, 0
            return
        files = iter(zip(self._plan.files, self._read_all(), strict=True))
        while block := list(islice(files, LOOKED_UP)):
            jobs = self._new(block)
            yield jobs, len(block) - len(jobs)

    def sifted(self, made: BatchResult) -> BatchResult:
        """Leave out of what was made what came of files that hold the same as one before, where that shows only now."""
        if not self._is_new:
            return made
        own = {name: [one for one in theirs if self._is_first(name, one)] for name, theirs in made.photos.items()}
        refused = [one for one in made.refused if self._is_first(one.person or "", one)]
        spans = {name: span for name, span in made.spans.items() if len(own[name]) == len(made.photos[name])}
        return BatchResult({name: theirs for name, theirs in own.items() if theirs}, spans, refused, made.unread)

    def _is_first(self, person: str, found: NewPhoto | Refusal) -> bool:
        job = Job(person, found.source or "", "", found.hash)
        if self.seen.setdefault(job.hash, job) is job:
            return True
        self._twins.append(job)
        return False

    def _read_all(self) -> Iterator[Read]:
        files = self._plan.files
        pieces = [files[start : start + READ] for start in range(0, len(files), READ)]
        done = self._executor.map(reading(self._plan.top), pieces, len(pieces), light=True)
        return chain.from_iterable(done)

    def _new(self, block: Sequence[tuple[Picture, Read]]) -> list[Job]:
        self.belonging.look_at({file.path: read.hash for file, read in block if read.hash})
        jobs = [job for file, read in block if (job := self._job(file, read))]
        hashes = {job.hash for job in jobs}
        known, refused = self._store.known_hashes(hashes), self._store.refusals(hashes)
        return [job for job in jobs if not self._is_done(job, known.get(job.hash), refused.get(job.hash))]

    def _job(self, file: Picture, read: Read) -> Job | None:
        if not read.hash:
            self.unread.add(storable(file.source))
            self._report.refused.append(Refused(in_one_line(file.source), why_unread(file, read.problem)))
            return None
        return Job(self.belonging.person_of(file.folder), file.source, file.path, read.hash)

    def _is_done(self, job: Job, owner: str | None, refusal: Refusal | None) -> bool:
        first = self.seen.setdefault(job.hash, job)
        if owner is not None:
            return self._is_known(job, owner)
        if first is not job:
            # What comes of the first of them is not known yet.
            self._twins.append(job)
            return True
        if refusal and not self._plan.retry and refusal.parameters == self._way.looking:
            self._before[job.hash] = refusal
            self._report.refused_before.append(_refused_too(job, refusal))
            return True
        return False

    def _is_known(self, job: Job, owner: str) -> bool:
        """Whether an enrolled photo stays whose it is: it moves when its file has left the folders of that person."""
        photo = self.belonging.photos.get(job.hash)
        if photo is None or self.belonging.stays(photo):
            at_home = photo is not None and photo.source == storable(job.source)
            self._known_as(job, job.person if at_home else owner)
            return True
        if job.hash not in self.moves:
            if job.person == owner:
                self.sources.setdefault(job.hash, job.source)
            elif self._plan.syncing and self.seen[job.hash] is job and not self.belonging.is_at_home(photo):
                self.moves[job.hash] = job.person
                return False
        self._known_as(job, self.moves.get(job.hash, owner))
        return True

    def _known_as(self, job: Job, owner: str) -> None:
        if owner == job.person:
            self._report.known += 1
        else:
            mistake = DuplicatePhoto(in_one_line(job.source), job.person, owner)
            self._report.refused.append(Refused(in_one_line(job.source), str(mistake)))

    def settle_twins(self, refused: Mapping[str, Refusal]) -> None:
        """Say of files that hold the same as another one what came of that one.

        Parameters
        ----------
        refused : mapping of str to Refusal
            What was refused in this run, by hash.
        """
        owners = self._store.known_hashes({job.hash for job in self._twins})
        for job in self._twins:
            if job.hash in refused:
                self._report.refused.append(_refused_too(job, refused[job.hash]))
            elif job.hash in self._before:
                self._report.refused_before.append(_refused_too(job, self._before[job.hash]))
            else:
                self._known_as(job, owners.get(job.hash, self.seen[job.hash].person))


def _refused_too(job: Job, refusal: Refusal) -> Refused:
    """Give the reason of a file that holds the same, under the name of this one."""
    name, other = in_one_line(job.source), in_one_line(refusal.source)
    reason = refusal.reason
    return Refused(name, name + reason.removeprefix(other) if reason.startswith(other) else reason)


def together(config: EnrollmentConfig) -> int:
    """How many files are worked on in one go."""
    return TOGETHER if config.cropped else PHOTOGRAPHS


def _by_person(jobs: Sequence[Job], most: int) -> Iterator[list[Job]]:
    """Jobs of one person, so many at most."""
    for _, group in groupby(jobs, key=lambda job: job.person):
        own = list(group)
        yield from (own[start : start + most] for start in range(0, len(own), most))
