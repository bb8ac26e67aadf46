"""Results as tables of text, for the terminal and for the reports alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lightproof.experiments.demo import METHODS, SEVERITIES, Demo
from lightproof.experiments.paper import LOG_METHOD, METHOD
from lightproof.experiments.yale import SUBSETS, Row


@dataclass(frozen=True)
class TextTable:
    """A title, a head, and lines of as many cells."""

    title: str
    head: list[str]
    lines: list[list[str]]


def demo_table(demo: Demo) -> TextTable:
    """Accuracy of every method by severity of the light."""
    head = ["method", *SEVERITIES.values()]
    lines = [[method, *(f"{demo.accuracy(method, s):.1f}" for s in SEVERITIES)] for method in METHODS]
    lines.append(["photos", *(str(len(demo.split.probes[s])) for s in SEVERITIES)])
    return TextTable("Named correctly from one photo a person, %, by where the light comes from", head, lines)


def yale_tables(rows: Sequence[Row]) -> list[TextTable]:
    """One table for each test, plain and log, and one for the parameters."""
    tables = []
    for test in ("Test 1", "Test 2"):
        for light in (METHOD, LOG_METHOD):
            chosen = [row for row in rows if row.test == test and row.method.split(",")[0] == light]
            tables.append(_by_subset(f"{test}, {light}: accuracy in %", chosen))
    tables.append(_by_parameters([row for row in rows if not _has_all(row, rows)]))
    return [table for table in tables if table.lines]


def _by_parameters(rows: list[Row]) -> TextTable:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        parameters, _, eight_bit = row.method.partition(", ")[2].partition(", 8-bit")
        found.setdefault(parameters, {})["8-bit" if eight_bit else "float"] = row
    lines = []
    for parameters, by in found.items():
        ours = [_figure(by[smoothing]) if smoothing in by else "" for smoothing in ("float", "8-bit")]
        lines.append([parameters, *ours, _percent(next(iter(by.values())).published)])
    head = ["parameters", "float", "8-bit smoothing", "published"]
    return TextTable("Test 2, subset 4 by parameters: accuracy in %", head, lines)


def _by_subset(title: str, rows: list[Row]) -> TextTable:
    groups: dict[tuple[str, ...], dict[int | str, Row]] = {}
    for row in rows:
        if _has_all(row, rows):
            variant = row.method.partition(", ")[2]
            gallery = {"authors": "the authors' photo"}.get(row.gallery, row.gallery)
            groups.setdefault((row.preset, gallery, *([variant] if variant else [])), {})[row.subset] = row
    lines = [[", ".join(key), *(_figure(group[s]) for s in (*SUBSETS, "all"))] for key, group in groups.items()]
    if groups:
        first = next(iter(groups.values()))
        lines.insert(0, ["published", *(_percent(first[s].published) for s in (*SUBSETS, "all"))])
    return TextTable(title, ["preset, gallery", *(f"subset {s}" for s in SUBSETS), "all"], lines)


def _has_all(row: Row, rows: Sequence[Row]) -> bool:
    """Tell whether the row belongs to an experiment on all four subsets."""
    same = (row.test, row.method, row.preset, row.gallery)
    return any(
        other.subset == "all" and (other.test, other.method, other.preset, other.gallery) == same for other in rows
    )


def _figure(row: Row) -> str:
    return f"{row.accuracy:.1f}" + ("" if row.std is None else f"±{row.std:.1f}")


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
