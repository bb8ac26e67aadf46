"""``lightproof identify`` and ``lightproof verify``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.command import NOTHING_WRITTEN, Output, check_share, command, connected, opened
from lightproof.cli.console import harmless, printable, say, show_narrow, show_remarks, stdout, stream_bar
from lightproof.cli.options import DEFAULT, Cropped, Far, Force, JsonFile, OnCluster, Photos, Place
from lightproof.cli.photo_loop import (
    PictureFolder,
    Row,
    check_finding,
    each_photo,
    output_of,
    refused,
    short_names,
    why_no_mesh,
)
from lightproof.core.report_parts import TextTable
from lightproof.errors import BadParameter

if TYPE_CHECKING:
    from lightproof.gallery import Answer, Gallery

IDENTIFY_EXIT_CODES: Final = (
    "0 every photo was answered, and a stranger is an answer; 1 a photo was refused, or nothing could be done, each "
    "with a sentence on stderr"
)
VERIFY_EXIT_CODES: Final = (
    "0 there is an answer, the same person or not; 1 a photo was refused, or nothing could be done, with a sentence "
    "on stderr"
)

NAME_WIDTH: Final = 22
"""Letters of a name in one line of a terminal."""


@command(left=lambda given: NOTHING_WRITTEN if given["explain"] is None else "What is drawn stays.")
def identify(
    photos: Photos,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    top: Annotated[
        int | None, typer.Option(min=1, help="Name the best so many for each photo; 5 in --json if not given.")
    ] = None,
    far: Far = None,
    explain: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw into this folder why it is the best match.")
    ] = None,
    force: Force = False,
    cluster: OnCluster = None,
    json_file: JsonFile = None,
) -> Output:
    """Tell who is on each photo, or that it is a stranger.

    A score of 0.33 is one that one in a hundred strangers has, 0.5 one in a thousand, 1 one in a million or fewer.

    Of several faces the largest is taken.

    With --cluster every worker must see the photos and the gallery under the same paths, or the gallery on a server.

    Example: lightproof identify door.jpg desk.jpg --explain why
    """
    check_share("identify", far)
    if cluster is not None and explain is not None:
        raise BadParameter("identify", "explain", "left out where there is a cluster", str(explain))
    with opened(gallery) as people:
        # One sentence about a gallery that is damaged, not one for each photo.
        people.follow()
        check_finding(cropped)
        folder = None if explain is None else PictureFolder(explain, photos, force)

        def answer(photo: Path, name: str) -> list[Row]:
            return [_answer(people, photo, name, cropped, top or 5, far, folder)]

        if cluster is None:
            rows = each_photo(photos, answer, "comparing")
        else:
            rows = _answers_of_cluster(cluster, photos, gallery, cropped, top or 5, far)

    def show(taken: list[Row]) -> None:
        _show(taken, several=top is not None)
        if explain is not None:
            say(f"The pictures are in {printable(str(explain))}.")

    return output_of(rows, show)


def _answers_of_cluster(
    cluster: str, photos: list[Path], place: str, cropped: bool, top: int, far: float | None
) -> list[Row]:
    """Let a cluster tell who is on each photo."""
    from lightproof.gallery import identify_files

    with connected(cluster) as workers:
        assert workers is not None
        results = identify_files(place, photos, workers, cropped=cropped, top=top, far=far)
        return [
            row_of(photo, result.answer) if result.answer is not None else refused(photo, result.problem)
            for photo, result in zip(photos, stream_bar("comparing")(results, len(photos)), strict=True)
        ]


def _answer(
    gallery: Gallery, photo: Path, name: str, cropped: bool, top: int, far: float | None, folder: PictureFolder | None
) -> Row:
    from lightproof.gallery import extract_face

    place = None if folder is None else folder.place(f"{name}-why")
    face = extract_face(photo, cropped)
    answer = gallery.identify_face(face, top, far=far)
    row = row_of(photo, answer)
    if folder is None or place is None or not answer.candidates:
        return row
    from lightproof.plots import explanation_figure  # matplotlib is loaded only for a picture

    best, *others = (candidate.name for candidate in answer.candidates)
    explanation = gallery.explain_face(face, best, others[0] if others else None)
    folder.write(place, explanation_figure(explanation, name=printable(photo.name)))
    return {**row, "picture": str(place)}


def row_of(photo: Path, answer: Answer) -> Row:
    """The answer for one photo, for machines; ``name`` is None for a stranger."""
    return {"photo": str(photo), **asdict(answer), "sentence": answer.sentence}


def _show(rows: list[Row], several: bool) -> None:
    from lightproof.gallery.decision import counted

    names = short_names(rows)
    lines = [
        [
            names[row["photo"]],
            _folded("unknown" if row["name"] is None else harmless(row["name"])),
            f"{row['score']:.2f}",
            counted(row["one_in"]),
            _folded(_next_best(row)),
        ]
        for row in rows
    ]
    show_narrow(TextTable("", ["photo", "who", "score", "1 in", "next best"], lines, _note(rows[0])), left=2)
    without = [names[row["photo"]] for row in rows if not row["with_mesh"]]
    if without:
        which = "" if len(without) == len(rows) else f" ({', '.join(without)})"
        say(f"Compared as it came: {why_no_mesh('no mesh lies on the face')}{which}.")
    if several:
        stdout.print()
        show_remarks((names[row["photo"]], ", ".join(map(_candidate, row["candidates"])) or "nobody") for row in rows)


def _folded(name: str) -> str:
    """Break a long name, so that a terminal has room for the scores; a pipe has room enough."""
    return textwrap.fill(name, NAME_WIDTH) if stdout.is_terminal else name


def _next_best(row: Row) -> str:
    """Name the best match that is not the answer."""
    others = row["candidates"] if row["name"] is None else row["candidates"][1:]
    return _candidate(others[0]) if others else "nobody"


def _candidate(candidate: dict[str, Any]) -> str:
    return f"{harmless(candidate['name'])} {candidate['score']:.2f}"


def _note(row: Row) -> str:
    from lightproof.gallery.decision import counted

    meaning = "1 in: about one in so many strangers would score this well."
    threshold = f"Somebody is named from {row['threshold']:.2f} on, 1 in {counted(1 / row['far'])}."
    usual = "" if row["calibrated"] else " These are default values; lightproof calibrate asks the gallery itself."
    return f"{meaning} {threshold}{usual}"


@command()
def verify(
    photo: Annotated[Path, typer.Argument(metavar="PHOTO", readable=False, help="A photo.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="OTHER", readable=False, help="Another photo, of the same person?")
    ] = None,
    person: Annotated[str | None, typer.Option(metavar="NAME", help="In place of OTHER: somebody enrolled.")] = None,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    far: Far = None,
    json_file: JsonFile = None,
) -> Output:
    """Tell whether two photos show the same person, or whether a photo shows somebody who is enrolled.

    Two photos are compared with each other alone; this needs no gallery.

    Example: lightproof verify passport.jpg door.jpg

    Example: lightproof verify door.jpg --person Ada
    """
    if (other is None) == (person is None):
        raise typer.BadParameter("OTHER or --person NAME must be given, one of the two.")
    check_share("verify", far)
    with _opened_if_needed(gallery, needed=person is not None) as people:
        check_finding(cropped)
        result = people.verify(photo, other, person=person, cropped=cropped, far=far)
    against = {"person": person} if other is None else {"other": str(other)}
    with_whom = harmless(person) if other is None else printable(other.name)
    scores = f"Score {result.score:.2f}; from {result.threshold:.2f} on it is taken for the same person."
    if not result.with_mesh:
        scores += f"\nCompared as they came: {why_no_mesh('not every face has a mesh')}."
    return Output(
        [{"photo": str(photo), **against, **asdict(result), "sentence": result.sentence}],
        show=f"{printable(photo.name)} and {with_whom}\n{result.sentence}\n{scores}",
    )


@contextmanager
def _opened_if_needed(place: str, needed: bool) -> Iterator[Gallery]:
    """Open the gallery; if none is needed, none was named and the usual file is missing, open an empty one."""
    from lightproof.gallery.store import find_place

    file = find_place(place).file
    if needed or place != DEFAULT or file is None or file.exists():
        with opened(place) as gallery:
            yield gallery
    else:
        with TemporaryDirectory() as folder, opened(f"{folder}/empty.gallery", create=True) as gallery:
            yield gallery
