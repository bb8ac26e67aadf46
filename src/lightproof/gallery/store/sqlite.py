"""A gallery in one SQLite file.

Changes are written ahead (WAL), so readers and a writer do not wait for each other, and each commit is on the disk when
it returns (``synchronous=FULL``).
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool, QueuePool

from lightproof.core.processes import READERS
from lightproof.errors import BadGallery, CannotWrite, GalleryBusy
from lightproof.gallery.store import schema
from lightproof.gallery.store.engine import Database
from lightproof.gallery.store.location import Place
from lightproof.gallery.store.residue import has_residue

PRAGMAS: Final = [
    # A template of some ten KiB on one page: it is read in one go. Counts only for a new file.
    "page_size=32768",
    "foreign_keys=ON",
    "secure_delete=ON",
    "synchronous=FULL",
    # The file may come from anywhere.
    "trusted_schema=OFF",
    "cell_size_check=ON",
]

LARGE: Final = 2**28
"""Bytes of a file beyond which packing it anew takes more than a moment."""

SWEEP_WAIT: Final = 1000
"""Milliseconds that a sweep waits for readers."""


class SqliteFile(Database):
    """A file; where it or its folder cannot be written, it is only read."""

    # One reader waits for the disk row by row.
    readers = READERS

    def _make_engine(self, place: Place) -> Engine:
        assert place.file is not None
        # Work may change the folder it runs in.
        self.file = place.file.absolute()
        self._mode = "rwc"
        self._exists = self._look()
        self.writable = all(os.access(it, os.W_OK) for it in [self.file, self.file.parent] if it.exists())
        # How a file that cannot be written is opened depends on whether somebody writes to it at the moment.
        pool = QueuePool if self.writable else NullPool
        sizes = {"max_overflow": -1} if self.writable else {}
        engine = create_engine("sqlite://", creator=self._connect, poolclass=pool, **sizes)
        event.listen(engine, "begin", _begin)
        return engine

    def _look(self) -> bool:
        """Whether the file is there; refuse what cannot be a gallery before SQLite touches it."""
        try:
            found = self.file.stat()
            if not stat.S_ISREG(found.st_mode):
                raise BadGallery(self.words.place, "a folder" if stat.S_ISDIR(found.st_mode) else "no plain file")
            with open(self.file, "rb") as file:
                head = file.read(100)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise BadGallery(self.words.place, f"a file that cannot be read ({problem.strerror})") from None
        # A writer that was killed while it made the gallery leaves a journal; SQLite then puts the file right first.
        if head and not _beside(self.file, "-journal").exists():
            if not head.startswith(b"SQLite format 3\0"):
                raise BadGallery(self.words.place, "a file of another kind")
            if head[68:72] != schema.APPLICATION.to_bytes(4):
                raise BadGallery(self.words.place, "a database of another program")
            # SQLite fills up a last page that was cut short, and does not say so.
            if found.st_size % max(int.from_bytes(head[16:18]), 512) and not _beside(self.file, "-wal").exists():
                raise self.words.damaged()
        return True

    def _connect(self) -> sqlite3.Connection:
        mode = self._mode if self.writable else self._mode_for_reading()
        uri = f"{self.file.as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            uri, uri=True, timeout=self.words.timeout, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _mode_for_reading(self) -> str:
        """Join a writer who is there; else read the file as it lies, since SQLite could not make its side files."""
        ahead, shared = _beside(self.file, "-wal"), _beside(self.file, "-shm")
        if ahead.exists() and shared.exists():
            return "ro"
        if ahead.exists() and ahead.stat().st_size:
            raise BadGallery(self.words.place, "one with unfinished changes in a folder that cannot be written")
        return "ro&immutable=1"

    def is_blank(self) -> bool:
        """See the parent."""
        if not self._exists and not self.file.exists():
            return True
        if not self.file.stat().st_size and not any(_beside(self.file, it).exists() for it in ("-journal", "-wal")):
            return True
        with self.reading() as connection, self.words.plain():
            return not self._names(connection)

    def prepare(self, create: bool) -> None:
        """See the parent."""
        if not self._exists and not create:
            raise BadGallery(self.words.place, "no such file")
        if not self._exists:
            self._check_room()
        if self.writable:
            if self.is_blank():
                if not create:
                    raise BadGallery(self.words.place, "an empty file")
                with self._undone(), self.writing() as connection, self.words.plain(writing=True):
                    self._make_missing(connection)
            with self.words.plain(writing=True), closing(self._connect()) as raw:
                self._write_ahead(raw)
            self._mode = "rw"
            # Connections that could make the file again are let go.
            self.engine.dispose()
        with self.reading() as connection, self.words.plain():
            self._check_tables(connection)
            found = self._schema_of(connection)
        if found < schema.SCHEMA:
            if not self.writable:
                older = f"one of an older version (schema {found}) that cannot be written"
                raise BadGallery(self.words.place, older)
            self._migrate()

    def _check_room(self) -> None:
        """Refuse a place where no file can be made."""
        if not self.file.parent.is_dir():
            raise CannotWrite(self.words.place, OSError("no such folder"))
        if not self.writable:
            raise CannotWrite(self.words.place, OSError("a folder that cannot be written"))

    def _make_missing(self, connection: Connection) -> None:
        # Somebody else may have made it while we waited.
        if not self._names(connection):
            schema.make_tables(connection)
            connection.exec_driver_sql(f"PRAGMA application_id={schema.APPLICATION}")

    @contextmanager
    def _undone(self) -> Iterator[None]:
        if not self._exists:
            self._check_room()
        try:
            yield
        except BaseException:
            self.close()
            # SQLite makes the file when it connects. What somebody else has put there meanwhile is not empty.
            with suppress(OSError):
                if not self._exists and not self.file.stat().st_size:
                    self.file.unlink()
            raise
        self._exists = True

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch to WAL; SQLite does not wait by itself for others who do the same."""
        end = time.monotonic() + self.words.timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def _names(self, connection: Connection) -> set[tuple[str, str]]:
        rows = connection.exec_driver_sql("SELECT type, name FROM sqlite_master").all()
        return {(kind, name) for kind, name in rows}

    def _check_tables(self, connection: Connection) -> None:
        names = self._names(connection)
        if not names:
            raise BadGallery(self.words.place, "an empty file")
        foreign = {kind for kind, _ in names} - {"table", "index"}
        if foreign or not {("table", name) for name in schema.FIRST} <= names:
            raise BadGallery(self.words.place, "a database with other tables")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """See the parent."""
        before = self.file.stat() if not self.writable and self.file.exists() else None
        with self.words.plain():
            connection = self.engine.connect()
        with connection:
            with self.words.plain():
                connection.begin()
            yield connection
        # SQLite trusts that a file read as it lies does not change; so that is looked after here.
        if before is not None and _differs(before, self.file):
            raise GalleryBusy(self.words.place, "left alone while it is read", "a change; read it again")

    def _begin_writing(self, connection: Connection) -> None:
        if not self.writable:
            raise self.words.cannot_write("a read-only file or folder")
        connection.execution_options(begin="IMMEDIATE").begin()

    def sweep(self, traces: list[bytes] | None, patient: bool = True, thorough: bool = False) -> bool:
        """Empty the journal into the file; pack the file anew where pages still hold what was moved or deleted.

        A large file is not read through and packed whenever somebody is forgotten, only by who is thorough.

        As long as somebody reads a state from before the deletion, SQLite needs that state: it lies in the file, and in
        the journal beside it.
        """
        with self.words.plain(writing=True), closing(self._connect()) as connection:
            connection.execute(f"PRAGMA busy_timeout={SWEEP_WAIT if patient else 0}")
            if not _emptied(connection) or (self._is_large() and not thorough):
                return False
            if traces is not None and not has_residue(self.file, traces):
                return True
            connection.execute("VACUUM")
            return _emptied(connection)

    def _is_large(self) -> bool:
        return self.file.stat().st_size > LARGE

    def leftover(self, unswept: bool) -> str | None:
        """See the parent."""
        if not unswept:
            return None
        if self._is_large():
            return (
                f"The rows are gone, but copies of them may lie in unused parts of {self.words.place}; a file of this "
                "size is packed anew only by lightproof compact."
            )
        return (
            f"The rows are gone, but {self.words.place} may still hold bytes of them, because somebody else is reading "
            "it or the disk has no room; they are overwritten after the next change, or when it is opened again."
        )


def _begin(connection: Connection) -> None:
    # Python's own handling of transactions is off: it would begin them too late for a snapshot.
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('begin', 'DEFERRED')}")


def _emptied(connection: sqlite3.Connection) -> bool:
    blocked, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not blocked


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _differs(before: os.stat_result, file: Path) -> bool:
    after = file.stat()
    return (before.st_mtime_ns, before.st_size, before.st_ino) != (after.st_mtime_ns, after.st_size, after.st_ino)
