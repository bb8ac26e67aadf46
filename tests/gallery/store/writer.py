"""What the tests let other processes do to a gallery."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection

from lightproof.errors import UserError
from lightproof.gallery.store import NewPhoto, Store

# Otherwise every process would import it on its own, and be killed in the middle of that.
with suppress(ImportError):
    import psycopg  # noqa: F401
    import sqlalchemy.dialects.postgresql.psycopg  # noqa: F401

# Processes that are started from a clean one in which everything is imported already.
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.gallery.store.writer"])


def enroll_many(store: Store, who: int, count: int) -> None:
    """Make changes that others make as well."""
    for i in range(count):
        name = f"{who} {i}"
        with store.writing() as change:
            change.add_photos(name, [NewPhoto(f"{name}:{k}", "p", name.encode() * 100) for k in range(2)])
            change.set_fact("last", name)
            change.set_fact(f"count {who}", str(int(change.facts().get(f"count {who}", 0)) + 1))


def enroll_many_elsewhere(place: str, who: int, count: int) -> None:
    with Store.open(place) as store:
        enroll_many(store, who, count)


def write_until_killed(place: str, seed: int, acknowledge: Connection) -> None:
    """Enroll and forget at random, and tell of each change when it is made."""
    chance = random.Random(seed)
    acknowledge.send(("started", "", 0))
    here: list[str] = []
    with Store.open(place) as store:
        for i in range(10**6):
            if here and chance.random() < 0.3:
                name = here.pop(chance.randrange(len(here)))
                acknowledge.send(("forgetting", name, 0))
                with store.writing() as change:
                    change.forget(name)
                acknowledge.send(("forgot", name, 0))
            else:
                name, count = f"{os.getpid()} {i}", chance.randint(1, 6)
                with store.writing() as change:
                    # Two steps that belong together.
                    change.add_photos(
                        name, [NewPhoto(f"{name}:{k}", "p", chance.randbytes(30000)) for k in range(count)]
                    )
                    change.set_span(name, b"%d" % count)
                here.append(name)
                acknowledge.send(("enrolled", name, count))


def try_as_nobody(place: str, create: bool, answer: Connection) -> None:
    """Read and write as somebody who owns nothing; root may write anywhere."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    said = []
    try:
        with Store.open(place, create=create) as store:
            said.append(([person.name for person in store.people()], len(list(store.templates()))))
            with store.writing() as change:
                change.add_person("Eve")
    except UserError as problem:
        said.append(f"{type(problem).__name__} {problem}")
    answer.send(said)
