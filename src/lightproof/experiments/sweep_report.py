"""The report of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lightproof.experiments.page import page, plate, table
from lightproof.experiments.runner import Result
from lightproof.experiments.sweep import Grid, sweep_tables, sweep_values
from lightproof.plots import sweep_map


def sweep_page(results: Sequence[Result], grid: Grid, dataset: str) -> str:
    """Write the report: a map and a table for each light."""
    body = [f"<h1>A sweep over {escape(dataset)}</h1>"]
    experiment = results[0].experiment
    body.append(f"<p class=lead>{escape(experiment.test)}; gallery: {escape(experiment.gallery)}.</p>")
    for light, shown in zip(grid.lights, sweep_tables(results, grid), strict=True):
        values, places = sweep_values(results, grid, light)
        drawn = sweep_map(values, places, [str(m) for m in grid.angles], f"light {light}", "", "projections")
        body += [plate(drawn, shown.title, "Named correctly, in percent, by patches and projections."), table(shown)]
    return page("lightproof sweep", body)
