"""The Extended Yale Face Database B, cropped.

38 people (yaleB01 to yaleB39 without 14), grey PGM files of 168 x 192 pixels, 64 lights each, of which 18 photos are
marked bad: 2414 photos. The file name gives the light: ``yaleB01_P00A+050E-40.pgm`` is azimuth +50, elevation -40.

A. Georghiades, P. Belhumeur, D. Kriegman, "From Few to Many: Illumination Cone Models for Face Recognition under
Variable Lighting and Pose", PAMI 2001. K.-C. Lee, J. Ho, D. Kriegman, "Acquiring Linear Subspaces for Face
Recognition under Variable Lighting", PAMI 2005.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import Progress, existing_folder, read_or_skip, some
from lightproof.datasets.protocols import YALE_LIGHTS, yale_subset
from lightproof.errors import DatasetMissing
from lightproof.imaging.decode import read_grey

SUBSET_COUNTS: Final = (415, 380, 677, 452, 490)
"""Photos in the training set and in test subsets 1 to 4."""

SHAPE: Final = (192, 168)

PEOPLE: Final = tuple(f"yaleB{i:02d}" for i in range(1, 40) if i != 14)

BAD: Final = {
    "yaleB11": ("A+050E-40", "A+095E+00", "A-050E-40", "A-110E+15"),
    "yaleB12": ("A+050E-40", "A+095E+00", "A-050E-40", "A-110E+15", "A-110E-20"),
    "yaleB13": ("A+050E-40", "A+095E+00", "A-050E-40", "A-110E+15"),
    "yaleB15": ("A-035E+40",),
    "yaleB16": ("A+095E+00", "A-010E+00"),
    "yaleB17": ("A-010E+00",),
    "yaleB18": ("A-010E+00",),
}
"""Photos that were spoiled when they were taken; the distribution marks them ``.bad``."""

_LEGAL = (
    "the CroppedYale folder of the Extended Yale Face Database B (yaleB01 to yaleB39, each with files such as "
    "yaleB01_P00A+000E+00.pgm, given out for research by the vision group of UC San Diego)"
)
_PERSON = re.compile(r"yaleB\d{2}")
_PHOTO = re.compile(r"(?P<person>yaleB\d{2})_P00(?P<shot>A(?P<azimuth>[+-]\d{3})E(?P<elevation>[+-]\d{2}))\.pgm")

_Photo: TypeAlias = tuple[Path, re.Match[str]]


def load_yale_b(folder: str | Path, complete: bool = True, *, progress: Progress = iter) -> FaceSet:
    """Read Extended Yale B from disk.

    ===================  =========
    people               38
    photos               2414
    size                 192 x 168
    training, subset 1   415, 380
    subsets 2, 3, 4      677, 452, 490
    ===================  =========

    Ambient photos, those marked ``.bad``, and files that are not photos are skipped and listed in ``skipped``.

    Parameters
    ----------
    folder : str or Path
        ``CroppedYale``, or the folder it lies in.
    complete : bool, default=True
        Refuse a folder in which photos are missing or cannot be read. False takes what is there and lists photos that
        cannot be read in ``skipped``.
    progress : callable
        Wraps the loop over the photos, to show how far it is.

    Returns
    -------
    FaceSet
        In the order of the file names.
    """
    folder = _find_root(existing_folder(folder, _LEGAL))
    photos, skipped = _list_photos(folder)
    if not photos:
        raise DatasetMissing(folder, _LEGAL, "no photo of that name")
    if complete:
        _check_complete(folder, photos)
    images = np.empty((len(photos), *SHAPE), np.uint8)
    kept: list[_Photo] = []
    for i in progress(range(len(photos))):
        path = photos[i][0]
        image = read_grey(path) if complete else read_or_skip(path, _name(path), skipped)
        if image is not None:
            images[len(kept)] = _of_right_size(image, path)
            kept.append(photos[i])
    if not kept:
        raise DatasetMissing(folder, _LEGAL, f"no photo that can be read; {len(skipped)} left out: {some(skipped, 3)}")
    lights = _lights(kept)
    return FaceSet(
        name="yale",
        images=images[: len(kept)],
        labels=np.array([match["person"] for _, match in kept]),
        azimuths=lights[:, 0].astype(float),
        elevations=lights[:, 1].astype(float),
        files=tuple(_name(path) for path, _ in kept),
        shots=tuple(match["shot"] for _, match in kept),
        skipped=tuple(skipped),
    )


def _find_root(folder: Path) -> Path:
    return folder / "CroppedYale" if (folder / "CroppedYale").is_dir() else folder


def _name(photo: Path) -> str:
    return f"{photo.parent.name}/{photo.name}"


def _list_photos(folder: Path) -> tuple[list[_Photo], list[str]]:
    """Find the photos in order of their names, and say why everything else is left out."""
    photos, skipped = [], []
    for person in sorted(folder.iterdir()):
        if not person.is_dir() or not _PERSON.fullmatch(person.name):
            skipped.append(f"{person.name}: not a person's folder")
            continue
        for path in sorted(person.iterdir()):
            match = _PHOTO.fullmatch(path.name)
            if match and match["person"] == person.name and path.is_file():
                photos.append((path, match))
            else:
                skipped.append(f"{person.name}/{path.name}: {_why_skipped(path.name)}")
    return photos, skipped


def _why_skipped(name: str) -> str:
    if name.endswith(".bad"):
        return "marked bad by its makers"
    return "with ambient light only" if "_Ambient" in name else "not a photo of this person"


def _lights(photos: list[_Photo]) -> NDArray[np.int64]:
    return np.array([(int(match["azimuth"]), int(match["elevation"])) for _, match in photos])


def _of_right_size(image: NDArray[np.uint8], path: Path) -> NDArray[np.uint8]:
    if image.shape != SHAPE:
        legal = f"{SHAPE[0]} x {SHAPE[1]} pixels as in {_LEGAL}"
        raise DatasetMissing(path, legal, f"{image.shape[0]} x {image.shape[1]}")
    return image


def _check_complete(folder: Path, photos: list[_Photo]) -> None:
    taken = {f"{person}/{person}_P00A{a:+04.0f}E{e:+03.0f}.pgm" for person in PEOPLE for a, e in YALE_LIGHTS}
    good = taken - {f"{person}/{person}_P00{light}.pgm" for person, lights in BAD.items() for light in lights}
    found = {_name(path) for path, _ in photos}
    if found == good:
        return
    lights = _lights(photos)
    counts = np.bincount(yale_subset(lights[:, 0], lights[:, 1]), minlength=5)
    got = f"{_slashed(counts.tolist())} photos in the training set and subsets 1-4 instead of {_slashed(SUBSET_COUNTS)}"
    for what, names in (("missing", sorted(good - found)), ("too many", sorted(found - good))):
        got += f"; {len(names)} {what}: {some(names)}" if names else ""
    raise DatasetMissing(folder, f"all of {_LEGAL}", got)


def _slashed(counts: Iterable[int]) -> str:
    return "/".join(map(str, counts))
