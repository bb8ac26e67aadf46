"""What goes into a gallery and comes out of it: plain records, checked so that either database can hold them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias, get_type_hints

from lightproof.errors import BadLabels, BadParameter
from lightproof.gallery.store.schema import now

MAX_NAME_LETTERS: Final = 200

# Persian and Indian names are written with the two joiners; other invisible letters only hide things.
_JOINERS = "\u200c\u200d"
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@dataclass(frozen=True, slots=True)
class Person:
    """An enrolled person, with the number of photos.

    The id is never given to anybody else, not even after the person is forgotten. The revision is that of the gallery
    when the person last changed; the time of enrollment is in UTC, as ISO 8601.
    """

    id: int
    name: str
    photos: int
    revision: int
    added: str


@dataclass(frozen=True, slots=True)
class Photo:
    """A stored photo, without its template."""

    id: int
    person: str
    hash: str
    parameters: str
    source: str | None
    folder: str | None
    light: str | None
    added: str
    has_face: bool


@dataclass(frozen=True, slots=True)
class NewPhoto:
    """A photo to store, or one read back with its template.

    The hash is that of the photo's contents: a gallery stores a photo once. Templates of other parameters must not be
    compared. The folder is the one that was enrolled with the file ``source``; the direction of the light is JSON; the
    face itself is there if the gallery keeps faces; the binary code is for searching a large gallery.
    """

    hash: str
    parameters: str
    template: bytes
    source: str | None = None
    folder: str | None = None
    light: str | None = None
    face: bytes | None = None
    code: bytes | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A photo that could not be enrolled, remembered so that it is not tried on every run.

    The store fills in an empty ``added`` with the present time.
    """

    hash: str
    person: str | None
    source: str
    folder: str | None
    parameters: str
    reason: str
    added: str = ""


StoredPerson: TypeAlias = tuple[Person, list[NewPhoto], bytes | None]
"""A person, the photos in the order of their hashes, and the joint template of several photos."""


class Counts(NamedTuple):
    """Numbers of people, photos and refused photos."""

    people: int
    photos: int
    refused: int


class Added(NamedTuple):
    """Numbers of photos that were added, and that were there already."""

    added: int
    known: int


class Forgotten(NamedTuple):
    """Numbers of photos and refusals of a person."""

    photos: int
    refusals: int


class Removed(NamedTuple):
    """Number of removed photos, and the people who went because no photo of them was left."""

    photos: int
    people: list[str]


def check_name(name: object, where: str = "The name of a person") -> str:
    """Refuse a name that no person can have; return the others in Unicode's composed form (NFC)."""
    legal = f"a str of 1 to {MAX_NAME_LETTERS} visible letters without space at its ends"
    if not isinstance(name, str):
        raise BadLabels(where, legal, f"a {type(name).__name__}")
    composed = unicodedata.normalize("NFC", name)
    if not composed or composed != composed.strip():
        raise BadLabels(where, legal, ascii(name) if len(name) <= MAX_NAME_LETTERS else "space at its ends")
    if len(composed) > MAX_NAME_LETTERS:
        raise BadLabels(where, legal, f"{len(composed)} letters")
    # Printable ASCII letters are all visible; most names have no others.
    plain = composed.isascii() and composed.isprintable()
    if not plain and any(unicodedata.category(letter) in _INVISIBLE and letter not in _JOINERS for letter in composed):
        raise BadLabels(where, legal, ascii(name))
    return composed


def storable(text: str) -> str:
    """Escape what a database cannot hold: NUL, and bytes of a file name that are no letters."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def photo_row(photo: NewPhoto) -> dict[str, Any]:
    """Turn a photo into a row, without its person; the code goes into a table of its own."""
    return _row(photo, NewPhoto)


def refusal_row(refusal: Refusal) -> dict[str, Any]:
    """Turn a refusal into a row."""
    row = _row(refusal, Refusal)
    person = None if refusal.person is None else check_name(refusal.person)
    return {**row, "person": person, "added": refusal.added or now()}


def check_kind(owner: str, name: str, value: object, kind: Any) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        raise BadParameter(owner, name, f"of type {getattr(kind, '__name__', kind)}", value)


def _row(record: NewPhoto | Refusal, kind: type) -> dict[str, Any]:
    row = {}
    for field, legal in _types_of_fields(kind).items():
        value = getattr(record, field)
        check_kind(type(record).__name__, field, value, legal)
        row[field] = storable(value) if isinstance(value, str) else value
    return row


_types_of_fields = cache(get_type_hints)
