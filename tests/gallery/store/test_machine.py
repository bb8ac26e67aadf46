"""Any sequence of changes against a plain model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lightproof.errors import DuplicatePhoto, NameTaken, UnknownPerson
from lightproof.gallery.store import Added, Forgotten, NewPhoto, Refusal, Removed, Store
from tests.examples import examples

NAMES = st.sampled_from(["Ada", "Bob", "Cy", "Dän"])
KEYS = st.lists(st.sampled_from("abcdefgh"), max_size=4)


class Gallery(RuleBasedStateMachine):
    """The model: photos as a dict of their keys to names, people, refusals, and the revision."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "a.gallery"
        self.store = Store.open(self.file)
        self.photos: dict[str, str] = {}
        self.people: set[str] = set()
        self.refused: dict[str, str | None] = {}
        self.revision = 0

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(name=NAMES, keys=KEYS)
    def add(self, name: str, keys: list[str]) -> None:
        new = [NewPhoto(key, "p", key.encode()) for key in keys]
        foreign = [key for key in keys if self.photos.get(key, name) != name]
        fresh = {key for key in keys if key not in self.photos}
        try:
            with self.store.writing() as change:
                assert change.add_photos(name, new) == Added(len(fresh), len(keys) - len(fresh))
            assert not foreign
        except DuplicatePhoto:
            assert foreign
            return
        if fresh:
            self.photos |= dict.fromkeys(fresh, name)
            self.people.add(name)
            self.refused = {key: person for key, person in self.refused.items() if key not in fresh}
            self.revision += 1

    @rule(name=NAMES)
    def add_nobody(self, name: str) -> None:
        try:
            with self.store.writing() as change:
                change.add_person(name)
            assert name not in self.people
        except NameTaken:
            assert name in self.people
            return
        self.people.add(name)
        self.revision += 1

    @rule(old=NAMES, new=NAMES)
    def rename(self, old: str, new: str) -> None:
        try:
            with self.store.writing() as change:
                change.rename(old, new)
        except UnknownPerson:
            assert old not in self.people
            return
        except NameTaken:
            assert new in self.people - {old}
            return
        if old != new:
            self.people = {new if name == old else name for name in self.people}
            self.photos = {key: new if name == old else name for key, name in self.photos.items()}
            self.refused = {key: new if name == old else name for key, name in self.refused.items()}
            self.revision += 1

    @rule(name=NAMES)
    def forget(self, name: str) -> None:
        gone = [key for key, owner in self.photos.items() if owner == name]
        with_it = [key for key, owner in self.refused.items() if owner == name]
        try:
            with self.store.writing() as change:
                assert change.forget(name) == Forgotten(len(gone), len(with_it))
        except UnknownPerson:
            assert name not in self.people | set(self.refused.values())
            return
        self.people.discard(name)
        self.photos = {key: owner for key, owner in self.photos.items() if owner != name}
        self.refused = {key: owner for key, owner in self.refused.items() if owner != name}
        self.revision += 1

    @rule(keys=KEYS)
    def remove(self, keys: list[str]) -> None:
        there = {key for key in keys if key in self.photos}
        owners = {self.photos[key] for key in there}
        self.photos = {key: name for key, name in self.photos.items() if key not in there}
        empty = owners - set(self.photos.values())
        with self.store.writing() as change:
            assert change.remove_photos(keys) == Removed(len(there), sorted(empty))
        self.people -= empty
        self.refused = {key: owner for key, owner in self.refused.items() if owner not in empty}
        self.revision += bool(there)

    @rule(person=st.none() | NAMES, keys=KEYS)
    def refuse(self, person: str | None, keys: list[str]) -> None:
        with self.store.writing() as change:
            change.remember_refusals([Refusal(key, person, "s", None, "p", "dark") for key in keys])
        self.refused |= dict.fromkeys(keys, person)
        self.revision += bool(keys)

    @precondition(lambda self: self.people)
    @rule()
    def fail(self) -> None:
        try:
            with self.store.writing() as change:
                change.forget(min(self.people))
                change.add_photos("Eve", [NewPhoto("eve", "p", b"")])
                raise InterruptedError
        except InterruptedError:
            pass

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = Store.open(self.file, create=False)

    @invariant()
    def the_gallery_is_what_the_model_says(self) -> None:
        with self.store.reading() as view:
            assert [person.name for person in view.people()] == sorted(self.people)
            assert {photo.hash: photo.person for photo in view.photos()} == self.photos
            assert {key: refusal.person for key, refusal in view.refusals().items()} == self.refused
            assert view.counts() == (len(self.people), len(self.photos), len(self.refused))
            assert view.revision() == self.revision
            for person, photos, _ in view.templates():
                theirs = sorted(key for key, name in self.photos.items() if name == person.name)
                assert [photo.template.decode() for photo in photos] == theirs
                assert person.photos == len(theirs)
                assert person.revision <= self.revision


TestGallery = Gallery.TestCase
TestGallery.settings = examples(12, stateful_step_count=20)
