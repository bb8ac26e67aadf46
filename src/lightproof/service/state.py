"""State that all requests share: the gallery, the worker processes, counts, and the audit log."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Call

from lightproof.errors import CannotWrite
from lightproof.gallery import Gallery
from lightproof.service.bodies import MemoryBudget, RequestModel, read_body
from lightproof.service.problems import busy
from lightproof.service.settings import Settings
from lightproof.service.worker_pool import WorkerPool

T = TypeVar("T")
R = TypeVar("R", bound=RequestModel)

audit_logger = logging.getLogger("lightproof.audit")

LATENCY_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Upper ends in seconds."""

MAX_EXCHANGES: Final = 2
"""Exports and imports at a time."""

GALLERY_JOB_SECONDS: Final = 3600.0
"""How long work on the whole gallery may take."""


class Metrics:
    """Counts for Prometheus: how often, how long, with which outcome. Nothing in them is about anybody."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        name = "lightproof"
        self.requests = Counter(
            f"{name}_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            f"{name}_request_seconds", "Time to the answer.", ["route"], buckets=LATENCY_BUCKETS, registry=registry
        )
        self.answers = Counter(f"{name}_answers", "Photos identified.", ["answer"], registry=registry)
        self.photos = Counter(f"{name}_photos", "Photos sent to be enrolled.", ["outcome"], registry=registry)
        self.running = Gauge(f"{name}_requests_running", "Requests not answered yet.", registry=registry)
        self.waiting = Gauge(f"{name}_jobs_waiting", "Work that waits or is done.", registry=registry)
        self.held = Gauge(f"{name}_held_bytes", "Bytes of requests in memory.", registry=registry)
        self.people = Gauge(f"{name}_gallery_people", "People enrolled.", registry=registry)
        self.enrolled = Gauge(f"{name}_gallery_photos", "Photos enrolled.", registry=registry)

    def to_text(self) -> bytes:
        """Return all counts in the format of Prometheus."""
        return bytes(generate_latest(self._registry))


class AuditLog:
    """One line for each enroll, identify, delete and so on: what, when and about whom, by number; no picture or name.

    Lines are added to the file, each written whole, also when several services write to it; to stderr if it is None.
    """

    def __init__(self, file: str | None) -> None:
        self._file: int | None = None
        if file is not None:
            try:
                # Only whoever runs the service may read it.
                self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            except OSError as problem:
                raise CannotWrite(Path(file), problem) from None

    def write(self, request: str, action: str, **facts: Any) -> None:
        """Write a line: the id of the request, the action, and its outcome."""
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": when, "request": request, "action": action, **facts})
        if self._file is None:
            audit_logger.info(line)
            return
        try:
            os.write(self._file, f"{line}\n".encode())
        except OSError as problem:
            # The action is done already; that it is not on record must not go unseen.
            audit_logger.error("An audit line cannot be written (%s): %s", problem.strerror, line)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class ServiceState:
    """State of one service."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.metrics = Metrics()
        self.memory = MemoryBudget(self.limits.held_bytes)
        self.finds_faces = False
        self._exchanges = asyncio.Semaphore(MAX_EXCHANGES)

    async def open(self) -> None:
        """Open the gallery, and start the workers."""
        self.audit = AuditLog(self.settings.audit)
        self.gallery = await run_in_threadpool(self._open_gallery)
        self.pool = WorkerPool(self.settings, self.settings.workers, self.limits.job_seconds)
        # Work on the whole gallery delays no question. This worker starts with its first job.
        self.gallery_pool = WorkerPool(self.settings, 1, GALLERY_JOB_SECONDS)
        self.finds_faces = await self.pool.warm_up()

    def _open_gallery(self) -> Gallery:
        return Gallery.open(self.settings.gallery, create=False, timeout=self.settings.wait)

    def follow(self) -> None:
        """Open the gallery again if it was rebuilt since; raise an error if it cannot be read."""
        if not self.gallery.is_current():
            # Requests that still read from the old one keep it.
            self.gallery = self._open_gallery()

    def close(self) -> None:
        """Stop the workers; close gallery and audit log."""
        self.pool.close()
        self.gallery_pool.close()
        self.gallery.close()
        self.audit.close()

    @asynccontextmanager
    async def reading(self, call: Call, model: type[R]) -> AsyncIterator[R]:
        """Read the body of a request; it counts as held memory until the block ends."""
        with self.memory.account(call.client.host if call.client else "?") as account:
            yield await read_body(call, model, self.limits, account)

    async def ask(self, call: Call, model: type[R], job: Callable[[R], T]) -> T:
        """Read a question about photos, and let a worker answer it."""
        async with self.reading(call, model) as request:
            return await self.pool.do(call.is_disconnected, job, request)

    async def work_on_gallery(self, call: Call, job: Callable[..., T], *arguments: Any) -> T:
        """Let a worker do a job on the whole gallery."""
        return await self.gallery_pool.do(call.is_disconnected, job, *arguments, again=False)

    @asynccontextmanager
    async def exchange(self) -> AsyncIterator[None]:
        """Allow an export or import: few at a time, because each needs room on the disk."""
        if self._exchanges.locked():
            raise busy("other exports or imports", 10)
        async with self._exchanges:
            yield

    def record(self, call: Call, action: str, **facts: Any) -> None:
        """Write an audit line."""
        self.audit.write(request_id(call.scope), action, **facts)


def _state_of(call: Call) -> ServiceState:
    state: ServiceState = call.app.state.service
    return state


State = Annotated[ServiceState, Depends(_state_of)]
"""Parameter of a route."""


def request_id(scope: Any) -> str:
    """Return the id of a request."""
    return str(scope.get("lightproof.request", "-"))
