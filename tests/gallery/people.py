"""Rendered people that the tests of the gallery share."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets import make_relit_faces
from lightproof.gallery import Answer, Gallery
from lightproof.gallery.store import NewPhoto
from lightproof.plots import png_of

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"]
STRANGERS = range(len(NAMES), len(NAMES) + 4)
LIGHTS = [(0, 0), (10, 10), (-15, 5), (45, 10), (-50, 20)]


@cache
def rendered() -> NDArray[np.uint8]:
    """Ten people under five lights, shape (10, 5, 96, 84)."""
    faces = make_relit_faces(10, LIGHTS, size=(96, 84), seed=3)
    return faces.images.reshape(10, len(LIGHTS), 96, 84)


def face(who: str | int, light: int = 0) -> NDArray[np.uint8]:
    return rendered()[NAMES.index(who) if isinstance(who, str) else who, light]


def png(who: str | int, light: int = 0) -> bytes:
    return png_of(face(who, light))


def new(place: object, **more: object) -> Gallery:
    return Gallery.open(place, preset="fast", **more)


def enroll(gallery: Gallery, names: str | list[str], lights: tuple[int, ...] = (0,)) -> None:
    for name in [names] if isinstance(names, str) else names:
        gallery.enroll(name, [face(name, light) for light in lights])


def answers(gallery: Gallery) -> list[Answer]:
    """All that a gallery says about everybody and some strangers; equal answers are equal to the last bit."""
    return [gallery.identify(rendered()[who, light], top=10) for who in range(8) for light in (1, 3)]


def place_of(gallery: Gallery) -> str:
    """Where a gallery is, with its password."""
    database = gallery.store._database
    if hasattr(database, "file"):
        return str(database.file)
    return database.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)


def tamper(gallery: Gallery, what: str, value: str, table: str = "photos") -> None:
    """Change what is kept behind the gallery's back, in all rows of a table."""
    with gallery.store.writing() as change:
        change._connection.exec_driver_sql(f"UPDATE {table} SET {what} = {value}")
        change._put("revision", str(change._next))


def state(gallery: Gallery) -> list[tuple[str, list[NewPhoto], bytes | None]]:
    """Return everything that is kept of everybody."""
    return [(person.name, photos, span) for person, photos, span in gallery.store.templates(faces=True)]
