"""What the commands share: lists on the command line, and work that can be interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer

from lightproof.cli.console import talk
from lightproof.errors import BadParameter

if TYPE_CHECKING:
    from lightproof.experiments.cache import Cache

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 something could not be done, with a sentence on stderr; 2 a wrong call; "
    "130 stopped by Ctrl-C."
)
"""Of the commands for experiments."""


@contextmanager
def stoppable(left: Callable[[], str]) -> Iterator[None]:
    """Let an interrupt end the command with exit code 130 and a word about what is left; asked for only then."""
    try:
        yield
    except KeyboardInterrupt:
        talk.print(f"Stopped. {left()}", soft_wrap=True)
        raise typer.Exit(130) from None


def kept_in(kept: Cache) -> str:
    """Say where finished work is, and what to do with it."""
    there = kept.folder.is_dir()
    saved = f"What is finished is kept in {kept.folder}" if there else "Nothing was finished yet"
    return f"{saved}; the same command goes on from there."


def listed(text: str) -> list[str]:
    """Split what was typed with commas."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def numbers(name: str, text: str, least: int) -> list[int]:
    """Read whole numbers typed with commas."""
    words = listed(text)
    if not words or not all(word.isdecimal() and int(word) >= least for word in words):
        raise BadParameter("sweep", name, f"whole numbers of at least {least}, with commas", text)
    return [int(word) for word in words]


def check_jobs(owner: str, jobs: int) -> None:
    """Refuse a number of processes that is none."""
    if jobs < 1 and jobs != -1:
        raise BadParameter(owner, "jobs", "a number of processes, or -1 for one a core", jobs)
