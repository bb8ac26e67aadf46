"""A gallery in one SQLite file.

Changes are written ahead (WAL), so readers and a writer do not wait for each other, and each commit is on the disk when
it returns (``synchronous=FULL``).

SQLite overwrites what it deletes. But when it moves rows between pages, copies may stay in the unused part of a page,
and a later deletion overwrites only the row itself. The unused part of a page of a tree lies between the list of its
cells and the first cell (see "Database File Format" in SQLite's documents); :func:`has_residue` searches it for deleted
rows. Large values lie on pages of their own, which SQLite overwrites whole.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool

from lightproof.core.threads import READERS
from lightproof.errors import GalleryBusy
from lightproof.gallery.store import schema
from lightproof.gallery.store.database import Database, Place

PRAGMAS: Final = [
    # A template of some ten KiB fits on one page, and is read in one go. Counts only for a new file.
    "page_size=32768",
    "foreign_keys=ON",
    "secure_delete=ON",
    "synchronous=FULL",
    # The file may come from anywhere.
    "trusted_schema=OFF",
    "cell_size_check=ON",
]

LARGE_BYTES: Final = 2**28
"""Packing a larger file anew takes more than a moment."""

SWEEP_WAIT_MS: Final = 1000
"""Milliseconds that a sweep waits for readers."""

_PAGE_HEADS = {2: 12, 5: 12, 10: 8, 13: 8}
"""Kinds of page that hold rows or keys, and the lengths of their heads."""

_PAGES_PER_READ = 512


class SqliteFile(Database):
    """A file; it is only read where it or its folder cannot be written."""

    # A single reader waits for the disk row by row.
    n_readers = READERS

    def _make_engine(self, place: Place) -> Engine:
        assert place.file is not None
        # The working folder may change.
        self.file = place.file.absolute()
        self._mode = "rwc"
        self._exists = self._check_file()
        self.writable = all(os.access(path, os.W_OK) for path in [self.file, self.file.parent] if path.exists())
        # How to open a file that cannot be written depends on whether somebody writes to it at the moment.
        pool = QueuePool if self.writable else NullPool
        sizes = {"max_overflow": -1} if self.writable else {}
        return create_engine("sqlite://", creator=self._connect, poolclass=pool, **sizes)

    def _check_file(self) -> bool:
        """Return whether the file exists; refuse what cannot be a gallery before SQLite touches it."""
        try:
            found = self.file.stat()
            if not stat.S_ISREG(found.st_mode):
                raise self.errors.bad("a folder" if stat.S_ISDIR(found.st_mode) else "no plain file")
            with open(self.file, "rb") as file:
                head = file.read(100)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise self.errors.bad(f"a file that cannot be read ({problem.strerror})") from None
        # A writer that was killed while it made the gallery leaves a journal, by which SQLite first repairs the file.
        if head and not _beside(self.file, "-journal").exists():
            if not head.startswith(b"SQLite format 3\0"):
                raise self.errors.bad("a file of another kind")
            if head[68:72] != schema.APPLICATION.to_bytes(4):
                raise self.errors.bad("a database of another program")
            # SQLite fills up a last page that was cut short, and does not say so.
            if found.st_size % max(int.from_bytes(head[16:18]), 512) and not _beside(self.file, "-wal").exists():
                raise self.errors.damaged()
        return True

    def _connect(self) -> sqlite3.Connection:
        mode = self._mode if self.writable else self._mode_for_reading()
        uri = f"{self.file.as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            uri, uri=True, timeout=self.errors.timeout, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _mode_for_reading(self) -> str:
        """Join a present writer; else read the file as it lies, since SQLite could not make its side files."""
        ahead, shared = _beside(self.file, "-wal"), _beside(self.file, "-shm")
        if ahead.exists() and shared.exists():
            return "ro"
        if ahead.exists() and ahead.stat().st_size:
            raise self.errors.bad("one with unfinished changes in a folder that cannot be written")
        return "ro&immutable=1"

    def is_blank(self) -> bool:
        """See the parent."""
        if not self._exists and not self.file.exists():
            return True
        if not self.file.stat().st_size and not any(_beside(self.file, end).exists() for end in ("-journal", "-wal")):
            return True
        with self.reading() as connection, self.errors.translate():
            return not _tables(connection)

    def prepare(self, create: bool) -> None:
        """See the parent."""
        if not self._exists and not create:
            raise self.errors.bad("no such file")
        if not self._exists:
            self._check_folder()
        if self.writable:
            if self.is_blank():
                if not create:
                    raise self.errors.bad("an empty file")
                with self._unmade_on_error(), self.writing() as connection, self.errors.translate(writing=True):
                    self._make_missing(connection)
            with self.errors.translate(writing=True), closing(self._connect()) as raw:
                self._write_ahead(raw)
            self._mode = "rw"
            # Drops the connections that could make the file again.
            self.engine.dispose()
        with self.reading() as connection, self.errors.translate():
            names = _tables(connection)
            if not names:
                raise self.errors.bad("an empty file")
            foreign = {kind for kind, _ in names} - {"table", "index"}
            if foreign or not {("table", name) for name in schema.FIRST} <= names:
                raise self.errors.bad("a database with other tables")
            found = self._schema_of(connection)
        if found < schema.SCHEMA:
            if not self.writable:
                raise self.errors.bad(f"one of an older version (schema {found}) that cannot be written")
            self._migrate()

    def _check_folder(self) -> None:
        """Refuse a folder in which no file can be made."""
        if not self.file.parent.is_dir():
            raise self.errors.cannot_write("no such folder")
        if not self.writable:
            raise self.errors.cannot_write("a folder that cannot be written")

    def _make_missing(self, connection: Connection) -> None:
        # Another process may have made them while we waited.
        if not _tables(connection):
            schema.make_tables(connection)
            connection.exec_driver_sql(f"PRAGMA application_id={schema.APPLICATION}")

    @contextmanager
    def _unmade_on_error(self) -> Iterator[None]:
        if not self._exists:
            self._check_folder()
        try:
            yield
        except BaseException:
            self.close()
            # SQLite makes the file when it connects. A file that another process has put there meanwhile is not empty.
            with suppress(OSError):
                if not self._exists and not self.file.stat().st_size:
                    self.file.unlink()
            raise
        self._exists = True

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch to WAL; SQLite does not wait by itself for others who do the same."""
        end = time.monotonic() + self.errors.timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """See the parent."""
        before = _version(self.file) if not self.writable and self.file.exists() else None
        with ExitStack() as opened:
            try:
                connection = opened.enter_context(self.engine.connect())
                # Python's own handling of transactions is off: it would begin them too late for a snapshot.
                connection.exec_driver_sql("BEGIN DEFERRED")
            except (SQLAlchemyError, sqlite3.Error) as problem:
                raise self.errors.sentence(problem) from None
            yield connection
        # SQLite trusts that a file opened as immutable does not change, so we check it.
        if before is not None and before != _version(self.file):
            raise GalleryBusy(self.errors.place, "left alone while it is read", "a change; read it again")

    def _begin_writing(self, connection: Connection) -> None:
        if not self.writable:
            raise self.errors.cannot_write("a read-only file or folder")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def sweep(self, traces: list[bytes] | None, patient: bool = True, thorough: bool = False) -> bool:
        """Empty the journal into the file; pack the file anew where pages still hold what was moved or deleted.

        A large file is packed anew only where the sweep is thorough. As long as somebody reads a state from before the
        deletion, SQLite needs that state: it lies in the file, and in the journal beside it.
        """
        with self.errors.translate(writing=True), closing(self._connect()) as connection:
            connection.execute(f"PRAGMA busy_timeout={SWEEP_WAIT_MS if patient else 0}")
            if not _emptied(connection) or (self._is_large() and not thorough):
                return False
            if traces is not None and not has_residue(self.file, traces):
                return True
            connection.execute("VACUUM")
            return _emptied(connection)

    def _is_large(self) -> bool:
        return self.file.stat().st_size > LARGE_BYTES

    def leftover(self, unswept: bool) -> str | None:
        """See the parent."""
        if not unswept:
            return None
        if self._is_large():
            return (
                f"The rows are gone, but copies of them may lie in unused parts of {self.errors.place}; a file of this "
                "size is packed anew only by lightproof compact."
            )
        return (
            f"The rows are gone, but {self.errors.place} may still hold bytes of them, because somebody else is "
            "reading it or the disk has no room; they are overwritten after the next change, or when it is opened "
            "again."
        )


def has_residue(file: Path, traces: Iterable[bytes]) -> bool:
    """Whether the unused part of any page holds one of these traces; the file must have no journal beside it."""
    with open(file, "rb") as pages:
        size = int.from_bytes(pages.read(18)[16:])
        size = 65536 if size == 1 else size
        pages.seek(0)
        skip = 100
        while block := pages.read(size * _PAGES_PER_READ):
            for start in range(0, len(block), size):
                unused = _unused(block, start, skip, size).strip(b"\0")
                if unused and any(trace.strip(b"\0") in unused for trace in traces):
                    return True
                skip = 0
    return False


def _unused(block: bytes, start: int, skip: int, size: int) -> bytes:
    """Cut the unused part out of the page that starts here; the first page has ``skip`` bytes before its head."""
    head = start + skip
    length = _PAGE_HEADS.get(block[head])
    if length is None:
        return b""
    cells = int.from_bytes(block[head + 3 : head + 5])
    content = int.from_bytes(block[head + 5 : head + 7]) or 65536
    return block[head + length + 2 * cells : start + min(content, size)]


def _tables(connection: Connection) -> set[tuple[str, str]]:
    return {(kind, name) for kind, name in connection.exec_driver_sql("SELECT type, name FROM sqlite_master")}


def _emptied(connection: sqlite3.Connection) -> bool:
    blocked, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not blocked


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _version(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino
