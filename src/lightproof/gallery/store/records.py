"""What goes into a gallery and comes out of it, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody enrolled.

    Attributes
    ----------
    id : int
        Never given to anybody else, not even after the person is forgotten.
    name : str
    photos : int
        How many photos there are of the person.
    revision : int
        The revision of the gallery at which the person was last changed.
    added : str
        When, in UTC, as ISO 8601.
    """

    id: int
    name: str
    photos: int
    revision: int
    added: str


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo that is kept, without its template."""

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
    """A photo to keep, or one read back with its template.

    Attributes
    ----------
    hash : str
        Of the photo's contents; one photo is kept once.
    parameters : str
        What the template was made by; templates of other parameters must not be compared.
    template : bytes
    source, folder : str, optional
        Where the photo came from, and the folder that was enrolled with it.
    light : str, optional
        What the light does in it, as JSON.
    face : bytes, optional
        The face itself, where it was asked to be kept.
    code : bytes, optional
        By which it is found among many.
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
    """A photo that could not be enrolled, remembered so that it is not tried for ever.

    ``added`` is filled in when the refusal is written, unless it is given.
    """

    hash: str
    person: str | None
    source: str
    folder: str | None
    parameters: str
    reason: str
    added: str = ""


class Counts(NamedTuple):
    """How much there is."""

    people: int
    photos: int
    refused: int


class Added(NamedTuple):
    """How many photos were added, and how many were there already."""

    added: int
    known: int


class Forgotten(NamedTuple):
    """How many photos and refusals there are of a person, or went with them."""

    photos: int
    refusals: int


class Removed(NamedTuple):
    """How many photos were removed, and who went because no photo was left."""

    photos: int
    people: list[str]
