"""``lightproof explain``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightproof.cli.console import STDOUT, check_place, check_rows_place, printable, show_narrow, write_rows
from lightproof.cli.gallery import DEFAULT, Cropped, Place, Rows, in_words, opened, shown
from lightproof.cli.photos import check_finding
from lightproof.cli.work import stoppable
from lightproof.core.atomic import whole_file
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadParameter, CannotWrite, UserError

if TYPE_CHECKING:
    from lightproof.gallery import Gallery
    from lightproof.matching.explanation import Explanation


def explain(
    photo: Annotated[Path, typer.Argument(metavar="PHOTO", readable=False, help="A photograph.")],
    out: Annotated[Path, typer.Option(metavar="FILE.png", help="The picture to draw.")],
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="Why this person? The best match if not given.")
    ] = None,
    against: Annotated[str | None, typer.Option(metavar="NAME", help="And why not that one?")] = None,
    arrays: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Also write all numbers, for numpy.load.")
    ] = None,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there already.")] = False,
    json_file: Rows = None,
) -> None:
    """Draw which patches of a face speak for somebody, and which against.

    The numbers of the patches add up to the lead that decides.

    Example: lightproof explain door.jpg --person Ada --against Ben --out why.png
    """
    check_rows_place(json_file, out, arrays)
    for option, path, ending in (("--out", out, ".png"), ("--arrays", arrays, ".npz")):
        if path is not None:
            _check(option, path, ending, photo, force)
    with stoppable(lambda: "A file that is there is whole."), opened(gallery) as register:
        check_finding(cropped)
        found = _explained(register, photo, person, against, cropped)
        _write(found, photo, out, arrays)
        row = _row(found, photo, out, arrays)
        write_rows(json_file, [row])
    if json_file != STDOUT:
        _show(row)


def _explained(gallery: Gallery, photo: Path, person: str | None, against: str | None, cropped: bool) -> Explanation:
    try:
        return gallery.explain(photo, person, against, cropped=cropped)
    except BadParameter as mistake:
        if person is not None:
            raise
        # That the best match is just the one it is not to be could not be known when it was typed.
        raise UserError(str(mistake)) from None


def _check(option: str, path: Path, ending: str, photo: Path, force: bool) -> None:
    """Refuse a file of another kind, one that is there, and above all the photo itself."""
    if path.suffix.lower() != ending:
        raise BadParameter("explain", option, f"a file whose name ends with {ending}", str(path))
    if os.path.realpath(path) == os.path.realpath(photo):
        raise CannotWrite(path, OSError("the photo itself"))
    if os.path.lexists(path) and not force:
        raise CannotWrite(path, OSError("a file that is there already (--force writes over it)"))
    check_place(path)


def _write(found: Explanation, photo: Path, out: Path, arrays: Path | None) -> None:
    from lightproof.plots import explanation_figure

    picture = explanation_figure(found, name=printable(photo.name))
    with whole_file(out) as file:
        file.write(picture)
    if arrays is not None:
        found.save(arrays)


def _row(found: Explanation, photo: Path, out: Path, arrays: Path | None) -> dict[str, Any]:
    return {
        "photo": str(photo),
        "person": found.person,
        "lead": found.lead,
        "against": found.against,
        "rival_lead": found.rival_lead,
        "sentence": found.sentence,
        "rivals": found.rivals,
        "patches": [patch._asdict() for patch in found.top_patches(5)],
        "picture": str(out),
        "arrays": None if arrays is None else str(arrays),
    }


def _show(row: dict[str, Any]) -> None:
    lines = [
        [f"{patch['value']:+.2f}", f"{patch['left']}, {patch['top']}", f"{patch['width']} x {patch['height']}"]
        for patch in row["patches"]
    ]
    for_whom = (
        shown(row["person"]) if row["against"] is None else f"{shown(row['person'])}, not {shown(row['against'])}"
    )
    note = "The patches that count most. Place: column and row in pixels of the face as it is compared."
    show_narrow(TextTable("", [f"for {for_whom}", "place", "pixels"], lines, note), left=0)
    in_words(f"{shown(row['sentence'])}.")
    in_words(f"The picture is {printable(row['picture'])}.")
    if row["arrays"]:
        in_words(f"The numbers are in {printable(row['arrays'])}.")
