"""A database that holds a gallery: where it is, its connections and transactions, and its errors as sentences."""

from __future__ import annotations

import os
import sqlite3
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, Pool, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from lightproof.errors import BadGallery, BadParameter, CannotWrite, GalleryBusy, LightproofError
from lightproof.gallery.store import schema

_DAMAGED = "a damaged one"

# Before there is a connection, PostgreSQL's errors have no code.
_BEFORE_CONNECTING = [
    (("password", "authentication", "role"), "a server that refuses the user or the password"),
    (("database",), "a server without a database of that name"),
    (("too many", "slots"), "a server with too many connections"),
    (("refused", "timeout", "translate", "no such file", "resolve", "unreachable"), "no answer from a server"),
]


@dataclass(frozen=True)
class Place:
    """A file, or the URL of a database; messages show it without any password."""

    shown: str
    file: Path | None = None
    url: URL | None = None


def find_place(place: str | os.PathLike[str]) -> Place:
    """Tell a file from a URL; refuse URLs of other kinds. No message ever shows a password."""
    if isinstance(place, os.PathLike):
        return _file(os.fspath(place))
    if not isinstance(place, str):
        raise _bad_place(f"a {type(place).__name__}")
    if "://" not in place:
        return _file(place)
    kind = place.partition("://")[0]
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):
        raise _bad_place(f"{kind}://...") from None
    if url.drivername == "sqlite":
        if url.query or url.host:
            raise _bad_place(f"{kind}:// with more than a file name")
        return _file(url.database or "")
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        if not url.database:
            raise _bad_place("a URL without a database")
        # The query may hold secrets as well.
        shown = URL.create("postgresql", url.username, host=url.host, port=url.port, database=url.database)
        return Place(shown.render_as_string(), url=url.set(drivername="postgresql+psycopg"))
    raise _bad_place(f"{kind}://...")


def _file(name: str) -> Place:
    # For SQLite, ":memory:" and the empty name are no files.
    if not name.strip() or "\0" in name or name == ":memory:":
        raise _bad_place(repr(name))
    return Place(name, file=Path(name))


def _bad_place(got: str) -> BadParameter:
    legal = "a file name, sqlite:///FILE or postgresql://USER@HOST/DATABASE"
    return BadParameter("a gallery", "place", legal, _Unquoted(got))


class _Unquoted(str):
    """Text that messages show without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class PlaceErrors:
    """Makes the sentences about one place; no text of the databases themselves reaches the caller."""

    place: str
    timeout: float

    @contextmanager
    def translate(self, *, writing: bool = False) -> Iterator[None]:
        """Turn errors of the databases into sentences."""
        try:
            yield
        except LightproofError:
            raise
        except (SQLAlchemyError, sqlite3.Error) as problem:
            raise self.sentence(problem, writing) from None

    def bad(self, got: str) -> BadGallery:
        """Make the error of a place that is no gallery."""
        return BadGallery(self.place, got)

    def damaged(self) -> BadGallery:
        """Make the error of a gallery that holds what no gallery can hold."""
        return self.bad(_DAMAGED)

    def cannot_write(self, why: str) -> CannotWrite:
        """Make the error of a gallery that cannot be written."""
        return CannotWrite(self.place, OSError(why))

    def busy(self) -> GalleryBusy:
        """Make the error of a gallery that another writer holds."""
        return GalleryBusy(self.place, f"free for writing within {self.timeout:g} seconds", "another writer")

    def sentence(self, problem: BaseException | None, writing: bool = False) -> LightproofError:
        """Choose the sentence for an error of a database."""
        if isinstance(problem, DBAPIError):
            problem = problem.orig
        if isinstance(problem, sqlite3.Error):
            return self._of_sqlite(getattr(problem, "sqlite_errorcode", None), writing)
        return self._of_postgres(getattr(problem, "sqlstate", None), str(problem).lower(), writing)

    def _of_sqlite(self, code: int | None, writing: bool) -> LightproofError:
        # The lowest byte is the kind of error. Text that cannot be decoded has no code at all.
        kind = None if code is None else code & 0xFF
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return self.busy()
        if kind == sqlite3.SQLITE_FULL:
            return self.cannot_write("the disk is full")
        if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            return self.cannot_write("a read-only file or folder")
        if kind == sqlite3.SQLITE_TOOBIG:
            return self.cannot_write("more in one piece than SQLite can hold")
        if kind in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
            refused = "the disk refuses or is full"
            return self.cannot_write(refused) if writing else self.bad("a file that cannot be read")
        return self.bad("a file of another kind" if kind == sqlite3.SQLITE_NOTADB else _DAMAGED)

    def _of_postgres(self, state: str | None, message: str, writing: bool) -> LightproofError:
        if state is None:
            for signs, got in _BEFORE_CONNECTING:
                if any(sign in message for sign in signs):
                    return self.bad(got)
        elif state in ("55P03", "40P01", "40001", "57014"):
            return self.busy()
        elif state.startswith("53"):
            return self.cannot_write("the server's disk or memory is full")
        elif state in ("25006", "42501"):
            got = "a user who may not do this"
            return self.cannot_write(got) if writing else self.bad(got)
        elif state.startswith("28"):
            return self.bad("a server that refuses the user or the password")
        elif state == "3D000":
            return self.bad("a server without a database of that name")
        elif state.startswith("42"):
            return self.bad("a database with other tables")
        elif not state.startswith(("08", "57P")):
            return self.damaged()
        got = "a server that broke off"
        return self.cannot_write(got) if writing else self.bad(got)


class Database(ABC):
    """Connections to one place, where a writer waits ``timeout`` seconds for others.

    The two children hold what SQLite and PostgreSQL do differently.
    """

    n_readers = 1
    """Connections that read the rows of many people side by side."""

    def __init__(self, place: Place, timeout: float) -> None:
        self.errors = PlaceErrors(place.shown, timeout)
        self.engine = self._make_engine(place)
        _OPEN.add(self)

    @abstractmethod
    def _make_engine(self, place: Place) -> Engine:
        """Make the engine, without a connection."""

    @abstractmethod
    def is_blank(self) -> bool:
        """Whether the place holds nothing, so that a gallery can be made there; changes nothing."""

    @abstractmethod
    def prepare(self, create: bool) -> None:
        """Make a missing gallery, bring an older one to the present schema, refuse all else."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """Open a connection that sees one state of the gallery, whatever others write meanwhile."""

    @abstractmethod
    def _begin_writing(self, connection: Connection) -> None:
        """Begin a transaction beside which nobody else can write."""

    @abstractmethod
    def _make_missing(self, connection: Connection) -> None:
        """Make the tables unless they exist."""

    @abstractmethod
    def _unmade_on_error(self) -> AbstractContextManager[None]:
        """After an error, remove the rest of a gallery that was to be made."""

    @abstractmethod
    def sweep(self, traces: list[bytes] | None, patient: bool = True, thorough: bool = False) -> bool:
        """Overwrite what was deleted; return False if something prevents it.

        ``traces`` are what the deleted rows may have left, None if unknown. A patient sweep waits for others; a
        thorough one also does what takes long.
        """

    @abstractmethod
    def leftover(self, unswept: bool) -> str | None:
        """Say in one sentence what may be left of deleted rows; None if nothing is."""

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a connection that changes everything or nothing, one writer at a time."""
        with self.errors.translate(writing=True):
            connection = self.engine.connect()
        try:
            with self.errors.translate(writing=True):
                self._begin_writing(connection)
            yield connection
            with self.errors.translate(writing=True):
                connection.commit()
        finally:
            # Rolls back what was not committed. A server that is gone has done so itself.
            with suppress(SQLAlchemyError):
                connection.close()

    @contextmanager
    def making(self) -> Iterator[Connection]:
        """Open a connection to a gallery that is made if it is missing; after an error there is none."""
        if not self.is_blank():
            self.prepare(create=False)
        with self._unmade_on_error(), self.writing() as connection:
            with self.errors.translate(writing=True):
                self._make_missing(connection)
            yield connection
        self.prepare(create=False)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _schema_of(self, connection: Connection) -> int:
        """Read the schema number; refuse tables of other programs and numbers of later versions."""
        rows = connection.execute(select(schema.facts.c.key, schema.facts.c.value)).all()
        facts = {row.key: row.value for row in rows}
        if facts.get("kind") != schema.KIND:
            raise self.errors.bad("a database with other tables")
        number = facts.get("schema")
        if not isinstance(number, str) or not number.isdecimal() or not number.isascii() or int(number) < 1:
            raise self.errors.damaged()
        if int(number) > schema.SCHEMA:
            newer = f"one of a newer version (schema {number}; this version knows 1 to {schema.SCHEMA})"
            raise self.errors.bad(newer)
        return int(number)

    def _migrate(self) -> None:
        """Bring an older gallery to the present schema, in all steps or none."""
        with self.writing() as connection, self.errors.translate(writing=True):
            # Another process may have done it while we waited.
            found = self._schema_of(connection)
            if found < schema.SCHEMA:
                schema.migrate(connection, found)


# Two processes must not share a connection. After a fork the child makes its own and keeps those of the parent unused:
# to close them would reach into the parent's files.
_OPEN: weakref.WeakSet[Database] = weakref.WeakSet()
_OF_THE_PARENT: list[Pool] = []


def _reconnect_after_fork() -> None:
    for database in list(_OPEN):
        _OF_THE_PARENT.append(database.engine.pool)
        database.engine.dispose(close=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reconnect_after_fork)
