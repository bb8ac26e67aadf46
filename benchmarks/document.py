"""The tables of docs/beyond.md, made of the files in docs/results.

    python -m benchmarks.document docs/results > tables.md

The tests hold the document to them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import beyond, engine

VIEWS: Final = (
    ("Test 2, one photo a person", {"test": "Test 2", "table": "main", "frame": "full"}),
    ("the same, face interior only", {"test": "Test 2", "table": "main", "frame": "interior"}),
    ("the same, outer eighth only", {"test": "Test 2", "table": "main", "frame": "outer"}),
    ("the same, eyes off by 4 %", {"test": "Test 2", "table": "jittered"}),
    ("the same, everybody in a light of their own", {"test": "Test 2", "table": "own lights"}),
    ("the same, 18 people held out (even numbers)", {"test": "Test 2", "table": "held-out people"}),
    ("the same, 20 people chosen on (odd numbers)", {"test": "Test 2", "table": "people chosen on"}),
    ("Test 1, all training photos", {"test": "Test 1", "table": "main", "frame": "full"}),
    ("the same, face interior only", {"test": "Test 1", "table": "main", "frame": "interior"}),
)

SUBSETS: Final = (1, 2, 3, 4, "all")

Rows = Sequence[dict[str, Any]]


def tables(folder: Path) -> Iterator[str]:
    """Yield every table of the document."""
    yale, parts, ablation, presets = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("yale.json", "engine.json", "beyond.json", "presets.json")
    )
    for name in ("robust", "fast"):
        yield by_subset(yale, name)
    yield jittered(yale)
    yield engine.as_markdown(parts)
    for part in ("steps", "beside"):
        yield beyond.as_markdown(ablation, part)
    yield costs(presets)


def by_subset(rows: Rows, name: str) -> str:
    """Write all views of one preset, subset by subset."""
    lines = []
    for title, wanted in VIEWS:
        found = {
            row["subset"]: row["accuracy"] for row in rows if row["name"] == name and wanted.items() <= row.items()
        }
        lines.append([title, *(f"{found[subset]:.2f}" for subset in SUBSETS)])
    return _table([f"`{name}`", "subset 1", "subset 2", "subset 3", "subset 4", "all"], lines)


def jittered(rows: Rows) -> str:
    """Write what every method makes of crops by hand and of crops that are a little off."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["test"] == "Test 2" and row["subset"] == "all" and row["table"] in ("main", "jittered"):
            view = row["table"] if row["table"] == "jittered" else row["frame"]
            found.setdefault(row["method"], {})[view] = row["accuracy"]
    shown = ("full", "jittered", "interior")
    lines = [
        [method, *(f"{by[view]:.1f}" for view in shown)] for method, by in found.items() if by.keys() >= set(shown)
    ]
    lines.sort(key=lambda line: -float(line[1]))
    return _table(["Test 2, all probes", "by hand", "eyes off by 4 %", "face interior only"], lines)


def costs(rows: Rows) -> str:
    """Write what the presets cost."""
    numbers = [name for name in rows[0] if name != "preset"]
    lines = []
    for row in rows:
        preset, *change = row["preset"].split(", ")
        cells = ("" if row[name] is None else f"{row[name]:.2f}" for name in numbers)
        lines.append([", ".join([f"`{preset}`", *change]), *cells])
    return _table(["", *numbers], lines)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


if __name__ == "__main__":
    print(*tables(Path(sys.argv[1])), sep="\n\n")
