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
from typing import Final, TypeAlias

import numpy as np

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import FolderReader, Image, some
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

# fmt: off
YALE_EYES: Final = {
    "yaleB01": (35, 47, 127, 48), "yaleB02": (37, 44, 131, 46), "yaleB03": (33, 39, 128, 39),
    "yaleB04": (38, 47, 132, 48), "yaleB05": (35, 49, 129, 50), "yaleB06": (35, 47, 132, 47),
    "yaleB07": (33, 50, 130, 52), "yaleB08": (35, 41, 131, 41), "yaleB09": (34, 50, 130, 50),
    "yaleB10": (36, 40, 129, 41), "yaleB11": (36, 50, 136, 52), "yaleB12": (33, 41, 128, 42),
    "yaleB13": (45, 37, 142, 41), "yaleB15": (34, 50, 132, 51), "yaleB16": (34, 51, 129, 51),
    "yaleB17": (36, 50, 130, 48), "yaleB18": (30, 38, 132, 40), "yaleB19": (35, 54, 127, 55),
    "yaleB20": (36, 41, 131, 39), "yaleB21": (30, 51, 124, 48), "yaleB22": (34, 41, 130, 45),
    "yaleB23": (38, 45, 134, 44), "yaleB24": (33, 40, 128, 40), "yaleB25": (33, 35, 126, 36),
    "yaleB26": (35, 43, 125, 44), "yaleB27": (37, 54, 130, 54), "yaleB28": (35, 49, 131, 52),
    "yaleB29": (42, 48, 131, 46), "yaleB30": (39, 53, 130, 52), "yaleB31": (36, 48, 130, 50),
    "yaleB32": (39, 47, 131, 48), "yaleB33": (34, 42, 129, 42), "yaleB34": (34, 45, 131, 40),
    "yaleB35": (35, 45, 128, 48), "yaleB36": (36, 48, 129, 46), "yaleB37": (39, 52, 128, 50),
    "yaleB38": (32, 41, 129, 41), "yaleB39": (29, 56, 119, 60),
}
# fmt: on
"""Column and row of the right eye, then of the left: pupils in the crop of 192 x 168 pixels, to about two pixels.

A network for irises marked them in each photo of the training set; this is the median of the eleven, checked by eye.
The crops were not cut by the eyes alone: those of one person lie up to 11 pixels above or below those of another. So a
detector is judged by each person's own eyes.
"""

_LEGAL = (
    "the CroppedYale folder of the Extended Yale Face Database B (yaleB01 to yaleB39, each with files such as "
    "yaleB01_P00A+000E+00.pgm, given out for research by the vision group of UC San Diego)"
)
_PERSON = re.compile(r"yaleB\d{2}")
_PHOTO = re.compile(r"(?P<person>yaleB\d{2})_P00(?P<shot>A(?P<azimuth>[+-]\d{3})E(?P<elevation>[+-]\d{2}))\.pgm")

_YalePhoto: TypeAlias = tuple[Path, re.Match[str]]


def load_yale_b(folder: str | Path, complete: bool = True, *, progress: SizedProgress = iter) -> FaceSet:
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
        Refuse a folder in which photos are missing or cannot be read. False takes the photos that are there, and lists
        those that cannot be read in ``skipped``.
    progress : callable
        Wraps the loop over the photos, to show how far it is.

    Returns
    -------
    FaceSet
        In the order of the file names.
    """
    reader = FolderReader(folder, _LEGAL)
    if (reader.folder / "CroppedYale").is_dir():
        reader.folder /= "CroppedYale"
    photos = _list_photos(reader)
    if not photos:
        raise DatasetMissing(reader.folder, _LEGAL, "no photo of that name")
    if complete:
        _check_complete(reader, photos)
    faces: dict[Path, Image] = {}
    for i in progress(range(len(photos))):
        path, _ = photos[i]
        image = read_grey(path) if complete else reader.read(path)
        if image is not None:
            faces[path] = reader.checked(image, path, SHAPE)
    if not faces:
        raise reader.missing("no photo that can be read")
    kept = [photo for photo in photos if photo[0] in faces]
    labels, shots = [match["person"] for _, match in kept], [match["shot"] for _, match in kept]
    return reader.face_set("yale", faces, labels, shots, [_light(photo) for photo in kept])


def _list_photos(reader: FolderReader) -> list[_YalePhoto]:
    """Find the photos in order of their names, and skip all other files."""
    photos = []
    for person in sorted(reader.folder.iterdir()):
        if not person.is_dir() or not _PERSON.fullmatch(person.name):
            reader.skip(person, "not a person's folder")
            continue
        for path in sorted(person.iterdir()):
            match = _PHOTO.fullmatch(path.name)
            if match and match["person"] == person.name and path.is_file():
                photos.append((path, match))
            elif path.name.endswith(".bad"):
                reader.skip(path, "marked bad by its makers")
            else:
                ambient = "_Ambient" in path.name
                reader.skip(path, "with ambient light only" if ambient else "not a photo of this person")
    return photos


def _light(photo: _YalePhoto) -> tuple[int, int]:
    return int(photo[1]["azimuth"]), int(photo[1]["elevation"])


def _check_complete(reader: FolderReader, photos: list[_YalePhoto]) -> None:
    taken = {f"{person}/{person}_P00A{a:+04.0f}E{e:+03.0f}.pgm" for person in PEOPLE for a, e in YALE_LIGHTS}
    good = taken - {f"{person}/{person}_P00{light}.pgm" for person, lights in BAD.items() for light in lights}
    present = {reader.name(path) for path, _ in photos}
    if present == good:
        return
    counts = np.bincount(yale_subset(*np.array([_light(photo) for photo in photos]).T), minlength=5)
    got, wanted = ("/".join(map(str, numbers)) for numbers in (counts.tolist(), SUBSET_COUNTS))
    got = f"{got} photos in the training set and subsets 1-4 instead of {wanted}"
    for what, names in (("missing", sorted(good - present)), ("too many", sorted(present - good))):
        got += f"; {len(names)} {what}: {some(names)}" if names else ""
    raise DatasetMissing(reader.folder, f"all of {_LEGAL}", got)
