"""Where a gallery is: a file name, ``sqlite:///FILE`` or ``postgresql://USER@HOST/DATABASE``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from lightproof.errors import BadParameter

_LEGAL = "a file name, sqlite:///FILE or postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True)
class Place:
    """A file, or the URL of a database; ``shown`` is what messages may say of it."""

    shown: str
    file: Path | None = None
    url: URL | None = None


def find_place(place: str | os.PathLike[str]) -> Place:
    """Tell a file from a URL; refuse URLs of other kinds. No message ever shows a password."""
    if isinstance(place, os.PathLike):
        return _file(os.fspath(place))
    if not isinstance(place, str):
        raise _refused(f"a {type(place).__name__}")
    if "://" not in place:
        return _file(place)
    kind = place.partition("://")[0]
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):
        raise _refused(f"{kind}://...") from None
    if url.drivername == "sqlite":
        if url.query or url.host:
            raise _refused(f"{kind}:// with more than a file name")
        return _file(url.database or "")
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        if not url.database:
            raise _refused("a URL without a database")
        # Secrets may stand in the query as well.
        shown = URL.create("postgresql", url.username, host=url.host, port=url.port, database=url.database)
        return Place(shown.render_as_string(), url=url.set(drivername="postgresql+psycopg"))
    raise _refused(f"{kind}://...")


def _file(name: str) -> Place:
    # SQLite has a meaning of its own for ":memory:" and for no name at all; what is opened here must be a file.
    if not name.strip() or "\0" in name or name == ":memory:":
        raise _refused(repr(name))
    return Place(name, file=Path(name))


def _refused(got: str) -> BadParameter:
    return BadParameter("a gallery", "place", _LEGAL, _AsIs(got))


class _AsIs(str):
    """Text that is shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
