"""One state of a gallery, for reading."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, TypeAlias

from sqlalchemy import Boolean, ColumnElement, Connection, Executable, Select, exists, func, null, select, type_coerce
from sqlalchemy.exc import SQLAlchemyError

from lightproof.errors import UnknownPerson
from lightproof.gallery.store.database import PlaceErrors
from lightproof.gallery.store.records import (
    Counts,
    Forgotten,
    NewPhoto,
    Person,
    Photo,
    Refusal,
    StoredPerson,
    check_name,
    storable,
)
from lightproof.gallery.store.schema import codes, facts, gone, people, photos, refused

PHOTOS_PER_READ: Final = 128
"""Photos whose templates are in memory together, unless one person has more."""

CODES_PER_READ: Final = 8192

VALUES_PER_STATEMENT: Final = 900
"""Databases limit the values that one statement looks for."""

PERSON_IDS: Final = range(1, 2**63)

MAX_PEOPLE_FOR_HINTS: Final = 10_000
"""In larger galleries, the error of an unknown name does not search for similar names."""

Kinds: TypeAlias = tuple[type | tuple[type, ...], ...]

MAYBE_STR, MAYBE_BYTES = (str, type(None)), (bytes, type(None))

_PERSON: Kinds = (int, str, int, int, str)
_PHOTO: Kinds = (int, str, str, str, MAYBE_STR, MAYBE_STR, MAYBE_STR, str, bool)
_TEMPLATE: Kinds = (int, str, str, bytes, MAYBE_STR, MAYBE_STR, MAYBE_STR, MAYBE_BYTES, MAYBE_BYTES)
_REFUSAL: Kinds = (str, MAYBE_STR, str, MAYBE_STR, str, str, str)

_OF_PERSON = photos.c.person == people.c.id
_N_PHOTOS = select(func.count()).where(_OF_PERSON).scalar_subquery()
_PEOPLE = select(people.c.id, people.c.name, _N_PHOTOS, people.c.revision, people.c.added)


class View:
    """One state of the gallery: all answers agree, whatever others write meanwhile.

    Made by :meth:`Store.reading`, and valid inside its block: the connection is in a transaction that sees one state.
    """

    _REVISION = select(facts.c.value).where(facts.c.key == "revision")
    _WRITES = False

    def __init__(self, connection: Connection, errors: PlaceErrors) -> None:
        self._connection = connection
        self._errors = errors
        # The first query decides which state the transaction sees.
        rows = self._rows(self._REVISION, (str,))
        if len(rows) != 1 or not (rows[0][0].isascii() and rows[0][0].isdecimal()):
            raise errors.damaged()
        self._revision = int(rows[0][0])

    @property
    def place(self) -> str:
        """Where the gallery is, without any password."""
        return self._errors.place

    def facts(self) -> dict[str, str]:
        """Return all facts of the gallery, by key."""
        return dict(self._rows(select(facts.c.key, facts.c.value), (str, str)))

    def revision(self) -> int:
        """Return the number of changes so far; equal numbers mean equal contents."""
        return self._revision

    def people(self) -> list[Person]:
        """Return all people, sorted by name."""
        return self._people(_PEOPLE)

    def some_people(self, after: str | None, most: int, part: str | None = None) -> tuple[list[Person], int]:
        """Return a page of at most ``most`` people, sorted by name, and the number of people on all pages.

        The page begins after the name ``after``. With ``part`` only people whose name contains it are on the pages;
        the case of ASCII letters does not matter.
        """
        composed = storable(unicodedata.normalize("NFC", part or ""))
        wanted = [people.c.name.icontains(composed, autoescape=True)] if composed else []
        total: int = self._rows(select(func.count()).select_from(people).where(*wanted), (int,))[0][0]
        if after is not None:
            wanted.append(people.c.name > storable(after))
        return self._people(_PEOPLE.where(*wanted).limit(most)), total

    def person(self, who: str | int) -> Person:
        """Find one person, by name or by id; :class:`~lightproof.errors.UnknownPerson` suggests a similar name."""
        if isinstance(who, int):
            found = self._people(_PEOPLE.where(people.c.id == who)) if who in PERSON_IDS else []
            if not found:
                raise UnknownPerson.numbered(who)
            return found[0]
        name = check_name(who)
        found = self._people(_PEOPLE.where(people.c.name == name))
        if not found:
            raise self._unknown(name)
        return found[0]

    def counts_of(self, name: str) -> Forgotten:
        """Count the photos and refusals under a name; a name without photos may have refusals."""
        name = check_name(name)
        found = self._people(_PEOPLE.where(people.c.name == name))
        query = select(func.count()).select_from(refused).where(refused.c.person == name)
        refusals: int = self._rows(query, (int,))[0][0]
        if not found and not refusals:
            names = select(refused.c.person).where(refused.c.person.is_not(None)).distinct()
            raise self._unknown(name, [row[0] for row in self._rows(names, (str,))])
        return Forgotten(found[0].photos if found else 0, refusals)

    def ids_of(self, names: Iterable[str]) -> dict[str, int]:
        """Return the ids of those of these people who are enrolled; a renamed person keeps the id."""
        distinct = dict.fromkeys(names)
        return dict(self._among(select(people.c.name, people.c.id), people.c.name, distinct, (str, int)))

    def names_of(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the present names of people, by id."""
        return dict(self._among(select(people.c.id, people.c.name), people.c.id, ids, (int, str)))

    def photos(self, name: str | int | None = None, *, folder: str | None = None) -> list[Photo]:
        """List the photos of one person, or of all, or those that came from a folder; sorted by name, then by hash."""
        table = photos.c
        # The database knows the length without reading the picture.
        has_face = type_coerce(func.length(table.face).is_not(None), Boolean)
        kept = [table.hash, table.parameters, table.source, table.folder, table.light, table.added]
        query = select(table.id, people.c.name, *kept, has_face).join_from(photos, people)
        if name is not None:
            query = query.where(table.person == self.person(name).id)
        if folder is not None:
            query = query.where(table.folder == storable(folder))
        return [Photo(*row) for row in self._rows(query.order_by(people.c.name, table.hash), _PHOTO)]

    def owners_of(self, hashes: Iterable[str]) -> dict[str, str]:
        """Return the person of each of these photos that is enrolled, by hash."""
        query = select(photos.c.hash, people.c.name).join_from(photos, people)
        return dict(self._among(query, photos.c.hash, hashes, (str, str)))

    def refusals(self, hashes: Iterable[str] | None = None) -> dict[str, Refusal]:
        """Return the refusals of these photos, or all, by hash."""
        rows = (
            self._rows(select(refused).order_by(refused.c.hash), _REFUSAL)
            if hashes is None
            else self._among(select(refused), refused.c.hash, hashes, _REFUSAL)
        )
        return {row[0]: Refusal(*row) for row in rows}

    def templates(self, since: int = -1, *, faces: bool = False) -> Iterator[StoredPerson]:
        """Yield the people who changed after a revision, sorted by name; read a few at a time, faces on request."""
        return self._with_photos(self._people(_PEOPLE.where(people.c.revision > since)), faces)

    def templates_of_people(self, ids: Iterable[int], *, faces: bool = False) -> Iterator[StoredPerson]:
        """Yield those of these people who are enrolled, as :meth:`templates` does."""
        enrolled = [Person(*row) for row in self._among(_PEOPLE, people.c.id, ids, _PERSON)]
        return self._with_photos(sorted(enrolled, key=lambda person: person.name), faces)

    def comparison_data(self, ids: Iterable[int]) -> list[StoredPerson]:
        """Read in one query what a comparison with these people needs: no sources, faces and codes."""
        kept = (photos.c.hash, photos.c.parameters, photos.c.template, photos.c.light)
        person = (people.c.id, people.c.name, people.c.revision, people.c.added, people.c.span)
        query = select(*person, *kept).join_from(people, photos).order_by(people.c.name, photos.c.hash)
        by_id: dict[int, StoredPerson] = {}
        kinds: Kinds = (int, str, int, str, MAYBE_BYTES, str, str, bytes, MAYBE_STR)
        for number, name, revision, added, span, key, parameters, template, light in self._among(
            query, people.c.id, ids, kinds
        ):
            stored = by_id.setdefault(number, (Person(number, name, 0, revision, added), [], span))
            stored[1].append(NewPhoto(key, parameters, template, light=light))
        return [(replace(who, photos=len(own)), own, span) for who, own, span in by_id.values()]

    def codes(self, since: int = -1, numbers: range | None = None) -> Iterator[tuple[list[int], list[bytes]]]:
        """Yield the ids of people who changed after a revision, and the codes of their photos, some at a time.

        With ``numbers``, only people with these ids.
        """
        query = select(codes.c.person, codes.c.code)
        if numbers is not None:
            query = query.where(codes.c.person >= numbers.start, codes.c.person < numbers.stop)
        if since >= 0:
            query = query.join_from(codes, people, codes.c.person == people.c.id).where(people.c.revision > since)
        with self._errors.translate(writing=self._WRITES):
            rows = self._connection.execution_options(yield_per=CODES_PER_READ).execute(query)
            for some in rows.partitions():
                if not all(isinstance(person, int) and isinstance(code, bytes) for person, code in some):
                    raise self._errors.damaged()
                yield [person for person, _ in some], [code for _, code in some]

    def changed(self, since: int) -> tuple[list[int], list[int]]:
        """Return the ids of people who were added or changed after a revision, and of those who were deleted."""
        news = self._rows(select(people.c.id).where(people.c.revision > since), (int,))
        left = self._rows(select(gone.c.person).where(gone.c.revision > since), (int,))
        return [row[0] for row in news], [row[0] for row in left]

    def largest_id(self) -> int:
        """Return the largest id of a person; 0 if there is nobody."""
        rows = self._rows(select(people.c.id).order_by(people.c.id.desc()).limit(1), (int,))
        return rows[0][0] if rows else 0

    def reference_sample(self, most: int) -> dict[int, int]:
        """Sample people with photos, the same ones whoever else comes and goes; return their revisions, by id."""
        query = select(people.c.id, people.c.revision).where(exists(select(photos.c.id).where(_OF_PERSON)))
        return dict(self._rows(query.order_by(people.c.lot, people.c.id).limit(most), (int, int)))

    def face(self, photo: int) -> bytes | None:
        """Return the face of a photo, by the id of the photo, if the gallery kept it."""
        rows = self._rows(select(photos.c.face).where(photos.c.id == photo), (MAYBE_BYTES,))
        return rows[0][0] if rows else None

    def counts(self) -> Counts:
        """Count people, photos and refused photos."""
        numbers = [select(func.count()).select_from(table).scalar_subquery() for table in (people, photos, refused)]
        return Counts(*self._rows(select(*numbers), (int, int, int))[0])

    def is_larger(self, most: int) -> bool:
        """Return whether there are more people than ``most``, without counting all of them."""
        return bool(self._rows(select(people.c.id).order_by(people.c.id).offset(most).limit(1), (int,)))

    def _with_photos(self, wanted: list[Person], faces: bool) -> Iterator[StoredPerson]:
        table = photos.c
        kept = [table.hash, table.parameters, table.template, table.source, table.folder, table.light]
        face = table.face if faces else null()
        query = select(table.person, *kept, face, codes.c.code).outerjoin_from(photos, codes, codes.c.photo == table.id)
        query = query.order_by(table.person, table.hash)
        for group in _groups(wanted):
            ids = [person.id for person in group]
            spans = dict(self._among(select(people.c.id, people.c.span), people.c.id, ids, (int, MAYBE_BYTES)))
            by_id: dict[int, list[NewPhoto]] = {person: [] for person in ids}
            for person, *photo in self._among(query, table.person, ids, _TEMPLATE):
                by_id[person].append(NewPhoto(*photo))
            for person in group:
                # Popped, so that memory holds no person longer than the caller does.
                yield person, by_id.pop(person.id), spans.pop(person.id)

    def _unknown(self, name: str, others: Sequence[str] = ()) -> UnknownPerson:
        query = select(people.c.name).order_by(people.c.name).limit(MAX_PEOPLE_FOR_HINTS + 1)
        known = [row[0] for row in self._rows(query, (str,))]
        near = get_close_matches(name, [*known, *others]) if len(known) <= MAX_PEOPLE_FOR_HINTS else []
        return UnknownPerson(name, known, what="The name", nearest=near)

    def _people(self, query: Select[Any]) -> list[Person]:
        return [Person(*row) for row in self._rows(query.order_by(people.c.name), _PERSON)]

    def _among(
        self, query: Select[Any], column: ColumnElement[Any], wanted: Iterable[object], kinds: Kinds
    ) -> Iterator[Any]:
        """Select the rows whose column is among many values, some values at a time."""
        for condition in self._conditions(column, wanted):
            yield from self._rows(query.where(condition), kinds)

    def _conditions(self, column: ColumnElement[Any], wanted: Iterable[object]) -> Iterator[ColumnElement[bool]]:
        """Make the conditions that a column holds one of many values, each about some of them."""
        values = (storable(value) if isinstance(value, str) else value for value in wanted)
        while some := list(islice(values, VALUES_PER_STATEMENT)):
            if self._connection.dialect.name == "sqlite":
                # As one text: to bind hundreds of values one by one takes longer than to look them up.
                listed = func.json_each(json.dumps(some)).table_valued("value")
                yield column.in_(select(listed.c.value))
            else:
                yield column.in_(some)

    def _rows(self, query: Executable, kinds: Kinds) -> Sequence[Any]:
        """Select rows, and check their types: a damaged file can hold anything."""
        try:
            rows = self._connection.execute(query).all()
        except (SQLAlchemyError, sqlite3.Error) as problem:
            raise self._errors.sentence(problem, self._WRITES) from None
        for row in rows:
            if not all(map(isinstance, row, kinds)):
                raise self._errors.damaged()
        return rows


def _groups(wanted: list[Person]) -> Iterator[list[Person]]:
    """Cut people into groups whose photos fit into memory together."""
    group: list[Person] = []
    size = 0
    for person in wanted:
        if group and size + max(person.photos, 1) > PHOTOS_PER_READ:
            yield group
            group, size = [], 0
        group.append(person)
        size += max(person.photos, 1)
    if group:
        yield group
