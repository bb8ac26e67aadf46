"""``lightproof sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightproof.cli.console import STDOUT, bar, check_folder, check_rows_place, say, show, stream_bar, write, write_rows
from lightproof.cli.data import check_cropped, describe, load
from lightproof.cli.gallery import Jobs
from lightproof.cli.work import check_jobs, kept_in, listed, numbers, stoppable
from lightproof.errors import BadParameter
from lightproof.experiments import DATASETS
from lightproof.method.illumination import LIGHTS


def sweep(
    dataset: Annotated[str, typer.Argument(help=f"{', '.join(DATASETS)}.")] = "rendered",
    data: Annotated[Path | None, typer.Option(help="The folder of the data set, or the one it lies in.")] = None,
    cells: Annotated[str, typer.Option(help="Sides of a patch in pixels, with commas.")] = "4,8,16",
    overlaps: Annotated[str, typer.Option(help="Pixels that neighbors share, with commas.")] = "0,1,2",
    angles: Annotated[str, typer.Option(help="Numbers of projections, with commas.")] = "2,4,8",
    lights: Annotated[str, typer.Option(help=f"With commas: {', '.join(LIGHTS)}.")] = "none,log",
    cropped: Annotated[bool, typer.Option("--cropped", help="The photos of the folder are faces already.")] = False,
    jobs: Jobs = -1,
    out: Annotated[Path, typer.Option(help="Folder for the report, and for finished work.")] = Path("lightproof-sweep"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the rows to this file; - is stdout, and no tables.")
    ] = None,
) -> None:
    """Run the method over cell size x overlap x projections x light.

    To choose settings, sweep over people you will not test on.
    """
    from lightproof.experiments.accuracies import rows_of
    from lightproof.experiments.cache import Cache
    from lightproof.experiments.methods import METHODS, check_name
    from lightproof.experiments.parameter_grid import Grid, plan_sweep, sweep_page, sweep_tables
    from lightproof.experiments.runner import run_all

    check_name("data set", dataset, DATASETS)
    for light in listed(lights) or [lights]:
        check_name("light", light, list(LIGHTS))
    grid = Grid(
        numbers("cells", cells, 2), numbers("overlaps", overlaps, 0), numbers("angles", angles, 1), listed(lights)
    )
    side = min(METHODS["rcdt"].size)
    if max(grid.cells) > side:
        raise BadParameter("sweep", "cells", f"at most {side}, the side of the picture", cells)
    if min(grid.overlaps) >= max(grid.cells):
        raise BadParameter("sweep", "overlaps", "smaller than the largest of the cells", overlaps)
    check_jobs("sweep", jobs)
    check_cropped("sweep", dataset, cropped)
    check_rows_place(json_file)
    check_folder(out)
    kept = Cache(out / "cache")
    with stoppable(lambda: kept_in(kept)):
        faces = load(dataset, data, bar(f"reading {dataset}"), cropped)
        describe(dataset, faces)
        results = run_all(plan_sweep(dataset, faces, grid), faces, kept, jobs, stream_bar("experiments"))
        rows = [row.as_dict() for result in results for row in rows_of(result)]
        # Files first: a closed pipe must not cost them.
        write_rows(out / "rows.json", rows)
        write(out / "report.html", sweep_page(results, grid, dataset))
        write_rows(json_file, rows)
    if json_file == STDOUT:
        return
    for table in sweep_tables(results, grid):
        show(table)
    say.print(f"The report with maps: {out / 'report.html'}")
