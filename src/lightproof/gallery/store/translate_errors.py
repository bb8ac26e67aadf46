"""What the databases complain about, each as one sentence of the family; nothing of theirs reaches the caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from lightproof.errors import BadGallery, CannotWrite, GalleryBusy, LightproofError

_DAMAGED = "a damaged one"

# What PostgreSQL says before there is a connection comes without a code.
_BEFORE_CONNECTING = [
    (("password", "authentication", "role"), "a server that refuses the user or the password"),
    (("database",), "a server without a database of that name"),
    (("too many", "slots"), "a server with too many connections"),
    (("refused", "timeout", "translate", "no such file", "resolve", "unreachable"), "no answer from a server"),
]


@dataclass(frozen=True)
class Words:
    """Speaks about one place.

    Parameters
    ----------
    place : str
        What may be said of it.
    timeout : float
        Seconds that a writer waits for others.
    """

    place: str
    timeout: float

    @contextmanager
    def plain(self, *, writing: bool = False) -> Iterator[None]:
        """Turn the errors of the databases into sentences."""
        try:
            yield
        except LightproofError:
            raise
        except DBAPIError as problem:
            raise self.sentence(problem.orig, writing) from None
        except (SQLAlchemyError, sqlite3.Error) as problem:
            raise self.sentence(problem, writing) from None

    def damaged(self) -> BadGallery:
        """A gallery that holds what no gallery can hold."""
        return BadGallery(self.place, _DAMAGED)

    def cannot_write(self, why: str) -> CannotWrite:
        """A gallery that takes no change."""
        return CannotWrite(self.place, OSError(why))

    def busy(self) -> GalleryBusy:
        """A gallery that another writer does not let go."""
        return GalleryBusy(self.place, f"free for writing within {self.timeout:g} seconds", "another writer")

    def sentence(self, problem: BaseException | None, writing: bool) -> LightproofError:
        """Choose the sentence for one complaint."""
        if isinstance(problem, sqlite3.Error):
            return self._of_sqlite(getattr(problem, "sqlite_errorcode", None), writing)
        return self._of_postgres(getattr(problem, "sqlstate", None), str(problem).lower(), writing)

    def _of_sqlite(self, code: int | None, writing: bool) -> LightproofError:
        # The lowest byte is the kind of error, the rest its variety. No code at all: text that is no text.
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
            if writing:
                return self.cannot_write("the disk refuses or is full")
            return BadGallery(self.place, "a file that cannot be read")
        return BadGallery(self.place, "a file of another kind" if kind == sqlite3.SQLITE_NOTADB else _DAMAGED)

    def _of_postgres(self, state: str | None, said: str, writing: bool) -> LightproofError:
        if state is None:
            for signs, got in _BEFORE_CONNECTING:
                if any(sign in said for sign in signs):
                    return BadGallery(self.place, got)
            return self._broken_off(writing)
        if state in ("55P03", "40P01", "40001", "57014"):
            return self.busy()
        if state.startswith("53"):
            return self.cannot_write("the server's disk or memory is full")
        if state in ("25006", "42501"):
            got = "a user who may not do this"
            return self.cannot_write(got) if writing else BadGallery(self.place, got)
        if state.startswith(("08", "57P")):
            return self._broken_off(writing)
        if state.startswith("28"):
            return BadGallery(self.place, "a server that refuses the user or the password")
        if state == "3D000":
            return BadGallery(self.place, "a server without a database of that name")
        if state.startswith("42"):
            return BadGallery(self.place, "a database with other tables")
        return BadGallery(self.place, _DAMAGED)

    def _broken_off(self, writing: bool) -> LightproofError:
        got = "a server that broke off"
        return self.cannot_write(got) if writing else BadGallery(self.place, got)
