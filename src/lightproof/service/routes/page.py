"""The page for people, and the figures for Prometheus."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.service.problems import ServiceProblem
from lightproof.service.state import Desk, FromDesk

router = APIRouter(include_in_schema=False)

KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Part(NamedTuple):
    """A file of the page."""

    contents: bytes
    kind: str
    tag: str


@cache
def parts() -> dict[str, Part]:
    """Read the files of the page, once: what is asked for is looked up here, and never on the disk."""
    found = {}
    for file in resources.files("lightproof.service").joinpath("page").iterdir():
        ending = f".{file.name.rpartition('.')[2]}"
        if ending in KINDS:
            contents = file.read_bytes()
            found[file.name] = Part(contents, KINDS[ending], f'"{hashlib.sha256(contents).hexdigest()[:20]}"')
    return found


@router.get("/")
async def page(call: Call) -> Response:
    """Show the page."""
    return _sent("index.html", call)


@router.get("/page/{name}")
async def part(name: str, call: Call) -> Response:
    """Send a part of the page."""
    return _sent(name, call)


def _sent(name: str, call: Call) -> Response:
    found = parts().get(name)
    if found is None:
        raise ServiceProblem("not_found", "The address must be one of the page's own; got another.")
    headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
    if call.headers.get("if-none-match") == found.tag:
        return Response(b"", 304, headers)
    return Response(found.contents, 200, headers, found.kind)


@router.get("/metrics")
async def metrics(desk: FromDesk) -> Response:
    """Tell figures, for Prometheus."""
    return Response(await run_in_threadpool(_written, desk), media_type=desk.metrics.content_type)


def _written(desk: Desk) -> bytes:
    counts, figures = desk.gallery.store.counts(), desk.metrics
    figures.people.set(counts.people)
    figures.enrolled.set(counts.photos)
    figures.waiting.set(desk.pool.waiting + desk.long.waiting)
    figures.held.set(desk.room.held)
    return figures.written()
