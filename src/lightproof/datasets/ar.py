"""The AR Face Database.

Two sessions of 13 shots each. Used here are 1 and 14 (neutral, light from the front), 5 and 18 (light from the left),
6 and 19 (from the right), 7 and 20 (from both sides). It comes in three forms: the originals (``M-01-05.raw`` or
``M-01-05.raw.jpg``, 768 wide, 576 high), the same as one flat folder (``m-001-05.ppm``), and the warped set of 100
people (``AR_warp_zip/test2/M-001-05.bmp``, 120 wide, 165 high).

A. Martinez, R. Benavente, "The AR Face Database", CVC Technical Report 24, 1998.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import (
    Eyes,
    Progress,
    count,
    crop_or_skip,
    existing_folder,
    files_below,
    parse_eyes,
    read_or_skip,
    some,
)
from lightproof.datasets.protocols.ar import AR_GALLERY, AR_PROBES
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


@dataclass(frozen=True, order=True)
class _Photo:
    person: str
    shot: int
    path: Path


def load_ar(folder: str | Path, complete: bool = True, *, progress: Progress = iter) -> FaceSet:
    """Read the lit shots of the AR Face Database from disk.

    Warped photos are taken as they are. Larger ones are cropped by the eyes, see
    :func:`lightproof.imaging.detection.align_by_eyes`. The byte order of ``.raw`` files is found out from the picture, see
    :func:`lightproof.imaging.decode.read_raw_grey`.

    ====================  =========================
    photos a person       8 (shots 1, 14, 5, 6, 7, 18, 19, 20); other shots are not looked at
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
    folder = existing_folder(folder, _LEGAL)
    photos, eyes, skipped = _list_files(folder)
    if not photos:
        raise DatasetMissing(folder, _LEGAL, "no photo of that name")
    images = _read(folder, photos, eyes, skipped, progress)
    kept = _of_whole_people(images, skipped)
    people = sorted({photo.person for photo in kept})
    warped = any(image.shape == WARPED_SHAPE for image in images.values())
    if len(people) < 2 or (warped and complete and len(people) != WARPED_PEOPLE):
        raise DatasetMissing(folder, _LEGAL, _shortage(len(people), photos, skipped))
    return FaceSet(
        name="ar",
        images=np.stack([images[photo] for photo in kept]),
        labels=np.array([photo.person for photo in kept]),
        azimuths=np.full(len(kept), np.nan),
        elevations=np.full(len(kept), np.nan),
        files=tuple(photo.path.relative_to(folder).as_posix() for photo in kept),
        shots=tuple(str(photo.shot) for photo in kept),
        skipped=tuple(skipped),
    )


def _list_files(folder: Path) -> tuple[list[_Photo], dict[tuple[str, int], list[Path]], list[str]]:
    """Find the photos of the eight shots, the eye files by person and shot, and what is neither."""
    photos: list[_Photo] = []
    eyes: dict[tuple[str, int], list[Path]] = {}
    skipped: list[str] = []
    for path in files_below(folder):
        name = path.name
        if match := _EYES.fullmatch(name):
            eyes.setdefault((_person(match), int(match["shot"])), []).append(path)
        elif not (match := _PHOTO.fullmatch(name)) or not 1 <= int(match["shot"]) <= 26:
            skipped.append(f"{path.relative_to(folder).as_posix()}: not named like a photo of AR")
        elif int(match["shot"]) in SHOTS:
            photos.append(_Photo(_person(match), int(match["shot"]), path))
    return sorted(photos), eyes, skipped


def _person(match: re.Match[str]) -> str:
    # M-01 and m-001 are one person, m-001 and w-001 two; women are W or F.
    return f"{'m' if match['sex'] in 'mM' else 'w'}-{int(match['id']):03d}"


def _read(
    folder: Path,
    photos: list[_Photo],
    eyes: dict[tuple[str, int], list[Path]],
    skipped: list[str],
    progress: Progress,
) -> dict[_Photo, NDArray[np.uint8]]:
    images: dict[_Photo, NDArray[np.uint8]] = {}
    first_of: dict[bool, str] = {}
    done: set[tuple[str, int]] = set()
    for i in progress(range(len(photos))):
        photo = photos[i]
        name = photo.path.relative_to(folder).as_posix()
        if (photo.person, photo.shot) in done:
            skipped.append(f"{name}, shot {photo.shot} of {photo.person}: a second file of the same shot")
            continue
        raw = photo.path.suffix.lower() == ".raw"
        reader = partial(read_raw_grey, height=RAW_SHAPE[0], width=RAW_SHAPE[1]) if raw else read_grey
        image = read_or_skip(photo.path, name, skipped, reader)
        if image is None:
            continue
        warped = image.shape == WARPED_SHAPE
        first_of.setdefault(warped, name)
        if len(first_of) == 2:
            got = f"both: {first_of[True]} is warped, {first_of[False]} is not"
            raise DatasetMissing(folder, f"one form of {_LEGAL}", got)
        face = image if warped else _crop(image, photo, eyes, name, skipped)
        if face is not None:
            images[photo] = face
            done.add((photo.person, photo.shot))
    return images


def _crop(
    image: NDArray[np.uint8], photo: _Photo, eyes: dict[tuple[str, int], list[Path]], name: str, skipped: list[str]
) -> NDArray[np.uint8] | None:
    found = eyes.get((photo.person, photo.shot), [])
    if not found:
        skipped.append(f"{name}: without a .pos file for the eyes")
        return None
    beside = [path for path in found if path.parent == photo.path.parent]
    place = _read_eyes((beside or found)[0], name, skipped)
    return None if place is None else crop_or_skip(image, place, name, skipped)


def _read_eyes(path: Path, name: str, skipped: list[str]) -> Eyes | None:
    try:
        words = path.read_text(encoding="latin-1").split()
    except OSError:
        skipped.append(f"{name}: with a .pos file that cannot be read")
        return None
    place = parse_eyes(words)
    if place is None:
        skipped.append(f"{name}: with a .pos file that is not one line 're_x re_y le_x le_y'")
    return place


def _of_whole_people(images: dict[_Photo, NDArray[np.uint8]], skipped: list[str]) -> list[_Photo]:
    """Keep the people with all eight shots; list the others."""
    shots: dict[str, set[int]] = {}
    for photo in images:
        shots.setdefault(photo.person, set()).add(photo.shot)
    for person, there in shots.items():
        missing = [str(shot) for shot in SHOTS if shot not in there]
        if missing:
            which = f"{'shots' if missing[1:] else 'shot'} {', '.join(missing)}"
            skipped.append(f"{person}, no {which}: without all eight shots")
    return [photo for photo in images if len(shots[photo.person]) == len(SHOTS)]


def _shortage(people: int, photos: list[_Photo], skipped: list[str]) -> str:
    everybody = len({photo.person for photo in photos})
    got = f"{count(len(photos), 'photo')} of {count(everybody, 'person', 'people')}, "
    got += f"{people} of them with all of shots {', '.join(map(str, SHOTS))}"
    return got + (f"; {len(skipped)} left out: {some(skipped, 3)}" if skipped else "")
