"""Cell size x overlap x projections x light, on any data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from lightproof.core.text_table import TextTable
from lightproof.datasets.face_set import FaceSet
from lightproof.experiments.methods import METHODS
from lightproof.experiments.plan import Experiment, trials_of
from lightproof.experiments.rows import lines_of, rows_of
from lightproof.experiments.runner import Result
from lightproof.types import Floats


class Grid(NamedTuple):
    """The values of each parameter that is swept."""

    cells: Sequence[int]
    overlaps: Sequence[int]
    angles: Sequence[int]
    lights: Sequence[str]


def plan_sweep(dataset: str, faces: FaceSet, grid: Grid) -> list[Experiment]:
    """List one experiment for each combination; an overlap as large as the cell is left out.

    Parameters
    ----------
    dataset : str
    faces : FaceSet
    grid : Grid

    Returns
    -------
    list of Experiment
        In the test with the fewest photos a person.
    """
    *_, (protocols, gallery) = trials_of(dataset, faces)
    plan = []
    for light, cell, overlap, m in product(grid.lights, grid.cells, grid.overlaps, grid.angles):
        if overlap < cell:
            changes: dict[str, Any] = {"light": light, "cell": cell, "overlap": overlap, "n_angles": m}
            method = METHODS["rcdt"].changed(named(light, cell, overlap, m), **changes)
            plan.append(Experiment(dataset, "sweep", method, protocols, gallery))
    return plan


def named(light: str, cell: int, overlap: int, m: int) -> str:
    """Name a combination."""
    return f"{light}, cell {cell}, overlap {overlap}, {m} angles"


def sweep_tables(results: Sequence[Result], grid: Grid) -> Iterator[TextTable]:
    """One table for each light: a line for each cell and overlap, a column for each number of projections."""
    rows = {line.whole.method.partition(", ")[2]: line.whole for line in lines_of(_rows(results))}
    for light in grid.lights:
        lines = []
        for cell, overlap in _places(grid):
            found = [rows[named(light, cell, overlap, m)] for m in grid.angles]
            figures = [f"{r.accuracy:.1f}" + ("" if r.std is None else f"±{r.std:.1f}") for r in found]
            lines.append([f"cell {cell}, overlap {overlap}", *figures])
        yield TextTable(
            f"light {light}: accuracy in %, all subsets", ["patches", *(f"{m} angles" for m in grid.angles)], lines
        )


def sweep_values(results: Sequence[Result], grid: Grid, light: str) -> tuple[Floats, list[str]]:
    """Accuracies of one light for a map: an array of shape (places, angles), and the names of the places."""
    rows = {line.whole.method.partition(", ")[2]: line.whole.accuracy for line in lines_of(_rows(results))}
    places = _places(grid)
    values = np.array([[rows[named(light, *place, m)] for m in grid.angles] for place in places])
    return values, [f"cell {cell}, overlap {overlap}" for cell, overlap in places]


def _places(grid: Grid) -> list[tuple[int, int]]:
    return [(cell, overlap) for cell in grid.cells for overlap in grid.overlaps if overlap < cell]


def _rows(results: Sequence[Result]) -> Iterator[Any]:
    for result in results:
        yield from rows_of(result)
