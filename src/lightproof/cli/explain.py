"""``lightproof explain``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightproof.cli.command import Output, command, opened
from lightproof.cli.console import check_place, harmless, printable, say, show_narrow
from lightproof.cli.options import DEFAULT, Cropped, Force, JsonFile, Place
from lightproof.cli.photo_loop import check_finding, check_free, why_no_mesh
from lightproof.core.atomic import whole_file
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadParameter, CannotWrite, UserError

if TYPE_CHECKING:
    from lightproof.matching.explanation import Explanation


@command(left="A file that is there is whole.", writes=("out", "arrays"))
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
    force: Force = False,
    json_file: JsonFile = None,
) -> Output:
    """Draw which patches of a face speak for somebody, and which against.

    The numbers of the patches add up to the lead that decides.

    Example: lightproof explain door.jpg --person Ada --against Ben --out why.png
    """
    for option, path, ending in (("--out", out, ".png"), ("--arrays", arrays, ".npz")):
        if path is not None:
            _check(option, path, ending, photo, force)
    with opened(gallery) as people:
        check_finding(cropped)
        try:
            explanation = people.explain(photo, person, against, cropped=cropped)
        except BadParameter as mistake:
            if person is not None:
                raise
            # Nobody could know when typing that the best match is the very person it is not to be.
            raise UserError(str(mistake)) from None
    from lightproof.plots import explanation_figure

    picture = explanation_figure(explanation, name=printable(photo.name))
    with whole_file(out) as file:
        file.write(picture)
    if arrays is not None:
        explanation.save(arrays)
    row = _row(explanation, photo, out, arrays)
    return Output([row], show=lambda: _show(row))


def _check(option: str, path: Path, ending: str, photo: Path, force: bool) -> None:
    """Refuse a file of another kind, one that is there, and above all the photo itself."""
    if path.suffix.lower() != ending:
        raise BadParameter("explain", option, f"a file whose name ends with {ending}", str(path))
    if os.path.realpath(path) == os.path.realpath(photo):
        raise CannotWrite(path, OSError("the photo itself"))
    check_free(path, force)
    check_place(path)


def _row(explanation: Explanation, photo: Path, out: Path, arrays: Path | None) -> dict[str, Any]:
    return {
        "photo": str(photo),
        "person": explanation.person,
        "lead": explanation.lead,
        "against": explanation.against,
        "rival_lead": explanation.rival_lead,
        "sentence": explanation.sentence,
        "rivals": explanation.rivals,
        "patches": [patch._asdict() for patch in explanation.top_patches(5)],
        "picture": str(out),
        "arrays": None if arrays is None else str(arrays),
        "with_mesh": explanation.with_mesh,
    }


def _show(row: dict[str, Any]) -> None:
    lines = [
        [f"{patch['value']:+.2f}", f"{patch['left']}, {patch['top']}", f"{patch['width']} x {patch['height']}"]
        for patch in row["patches"]
    ]
    against = "" if row["against"] is None else f", not {harmless(row['against'])}"
    note = "The patches that count most. Place: column and row in pixels of the face as it is compared."
    show_narrow(TextTable("", [f"for {harmless(row['person'])}{against}", "place", "pixels"], lines, note), left=0)
    say(f"{harmless(row['sentence'])}.")
    if not row["with_mesh"]:
        say(f"Compared as it came: {why_no_mesh('no mesh lies on the face')}.")
    say(f"The picture is {printable(row['picture'])}.")
    if row["arrays"]:
        say(f"The numbers are in {printable(row['arrays'])}.")
