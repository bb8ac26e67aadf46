"""Questions about photos: who is it, is it the same, why, and what does the light do."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.service import jobs, openapi, request_models, schemas
from lightproof.service.state import FromDesk, told

router = APIRouter(tags=["questions"])

_PHOTO = (*openapi.SENDING, *openapi.LOOKING)


@router.post(
    "/identify",
    **openapi.answers(*_PHOTO, of=openapi.ANSWER),
    openapi_extra=request_models.body_of(request_models.Identify),
    summary="Who is on a photo?",
)
async def identify(call: Call, desk: FromDesk) -> Response:
    """Tell who is on a photo, or that it is a stranger, and what the light does. Of several faces the largest counts.

    There is no liveness test: a printed photo of somebody can pass for them.
    """
    async with desk.asked(call, request_models.Identify) as asked:
        answer = await desk.work(call, jobs.identify, asked)
    desk.metrics.answers.labels(answer.answer).inc()
    desk.note(call, "identify", answer=answer.answer, person=answer.person, score=round(answer.score, 3))
    return told(answer)


@router.post(
    "/verify",
    **openapi.answers(*_PHOTO, "unknown_person", of=openapi.VERIFICATION),
    openapi_extra=request_models.body_of(request_models.Verify),
    summary="Is it the same person?",
)
async def verify(call: Call, desk: FromDesk) -> Response:
    """Tell whether two photos show the same person, whoever is enrolled, or whether a photo shows somebody enrolled."""
    async with desk.asked(call, request_models.Verify) as asked:
        found = await desk.work(call, jobs.verify, asked)
    desk.note(call, "verify", person=asked.person, same=found.same, score=round(found.score, 3))
    return told(found)


@router.post(
    "/explain",
    **openapi.answers(*_PHOTO, "unknown_person", "nobody_enrolled", of=openapi.EXPLANATION),
    openapi_extra=request_models.body_of(request_models.Explain),
    summary="Why this name? The numbers",
)
async def explain(call: Call, desk: FromDesk) -> Response:
    """Tell what each patch of the face adds to the lead that decides; they add up to it."""
    async with desk.asked(call, request_models.Explain) as asked:
        found = await desk.work(call, jobs.explain, asked)
    desk.note(call, "explain", person=found.person, against=found.against)
    return told(found)


@router.post(
    "/explain/map",
    **openapi.answers(*_PHOTO, "unknown_person", "nobody_enrolled", media="image/png"),
    openapi_extra=request_models.body_of(request_models.Explain),
    summary="Why this name? The picture",
)
async def explain_map(call: Call, desk: FromDesk) -> Response:
    """Draw what each patch adds over the face: blue speaks for the person, red against."""
    async with desk.asked(call, request_models.Explain) as asked:
        person, against, picture = await desk.work(call, jobs.draw_explanation, asked)
    desk.note(call, "explain", person=person, against=against)
    return Response(picture, media_type="image/png")


@router.post(
    "/diagnose",
    **openapi.answers(*_PHOTO, of=schemas.Diagnosis(openapi.LIGHT, openapi.FACE)),
    openapi_extra=request_models.body_of(request_models.Diagnose),
    summary="What does the light do?",
)
async def diagnose(call: Call, desk: FromDesk) -> Response:
    """Tell where the light comes from, what lies in shadow, and what the person may do about it. Nobody is compared."""
    async with desk.asked(call, request_models.Diagnose) as asked:
        return told(await desk.work(call, jobs.diagnose, asked))
