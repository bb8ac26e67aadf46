"""Everybody's templates in memory, as the store has them now."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from threading import Lock

from lightproof.enrolled import Enrolled, Template
from lightproof.errors import BadGallery
from lightproof.gallery.taking import Way, lights_of
from lightproof.gallery.templates import decode
from lightproof.store import NewPhoto, Store


class Register:
    """Follows a store: people are read when they are new or have changed, and no sooner than somebody asks.

    Parameters
    ----------
    store : Store
    way : Way
        Of the gallery: templates of other parameters are refused.
    """

    def __init__(self, store: Store, way: Way) -> None:
        self._store, self._way = store, way
        self._revision = -1
        self._templates: dict[int, tuple[str, Template]] = {}
        self._people: Enrolled = way.matcher.everybody({})
        # Two threads that follow at once would each miss what the other has read.
        self._alone = Lock()

    def everybody(self) -> Enrolled:
        """Return everybody who is enrolled, by name."""
        with self._alone:
            if self._store.revision() != self._revision:
                self._follow()
            return self._people

    def _follow(self) -> None:
        with self._store.reading() as view:
            revision = view.revision()
            names = {person.id: person.name for person in view.people()}
            known = {number: kept for number, kept in self._templates.items() if number in names}
            for person, photos, span in view.templates(since=self._revision):
                if not photos:  # somebody who was entered before there was a photo
                    known.pop(person.id, None)
                    continue
                known[person.id] = (person.name, self._template(person.name, photos, span))
        ordered: dict[Hashable, Template] = {
            names[number]: known[number][1] for number in sorted(known, key=names.__getitem__)
        }
        self._templates, self._revision = known, revision
        self._people = self._way.matcher.everybody(ordered)

    def _template(self, name: str, photos: list[NewPhoto], span: bytes | None) -> Template:
        for photo in photos:
            if photo.parameters != self._way.parameters:
                raise BadGallery(self._store.place, "a template made with other parameters")
        return replace(self._joined(photos, span), lights=lights_of(photos, self._store.place))

    def _joined(self, photos: list[NewPhoto], span: bytes | None) -> Template:
        if span is not None:
            return decode(span, self._way.matcher, self._store.place)
        templates = [decode(photo.template, self._way.matcher, self._store.place) for photo in photos]
        return self._way.matcher.joined(templates)
