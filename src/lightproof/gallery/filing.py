"""What was made of a folder's photos into the store; what is no longer in the folder out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lightproof.errors import DuplicatePhoto
from lightproof.gallery.calibration import unlearn
from lightproof.gallery.sifting import FolderReport, Plan, Refused, Work
from lightproof.gallery.taking import Made, Way, check_parameters, join_again, join_templates
from lightproof.pixels import in_one_line
from lightproof.store import Change, NewPhoto, Store


@dataclass
class Desk:
    """Writes finished pieces, some in one change.

    Attributes
    ----------
    store : Store
    way : Way
    report : FolderReport
        Filled in on the way.
    movable : mapping of str to str
        Photos that may be taken from the person they are of.
    people : set of str
        Whose photos there were so far.
    """

    store: Store
    way: Way
    report: FolderReport
    movable: Mapping[str, str]
    people: set[str] = field(default_factory=set)

    def take(self, pieces: Sequence[Made]) -> None:
        """Write some pieces in one change."""
        refused = [refusal for made in pieces for refusal in made.refused]
        photos: dict[str, list[NewPhoto]] = {}
        for made in pieces:
            for person, own in made.photos.items():
                photos.setdefault(person, []).extend(own)
        if not self.report.dry_run and (photos or refused):
            with self.store.writing() as change:
                check_parameters(change, self.way, self.store.place)
                late = self._make_room(change, photos)
                self._write(change, pieces, photos)
                change.remember_refusals(refused)
            self.report.refused += late
        self.report.refused += [Refused(in_one_line(refusal.source), refusal.reason) for refusal in refused]
        self.report.enrolled += sum(map(len, photos.values()))
        self.people |= set(photos)

    def _make_room(self, change: Change, photos: dict[str, list[NewPhoto]]) -> list[Refused]:
        """Take photos that moved from whom they were of; leave out what somebody else has enrolled meanwhile."""
        wanted = {photo.hash: person for person, own in photos.items() for photo in own}
        taken = {number: owner for number, owner in change.known_hashes(wanted).items() if owner != wanted[number]}
        if not taken:
            return []
        moved = [number for number in taken if number in self.movable]
        losers = {taken[number] for number in moved}
        losers -= set(change.remove_photos(moved).people)
        join_again(change, losers, self.way)
        late = []
        for number in taken.keys() - set(moved):
            person = wanted[number]
            [photo] = [photo for photo in photos[person] if photo.hash == number]
            mistake = DuplicatePhoto(in_one_line(photo.source or number), person, taken[number])
            late.append(Refused(in_one_line(photo.source or number), str(mistake)))
            photos[person] = [photo for photo in photos[person] if photo.hash != number]
        for person in [person for person, own in photos.items() if not own]:
            del photos[person]
        return late

    def _write(self, change: Change, pieces: Sequence[Made], photos: Mapping[str, list[NewPhoto]]) -> None:
        before = change.counts().people
        change.add_all(photos)
        if change.counts().people - before == len(photos):
            count = {person: len(own) for person, own in photos.items()}
        else:
            count = {person: change.person(person).photos for person in photos}
        spans = {}
        for person in (person for person in photos if count[person] > 1):
            whole = _whole(pieces, person, photos[person]) if count[person] == len(photos[person]) else None
            spans[person] = whole if whole is not None else join_templates(change.templates_of(person), self.way)
        change.set_spans(spans)


def _whole(pieces: Sequence[Made], person: str, photos: Sequence[NewPhoto]) -> bytes | None:
    """Return the template of just these photos if it is made already: they were all in one piece, and alone in it."""
    made = [made for made in pieces if person in made.photos]
    same = len(made) == 1 and {photo.hash for photo in made[0].photos[person]} == {photo.hash for photo in photos}
    return made[0].spans.get(person) if same else None


def remove_missing(store: Store, plan: Plan, work: Work, way: Way, report: FolderReport) -> None:
    """Remove photos that came from this folder and are no longer in it.

    A file that is there and cannot be read now is no reason to remove what it held.
    """
    here = [photo for photo in store.photos() if photo.folder == plan.folder]
    missing = [photo for photo in here if photo.hash not in work.seen and photo.source not in work.unread]
    report.removed = [in_one_line(photo.source or photo.hash) for photo in missing]
    if missing and not report.dry_run:
        with store.writing() as change:
            check_parameters(change, way, store.place)
            removed = change.remove_photos([photo.hash for photo in missing])
            join_again(change, {photo.person for photo in missing} - set(removed.people), way)
            if removed.people:
                unlearn(change, store.place)
    numbers = {photo.hash for photo in missing}
    left = {
        work.seen.get(photo.hash, photo.person) if photo.hash in work.movable else photo.person
        for photo in store.photos()
        if photo.hash not in numbers
    }
    report.gone = sorted(set(work.movable.values()) - left)
