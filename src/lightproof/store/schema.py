"""The tables, their number, and the way from an older number to this one.

In SQLite a column behind a large value is read through it, so the large ones stand last.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Dialect,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    insert,
    update,
)

SCHEMA: Final = 1
"""Raised whenever the tables change; every raise has its function in ``MIGRATIONS``."""

APPLICATION: Final = 0x4C506761
"""Tells a gallery from any other SQLite file ("LPga")."""

KIND: Final = "lightproof gallery"

OWN_FACTS: Final = frozenset({"kind", "schema", "made", "revision", "unswept"})
"""Facts that only the store itself writes."""


class Bytes(LargeBinary):
    """Bytes as the driver gives them; what else a damaged file holds there is not made into bytes."""

    def bind_processor(self, dialect: Dialect) -> None:
        """No conversion on the way in."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """No conversion on the way out."""


# Sorted by code point, as Python sorts; SQLite does so anyway.
_Sorted = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite counts without reuse only what it calls INTEGER.
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
    Column("span", Bytes),
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
    # A person's photos in the order of their hashes, without sorting rows that hold templates.
    Index("photos_of_person", "person", "hash"),
    sqlite_autoincrement=True,
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

MIGRATIONS: dict[int, Callable[[Connection], None]] = {}
"""For each schema number after the first, what leads to it from the number before."""


def now() -> str:
    """Tell the time, in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def make_tables(connection: Connection) -> None:
    """Make an empty gallery in an empty database."""
    tables.create_all(connection, checkfirst=False)
    first = {"kind": KIND, "schema": str(SCHEMA), "made": now(), "revision": "0"}
    connection.execute(insert(facts), [{"key": key, "value": value} for key, value in first.items()])


def migrate(connection: Connection, found: int) -> None:
    """Lead an older gallery to the present schema, step by step, in the caller's transaction."""
    for number in range(found + 1, SCHEMA + 1):
        MIGRATIONS[number](connection)
    connection.execute(update(facts).where(facts.c.key == "schema").values(value=str(SCHEMA)))
