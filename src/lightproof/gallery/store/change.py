"""One change of a gallery: everything in it happens, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, CursorResult, Delete, Executable, Table, Update, exists, func, select
from sqlalchemy.sql.compiler import SQLCompiler

from lightproof.core.labels import sampling_key
from lightproof.errors import BadParameter, DuplicatePhoto, LightproofError, NameTaken
from lightproof.gallery.store.database import PlaceErrors
from lightproof.gallery.store.records import (
    Added,
    Forgotten,
    NewPhoto,
    Refusal,
    Removed,
    check_kind,
    check_name,
    photo_row,
    refusal_row,
    storable,
)
from lightproof.gallery.store.schema import OWN_FACTS, codes, facts, gone, now, people, photos, refused
from lightproof.gallery.store.view import MAYBE_BYTES, MAYBE_STR, Kinds, View

MAX_TRACED_PHOTOS: Final = 50
"""When a change deletes more photos, it does not list their traces."""

HEAD_BYTES: Final = 8192
"""At most so many bytes of a large value lie among the rows."""

_TRACE_STEP, _TRACE_BYTES = 512, 16


def traces_of(*values: str | bytes | None) -> list[bytes]:
    """List what proves that a row is still there: its texts, and samples of the heads of its large values."""
    traces: list[bytes] = []
    for value in values:
        if isinstance(value, str):
            traces.append(value.encode())
        elif value is not None:
            traces += [value[i : i + _TRACE_BYTES] for i in range(0, min(len(value), HEAD_BYTES), _TRACE_STEP)]
    return [trace for trace in traces if trace.strip(b"\0")]


class Change(View):
    """A transaction that writes; it reads what it has written so far, and nobody else does.

    Made by :meth:`Store.writing`, which commits it at the end of its block. When photos of a person change, the joint
    template of that person is dropped; :meth:`set_spans` gives the new one.

    ``erased`` says whether the change deleted anything that must be overwritten; ``traces`` lists what the deleted rows
    may have left, or is None if that is too much to list.
    """

    # On PostgreSQL a writer waits here for others.
    _REVISION = View._REVISION.with_for_update()
    _WRITES = True

    def __init__(self, connection: Connection, errors: PlaceErrors) -> None:
        self._failure: LightproofError | None = None
        super().__init__(connection, errors)
        self._next = self._revision + 1
        self._changed = False
        self.erased = False
        self.traces: list[bytes] | None = []

    @property
    def next_revision(self) -> int:
        """Revision of the gallery if the change ended now."""
        return self._next if self._changed else self._revision

    def finish(self) -> str | None:
        """Count the change; called once, before the commit.

        Returns the mark that the gallery has until what this change, or one before it, deleted is overwritten.
        """
        with self._whole():
            if self._changed:
                self._put("revision", str(self._next))
            unswept = self.facts().get("unswept")
            if unswept is not None:
                # The traces of the changes before are not known any more.
                self.traces = None
            if self.erased:
                unswept = str(self._next)
                self._put("unswept", unswept)
        return unswept

    def swept(self, mark: str) -> None:
        """Remove the mark of a change whose deleted rows are overwritten; the mark of a later change stays."""
        self._run(facts.delete().where(facts.c.key == "unswept", facts.c.value == mark))

    def add_person(self, name: str) -> None:
        """Enroll a person without photos; :class:`~lightproof.errors.NameTaken` if the name is taken."""
        name = check_name(name)
        if self.ids_of([name]):
            raise NameTaken(name)
        self._do(people.insert(), self._new_person(name, now()))

    def add_photos(self, name: str, new: Iterable[NewPhoto]) -> Added:
        """Add photos of one person; see :meth:`add_all`."""
        return self.add_all({name: new})

    def add_all(self, new: Mapping[str, Iterable[NewPhoto]]) -> Added:
        """Add photos by name, enroll unknown people, and drop earlier refusals of these photos.

        Photos that are enrolled under the same name are left out and counted;
        :class:`~lightproof.errors.DuplicatePhoto` if one is enrolled under another name.
        """
        given = [(check_name(name), photo_row(photo)) for name, own in new.items() for photo in own]
        known = self.owners_of({row["hash"] for _, row in given})
        owners, rows = dict(known), {}
        for name, row in given:
            owner = owners.setdefault(row["hash"], name)
            if owner != name:
                raise DuplicatePhoto(row["source"] or row["hash"], name, owner)
            if row["hash"] not in known:
                rows[row["hash"]] = {**row, "person": name}
        self._insert_photos(rows)
        return Added(len(rows), len(given) - len(rows))

    def replace_templates(self, name: str, made: Iterable[NewPhoto]) -> int:
        """Replace templates, parameters, lights and codes of a person's photos, by hash; return how many."""
        person = self.person(name)
        rows = [photo_row(photo) for photo in made]
        owners = self.owners_of(row["hash"] for row in rows)
        for row in rows:
            if owners.get(row["hash"]) != person.name:
                raise BadParameter("replace_templates", "made", f"photos of {person.name!r}", row["hash"])
            values = {key: row[key] for key in ("parameters", "template", "light")}
            self._do(photos.update().where(photos.c.hash == row["hash"]).values(values))
        numbers = [row[0] for row in self._among(select(photos.c.id), photos.c.hash, owners, (int,))]
        self._each(codes.delete(), codes.c.photo, numbers)
        self._insert_codes({row["hash"]: row["code"] for row in rows}, dict.fromkeys(owners, person.id))
        if rows:
            self._touch([person.id])
        return len(rows)

    def templates_of(self, name: str) -> list[bytes]:
        """Return the templates of a person in the order of their hashes: the order of enrolling does not matter."""
        query = select(photos.c.template).where(photos.c.person == self.person(name).id)
        return [row[0] for row in self._rows(query.order_by(photos.c.hash), (bytes,))]

    def set_span(self, name: str, span: bytes | None) -> None:
        """Store the joint template of one person's photos."""
        self.set_spans({name: span})

    def set_spans(self, spans: Mapping[str, bytes | None]) -> None:
        """Store the joint templates of many people's photos."""
        wanted = {check_name(name): span for name, span in spans.items()}
        ids = self.ids_of(wanted)
        for name, span in wanted.items():
            check_kind("set_spans", "span", span, bytes | None)
            person = ids[name] if name in ids else self.person(name).id
            self._do(people.update().where(people.c.id == person).values(span=span, revision=self._next))

    def rename(self, old: str, new: str) -> None:
        """Rename a person; :class:`~lightproof.errors.NameTaken` if the new name is taken."""
        person, new = self.person(old), check_name(new, "The new name")
        if new == person.name:
            return
        if self.ids_of([new]):
            raise NameTaken(new)
        values = {"name": new, "lot": sampling_key(new), "revision": self._next}
        self._do(people.update().where(people.c.id == person.id).values(values))
        self._do(refused.update().where(refused.c.person == person.name).values(person=new))
        self._erase(person.name)

    def forget(self, name: str) -> Forgotten:
        """Delete a person with all photos, and the refusals under that name; there may be only refusals."""
        kept = self.counts_of(name)
        name = check_name(name)
        for number in self.ids_of([name]).values():
            self._erase_photos(photos.c.person, [number], kept.photos)
            self._erase_people([number])
            self._do(photos.delete().where(photos.c.person == number))
            self._delete_people([number])
        self._drop_refusals(refused.c.person, [name])
        return kept

    def remove_photos(self, hashes: Iterable[str]) -> Removed:
        """Delete photos by their hashes, and people without any photo left. Unknown hashes are left out."""
        owners = self.owners_of(hashes)
        if not owners:
            return Removed(0, [])
        self._erase_photos(photos.c.hash, owners, len(owners))
        ids = self.ids_of(owners.values())
        # The joint templates are made of the deleted photos.
        self._erase_people(ids.values())
        self._each(photos.delete(), photos.c.hash, owners)
        left = exists(select(photos.c.id).where(photos.c.person == people.c.id))
        query = select(people.c.id, people.c.name).where(~left)
        empty = dict(self._among(query, people.c.id, ids.values(), (int, str)))
        self._delete_people(list(empty))
        self._drop_refusals(refused.c.person, list(empty.values()))
        self._touch([person for person in ids.values() if person not in empty])
        return Removed(len(owners), sorted(empty.values()))

    def set_sources(self, sources: Mapping[str, str]) -> None:
        """Store the new file names of photos, by hash."""
        query = select(photos.c.hash, photos.c.source)
        before = dict(self._among(query, photos.c.hash, sources, (str, MAYBE_STR)))
        for number, old in before.items():
            new = storable(sources[number])
            if new != old:
                self._do(photos.update().where(photos.c.hash == number).values(source=new))
                self._erase(old)

    def remember_refusals(self, refusals: Iterable[Refusal]) -> int:
        """Store refusals, in place of earlier ones of the same photos; return how many."""
        rows = {row["hash"]: row for row in map(refusal_row, refusals)}
        self._each(refused.delete(), refused.c.hash, rows)
        if rows:
            self._do(refused.insert(), list(rows.values()))
        return len(rows)

    def forget_refusals(self, hashes: Iterable[str]) -> int:
        """Delete refusals; return how many."""
        return self._drop_refusals(refused.c.hash, [storable(key) for key in hashes])

    def set_fact(self, key: str, value: str | None) -> None:
        """Store a fact of the gallery, or delete it with None."""
        check_kind("set_fact", "key", key, str)
        check_kind("set_fact", "value", value, str | None)
        if key in OWN_FACTS:
            raise BadParameter("set_fact", "key", f"none of the store's own ({', '.join(sorted(OWN_FACTS))})", key)
        if self.facts().get(key) != value:
            self._put(key, value)
            self._changed = True

    def _put(self, key: str, value: str | None) -> None:
        key = storable(key)
        if value is None:
            self._run(facts.delete().where(facts.c.key == key))
        # The row of the revision must stay the same row: on PostgreSQL other writers wait for it.
        elif not self._run(facts.update().where(facts.c.key == key).values(value=storable(value))):
            self._run(facts.insert(), {"key": key, "value": storable(value)})

    def _insert_photos(self, rows: dict[str, dict[str, Any]]) -> None:
        """Add checked photos, whose person is given by name; enroll unknown people."""
        if not rows:
            return
        day = now()
        names = dict.fromkeys(row["person"] for row in rows.values())
        ids = self.ids_of(names)
        self._touch(ids.values())
        if missing := [name for name in names if name not in ids]:
            self._insert(people, [self._new_person(name, day) for name in missing])
            ids |= self.ids_of(missing)
        new_codes = {key: row.pop("code") for key, row in rows.items()}
        self._insert(photos, [{**row, "person": ids[row["person"]], "added": day} for row in rows.values()])
        self._insert_codes(new_codes, {key: ids[row["person"]] for key, row in rows.items()})
        self._each(refused.delete(), refused.c.hash, rows)

    def _insert_codes(self, new: Mapping[str, bytes | None], persons: Mapping[str, int]) -> None:
        """Add the codes of photos, by hash, that have one."""
        numbers = self._among(select(photos.c.hash, photos.c.id), photos.c.hash, new, (str, int))
        rows = [{"photo": number, "person": persons[key], "code": new[key]} for key, number in numbers]
        self._insert(codes, [row for row in rows if row["code"] is not None])

    def _new_person(self, name: str, day: str) -> dict[str, Any]:
        return {"name": name, "revision": self._next, "added": day, "lot": sampling_key(name)}

    def _touch(self, persons: Iterable[int]) -> None:
        """Mark people as changed by this revision, and drop their joint templates."""
        self._each(people.update().values(revision=self._next, span=None), people.c.id, persons)

    def _delete_people(self, numbers: Sequence[int]) -> None:
        """Delete people without photos, and note their ids for readers that follow the gallery."""
        if self._each(people.delete(), people.c.id, numbers):
            self._do(gone.insert(), [{"person": number, "revision": self._next} for number in numbers])

    def _drop_refusals(self, column: ColumnElement[Any], values: Sequence[str]) -> int:
        query = select(refused.c.hash, refused.c.person, refused.c.source, refused.c.reason)
        for row in self._among(query, column, values, (str, MAYBE_STR, str, str)):
            self._erase(*row)
        return self._each(refused.delete(), column, values)

    def _erase(self, *values: str | bytes | None) -> None:
        """Note that values are deleted and must be overwritten."""
        self.erased = True
        if self.traces is not None:
            self.traces += traces_of(*values)

    def _erase_photos(self, column: ColumnElement[Any], values: Iterable[object], count: int) -> None:
        self.erased = True
        if count > MAX_TRACED_PHOTOS:
            self.traces = None
        if self.traces is not None:
            kept = (photos.c.hash, photos.c.source, func.substr(photos.c.template, 1, HEAD_BYTES), codes.c.code)
            query = select(*kept).outerjoin_from(photos, codes, codes.c.photo == photos.c.id)
            for row in self._among(query, column, values, (str, MAYBE_STR, bytes, MAYBE_BYTES)):
                self._erase(*row)

    def _erase_people(self, ids: Iterable[int]) -> None:
        if self.traces is not None:
            query = select(people.c.name, func.substr(people.c.span, 1, HEAD_BYTES))
            for row in self._among(query, people.c.id, ids, (str, MAYBE_BYTES)):
                self._erase(*row)

    def _each(self, statement: Update | Delete, column: ColumnElement[Any], values: Iterable[object]) -> int:
        """Run a statement on the rows whose column is among many values; return the number of changed rows."""
        return sum(self._do(statement.where(condition)) for condition in self._conditions(column, values))

    def _insert(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Add many rows with the same columns."""
        if not rows:
            return
        # Compiled once and given to the driver: SQLAlchemy would look at every value of every row.
        statement = table.insert().compile(dialect=self._connection.dialect, column_keys=list(rows[0]))
        assert isinstance(statement, SQLCompiler)
        order = statement.positiontup
        given = rows if order is None else [tuple(row[name] for name in order) for row in rows]
        with self._whole(), self._errors.translate(writing=self._WRITES):
            self._connection.exec_driver_sql(str(statement), list(given))
        self._changed = True

    def _do(self, statement: Executable, rows: Any = None) -> int:
        """Change rows of the gallery; return how many."""
        count = self._run(statement, rows)
        self._changed = self._changed or count != 0
        return count

    def _run(self, statement: Executable, rows: Any = None) -> int:
        with self._whole(), self._errors.translate(writing=self._WRITES):
            result = self._connection.execute(statement, rows)
            # Unlike a query, a statement that changes rows always has a cursor.
            assert isinstance(result, CursorResult)
            return result.rowcount

    def _rows(self, query: Executable, kinds: Kinds) -> Sequence[Any]:
        with self._whole():
            return super()._rows(query, kinds)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Refuse to go on after an error of the database, which may have undone a part of the change."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except LightproofError as problem:
            self._failure = problem
            raise
