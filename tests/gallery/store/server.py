"""A PostgreSQL server for the tests: the one that is named, or a private one that lives as long as they run."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

NAMED = "LIGHTPROOF_POSTGRES"
PASSWORD = "geheim-" + "0123456789"


class Server:
    """Makes and drops databases on a server, given by a URL of one of its databases."""

    def __init__(self, url: URL) -> None:
        self.url = url.set(drivername="postgresql+psycopg")

    def do(self, command: str) -> None:
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                connection.execute(text(command))
        finally:
            engine.dispose()

    @contextmanager
    def place(self) -> Iterator[str]:
        """The URL of a fresh schema; that is quicker than a database and as empty."""
        name = f"lightproof_{secrets.token_hex(6)}"
        self.do(f"CREATE SCHEMA {name}")
        try:
            url = self.url.set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
            yield url.render_as_string(hide_password=False)
        finally:
            self.do(f"DROP SCHEMA {name} CASCADE")

    @contextmanager
    def database(self, encoding: str = "UTF8") -> Iterator[str]:
        """The URL of a fresh database."""
        name = f"lightproof_{secrets.token_hex(6)}"
        self.do(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'")
        try:
            yield self.url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
        finally:
            self.do(f"DROP DATABASE {name} WITH (FORCE)")


def find_programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest there is."""
    folders = [Path(found).resolve().parent for found in [shutil.which("postgres")] if found]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda it: (len(it.parts[-2]), it), reverse=True)
    return next((it for it in folders if (it / "initdb").exists() and (it / "postgres").exists()), None)


@contextmanager
def private_server(programs: Path) -> Iterator[Server]:
    """Start a server on a socket in a folder of its own; stop it and remove the folder at the end."""
    # The folders of pytest are closed to other users, and a server does not run as root.
    folder = Path(tempfile.mkdtemp(prefix="lp-pg-"))
    user = _somebody()
    try:
        if user:
            os.chown(folder, pwd.getpwnam(user["user"]).pw_uid, -1)
        key = folder / "key"
        key.write_text(PASSWORD)
        key.chmod(0o644)
        initdb = [programs / "initdb", "-D", folder / "data", "-U", "tester", "-A", "scram-sha-256", "-E", "UTF8"]
        quick = ["--no-locale", "--no-sync", "--pwfile", key]
        subprocess.run([*initdb, *quick], check=True, capture_output=True, cwd="/", **user)
        options = ["-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60"]
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", *options], stdout=log, stderr=log, cwd="/", **user
            )
        try:
            query = {"host": str(folder)}
            server = Server(URL.create("postgresql", "tester", PASSWORD, database="postgres", query=query))
            _wait(server, process, folder / "log")
            yield server
        finally:
            # A fast shutdown, as PostgreSQL calls it: clients are not waited for.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def named_server() -> Server | None:
    given = os.environ.get(NAMED)
    return Server(make_url(given)) if given else None


def _somebody() -> dict[str, Any]:
    if os.getuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    name = "postgres" if "postgres" in known else "nobody"
    return {"user": name, "group": known[name].pw_gid, "extra_groups": []}


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            return server.do("SELECT 1")
        except OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}") from None
            time.sleep(0.05)
