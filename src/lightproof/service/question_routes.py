"""Routes of questions about photos: who is it, is it the same person, why, and what does the light do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.service import bodies, jobs, openapi, schemas
from lightproof.service.bodies import RequestModel
from lightproof.service.serializers import json_response
from lightproof.service.state import State

router = APIRouter(tags=["questions"])


def _question(body: type[RequestModel], *codes: str, **answer: Any) -> dict[str, Any]:
    return openapi.describe(*openapi.WITH_PHOTO, *codes, body=body, **answer)


@router.post("/identify", **_question(bodies.Identify, of=openapi.ANSWER), summary="Who is on a photo?")
async def identify(call: Call, state: State) -> Response:
    """Tell who is on a photo, or that it is a stranger, and what the light does. Of several faces the largest counts.

    There is no liveness test: a printed photo of somebody can pass for them.
    """
    answer = await state.ask(call, bodies.Identify, jobs.identify)
    state.metrics.answers.labels(answer.answer).inc()
    state.record(call, "identify", answer=answer.answer, person=answer.person, score=round(answer.score, 3))
    return json_response(answer)


@router.post(
    "/verify", **_question(bodies.Verify, "unknown_person", of=openapi.VERIFICATION), summary="Is it the same person?"
)
async def verify(call: Call, state: State) -> Response:
    """Tell whether two photos show the same person, whoever is enrolled, or whether a photo shows somebody enrolled."""
    async with state.reading(call, bodies.Verify) as request:
        answer = await state.pool.do(call.is_disconnected, jobs.verify, request)
    state.record(call, "verify", person=request.person, same=answer.same, score=round(answer.score, 3))
    return json_response(answer)


@router.post(
    "/explain",
    **_question(bodies.Explain, "unknown_person", "nobody_enrolled", of=openapi.EXPLANATION),
    summary="Why this name? The numbers",
)
async def explain(call: Call, state: State) -> Response:
    """Tell what each patch of the face adds to the lead that decides; they add up to it."""
    answer = await state.ask(call, bodies.Explain, jobs.explain)
    state.record(call, "explain", person=answer.person, against=answer.against)
    return json_response(answer)


@router.post(
    "/explain/map",
    **_question(bodies.Explain, "unknown_person", "nobody_enrolled", media="image/png"),
    summary="Why this name? The picture",
)
async def explain_map(call: Call, state: State) -> Response:
    """Draw what each patch adds over the face: blue speaks for the person, red against."""
    person, against, picture = await state.ask(call, bodies.Explain, jobs.draw_explanation)
    state.record(call, "explain", person=person, against=against)
    return Response(picture, media_type="image/png")


@router.post(
    "/diagnose",
    **_question(bodies.Diagnose, of=schemas.DiagnosisSchema(openapi.LIGHT, openapi.FACE)),
    summary="What do light and pose do?",
)
async def diagnose(call: Call, state: State) -> Response:
    """Tell where the light comes from, what lies in shadow, and what the person may do about it. Nobody is compared."""
    return json_response(await state.ask(call, bodies.Diagnose, jobs.diagnose))
