"""How a change is written, statement by statement: what it counts, and what it may leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, Table, delete, func, insert, select, update
from sqlalchemy.sql.compiler import SQLCompiler

from lightproof.errors import LightproofError
from lightproof.gallery.store.person_names import storable
from lightproof.gallery.store.residue import HEAD, traces
from lightproof.gallery.store.schema import codes, facts, people, photos
from lightproof.gallery.store.translate_errors import Words
from lightproof.gallery.store.view import IN_ONE_QUESTION, Kinds, View

MANY: Final = 50
"""Where more photos than this are deleted, their traces are not looked for one by one."""

_MAYBE_STR, _MAYBE_BYTES = (str, type(None)), (bytes, type(None))

T = TypeVar("T")


class Statements(View):
    """A transaction that writes; it reads what it has written so far, and nobody else does.

    Parameters
    ----------
    connection : Connection
        In a transaction that no other writer runs beside.
    words : Words

    Attributes
    ----------
    erased : bool
        Whether anything was deleted of which nothing may be left.
    traces : list of bytes, or None
        What to look for then; None if it is too much.
    """

    # On PostgreSQL this is where a writer waits for others.
    _REVISION = View._REVISION.with_for_update()
    _WRITES = True

    def __init__(self, connection: Connection, words: Words) -> None:
        self._broken: LightproofError | None = None
        super().__init__(connection, words)
        self._next = self._seen + 1
        self._changed = False
        self.erased = False
        self.traces: list[bytes] | None = []

    @property
    def next_revision(self) -> int:
        """The revision that the gallery will have if nothing more comes."""
        return self._next if self._changed else self._seen

    def finish(self) -> str | None:
        """Count the change; called once, before the commit.

        Returns
        -------
        str, or None
            The mark that the gallery has from now on until no traces are left of what this change deleted, or one
            before it.
        """
        with self._unbroken():
            if self._changed:
                self._put("revision", str(self._next))
            unswept = self.facts().get("unswept")
            if unswept is not None:
                # Nobody knows any more by which traces to look for what went before.
                self.traces = None
            if self.erased:
                unswept = str(self._next)
                self._put("unswept", unswept)
        return unswept

    def swept(self, mark: str) -> None:
        """Take note that no traces are left of the change with this mark; those of a later change may be."""
        self._run(delete(facts).where(facts.c.key == "unswept", facts.c.value == mark))

    def _erase(self, *values: str | bytes | None) -> None:
        self.erased = True
        if self.traces is not None:
            self.traces += traces(*values)

    def _erase_photos(self, column: ColumnElement[Any], values: Iterable[object], count: int) -> None:
        self.erased = True
        if count > MANY:
            self.traces = None
        if self.traces is not None:
            kept = (photos.c.hash, photos.c.source, func.substr(photos.c.template, 1, HEAD), codes.c.code)
            question = select(*kept).outerjoin_from(photos, codes, codes.c.photo == photos.c.id)
            for row in self._among(question, column, values, (str, _MAYBE_STR, bytes, _MAYBE_BYTES)):
                self._erase(*row)

    def _erase_people(self, ids: Iterable[int]) -> None:
        if self.traces is not None:
            question = select(people.c.name, func.substr(people.c.span, 1, HEAD))
            for row in self._among(question, people.c.id, ids, (str, _MAYBE_BYTES)):
                self._erase(*row)

    def _put(self, key: str, value: str | None) -> None:
        key = storable(key)
        if value is None:
            self._run(delete(facts).where(facts.c.key == key))
        # The row of the revision must stay the same row: on PostgreSQL other writers wait for it.
        elif not self._run(update(facts).where(facts.c.key == key).values(value=storable(value))):
            self._run(insert(facts), {"key": key, "value": storable(value)})

    def _touch(self, persons: list[int]) -> None:
        """Mark people as changed by this revision; their joint template is of the photos before."""
        news = {"revision": self._next, "span": None}
        self._each(persons, lambda some: update(people).where(self._one_of(people.c.id, some)).values(news))

    def _each(self, values: Sequence[T], make: Callable[[Sequence[T]], Executable]) -> int:
        """Change rows whose column is among many values, some values at a time."""
        return sum(self._do(make(values[i : i + IN_ONE_QUESTION])) for i in range(0, len(values), IN_ONE_QUESTION))

    def _insert(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Add many rows with the same columns."""
        if not rows:
            return
        # Written out once and given to the driver: SQLAlchemy would look at every value of every row.
        statement = insert(table).compile(dialect=self._connection.dialect, column_keys=list(rows[0]))
        assert isinstance(statement, SQLCompiler)
        order = statement.positiontup
        given = rows if order is None else [tuple(row[name] for name in order) for row in rows]
        with self._unbroken(), self._words.plain(writing=self._WRITES):
            self._connection.exec_driver_sql(str(statement), list(given))
        self._changed = True

    def _do(self, statement: Executable, rows: Any = None) -> int:
        """Change rows; return how many."""
        count = self._run(statement, rows)
        self._changed = self._changed or count != 0
        return count

    def _run(self, statement: Executable, rows: Any = None) -> int:
        with self._unbroken(), self._words.plain(writing=self._WRITES):
            result = self._connection.execute(statement, rows)
            # Unlike a question, a statement that changes rows always has a cursor.
            assert isinstance(result, CursorResult)
            return result.rowcount

    def _rows(self, question: Executable, kinds: Kinds) -> Sequence[Any]:
        with self._unbroken():
            return super()._rows(question, kinds)

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        """After an error of the database, a part may be undone already; whatever came then would stand alone."""
        if self._broken is not None:
            raise self._broken
        try:
            yield
        except LightproofError as problem:
            self._broken = problem
            raise
