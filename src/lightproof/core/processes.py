"""Work in several processes, which leave an interrupt to the one that asked."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from multiprocessing import resource_tracker
from typing import Any, Final, TypeVar

from joblib import Parallel, delayed

T = TypeVar("T")
R = TypeVar("R")

Piece = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function and what it is called with, as ``joblib.delayed`` writes it down."""

WAITING: Final = "2 * n_jobs"
"""Pieces handed out at a time: one in work, one in store. More do not fit loky's queue, and it stumbles over them."""


READERS: Final = 4
"""Threads that wait at a time; a disk serves so many in about half the time that one takes."""


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
    stream, hold = None, _Hold()
    _stumble_quietly()
    try:
        try:
            stream = parallel(hold.around(delayed(_undisturbed)(me, *piece) for piece in work))
        finally:
            hold.end()
        for result in stream:  # noqa: UP028, it must not be closed before the last line
            yield result
    finally:
        _end(stream)


def in_threads(function: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """Do something that runs as machine code with each of some things, on two cores if there are so many.

    The caller works, too, and another thread helps if it is free. Were there two of them, the system would often wake
    both on one core, the one where they were last, and the other core would idle.
    """
    some = list(things)
    results: list[Any] = [None] * len(some)
    left = deque(range(len(some)))

    def work() -> None:
        try:
            for place in _popped(left):
                results[place] = function(some[place])
        except BaseException:
            left.clear()
            raise

    if len(some) < 2 or (os.cpu_count() or 1) < 2:
        work()
        return results
    helping = _helper().submit(work)
    try:
        work()
    except BaseException:
        # What happened here is told, whatever happens there.
        if not helping.cancel():
            wait([helping])
        raise
    # One that is still busy for somebody else is not waited for.
    if not helping.cancel():
        helping.result()
    return results


def _popped(left: deque[int]) -> Iterator[int]:
    """Yield what is left, and share it with others who do the same."""
    while True:
        try:
            yield left.popleft()
        except IndexError:
            return


@cache
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


def by_readers(function: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """Do something that mostly waits, for a disk say, with several things at a time; it must not call this itself.

    Nobody is left at work, whatever happens.
    """
    pieces = [_readers().submit(function, thing) for thing in things]
    try:
        return [piece.result() for piece in pieces]
    except BaseException:
        wait([piece for piece in pieces if not piece.cancel()])
        raise


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(READERS)


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
    os.register_at_fork(after_in_child=_helper.cache_clear)
    os.register_at_fork(after_in_child=_readers.cache_clear)


def _end(stream: Any) -> None:
    """Drop what is not done; joblib would warn of it, and whoever stops knows."""
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


class _Hold:
    """Keeps an interrupt waiting while processes are started: they are never to get it, nor to be broken off.

    They start while the first pieces are handed out. Not held is the making of these pieces, which may take long.
    """

    def __init__(self) -> None:
        self._thread, self._over = threading.get_ident(), not hasattr(signal, "pthread_sigmask")
        self._mask: set[signal.Signals | int] | None = None
        self._handler: Any = None
        self._came = False

    def around(self, work: Iterable[Any]) -> Iterator[Any]:
        """Hold from each piece to the next."""
        if not self._over:
            # Not earlier: joblib starts a housekeeper before it asks for a piece, which lifts the mask; so would this.
            resource_tracker.ensure_running()
        source = iter(work)
        while True:
            self._let_go()
            found = list(islice(source, 1))
            self._hold()
            if not found:
                return
            yield found[0]

    def end(self) -> None:
        """Hold no longer; an interrupt that waited comes now."""
        self._let_go()
        self._over = True

    def _is_mine(self) -> bool:
        # Later pieces are handed out by a thread of joblib's, which starts nothing.
        return not self._over and threading.get_ident() == self._thread

    def _hold(self) -> None:
        if not self._is_mine() or self._mask is not None:
            return
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        handler = signal.getsignal(signal.SIGINT)
        # The mask is that of one thread: an interrupt may reach others, such as those for matrix products.
        if threading.current_thread() is threading.main_thread() and callable(handler):
            self._handler = handler
            signal.signal(signal.SIGINT, self._remember)

    def _let_go(self) -> None:
        if not self._is_mine() or self._mask is None:
            return
        mask, self._mask = self._mask, None
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None
        if self._came:
            self._came = False
            signal.raise_signal(signal.SIGINT)

    def _remember(self, *_: Any) -> None:
        self._came = True
