"""The Extended Yale Face Database B, cropped.

38 people (yaleB01 to yaleB39 without 14), grey PGM files of 168 x 192 pixels, 64 lights each, of which 18 photos are
marked bad: 2414 photos. The file name gives the light: ``yaleB01_P00A+050E-40.pgm`` is azimuth +50, elevation -40.

A. Georghiades, P. Belhumeur, D. Kriegman, "From Few to Many: Illumination Cone Models for Face Recognition under
Variable Lighting and Pose", PAMI 2001. K.-C. Lee, J. Ho, D. Kriegman, "Acquiring Linear Subspaces for Face
Recognition under Variable Lighting", PAMI 2005.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np

from lightproof.datasets.base import FaceSet
from lightproof.datasets.protocols import YALE_LIGHTS, yale_subset
from lightproof.datasets.reading import Progress, existing_folder, some
from lightproof.errors import DatasetMissing
from lightproof.pixels import read_grey

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
        Refuse a folder in which photos are missing. False takes what is there.
    progress : callable
        Wraps the loop over the photos, to show how far it is.

    Returns
    -------
    FaceSet
        In the order of the file names.
    """
    folder = _find_root(existing_folder(folder, _LEGAL))
    photos, skipped = _list_photos(folder)
    lights = np.array([(int(match["azimuth"]), int(match["elevation"])) for _, match in photos]).reshape(-1, 2)
    if not photos:
        raise DatasetMissing(folder, _LEGAL, "no photo of that name")
    files = tuple(path.relative_to(folder).as_posix() for path, _ in photos)
    if complete:
        counts = np.bincount(yale_subset(lights[:, 0], lights[:, 1]), minlength=5)
        _check_complete(folder, set(files), tuple(counts.tolist()))
    images = np.empty((len(photos), *SHAPE), np.uint8)
    for i in progress(range(len(photos))):
        path = photos[i][0]
        image = read_grey(path)
        if image.shape != SHAPE:
            legal = f"{SHAPE[0]} x {SHAPE[1]} pixels as in {_LEGAL}"
            raise DatasetMissing(path, legal, f"{image.shape[0]} x {image.shape[1]}")
        images[i] = image
    return FaceSet(
        name="yale",
        images=images,
        labels=np.array([match["person"] for _, match in photos]),
        azimuths=lights[:, 0].astype(float),
        elevations=lights[:, 1].astype(float),
        files=files,
        shots=tuple(match["shot"] for _, match in photos),
        skipped=tuple(skipped),
    )


def _find_root(folder: Path) -> Path:
    return folder / "CroppedYale" if (folder / "CroppedYale").is_dir() else folder


def _list_photos(folder: Path) -> tuple[list[tuple[Path, re.Match[str]]], list[str]]:
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


def _check_complete(folder: Path, found: set[str], counts: tuple[int, ...]) -> None:
    taken = {f"{person}/{person}_P00A{a:+04.0f}E{e:+03.0f}.pgm" for person in PEOPLE for a, e in YALE_LIGHTS}
    good = taken - {f"{person}/{person}_P00{light}.pgm" for person, lights in BAD.items() for light in lights}
    if found == good:
        return
    got = f"{_slashed(counts)} photos in the training set and subsets 1-4 instead of {_slashed(SUBSET_COUNTS)}"
    for what, names in (("missing", sorted(good - found)), ("too many", sorted(found - good))):
        got += f"; {len(names)} {what}: {some(names)}" if names else ""
    raise DatasetMissing(folder, f"all of {_LEGAL}", got)


def _slashed(counts: tuple[int, ...]) -> str:
    return "/".join(map(str, counts))
