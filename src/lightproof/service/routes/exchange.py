"""A gallery as a file: export and import."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response, StreamingResponse

from lightproof.imaging.decode import in_one_line
from lightproof.service import jobs, openapi, schemas
from lightproof.service.bodies import arriving
from lightproof.service.problems import ServiceProblem
from lightproof.service.state import FromDesk, told

router = APIRouter(tags=["exchange"])

FILE: Final = "application/octet-stream"
PIECE: Final = 256 * 1024


@contextmanager
def _own_folder() -> Iterator[Path]:
    """Make a folder that nobody else can look into, for as long as it is needed; callers have no say in its name."""
    with TemporaryDirectory(prefix="lightproof-") as folder:
        yield Path(folder)


@router.get("/export", **openapi.answers("interrupted", media=FILE), summary="The gallery as a file")
async def export(call: Call, desk: FromDesk) -> Response:
    """Copy the whole gallery into one file, which `lightproof import` and this service read."""
    async with desk.exchange():
        with _own_folder() as folder:
            file = folder / "copy.gallery"
            people = await desk.work_long(call, jobs.export, str(file))
            opened = await run_in_threadpool(file.open, "rb")
        # An open file stays readable after its name is gone; whatever happens from here on, nothing is left.
    desk.note(call, "export", people=people)
    headers = {
        "Content-Disposition": 'attachment; filename="people.gallery"',
        "Content-Length": str(os.fstat(opened.fileno()).st_size),
    }

    async def pieces() -> AsyncIterator[bytes]:
        while piece := await run_in_threadpool(opened.read, PIECE):
            yield piece

    return StreamingResponse(pieces(), 200, headers, FILE, BackgroundTask(opened.close))


@router.post(
    "/import",
    **openapi.answers(
        "bad_request",
        "too_slow",
        "too_large",
        "unsupported_media_type",
        "bad_gallery",
        "photo_of_another",
        "interrupted",
        of=schemas.Imported(40),
    ),
    openapi_extra={"requestBody": {"required": True, "content": {FILE: {"schema": openapi.BINARY}}}},
    summary="Add everybody of a gallery",
)
async def import_(call: Call, desk: FromDesk) -> Response:
    """Add everybody of a gallery that was made with the same preset: all of them, or nobody."""
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FILE:
        got = in_one_line(kind) or "none"
        raise ServiceProblem("unsupported_media_type", f"The content type must be {FILE}; got {got}.")
    async with desk.exchange():
        with _own_folder() as folder:
            file = folder / "sent.gallery"
            with file.open("wb") as sink:
                async for piece in arriving(call, desk.limits.import_bytes, desk.limits):
                    await run_in_threadpool(sink.write, piece)
            imported = await desk.work_long(call, jobs.import_, str(file))
    desk.note(call, "import", people=imported.people)
    return told(imported)
