"""Processes that work, and a queue that is not endless."""

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

TRIES: Final = 2
"""A process may die for reasons of its own; what can be done again is, once."""


class Worker:
    """One process with the gallery open. Another takes its place when it dies, or does not end its work.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._executor = self._begin()

    def _begin(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, _context(), jobs.begin, (self._settings,))

    async def do(self, job: Callable[..., T], arguments: Sequence[Any], seconds: float | None = None) -> T:
        """Do a piece of work.

        Raises
        ------
        BrokenProcessPool, TimeoutError
            If the process died over it, or had to be ended.
        """
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(self._executor.submit(job, *arguments))
        except (BrokenProcessPool, TimeoutError):
            self.close()
            self._executor = self._begin()
            raise

    def close(self) -> None:
        """End the process, whatever it does."""
        # There is no public way to end one that does not end, and after the shutdown it is no longer known.
        for process in list((self._executor._processes or {}).values()):
            process.kill()
        self._executor.shutdown(wait=False, cancel_futures=True)


class Pool:
    """Some processes, and those who wait for one.

    Parameters
    ----------
    settings : Settings
    workers : int
    seconds : float
        How long a piece of work may take.
    """

    def __init__(self, settings: Settings, workers: int, seconds: float) -> None:
        self._most, self._seconds = settings.limits.waiting + workers, seconds
        self._workers = [Worker(settings) for _ in range(workers)]
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """Requests that wait for their turn, or are worked on."""
        return self._waiting

    async def warm_up(self) -> bool:
        """Start every process; tell whether they find faces, or take only those that are cropped already."""
        return all(await asyncio.gather(*(worker.do(jobs.warm_up, ()) for worker in self._workers)))

    async def do(
        self, gone: Callable[[], Awaitable[bool]], job: Callable[..., T], *arguments: Any, parts: int = 1,
        again: bool = True,
    ) -> T:  # fmt: skip
        """Have a piece of work done, in the order of asking.

        Parameters
        ----------
        gone : callable
            Tells whether who asked is gone: nobody works for them then.
        job : callable
            One of :mod:`lightproof.service.jobs`.
        *arguments
        parts : int
            How many times as long it may take.
        again : bool
            Whether it can be done once more where a process died over it.
        """
        if self._waiting >= self._most:
            raise busy(f"{self._waiting} that wait")
        self._waiting += 1
        try:
            worker = await self._free.get()
            try:
                if await gone():
                    raise ServiceProblem("bad_request", "The caller must wait for the answer; got hung up.")
                return await self._tried(worker, job, arguments, parts * self._seconds, TRIES if again else 1)
            finally:
                self._free.put_nowait(worker)
        finally:
            self._waiting -= 1

    async def _tried(
        self, worker: Worker, job: Callable[..., T], arguments: Sequence[Any], seconds: float, tries: int
    ) -> T:
        for _ in range(tries):
            try:
                return await worker.do(job, arguments, seconds)
            except BrokenProcessPool:
                continue
            except TimeoutError:
                break
        detail = "The work must come to its end; got a process that died. What was to be enrolled is there, or is not."
        raise ServiceProblem("interrupted", detail, (), {"Retry-After": "1"})

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.close()


def _context() -> multiprocessing.context.BaseContext:
    """Let processes start from one that has loaded everything and shares nothing of ours: no threads, no sockets."""
    try:
        context = multiprocessing.get_context("forkserver")
    except ValueError:  # this system has none
        return multiprocessing.get_context("spawn")
    context.set_forkserver_preload(["lightproof.service.jobs"])
    return context
