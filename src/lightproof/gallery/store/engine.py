"""A database that holds a gallery: connections, transactions, and what is checked when it is opened."""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from sqlalchemy import Connection, Engine, Pool, select
from sqlalchemy.exc import SQLAlchemyError

from lightproof.errors import BadGallery
from lightproof.gallery.store import schema
from lightproof.gallery.store.location import Place
from lightproof.gallery.store.translate_errors import Words


class Database(ABC):
    """One place, and the ways in. What SQLite and PostgreSQL do differently is in the two children.

    Parameters
    ----------
    place : Place
    timeout : float
        Seconds that a writer waits for others.

    Attributes
    ----------
    readers : int
        How many connections read the rows of many people, side by side.
    """

    readers = 1

    def __init__(self, place: Place, timeout: float) -> None:
        self.words = Words(place.shown, timeout)
        self.engine = self._make_engine(place)
        _OPEN.add(self)

    @abstractmethod
    def _make_engine(self, place: Place) -> Engine:
        """Make the engine; nothing is connected yet."""

    @abstractmethod
    def is_blank(self) -> bool:
        """Whether there is nothing yet where a gallery could be; nothing is touched."""

    @abstractmethod
    def prepare(self, create: bool) -> None:
        """Refuse what is no gallery, make one where there is nothing, lead an older one to the present schema."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the gallery, whatever others write meanwhile."""

    @abstractmethod
    def _begin_writing(self, connection: Connection) -> None:
        """Begin a transaction that no other writer can run beside."""

    @abstractmethod
    def _make_missing(self, connection: Connection) -> None:
        """Make the tables unless they are there."""

    @abstractmethod
    def _undone(self) -> AbstractContextManager[None]:
        """Remove what an error leaves of a gallery that was to be made."""

    @abstractmethod
    def sweep(self, traces: list[bytes] | None, patient: bool = True, thorough: bool = False) -> bool:
        """Clean away what was deleted, of which these traces may be left, or others; False if something is in the way.

        Who is not patient does not wait for others. Who is not thorough leaves for later what takes long.
        """

    @abstractmethod
    def leftover(self, unswept: bool) -> str | None:
        """Say in one sentence what may be left of what was deleted; None if nothing is."""

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection that changes everything or nothing, one writer at a time."""
        with self.words.plain(writing=True):
            connection = self.engine.connect()
        try:
            with self.words.plain(writing=True):
                self._begin_writing(connection)
            yield connection
            with self.words.plain(writing=True):
                connection.commit()
        finally:
            # Rolls back whatever was not committed. A server that is gone has done so itself.
            with suppress(SQLAlchemyError):
                connection.close()

    @contextmanager
    def making(self) -> Iterator[Connection]:
        """Give a connection to a gallery that is made if it is missing; after an error there is none."""
        if not self.is_blank():
            self.prepare(create=False)
        with self._undone(), self.writing() as connection:
            with self.words.plain(writing=True):
                self._make_missing(connection)
            yield connection
        self.prepare(create=False)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def _schema_of(self, connection: Connection) -> int:
        """Read the schema number; refuse tables that are not ours and a number from the future."""
        rows = connection.execute(select(schema.facts.c.key, schema.facts.c.value)).all()
        known = {row.key: row.value for row in rows}
        if known.get("kind") != schema.KIND:
            raise BadGallery(self.words.place, "a database with other tables")
        number = known.get("schema")
        if not isinstance(number, str) or not number.isdecimal() or not number.isascii() or int(number) < 1:
            raise self.words.damaged()
        if int(number) > schema.SCHEMA:
            newer = f"one of a newer version (schema {number}; this version knows 1 to {schema.SCHEMA})"
            raise BadGallery(self.words.place, newer)
        return int(number)

    def _migrate(self) -> None:
        """Lead an older gallery to the present schema, all steps or none."""
        with self.writing() as connection, self.words.plain(writing=True):
            # Somebody else may have done it while we waited.
            found = self._schema_of(connection)
            if found < schema.SCHEMA:
                schema.migrate(connection, found)


# A connection must not be used by two processes. After a fork the child makes its own; those of the parent are kept,
# unused, because closing them would reach into the parent's files.
_OPEN: weakref.WeakSet[Database] = weakref.WeakSet()
_OF_THE_PARENT: list[Pool] = []


def _start_anew() -> None:
    for database in list(_OPEN):
        _OF_THE_PARENT.append(database.engine.pool)
        database.engine.dispose(close=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
