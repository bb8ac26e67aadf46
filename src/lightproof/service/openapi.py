"""How routes are described in the OpenAPI document: the problems they may answer with, and examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pydantic import TypeAdapter
from starlette.responses import Response

from lightproof.service import schemas
from lightproof.service.problems import KINDS, MEDIA_TYPE, ServiceProblem
from lightproof.service.serializers import MEANING

ALWAYS: Final = ("unauthorized", "foreign_origin", "wrong_host", "too_many_requests", "gallery_unavailable", "busy")
"""What every route may answer with."""

SENDING: Final = ("bad_request", "too_slow", "too_large", "unsupported_media_type", "bad_value")
"""And those that are sent something."""

LOOKING: Final = ("bad_picture", "too_many_pixels", "no_face", "no_detector", "interrupted")
"""And those that look for a face in it."""

_PROBLEM: Final = TypeAdapter(schemas.Problem)

BINARY: Final = {"type": "string", "format": "binary"}

_DETAILS: Final = {
    "no_face": "The photo must be a photo of a face with at least 20 pixels between the eyes; got none in any look "
    "(gamma, plain, log, smooth).",
    "unauthorized": "The header Authorization must be 'Bearer' and the token; got none.",
    "unknown_person": "The number of a person must be that of somebody enrolled; got 99.",
    "name_taken": "The new name must be one that nobody has; got 'Ada', who is enrolled.",
    "bad_value": "`far` must be less than 1; got 7.0.",
}


def answers(*codes: str, of: Any = None, status: int = 200, media: str = "application/json") -> dict[str, Any]:
    """Describe what a route answers: keyword arguments for its decorator.

    Parameters
    ----------
    *codes : str
        Problems, beside those of ``ALWAYS``.
    of : object, optional
        An example of the answer; its class is the answer's.
    status : int
    media : str
        What kind of file the answer is where there is no example.
    """
    by_status: dict[int, list[str]] = {}
    for code in dict.fromkeys((*ALWAYS, *codes)):
        by_status.setdefault(KINDS[code].status, []).append(code)
    responses: dict[int | str, Any] = {number: _problems(several) for number, several in sorted(by_status.items())}
    if of is None:
        responses[status] = {"content": {media: {"schema": BINARY}}, "description": "The file."}
        return {"responses": responses, "status_code": status, "response_class": Response}
    written = TypeAdapter(type(of)).dump_python(of, mode="json")
    responses[status] = {"content": {"application/json": {"example": written}}}
    return {"responses": responses, "status_code": status, "response_model": type(of)}


def _problems(codes: Iterable[str]) -> dict[str, Any]:
    listed = list(codes)
    examples = {code: {"summary": KINDS[code].title, "value": _example(code)} for code in listed}
    schema = {"$ref": "#/components/schemas/Problem"}
    words = "; ".join(f"`{code}`: {KINDS[code].title}" for code in listed)
    return {"description": words, "content": {MEDIA_TYPE: {"schema": schema, "examples": examples}}}


def _example(code: str) -> dict[str, Any]:
    problem = ServiceProblem(code, _DETAILS.get(code, f"{KINDS[code].title}."))
    written: dict[str, Any] = _PROBLEM.dump_python(problem.told("5f2c1d9e8b7a6f40"), mode="json")
    return written


SINCE: Final = "2026-11-17T09:30:00+00:00"
ADVICE: Final = schemas.Advice(
    ["front"],
    ["left", "right", "hard left", "hard right", "above", "below"],
    "Add a photo with light from above, such as a lamp on the ceiling: on rendered people it raises the share found "
    "under all lights from 88% to 95%.",
    0.068,
)
PERSON: Final = schemas.Person(17, "Ada Lovelace", 1, SINCE)
DETAIL: Final = schemas.PersonDetail(17, "Ada Lovelace", 1, SINCE, ADVICE)
PHOTO: Final = schemas.Photo(
    40, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", SINCE, 3.1, 8.0, "front", False
)
LIGHT: Final = schemas.Light(
    68.0, 4.0, "left", "level", 0.41, 190.0, 0.38, 0.0, 0.02, 0.26, 84.5, False,
    "The right half of the picture, your left side, is in shadow: turn to your right, toward the light.",
)  # fmt: skip
FACE: Final = schemas.FoundFace((210.4, 188.0), (294.9, 189.2), 1, "gamma")
ANSWER: Final = schemas.Answer(
    answer="known",
    person=17,
    name="Ada Lovelace",
    score=0.93,
    one_in=380000.0,
    threshold=0.5,
    far=0.001,
    calibrated=True,
    meaning=MEANING,
    sentence="Ada Lovelace: about 1 in 380,000 strangers would score this well; 1 in 1,000 is asked for.",
    candidates=[
        schemas.Candidate(17, "Ada Lovelace", 0.93, 380000.0, 7.9, 0.42),
        schemas.Candidate(4, "Ben", 0.04, 1.7, 0.9, 0.71),
    ],
    light=LIGHT,
    face=FACE,
)
VERIFICATION: Final = schemas.Verification(
    True, 0.71, 18000.0, 6.2, 0.47, 0.5, 0.001, MEANING,
    "The same person: about 1 in 18,000 other people would score this well; 1 in 1,000 is asked for.", LIGHT, LIGHT,
)  # fmt: skip
EXPLANATION: Final = schemas.Explanation(
    person=17,
    name="Ada Lovelace",
    lead=7.9,
    against=None,
    against_name=None,
    against_lead=None,
    rivals=["Ben", "rendered 07"],
    sentence="lead 7.9 = +9.6 from patches that speak for Ada Lovelace, -1.7 from patches that speak against",
    rows=1,
    columns=2,
    patches=[schemas.Patch(0, 0, 8, 8, 9.6), schemas.Patch(8, 0, 8, 8, -1.7)],
    width=16,
    height=8,
    picture="iVBORw0KGgo=",
)
CALIBRATION: Final = schemas.Calibration(0.001, 0.5, True, -0.12, 40, 40, 160, MEANING)
ACCURACY: Final = schemas.Accuracy(
    0.001, 0.5, True, 40, 80,
    [
        schemas.AccuracyInLight(
            "all", "all photos", schemas.Share(79, 80, 0.9875, 0.93, 1.0), schemas.Share(77, 80, 0.9625, 0.89, 0.99),
            schemas.Share(0, 80, 0.0, 0.0, 0.05),
        )
    ],
    "Each photo of people with several was left out in turn.",
)  # fmt: skip
FORGOTTEN: Final = schemas.Forgotten(1, 3, None)
