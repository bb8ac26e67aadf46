"""Records of the library -> answers of the service, and answers -> JSON."""

from __future__ import annotations

import base64
import typing
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np
from pydantic import TypeAdapter
from starlette.responses import Response

from lightproof.gallery import Answer, Calibration, Verification, advice, store
from lightproof.gallery.enrollment import read_light
from lightproof.imaging.detection import Portrait
from lightproof.matching.calibration import score_of
from lightproof.matching.explanation import Explanation
from lightproof.service import schemas

T = TypeVar("T")

MEANING: Final = (
    "One in 10^(6 x score) strangers would score this well: 0.33 is one in a hundred, 0.5 one in a thousand, 1 one "
    "in a million or fewer."
)


def from_attributes(kind: type[T], source: object, **given: Any) -> T:
    """Make an answer of a record of the library, field by field; ``given`` fields are taken as they are."""
    rest = {name: hint for name, hint in schemas.field_types(kind).items() if name not in given}
    return kind(**given, **{name: _converted(hint, getattr(source, name)) for name, hint in rest.items()})


def _converted(hint: Any, value: Any) -> Any:
    if is_dataclass(hint) and isinstance(hint, type):
        return from_attributes(hint, value)
    if typing.get_origin(hint) is list:
        return [_converted(typing.get_args(hint)[0], item) for item in value]
    return value


def person_detail(record: store.Person, kept: Sequence[store.Photo], place: str) -> schemas.PersonDetailSchema:
    """Describe somebody enrolled, and which light is missing; the place of the gallery is for the message of errors."""
    advised = from_attributes(schemas.AdviceSchema, advice.advise(record.name, _lights(kept, place)))
    return from_attributes(schemas.PersonDetailSchema, record, photos=len(kept), advice=advised)


def photos(records: Sequence[store.Photo], place: str) -> list[schemas.PhotoSchema]:
    """Describe enrolled photos."""
    lights = _lights(records, place)
    return [
        from_attributes(
            schemas.PhotoSchema, record, sha256=record.hash, azimuth=azimuth, elevation=elevation, light=name,
            has_thumbnail=record.has_face,
        )
        for record, (azimuth, elevation), name in zip(records, lights, advice.light_names(lights), strict=True)
    ]  # fmt: skip


def _lights(records: Sequence[store.Photo], place: str) -> list[tuple[float | None, float | None]]:
    return [read_light(record.light, place) or (None, None) for record in records]


def face(portrait: Portrait) -> schemas.FoundFaceSchema | None:
    """Describe where a face was."""
    if portrait.face is None:
        return None
    return from_attributes(schemas.FoundFaceSchema, portrait.face, faces=portrait.n_faces)


def answer(
    result: Answer, ids: Mapping[str, int], light: schemas.LightSchema, face: schemas.FoundFaceSchema | None
) -> schemas.AnswerSchema:
    """Describe who is on a photo, given the numbers of the candidates."""
    return from_attributes(
        schemas.AnswerSchema,
        result,
        answer="known" if result.known else "unknown",
        person=None if result.name is None else ids.get(result.name),
        meaning=MEANING,
        candidates=[
            from_attributes(schemas.CandidateSchema, candidate, person=ids.get(candidate.name))
            for candidate in result.candidates
        ],
        light=light,
        face=face,
    )


def verification(result: Verification, lights: Sequence[schemas.LightSchema]) -> schemas.VerificationSchema:
    """Describe whether two photos show the same person."""
    other = lights[1] if len(lights) > 1 else None
    return from_attributes(schemas.VerificationSchema, result, meaning=MEANING, light=lights[0], other_light=other)


def explanation(result: Explanation, ids: Mapping[str, int], picture: bytes) -> schemas.ExplanationSchema:
    """Describe which patches speak for somebody."""
    values = result.patches if result.difference is None else result.difference
    against = None if result.against is None else str(result.against)
    grid = result.grid
    return from_attributes(
        schemas.ExplanationSchema,
        result,
        person=ids.get(str(result.person)),
        name=str(result.person),
        against=None if against is None else ids.get(against),
        against_name=against,
        against_lead=result.rival_lead,
        rows=grid.rows,
        columns=grid.columns,
        patches=[
            schemas.PatchSchema(left, top, grid.cell, grid.cell, value)
            for (top, left), value in zip(grid.corners.tolist(), values.ravel().tolist(), strict=True)
        ],
        width=grid.width,
        height=grid.height,
        picture=base64.b64encode(picture).decode(),
    )


def calibration(record: Calibration) -> schemas.CalibrationSchema:
    """Describe where the threshold lies."""
    threshold = float(score_of(np.asarray(record.far)))
    calibrated = record.strangers > 0
    return from_attributes(
        schemas.CalibrationSchema, record, threshold=threshold, calibrated=calibrated, meaning=MEANING
    )


def json_response(content: schemas.Schema, status: int = 200) -> Response:
    """Write an answer as JSON."""
    return Response(to_json(content), status, media_type="application/json")


def to_json(content: schemas.Schema) -> bytes:
    """Write an answer or a problem as JSON."""
    kind: Any = type(content)
    return _writer(kind).dump_json(content)


@cache
def _writer(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
