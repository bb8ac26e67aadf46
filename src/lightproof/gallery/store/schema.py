"""The tables, the number of this schema, and the migrations from older numbers.

To reach a column behind a large value SQLite reads the value too, so large columns come last.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Column, Connection, Dialect, ForeignKey, Identity, Index, MetaData, Table, select
from sqlalchemy.types import BigInteger, Integer, LargeBinary, Text

from lightproof.core.labels import sampling_key

SCHEMA: Final = 2
"""Raised with every change of the tables, together with a function in ``MIGRATIONS``."""

APPLICATION: Final = 0x4C506761
"""Tells a gallery from any other SQLite file ("LPga")."""

KIND: Final = "lightproof gallery"

FIRST: Final = frozenset({"facts", "people", "photos", "refused"})
"""Tables of every gallery, whatever its schema."""

OWN_FACTS: Final = frozenset({"kind", "schema", "made", "revision", "unswept"})
"""Facts that only the store writes."""


class Bytes(LargeBinary):
    """Bytes as the driver gives them; other values in a damaged file are not converted to bytes."""

    def bind_processor(self, dialect: Dialect) -> None:
        """No conversion on the way in."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """No conversion on the way out."""


# Sorted by code point, as Python sorts; SQLite does so anyway.
_Sorted = Text().with_variant(Text(collation="C"), "postgresql")
# Only for an INTEGER column SQLite never reuses a number.
_Key = BigInteger().with_variant(Integer(), "sqlite")

tables = MetaData()

facts = Table("facts", tables, Column("key", _Sorted, primary_key=True), Column("value", Text, nullable=False))

people = Table(
    "people",
    tables,
    Column("id", _Key, Identity(), primary_key=True),
    Column("name", _Sorted, nullable=False, unique=True),
    Column("revision", _Key, nullable=False),
    Column("added", Text, nullable=False),
    # Sampling key of the name: the people with the smallest keys stay the same whoever else comes and goes.
    Column("lot", _Key, nullable=False),
    Column("span", Bytes),
    Index("people_by_revision", "revision"),
    Index("people_by_lot", "lot"),
    sqlite_autoincrement=True,
)

photos = Table(
    "photos",
    tables,
    Column("id", _Key, Identity(), primary_key=True),
    Column("person", _Key, ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("hash", _Sorted, nullable=False, unique=True),
    Column("parameters", Text, nullable=False),
    Column("source", Text),
    Column("folder", Text),
    Column("light", Text),
    Column("added", Text, nullable=False),
    Column("template", Bytes, nullable=False),
    Column("face", Bytes),
    # Orders a person's photos by hash without sorting rows that hold templates.
    Index("photos_of_person", "person", "hash"),
    sqlite_autoincrement=True,
)

# A table of their own: all codes are read in one go, without the templates.
codes = Table(
    "codes",
    tables,
    Column("photo", _Key, ForeignKey("photos.id", ondelete="CASCADE"), primary_key=True),
    Column("person", _Key, nullable=False),
    Column("code", Bytes, nullable=False),
    Index("codes_of_person", "person"),
)

# Numbers of deleted people and the revision of their deletion, for readers that follow the gallery.
gone = Table(
    "gone",
    tables,
    Column("person", _Key, primary_key=True, autoincrement=False),
    Column("revision", _Key, nullable=False),
    Index("gone_by_revision", "revision"),
)

refused = Table(
    "refused",
    tables,
    Column("hash", _Sorted, primary_key=True),
    Column("person", _Sorted),
    Column("source", Text, nullable=False),
    Column("folder", Text),
    Column("parameters", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("added", Text, nullable=False),
)


def _add_codes(connection: Connection) -> None:
    """Migrate from schema 1 to 2: sampling keys, codes, deleted people. Templates of schema 1 are made anew anyway."""
    connection.exec_driver_sql("ALTER TABLE people ADD COLUMN lot BIGINT NOT NULL DEFAULT 0")
    for number, name in connection.execute(select(people.c.id, people.c.name)).all():
        connection.execute(people.update().where(people.c.id == number).values(lot=sampling_key(name)))
    for table in (codes, gone):
        table.create(connection)
    for index in people.indexes:
        index.create(connection)


MIGRATIONS: dict[int, Callable[[Connection], None]] = {2: _add_codes}
"""For each schema number after the first, the migration from the number before."""


def now() -> str:
    """Return the time, in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def make_tables(connection: Connection) -> None:
    """Make an empty gallery in an empty database."""
    tables.create_all(connection, checkfirst=False)
    first = {"kind": KIND, "schema": str(SCHEMA), "made": now(), "revision": "0"}
    connection.execute(facts.insert(), [{"key": key, "value": value} for key, value in first.items()])


def migrate(connection: Connection, found: int) -> None:
    """Bring an older gallery to the present schema, step by step, in the caller's transaction."""
    for number in range(found + 1, SCHEMA + 1):
        MIGRATIONS[number](connection)
    connection.execute(facts.update().where(facts.c.key == "schema").values(value=str(SCHEMA)))
