"""The report of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from lightproof.core.html_page import page, plate, table
from lightproof.experiments.parameter_grid import Grid, sweep_tables, sweep_values
from lightproof.experiments.runner import Result
from lightproof.plots import sweep_map


def sweep_page(results: Sequence[Result], grid: Grid, dataset: str) -> str:
    """Write the report: a map and a table for each light."""
    body = [f"<h1>A sweep over {escape(dataset)}</h1>"]
    experiment = results[0].experiment
    body.append(f"<p class=lead>{escape(experiment.test)}; gallery: {escape(experiment.gallery)}.</p>")
    found = {light: sweep_values(results, grid, light) for light in grid.lights}
    everything = np.concatenate([values for values, _ in found.values()])
    span = (float(everything.min()), float(everything.max()))
    for (light, (values, places)), shown in zip(found.items(), sweep_tables(results, grid), strict=True):
        angles = [str(m) for m in grid.angles]
        drawn = sweep_map(values, places, angles, f"light {light}", column_label="projections", span=span)
        caption = "Named correctly, in percent, by patches and projections; the same colors for every light."
        body += [plate(drawn, shown.title, caption), table(shown)]
    return page("lightproof sweep", body)
