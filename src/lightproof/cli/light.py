"""``lightproof light``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from lightproof.cli.console import STDOUT, check_rows_place, printable, say, show_narrow, show_remarks, write_rows
from lightproof.cli.gallery import Cropped
from lightproof.cli.photos import (
    Album,
    Row,
    check_finding,
    each_photo,
    end,
    short_names,
    taken,
    where_found,
)
from lightproof.cli.work import stoppable
from lightproof.core.report_parts import TextTable

HEAD: Final = ("photo", "light from", "balance", "shadow", "white", "black", "sharp")
NOTE: Final = (
    "Left and right are those of the picture. Degrees: azimuth (+ left, 90 from the side) and elevation (+ above). "
    "Balance: + where the left half is brighter."
)

HEAD_OF_FINDING: Final = ("eyes", "look")
NOTE_ON_FINDING: Final = " Eyes: pixels between them. Look: the try that found the face."


def light(
    photos: Annotated[
        list[Path], typer.Argument(metavar="PHOTO", readable=False, help="Photographs, of any size and format.")
    ],
    cropped: Cropped = False,
    several: Annotated[
        Literal["largest", "refuse"], typer.Option(help="Of several faces take the largest, or refuse the photo.")
    ] = "largest",
    picture: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw each face with its light into this folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over pictures that are there already.")] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write the figures to this file; - is stdout, and no table."),
    ] = None,
) -> None:
    """Say what the light does to the face in each photo, and what to do about it."""
    check_rows_place(json_file)
    check_finding(cropped)
    album = None if picture is None else Album(picture, photos, force)

    def read(photo: Path, name: str) -> list[Row]:
        return [_read(photo, name, cropped, several, album)]

    with stoppable(lambda: "What is drawn stays." if album else "Nothing was written."):
        rows = each_photo(photos, read, "reading the light")
        # Files first: a closed pipe must not cost them.
        write_rows(json_file, rows)
    if json_file != STDOUT and taken(rows):
        _show(taken(rows), cropped)
        if picture is not None:
            say.print(f"\nThe pictures are in {printable(str(picture))}.")
    end(rows)


def _read(photo: Path, name: str, cropped: bool, several: str, album: Album | None) -> Row:
    from lightproof.imaging.detection import read_portrait
    from lightproof.imaging.lighting import diagnose

    place = None if album is None else album.place(f"{name}-light")
    portrait = read_portrait(photo, cropped=cropped, several=several)
    found = diagnose(portrait.image, None if portrait.face is None else portrait.face.eye_distance)
    figures = {name: value for name, value in asdict(found).items() if name != "even"}
    row = {"photo": str(photo), **figures, **where_found(portrait.face, portrait.n_faces)}
    if album is None or place is None:
        return row
    from lightproof.plots import draw_light  # matplotlib is loaded only for a picture

    album.write(place, draw_light(portrait.image, found))
    return {**row, "picture": str(place)}


def _show(rows: list[Row], cropped: bool) -> None:
    names = short_names(rows)
    lines = [[names[row["photo"]], *_figures(row)] for row in rows]
    if cropped:
        table = TextTable("", [*HEAD], lines, NOTE)
    else:
        longer = [line + _finding(row) for line, row in zip(lines, rows, strict=True)]
        table = TextTable("", [*HEAD, *HEAD_OF_FINDING], longer, NOTE + NOTE_ON_FINDING)
    show_narrow(table, left=2)
    say.print()
    show_remarks((names[row["photo"]], " ".join(_remarks(row))) for row in rows)


def _figures(row: Row) -> list[str]:
    shares = (f"{row[share]:.0%}" for share in ("shadow_share", "clipped_share", "black_share"))
    balance = round(row["balance"], 2) + 0.0  # no -0.00
    return [_direction(row), f"{balance:+.2f}", *shares, f"{row['sharpness']:.2f}"]


def _finding(row: Row) -> list[str]:
    return [f"{row['eye_distance']:.0f}px", row["look"]]


def _direction(row: Row) -> str:
    if row["azimuth"] is None or row["elevation"] is None:
        return "cannot be read"
    behind = abs(row["azimuth"]) > 90 and row["side"] != "front"
    words = [row["side"], *(["behind"] if behind else []), *([row["height"]] if row["height"] != "level" else [])]
    return f"{textwrap.fill(', '.join(words), 13)}\n{round(row['azimuth']):+d}° {round(row['elevation']):+d}°"


def _remarks(row: Row) -> Iterable[str]:
    if (row["faces"] or 1) > 1:
        yield f"{row['faces']} faces, this is the largest."
    yield row["hint"]
