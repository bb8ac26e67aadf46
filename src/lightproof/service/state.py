"""What every answer needs: the gallery, who works, what is counted and limited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call
from starlette.responses import Response

from lightproof.gallery import Gallery
from lightproof.service import jobs, schemas
from lightproof.service.audit import Audit
from lightproof.service.bodies import Room, read_body
from lightproof.service.problems import busy
from lightproof.service.prometheus import Metrics
from lightproof.service.rate_limit import Rates
from lightproof.service.request_models import Request
from lightproof.service.settings import Settings
from lightproof.service.worker_pool import Pool

T = TypeVar("T")
R = TypeVar("R", bound=Request)

BURST: Final = 5.0
"""Seconds' worth of requests that may come at once."""

EXCHANGES: Final = 2
"""Galleries that come in or go out at a time."""

LONG: Final = 3600.0
"""Seconds that work on the whole gallery may take."""


class Desk:
    """What a service has.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.metrics = Metrics()
        self.room = Room(self.limits.held_bytes)
        self.rates = Rates(self.limits.rate, max(1.0, BURST * self.limits.rate))
        self.guesses = Rates(self.limits.guesses / 60, self.limits.guesses)
        self.finds_faces = False
        self._exchanges = asyncio.Semaphore(EXCHANGES)

    async def open(self) -> None:
        """Open the gallery, and start those who work."""
        settings = self.settings
        self.audit = Audit(settings.audit)
        self.gallery = await run_in_threadpool(Gallery.open, settings.gallery, create=False, timeout=settings.wait)
        self.pool = Pool(settings, settings.workers, self.limits.job_seconds)
        # Work on the whole gallery keeps nobody at the door waiting. Its process starts when it is first asked for.
        self.long = Pool(settings, 1, LONG)
        self.finds_faces = await self.pool.warm_up()

    def follow(self) -> None:
        """Open the gallery again if all templates were made anew since; an error if it cannot be read."""
        if not self.gallery.is_current():
            # The old one is left to those who still read from it.
            self.gallery = Gallery.open(self.settings.gallery, create=False, timeout=self.settings.wait)

    def close(self) -> None:
        """Let go of everything."""
        self.pool.close()
        self.long.close()
        self.gallery.close()
        self.audit.close()

    @asynccontextmanager
    async def asked(self, call: Call, model: type[R]) -> AsyncIterator[R]:
        """Read what is asked; it has its place in the memory until it is answered."""
        with self.room.account(address_of(call)) as account:
            yield await read_body(call, model, self.limits, account)

    async def work(self, call: Call, job: Callable[..., T], *arguments: Any) -> T:
        """Have a question about a photo answered."""
        return await self.pool.do(call.is_disconnected, job, *arguments)

    async def enroll(self, call: Call, who: str | int, photos: list[bytes], cropped: bool) -> schemas.Enrolled:
        """Have photos enrolled."""
        # Where a process dies over it, nobody knows how far it came: so it is not done again.
        return await self.pool.do(
            call.is_disconnected, jobs.enroll, who, photos, cropped, parts=len(photos), again=False
        )

    @asynccontextmanager
    async def exchange(self) -> AsyncIterator[None]:
        """Let a gallery come in or go out: few at a time, for each lies on the disk meanwhile."""
        if self._exchanges.locked():
            raise busy("others that exchange galleries", 10)
        async with self._exchanges:
            yield

    async def work_long(self, call: Call, job: Callable[..., T], *arguments: Any) -> T:
        """Have the whole gallery worked on."""
        return await self.long.do(call.is_disconnected, job, *arguments, again=False)

    def note(self, call: Call, action: str, **facts: Any) -> None:
        """Write an audit line."""
        self.audit.write(request_of(call.scope), action, **facts)


def desk_of(call: Call) -> Desk:
    """Return the desk of the service that was called."""
    desk: Desk = call.app.state.desk
    return desk


FromDesk = Annotated[Desk, Depends(desk_of)]


def address_of(call: Call) -> str:
    """Return the address that a request came from."""
    return call.client.host if call.client else "?"


def request_of(scope: Any) -> str:
    """Return the number of a request."""
    return str(scope.get("lightproof.request", "-"))


def told(answer: Any, status: int = 200) -> Response:
    """Write an answer as JSON."""
    kind = type(answer)
    if kind not in _WRITERS:
        _WRITERS[kind] = TypeAdapter(kind)
    return Response(_WRITERS[kind].dump_json(answer), status, media_type="application/json")


_WRITERS: Final[dict[type, TypeAdapter[Any]]] = {}
