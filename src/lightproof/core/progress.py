"""How callers watch work: they pass a function that wraps what the work goes through, such as a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Progress: TypeAlias = Callable[[Iterable[Any], int], Iterable[Any]]
"""Wraps a stream of finished pieces, given how many there will be."""

SizedProgress: TypeAlias = Callable[[Iterable[Any]], Iterable[Any]]
"""Wraps pieces that are still to be done, and that know how many they are; `iter` shows nothing."""


def silent(pieces: Iterable[Any], total: int) -> Iterable[Any]:
    """Show nothing of a stream."""
    return pieces


def single_steps(stream: Iterable[tuple[T, int]]) -> Iterator[T | None]:
    """Yield each piece, after None for each further step that it completes: so a bar counts steps, not pieces."""
    for piece, steps in stream:
        yield from (None for _ in range(steps - 1))
        yield piece
