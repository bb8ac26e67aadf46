"""Routes of the service as a whole: health, version, threshold, accuracy, export and import, metrics, and the page."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from fastapi import APIRouter
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response, StreamingResponse

from lightproof.service import bodies, jobs, openapi, schemas, serializers
from lightproof.service.problems import ServiceProblem
from lightproof.service.serializers import from_attributes, json_response
from lightproof.service.state import State

gallery_router = APIRouter(tags=["gallery"])
exchange_router = APIRouter(tags=["exchange"])
page_router = APIRouter(include_in_schema=False)

GALLERY_TYPE: Final = "application/octet-stream"
EXPORT_PIECE_BYTES: Final = 256 * 1024

PAGE_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

_LIMITS = schemas.LimitsSchema(25165824, 25000000, 50, 67108864, 1073741824)


@gallery_router.get(
    "/health", **openapi.describe(of=schemas.HealthSchema("ok")), openapi_extra={"security": []}, summary="Is it well?"
)
def health(state: State) -> Response:
    """Answer "ok" as long as the gallery can be read; needs no token."""
    state.follow()
    return json_response(schemas.HealthSchema("ok"))


@gallery_router.get(
    "/version",
    **openapi.describe(of=schemas.VersionSchema("0.1.0", "robust", False, True, "none", 40, 80, _LIMITS)),
    summary="What runs here?",
)
def version(state: State) -> Response:
    """Tell what runs here, on which gallery, and what is accepted at most."""
    state.follow()
    gallery, limits = state.gallery, from_attributes(schemas.LimitsSchema, state.limits)
    shown = {"preset": gallery.preset, "keeps_photos": gallery.keeps_photos, "finds_faces": state.finds_faces}
    number = metadata.version("lightproof")
    counts = gallery.store.counts()
    return json_response(
        from_attributes(schemas.VersionSchema, counts, version=number, liveness="none", limits=limits, **shown)
    )


@gallery_router.get("/calibration", **openapi.describe(of=openapi.CALIBRATION), summary="Where is the threshold?")
def calibration(state: State) -> Response:
    """Tell the threshold, and how many strangers get past it."""
    return json_response(serializers.calibration(state.gallery.calibration()))


@gallery_router.post(
    "/calibrate",
    **openapi.describe("interrupted", of=openapi.CALIBRATION, body=bodies.Calibrate),
    summary="Set the threshold",
)
async def calibrate(call: Call, state: State) -> Response:
    """Measure how well strangers score in this gallery, and set the share of them that may be accepted."""
    async with state.reading(call, bodies.Calibrate) as request:
        found = await state.work_on_gallery(call, jobs.calibrate, request.far)
    state.record(call, "calibrate", far=found.far, people=found.people)
    return json_response(found)


@gallery_router.get("/accuracy", **openapi.describe(of=openapi.ACCURACY), summary="How well does it do?")
async def accuracy(call: Call, state: State) -> Response:
    """Leave out each photo in turn and ask about it: how many are named, found and let in, by light."""
    return json_response(await state.work_on_gallery(call, jobs.accuracy))


@exchange_router.get("/export", **openapi.describe("interrupted", media=GALLERY_TYPE), summary="The gallery as a file")
async def export(call: Call, state: State) -> Response:
    """Copy the whole gallery into one file, which `lightproof import` and this service read."""
    async with state.exchange():
        with TemporaryDirectory(prefix="lightproof-") as folder:  # other users cannot read it
            file = Path(folder, "copy.gallery")
            people = await state.work_on_gallery(call, jobs.export, str(file))
            opened = await run_in_threadpool(file.open, "rb")
        # An open file stays readable after its name is gone; whatever happens from here on, nothing is left.
    state.record(call, "export", people=people)
    headers = {
        "Content-Disposition": 'attachment; filename="people.gallery"',
        "Content-Length": str(os.fstat(opened.fileno()).st_size),
    }

    async def pieces() -> AsyncIterator[bytes]:
        while piece := await run_in_threadpool(opened.read, EXPORT_PIECE_BYTES):
            yield piece

    return StreamingResponse(pieces(), 200, headers, GALLERY_TYPE, BackgroundTask(opened.close))


@exchange_router.post(
    "/import",
    **openapi.describe(
        "bad_request", "too_slow", "too_large", "unsupported_media_type", "bad_gallery", "photo_of_another",
        "interrupted", of=schemas.ImportedSchema(40),
    ),
    openapi_extra={"requestBody": {"required": True, "content": {GALLERY_TYPE: {"schema": openapi.BINARY}}}},
    summary="Add everybody of a gallery",
)  # fmt: skip
async def import_(call: Call, state: State) -> Response:
    """Add everybody of a gallery that was made with the same preset: all of them, or nobody."""
    if bodies.content_type(call) != GALLERY_TYPE:
        raise bodies.wrong_content_type(call, GALLERY_TYPE)
    async with state.exchange():
        with TemporaryDirectory(prefix="lightproof-") as folder:
            file = Path(folder, "sent.gallery")
            with file.open("wb") as sink:
                async for piece in bodies.stream_body(call, state.limits.import_bytes, state.limits):
                    await run_in_threadpool(sink.write, piece)
            imported = await state.work_on_gallery(call, jobs.import_, str(file))
    state.record(call, "import", people=imported.people)
    return json_response(imported)


class PageFile(NamedTuple):
    """A file of the page."""

    contents: bytes
    media_type: str
    etag: str


@cache
def page_files() -> dict[str, PageFile]:
    """Read the files of the page, once: requests look them up here, and never on the disk."""
    files = {}
    for file in resources.files("lightproof.service").joinpath("page").iterdir():
        ending = f".{file.name.rpartition('.')[2]}"
        if ending in PAGE_TYPES:
            contents = file.read_bytes()
            files[file.name] = PageFile(contents, PAGE_TYPES[ending], f'"{hashlib.sha256(contents).hexdigest()[:20]}"')
    return files


@page_router.get("/")
async def page(call: Call) -> Response:
    """Send the page."""
    return await page_file("index.html", call)


@page_router.get("/page/{name}")
async def page_file(name: str, call: Call) -> Response:
    """Send a file of the page."""
    file = page_files().get(name)
    if file is None:
        raise ServiceProblem("not_found", "The address must be that of a file of the page; got another.")
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    if call.headers.get("if-none-match") == file.etag:
        return Response(b"", 304, headers)
    return Response(file.contents, 200, headers, file.media_type)


@page_router.get("/metrics")
def metrics(state: State) -> Response:
    """Send the counts for Prometheus."""
    counts, figures = state.gallery.store.counts(), state.metrics
    figures.people.set(counts.people)
    figures.enrolled.set(counts.photos)
    figures.waiting.set(state.pool.waiting + state.gallery_pool.waiting)
    figures.held.set(state.memory.held)
    return Response(figures.to_text(), media_type=CONTENT_TYPE_LATEST)
