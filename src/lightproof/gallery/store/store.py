"""The door of the store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from types import TracebackType
from typing import Final

from lightproof.core.processes import by_readers
from lightproof.errors import BadParameter, LightproofError, UserError
from lightproof.gallery.store.change import Change
from lightproof.gallery.store.engine import Database
from lightproof.gallery.store.location import find_place
from lightproof.gallery.store.postgres import PostgresDatabase
from lightproof.gallery.store.records import Counts, Forgotten, NewPhoto, Person, Photo, Refusal
from lightproof.gallery.store.sqlite import SqliteFile
from lightproof.gallery.store.view import View

TIMEOUT: Final = 30.0
"""Seconds that a writer waits for others."""

EACH: Final = 16
"""People who are worth a reader of their own."""


class Store:
    """What a gallery keeps.

    Made by :meth:`open`. Several threads may use one store; another process opens its own, and after a fork the child
    has connections of its own. Each reading method sees one state of the gallery; ``with store.reading() as view``
    gives the same methods on one state together. ``with store.writing() as change`` changes everything or nothing.

    What a change deletes is overwritten after it is committed. A reader elsewhere who still sees it delays that: the
    gallery is then marked as :attr:`unswept`, and it is tried again after the next change and at the next opening,
    whoever makes them, and when this store is closed. PostgreSQL frees the room of what is deleted and does not
    overwrite it; :meth:`leftover` says so.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._closed = False
        self._mark: str | None = None
        self._erased = False

    @classmethod
    def open(cls, place: str | os.PathLike[str], *, create: bool = True, timeout: float = TIMEOUT) -> Store:
        """Open a gallery.

        Parameters
        ----------
        place : str or path
            A file name, ``sqlite:///FILE`` or ``postgresql://USER@HOST/DATABASE``.
        create : bool, default=True
            Make a gallery where there is no file, an empty file, or a database without tables.
        timeout : float, default=30.0
            Seconds that a writer waits for others.

        Returns
        -------
        Store
        """
        database = _database_at(place, timeout)
        store = cls(database)
        try:
            database.prepare(create)
            store._mark = store.facts().get("unswept")
            store._sweep()
        except BaseException:
            database.close()
            raise
        return store

    @classmethod
    @contextmanager
    def making(cls, place: str | os.PathLike[str], *, timeout: float = TIMEOUT) -> Iterator[Change]:
        """Make a gallery and fill it, in one change: after an error there is nothing that was not there before.

        Where a gallery is there already, the change is one of it.
        """
        database = _database_at(place, timeout)
        try:
            with database.making() as connection:
                change = Change(connection, database.words)
                yield change
                change.finish()
        finally:
            database.close()

    @staticmethod
    def exists(place: str | os.PathLike[str], *, timeout: float = TIMEOUT) -> bool:
        """Whether anything is there: not where :meth:`open` would make a gallery; nothing is made or changed."""
        database = _database_at(place, timeout)
        try:
            return not database.is_blank()
        finally:
            database.close()

    @property
    def place(self) -> str:
        """Where the gallery is, without any password."""
        return self._database.words.place

    @contextmanager
    def reading(self) -> Iterator[View]:
        """Hold one state of the gallery for several questions. A writer is never waited for."""
        self._check_open()
        with self._database.reading() as connection:
            yield View(connection, self._database.words)

    @contextmanager
    def writing(self) -> Iterator[Change]:
        """Change the gallery, everything in the block or nothing, one writer at a time.

        Other writers are waited for until the timeout, then there is :class:`~lightproof.errors.GalleryBusy`. When the
        block has ended without an error, the change is on the disk.
        """
        self._check_open()
        with self._database.writing() as connection:
            change = Change(connection, self._database.words)
            yield change
            mark = change.finish()
        self._mark = mark
        self._erased = self._erased or change.erased
        # Whoever deleted nothing does not wait for others on account of those who did.
        self._sweep(change.traces, patient=change.erased)

    def _sweep(self, traces: list[bytes] | None = None, patient: bool = True) -> None:
        mark = self._mark
        # The change is made and stands, whatever comes now; the mark in the gallery says that this is still to do.
        with suppress(LightproofError):
            if mark is not None and self._database.sweep(traces, patient):
                with self._database.writing() as connection:
                    Change(connection, self._database.words).swept(mark)
                self._mark = None

    def compact(self) -> None:
        """Clean away what is left of all that was deleted, however long it takes; :meth:`leftover` says the rest."""
        self._check_open()
        mark = self.facts().get("unswept")
        if mark is not None and self._database.sweep(None, thorough=True):
            with self._database.writing() as connection:
                Change(connection, self._database.words).swept(mark)
            self._mark = None

    @property
    def unswept(self) -> bool:
        """Whether something that was deleted, by whomever, could not be cleaned away yet."""
        return "unswept" in self.facts()

    def leftover(self) -> str | None:
        """Say in one sentence what may be left of the bytes that were deleted, and until when; None if nothing is.

        Where nothing was deleted through this store, and nothing waits to be cleaned away, there is nothing to say.
        """
        unswept = self.unswept
        return self._database.leftover(unswept) if unswept or self._erased else None

    def facts(self) -> dict[str, str]:
        """See :meth:`View.facts`."""
        with self.reading() as view:
            return view.facts()

    def revision(self) -> int:
        """See :meth:`View.revision`."""
        with self.reading() as view:
            return view.revision()

    def people(self) -> list[Person]:
        """See :meth:`View.people`."""
        with self.reading() as view:
            return view.people()

    def person(self, who: str | int) -> Person:
        """See :meth:`View.person`."""
        with self.reading() as view:
            return view.person(who)

    def kept_of(self, name: str) -> Forgotten:
        """See :meth:`View.kept_of`."""
        with self.reading() as view:
            return view.kept_of(name)

    def photos(self, name: str | int | None = None, *, folder: str | None = None) -> list[Photo]:
        """See :meth:`View.photos`."""
        with self.reading() as view:
            return view.photos(name, folder=folder)

    def known_hashes(self, hashes: Iterable[str]) -> dict[str, str]:
        """See :meth:`View.known_hashes`."""
        with self.reading() as view:
            return view.known_hashes(hashes)

    def refusals(self, hashes: Iterable[str] | None = None) -> dict[str, Refusal]:
        """See :meth:`View.refusals`."""
        with self.reading() as view:
            return view.refusals(hashes)

    def templates(
        self, since: int = -1, *, faces: bool = False
    ) -> Iterator[tuple[Person, list[NewPhoto], bytes | None]]:
        """See :meth:`View.templates`; the state is held until the last person is read."""
        with self.reading() as view:
            yield from view.templates(since, faces=faces)

    def compared(self, ids: Iterable[int]) -> list[tuple[Person, list[NewPhoto], bytes | None]]:
        """See :meth:`View.compared`; where many people are asked for, they may be read by several at a time."""
        numbers = sorted(set(ids))
        count = min(self._database.readers, len(numbers) // EACH)
        if count > 1:
            edges = [len(numbers) * i // count for i in range(count + 1)]
            found = by_readers(self._compared, [numbers[start:end] for start, end in pairwise(edges)])
            # Where somebody has changed the gallery between two of them, one reads again: what is told is of one state.
            if len({revision for revision, _ in found}) == 1:
                return [one for _, some in found for one in some]
        return self._compared(numbers)[1]

    def _compared(self, ids: Sequence[int]) -> tuple[int, list[tuple[Person, list[NewPhoto], bytes | None]]]:
        with self.reading() as view:
            return view.revision(), view.compared(ids)

    def face(self, photo: int) -> bytes | None:
        """See :meth:`View.face`."""
        with self.reading() as view:
            return view.face(photo)

    def counts(self) -> Counts:
        """See :meth:`View.counts`."""
        with self.reading() as view:
            return view.counts()

    def close(self) -> None:
        """Let go of the gallery; a second time does nothing."""
        if not self._closed:
            self._sweep()
            self._closed = True
            self._database.close()

    def _check_open(self) -> None:
        if self._closed:
            raise UserError(f"{self.place} must be open to be used; got a gallery that was closed.")

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _database_at(place: str | os.PathLike[str], timeout: float) -> Database:
    if not isinstance(timeout, int | float) or not 0 <= timeout < float("inf"):
        raise BadParameter("a gallery", "timeout", "a number of seconds", timeout)
    found = find_place(place)
    return SqliteFile(found, timeout) if found.file else PostgresDatabase(found, timeout)
