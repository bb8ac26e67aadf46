"""What SQLite leaves behind in a file although it overwrites what it deletes.

When SQLite moves rows between pages, copies may stay in the unused part of a page, and a later deletion overwrites only
the row itself. A page of a tree has its unused part between the list of its cells and the first cell (see "Database
File Format" in SQLite's documents). That is where deleted rows are looked for; large values lie on pages of their own,
which are overwritten whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

HEAD: Final = 8192
"""Of a large value, at most so many bytes lie among the rows."""

_STEP, _LENGTH = 512, 16

_TREE = {2: 12, 5: 12, 10: 8, 13: 8}
"""The kinds of page that hold rows or keys, with the length of their heads."""

_AT_ONCE = 512
"""Pages read together."""


def traces(*values: str | bytes | None) -> list[bytes]:
    """List what tells that a row is still there: its texts, and samples of the heads of its large values."""
    found: list[bytes] = []
    for value in values:
        if isinstance(value, str):
            found.append(value.encode())
        elif value is not None:
            found += [value[i : i + _LENGTH] for i in range(0, min(len(value), HEAD), _STEP)]
    return [trace for trace in found if trace.strip(b"\0")]


def has_residue(file: Path, wanted: Iterable[bytes]) -> bool:
    """Whether the unused part of any page holds one of these traces; the file must have no journal beside it."""
    with open(file, "rb") as pages:
        size = int.from_bytes(pages.read(18)[16:])
        size = 65536 if size == 1 else size
        pages.seek(0)
        skip = 100
        while block := pages.read(size * _AT_ONCE):
            for start in range(0, len(block), size):
                unused = _unused(block, start, skip, size).strip(b"\0")
                if unused and any(trace.strip(b"\0") in unused for trace in wanted):
                    return True
                skip = 0
    return False


def _unused(block: bytes, start: int, skip: int, size: int) -> bytes:
    head = start + skip
    length = _TREE.get(block[head])
    if length is None:
        return b""
    cells = int.from_bytes(block[head + 3 : head + 5])
    content = int.from_bytes(block[head + 5 : head + 7]) or 65536
    return block[head + length + 2 * cells : start + min(content, size)]
