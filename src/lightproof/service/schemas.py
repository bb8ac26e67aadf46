"""What the service answers, as plain data: the same classes at both ends of the wire.

The service (:mod:`lightproof.service`) writes them as JSON and describes them in its OpenAPI document;
:class:`lightproof.service.client.Client` reads them back. What a newer service says besides is left out on reading.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Final, Literal, TypeVar

T = TypeVar("T")

_DESCRIBED: Final = {"use_attribute_docstrings": True}
"""Lets the OpenAPI document say of each field what is said of it here."""

LightName = Literal["front", "left", "right", "hard left", "hard right", "above", "below"]
"""Lights that a person can be photographed under; left and right are the person's own."""


LightGroup = Literal["all", "front", "side", "hard", "unknown"]
"""Lights by how far from the camera they stand."""


class Wire:
    """Whatever goes over the wire."""

    __pydantic_config__: ClassVar = _DESCRIBED


@dataclass(frozen=True)
class Health(Wire):
    """Whether the service works."""

    status: Literal["ok"]
    """Always "ok": a service whose gallery cannot be read answers 503."""


@dataclass(frozen=True)
class Limits(Wire):
    """What is taken at most."""

    photo_bytes: int
    """Length of one photo."""
    photo_pixels: int
    """Pixels of one photo."""
    photos: int
    """Photos in one request."""
    body_bytes: int
    """Length of one request, but for an import."""
    import_bytes: int
    """Length of a gallery that is imported."""


@dataclass(frozen=True)
class Version(Wire):
    """What runs here, and on what gallery."""

    version: str
    """Of lightproof."""
    preset: str | None
    """How faces are compared: "robust", "fast", or null for other settings."""
    keeps_photos: bool
    """Whether the faces of new photos are kept, as upright crops; the photos themselves never are."""
    finds_faces: bool
    """Whether photographs are taken; if not, only faces that are cropped already (`cropped`)."""
    liveness: Literal["none"]
    """There is no liveness test: a printed photo of somebody can pass for them."""
    people: int
    """Enrolled."""
    photos: int
    """Enrolled."""
    limits: Limits


@dataclass(frozen=True)
class Person(Wire):
    """Somebody enrolled."""

    id: int
    """Never given to anybody else, not even after the person is deleted."""
    name: str
    photos: int
    """How many there are. Somebody without a photo is never found."""
    added: str
    """When, in UTC."""


@dataclass(frozen=True)
class PeoplePage(Wire):
    """Some of the people, by name."""

    people: list[Person]
    total: int
    """How many there are on all pages."""
    next: str | None
    """What to give as `after` for the next page; null on the last one."""


@dataclass(frozen=True)
class Advice(Wire):
    """Which light a person's photos lack."""

    has: list[LightName]
    lacks: list[LightName]
    next: str
    """What to photograph next, in one sentence."""
    gain: float | None
    """Share of photos under all lights that it would find besides, measured on rendered people; null if not known."""


@dataclass(frozen=True)
class PersonDetail(Person):
    """Somebody enrolled, and which light is missing."""

    advice: Advice


@dataclass(frozen=True)
class Photo(Wire):
    """An enrolled photo."""

    id: int
    sha256: str
    """Of the file that was sent: the same file is enrolled once."""
    added: str
    """When, in UTC."""
    azimuth: float | None
    """Degrees of the light: 0 is the camera, positive the right of the person; null if it cannot be read."""
    elevation: float | None
    """Degrees above the face."""
    light: LightName | None
    """The nearest of the lights that have a name."""
    has_thumbnail: bool
    """Whether the face was kept."""


@dataclass(frozen=True)
class Photos(Wire):
    """The photos of one person."""

    photos: list[Photo]


@dataclass(frozen=True)
class Rejected(Wire):
    """A photo that was not enrolled, and why."""

    index: int
    """Its place among the photos that were sent, from 0."""
    code: str
    """As in problems: `no_face`, `bad_picture`, `too_large`, `photo_of_another`."""
    detail: str
    """In one sentence."""


@dataclass(frozen=True)
class Enrolled(Wire):
    """What became of the photos that were sent."""

    person: PersonDetail
    added: list[Photo]
    """Photos that are new."""
    known: list[int]
    """Places of those that were there already."""
    rejected: list[Rejected]


@dataclass(frozen=True)
class Forgotten(Wire):
    """What was deleted."""

    people: int
    photos: int
    leftover: str | None
    """What may be left of the deleted bytes, and until when; null if nothing is."""


@dataclass(frozen=True)
class Light(Wire):
    """What the light does to a face. Left and right without more are those of the picture."""

    azimuth: float | None
    """Degrees: 0 is the camera, positive the left of the picture, beyond 90 is behind; null if it cannot be read."""
    elevation: float | None
    """Degrees: positive is above."""
    side: Literal["left", "right", "front"] | None
    """Side of the picture that it comes from."""
    height: Literal["above", "level", "below"] | None
    balance: float
    """From -1 to 1: positive where the left half of the picture is brighter."""
    brightness: float
    """Grey value that 95 % of the pixels do not exceed."""
    shadow_share: float
    """Share of the pixels that lie in shadow."""
    clipped_share: float
    """Share of the pixels that are plain white."""
    black_share: float
    """Share of the pixels that are plain black."""
    sharpness: float
    """A sharp face has about 0.25, a blurred one less than 0.13."""
    eye_distance: float | None
    """Pixels between the eyes; null for a face that came cropped."""
    even: bool
    """Whether there is nothing to be done about it."""
    hint: str
    """One sentence for the person in front of the camera."""


@dataclass(frozen=True)
class FoundFace(Wire):
    """Where the face was, in pixels of the upright photo."""

    right_eye: tuple[float, float]
    """Column and row of the person's right pupil, which is on the left of the picture."""
    left_eye: tuple[float, float]
    faces: int
    """How many faces there are; the largest is taken."""
    look: str
    """The light in which it was found: "gamma", "plain", "log" or "smooth"."""


@dataclass(frozen=True)
class Diagnosis(Wire):
    """The light on a face, and where the face was."""

    light: Light
    face: FoundFace | None
    """Null for a picture that came as a face."""


@dataclass(frozen=True)
class Candidate(Wire):
    """Somebody who might be on the photo."""

    person: int | None
    """The id; null if the person was deleted a moment ago."""
    name: str
    score: float
    """See `meaning` of the answer."""
    one_in: float
    """About one in so many strangers would score this well."""
    lead: float
    """What the score is made of: how far ahead of others the person is."""
    distance: float
    """Between photo and person alone, whoever else is enrolled."""


@dataclass(frozen=True)
class Answer(Wire):
    """Who is on a photo. A stranger is an answer too."""

    answer: Literal["known", "unknown"]
    """Somebody enrolled, or a stranger."""
    person: int | None
    """The id; null for a stranger."""
    name: str | None
    """Null for a stranger."""
    score: float
    """Of the best match, from 0 to 1, whether it is accepted or not."""
    one_in: float
    """About one in so many strangers would score this well."""
    threshold: float
    """The score from which on a match is accepted."""
    far: float
    """Share of strangers that are accepted all the same."""
    calibrated: bool
    """Whether the meaning of the score was checked on this gallery."""
    meaning: str
    """What a score means."""
    sentence: str
    """The answer in words."""
    candidates: list[Candidate]
    """The best few, the best first."""
    light: Light
    face: FoundFace | None
    """Null for a picture that came as a face."""


@dataclass(frozen=True)
class Verification(Wire):
    """Whether two photos, or a photo and somebody enrolled, are of the same person."""

    same: bool
    """Whether the score reaches the threshold."""
    score: float
    """From 0 to 1; see `meaning`."""
    one_in: float
    """About one in so many other people would score this well."""
    lead: float
    distance: float
    threshold: float
    """The score from which on they count as the same."""
    far: float
    """Share of other people that are accepted all the same."""
    meaning: str
    """What a score means."""
    sentence: str
    """The answer in words."""
    light: Light
    """On the first photo."""
    other_light: Light | None
    """On the second photo, if there is one."""


@dataclass(frozen=True)
class Patch(Wire):
    """What one patch adds to the lead."""

    left: int
    """In pixels of `picture`."""
    top: int
    width: int
    height: int
    value: float
    """Positive speaks for the person. All of them add up to the lead, or to the difference of two leads."""


@dataclass(frozen=True)
class Explanation(Wire):
    """Which patches speak for somebody: the decision itself, not an estimate of it."""

    person: int | None
    name: str
    lead: float
    against: int | None
    against_name: str | None
    against_lead: float | None
    rivals: list[str]
    """Those the person is measured against; "rendered 07" is a made-up person."""
    sentence: str
    rows: int
    columns: int
    patches: list[Patch]
    """Row by row; of the difference where somebody else was asked about."""
    width: int
    """Of `picture`."""
    height: int
    picture: str
    """The face as it was compared: PNG in base64."""


@dataclass(frozen=True)
class Calibration(Wire):
    """How well strangers do in this gallery, and where the threshold lies."""

    far: float
    """Share of strangers that may be accepted."""
    threshold: float
    """The score that belongs to it."""
    calibrated: bool
    """Whether the gallery was asked; if not, what is usual stands in."""
    shift: float
    """How much farther strangers lead here than is usual."""
    people: int
    """Enrolled when it was asked."""
    strangers: int
    """Photos that were taken for a stranger's."""
    relit: int
    """Copies of them under other lights."""
    meaning: str
    """What a score means."""


@dataclass(frozen=True)
class Share(Wire):
    """How many of how many, with an interval in which the true share lies nineteen times of twenty."""

    count: int
    of: int
    share: float | None
    """Null where there was nothing to count."""
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AccuracyInLight(Wire):
    """How well photos under one kind of light are recognized."""

    light: LightGroup
    words: str
    """What the light is called."""
    named: Share
    """The best match is the right person."""
    found: Share
    """And the score reaches the threshold."""
    strangers: Share
    """Photos that, with their person left out, are taken for somebody else all the same."""


@dataclass(frozen=True)
class Accuracy(Wire):
    """How well this gallery recognizes its own photos, each left out in turn."""

    far: float
    threshold: float
    calibrated: bool
    people: int
    """Enrolled."""
    asked: int
    """Photos that were left out and asked about; only people with two or more photos can be."""
    lights: list[AccuracyInLight]
    """All photos together first, then by light."""
    note: str
    """What the figures rest on, in one or two sentences."""


@dataclass(frozen=True)
class Imported(Wire):
    """Who came with a gallery."""

    people: int


@dataclass(frozen=True)
class Problem(Wire):
    """What went wrong (RFC 9457)."""

    type: str
    """A name for the kind of problem, `urn:lightproof:problem:` and the code."""
    title: str
    """What kind of problem it is."""
    status: int
    detail: str
    """What is wrong, what is legal and what came, in one sentence."""
    code: str
    """Stable: for programs."""
    request: str
    """The id of the request, as in the header `X-Request-Id` and in the audit lines."""
    rejected: list[Rejected] = field(default_factory=list)
    """Where photos were sent and none was taken: why each was not."""


def read(kind: type[T], told: Any) -> T:
    """Make one of these classes of what came as JSON; what it does not know is left out.

    Parameters
    ----------
    kind : type
    told : object
        As ``json.loads`` gives it.

    Raises
    ------
    ValueError
        If it is something else.
    """
    found: T = _read(kind, told)
    return found


def _read(kind: Any, told: Any) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        return _read_dataclass(kind, told)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if told is None and type(None) in inner:
            return None
        [only] = [one for one in inner if one is not type(None)]
        return _read(only, told)
    if origin in (list, tuple) and isinstance(told, Sequence) and not isinstance(told, str):
        return origin(_read(inner[0], one) for one in told)
    if kind is float and type(told) is int:
        return float(told)
    fits = told in inner if origin is Literal else type(told) is kind
    if not fits:
        raise ValueError(f"{kind} expected")
    return told


def _read_dataclass(kind: type, told: Any) -> Any:
    if not isinstance(told, Mapping):
        raise ValueError(f"{kind.__name__} expected")
    hints = typing.get_type_hints(kind)
    known = {one.name: _read(hints[one.name], told[one.name]) for one in fields(kind) if one.name in told}
    try:
        return kind(**known)
    except TypeError:
        raise ValueError(f"{kind.__name__} expected, with all its fields") from None
