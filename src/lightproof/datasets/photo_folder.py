"""Any folder of photographs or cropped faces, one folder a person: ``name/photo.jpg``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightproof.core.images import bring_to_size
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import Progress, count, existing_folder, files_below, read_or_skip, some
from lightproof.errors import DatasetMissing, NoFace
from lightproof.imaging.decode import ENDINGS
from lightproof.imaging.detection import FACE_SIZE, check_size, read_portrait

SMALLEST_SIDE: Final = 16
"""A picture with a shorter side shows no face."""

_FEW = "a folder with a folder of pictures for each person (name/photo.jpg)"
_LEGAL = f"{_FEW}, two or more people, at least one of them with two photos"


def load_folder(
    path: str | Path,
    size: tuple[int, int] = FACE_SIZE,
    *,
    cropped: bool = False,
    few: bool = False,
    progress: Progress = iter,
) -> FaceSet:
    """Read a folder of pictures, one folder a person.

    In each photograph the face is looked for, the largest if there are several, and cut out; this needs the extra
    ``photos``. Pictures that are faces already, upright and cropped alike, are taken as they are with ``cropped=True``:
    nothing is looked for, each is resized to ``size`` as a whole. Color becomes grey. Pictures may lie in folders
    inside a person's folder too. Where the light stood is unknown: azimuths and elevations are NaN. Files that are not
    pictures, hidden files, pictures that cannot be read, those with a side under 16 pixels, without a face or of one
    even grey are listed in ``skipped``. So are further copies of a person's picture: enrolled and asked about at once,
    a picture would always be recognized.

    Parameters
    ----------
    path : str or Path
        The folder that holds the people's folders. Two or more people, at least one of them with two photos, unless
        ``few`` is said.
    size : tuple of int
        Height and width to bring all faces to, at least 16 each.
    cropped : bool
        Whether the pictures are faces already.
    few : bool
        Whether a single photo is enough, as for questions to a gallery.
    progress : callable
        Wraps the loop over the pictures, to show how far it is.

    Returns
    -------
    FaceSet
        In the order of the file names.
    """
    height, width = check_size("load_folder", size)
    legal = _FEW if few else _LEGAL
    folder = existing_folder(path, legal)
    pictures, skipped = _list_pictures(folder)
    faces: dict[Path, NDArray[np.uint8]] = {}
    seen: set[tuple[str, bytes]] = set()
    for i in progress(range(len(pictures))):
        face = _read(pictures[i], folder, partial(_face, size=(height, width), cropped=cropped), seen, skipped)
        if face is not None:
            faces[pictures[i]] = face
    files = [picture.relative_to(folder) for picture in faces]
    people, photos = np.unique(np.array([file.parts[0] for file in files], dtype=np.str_), return_counts=True)
    if not len(people) or not (few or (len(people) > 1 and photos.max() > 1)):
        got = f"{count(len(people), 'person', 'people')} with {count(len(files), 'photo')} altogether"
        left_out = f"; {len(skipped)} left out: {some(skipped, 3)}" if skipped else ""
        raise DatasetMissing(folder, legal, got + left_out)
    return FaceSet(
        name="folder",
        images=np.stack(list(faces.values())),
        labels=np.array([file.parts[0] for file in files]),
        azimuths=np.full(len(files), np.nan),
        elevations=np.full(len(files), np.nan),
        files=tuple(file.as_posix() for file in files),
        shots=tuple(file.stem for file in files),
        skipped=tuple(skipped),
    )


def _list_pictures(folder: Path) -> tuple[list[Path], list[str]]:
    """Find the pictures in order of their names, and say why everything else is left out."""
    pictures, skipped = [], []
    for path in files_below(folder):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            skipped.append(f"{name.as_posix()}: hidden")
        elif path.suffix.lower() not in ENDINGS:
            skipped.append(f"{name.as_posix()}: not a picture")
        elif len(name.parts) < 2:
            skipped.append(f"{name.as_posix()}: not in a person's folder")
        else:
            pictures.append(path)
    return pictures, skipped


def _read(
    path: Path,
    folder: Path,
    face_of: Callable[[NDArray[np.uint8]], NDArray[np.uint8] | None],
    seen: set[tuple[str, bytes]],
    skipped: list[str],
) -> NDArray[np.uint8] | None:
    file = path.relative_to(folder)
    name = file.as_posix()
    image = read_or_skip(path, name, skipped)
    if image is None:
        return None
    if min(image.shape) < SMALLEST_SIDE:
        skipped.append(f"{name}: under {SMALLEST_SIDE} pixels")
        return None
    key = (file.parts[0], _fingerprint(image))
    if key in seen:
        skipped.append(f"{name}: the same picture as another of this person")
        return None
    face = face_of(image)
    if face is None or face.min() == face.max():
        skipped.append(f"{name}: {'without a face that is found' if face is None else 'one even grey'}")
        return None
    seen.add(key)
    return face


def _face(image: NDArray[np.uint8], size: tuple[int, int], cropped: bool) -> NDArray[np.uint8] | None:
    """Return the face in a picture, in one size; None where there is none."""
    try:
        face = read_portrait(image, cropped=cropped).image
    except NoFace:
        return None
    scaled = 255 * bring_to_size([face], size, np.float64)[0]
    whole: NDArray[np.uint8] = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    return whole


def _fingerprint(image: NDArray[np.uint8]) -> bytes:
    """Sum a picture up, so that copies are found whatever file format they are in."""
    return hashlib.sha256(repr(image.shape).encode() + image.tobytes()).digest()
