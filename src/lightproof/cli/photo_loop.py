"""What the commands for photographs share: the loop over them, the names of new pictures, rows for machines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from lightproof.cli.command import Output
from lightproof.cli.console import bar, complain, make_folder, printable
from lightproof.core.atomic import whole_file
from lightproof.errors import CannotWrite, MissingExtra, UserError

if TYPE_CHECKING:
    from lightproof.imaging.detection import Face

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
    except Exception as problem:  # a broken runtime raises almost any error
        first_line = printable(str(problem).partition("\n")[0])
        raise UserError(f"The networks that find faces must run; got: {first_line} (see: lightproof doctor).") from None


def check_finding(cropped: bool) -> None:
    """Refuse photographs if no faces can be found; pictures that are faces already need nothing."""
    if not cropped:
        check_detector(", or give --cropped where the pictures are faces already")


def why_no_mesh(otherwise: str) -> str:
    """Say why there is no mesh: the extra is missing, or ``otherwise``."""
    try:
        check_detector()
    except UserError:
        return "a mesh needs the extra photos (pip install 'lightproof[photos]')"
    return otherwise


def each_photo(photos: Sequence[Path], work: Callable[[Path, str], list[Row]], title: str) -> list[Row]:
    """Do the work on every photo, under a name of its own; report a bad photo on stderr and go on."""
    rows: list[Row] = []
    for photo, name in bar(title)(list(zip(photos, own_names(photos), strict=True))):
        try:
            rows += work(photo, name)
        except UserError as mistake:
            rows.append(refused(photo, str(mistake)))
    return rows


def refused(photo: Path, problem: str) -> Row:
    """Say on stderr why a photo was refused, and return the row that says so."""
    name, sentence = printable(str(photo)), printable(problem)
    if not sentence.startswith(name[:100]):  # the start of a long name is enough
        sentence = f"{name}: {sentence}"
    complain(sentence)
    return {"photo": str(photo), "error": sentence}


def output_of(rows: list[Row], show: Callable[[list[Row]], None]) -> Output:
    """Show the photos that were taken; end with exit code 1 if any was refused."""
    taken = [row for row in rows if "error" not in row]
    return Output(rows, show=lambda: show(taken) if taken else None, failed=len(taken) < len(rows))


def own_names(photos: Iterable[Path]) -> list[str]:
    """Names of the photos without folder and ending; a second photo of the same name gets -2, a third one -3."""
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
    """What a table calls each photo: its file's name, or the whole path if two files have the same name."""
    paths = list(dict.fromkeys(row["photo"] for row in rows))
    count = Counter(Path(path).name for path in paths)
    return {path: printable(Path(path).name if count[Path(path).name] == 1 else path) for path in paths}


def face_place(face: Face | None, n_faces: int) -> Row:
    """The place of a face in its photo, for machines; all None for a picture that was a face already."""
    if face is None:
        return {"look": None, "score": None, "right_eye": None, "left_eye": None, "faces": None}
    eyes = {"right_eye": list(face.right_eye), "left_eye": list(face.left_eye)}
    return {"look": face.look, "score": face.score, **eyes, "faces": n_faces}


class PictureFolder:
    """A folder for new pictures: whole files, none written over unless forced, and never one of the photos."""

    def __init__(self, folder: Path, photos: Iterable[Path], force: bool) -> None:
        make_folder(folder)
        try:
            TemporaryFile(dir=folder).close()
        except OSError as problem:
            raise CannotWrite(folder, problem) from None
        self.folder = folder
        self.force = force
        self._photos = {os.path.realpath(photo) for photo in photos}

    def place(self, name: str) -> Path:
        """Return where a picture of this name goes, or say why it cannot."""
        path = self.folder / f"{name}.png"
        if os.path.realpath(path) in self._photos:
            raise CannotWrite(path, OSError("one of the photos themselves"))
        check_free(path, self.force)
        return path

    def write(self, path: Path, picture: bytes) -> None:
        """Write a picture, whole or not at all."""
        with whole_file(path) as file:
            file.write(picture)


def check_free(path: Path, force: bool) -> None:
    """Refuse to write over a file that is there already, unless forced."""
    if os.path.lexists(path) and not force:
        raise CannotWrite(path, OSError("a file that is there already (--force writes over it)"))
