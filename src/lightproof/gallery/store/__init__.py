"""What a gallery stores, in SQL: names, hashes and bytes.

The only room that knows SQL. It does not know what a template means.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> with Store.open(f"{folder.name}/office.gallery") as store:
...     with store.writing() as change:
...         change.add_photos("Ada", [NewPhoto(hash="41", parameters="robust", template=b"...")])
...     [person.name for person in store.people()]
Added(added=1, known=0)
['Ada']
>>> folder.cleanup()
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import wraps
from itertools import pairwise
from typing import Concatenate, Final, ParamSpec, TypeVar

from lightproof.core.threads import by_readers
from lightproof.errors import BadParameter, LightproofError, UserError
from lightproof.gallery.store.change import Change
from lightproof.gallery.store.database import Database, find_place
from lightproof.gallery.store.postgres import PostgresDatabase
from lightproof.gallery.store.records import (
    Added,
    Counts,
    Forgotten,
    NewPhoto,
    Person,
    Photo,
    Refusal,
    Removed,
    StoredPerson,
    check_name,
    storable,
)
from lightproof.gallery.store.sqlite import SqliteFile
from lightproof.gallery.store.view import View

__all__ = [
    "Added",
    "Change",
    "Counts",
    "Forgotten",
    "NewPhoto",
    "Person",
    "Photo",
    "Refusal",
    "Removed",
    "Store",
    "StoredPerson",
    "View",
    "check_name",
    "find_place",
    "storable",
]

TIMEOUT_SECONDS: Final = 30.0
"""A writer waits so long for others."""

PEOPLE_PER_READER: Final = 16
"""For fewer people an additional reader is not worth it."""

P = ParamSpec("P")
T = TypeVar("T")


def _in_own_view(method: Callable[Concatenate[View, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Make a method of :class:`Store` out of one of :class:`View`: it reads a state of its own."""

    @wraps(method)
    def read(store: Store, /, *args: P.args, **options: P.kwargs) -> T:
        with store.reading() as view:
            return method(view, *args, **options)

    return read


class Store:
    """What a gallery stores.

    Made by :meth:`open`. Several threads may use one store; another process opens its own, and after a fork the child
    has connections of its own. Each reading method sees one state of the gallery; ``with store.reading() as view``
    gives the same methods on one state together. ``with store.writing() as change`` changes everything or nothing.

    After the commit of a change the store overwrites what the change deleted. A reader elsewhere who still sees it
    delays that: then the gallery is marked as :attr:`unswept`, and the store tries again after the next change, at the
    next opening, by whichever process, and when it is closed. PostgreSQL frees the room of deleted rows and does not
    overwrite it; :meth:`leftover` says so.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._closed = False
        self._mark: str | None = None
        self._erased = False

    @classmethod
    def open(cls, place: str | os.PathLike[str], *, create: bool = True, timeout: float = TIMEOUT_SECONDS) -> Store:
        """Open a file, ``sqlite:///FILE`` or ``postgresql://USER@HOST/DATABASE``; writers wait ``timeout`` seconds.

        With ``create``, make a gallery where there is no file, an empty file, or a database without tables.
        """
        store = cls(_database_at(place, timeout))
        try:
            store._database.prepare(create)
            store._mark = store.facts().get("unswept")
            store._sweep()
        except BaseException:
            store._database.close()
            raise
        return store

    @classmethod
    @contextmanager
    def making(cls, place: str | os.PathLike[str], *, timeout: float = TIMEOUT_SECONDS) -> Iterator[Change]:
        """Make a gallery and fill it, in one change: an error leaves the place as it was.

        If there is a gallery already, this changes it.
        """
        with closing(_database_at(place, timeout)) as database, database.making() as connection:
            change = Change(connection, database.errors)
            yield change
            change.finish()

    @staticmethod
    def exists(place: str | os.PathLike[str], *, timeout: float = TIMEOUT_SECONDS) -> bool:
        """Return whether anything is there; where nothing is, :meth:`open` would make a gallery. Changes nothing."""
        with closing(_database_at(place, timeout)) as database:
            return not database.is_blank()

    @property
    def place(self) -> str:
        """Where the gallery is, without any password."""
        return self._database.errors.place

    @contextmanager
    def reading(self) -> Iterator[View]:
        """Hold one state of the gallery for several questions, without waiting for writers."""
        self._check_open()
        with self._database.reading() as connection:
            yield View(connection, self._database.errors)

    @contextmanager
    def writing(self) -> Iterator[Change]:
        """Change the gallery, everything in the block or nothing, one writer at a time.

        Waits for other writers until the timeout, then raises :class:`~lightproof.errors.GalleryBusy`. When the block
        has ended without an error, the change is on the disk.
        """
        self._check_open()
        with self._database.writing() as connection:
            change = Change(connection, self._database.errors)
            yield change
            mark = change.finish()
        self._mark = mark
        self._erased = self._erased or change.erased
        # A change that deleted nothing does not wait for the readers of earlier changes.
        self._sweep(change.traces, patient=change.erased)

    def _sweep(self, traces: list[bytes] | None = None, patient: bool = True) -> None:
        # The change is committed, whatever happens now; the mark in the gallery says what is still to do.
        mark = self._mark
        with suppress(LightproofError):
            if mark is not None and self._database.sweep(traces, patient):
                self._unmark(mark)

    def _unmark(self, mark: str) -> None:
        with self._database.writing() as connection:
            Change(connection, self._database.errors).swept(mark)
        self._mark = None

    def compact(self) -> None:
        """Overwrite what is left of all deleted rows, however long it takes; :meth:`leftover` says the rest."""
        self._check_open()
        mark = self.facts().get("unswept")
        if mark is not None and self._database.sweep(None, thorough=True):
            self._unmark(mark)

    @property
    def unswept(self) -> bool:
        """Whether deleted rows, of whichever process, wait to be overwritten."""
        return "unswept" in self.facts()

    def leftover(self) -> str | None:
        """Say in one sentence what may be left of deleted rows, and until when; None if this store knows of nothing."""
        unswept = self.unswept
        return self._database.leftover(unswept) if unswept or self._erased else None

    facts = _in_own_view(View.facts)
    revision = _in_own_view(View.revision)
    people = _in_own_view(View.people)
    person = _in_own_view(View.person)
    counts_of = _in_own_view(View.counts_of)
    photos = _in_own_view(View.photos)
    owners_of = _in_own_view(View.owners_of)
    refusals = _in_own_view(View.refusals)
    face = _in_own_view(View.face)
    counts = _in_own_view(View.counts)

    def templates(self, since: int = -1, *, faces: bool = False) -> Iterator[StoredPerson]:
        """Yield people as :meth:`View.templates` does, from one state that is held until the last of them."""
        with self.reading() as view:
            yield from view.templates(since, faces=faces)

    def comparison_data(self, ids: Iterable[int]) -> list[StoredPerson]:
        """Read people as :meth:`View.comparison_data` does, with several readers if there are many people."""
        numbers = sorted(set(ids))
        n_readers = min(self._database.n_readers, len(numbers) // PEOPLE_PER_READER)
        if n_readers > 1:
            edges = [len(numbers) * i // n_readers for i in range(n_readers + 1)]
            parts = by_readers(self._read_compared, [numbers[start:end] for start, end in pairwise(edges)])
            # If somebody changed the gallery between two readers, one reads all again, from one state.
            if len({revision for revision, _ in parts}) == 1:
                return [stored for _, part in parts for stored in part]
        return self._read_compared(numbers)[1]

    def _read_compared(self, ids: Sequence[int]) -> tuple[int, list[StoredPerson]]:
        with self.reading() as view:
            return view.revision(), view.comparison_data(ids)

    def close(self) -> None:
        """Close all connections; a second time does nothing."""
        if not self._closed:
            self._sweep()
            self._closed = True
            self._database.close()

    def _check_open(self) -> None:
        if self._closed:
            raise UserError(f"{self.place} must be open to be used; got a gallery that was closed.")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _database_at(place: str | os.PathLike[str], timeout: float) -> Database:
    if not isinstance(timeout, int | float) or not 0 <= timeout < float("inf"):
        raise BadParameter("a gallery", "timeout", "a number of seconds", timeout)
    found = find_place(place)
    return SqliteFile(found, timeout) if found.file else PostgresDatabase(found, timeout)
