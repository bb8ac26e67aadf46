"""What commands print and write: text, tables, progress, files and rows."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lightproof.core.atomic import whole_file
from lightproof.core.report_parts import TextTable
from lightproof.errors import CannotWrite

T = TypeVar("T")

# Progress and remarks go to stderr, results to stdout, so that a pipe gets results only.
stderr = Console(stderr=True, markup=False, emoji=False, highlight=False)
stdout = Console(soft_wrap=True, markup=False, emoji=False, highlight=False)
if not stdout.is_terminal:
    # A pipe has no width: nothing is cut off or folded for it.
    stdout.width = 240

MAX_SKIPPED = 10
"""Files left out that are named one by one; of more, only the reasons are counted."""

_JOINERS = "\u200c\u200d"

STDOUT = Path("-")
"""The name of a file that means the standard output."""


def bar(title: str) -> Callable[[Iterable[T]], Iterable[T]]:
    """Show how far a loop over known steps is."""

    def wrapped(steps: Iterable[T]) -> Iterable[T]:
        listed = list(steps)
        return stream_bar(title)(listed, len(listed))

    return wrapped


def stream_bar(title: str) -> Callable[[Iterable[T], int], Iterable[T]]:
    """Show how far a stream of so many pieces is."""

    def wrapped(pieces: Iterable[T], total: int) -> Iterable[T]:
        return track(pieces, title, console=stderr, total=total, transient=True, disable=not stderr.is_terminal)

    return wrapped


def printable(text: str) -> str:
    """Replace what would move the cursor: a file may have any name."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def harmless(name: object) -> str:
    """Replace what would move the cursor in a name; letters that join others stay, because some names need them."""
    return "".join(letter if letter.isprintable() or letter in _JOINERS else "?" for letter in str(name))


def n_photos(count: int) -> str:
    """Write how many photos."""
    return "1 photo" if count == 1 else f"{count:,} photos"


def n_people(count: int) -> str:
    """Write how many people."""
    return "1 person" if count == 1 else f"{count:,} people"


def say(text: str) -> None:
    """Print text that a terminal gets in whole words, and a pipe in whole lines."""
    stdout.print(text, soft_wrap=not stdout.is_terminal)


def remark(text: str) -> None:
    """Print a line on stderr, however long."""
    stderr.print(printable(text), soft_wrap=True)


def complain(sentence: str) -> None:
    """Say on stderr what is wrong, and go on."""
    remark(f"lightproof: {sentence}")


def remark_on_photos(name: str, n_photos: int, skipped: Sequence[str]) -> None:
    """Say on stderr how many photos of a data set were read, and which files were left out and why."""
    remark(f"{name}: {n_photos} photos; left out: {count_reasons(skipped)}")
    if len(skipped) <= MAX_SKIPPED:
        for line in skipped:
            remark(f"  {line}")


def count_reasons(skipped: Iterable[str]) -> str:
    """Count the reasons at the ends of lines such as ``photo.jpg: not a picture``."""
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
    real = Path(os.path.realpath(path))  # so that only the file made as a trial is removed, not a link to it
    new = not real.exists()
    try:
        real.open("ab").close()
    except OSError as problem:
        raise CannotWrite(path, problem) from None
    if new:
        real.unlink()


def check_folder(folder: Path) -> None:
    """Make a folder, and refuse one that takes no file."""
    make_folder(folder)
    check_place(folder / "report.html")


def write(path: Path, content: str | bytes) -> None:
    """Write a file, in a folder that is made where it is missing, or say why it cannot be."""
    make_folder(path.parent)
    try:
        # The name of a file need not be text; a page shows a question mark.
        path.write_bytes(content.encode(errors="replace") if isinstance(content, str) else content)
    except OSError as problem:
        raise CannotWrite(path, problem) from None


def check_rows_place(path: Path | None, *taken: str | Path | None) -> None:
    """Refuse a place for rows that cannot be written, holds something else, or is one that the command writes to.

    Stdout is always legal. If the name of the file is forgotten, the next word takes its place: perhaps a photo.
    """
    if path is None or path == STDOUT:
        return
    others = [str(other).removeprefix("sqlite:///") for other in taken if other is not None]
    if os.path.realpath(path) in map(os.path.realpath, others):
        raise CannotWrite(path, OSError("where something else is to be written"))
    check_place(path)
    if path.is_file():
        with path.open("rb") as file:
            if file.read(1) not in (b"", b"["):
                raise CannotWrite(path, OSError("a file that holds something else than rows"))


def write_rows(path: Path | None, rows: list[dict[str, Any]]) -> None:
    """Write rows for machines to stdout, or to a file that is there whole or not at all; without a path nowhere."""
    if path is None:
        return
    text = json.dumps(rows, indent=1)
    if path == STDOUT:
        stdout.out(text)
    elif path.exists() and not path.is_file():
        write(path, f"{text}\n")  # a pipe or a device: nothing may take its place
    else:
        with whole_file(path) as file:
            file.write(f"{text}\n".encode())


def show_narrow(table: TextTable, left: int = 1, folding: int = 0) -> None:
    """Print a table without lines between its columns, for a terminal of 80 letters.

    The first ``left`` columns are aligned to the left. If there is no room, the column ``folding`` is folded.
    """
    printed = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for i, name in enumerate(table.head):
        printed.add_column(name, justify="left" if i < left else "right", overflow="fold", no_wrap=i != folding)
    for line in table.lines:
        printed.add_row(*line)
    stdout.print(printed)
    if table.note:
        say(table.note)


def show_remarks(remarks: Iterable[tuple[str, str]]) -> None:
    """Print a sentence beside each name."""
    printed = Table.grid(padding=(0, 2, 0, 0))
    printed.add_column(overflow="fold", max_width=28 if stdout.is_terminal else None)
    printed.add_column(overflow="fold")
    for name, sentence in remarks:
        printed.add_row(name, sentence)
    stdout.print(printed)


def show(table: TextTable) -> None:
    """Print a table with its title above and its note below."""
    printed = Table(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
    for i, name in enumerate(table.head):
        printed.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    for line in table.lines:
        printed.add_row(*line)
    stdout.print(printed)
