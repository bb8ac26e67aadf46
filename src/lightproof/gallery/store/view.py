"""One state of a gallery, to be read."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, TypeAlias

from sqlalchemy import Boolean, ColumnElement, Connection, Executable, Select, exists, func, null, select, type_coerce

from lightproof.errors import UnknownPerson
from lightproof.gallery.store.person_names import check_name, storable
from lightproof.gallery.store.records import Counts, Forgotten, NewPhoto, Person, Photo, Refusal
from lightproof.gallery.store.schema import codes, facts, gone, people, photos, refused
from lightproof.gallery.store.translate_errors import Words

AT_ONCE: Final = 128
"""Photos whose templates are in memory together, unless one person has more."""

NUMBERS: Final = range(1, 2**63)
"""What a database counts with."""

CODES: Final = 8192
"""Codes that are read at a time."""

FAMILIAR: Final = 10_000
"""In a gallery of more people nobody is looked for who is called nearly so."""

IN_ONE_QUESTION: Final = 900
"""Values that one statement looks for; databases limit them."""

Kinds: TypeAlias = tuple[type | tuple[type, ...], ...]

_MAYBE_STR = (str, type(None))
_MAYBE_BYTES = (bytes, type(None))
_PERSON: Kinds = (int, str, int, int, str)
_PHOTO: Kinds = (int, str, str, str, _MAYBE_STR, _MAYBE_STR, _MAYBE_STR, str, bool)
_TEMPLATE: Kinds = (int, str, str, bytes, _MAYBE_STR, _MAYBE_STR, _MAYBE_STR, _MAYBE_BYTES, _MAYBE_BYTES)
_REFUSAL: Kinds = (str, _MAYBE_STR, str, _MAYBE_STR, str, str, str)

_OWN = photos.c.person == people.c.id
_COUNTED = select(func.count()).where(_OWN).scalar_subquery()
_PEOPLE = select(people.c.id, people.c.name, _COUNTED, people.c.revision, people.c.added)


class View:
    """One state of the gallery: all answers fit together, whatever others write meanwhile.

    Made by :meth:`Store.reading`; of no use after its block.

    Parameters
    ----------
    connection : Connection
        In a transaction that sees one state.
    words : Words
    """

    _REVISION = select(facts.c.value).where(facts.c.key == "revision")
    _WRITES = False

    def __init__(self, connection: Connection, words: Words) -> None:
        self._connection = connection
        self._words = words
        # Asked first: the state that a transaction sees is that of its first question.
        rows = self._rows(self._REVISION, (str,))
        if len(rows) != 1 or not (rows[0][0].isascii() and rows[0][0].isdecimal()):
            raise words.damaged()
        self._seen = int(rows[0][0])

    @property
    def place(self) -> str:
        """Where the gallery is, without any password."""
        return self._words.place

    def facts(self) -> dict[str, str]:
        """All facts of the gallery, by key."""
        return dict(self._rows(select(facts.c.key, facts.c.value), (str, str)))

    def revision(self) -> int:
        """How many changes there have been; equal numbers mean equal contents."""
        return self._seen

    def people(self) -> list[Person]:
        """Everybody, sorted by name."""
        return self._people(_PEOPLE)

    def some_people(self, after: str | None, most: int, part: str | None = None) -> tuple[list[Person], int]:
        """Those whose name comes after another one, sorted by name.

        Parameters
        ----------
        after : str, optional
            The last name that was seen; from the first one on if not given.
        most : int
            How many at most.
        part : str, optional
            Only people whose name contains this; capitals do not matter, where they are ASCII.

        Returns
        -------
        people : list of Person
        total : int
            How many there are in all, before and after.
        """
        composed = storable(unicodedata.normalize("NFC", part or ""))
        wanted = [people.c.name.icontains(composed, autoescape=True)] if composed else []
        total: int = self._rows(select(func.count()).select_from(people).where(*wanted), (int,))[0][0]
        if after is not None:
            wanted.append(people.c.name > storable(after))
        return self._people(_PEOPLE.where(*wanted).limit(most)), total

    def person(self, who: str | int) -> Person:
        """Find one person, by name or by number.

        :class:`~lightproof.errors.UnknownPerson` names those who are called nearly so.
        """
        if isinstance(who, int):
            found = self._people(_PEOPLE.where(people.c.id == who)) if who in NUMBERS else []
            if not found:
                raise UnknownPerson.numbered(who)
            return found[0]
        wanted = check_name(who)
        for one in self._people(_PEOPLE.where(people.c.name == wanted)):
            return one
        raise self._unknown(wanted)

    def kept_of(self, name: str) -> Forgotten:
        """How much is kept under a name: photos, and refusals, of which there may be some of nobody enrolled."""
        wanted = check_name(name)
        found = self._people(_PEOPLE.where(people.c.name == wanted))
        question = select(func.count()).select_from(refused).where(refused.c.person == wanted)
        refusals: int = self._rows(question, (int,))[0][0]
        if not found and not refusals:
            names = select(refused.c.person).where(refused.c.person.is_not(None)).distinct()
            raise self._unknown(wanted, [row[0] for row in self._rows(names, (str,))])
        return Forgotten(found[0].photos if found else 0, refusals)

    def ids_of(self, names: Iterable[str]) -> dict[str, int]:
        """Which of these people there are, and the number of each, which stays whatever they are called."""
        distinct = dict.fromkeys(names)
        return dict(self._among(select(people.c.name, people.c.id), people.c.name, distinct, (str, int)))

    def names_of(self, ids: Iterable[int]) -> dict[int, str]:
        """What the people with these numbers are called now."""
        return dict(self._among(select(people.c.id, people.c.name), people.c.id, ids, (int, str)))

    def photos(self, name: str | int | None = None, *, folder: str | None = None) -> list[Photo]:
        """List the photos of one person, or of all, or those that came from a folder; sorted by name, then by hash."""
        table = photos.c
        # The length is read off without reading the picture.
        has_face = type_coerce(func.length(table.face).is_not(None), Boolean)
        kept = [table.hash, table.parameters, table.source, table.folder, table.light, table.added]
        question = select(table.id, people.c.name, *kept, has_face).join_from(photos, people)
        if name is not None:
            question = question.where(table.person == self.person(name).id)
        if folder is not None:
            question = question.where(table.folder == storable(folder))
        rows = self._rows(question.order_by(people.c.name, table.hash), _PHOTO)
        return [Photo(*row) for row in rows]

    def known_hashes(self, hashes: Iterable[str]) -> dict[str, str]:
        """Which of these photos are enrolled, and as whom."""
        question = select(photos.c.hash, people.c.name).join_from(photos, people)
        return dict(self._among(question, photos.c.hash, hashes, (str, str)))

    def refusals(self, hashes: Iterable[str] | None = None) -> dict[str, Refusal]:
        """Which of these photos, or of all, were refused, and why."""
        rows = (
            self._rows(select(refused).order_by(refused.c.hash), _REFUSAL)
            if hashes is None
            else self._among(select(refused), refused.c.hash, hashes, _REFUSAL)
        )
        return {row[0]: Refusal(*row) for row in rows}

    def templates(
        self, since: int = -1, *, faces: bool = False
    ) -> Iterator[tuple[Person, list[NewPhoto], bytes | None]]:
        """Everybody who changed after a revision, with photos in the order of their hashes, and the joint template.

        Sorted by name, and read a few people at a time. The faces are left out unless they are asked for.
        """
        yield from self._with_photos(self._people(_PEOPLE.where(people.c.revision > since)), faces)

    def templates_of_people(
        self, ids: Iterable[int], *, faces: bool = False
    ) -> Iterator[tuple[Person, list[NewPhoto], bytes | None]]:
        """Those of these people who are there, as :meth:`templates` gives them."""
        found = [Person(*row) for row in self._among(_PEOPLE, people.c.id, ids, _PERSON)]
        return self._with_photos(sorted(found, key=lambda person: person.name), faces)

    def compared(self, ids: Iterable[int]) -> list[tuple[Person, list[NewPhoto], bytes | None]]:
        """What a comparison needs of a few people, in one question: sources, faces and codes are left out."""
        kept = (photos.c.hash, photos.c.parameters, photos.c.template, photos.c.light)
        person = (people.c.id, people.c.name, people.c.revision, people.c.added, people.c.span)
        question = select(*person, *kept).join_from(people, photos).order_by(people.c.name, photos.c.hash)
        theirs: dict[int, tuple[Person, list[NewPhoto], bytes | None]] = {}
        kinds: Kinds = (int, str, int, str, _MAYBE_BYTES, str, str, bytes, _MAYBE_STR)
        for number, name, revision, added, span, key, parameters, template, light in self._among(
            question, people.c.id, ids, kinds
        ):
            photo = NewPhoto(key, parameters, template, light=light)
            own = theirs.setdefault(number, (Person(number, name, 0, revision, added), [], span))
            own[1].append(photo)
        return [(replace(who, photos=len(own)), own, span) for who, own, span in theirs.values()]

    def codes(self, since: int = -1, numbers: range | None = None) -> Iterator[tuple[list[int], list[bytes]]]:
        """The codes of all photos of people who changed after a revision, and whose they are, some at a time.

        Where numbers are given, only of people who have one of these.
        """
        question = select(codes.c.person, codes.c.code)
        if numbers is not None:
            question = question.where(codes.c.person >= numbers.start, codes.c.person < numbers.stop)
        if since >= 0:
            question = question.join_from(codes, people, codes.c.person == people.c.id)
            question = question.where(people.c.revision > since)
        with self._words.plain(writing=self._WRITES):
            rows = self._connection.execution_options(yield_per=CODES).execute(question)
            for some in rows.partitions():
                if not all(isinstance(person, int) and isinstance(code, bytes) for person, code in some):
                    raise self._words.damaged()
                yield [person for person, _ in some], [code for _, code in some]

    def changed(self, since: int) -> tuple[list[int], list[int]]:
        """Numbers of people who were added or changed after a revision, and of those who went."""
        news = self._rows(select(people.c.id).where(people.c.revision > since), (int,))
        left = self._rows(select(gone.c.person).where(gone.c.revision > since), (int,))
        return [row[0] for row in news], [row[0] for row in left]

    def last_number(self) -> int:
        """The largest number that anybody has; 0 if there is nobody."""
        found = self._rows(select(people.c.id).order_by(people.c.id.desc()).limit(1), (int,))
        return found[0][0] if found else 0

    def drawn(self, most: int) -> dict[int, int]:
        """Draw so many people with photos by lot, the same ones whoever else comes and goes: number and revision."""
        question = select(people.c.id, people.c.revision).where(exists(select(photos.c.id).where(_OWN)))
        return dict(self._rows(question.order_by(people.c.lot, people.c.id).limit(most), (int, int)))

    def _with_photos(
        self, everybody: list[Person], faces: bool
    ) -> Iterator[tuple[Person, list[NewPhoto], bytes | None]]:
        for group in _groups(everybody):
            ids = [person.id for person in group]
            spans = dict(self._among(select(people.c.id, people.c.span), people.c.id, ids, (int, _MAYBE_BYTES)))
            theirs: dict[int, list[NewPhoto]] = {person: [] for person in ids}
            for person, *photo in self._among(_with_templates(faces), photos.c.person, ids, _TEMPLATE):
                theirs[person].append(NewPhoto(*photo))
            for person in group:
                # Popped, so that whoever reads on does not hold what was read before.
                yield person, theirs.pop(person.id), spans.pop(person.id)

    def face(self, photo: int) -> bytes | None:
        """The face of a photo, by the id of the photo, if it was kept."""
        rows = self._rows(select(photos.c.face).where(photos.c.id == photo), (_MAYBE_BYTES,))
        return rows[0][0] if rows else None

    def counts(self) -> Counts:
        """How many people, photos and refused photos there are."""
        numbers = [select(func.count()).select_from(table).scalar_subquery() for table in (people, photos, refused)]
        return Counts(*self._rows(select(*numbers), (int, int, int))[0])

    def is_larger(self, most: int) -> bool:
        """Whether there are more people than so many, without counting all of them."""
        return bool(self._rows(select(people.c.id).order_by(people.c.id).offset(most).limit(1), (int,)))

    def _unknown(self, wanted: str, others: Sequence[str] = ()) -> UnknownPerson:
        question = select(people.c.name).order_by(people.c.name)
        known = [row[0] for row in self._rows(question.limit(FAMILIAR + 1), (str,))]
        if len(known) > FAMILIAR:
            return UnknownPerson(wanted, known, what="The name", nearest=[])
        return UnknownPerson(wanted, known, what="The name", nearest=get_close_matches(wanted, [*known, *others]))

    def _people(self, question: Select[Any]) -> list[Person]:
        return [Person(*row) for row in self._rows(question.order_by(people.c.name), _PERSON)]

    def _among(
        self, question: Select[Any], column: ColumnElement[Any], wanted: Iterable[object], kinds: Kinds
    ) -> Iterator[Any]:
        """Ask for the rows whose column is among many values, some values at a time."""
        values = (storable(value) if isinstance(value, str) else value for value in wanted)
        while some := list(islice(values, IN_ONE_QUESTION)):
            yield from self._rows(question.where(self._one_of(column, some)), kinds)

    def _one_of(self, column: ColumnElement[Any], values: Sequence[object]) -> ColumnElement[bool]:
        """Say that a column holds one of some values."""
        if self._connection.dialect.name != "sqlite":
            return column.in_(values)
        # As one text: to write down hundreds of values one by one takes longer than to look them up.
        listed = func.json_each(json.dumps(values)).table_valued("value")
        return column.in_(select(listed.c.value))

    def _rows(self, question: Executable, kinds: Kinds) -> Sequence[Any]:
        """Ask, and hold the answer to what it must be made of: a damaged file can hold anything."""
        with self._words.plain(writing=self._WRITES):
            rows = self._connection.execute(question).all()
        for row in rows:
            if not all(map(isinstance, row, kinds)):
                raise self._words.damaged()
        return rows


def _with_templates(faces: bool) -> Select[Any]:
    table = photos.c
    kept = [table.hash, table.parameters, table.template, table.source, table.folder, table.light]
    face = table.face if faces else null()
    question = select(table.person, *kept, face, codes.c.code).outerjoin_from(photos, codes, codes.c.photo == table.id)
    return question.order_by(table.person, table.hash)


def _groups(everybody: list[Person]) -> Iterator[list[Person]]:
    """Few enough people at a time that their photos fit into memory."""
    group: list[Person] = []
    size = 0
    for person in everybody:
        if group and size + max(person.photos, 1) > AT_ONCE:
            yield group
            group, size = [], 0
        group.append(person)
        size += max(person.photos, 1)
    if group:
        yield group
