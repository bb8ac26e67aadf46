"""A service in this process: its worker is a thread, so that a test starts at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.concurrency import run_in_threadpool
from starlette.testclient import TestClient

from lightproof.service import jobs
from lightproof.service import state as service_state
from lightproof.service.application import make_app
from lightproof.service.settings import Settings


class InlinePool:
    """Does at once, in this process, what a pool lets its workers do."""

    waiting = 0

    def __init__(self, settings, workers, seconds):
        self._state = jobs.WorkerState(settings)

    async def warm_up(self):
        return True

    async def do(self, gone, job, *arguments, parts=1, again=True):
        # Several services may be in this process.
        jobs._state = self._state
        return await run_in_threadpool(job, *arguments)

    def close(self):
        self._state.gallery.close()


@contextmanager
def serving(settings: Settings, address: str = "127.0.0.1") -> Iterator[TestClient]:
    """Serve in this process; return what asks it, as somebody on this machine would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service_state, "WorkerPool", InlinePool)
        app = make_app(settings)
        with TestClient(app, "http://127.0.0.1:8000", client=(address, 40000), raise_server_exceptions=False) as client:
            yield client


def files(*photos: bytes, field: str = "photos") -> list:
    return [(field, ("photo", photo)) for photo in photos]


def problem(answer, status: int, code: str) -> str:
    """Hold an answer to what a problem must be; return its sentence."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert (told["status"], told["code"]) == (status, code)
    assert told["type"] == f"urn:lightproof:problem:{code}"
    assert told["request"] == answer.headers["x-request-id"]
    assert told["detail"].endswith(".")
    return told["detail"]
