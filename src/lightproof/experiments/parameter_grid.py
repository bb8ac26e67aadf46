"""A sweep over cell size x overlap x projections x light, on any data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from lightproof.core.report_parts import TextTable, page, plate, table
from lightproof.datasets.face_set import FaceSet
from lightproof.experiments.accuracies import AccuracyRow, rows_of
from lightproof.experiments.methods import METHODS
from lightproof.experiments.plan import Experiment, trials_of
from lightproof.experiments.runner import Result
from lightproof.plots import sweep_map
from lightproof.types import Floats


class Grid(NamedTuple):
    """The values of each parameter that is swept."""

    cells: Sequence[int]
    overlaps: Sequence[int]
    angles: Sequence[int]
    lights: Sequence[str]


def plan_sweep(dataset: str, faces: FaceSet, grid: Grid) -> list[Experiment]:
    """List one experiment for each combination with an overlap smaller than the cell.

    Each is run in the test with the fewest photos a person.
    """
    *_, (protocols, gallery) = trials_of(dataset, faces)
    plan = []
    for light, cell, overlap, m in product(grid.lights, grid.cells, grid.overlaps, grid.angles):
        if overlap < cell:
            changes: dict[str, Any] = {"light": light, "cell": cell, "overlap": overlap, "n_angles": m}
            method = METHODS["rcdt"].changed(f"{light}, cell {cell}, overlap {overlap}, {m} angles", **changes)
            plan.append(Experiment(dataset, "sweep", method, protocols, gallery))
    return plan


def sweep_tables(results: Sequence[Result], grid: Grid) -> Iterator[TextTable]:
    """One table for each light: a line for each cell and overlap, a column for each number of projections."""
    rows = _rows_by_settings(results)
    for light in grid.lights:
        lines = []
        for cell, overlap in _cells_and_overlaps(grid):
            by_angles = [rows[light, cell, overlap, m] for m in grid.angles]
            figures = [f"{r.accuracy:.1f}" + ("" if r.std is None else f"±{r.std:.1f}") for r in by_angles]
            lines.append([f"cell {cell}, overlap {overlap}", *figures])
        head = ["patches", *(f"{m} angles" for m in grid.angles)]
        yield TextTable(f"light {light}: accuracy in %, all subsets", head, lines)


def sweep_values(results: Sequence[Result], grid: Grid, light: str) -> tuple[Floats, list[str]]:
    """Accuracies of one light for a map: an array of shape (lines, angles), and the names of its lines."""
    rows, lines = _rows_by_settings(results), _cells_and_overlaps(grid)
    values = np.array([[rows[light, *line, m].accuracy for m in grid.angles] for line in lines])
    return values, [f"cell {cell}, overlap {overlap}" for cell, overlap in lines]


def sweep_page(results: Sequence[Result], grid: Grid, dataset: str) -> str:
    """Write the report: a map and a table for each light."""
    body = [f"<h1>A sweep over {escape(dataset)}</h1>"]
    experiment = results[0].experiment
    body.append(f"<p class=lead>{escape(experiment.test)}; gallery: {escape(experiment.gallery)}.</p>")
    maps = {light: sweep_values(results, grid, light) for light in grid.lights}
    everything = np.concatenate([values for values, _ in maps.values()])
    span = (float(everything.min()), float(everything.max()))
    for (light, (values, lines)), shown in zip(maps.items(), sweep_tables(results, grid), strict=True):
        angles = [str(m) for m in grid.angles]
        drawn = sweep_map(values, lines, angles, f"light {light}", column_label="projections", span=span)
        caption = "Named correctly, in percent, by patches and projections; the same colors for every light."
        body += [plate(drawn, shown.title, caption), table(shown)]
    return page("lightproof sweep", body)


def _cells_and_overlaps(grid: Grid) -> list[tuple[int, int]]:
    return [(cell, overlap) for cell in grid.cells for overlap in grid.overlaps if overlap < cell]


def _rows_by_settings(results: Sequence[Result]) -> dict[tuple[Any, ...], AccuracyRow]:
    """Return the row for all subsets by light, cell, overlap and number of angles."""
    settings = [result.experiment.method.settings for result in results]
    keys = [(s["light"], s["cell"], s["overlap"], s["n_angles"]) for s in settings]
    return {key: list(rows_of(result))[-1] for key, result in zip(keys, results, strict=True)}
