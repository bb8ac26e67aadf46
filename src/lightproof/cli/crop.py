"""``lightproof crop``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, say, show_narrow, write_rows
from lightproof.cli.photos import (
    Album,
    Row,
    check_detector,
    each_photo,
    end,
    short_names,
    taken,
    where_found,
)
from lightproof.cli.work import stoppable
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadParameter


def crop(
    photos: Annotated[
        list[Path], typer.Argument(metavar="PHOTO", readable=False, help="Photographs, of any size and format.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the faces; made where it is missing.")],
    several: Annotated[
        Literal["largest", "refuse"], typer.Option(help="Of several faces take the largest, or refuse the photo.")
    ] = "largest",
    all_faces: Annotated[
        bool, typer.Option("--all", help="Cut every face, the largest first: PHOTO-1.png, PHOTO-2.png and so on.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over faces that are there already.")] = False,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="FILE", help="Also write what was found to this file; - is stdout, and no table."
        ),
    ] = None,
) -> None:
    """Cut the face out of each photo: upright, 168 x 192 pixels, the eyes at fixed places, as PNG.

    A face is called like its photo; where two photos have the same name, the next ones get -2, -3 and so on.
    """
    if all_faces and several == "refuse":
        raise BadParameter("crop", "several", "given without --all", several)
    check_rows_place(json_file)
    check_detector()
    album = Album(out, photos, force)

    def work(photo: Path, name: str) -> list[Row]:
        return _crop(photo, name, several, all_faces, album)

    with stoppable(lambda: f"The faces that are in {printable(str(out))} are complete."):
        rows = each_photo(photos, work, "cutting out faces")
        # Files first: a closed pipe must not cost them.
        write_rows(json_file, rows)
    if json_file != STDOUT and taken(rows):
        _show(taken(rows), out)
    end(rows)


def _crop(photo: Path, name: str, several: str, all_faces: bool, album: Album) -> list[Row]:
    from lightproof.imaging.detection import read_portrait, read_portraits
    from lightproof.plots import png_of

    if all_faces:
        portraits = list(read_portraits(photo))
        # All places are known to be free before the first face is written.
        places = [album.place(f"{name}-{i}") for i in range(1, len(portraits) + 1)]
    else:
        places = [album.place(name)]
        portraits = [read_portrait(photo, several=several)]
    rows = []
    for i, (place, portrait) in enumerate(zip(places, portraits, strict=True), start=1):
        album.write(place, png_of(portrait.image))
        found = where_found(portrait.face, portrait.n_faces)
        distance = None if portrait.face is None else portrait.face.eye_distance
        rows.append({"photo": str(photo), "face": i, "file": str(place), "eye_distance": distance, **found})
    return rows


def _show(rows: list[Row], out: Path) -> None:
    names = short_names(rows)
    lines = [
        [
            names[row["photo"]],
            printable(Path(row["file"]).name),
            row["look"],
            f"{row['eye_distance']:.0f}px",
            f"{row['face']} of {row['faces']}",
        ]
        for row in rows
    ]
    show_narrow(TextTable("", ["photo", "written", "look", "eyes", "face"], lines), left=3)
    faces = "1 face is" if len(rows) == 1 else f"{len(rows)} faces are"
    say.print(f"{faces} in {printable(str(out))}.")
