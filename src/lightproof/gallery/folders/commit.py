"""Results of a folder's photos into the store; photos that are no longer in the folder out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from lightproof.core.progress import Progress, single_steps
from lightproof.errors import DuplicatePhoto
from lightproof.gallery.calibrate import discard_measurements
from lightproof.gallery.enrollment import (
    BatchResult,
    EnrollmentConfig,
    check_parameters,
    join_templates,
    refusal_of,
    update_joined,
)
from lightproof.gallery.folders.diff import FolderDiff
from lightproof.gallery.folders.scan import FolderReport, Refused, why_unread
from lightproof.gallery.store import Change, NewPhoto, Photo, Refusal, Store, storable
from lightproof.imaging.decode import in_one_line

BATCHES_PER_CHANGE: Final = 8
"""An interrupt loses no more batches."""

R = TypeVar("R")


def write_in_batches(
    results: Iterable[tuple[R, int]], total: int, progress: Progress, write: Callable[[Sequence[R]], None]
) -> None:
    """Write results, each with the number of steps that it adds to the progress, as they come, some in one change."""
    waiting: list[R] = []
    for result in progress(single_steps(results), total):
        if result is not None:
            waiting.append(result)
        if len(waiting) >= BATCHES_PER_CHANGE:
            write(waiting)
            waiting = []
    write(waiting)


@dataclass
class FolderWriter:
    """Writes results of a folder, some in one change; fills in the report and the files that cannot be read now.

    ``moves`` has the new people of photos that may be taken from their present people. ``people`` are those on the
    photos so far, ``refused`` the refusals so far, by hash.
    """

    store: Store
    config: EnrollmentConfig
    report: FolderReport
    moves: Mapping[str, str]
    unread: set[str]
    people: set[str] = field(default_factory=set)
    refused: dict[str, Refusal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A name means a person, who keeps the id if somebody renames the person meanwhile.
        with self.store.reading() as view:
            self._revision = view.revision()
            self._ids = {person.name: person.id for person in view.people()}
        self._new_names: dict[str, str] = {}

    def write(self, results: Sequence[BatchResult]) -> None:
        """Write some results in one change."""
        photos, refused = _by_person(results), _refusals(results)
        if not self.report.dry_run and (photos or refused):
            with self.store.writing() as change:
                check_parameters(change, self.config)
                results = self._renamed(change, results)
                photos, refused = _by_person(results), _refusals(results)
                late, n_known = self._leave_out_enrolled(change, photos)
                self._add(change, results, photos)
                # Somebody else may have enrolled a refused photo meanwhile, by other means.
                enrolled = change.owners_of({refusal.hash for refusal in refused})
                n_known += sum(refusal.hash in enrolled for refusal in refused)
                refused = [refusal for refusal in refused if refusal.hash not in enrolled]
                change.remember_refusals(refused)
                self._ids |= change.ids_of(photos.keys() - self._ids.keys() - set(self._new_names.values()))
            self._revision = change.next_revision
            self.report.refused += late
            self.report.known += n_known
        refused += self._refuse_unread(results)
        self.refused |= {refusal.hash: refusal for refusal in refused}
        self.report.refused += [Refused(in_one_line(refusal.source), refusal.reason) for refusal in refused]
        self.report.enrolled += sum(map(len, photos.values()))
        self.people |= set(photos)

    def _refuse_unread(self, results: Sequence[BatchResult]) -> list[Refusal]:
        """Refuse files that cannot be read now; the gallery does not remember that."""
        files = [file for result in results for file in result.unread]
        self.unread |= {storable(file.source) for file in files}
        return [refusal_of(file, self.config, None, why_unread(file)) for file in files]

    def _renamed(self, change: Change, results: Sequence[BatchResult]) -> Sequence[BatchResult]:
        """Give photos to the people they are meant for, even if somebody renamed these meanwhile."""
        if change.revision() != self._revision:
            names = change.names_of(self._ids.values())
            self._ids = {name: number for name, number in self._ids.items() if number in names}
            self._new_names = {name: names[number] for name, number in self._ids.items() if names[number] != name}
        return [_with_names(result, self._new_names) for result in results] if self._new_names else results

    def _leave_out_enrolled(self, change: Change, photos: dict[str, list[NewPhoto]]) -> tuple[list[Refused], int]:
        """Take moved photos from their people; leave out photos that somebody else has enrolled meanwhile.

        Returns the refusals of those enrolled as another person, and the number of those enrolled as the same person.
        """
        wanted = {photo.hash: person for person, own in photos.items() for photo in own}
        owners = change.owners_of(wanted)
        moved = [number for number, owner in owners.items() if owner != wanted[number] and number in self.moves]
        losers = {owners.pop(number) for number in moved}
        _remove_photos(change, moved, losers, self.config)
        late = []
        for person in list(photos):
            for photo in photos[person]:
                owner = owners.get(photo.hash, person)
                if owner != person:
                    name = in_one_line(photo.source or photo.hash)
                    late.append(Refused(name, str(DuplicatePhoto(name, person, owner))))
            photos[person] = [photo for photo in photos[person] if photo.hash not in owners]
            if not photos[person]:
                del photos[person]
        return late, len(owners) - len(late)

    def _add(self, change: Change, results: Sequence[BatchResult], photos: Mapping[str, list[NewPhoto]]) -> None:
        enrolled = change.ids_of(photos)
        change.add_all(photos)
        counts = {name: change.person(name).photos if name in enrolled else len(own) for name, own in photos.items()}
        spans = {}
        for person in (person for person in photos if counts[person] > 1):
            span = _span_of(results, person, photos[person]) if counts[person] == len(photos[person]) else None
            spans[person] = span or join_templates([change.templates_of(person)], self.config, change.place)[0]
        change.set_spans(spans)


def _by_person(results: Sequence[BatchResult]) -> dict[str, list[NewPhoto]]:
    photos: dict[str, list[NewPhoto]] = {}
    for result in results:
        for person, own in result.photos.items():
            photos.setdefault(person, []).extend(own)
    return photos


def _refusals(results: Sequence[BatchResult]) -> list[Refusal]:
    return [refusal for result in results for refusal in result.refused]


def _with_names(result: BatchResult, names: Mapping[str, str]) -> BatchResult:
    """Replace old names by new ones; where two people become one, neither joint template is that of both."""
    photos: dict[str, list[NewPhoto]] = {}
    for person, own in result.photos.items():
        photos.setdefault(names.get(person, person), []).extend(own)
    distinct = len(photos) == len(result.photos)
    spans = {names.get(person, person): span for person, span in result.spans.items()} if distinct else {}
    refused = [replace(one, person=names.get(one.person or "", one.person)) for one in result.refused]
    return BatchResult(photos, spans, refused, result.unread)


def _span_of(results: Sequence[BatchResult], person: str, photos: Sequence[NewPhoto]) -> bytes | None:
    """Return the joint template of these photos if a worker made it: all of them in one batch, without others."""
    own = [result for result in results if person in result.photos]
    same = len(own) == 1 and {photo.hash for photo in own[0].photos[person]} == {photo.hash for photo in photos}
    return own[0].spans.get(person) if same else None


def _remove_photos(change: Change, hashes: Iterable[str], owners: set[str], config: EnrollmentConfig) -> None:
    """Remove photos of these people, make their joint templates anew, and forget what calibration owes to the gone."""
    gone = change.remove_photos(hashes).people
    update_joined(change, owners - set(gone), config)
    if gone:
        discard_measurements(change)


def remove_missing(store: Store, folder: str, diff: FolderDiff, config: EnrollmentConfig, report: FolderReport) -> None:
    """Remove photos that came from this folder and are no longer in it, and refusals likewise.

    A file that cannot be read now is no reason to remove what it held.
    """

    def is_missing(photo: Photo | Refusal) -> bool:
        return photo.hash not in diff.seen and photo.source not in diff.unread

    enrolled = diff.ownership.photos
    missing = [photo for photo in enrolled.values() if is_missing(photo)]
    report.removed = [in_one_line(photo.source or photo.hash) for photo in missing]
    hashes = {photo.hash for photo in missing}
    if missing and not report.dry_run:
        with store.writing() as change:
            check_parameters(change, config)
            _remove_photos(change, hashes, set(change.owners_of(hashes).values()), config)
    refusals = [one.hash for one in store.refusals().values() if one.folder == folder and is_missing(one)]
    if refusals and not report.dry_run:
        with store.writing() as change:
            change.forget_refusals(refusals)
    left = {diff.moves.get(photo.hash, photo.person) for photo in store.photos() if photo.hash not in hashes}
    report.gone = sorted({enrolled[number].person for number in {*hashes, *diff.moves}} - left)
