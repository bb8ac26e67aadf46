"""The command line: parse, call, print, map errors to exit codes."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lightproof import __version__
from lightproof.datasets import load_yale_b
from lightproof.errors import CannotWrite, UserError
from lightproof.experiments.demo import render_people, run_demo
from lightproof.experiments.tables import TextTable, demo_table, yale_tables
from lightproof.experiments.yale import Row, plan_yale, run, shrink
from lightproof.images import SMOOTHINGS
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
    _check_place(json_file)
    faces = render_people(people, seed, _bar("rendering people"))
    seen = run_demo(faces, _bar("naming photos"))
    # Files first: a closed pipe must not cost them.
    _write(out / "report.html", demo_page(seen))
    if json_file is not None:
        _write_json(json_file, seen.rows())
    say.print(_printed(demo_table(seen)))
    say.print(f"The report with pictures: {out / 'report.html'}")


@reproduce.command()
def yale(
    data: Annotated[Path, typer.Option(help="The CroppedYale folder, or the one it lies in.")],
    out: Annotated[Path | None, typer.Option(help="Folder for a report with a chart.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.")] = None,
    preset: Annotated[str | None, typer.Option(help=f"Run one preset only: {', '.join(PRESETS)}.")] = None,
) -> None:
    """Extended Yale B: Test 1 and Test 2, plain and log, and the table of parameters."""
    if preset is not None:
        check_settings("reproduce yale", {"preset": preset})
    if out is not None:
        _make_folder(out)
    _check_place(json_file)
    faces = load_yale_b(data, progress=_bar("reading photos"))
    images = {way: shrink(faces, way, _bar(f"shrinking photos, {way}")) for way in SMOOTHINGS}
    talk.print(f"{len(faces)} photos; files left out: {_reasons(faces.skipped)}", soft_wrap=True)
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
    for stream in (sys.stdout, sys.stderr):
        # A terminal without some sign shows a question mark instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except UserError as mistake:
        print(f"lightproof: {mistake}", file=sys.stderr)
        sys.exit(1)


def _reasons(skipped: Iterable[str]) -> str:
    counts = Counter(line.rpartition(": ")[2] for line in skipped)
    return ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "nothing"


def _bar(title: str) -> Callable[[Iterable[T]], Iterable[T]]:
    def wrapped(steps: Iterable[T]) -> Iterable[T]:
        listed = list(steps)
        return track(listed, title, console=talk, total=len(listed), transient=True, disable=not talk.is_terminal)

    return wrapped


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(folder, problem) from None


def _check_place(path: Path | None) -> None:
    """Refuse a file that cannot be written before the work begins, not after."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise CannotWrite(path, OSError("a folder" if path.is_dir() else "no such folder"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise CannotWrite(path, problem) from None


def _write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    _write(path, json.dumps(rows, indent=1) + "\n")


def _printed(table: TextTable) -> Table:
    printed = Table(title=table.title, title_justify="left")
    for i, name in enumerate(table.head):
        printed.add_column(name, justify="left" if i == 0 else "right")
    for line in table.lines:
        printed.add_row(*line)
    return printed
