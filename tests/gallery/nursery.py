"""A process that has everything imported and lets children change a gallery until they are killed.

It reads orders from its input, one a line: the seed of a child. The child tells of every change before and after it is
made; when it is dead, the nursery says so.
"""

from __future__ import annotations

import json
import os
import random
import sys
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lightproof.gallery import Gallery
from lightproof.gallery.enrollment import extract_face

# Otherwise every child would import it on its own, and be killed in the middle of that.
with suppress(ImportError):
    import psycopg  # noqa: F401
    import sqlalchemy.dialects.postgresql.psycopg  # noqa: F401

MOST = 8
"""People in the gallery, about."""


def say(*what: Any) -> None:
    # In one piece, and at once: whoever is killed now has said it.
    os.write(1, (json.dumps(what) + "\n").encode())


def new_photo(chance: random.Random) -> np.ndarray:
    """A tiny picture like no other."""
    return np.random.default_rng(chance.getrandbits(60)).integers(0, 255, (20, 18), np.uint8)


def change_for_ever(place: str, chance: random.Random) -> None:
    say("started")
    with Gallery.open(place, create=False) as gallery:
        here = {person.name for person in gallery.people()}
        while True:
            act = chance.choice(["enroll", "enroll", "enroll", "forget", "rename"] if here else ["enroll"])
            name = chance.choice(sorted(here)) if here else ""
            if act == "enroll":
                if not name or (len(here) < MOST and chance.random() < 0.7):
                    name = f"person {chance.getrandbits(30):x}"
                photos = [new_photo(chance) for _ in range(chance.randint(1, 3))]
                say("doing", act, name, [extract_face(photo).hash for photo in photos])
                gallery.enroll(name, photos)
                here.add(name)
            elif act == "forget":
                say("doing", act, name, [])
                gallery.forget(name)
                here.remove(name)
            else:
                other = f"renamed {chance.getrandbits(30):x}"
                say("doing", act, name, [other])
                gallery.rename(name, other)
                here = here - {name} | {other}
            say("done")


def warm_up() -> None:
    """Do once what is slow the first time, so that children need not."""
    chance = random.Random(0)
    with TemporaryDirectory() as folder, Gallery.open(f"{folder}/warm.gallery", preset="fast") as gallery:
        for _ in range(2):
            gallery.enroll("a", [new_photo(chance) for _ in range(3)])
        gallery.rename("a", "b")
        gallery.forget("b")


def main() -> None:
    place = sys.argv[1]
    warm_up()
    say("ready")
    for order in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                change_for_ever(place, random.Random(int(order)))
            except BaseException as problem:
                say("failed", repr(problem))
            finally:
                os._exit(1)
        say("child", child)
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main()
