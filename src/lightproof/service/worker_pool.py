"""Worker processes, and a queue of limited length before them."""

from __future__ import annotations

import asyncio
import multiprocessing
import multiprocessing.context
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final, TypeVar

from lightproof.service import jobs
from lightproof.service.problems import ServiceProblem, busy
from lightproof.service.settings import Settings

T = TypeVar("T")

MAX_TRIES: Final = 2
"""A worker may die for reasons of its own, so a job that may be repeated is tried twice."""


class Worker:
    """One process with the gallery open. A new one replaces it when it dies, or does not finish a job."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, _context(), jobs.start_worker, (self._settings,))

    async def do(self, job: Callable[..., T], arguments: Sequence[Any], seconds: float | None = None) -> T:
        """Do a job; raise BrokenProcessPool if the process died over it, TimeoutError if it took too long."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(self._executor.submit(job, *arguments))
        except (BrokenProcessPool, TimeoutError):
            self.close()
            self._executor = self._start()
            raise

    def close(self) -> None:
        """Kill the process, whatever it does."""
        # No public method kills a process that hangs, and after the shutdown the executor forgets it.
        for process in list((self._executor._processes or {}).values()):
            process.kill()
        self._executor.shutdown(wait=False, cancel_futures=True)


class WorkerPool:
    """Several workers, and the queue of requests that wait for one; a job may take so many seconds."""

    def __init__(self, settings: Settings, workers: int, seconds: float) -> None:
        self._max_waiting, self._seconds = settings.limits.waiting + workers, seconds
        self._workers = [Worker(settings) for _ in range(workers)]
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)
        self.waiting = 0  # requests that wait for a worker, or have one

    async def warm_up(self) -> bool:
        """Start every process; return whether they find faces, or accept only cropped ones."""
        return all(await asyncio.gather(*(worker.do(jobs.warm_up, ()) for worker in self._workers)))

    async def do(
        self, gone: Callable[[], Awaitable[bool]], job: Callable[..., T], *arguments: Any, parts: int = 1,
        again: bool = True,
    ) -> T:  # fmt: skip
        """Let a worker do a job of :mod:`lightproof.service.jobs`; first come, first served.

        Nobody works for a caller who is ``gone`` when a worker is free. The job may take ``parts`` times as long as
        others, and is repeated if the worker dies over it, unless ``again`` is false.
        """
        if self.waiting >= self._max_waiting:
            raise busy(f"{self.waiting} waiting requests")
        self.waiting += 1
        try:
            worker = await self._free.get()
            try:
                if await gone():
                    raise ServiceProblem("bad_request", "The caller must wait for the answer; got a closed connection.")
                return await self._try(worker, job, arguments, parts * self._seconds, MAX_TRIES if again else 1)
            finally:
                self._free.put_nowait(worker)
        finally:
            self.waiting -= 1

    async def _try(
        self, worker: Worker, job: Callable[..., T], arguments: Sequence[Any], seconds: float, tries: int
    ) -> T:
        for _ in range(tries):
            try:
                return await worker.do(job, arguments, seconds)
            except BrokenProcessPool:
                continue
            except TimeoutError:
                break
        detail = "The work must be finished; got a worker that died. Photos sent to be enrolled may be enrolled or not."
        raise ServiceProblem("interrupted", detail, (), {"Retry-After": "1"})

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.close()


def _context() -> multiprocessing.context.BaseContext:
    """Fork workers from a process that has loaded everything but shares no threads or sockets with this one."""
    try:
        context = multiprocessing.get_context("forkserver")
    except ValueError:  # this system has none
        return multiprocessing.get_context("spawn")
    context.set_forkserver_preload(["lightproof.service.jobs"])
    return context
