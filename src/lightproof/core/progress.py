"""Showing how far work is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Progress: TypeAlias = Callable[[Iterable[Any], int], Iterable[Any]]
"""Wraps a stream of finished pieces, given how many there will be."""


def silent(pieces: Iterable[Any], total: int) -> Iterable[Any]:
    """Show nothing."""
    return pieces
