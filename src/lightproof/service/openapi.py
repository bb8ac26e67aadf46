"""Descriptions of routes for the OpenAPI document: bodies, answers, the problems they may answer with, and examples."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from fastapi import FastAPI
from pydantic import TypeAdapter
from starlette.responses import Response

from lightproof.service import schemas
from lightproof.service.bodies import RequestModel, photo_fields
from lightproof.service.problems import KINDS, MEDIA_TYPE, ProblemSchema, ServiceProblem
from lightproof.service.serializers import MEANING, to_json

EVERY_ROUTE: Final = (
    "unauthorized", "foreign_origin", "wrong_host", "too_many_requests", "gallery_unavailable", "busy",
)  # fmt: skip
"""Problems that every route may answer with."""

WITH_BODY: Final = ("bad_request", "too_slow", "too_large", "unsupported_media_type", "bad_value")
"""Further problems of routes that read a body."""

WITH_PHOTO: Final = ("bad_picture", "too_many_pixels", "no_face", "no_detector", "interrupted")
"""Further problems of routes that look for a face in it."""

BINARY: Final = {"type": "string", "format": "binary"}

_DETAILS: Final = {
    "no_face": "The photo must be a photo of a face with at least 20 pixels between the eyes; got none in any look "
    "(gamma, plain, log, smooth).",
    "unauthorized": "The header Authorization must be 'Bearer' and the token; got none.",
    "unknown_person": "The number of a person must be that of somebody enrolled; got 99.",
    "name_taken": "The new name must be one that nobody has; got 'Ada', who is enrolled.",
    "bad_value": "`far` must be less than 1; got 7.0.",
}


def describe(
    *codes: str,
    of: Any = None,
    body: type[RequestModel] | None = None,
    status: int = 200,
    media: str = "application/json",
) -> dict[str, Any]:
    """Describe a route: keyword arguments for its decorator.

    ``codes`` are problems besides those of ``EVERY_ROUTE`` and, with a ``body``, of ``WITH_BODY``. ``of`` is an example
    of the answer, whose class is the answer's; without one the answer is a file of the type ``media``.
    """
    by_status: dict[int, list[str]] = {}
    for code in dict.fromkeys((*EVERY_ROUTE, *(WITH_BODY if body else ()), *codes)):
        by_status.setdefault(KINDS[code].status, []).append(code)
    responses: dict[int | str, Any] = {number: _problems(listed) for number, listed in sorted(by_status.items())}
    route = {"responses": responses, "status_code": status}
    if body is not None:
        route["openapi_extra"] = {"requestBody": _request_body(body)}
    if of is None:
        responses[status] = {"content": {media: {"schema": BINARY}}, "description": "The file."}
        return route | {"response_class": Response}
    responses[status] = {"content": {"application/json": {"example": json.loads(to_json(of))}}}
    return route | {"response_model": type(of)}


def _problems(codes: list[str]) -> dict[str, Any]:
    examples = {code: {"summary": KINDS[code].title, "value": _example(code)} for code in codes}
    schema = {"$ref": "#/components/schemas/ProblemSchema"}
    description = "; ".join(f"`{code}`: {KINDS[code].title}" for code in codes)
    return {"description": description, "content": {MEDIA_TYPE: {"schema": schema, "examples": examples}}}


def _example(code: str) -> Any:
    problem = ServiceProblem(code, _DETAILS.get(code, f"{KINDS[code].title}."))
    return json.loads(to_json(problem.details("5f2c1d9e8b7a6f40")))


def _request_body(model: type[RequestModel]) -> dict[str, Any]:
    """Describe a request as JSON and, if it holds photos, as multipart form."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    if photo_fields(model):
        content = {"multipart/form-data": {"schema": _form_schema(model)}, **content}
    return {"required": True, "content": content}


def _form_schema(model: type[RequestModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    file = {"type": "string", "format": "binary", "description": "A photo, as a file."}
    for name, several in photo_fields(model).items():
        schema["properties"][name] = {"type": "array", "items": file} if several else file
    for name, field in schema["properties"].items():
        # A form has no null: it leaves out the field.
        if "anyOf" in field:
            [kind] = [one for one in field.pop("anyOf") if one.get("type") != "null"]
            schema["properties"][name] = {**kind, **{key: value for key, value in field.items() if value is not None}}
    return schema


def complete(app: FastAPI, guarded: bool) -> None:
    """Add to the OpenAPI document what FastAPI does not know: the problem that routes refer to, and the token."""
    make = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = make()
            problem = TypeAdapter(ProblemSchema).json_schema(ref_template="#/components/schemas/{model}")
            components = made["components"]["schemas"] | problem.pop("$defs", {}) | {"ProblemSchema": problem}
            for unused in ("HTTPValidationError", "ValidationError"):
                components.pop(unused, None)
            made["components"] = {
                "schemas": components,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            }
            made["security"] = [{"token": []}] if guarded else [{}, {"token": []}]
            app.openapi_schema = json.loads(re.sub(r"\b([A-Z]\w+)Schema\b", r"\1", json.dumps(made)))
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


ADDED: Final = "2026-11-17T09:30:00+00:00"
ADVICE: Final = schemas.AdviceSchema(
    ["front"],
    ["left", "right", "hard left", "hard right", "above", "below"],
    "Add a photo with light from above, such as a lamp on the ceiling: on rendered people it raises the share found "
    "under all lights from 88% to 95%.",
    0.068,
)
PERSON: Final = schemas.PersonSchema(17, "Ada Lovelace", 1, ADDED)
DETAIL: Final = schemas.PersonDetailSchema(17, "Ada Lovelace", 1, ADDED, ADVICE)
PHOTO: Final = schemas.PhotoSchema(
    40, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", ADDED, 3.1, 8.0, "front", False
)
ENROLLED: Final = schemas.EnrolledSchema(DETAIL, [PHOTO], [], [])
LIGHT: Final = schemas.LightSchema(
    68.0, 4.0, "left", "level", 0.41, 190.0, 0.38, 0.0, 0.02, 0.26, 84.5, -4.2, 2.5, 0.8, 0.0, 0.74, False,
    "The right half of the picture, your left side, is in shadow: turn to your right, toward the light.",
)  # fmt: skip
FACE: Final = schemas.FoundFaceSchema((210.4, 188.0), (294.9, 189.2), 1, "gamma")
ANSWER: Final = schemas.AnswerSchema(
    answer="known", person=17, name="Ada Lovelace", score=0.93, one_in=380000.0, threshold=0.5, far=0.001,
    calibrated=True, meaning=MEANING, light=LIGHT, face=FACE, with_mesh=True,
    sentence="Ada Lovelace: about 1 in 380,000 strangers would score this well; 1 in 1,000 is asked for.",
    candidates=[
        schemas.CandidateSchema(17, "Ada Lovelace", 0.93, 380000.0, 7.9, 0.42),
        schemas.CandidateSchema(4, "Ben", 0.04, 1.7, 0.9, 0.71),
    ],
)  # fmt: skip
VERIFICATION: Final = schemas.VerificationSchema(
    True, 0.71, 18000.0, 6.2, 0.47, 0.5, 0.001, MEANING,
    "The same person: about 1 in 18,000 other people would score this well; 1 in 1,000 is asked for.", LIGHT, LIGHT,
    True,
)  # fmt: skip
EXPLANATION: Final = schemas.ExplanationSchema(
    person=17, name="Ada Lovelace", lead=7.9, against=None, against_name=None, against_lead=None,
    rivals=["Ben", "rendered 07"],
    sentence="lead 7.9 = +9.6 from patches that speak for Ada Lovelace, -1.7 from patches that speak against",
    rows=1, columns=2, width=16, height=8, picture="iVBORw0KGgo=", with_mesh=True,
    patches=[schemas.PatchSchema(0, 0, 8, 8, 9.6), schemas.PatchSchema(8, 0, 8, 8, -1.7)],
)  # fmt: skip
CALIBRATION: Final = schemas.CalibrationSchema(0.001, 0.5, True, -0.12, 40, 40, 160, MEANING)
ACCURACY: Final = schemas.AccuracySchema(
    far=0.001, threshold=0.5, calibrated=True, people=40, asked=80,
    lights=[
        schemas.AccuracyInLightSchema(
            light="all", words="all photos", named=schemas.ShareSchema(79, 80, 0.9875, 0.93, 1.0),
            found=schemas.ShareSchema(77, 80, 0.9625, 0.89, 0.99), strangers=schemas.ShareSchema(0, 80, 0.0, 0.0, 0.05),
        )
    ],
    note="Each photo of people with several was left out in turn.",
)  # fmt: skip
