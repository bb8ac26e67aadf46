"""What every reader of a folder shares: find the files, read them or say why not, crop them by the eyes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.errors import BadImage, BadParameter, DatasetMissing
from lightproof.imaging.decode import read_grey
from lightproof.imaging.detection import align_by_eyes

Progress: TypeAlias = Callable[[Iterable[int]], Iterable[int]]
"""Wraps a loop over positions, to show how far it is."""

Eyes: TypeAlias = tuple[float, float, float, float]
"""x and y of the eye on the left of the picture (the subject's right), then of the other one."""


def existing_folder(folder: str | Path, legal: str) -> Path:
    """Return the folder, or say what it should be."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DatasetMissing(folder, legal, "no such folder" if not folder.exists() else "a file")
    return folder


def files_below(folder: Path) -> list[Path]:
    """Return every file in a folder and the folders in it, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def lines_of(path: Path) -> list[str] | None:
    """Return the lines of a text file, or None where there is none."""
    try:
        return path.read_text(encoding="latin-1").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_or_skip(
    path: Path, name: str, skipped: list[str], read: Callable[[Path], NDArray[np.uint8]] = read_grey
) -> NDArray[np.uint8] | None:
    """Read a picture; note it in ``skipped`` and return None where that is impossible."""
    try:
        return read(path)
    except BadImage:
        skipped.append(f"{name}: not a readable picture")
        return None


def crop_or_skip(image: NDArray[np.uint8], eyes: Eyes, name: str, skipped: list[str]) -> NDArray[np.uint8] | None:
    """Crop a photo by its eyes; note it in ``skipped`` and return None where they cannot be eyes."""
    try:
        return align_by_eyes(image, eyes[:2], eyes[2:])
    except BadParameter:
        where = f"{_numbers(eyes)} in {image.shape[0]} x {image.shape[1]} pixels"
        skipped.append(f"{name}, {where}: with impossible eyes")
        return None


def parse_eyes(words: Sequence[str]) -> Eyes | None:
    """Read four numbers; None for anything else."""
    try:
        right_x, right_y, left_x, left_y = map(float, words)
    except ValueError:
        return None
    return right_x, right_y, left_x, left_y


def count(number: int, noun: str, plural: str = "") -> str:
    """Say how many: "1 photo", "2 photos"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def some(names: Sequence[str], shown: int = 6) -> str:
    """List the first few names."""
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if len(names) > shown else "")


def _numbers(eyes: Eyes) -> str:
    return " ".join(f"{number:g}" for number in eyes)
