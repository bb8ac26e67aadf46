"""``lightproof demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightproof.cli.console import STDOUT, bar, check_folder, check_rows_place, say, show, write, write_rows
from lightproof.cli.work import stoppable


def demo(
    people: Annotated[int, typer.Option(min=2, help="How many people to render.")] = 24,
    seed: Annotated[int, typer.Option(min=0, help="Other seed, other people.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("lightproof-demo"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures to this file; - is stdout.")
    ] = None,
) -> None:
    """Render people, enroll one photo each, and name them under ever harder light."""
    from lightproof.experiments.demo_report import demo_page, demo_table
    from lightproof.experiments.demonstration import render_people, run_demo

    check_folder(out)
    check_rows_place(json_file)
    with stoppable(lambda: "Nothing was written."):
        faces = render_people(people, seed, bar("rendering people"))
        seen = run_demo(faces, bar("naming photos"))
        # Files first: a closed pipe must not cost them.
        write(out / "report.html", demo_page(seen))
        write_rows(json_file, seen.rows())
    if json_file == STDOUT:
        return
    show(demo_table(seen))
    say.print(f"The report with pictures: {out / 'report.html'}")
