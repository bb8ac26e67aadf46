"""``lightproof evaluate``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from lightproof.cli.console import (
    STDOUT,
    bar,
    check_folder,
    check_rows_place,
    printable,
    say,
    show,
    write,
    write_rows,
)
from lightproof.cli.data import describe, load
from lightproof.cli.photos import check_detector
from lightproof.cli.work import stoppable

if TYPE_CHECKING:
    from lightproof.evaluation import KnownPeople

EXAMPLE: Final = (
    "Example: lightproof evaluate photos --photos 2, with photos/anna/1.jpg, photos/anna/2.jpg, photos/bert/1.jpg and "
    "so on."
)


def evaluate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", readable=False, help="A folder with a folder of photos for each person.")
    ],
    cropped: Annotated[
        bool, typer.Option("--cropped", help="The pictures are faces already: nothing is looked for.")
    ] = False,
    preset: Annotated[Literal["robust", "fast"], typer.Option(help="Settings to compare under.")] = "robust",
    photos: Annotated[
        int, typer.Option(min=1, help="Photos to enroll of each person; the others are asked about.")
    ] = 1,
    draws: Annotated[int, typer.Option(min=1, help="How often photos and strangers are drawn at random.")] = 5,
    gallery: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_URL", help="Ask this gallery instead: whose name it does not have is a stranger."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the report.")] = Path("lightproof-evaluate"),
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write the figures to this file; - is stdout, and no tables."),
    ] = None,
) -> None:
    """Find out how well your own photos are recognized, and told from strangers, in which light.

    Some photos of everybody are enrolled at random, the others asked about; then again, half of the people strangers.

    With --gallery nothing is enrolled: give other photos than it was made of, or all are recognized.
    """
    from lightproof.evaluation import evaluate as evaluated
    from lightproof.evaluation.report import evaluation_page, evaluation_tables, setting, summary

    check_rows_place(json_file)
    if not cropped:
        check_detector(", or give --cropped where the pictures are faces already")
    check_folder(out)
    with stoppable(lambda: "Nothing was written."), _opened(gallery) as known:
        faces = load("folder", folder, bar("reading photos"), cropped)
        describe("folder", faces)
        found = evaluated(faces, preset=preset, photos=photos, draws=draws, progress=bar("comparing"), gallery=known)
        # Files first: a closed pipe must not cost them.
        write(out / "report.html", evaluation_page(found, f"Evaluation of {folder.resolve().name}"))
        write_rows(json_file, found.rows())
    if json_file == STDOUT:
        return
    say.print(printable(" ".join([setting(found), *summary(found)])), soft_wrap=not say.is_terminal)
    for table in evaluation_tables(found):
        show(table)
    say.print(f"The report with curves and pictures: {printable(str(out / 'report.html'))}")


@contextmanager
def _opened(place: str | None) -> Iterator[KnownPeople | None]:
    """Open a gallery that is there, if one is asked for."""
    if place is None:
        yield None
        return
    from lightproof.gallery import Gallery

    with Gallery.open(place, create=False) as gallery:
        yield gallery
