"""Work in several processes, which leave an interrupt to the one that asked."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import resource_tracker
from typing import Any, Final, TypeVar

from joblib import Parallel, delayed

T = TypeVar("T")
R = TypeVar("R")

Piece = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function and what it is called with, as ``joblib.delayed`` writes it down."""

WAITING: Final = "2 * n_jobs"
"""Pieces handed out at a time: one in work, one in store. More do not fit loky's queue, and it stumbles over them."""


def in_processes(work: Iterable[Piece], jobs: int, **how: Any) -> Iterator[Any]:
    """Do pieces of work in other processes.

    Ctrl-C reaches every process of a terminal. Here the one that asked ends the others, from their first moment on.

    Parameters
    ----------
    work : iterable of Piece
        Read bit by bit.
    jobs : int
        Processes; -1 is one for each core.
    **how
        What ``joblib.Parallel`` is to know besides, such as ``return_as``.

    Yields
    ------
    object
        The results, in order unless ``how`` says otherwise.
    """
    me = os.getpid()
    parallel = Parallel(n_jobs=jobs, pre_dispatch=WAITING, **{"return_as": "generator", **how})
    stream = None
    try:
        with _mask_kept():
            # The processes start while the first pieces are handed out.
            stream = parallel(_masked(delayed(_undisturbed)(me, *piece) for piece in work))
        for result in stream:  # noqa: UP028, it must not be closed before the last line
            yield result
    finally:
        _end(stream)


def in_threads(function: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """Do something that runs as machine code with each of some things, on two cores if there are so many."""
    if (os.cpu_count() or 1) < 2:
        return [function(thing) for thing in things]
    return list(_threads().map(function, things))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2)


@contextmanager
def one_core() -> Iterator[None]:
    """Keep the library behind NumPy's matrix products from taking other cores meanwhile.

    Its threads turn in circles for some 20 ms after a product, to be there for the next, and so hold up work in threads
    that comes after it. What is set is set for the whole process. So only one thread at a time sets it, and back;
    another one has it anyway, or at worst is held up.
    """
    if not _SETTING.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _SETTING.release()


_SETTING: Final = threading.Lock()


@cache
def _libraries() -> Any:
    """Find the libraries that are loaded, once: NumPy's is, and looking for all takes a millisecond."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


if hasattr(os, "register_at_fork"):
    # Threads do not come along when a process is forked.
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _end(stream: Any) -> None:
    """Drop what is not done; joblib would warn of it, and whoever stops knows."""
    _stumble_quietly()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if stream is not None:
            stream.close()


def _stumble_quietly() -> None:
    """Let loky's thread end without a word when it looks for a piece that has just been dropped: a race of its own."""
    told = threading.excepthook
    if getattr(told, "quiet", False):
        return

    def hook(stumble: threading.ExceptHookArgs) -> None:
        kind = type(stumble.thread).__module__
        if not (issubclass(stumble.exc_type, KeyError) and kind == "joblib.externals.loky.process_executor"):
            told(stumble)

    hook.quiet = True  # type: ignore[attr-defined]
    threading.excepthook = hook


def _undisturbed(asker: int, function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
    """Do a piece of work, where no mask could be inherited too."""
    if os.getpid() != asker:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _keep_what_is_loaded()
    return function(*arguments, **keywords)


@cache
def _keep_what_is_loaded() -> None:
    """Let Python no longer look through all that was loaded whenever it looks for garbage."""
    gc.freeze()


def _masked(work: Iterable[Any]) -> Iterator[Any]:
    """Let an interrupt wait from the first piece on; processes that are started now never get it."""
    if hasattr(signal, "pthread_sigmask"):
        # Not earlier: joblib starts a housekeeper before it asks for a piece, and that lifts the mask; so would this.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    yield from work


@contextmanager
def _mask_kept() -> Iterator[None]:
    """Put back which signals may reach this thread; an interrupt that waited comes then."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with _interrupt_put_off():
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupt_put_off() -> Iterator[None]:
    """Let an interrupt wait that reached another thread of this process, such as those for matrix products.

    The mask is that of one thread. Python would break off the starting of a process, which then complains.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)
