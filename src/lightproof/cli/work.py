"""What the long commands share: lists on the command line, and work that can be interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from lightproof.cli.console import talk
from lightproof.errors import BadParameter
from lightproof.experiments.cache import Cache


@contextmanager
def stoppable(kept: Cache) -> Iterator[None]:
    """Let an interrupt leave what is finished, and say so."""
    try:
        yield
    except KeyboardInterrupt:
        saved = (
            f"What is finished is kept in {kept.folder}; the"
            if kept.folder.is_dir()
            else "Nothing was finished yet; the"
        )
        talk.print(f"Stopped. {saved} same command goes on from there.", soft_wrap=True)
        raise typer.Exit(130) from None


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
