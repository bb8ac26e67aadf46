"""Work in threads of this process, and how many cores a matrix product may take."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

READERS: Final = 4
"""Threads that wait at a time; a disk serves so many in about half the time that one takes."""


def in_threads(function: Callable[[T], R], arguments: Iterable[T]) -> list[R]:
    """Call a function that runs as machine code with each argument, on two cores if there are so many.

    The caller works, too, and another thread helps if it is free. Were there two of them, the system would often wake
    both on one core, the one where they were last, and the other core would idle.
    """
    calls = list(arguments)
    results: list[Any] = [None] * len(calls)
    remaining = iter(range(len(calls)))  # shared by both threads

    def work() -> None:
        try:
            for i in remaining:
                results[i] = function(calls[i])
        except BaseException:
            deque(remaining, maxlen=0)  # the other thread stops, too
            raise

    if len(calls) < 2 or (os.cpu_count() or 1) < 2:
        work()
        return results
    helping = _helper().submit(work)
    try:
        work()
    except BaseException:
        # The caller's own error leaves, whatever happens in the other thread.
        if not helping.cancel():
            wait([helping])
        raise
    # A helper that is still busy for somebody else is not waited for.
    if not helping.cancel():
        helping.result()
    return results


@cache
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


def by_readers(function: Callable[[T], R], arguments: Iterable[T]) -> list[R]:
    """Call a function that mostly waits, for a disk say, with several arguments at a time; it must not nest.

    No thread is left at work, whatever happens.
    """
    calls = [_readers().submit(function, argument) for argument in arguments]
    try:
        return [call.result() for call in calls]
    except BaseException:
        wait([call for call in calls if not call.cancel()])
        raise


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(READERS)


if hasattr(os, "register_at_fork"):
    # Threads do not come along when a process is forked.
    os.register_at_fork(after_in_child=_helper.cache_clear)
    os.register_at_fork(after_in_child=_readers.cache_clear)


@contextmanager
def one_core() -> Iterator[None]:
    """Keep the library behind NumPy's matrix products from taking other cores meanwhile.

    Its threads spin for some 20 ms after a product, to be there for the next, and so hold up work in threads that comes
    after it. The setting is the whole process's. So only one thread at a time sets it, and back; another one has it
    anyway, or at worst is held up.
    """
    if not _setting.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _setting.release()


_setting: Final = threading.Lock()


@cache
def _libraries() -> Any:
    """Find the loaded libraries, once: NumPy's is among them, and looking for all takes a millisecond."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
