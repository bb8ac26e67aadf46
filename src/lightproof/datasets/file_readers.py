"""What all readers of a folder share: they list its files, read photos or note why not, and crop them by the eyes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.face_set import FaceSet
from lightproof.errors import BadImage, BadParameter, DatasetMissing
from lightproof.imaging.decode import read_grey
from lightproof.imaging.detection import align_by_eyes

Image: TypeAlias = NDArray[np.uint8]

Eyes: TypeAlias = tuple[float, float, float, float]
"""x and y of the eye on the left of the picture (the subject's right), then of the other one."""


class FolderReader:
    """Reads the photos of a folder that should hold what ``legal`` says; ``skipped`` lists what it leaves out."""

    def __init__(self, folder: str | Path, legal: str) -> None:
        self.folder, self.legal, self.skipped = Path(folder), legal, list[str]()
        if not self.folder.is_dir():
            raise self.missing("a file" if self.folder.exists() else "no such folder")

    def name(self, path: Path) -> str:
        """Return the path of a file below the folder."""
        return path.relative_to(self.folder).as_posix()

    def skip(self, file: Path | str, reason: str) -> None:
        """Leave out a file, a person or a line of a file."""
        self.skipped.append(f"{self.name(file) if isinstance(file, Path) else file}: {reason}")

    def missing(self, got: str) -> DatasetMissing:
        """Return the error for a folder that is not the data set."""
        left_out = f"; {len(self.skipped)} left out: {some(self.skipped, 3)}" if self.skipped else ""
        return DatasetMissing(self.folder, self.legal, got + left_out)

    def read(self, path: Path, decode: Callable[[Path], Image] = read_grey) -> Image | None:
        """Read a picture; skip it and return None if that is impossible."""
        try:
            return decode(path)
        except BadImage:
            self.skip(path, "not a readable picture")
            return None

    def checked(self, image: Image, path: Path, shape: tuple[int, int]) -> Image:
        """Return a picture of this shape, and refuse any other."""
        if image.shape != shape:
            legal = f"{shape[0]} x {shape[1]} pixels as in {self.legal}"
            raise DatasetMissing(path, legal, f"{image.shape[0]} x {image.shape[1]}")
        return image

    def crop(self, image: Image, eyes: Eyes, path: Path) -> Image | None:
        """Crop a photo by its eyes; skip it and return None if they cannot be eyes."""
        try:
            return align_by_eyes(image, eyes[:2], eyes[2:])
        except BadParameter:
            numbers, (height, width) = " ".join(f"{number:g}" for number in eyes), image.shape
            self.skip(f"{self.name(path)}, {numbers} in {height} x {width} pixels", "with impossible eyes")
            return None

    def face_set(
        self,
        name: str,
        faces: Mapping[Path, Image],
        labels: Sequence[str],
        shots: Sequence[str],
        lights: Sequence[tuple[float, float]] = (),
    ) -> FaceSet:
        """Put the faces together; without ``lights`` their directions are unknown."""
        known = np.array(lights, float) if lights else np.full((len(faces), 2), np.nan)
        return FaceSet(
            name=name,
            images=np.stack(list(faces.values())),
            labels=np.array(labels),
            azimuths=known[:, 0].copy(),
            elevations=known[:, 1].copy(),
            files=tuple(map(self.name, faces)),
            shots=tuple(shots),
            skipped=tuple(self.skipped),
        )


def files_below(folder: Path) -> list[Path]:
    """Return every file in a folder and the folders in it, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def parse_eyes(words: Sequence[str]) -> Eyes | None:
    """Read four numbers; None for anything else."""
    try:
        right_x, right_y, left_x, left_y = map(float, words)
    except ValueError:
        return None
    return right_x, right_y, left_x, left_y


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: "1 photo", "2 photos"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def some(names: Sequence[str], shown: int = 6) -> str:
    """List the first few names."""
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if len(names) > shown else "")
