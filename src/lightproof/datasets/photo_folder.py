"""Any folder of photographs or cropped faces, one folder a person: ``name/photo.jpg``."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from lightproof.core.images import bring_to_size
from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import FolderReader, Image, count, files_below
from lightproof.errors import NoFace
from lightproof.imaging.decode import ENDINGS
from lightproof.imaging.detection import FACE_SIZE, AlignedFace, check_size, read_portrait

SMALLEST_SIDE: Final = 16  # a picture with a shorter side shows no face

_ANY = "a folder with a folder of pictures for each person (name/photo.jpg)"
_TWO_OR_MORE = f"{_ANY}, two or more people, at least one of them with two photos"


def load_folder(
    path: str | Path,
    size: tuple[int, int] = FACE_SIZE,
    *,
    cropped: bool = False,
    few: bool = False,
    progress: SizedProgress = iter,
) -> FaceSet:
    """Read a folder of pictures, one folder a person.

    The largest face in each photograph is found and cut out; this needs the extra ``photos``. With ``cropped=True`` the
    pictures are upright faces already, all cropped alike: each is resized to ``size`` as a whole. Color becomes grey.
    Pictures may lie in folders inside a person's folder too. The light is unknown: azimuths and elevations are NaN.
    Files that are not pictures, hidden files, pictures that cannot be read, with a side under 16 pixels, without a face
    or of one even grey are listed in ``skipped``. So are further copies of a person's picture: if one copy is enrolled
    and another is a probe, it is always recognized.

    Parameters
    ----------
    path : str or Path
        The folder that holds the people's folders. Two or more people, at least one of them with two photos, unless
        ``few`` is True.
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
    size = check_size("load_folder", size)
    reader = FolderReader(path, _ANY if few else _TWO_OR_MORE)
    pictures = _list_pictures(reader)
    faces: dict[Path, AlignedFace] = {}
    seen: set[tuple[str, bytes]] = set()
    for i in progress(range(len(pictures))):
        face = _read(reader, pictures[i], size, cropped, seen)
        if face is not None:
            faces[pictures[i]] = face
    labels = [file.relative_to(reader.folder).parts[0] for file in faces]
    people, photos = np.unique(np.array(labels, dtype=np.str_), return_counts=True)
    if not len(people) or not (few or (len(people) > 1 and photos.max() > 1)):
        raise reader.missing(f"{count(len(people), 'person', 'people')} with {count(len(faces), 'photo')} altogether")
    images = {file: face.image for file, face in faces.items()}
    found = reader.face_set("folder", images, labels, [file.stem for file in faces])
    # Of faces that are cut out already, meshes are laid when they are wanted.
    return found if cropped else replace(found, shaped=tuple(face.shaped for face in faces.values()))


def _list_pictures(reader: FolderReader) -> list[Path]:
    """Find the pictures in order of their names, and skip all other files."""
    pictures = []
    for path in files_below(reader.folder):
        parts = path.relative_to(reader.folder).parts
        if any(part.startswith(".") for part in parts):
            reader.skip(path, "hidden")
        elif path.suffix.lower() not in ENDINGS:
            reader.skip(path, "not a picture")
        elif len(parts) < 2:
            reader.skip(path, "not in a person's folder")
        else:
            pictures.append(path)
    return pictures


def _read(
    reader: FolderReader, path: Path, size: tuple[int, int], cropped: bool, seen: set[tuple[str, bytes]]
) -> AlignedFace | None:
    image = reader.read(path)
    if image is None:
        return None
    if min(image.shape) < SMALLEST_SIDE:
        reader.skip(path, f"under {SMALLEST_SIDE} pixels")
        return None
    # The same pixels are a copy in whatever file format.
    pixels = hashlib.sha256(repr(image.shape).encode() + image.tobytes()).digest()
    key = (path.relative_to(reader.folder).parts[0], pixels)
    if key in seen:
        reader.skip(path, "the same picture as another of this person")
        return None
    try:
        portrait = read_portrait(image, cropped=cropped)
    except NoFace:
        reader.skip(path, "without a face that is found")
        return None
    scaled = 255 * bring_to_size([portrait.image], size, np.float64)[0]
    face: Image = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    if face.min() == face.max():
        reader.skip(path, "one even grey")
        return None
    seen.add(key)
    return AlignedFace.found(face, None if cropped else portrait.aligned.shaped)
