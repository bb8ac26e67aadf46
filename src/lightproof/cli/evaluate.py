"""``lightproof evaluate``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

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
from lightproof.cli.gallery import Cropped, in_words, opened
from lightproof.cli.photos import check_finding
from lightproof.cli.work import stoppable
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadParameter

if TYPE_CHECKING:
    from lightproof.evaluation import Counted, Within

EXIT_CODES: Final = (
    "Exit codes: 0 there are figures, and what photos were left out is told on stderr; 1 nothing could be done, with a "
    "sentence on stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)

USUAL: Final[dict[str, Any]] = {"preset": "robust", "photos": 1, "draws": 5}
"""How the folder's own people are tried if nobody says."""

OUT: Final = Path("lightproof-evaluate")
"""Where the report goes if nobody says."""


def evaluate(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            readable=False,
            help="A folder with a folder of photos for each person; a gallery alone is asked about its own photos.",
        ),
    ] = None,
    cropped: Cropped = False,
    preset: Annotated[
        Literal["robust", "fast"] | None, typer.Option(help="How faces are compared; robust if not given.")
    ] = None,
    photos: Annotated[
        int | None,
        typer.Option(min=1, help="Photos to enroll of each person; 1 if not given. The others are asked about."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="How often photos and strangers are drawn; 5 times if not given.")
    ] = None,
    gallery: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_URL",
            help="Ask this gallery instead: whose name it does not have is a stranger. LIGHTPROOF_GALLERY is not used.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help=f"Folder for the report; {OUT} if not given.")] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write the figures to this file; - is stdout, and no tables."),
    ] = None,
) -> None:
    """Find out how well your own photos are recognized, and told from strangers, in which light.

    The people of the folder are tried as a gallery of their own: some photos of everybody are enrolled at random, the
    others asked about; then again, half of the people strangers. This takes two people, one of them with two photos.

    With --gallery nothing is enrolled, and one photo is enough. Give other photos than it was made of, or all are
    recognized. What nobody was asked about is shown as a dash.

    A gallery without a folder is asked about its own photos: each is left out in turn, then its person altogether.

    Example: lightproof evaluate photos --photos 2

    Example: lightproof evaluate new-photos --gallery people.gallery

    Example: lightproof evaluate --gallery people.gallery
    """
    given: dict[str, Any] = {"preset": preset, "photos": photos, "draws": draws}
    _check_given(gallery, given)
    if folder is not None:
        _evaluate_folder(folder, cropped, given, gallery, out or OUT, json_file)
        return
    if gallery is None:
        legal = "a folder with a folder of photos for each person, unless --gallery is given"
        raise BadParameter("evaluate", "DIR", legal, folder)
    for name, value in (("cropped", cropped or None), ("out", out)):
        if value is not None:
            raise BadParameter("evaluate", name, "given with a folder of photos", value)
    _evaluate_within(gallery, json_file)


def _evaluate_folder(
    folder: Path, cropped: bool, given: dict[str, Any], gallery: str | None, out: Path, json_file: Path | None
) -> None:
    from lightproof.evaluation import FARS
    from lightproof.evaluation import evaluate as evaluated
    from lightproof.evaluation.evaluation_report import evaluation_page, evaluation_tables, setting, summary

    check_rows_place(json_file)
    check_finding(cropped)
    check_folder(out)
    with stoppable(lambda: "Nothing was written."), nullcontext() if gallery is None else opened(gallery) as known:
        faces = load("folder", folder, bar("reading photos"), cropped, few=known is not None)
        describe("folder", faces)
        how = USUAL | {name: value for name, value in given.items() if value is not None}
        if known is not None:
            # What the gallery really does comes first.
            how["fars"] = tuple(dict.fromkeys((known.calibration().far, *FARS)))
        found = evaluated(faces, **how, progress=bar("comparing"), gallery=known)
        # Files first: a closed pipe must not cost them.
        write(out / "report.html", evaluation_page(found, f"Evaluation of {folder.resolve().name}"))
        write_rows(json_file, found.rows())
    if json_file == STDOUT:
        return
    say.print(printable(" ".join([setting(found), *summary(found)])), soft_wrap=not say.is_terminal)
    for table in evaluation_tables(found):
        show(table)
    say.print(f"The report with curves and pictures: {printable(str(out / 'report.html'))}")


def _check_given(gallery: str | None, given: dict[str, Any]) -> None:
    """A gallery was made already: how it is to be made cannot be said."""
    for name, value in given.items():
        if gallery is not None and value is not None:
            raise BadParameter("evaluate", name, "given without --gallery", value)


def _evaluate_within(gallery: str, json_file: Path | None) -> None:
    """Ask a gallery about its own photos."""
    from lightproof.evaluation import evaluate_within

    check_rows_place(json_file)
    with stoppable(lambda: "Nothing was written."), opened(gallery) as known:
        found = evaluate_within(known, progress=bar("asking the gallery"))
        write_rows(json_file, found.rows())
    if json_file != STDOUT:
        in_words(found.note)
        show(_table(found))


def _table(found: Within) -> TextTable:
    head = ["light", "photos", "named", "found", "strangers", "let in"]
    lines = [
        [one.words, str(one.named.of), _cell(one.named), _cell(one.found), str(one.strangers.of), _cell(one.strangers)]
        for one in found.lights
    ]
    note = (
        "Named: left out of the photos of its person, the best match is the right one, %. Found: and accepted at the "
        f"threshold that the gallery uses, meant to let in {100 * found.far:g} % of strangers. Let in: a stranger's, "
        "with its person left out, and taken for somebody else, %. In brackets: 95 % intervals, with people drawn "
        "again and not photos. A dash: not available, since there was nothing to ask."
    )
    return TextTable("Own photos, each left out in turn", head, lines, note)


def _cell(photos: Counted) -> str:
    if photos.share is None:
        return "-"
    share = f"{100 * photos.share:.1f}"
    if photos.low is None or photos.high is None:
        return share
    return f"{share} [{100 * photos.low:.1f}, {100 * photos.high:.1f}]"
