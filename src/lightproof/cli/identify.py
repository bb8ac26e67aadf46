"""``lightproof identify``."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.console import (
    STDOUT,
    check_rows_place,
    printable,
    say,
    show_narrow,
    show_remarks,
    stream_bar,
    write_rows,
)
from lightproof.cli.gallery import (
    DEFAULT,
    Cropped,
    Far,
    OnCluster,
    Place,
    Rows,
    check_share,
    connected,
    in_words,
    opened,
    shown,
)
from lightproof.cli.photos import Album, Row, check_finding, each_photo, end, refused, short_names, taken
from lightproof.cli.work import stoppable
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadParameter

if TYPE_CHECKING:
    from lightproof.gallery import Answer, Face, Gallery

EXIT_CODES: Final = (
    "Exit codes: 0 every photo was answered, and a stranger is an answer; 1 a photo was refused, or nothing could be "
    "done, each with a sentence on stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)

STRANGER: Final = "unknown"

NAME_WIDTH: Final = 22
"""Letters of a name in one line of a terminal."""


def identify(
    photos: Annotated[
        list[Path], typer.Argument(metavar="PHOTO", readable=False, help="Photographs, of any size and format.")
    ],
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    top: Annotated[
        int | None, typer.Option(min=1, help="Name the best so many for each photo; 5 in --json if not given.")
    ] = None,
    far: Far = None,
    explain: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw into this folder why it is the best match.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over pictures that are there already.")] = False,
    cluster: OnCluster = None,
    json_file: Rows = None,
) -> None:
    """Tell who is on each photo, or that it is a stranger.

    A score of 0.33 is one that one in a hundred strangers has, 0.5 one in a thousand, 1 one in a million or fewer.

    Of several faces the largest is taken.

    With --cluster every worker must see the photos and the gallery under the same paths, or the gallery on a server.

    Example: lightproof identify door.jpg desk.jpg --explain why
    """
    check_rows_place(json_file)
    check_share("identify", far)
    if cluster is not None and explain is not None:
        raise BadParameter("identify", "explain", "left out where there is a cluster", str(explain))
    album = None
    with stoppable(lambda: "What is drawn stays." if album else "Nothing was written."), opened(gallery) as register:
        # One sentence about a gallery that is damaged, not one for each photo.
        register.follow()
        check_finding(cropped)
        album = None if explain is None else Album(explain, photos, force)

        def answer(photo: Path, name: str) -> list[Row]:
            return [_answer(register, photo, name, cropped, top or 5, far, album)]

        if cluster is None:
            rows = each_photo(photos, answer, "comparing")
        else:
            rows = _answers_of(cluster, photos, gallery, cropped, top or 5, far)
        # Files first: a closed pipe must not cost them.
        write_rows(json_file, rows)
    if json_file != STDOUT and taken(rows):
        _show(taken(rows), several=top is not None)
        if explain is not None:
            in_words(f"The pictures are in {printable(str(explain))}.")
    end(rows)


def _answers_of(cluster: str, photos: list[Path], place: str, cropped: bool, top: int, far: float | None) -> list[Row]:
    """Let a cluster tell who is on each photo."""
    from lightproof.gallery import identify_files

    with connected(cluster) as workers:
        assert workers is not None
        told = identify_files(place, photos, workers, cropped=cropped, top=top, far=far)
        return [
            row_of(photo, one.answer) if one.answer is not None else refused(photo, one.problem)
            for photo, one in zip(photos, stream_bar("comparing")(told, len(photos)), strict=True)
        ]


def _answer(
    gallery: Gallery, photo: Path, name: str, cropped: bool, top: int, far: float | None, album: Album | None
) -> Row:
    from lightproof.gallery import extract_face

    place = None if album is None else album.place(f"{name}-why")
    face = extract_face(photo, cropped)
    answer = gallery.identify_face(face, top, far=far)
    row = row_of(photo, answer)
    if album is None or place is None or not answer.candidates:
        return row
    album.write(place, _picture(gallery, face, answer, photo))
    return {**row, "picture": str(place)}


def row_of(photo: Path, answer: Answer) -> dict[str, Any]:
    """What is known about one photo, for machines; ``name`` is None for a stranger."""
    return {"photo": str(photo), **asdict(answer), "sentence": answer.sentence}


def _picture(gallery: Gallery, face: Face, answer: Answer, photo: Path) -> bytes:
    from lightproof.plots import explanation_figure  # matplotlib is loaded only for a picture

    best, *others = (candidate.name for candidate in answer.candidates)
    against = others[0] if others else None
    explained = gallery.explain_face(face, best, against)
    return explanation_figure(explained, name=printable(photo.name))


def _show(rows: list[Row], several: bool) -> None:
    from lightproof.gallery.results import counted

    names = short_names(rows)
    lines = [
        [
            names[row["photo"]],
            _folded(_who(row)),
            f"{row['score']:.2f}",
            counted(row["one_in"]),
            _folded(_next_best(row)),
        ]
        for row in rows
    ]
    show_narrow(TextTable("", ["photo", "who", "score", "1 in", "next best"], lines, _note(rows[0])), left=2)
    if several:
        say.print()
        show_remarks((names[row["photo"]], ", ".join(map(_candidate, row["candidates"])) or "nobody") for row in rows)


def _folded(name: str) -> str:
    """Break a long name, so that a terminal has room for the scores; a pipe has room enough."""
    return textwrap.fill(name, NAME_WIDTH) if say.is_terminal else name


def _who(row: Row) -> str:
    return STRANGER if row["name"] is None else shown(row["name"])


def _next_best(row: Row) -> str:
    """Name the best match that is not the answer."""
    others = row["candidates"] if row["name"] is None else row["candidates"][1:]
    return _candidate(others[0]) if others else "nobody"


def _candidate(candidate: dict[str, Any]) -> str:
    return f"{shown(candidate['name'])} {candidate['score']:.2f}"


def _note(row: Row) -> str:
    from lightproof.gallery.results import counted

    meaning = "1 in: about one in so many strangers would score this well."
    asked = f"Somebody is named from {row['threshold']:.2f} on, 1 in {counted(1 / row['far'])}."
    usual = "" if row["calibrated"] else " This is what is usual; lightproof calibrate asks the gallery itself."
    return f"{meaning} {asked}{usual}"
