"""Answers of the service as plain data: the same classes at both ends of the wire.

The service writes them as JSON. Its OpenAPI document describes them under their names without the ending ``Schema``.
:class:`lightproof.service.client.Client` reads them back and ignores fields that only a newer service knows.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from lightproof.core.moved import renamed

LightName = Literal["front", "left", "right", "hard left", "hard right", "above", "below"]
"""Lights that a person can be photographed under; left and right are the person's own."""

LightGroup = Literal["all", "front", "side", "hard", "unknown"]
"""Lights by how far from the camera they stand."""


@typing.dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Schema:
    """Base of the answers: each subclass is a frozen dataclass."""

    # The OpenAPI document describes each field by the string below it.
    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True}

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class HealthSchema(Schema):
    """Whether the service works."""

    status: Literal["ok"]
    """Always "ok": a service whose gallery cannot be read answers 503."""


class LimitsSchema(Schema):
    """What is accepted at most."""

    photo_bytes: int
    """Length of one photo."""
    photo_pixels: int
    """Pixels of one photo."""
    photos: int
    """Photos in one request."""
    body_bytes: int
    """Length of one request, except for an import."""
    import_bytes: int
    """Length of a gallery that is imported."""


class VersionSchema(Schema):
    """What runs here, and on which gallery."""

    version: str
    """Of lightproof."""
    preset: str | None
    """How faces are compared: "robust", "fast", or null for other settings."""
    keeps_photos: bool
    """Whether the faces of new photos are kept, as upright crops; the photos themselves never are."""
    finds_faces: bool
    """Whether faces are found in photographs; if not, only cropped faces are accepted (`cropped`)."""
    liveness: Literal["none"]
    """There is no liveness test: a printed photo of somebody can pass for them."""
    people: int
    """Enrolled."""
    photos: int
    """Enrolled."""
    limits: LimitsSchema


class PersonSchema(Schema):
    """Somebody enrolled."""

    id: int
    """Never given to anybody else, not even after the person is deleted."""
    name: str
    photos: int
    """Number of photos. Somebody without a photo is never found."""
    added: str
    """When, in UTC."""


class PeoplePageSchema(Schema):
    """Some of the people, by name."""

    people: list[PersonSchema]
    total: int
    """Number of people on all pages."""
    next: str | None
    """What to give as `after` for the next page; null on the last one."""


class AdviceSchema(Schema):
    """Which light a person's photos lack."""

    has: list[LightName]
    lacks: list[LightName]
    next: str
    """What to photograph next, in one sentence."""
    gain: float | None
    """Additional share of photos under all lights that it would find, measured on rendered people; null if unknown."""


class PersonDetailSchema(PersonSchema):
    """Somebody enrolled, and which light is missing."""

    advice: AdviceSchema


class PhotoSchema(Schema):
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


class PhotosSchema(Schema):
    """The photos of one person."""

    photos: list[PhotoSchema]


class RejectedSchema(Schema):
    """A photo that was not enrolled, and why."""

    index: int
    """Its place among the photos that were sent, from 0."""
    code: str
    """As in problems: `no_face`, `bad_picture`, `too_large`, `photo_of_another`."""
    detail: str
    """In one sentence."""


class EnrolledSchema(Schema):
    """What became of the photos that were sent."""

    person: PersonDetailSchema
    added: list[PhotoSchema]
    """Photos that are new."""
    known: list[int]
    """Places of the photos that were enrolled before."""
    rejected: list[RejectedSchema]


class ForgottenSchema(Schema):
    """What was deleted."""

    people: int
    photos: int
    leftover: str | None
    """What may be left of the deleted bytes, and until when; null if nothing is."""


class LightSchema(Schema):
    """What light and pose do to a face. Left and right are those of the picture unless the text says otherwise."""

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
    yaw: float | None
    """Degrees by which the head looks to the left, the person's right; null where the pose is not known."""
    pitch: float | None
    """Degrees by which the head looks up."""
    roll: float | None
    """Degrees by which the head is turned clockwise."""
    mouth_open: float | None
    """From 0, closed, to 1, wide open."""
    eyes_open: float | None
    """From 0, closed, to 1, wide open; an eye at rest has about 0.75."""
    even: bool
    """Whether neither the light nor the pose needs a change."""
    hint: str
    """One sentence for the person in front of the camera."""


class FoundFaceSchema(Schema):
    """Where the face was, in pixels of the upright photo."""

    right_eye: tuple[float, float]
    """Column and row of the person's right pupil, which is on the left of the picture."""
    left_eye: tuple[float, float]
    faces: int
    """Number of faces on the photo; the largest is compared."""
    look: str
    """The light in which it was found: "gamma", "plain", "log" or "smooth"."""


class DiagnosisSchema(Schema):
    """The light on a face, its pose, and where it was."""

    light: LightSchema
    face: FoundFaceSchema | None
    """Null for a picture that came as a face."""


class CandidateSchema(Schema):
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


class AnswerSchema(Schema):
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
    """The lowest score that is accepted."""
    far: float
    """Share of strangers that are accepted by mistake."""
    calibrated: bool
    """Whether the meaning of the score was checked on this gallery."""
    meaning: str
    """What a score means."""
    sentence: str
    """The answer in words."""
    candidates: list[CandidateSchema]
    """The best matches, the best first."""
    light: LightSchema
    face: FoundFaceSchema | None
    """Null for a picture that came as a face."""
    with_mesh: bool
    """Whether the face was brought to the common shape by a mesh; else it was compared as it came."""


class VerificationSchema(Schema):
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
    """The lowest score that counts as the same person."""
    far: float
    """Share of other people that are accepted by mistake."""
    meaning: str
    """What a score means."""
    sentence: str
    """The answer in words."""
    light: LightSchema
    """On the first photo."""
    other_light: LightSchema | None
    """On the second photo, if there is one."""
    with_mesh: bool
    """Whether all faces, an enrolled person's too, have a mesh; else they were compared as they came."""


class PatchSchema(Schema):
    """What one patch adds to the lead."""

    left: int
    """In pixels of `picture`."""
    top: int
    width: int
    height: int
    value: float
    """Positive speaks for the person. All of them add up to the lead, or to the difference of two leads."""


class ExplanationSchema(Schema):
    """Which patches speak for somebody: the decision itself, not an estimate of it."""

    person: int | None
    name: str
    lead: float
    against: int | None
    against_name: str | None
    against_lead: float | None
    rivals: list[str]
    """People that the person is measured against; "rendered 07" is a rendered one."""
    sentence: str
    rows: int
    columns: int
    patches: list[PatchSchema]
    """Row by row; of the difference if `against` was given."""
    width: int
    """Of `picture`."""
    height: int
    picture: str
    """The face as it was compared: PNG in base64."""
    with_mesh: bool
    """Whether the face was brought to the common shape by a mesh; else it was compared as it came."""


class CalibrationSchema(Schema):
    """How well strangers score in this gallery, and where the threshold lies."""

    far: float
    """Share of strangers that may be accepted."""
    threshold: float
    """The score that belongs to it."""
    calibrated: bool
    """Whether the gallery is calibrated; if not, the default values apply."""
    shift: float
    """How much farther strangers lead here than with the default values."""
    people: int
    """Enrolled at the time of the calibration."""
    strangers: int
    """Photos that stood in for strangers."""
    relit: int
    """Copies of them under other lights."""
    meaning: str
    """What a score means."""


class ShareSchema(Schema):
    """How many of how many, with the 95 % interval of the share."""

    count: int
    of: int
    share: float | None
    """Null where there was nothing to count."""
    low: float | None
    high: float | None


class AccuracyInLightSchema(Schema):
    """How well photos under one kind of light are recognized."""

    light: LightGroup
    words: str
    """What the light is called."""
    named: ShareSchema
    """The best match is the right person."""
    found: ShareSchema
    """And the score reaches the threshold."""
    strangers: ShareSchema
    """Photos that are mistaken for somebody else when their own person is left out."""


class AccuracySchema(Schema):
    """How well this gallery recognizes its own photos, each left out in turn."""

    far: float
    threshold: float
    calibrated: bool
    people: int
    """Enrolled."""
    asked: int
    """Number of probes: photos that were left out in turn, of people with two or more photos."""
    lights: list[AccuracyInLightSchema]
    """All photos together first, then by light."""
    note: str
    """What the figures rest on, in one or two sentences."""


class ImportedSchema(Schema):
    """Who came with a gallery."""

    people: int


def field_types(kind: Any) -> dict[str, Any]:
    """Return the type of each field of a dataclass."""
    hints = typing.get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


_OLD_NAMES = {name.removesuffix("Schema"): name for name in globals() if name.endswith("Schema")}
__getattr__ = renamed(__name__, _OLD_NAMES | {"Wire": "Schema"})
