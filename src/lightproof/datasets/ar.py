"""The AR Face Database.

Two sessions of 13 shots each. Used here are 1 and 14 (neutral, light from the front), 5 and 18 (light from the left),
6 and 19 (from the right), 7 and 20 (from both sides). It comes in three forms: the originals (``M-01-05.raw`` or
``M-01-05.raw.jpg``, 768 wide, 576 high), the same as one flat folder (``m-001-05.ppm``), and the warped set of 100
people (``AR_warp_zip/test2/M-001-05.bmp``, 120 wide, 165 high).

A. Martinez, R. Benavente, "The AR Face Database", CVC Technical Report 24, 1998.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import FolderReader, Image, count, files_below, parse_eyes
from lightproof.datasets.protocols import AR_GALLERY, AR_PROBES
from lightproof.errors import DatasetMissing
from lightproof.imaging.decode import read_grey, read_raw_grey

SHOTS: Final = tuple(sorted(int(shot) for shots in (AR_GALLERY, *AR_PROBES.values()) for shot in shots))
"""The eight shots that are read."""

WARPED_SHAPE: Final = (165, 120)
WARPED_PEOPLE: Final = 100
RAW_SHAPE: Final = (576, 768)

_LEGAL = (
    "the AR Face Database: either the warped set (100 people, files such as AR_warp_zip/test2/M-001-05.bmp, 120 wide "
    "and 165 high), or the originals (files such as M-01-05.raw, M-01-05.raw.jpg or m-001-05.ppm, 768 wide and 576 "
    "high) and for each photo its eyes (a file such as M-01-05.pos with the line 're_x re_y le_x le_y', beside it or "
    "in any folder below); given out for research on request by Aleix Martinez, Ohio State University"
)
_NAME = r"(?P<sex>[mwf])-(?P<id>\d{2,3})-(?P<shot>\d{1,2})"
_PHOTO = re.compile(rf"{_NAME}(?:\.(?P<ending>raw\.jpe?g|raw|bmp|ppm|pgm|jpe?g|png|tiff?))?", re.IGNORECASE)
_EYES = re.compile(rf"{_NAME}(?:\.raw)?\.pos", re.IGNORECASE)


class _ARPhoto(NamedTuple):
    person: str
    shot: int
    path: Path


_EyeFiles = dict[tuple[str, int], list[Path]]  # by person and shot


def load_ar(folder: str | Path, complete: bool = True, *, progress: SizedProgress = iter) -> FaceSet:
    """Read the lit shots of the AR Face Database from disk.

    Warped photos are taken as they are. Larger ones are cropped by the eyes, see
    :func:`lightproof.imaging.detection.align_by_eyes`. The picture itself tells the byte order of ``.raw`` files, see
    :func:`lightproof.imaging.decode.read_raw_grey`.

    ====================  =========================
    photos a person       8 (shots 1, 14, 5, 6, 7, 18, 19, 20); other shots are ignored
    warped set            100 people, 165 x 120
    originals             all people with these eight shots, 192 x 168
    light                 azimuths and elevations are NaN: only the side is known
    ====================  =========================

    Files that are not photos, photos that cannot be read or have no eyes, and people who lack one of the eight shots
    are left out and listed in ``skipped``.

    Parameters
    ----------
    folder : str or Path
        Where the photos lie, in whatever folders below.
    complete : bool, default=True
        Refuse a warped set with other than 100 people. The originals have no official number of people with all
        eight shots; two or more are taken either way.
    progress : callable
        Wraps the loop over the photos, to show how far it is.

    Returns
    -------
    FaceSet
        Ordered by person, "m-001" or "w-001" (women; some copies write F), then by shot.
    """
    reader = FolderReader(folder, _LEGAL)
    photos, eyes = _list_files(reader)
    if not photos:
        raise DatasetMissing(reader.folder, _LEGAL, "no photo of that name")
    images = _read(reader, photos, eyes, progress)
    kept = _of_whole_people(reader, list(images))
    n_people = len({photo.person for photo in kept})
    warped = any(image.shape == WARPED_SHAPE for image in images.values())
    if n_people < 2 or (warped and complete and n_people != WARPED_PEOPLE):
        everybody = len({photo.person for photo in photos})
        got = f"{count(len(photos), 'photo')} of {count(everybody, 'person', 'people')}, "
        raise reader.missing(got + f"{n_people} of them with all of shots {', '.join(map(str, SHOTS))}")
    faces = {photo.path: images[photo] for photo in kept}
    return reader.face_set("ar", faces, [photo.person for photo in kept], [str(photo.shot) for photo in kept])


def _list_files(reader: FolderReader) -> tuple[list[_ARPhoto], _EyeFiles]:
    """Find the photos of the eight shots and the eye files, and skip all other files."""
    photos: list[_ARPhoto] = []
    eyes: _EyeFiles = {}
    for path in files_below(reader.folder):
        if match := _EYES.fullmatch(path.name):
            eyes.setdefault((_person(match), int(match["shot"])), []).append(path)
        elif not (match := _PHOTO.fullmatch(path.name)) or not 1 <= int(match["shot"]) <= 26:
            reader.skip(path, "not named like a photo of AR")
        elif int(match["shot"]) in SHOTS:
            photos.append(_ARPhoto(_person(match), int(match["shot"]), path))
    return sorted(photos), eyes


def _person(match: re.Match[str]) -> str:
    # M-01 and m-001 are one person, m-001 and w-001 two; women are W or F.
    return f"{'m' if match['sex'] in 'mM' else 'w'}-{int(match['id']):03d}"


def _read(
    reader: FolderReader, photos: list[_ARPhoto], eyes: _EyeFiles, progress: SizedProgress
) -> dict[_ARPhoto, Image]:
    images: dict[_ARPhoto, Image] = {}
    first_of: dict[bool, str] = {}
    done: set[tuple[str, int]] = set()
    for i in progress(range(len(photos))):
        person, shot, path = photos[i]
        name = reader.name(path)
        if (person, shot) in done:
            reader.skip(f"{name}, shot {shot} of {person}", "a second file of the same shot")
            continue
        raw = path.suffix.lower() == ".raw"
        image = reader.read(path, partial(read_raw_grey, height=RAW_SHAPE[0], width=RAW_SHAPE[1]) if raw else read_grey)
        if image is None:
            continue
        warped = image.shape == WARPED_SHAPE
        first_of.setdefault(warped, name)
        if len(first_of) == 2:
            got = f"both: {first_of[True]} is warped, {first_of[False]} is not"
            raise DatasetMissing(reader.folder, f"one form of {_LEGAL}", got)
        face = image if warped else _crop(reader, image, photos[i], eyes)
        if face is not None:
            images[photos[i]] = face
            done.add((person, shot))
    return images


def _crop(reader: FolderReader, image: Image, photo: _ARPhoto, eyes: _EyeFiles) -> Image | None:
    files = eyes.get((photo.person, photo.shot), [])
    if not files:
        reader.skip(photo.path, "without a .pos file for the eyes")
        return None
    beside = [path for path in files if path.parent == photo.path.parent]
    try:
        positions = parse_eyes((beside or files)[0].read_text(encoding="latin-1").split())
    except OSError:
        reader.skip(photo.path, "with a .pos file that cannot be read")
        return None
    if positions is None:
        reader.skip(photo.path, "with a .pos file that is not one line 're_x re_y le_x le_y'")
        return None
    return reader.crop(image, positions, photo.path)


def _of_whole_people(reader: FolderReader, photos: list[_ARPhoto]) -> list[_ARPhoto]:
    """Keep the people with all eight shots, and skip the others."""
    shots: dict[str, set[int]] = {}
    for photo in photos:
        shots.setdefault(photo.person, set()).add(photo.shot)
    for person, present in shots.items():
        if missing := [str(shot) for shot in SHOTS if shot not in present]:
            which = f"{'shots' if missing[1:] else 'shot'} {', '.join(missing)}"
            reader.skip(f"{person}, no {which}", "without all eight shots")
    return [photo for photo in photos if len(shots[photo.person]) == len(SHOTS)]
