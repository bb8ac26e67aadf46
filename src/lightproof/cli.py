"""The command line: parse, call, print, map errors to exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lightproof import __version__
from lightproof.datasets import load_yale_b
from lightproof.errors import UserError
from lightproof.experiments.demo import render_people, run_demo
from lightproof.experiments.tables import TextTable, demo_table, yale_tables
from lightproof.experiments.yale import Row, plan_yale, run, shrink
from lightproof.settings import PRESETS, check_settings

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
reproduce = typer.Typer(no_args_is_help=True, help="Run the paper's experiments again.")
app.add_typer(reproduce, name="reproduce")

# Progress and remarks go to stderr, results to stdout, so that a pipe gets results only.
talk = Console(stderr=True)
say = Console(soft_wrap=True)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and stop.")
    ] = False,
) -> None:
    """Face recognition that does not care about the light."""


@app.command()
def demo(
    people: Annotated[int, typer.Option(min=2, help="How many people to render.")] = 24,
    seed: Annotated[int, typer.Option(min=0, help="Other seed, other people.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("lightproof-demo"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the figures to this file.")] = None,
) -> None:
    """Render people, enroll one photo each, and name them under ever harder light."""
    from lightproof.experiments.report import demo_page

    _make_folder(out)
    faces = render_people(people, seed, _bar("rendering people"))
    seen = run_demo(faces, _bar("naming photos"))
    _write(out / "report.html", demo_page(seen))
    if json_file is not None:
        _write_json(json_file, seen.rows())
    say.print(_printed(demo_table(seen)))
    say.print(f"The report with pictures: {out / 'report.html'}")


@reproduce.command()
def yale(
    data: Annotated[Path, typer.Option(help="The CroppedYale folder.")],
    out: Annotated[Path | None, typer.Option(help="Folder for a report with a chart.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.")] = None,
    preset: Annotated[str | None, typer.Option(help=f"Run one preset only: {', '.join(PRESETS)}.")] = None,
) -> None:
    """Extended Yale B: Test 1 and Test 2, plain and log, and the table of parameters."""
    if preset is not None:
        check_settings("reproduce yale", {"preset": preset})
    if out is not None:
        _make_folder(out)
    with talk.status("reading the photos"):
        faces = load_yale_b(data)
        images = {smoothing: shrink(faces, smoothing) for smoothing in ("float", "8-bit")}
    talk.print(f"{len(faces)} photos read, {len(faces.skipped)} files skipped")
    rows: list[Row] = []
    notes: list[str] = []
    for experiment in _bar("experiments")(plan_yale([preset] if preset else list(PRESETS))):
        outcome = run(experiment, faces, images)
        rows += outcome.rows
        notes += outcome.notes
    # Files first: a closed pipe must not cost them.
    if json_file is not None:
        _write_json(json_file, [row.as_dict() for row in rows])
    if out is not None:
        from lightproof.experiments.report import yale_page

        _write(out / "report.html", yale_page(rows, notes))
    for table in yale_tables(rows):
        say.print(_printed(table))
    for note in notes:
        say.print(note)
    if out is not None:
        say.print(f"The report: {out / 'report.html'}")


def main() -> None:
    """Run the command line; a mistake of the user is one sentence and exit code 1."""
    try:
        app()
    except UserError as mistake:
        print(f"lightproof: {mistake}", file=sys.stderr)
        sys.exit(1)


def _bar(title: str) -> Callable[[Iterable[T]], Iterable[T]]:
    def wrapped(steps: Iterable[T]) -> Iterable[T]:
        listed = list(steps)
        return track(listed, title, console=talk, total=len(listed), transient=True)

    return wrapped


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UserError(f"--out must be a folder that can be written; got {folder} ({problem.strerror}).") from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UserError(f"{path} must be a file that can be written; got: {problem.strerror}.") from None


def _write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    _write(path, json.dumps(rows, indent=1) + "\n")


def _printed(table: TextTable) -> Table:
    printed = Table(title=table.title, title_justify="left")
    for i, name in enumerate(table.head):
        printed.add_column(name, justify="left" if i == 0 else "right")
    for line in table.lines:
        printed.add_row(*line)
    return printed
