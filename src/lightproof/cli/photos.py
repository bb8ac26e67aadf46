"""What the commands for photographs share: the loop over them, the names of what is written, rows for machines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from lightproof.cli.console import bar, check_album, complain, printable
from lightproof.core.atomic import whole_file
from lightproof.errors import CannotWrite, MissingExtra, UserError

if TYPE_CHECKING:
    from lightproof.imaging.detection import Face

EXIT_CODES: Final = (
    "Exit codes: 0 every photo was taken; 1 a photo was refused, or nothing could be done, each with a sentence on "
    "stderr; 2 a wrong call; 130 stopped by Ctrl-C."
)

Row = dict[str, Any]
"""What is known about one photo, for machines; of a refused one ``photo`` and ``error``."""


def check_detector(otherwise: str = "") -> None:
    """Refuse to look for faces without what it takes, before the first photo is read.

    ``otherwise`` is the end of the sentence: what can be done instead.
    """
    import numpy as np

    from lightproof.imaging.detection.face_networks import SIDE, guess_faces

    try:
        guess_faces(np.zeros((SIDE, SIDE)))
    except MissingExtra as mistake:
        raise UserError(f"{str(mistake).removesuffix('.')}{otherwise}.") from None
    except Exception as problem:  # a broken runtime meets us with almost any error
        said = printable(str(problem).partition("\n")[0])
        raise UserError(f"The networks that find faces must run; got: {said} (see: lightproof doctor).") from None


def check_finding(cropped: bool) -> None:
    """Refuse photographs where no faces can be found; pictures that are faces already need nothing."""
    if not cropped:
        check_detector(", or give --cropped where the pictures are faces already")


def each_photo(photos: Sequence[Path], work: Callable[[Path, str], list[Row]], title: str) -> list[Row]:
    """Do the work on every photo, under a name of its own; a bad one is a line on stderr and the next one's turn."""
    rows: list[Row] = []
    for photo, name in bar(title)(list(zip(photos, own_names(photos), strict=True))):
        try:
            rows += work(photo, name)
        except UserError as mistake:
            rows.append(refused(photo, str(mistake)))
    return rows


def refused(photo: Path, problem: str) -> Row:
    """Say on stderr why a photo was refused, and write it down."""
    sentence = _about(photo, problem)
    complain(sentence)
    return {"photo": str(photo), "error": sentence}


def _about(photo: Path, sentence: str) -> str:
    """Make sure that a sentence tells the photo; the start of its name is enough."""
    name, sentence = printable(str(photo)), printable(sentence)
    return sentence if sentence.startswith(name[:100]) else f"{name}: {sentence}"


def taken(rows: Iterable[Row]) -> list[Row]:
    """Leave out the photos that were refused."""
    return [row for row in rows if "error" not in row]


def end(rows: Iterable[Row]) -> None:
    """Leave with exit code 1 if any photo was refused."""
    if any("error" in row for row in rows):
        raise typer.Exit(1)


def own_names(photos: Iterable[Path]) -> list[str]:
    """Names of the photos without folder and ending; what is there twice gets -2, -3."""
    names: list[str] = []
    used: set[str] = set()
    tried: Counter[str] = Counter()
    for photo in photos:
        name = photo.stem
        # Some file systems take A and a for the same.
        while name.casefold() in used:
            tried[photo.stem] += 1
            name = f"{photo.stem}-{tried[photo.stem] + 1}"
        used.add(name.casefold())
        names.append(name)
    return names


def short_names(rows: Iterable[Row]) -> dict[str, str]:
    """What a table calls each photo: its file's name, or the whole path where two files have the same."""
    paths = list(dict.fromkeys(row["photo"] for row in rows))
    count = Counter(Path(path).name for path in paths)
    return {path: printable(Path(path).name if count[Path(path).name] == 1 else path) for path in paths}


def where_found(face: Face | None, n_faces: int) -> Row:
    """What is known about the place of a face; all None for a picture that was a face already."""
    if face is None:
        return {"look": None, "score": None, "right_eye": None, "left_eye": None, "faces": None}
    eyes = {"right_eye": list(face.right_eye), "left_eye": list(face.left_eye)}
    return {"look": face.look, "score": face.score, **eyes, "faces": n_faces}


class Album:
    """A folder for new pictures: whole files, none written over unless forced, and never one of the photos."""

    def __init__(self, folder: Path, photos: Iterable[Path], force: bool) -> None:
        check_album(folder)
        self.folder = folder
        self.force = force
        self._photos = {os.path.realpath(photo) for photo in photos}

    def place(self, name: str) -> Path:
        """Return where a picture of this name goes, or say why it cannot."""
        path = self.folder / f"{name}.png"
        if os.path.realpath(path) in self._photos:
            raise CannotWrite(path, OSError("one of the photos themselves"))
        if os.path.lexists(path) and not self.force:
            raise CannotWrite(path, OSError("a file that is there already (--force writes over it)"))
        return path

    def write(self, path: Path, picture: bytes) -> None:
        """Write a picture, whole or not at all."""
        with whole_file(path) as file:
            file.write(picture)
