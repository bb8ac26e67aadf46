"""What every command says and writes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table

from lightproof.errors import CannotWrite
from lightproof.experiments.tables import TextTable

T = TypeVar("T")

# Progress and remarks go to stderr, results to stdout, so that a pipe gets results only.
talk = Console(stderr=True, markup=False, highlight=False)
say = Console(soft_wrap=True, markup=False, highlight=False)
if not say.is_terminal:
    # A pipe has no width: nothing is cut off or folded for it.
    say.width = 240


def bar(title: str) -> Callable[[Iterable[T]], Iterable[T]]:
    """Show how far a loop over known steps is."""

    def wrapped(steps: Iterable[T]) -> Iterable[T]:
        listed = list(steps)
        return stream_bar(title)(listed, len(listed))

    return wrapped


def stream_bar(title: str) -> Callable[[Iterable[T], int], Iterable[T]]:
    """Show how far a stream of so many pieces is."""

    def wrapped(pieces: Iterable[T], total: int) -> Iterable[T]:
        return track(pieces, title, console=talk, total=total, transient=True, disable=not talk.is_terminal)

    return wrapped


def count_reasons(skipped: Iterable[str]) -> str:
    """Count why files were left out."""
    counts = Counter(line.rpartition(": ")[2] for line in skipped)
    return ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "nothing"


def make_folder(folder: Path) -> None:
    """Make a folder, or say why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(folder, problem) from None


def check_place(path: Path | None) -> None:
    """Refuse a file that cannot be written before the work begins, not after."""
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir():
        raise CannotWrite(path, OSError("a folder" if path.is_dir() else "no such folder"))
    new = not path.exists()
    try:
        path.open("ab").close()
    except OSError as problem:
        raise CannotWrite(path, problem) from None
    if new:
        path.unlink()


def check_folder(folder: Path) -> None:
    """Make a folder, and refuse one that takes no file."""
    make_folder(folder)
    check_place(folder / "report.html")


def write(path: Path, content: str | bytes) -> None:
    """Write a file, or say why it cannot be."""
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as problem:
        raise CannotWrite(path, problem) from None


def write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows for machines."""
    write(path, json.dumps(rows, indent=1) + "\n")


def show(table: TextTable) -> None:
    """Print a table, and below it what to know about it."""
    printed = Table(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
    for i, name in enumerate(table.head):
        printed.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    for line in table.lines:
        printed.add_row(*line)
    say.print(printed)
