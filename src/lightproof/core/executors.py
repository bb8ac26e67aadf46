"""Work that is cut into pieces, and who does it: this process, others beside it, or other machines.

Ctrl-C reaches every process of a terminal. Here the asking process ends the others, from their first moment on.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from multiprocessing import resource_tracker
from typing import Any, Final, Generic, Protocol, TypeVar

from joblib import Parallel, cpu_count, delayed

from lightproof.errors import BadCluster

P = TypeVar("P")
R = TypeVar("R")

PRE_DISPATCH: Final = "2 * n_jobs"
"""Pieces handed out at a time: one in work, one in store. More do not fit loky's queue, and it stumbles over them."""


def _uncut(piece: P) -> list[P]:
    return [piece]


def _refuse_death(piece: object, deaths: int) -> Any:
    raise BadCluster("The workers", "able to do the work", f"{deaths} that died over it")


@dataclass(frozen=True)
class Task(Generic[P, R]):
    """The work on each piece, sent to other processes; if one dies over it, another does it again.

    ``parts`` cuts a piece into its smallest parts; by default it is one. ``lost`` gives the result of a smallest part
    over which so many workers died; by default it is an error.
    """

    do: Callable[[P], R]
    parts: Callable[[P], Sequence[P]] = _uncut
    lost: Callable[[P, int], R] = _refuse_death


class Executor(Protocol):
    """Does tasks: processes of this machine, or a cluster."""

    def map(
        self, task: Task[P, R], pieces: Iterable[P], total: int, *, light: bool = False, ordered: bool = True
    ) -> Iterator[R]:
        """Do a task with every piece; yield one result for each piece, or for each part of a piece that was cut.

        Of the pieces, ``total`` at most, few more are read than are in work; their source may itself wait for results
        of another task of this executor. A light piece costs too little to be sent to another process of this machine.
        Results that are not ordered come as they are finished.
        """
        ...

    def scatter(self, function: Callable[..., R], *arguments: Any) -> R:
        """Make something big that many pieces hold; other machines get it once, for a future in its place."""
        ...


@dataclass(frozen=True)
class ProcessExecutor:
    """Processes of this machine, -1 for one each core; this one alone where others would only be in the way."""

    jobs: int = -1

    def map(
        self, task: Task[P, R], pieces: Iterable[P], total: int, *, light: bool = False, ordered: bool = True
    ) -> Iterator[R]:
        """See :meth:`Executor.map`."""
        workers = min(self.jobs if self.jobs > 0 else cpu_count(), cpu_count(), total)
        if light or workers <= 1:
            return map(task.do, pieces)
        return in_processes(task.do, pieces, workers, ordered)

    def scatter(self, function: Callable[..., R], *arguments: Any) -> R:
        """See :meth:`Executor.scatter`."""
        return function(*arguments)


def in_processes(do: Callable[[P], R], pieces: Iterable[P], jobs: int, ordered: bool = True) -> Iterator[R]:
    """Call a function with each piece in other processes; read few more pieces than are in work."""
    me = os.getpid()
    return_as = "generator" if ordered else "generator_unordered"
    parallel = Parallel(n_jobs=jobs, pre_dispatch=PRE_DISPATCH, batch_size=1, return_as=return_as)
    stream, hold = None, _Hold()
    _stumble_quietly()
    try:
        try:
            stream = parallel(hold.around(delayed(_undisturbed)(me, do, piece) for piece in pieces))
        finally:
            hold.end()
        for result in stream:  # noqa: UP028, it must not be closed before the last line
            yield result
    finally:
        with warnings.catch_warnings():  # joblib warns of dropped work, which the caller knows of
            warnings.simplefilter("ignore", UserWarning)
            if stream is not None:
                stream.close()


def _stumble_quietly() -> None:
    """Let loky's thread end silently when it looks for a piece that has just been dropped: a race of loky's own."""
    previous = threading.excepthook
    if getattr(previous, "quiet", False):
        return

    def hook(stumble: threading.ExceptHookArgs) -> None:
        kind = type(stumble.thread).__module__
        if not (issubclass(stumble.exc_type, KeyError) and kind == "joblib.externals.loky.process_executor"):
            previous(stumble)

    hook.quiet = True  # type: ignore[attr-defined]
    threading.excepthook = hook


def _undisturbed(asker: int, do: Callable[[P], R], piece: P) -> R:
    """Do a piece of work; a worker ignores interrupts even where it could not inherit the mask."""
    if os.getpid() != asker:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _freeze_garbage()
    return do(piece)


_freeze_garbage = cache(gc.freeze)
"""Keeps the garbage collector from looking through everything that is loaded."""


class _Hold:
    """Keeps an interrupt waiting while processes start: it must neither reach them nor break off their start.

    They start while the first pieces are handed out. The making of these pieces may take long, and can be interrupted.
    """

    def __init__(self) -> None:
        self._thread, self._over = threading.get_ident(), not hasattr(signal, "pthread_sigmask")
        self._mask: set[signal.Signals | int] | None = None
        self._handler: Any = None
        self._came = False

    def around(self, work: Iterable[Any]) -> Iterator[Any]:
        """Hold interrupts from each piece to the next."""
        if not self._over:
            # Not earlier: joblib starts a housekeeper before it asks for a piece, which lifts the mask; so would this.
            resource_tracker.ensure_running()
        source = iter(work)
        while True:
            self._let_go()
            piece = list(islice(source, 1))
            self._hold()
            if not piece:
                return
            yield piece[0]

    def end(self) -> None:
        """Stop holding; an interrupt that waited comes now."""
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
