"""Work that is cut into pieces, and who does it: this process, others beside it, or other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from joblib import cpu_count, delayed

from lightproof.core.processes import in_processes
from lightproof.errors import BadCluster

P = TypeVar("P")
R = TypeVar("R")


def _uncut(piece: P) -> list[P]:
    return [piece]


def _refuse_death(piece: object, deaths: int) -> Any:
    raise BadCluster("The workers", "able to do the work", f"{deaths} that died over it")


@dataclass(frozen=True)
class Task(Generic[P, R]):
    """What is done with each piece.

    Attributes
    ----------
    do : callable
        A piece -> what comes of it. Sent to other processes, and done again by another one when somebody dies over it.
    parts : callable
        A piece -> its smallest parts; by default the piece itself.
    lost : callable
        Such a part, and how many workers died over it -> what comes of it; by default an error.
    """

    do: Callable[[P], R]
    parts: Callable[[P], Sequence[P]] = _uncut
    lost: Callable[[P, int], R] = _refuse_death


class Executor(Protocol):
    """Whoever does the work."""

    def map(
        self, task: Task[P, R], pieces: Iterable[P], total: int, *, light: bool = False, ordered: bool = True
    ) -> Iterator[R]:
        """Do a task with every piece; no more of them are read than are in work, and some in store.

        Parameters
        ----------
        task : Task
        pieces : iterable
            May itself wait for what comes of another task of this crew.
        total : int
            How many pieces there are at most.
        light : bool
            Whether a piece costs so little that another process near by is not worth its while.
        ordered : bool
            Whether results come in the order of the pieces, or as they are finished.

        Yields
        ------
        object
            One for each piece, or for each part of a piece that was cut.
        """
        ...

    def scatter(self, function: Callable[..., R], *arguments: Any) -> R:
        """Make something big that many pieces hold: for other machines, a promise that they see as the thing."""
        ...


@dataclass(frozen=True)
class ProcessExecutor:
    """Processes of this machine; this one alone where more would be in each other's way.

    Attributes
    ----------
    jobs : int
        Processes; -1 is one for each core.
    """

    jobs: int = -1

    def map(
        self, task: Task[P, R], pieces: Iterable[P], total: int, *, light: bool = False, ordered: bool = True
    ) -> Iterator[R]:
        """See :meth:`Executor.map`."""
        workers = min(self.jobs if self.jobs > 0 else cpu_count(), cpu_count(), total)
        if light or workers <= 1:
            return map(task.do, pieces)
        how = "generator" if ordered else "generator_unordered"
        return in_processes((delayed(task.do)(piece) for piece in pieces), workers, batch_size=1, return_as=how)

    def scatter(self, function: Callable[..., R], *arguments: Any) -> R:
        """See :meth:`Executor.scatter`."""
        return function(*arguments)
