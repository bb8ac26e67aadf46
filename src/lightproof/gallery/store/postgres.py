"""A gallery in a PostgreSQL database, for several machines.

The tables lie in the first schema of the user's search path. One writer at a time: a writer locks the row of the
revision.

PostgreSQL does not overwrite what it deletes. A sweep vacuums the tables: the room of deleted rows becomes free, and
no query can read them any more. Their bytes stay in the server's files until something else is written there, and in
its log and backups as long as those are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from lightproof.errors import MissingExtra
from lightproof.gallery.store import schema
from lightproof.gallery.store.database import Database, Place

SWEEP_WAIT_MS: Final = 1000
"""Milliseconds that a sweep waits for others that clean the same tables."""

_LIMITS = text(
    # An acknowledged change must be on the server's disk, whatever the server's default.
    "SELECT set_config('lock_timeout', :wait, true), set_config('synchronous_commit', "
    "replace(current_setting('synchronous_commit'), 'off', 'on'), true)"
)


class PostgresDatabase(Database):
    """A database on a server."""

    def _make_engine(self, place: Place) -> Engine:
        assert place.url is not None
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("A gallery in PostgreSQL needs the packages of an extra", "postgres") from None

        class Cursor(psycopg.Cursor[Any]):
            """Requests rows as bytes: templates need not be written as text and read again."""

            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                self.format = psycopg.pq.Format.BINARY

        options: dict[str, Any] = {"client_encoding": "utf8", "cursor_factory": Cursor}
        if "connect_timeout" not in place.url.query:
            options["connect_timeout"] = 10
        # The server may have restarted since the last query.
        return create_engine(place.url, connect_args=options, pool_pre_ping=True, max_overflow=-1)

    def is_blank(self) -> bool:
        """See the parent."""
        with self.reading() as connection, self.errors.translate():
            return not self._tables(connection)

    def prepare(self, create: bool) -> None:
        """See the parent."""
        with self.reading() as connection, self.errors.translate():
            tables = self._tables(connection)
        if not tables:
            if not create:
                raise self.errors.bad("a database without tables")
            with self.writing() as connection, self.errors.translate(writing=True):
                self._make_missing(connection)
        elif not tables >= schema.FIRST:
            raise self.errors.bad("a database with other tables")
        with self.reading() as connection, self.errors.translate():
            found = self._schema_of(connection)
        if found < schema.SCHEMA:
            self._migrate()

    def _tables(self, connection: Connection) -> set[str]:
        """Names of our tables that exist; other tables in the database are left alone."""
        return set(inspect(connection).get_table_names()) & set(schema.tables.tables)

    def _make_missing(self, connection: Connection) -> None:
        encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
        if encoding != "UTF8":
            raise self.errors.bad(f"a database whose encoding is {encoding}, not UTF8")
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": schema.APPLICATION})
        # Another process may have made them while we waited.
        if not self._tables(connection):
            schema.make_tables(connection)

    def _unmade_on_error(self) -> AbstractContextManager[None]:
        # A rollback removes the tables too.
        return nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """See the parent."""
        with self.errors.translate():
            connection = self.engine.connect()
        with connection:
            with self.errors.translate():
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
                connection.begin()
            yield connection

    def _begin_writing(self, connection: Connection) -> None:
        # READ COMMITTED: a read after the lock sees what the writer before has committed.
        connection.execution_options(isolation_level="READ COMMITTED")
        connection.begin()
        connection.execute(_LIMITS, {"wait": str(max(1, round(self.errors.timeout * 1000)))})

    def sweep(self, traces: list[bytes] | None, patient: bool = True, thorough: bool = False) -> bool:
        """Vacuum the tables: this frees the room of deleted rows and does not overwrite it.

        The server's own cleaning does the rest: rows that somebody still reads, and all where the user does not own
        the tables.
        """
        with self.errors.translate(writing=True), self.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            try:
                connection.execute(text(f"SET lock_timeout = {SWEEP_WAIT_MS if patient else 1}"))
                connection.execute(text(f"VACUUM {', '.join(schema.tables.tables)}"))
            except DBAPIError as problem:
                if getattr(problem.orig, "sqlstate", None) != "55P03":
                    raise
                return False
            finally:
                with suppress(DBAPIError):
                    connection.execute(text("RESET lock_timeout"))
        return True

    def leftover(self, unswept: bool) -> str:
        """See the parent."""
        freed = " when nobody is in the way," if unswept else ""
        return (
            f"The rows are gone, but PostgreSQL frees deleted rows{freed} without overwriting them: bytes of them may "
            "lie in the server's files until it uses the room again, and in its log and backups."
        )
