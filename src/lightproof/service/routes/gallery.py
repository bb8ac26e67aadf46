"""The service and its gallery: health, version, threshold, accuracy."""

from __future__ import annotations

from importlib import metadata

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.service import jobs, openapi, request_models, schemas, serializers
from lightproof.service.state import Desk, FromDesk, told

router = APIRouter(tags=["gallery"])

_LIMITS = schemas.Limits(25165824, 25000000, 50, 67108864, 1073741824)


@router.get(
    "/health", **openapi.answers(of=schemas.Health("ok")), openapi_extra={"security": []}, summary="Is it well?"
)
async def health(desk: FromDesk) -> Response:
    """Answer "ok" as long as the gallery can be read; needs no token."""
    await run_in_threadpool(desk.follow)
    return told(schemas.Health("ok"))


@router.get(
    "/version",
    **openapi.answers(of=schemas.Version("0.1.0", "robust", False, True, "none", 40, 80, _LIMITS)),
    summary="What runs here?",
)
async def version(desk: FromDesk) -> Response:
    """Tell what runs here, on what gallery, and what is taken at most."""
    return told(await run_in_threadpool(_version, desk))


def _version(desk: Desk) -> schemas.Version:
    desk.follow()
    counts, limits = desk.gallery.store.counts(), desk.limits
    most = (limits.photo_bytes, limits.photo_pixels, limits.photos, limits.body_bytes, limits.import_bytes)
    return schemas.Version(
        version=metadata.version("lightproof"),
        preset=desk.gallery.preset,
        keeps_photos=desk.gallery.keeps_photos,
        finds_faces=desk.finds_faces,
        liveness="none",
        people=counts.people,
        photos=counts.photos,
        limits=schemas.Limits(*most),
    )


@router.get("/calibration", **openapi.answers(of=openapi.CALIBRATION), summary="Where is the threshold?")
async def calibration(desk: FromDesk) -> Response:
    """Tell the threshold, and how many strangers get past it."""
    return told(serializers.calibration_told(await run_in_threadpool(desk.gallery.calibration)))


@router.post(
    "/calibrate",
    **openapi.answers(*openapi.SENDING, "interrupted", of=openapi.CALIBRATION),
    openapi_extra=request_models.body_of(request_models.Calibrate),
    summary="Set the threshold",
)
async def calibrate(call: Call, desk: FromDesk) -> Response:
    """Find out how well strangers do in this gallery, and set the share of them that may be accepted."""
    async with desk.asked(call, request_models.Calibrate) as asked:
        found = await desk.work_long(call, jobs.calibrate, asked.far)
    desk.note(call, "calibrate", far=found.far, people=found.people)
    return told(found)


@router.get("/accuracy", **openapi.answers(of=openapi.ACCURACY), summary="How well does it do?")
async def accuracy(call: Call, desk: FromDesk) -> Response:
    """Leave out each photo in turn and ask about it: how many are named, found and let in, by light."""
    return told(await desk.work_long(call, jobs.accuracy))
