"""What was made of a folder's photos into the store; what is no longer in the folder out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lightproof.errors import DuplicatePhoto
from lightproof.gallery.calibrate import unlearn
from lightproof.gallery.enrollment import (
    BatchResult,
    EnrollmentConfig,
    check_parameters,
    join_again,
    joined,
    refusal_of,
)
from lightproof.gallery.folders.diff import FolderReport, Plan, Refused, Work
from lightproof.gallery.folders.read import why_unread
from lightproof.gallery.store import Change, NewPhoto, Refusal, Store, storable
from lightproof.imaging.decode import in_one_line


@dataclass
class Desk:
    """Writes finished pieces, some in one change.

    Attributes
    ----------
    store : Store
    config : EnrollmentConfig
    report : FolderReport
        Filled in on the way.
    moves : mapping of str to str
        Photos that may be taken from the person they are of.
    unread : set of str
        Files that are there but cannot be read; filled in on the way.
    people : set of str
        Whose photos there were so far.
    refused : dict of str to Refusal
        What was refused so far, by hash.
    """

    store: Store
    config: EnrollmentConfig
    report: FolderReport
    moves: Mapping[str, str]
    unread: set[str]
    people: set[str] = field(default_factory=set)
    refused: dict[str, Refusal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Who is meant by a name: a number that stays, whatever somebody calls the person meanwhile.
        with self.store.reading() as view:
            self._revision = view.revision()
            self._meant = {person.name: person.id for person in view.people()}
        self._news: dict[str, str] = {}

    def take(self, pieces: Sequence[BatchResult]) -> None:
        """Write some pieces in one change."""
        photos = _by_person(pieces)
        refused = [refusal for made in pieces for refusal in made.refused]
        if not self.report.dry_run and (photos or refused):
            with self.store.writing() as change:
                check_parameters(change, self.config)
                pieces = self._renamed(change, pieces)
                photos, refused = _by_person(pieces), [refusal for made in pieces for refusal in made.refused]
                late, known = self._make_room(change, photos)
                self._write(change, pieces, photos)
                refused, enrolled = _not_enrolled(change, refused)
                known += enrolled
                change.remember_refusals(refused)
                new = photos.keys() - self._meant.keys() - set(self._news.values())
                self._meant |= change.ids_of(new)
            self._revision = change.next_revision
            self.report.refused += late
            self.report.known += known
        refused += self._unread(pieces)
        self.refused |= {refusal.hash: refusal for refusal in refused}
        self.report.refused += [Refused(in_one_line(refusal.source), refusal.reason) for refusal in refused]
        self.report.enrolled += sum(map(len, photos.values()))
        self.people |= set(photos)

    def _unread(self, pieces: Sequence[BatchResult]) -> list[Refusal]:
        """Refuse for now what could not be read; it is not remembered."""
        jobs = [(job, problem) for made in pieces for job, problem in made.unread]
        self.unread |= {storable(job.source) for job, _ in jobs}
        return [refusal_of(job, self.config, None, why_unread(job, problem)) for job, problem in jobs]

    def _renamed(self, change: Change, pieces: Sequence[BatchResult]) -> Sequence[BatchResult]:
        """Give photos to whom they are of, although somebody has given that person another name meanwhile."""
        if change.revision() != self._revision:
            called = change.names_of(self._meant.values())
            self._meant = {name: number for name, number in self._meant.items() if number in called}
            self._news = {name: called[it] for name, it in self._meant.items() if called[it] != name}
        return [_with_names(made, self._news) for made in pieces] if self._news else pieces

    def _make_room(self, change: Change, photos: dict[str, list[NewPhoto]]) -> tuple[list[Refused], int]:
        """Take photos that moved from whom they were of; leave out what somebody else has enrolled meanwhile.

        Returns
        -------
        late : list of Refused
            Those enrolled as somebody else.
        known : int
            How many are enrolled as the same person.
        """
        wanted = {photo.hash: person for person, own in photos.items() for photo in own}
        there = change.known_hashes(wanted)
        moved = [number for number, owner in there.items() if owner != wanted[number] and number in self.moves]
        losers = {there.pop(number) for number in moved}
        gone = change.remove_photos(moved).people
        join_again(change, losers - set(gone), self.config)
        if gone:
            unlearn(change)
        late = []
        for person in list(photos):
            for photo in photos[person]:
                owner = there.get(photo.hash, person)
                if owner != person:
                    name = in_one_line(photo.source or photo.hash)
                    late.append(Refused(name, str(DuplicatePhoto(name, person, owner))))
            photos[person] = [photo for photo in photos[person] if photo.hash not in there]
            if not photos[person]:
                del photos[person]
        return late, len(there) - len(late)

    def _write(self, change: Change, pieces: Sequence[BatchResult], photos: Mapping[str, list[NewPhoto]]) -> None:
        there = change.ids_of(photos)
        change.add_all(photos)
        count = {who: change.person(who).photos if who in there else len(own) for who, own in photos.items()}
        spans = {}
        for person in (person for person in photos if count[person] > 1):
            whole = _whole(pieces, person, photos[person]) if count[person] == len(photos[person]) else None
            if whole is None:
                [whole] = joined([change.templates_of(person)], self.config, change.place)
            spans[person] = whole
        change.set_spans(spans)


def _not_enrolled(change: Change, refused: Sequence[Refusal]) -> tuple[list[Refusal], int]:
    """Leave out what somebody else has enrolled meanwhile, in another way; return the others, and how many it is."""
    there = change.known_hashes({refusal.hash for refusal in refused})
    left = [refusal for refusal in refused if refusal.hash not in there]
    return left, len(refused) - len(left)


def _by_person(pieces: Sequence[BatchResult]) -> dict[str, list[NewPhoto]]:
    photos: dict[str, list[NewPhoto]] = {}
    for made in pieces:
        for person, own in made.photos.items():
            photos.setdefault(person, []).extend(own)
    return photos


def _with_names(made: BatchResult, news: Mapping[str, str]) -> BatchResult:
    """Put new names in place of old ones; where two become one, the joint template of either is not that of both."""
    photos: dict[str, list[NewPhoto]] = {}
    for person, own in made.photos.items():
        photos.setdefault(news.get(person, person), []).extend(own)
    alone = len(photos) == len(made.photos)
    spans = {news.get(person, person): span for person, span in made.spans.items()} if alone else {}
    refused = [replace(one, person=news.get(one.person or "", one.person)) for one in made.refused]
    return BatchResult(photos, spans, refused, made.unread)


def _whole(pieces: Sequence[BatchResult], person: str, photos: Sequence[NewPhoto]) -> bytes | None:
    """Return the template of just these photos if it is made already: they were all in one piece, and alone in it."""
    made = [made for made in pieces if person in made.photos]
    same = len(made) == 1 and {photo.hash for photo in made[0].photos[person]} == {photo.hash for photo in photos}
    return made[0].spans.get(person) if same else None


def follow_files(store: Store, work: Work, report: FolderReport) -> None:
    """Note where files are now that stay whose they are."""
    if work.sources and not report.dry_run:
        with store.writing() as change:
            change.refile(work.sources)


def remove_missing(store: Store, plan: Plan, work: Work, config: EnrollmentConfig, report: FolderReport) -> None:
    """Remove photos that came from this folder and are no longer in it.

    A file that is there and cannot be read now is no reason to remove what it held.
    """
    came = work.belonging.photos
    missing = [photo for photo in came.values() if photo.hash not in work.seen and photo.source not in work.unread]
    report.removed = [in_one_line(photo.source or photo.hash) for photo in missing]
    numbers = {photo.hash for photo in missing}
    if missing and not report.dry_run:
        with store.writing() as change:
            check_parameters(change, config)
            owners = set(change.known_hashes(numbers).values())
            removed = change.remove_photos(numbers)
            join_again(change, owners - set(removed.people), config)
            if removed.people:
                unlearn(change)
    _drop_refusals_of_missing(store, plan, work, report)
    left = {work.moves.get(photo.hash, photo.person) for photo in store.photos() if photo.hash not in numbers}
    report.gone = sorted({came[number].person for number in {*numbers, *work.moves}} - left)


def _drop_refusals_of_missing(store: Store, plan: Plan, work: Work, report: FolderReport) -> None:
    """Let go of what was refused from this folder and is no longer in it: names of people and files."""
    missing = [
        refusal.hash
        for refusal in store.refusals().values()
        if refusal.folder == plan.folder and refusal.hash not in work.seen and refusal.source not in work.unread
    ]
    if missing and not report.dry_run:
        with store.writing() as change:
            change.forget_refusals(missing)
