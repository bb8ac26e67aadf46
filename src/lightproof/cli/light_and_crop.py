"""``lightproof light`` and ``lightproof crop``."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from lightproof.cli.command import NOTHING_WRITTEN, Output, command
from lightproof.cli.console import printable, show_narrow, show_remarks, stdout
from lightproof.cli.options import Cropped, Force, JsonFile, Photos, Several
from lightproof.cli.photo_loop import (
    PictureFolder,
    Row,
    check_detector,
    check_finding,
    each_photo,
    face_place,
    output_of,
    short_names,
)
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadParameter

EXIT_CODES: Final = (
    "0 every photo was taken; 1 a photo was refused, or nothing could be done, each with a sentence on stderr"
)

HEAD: Final = ("photo", "light from", "balance", "shadow", "white", "black", "sharp", "head")
NOTE: Final = (
    "Left and right are those of the picture. Degrees: azimuth (+ left, 90 from the side) and elevation (+ above). "
    "Balance: + where the left half is brighter. Head: degrees by which it is turned to the left (+) and up (+)."
)

HEAD_OF_FACE: Final = ("eyes", "look")
NOTE_ON_FACE: Final = " Eyes: pixels between them. Look: the try that found the face."


@command(left=lambda given: NOTHING_WRITTEN if given["picture"] is None else "What is drawn stays.")
def light(
    photos: Photos,
    cropped: Cropped = False,
    several: Several = "largest",
    picture: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw each face with its light into this folder.")
    ] = None,
    force: Force = False,
    json_file: JsonFile = None,
) -> Output:
    """Say what light and pose do to the face in each photo, and what to do about it."""
    check_finding(cropped)
    folder = None if picture is None else PictureFolder(picture, photos, force)

    def read(photo: Path, name: str) -> list[Row]:
        return [_read_light(photo, name, cropped, several, folder)]

    def show(rows: list[Row]) -> None:
        _show_light(rows, cropped)
        if picture is not None:
            stdout.print(f"\nThe pictures are in {printable(str(picture))}.")

    return output_of(each_photo(photos, read, "reading the light"), show)


def _read_light(photo: Path, name: str, cropped: bool, several: str, folder: PictureFolder | None) -> Row:
    from lightproof.imaging.detection import read_portrait
    from lightproof.imaging.lighting import diagnose

    place = None if folder is None else folder.place(f"{name}-light")
    portrait = read_portrait(photo, cropped=cropped, several=several)
    distance = None if portrait.face is None else portrait.face.eye_distance
    diagnosis = diagnose(portrait.image, distance, portrait.pose)
    figures = {key: value for key, value in asdict(diagnosis).items() if key != "even"}
    row = {"photo": str(photo), **figures, **face_place(portrait.face, portrait.n_faces)}
    if folder is None or place is None:
        return row
    from lightproof.plots import draw_light  # matplotlib is loaded only for a picture

    folder.write(place, draw_light(portrait.image, diagnosis))
    return {**row, "picture": str(place)}


def _show_light(rows: list[Row], cropped: bool) -> None:
    names = short_names(rows)
    lines = [[names[row["photo"]], *_figures(row)] for row in rows]
    if cropped:
        table = TextTable("", [*HEAD], lines, NOTE)
    else:
        longer = [[*line, f"{row['eye_distance']:.0f}px", row["look"]] for line, row in zip(lines, rows, strict=True)]
        table = TextTable("", [*HEAD, *HEAD_OF_FACE], longer, NOTE + NOTE_ON_FACE)
    show_narrow(table, left=2)
    stdout.print()
    several = [f"{row['faces']} faces, this is the largest. " if (row["faces"] or 1) > 1 else "" for row in rows]
    show_remarks((names[row["photo"]], start + row["hint"]) for row, start in zip(rows, several, strict=True))


def _figures(row: Row) -> list[str]:
    shares = (f"{row[share]:.0%}" for share in ("shadow_share", "clipped_share", "black_share"))
    balance = round(row["balance"], 2) + 0.0  # no -0.00
    head = "" if row["yaw"] is None else f"{round(row['yaw']):+d}° {round(row['pitch']):+d}°"
    return [_direction(row), f"{balance:+.2f}", *shares, f"{row['sharpness']:.2f}", head]


def _direction(row: Row) -> str:
    if row["azimuth"] is None or row["elevation"] is None:
        return "cannot be read"
    behind = abs(row["azimuth"]) > 90 and row["side"] != "front"
    words = [row["side"], *(["behind"] if behind else []), *([row["height"]] if row["height"] != "level" else [])]
    return f"{textwrap.fill(', '.join(words), 13)}\n{round(row['azimuth']):+d}° {round(row['elevation']):+d}°"


@command(left=lambda given: f"The faces that are in {printable(str(given['out']))} are complete.")
def crop(
    photos: Photos,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the faces; made where it is missing.")],
    several: Several = "largest",
    all_faces: Annotated[
        bool, typer.Option("--all", help="Cut every face, the largest first: PHOTO-1.png, PHOTO-2.png and so on.")
    ] = False,
    force: Force = False,
    json_file: JsonFile = None,
) -> Output:
    """Cut the face out of each photo: upright, 168 x 192 pixels, the eyes at fixed places, as PNG.

    A face is called like its photo; where two photos have the same name, the next ones get -2, -3 and so on.
    """
    if all_faces and several == "refuse":
        raise BadParameter("crop", "several", "given without --all", several)
    check_detector()
    folder = PictureFolder(out, photos, force)

    def cut(photo: Path, name: str) -> list[Row]:
        return _crop(photo, name, several, all_faces, folder)

    return output_of(each_photo(photos, cut, "cutting out faces"), lambda rows: _show_crops(rows, out))


def _crop(photo: Path, name: str, several: str, all_faces: bool, folder: PictureFolder) -> list[Row]:
    from lightproof.imaging.detection import read_portrait, read_portraits
    from lightproof.plots import png_of

    if all_faces:
        portraits = list(read_portraits(photo))
        # All places are known to be free before the first face is written.
        places = [folder.place(f"{name}-{i}") for i in range(1, len(portraits) + 1)]
    else:
        places = [folder.place(name)]
        portraits = [read_portrait(photo, several=several)]
    rows = []
    for i, (place, portrait) in enumerate(zip(places, portraits, strict=True), start=1):
        folder.write(place, png_of(portrait.image))
        distance = None if portrait.face is None else portrait.face.eye_distance
        row = {"photo": str(photo), "face": i, "file": str(place), "eye_distance": distance}
        rows.append(row | face_place(portrait.face, portrait.n_faces))
    return rows


def _show_crops(rows: list[Row], out: Path) -> None:
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
    stdout.print(f"{faces} in {printable(str(out))}.")
