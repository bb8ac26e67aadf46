"""CAS-PEAL-R1, the Chinese Academy of Sciences' faces under lamps.

One normal photo a person (``FRONTAL/Normal``) and photos under a lamp (``FRONTAL/Lighting``), grey TIFF files of 360 x
480 pixels. The file name gives the light: in ``FY_000001_IFM+45_PM+00_EN_A0_D0_T0_BB_M0_R1_S0.tif`` the field
``IFM+45`` is a fluorescent lamp at elevation 0 (U is +45, M 0, D -45), azimuth +45; L is an incandescent one, E the
light of the room. ``FaceFP_2.txt`` in each folder gives the eyes.

W. Gao et al., "The CAS-PEAL Large-Scale Chinese Face Database and Baseline Evaluations", IEEE Transactions on Systems,
Man, and Cybernetics A, 2008.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import Eyes, FolderReader, Image, count, files_below, parse_eyes
from lightproof.errors import BadParameter, DatasetMissing

PEOPLE: Final = 233  # with photos under a lamp
LIT_PHOTOS: Final = 2243  # in the official list of lit probes
ELEVATIONS: Final = {"U": 45.0, "M": 0.0, "D": -45.0}
EYE_FILE: Final = "FaceFP_2.txt"

LISTS: Final = {
    "Normal": "Evaluation Prototype/Gallery/Gallery.txt",
    "Lighting": "Evaluation Prototype/Probe Sets/Probe Set_Lighting.txt",
}
"""The official lists: which photos of a folder are meant."""

_LEGAL = (
    "the CAS-PEAL-R1 face database: FRONTAL/Normal and FRONTAL/Lighting, each with photos such as "
    "FY_000001_IFM+45_PM+00_EN_A0_D0_T0_BB_M0_R1_S0.tif and the eyes in FaceFP_2.txt, and, if there, the lists in "
    "Evaluation Prototype; given out for research on a signed agreement by the ICT-ISVISION Joint R&D Laboratory for "
    "Face Recognition, Chinese Academy of Sciences"
)
# The last field but one is R for privacy, and D in at least one file.
_PHOTO = re.compile(
    r"(?P<before>[FM][YMO]_(?P<person>\d{6})"
    r"_(?P<shot>I(?P<source>[EFL])(?P<elevation>[UMD])(?P<azimuth>[+-](?:00|45|90)))"
    r"_PM[+-]00_E[NLFSCO]_A[0-6]_D[0-2]_T(?P<session>[0-2])_B[BRDYW]_M\d+)"
    r"_[A-Z](?P<after>\d_S\d+)(?:\.(?:tiff?|jpe?g|bmp|png))?",
    re.IGNORECASE,
)


class _PealPhoto(NamedTuple):
    path: Path
    key: str
    person: str
    shot: str
    source: str
    azimuth: float
    elevation: float
    session: str


def load_cas_peal(
    folder: str | Path, sources: Iterable[str] = ("F", "L"), complete: bool = True, *, progress: SizedProgress = iter
) -> FaceSet:
    """Read the normal and the lit photos of CAS-PEAL-R1 from disk, cropped by the eyes.

    =====================  =========================
    people                 233, those with a normal and a lit photo
    normal photos          one a person, shot "IEU+00"; of several the one of the earliest session, then name
    lit photos             shots such as "IFM+45"; azimuths 0, -45, 45, -90, 90, elevations -45, 0, 45
    size                   192 x 168, see :func:`lightproof.imaging.detection.align_by_eyes`
    =====================  =========================

    The official lists say which photos are meant; without them, all photos of the folders are. Folders of copies in
    another format are read too (``NormalJPG``); the first folder in the order of names counts. The sign of the azimuth
    is that of the file name. Photos that cannot be read, have no eyes or are not in the list, and files that are not
    photos, are listed in ``skipped``. A list that cannot be read is refused.

    Parameters
    ----------
    folder : str or Path
        ``CAS-PEAL-R1``, its ``FRONTAL``, or the folder it lies in.
    sources : iterable of str
        Which lamps: "F" fluorescent, "L" incandescent, or both. The paper does not say which it took.
    complete : bool, default=True
        With both lamps, refuse a folder in which photos are missing: all 2243 of the list of lit probes must be
        there, or, without the list, at least as many and all 233 people. How many there should be for one lamp or one
        azimuth is not known. False takes what is there.
    progress : callable
        Wraps the loop over the photos, to show how far it is.

    Returns
    -------
    FaceSet
        Ordered by person, the normal photo first, then by file name.
    """
    lamps = _checked_sources(sources)
    reader = FolderReader(folder, _LEGAL)
    frontal = _find_frontal(reader.folder)
    reader.folder = frontal.parent
    by_kind, eyes = {}, dict[str, Eyes]()
    for kind in LISTS:
        by_kind[kind] = _list_photos(reader, frontal, kind)
        eyes.update(_read_eyes(reader, frontal, kind))
    normal = _one_normal_each(reader, by_kind["Normal"])
    lit = [photo for photo in by_kind["Lighting"] if photo.source in lamps and photo.person in normal]
    people = sorted({photo.person for photo in lit})
    if len(people) < 2 or (complete and len(lamps) == 2 and not _complete(reader, people, lit)):
        raise reader.missing(_counts(people, lit))
    photos = [photo for person in people for photo in [normal[person], *(p for p in lit if p.person == person)]]
    images = _read(reader, photos, eyes, progress)
    kept = _of_whole_people(reader, [photo for photo in photos if photo.path in images], people)
    if len({photo.person for photo in kept}) < 2:
        raise reader.missing(_counts([], []))
    faces = {photo.path: images[photo.path] for photo in kept}
    labels, shots = [photo.person for photo in kept], [photo.shot for photo in kept]
    return reader.face_set("cas-peal", faces, labels, shots, [(photo.azimuth, photo.elevation) for photo in kept])


def _checked_sources(sources: Iterable[str]) -> set[str]:
    try:
        lamps = set(sources)
    except TypeError:
        lamps = set()
    if not lamps or lamps - {"F", "L"}:
        raise BadParameter("load_cas_peal", "sources", "'F' (fluorescent), 'L' (incandescent) or both", sources)
    return lamps


def _find_frontal(folder: Path) -> Path:
    """Return the FRONTAL folder: this one, one in it, or one in the CAS-PEAL-R1 in it."""
    for frontal in (folder, folder / "FRONTAL", folder / "CAS-PEAL-R1" / "FRONTAL"):
        if all(_folders(frontal, kind) for kind in LISTS):
            return frontal.absolute()
    raise DatasetMissing(folder, _LEGAL, "no FRONTAL/Normal or no FRONTAL/Lighting")


def _folders(frontal: Path, kind: str) -> list[Path]:
    """Return the folders of a kind; some copies are called NormalJPG and the like."""
    inside = sorted(frontal.iterdir()) if frontal.is_dir() else []
    return [path for path in inside if path.is_dir() and path.name.lower().startswith(kind.lower())]


def _list_photos(reader: FolderReader, frontal: Path, kind: str) -> list[_PealPhoto]:
    """Find the photos of one kind in the first folder that has any, and skip all other files."""
    listed = _official_list(reader, kind)
    photos: dict[str, _PealPhoto] = {}
    for folder in _folders(frontal, kind):
        if photos:
            reader.skip(folder, "a second folder of the same photos")
            continue
        for path in files_below(folder):
            match = _PHOTO.fullmatch(path.name)
            if match and (match["source"].upper() == "E") == (kind == "Normal"):
                photo = _photo(path, match)
                if listed is not None and photo.key not in listed:
                    reader.skip(path, "not in the official list")
                elif photos.setdefault(photo.key, photo) is not photo:
                    reader.skip(path, "a second file of the same photo")
            elif path.name != EYE_FILE:
                reader.skip(path, f"not named like a photo of {kind}")
    for key, name in (listed or {}).items():
        if key not in photos:
            reader.skip(f"{LISTS[kind]}, {name}", "in the official list but not there")
    return list(photos.values())


def _official_list(reader: FolderReader, kind: str) -> dict[str, str] | None:
    """Return the names of the photos in the official list by their keys, or None if there is no list."""
    path = reader.folder / LISTS[kind]
    legal = "a text file with the name of a photo in each line, or not there"
    try:
        lines = _lines_of(path)
    except OSError as problem:
        # Without the list there would be other probes, so the figures would be of another test.
        raise DatasetMissing(path, legal, f"a file that cannot be read ({problem.strerror})") from None
    if lines is None:
        return None
    names = [line.strip().replace("\\", "/").rsplit("/", 1)[-1] for line in lines]
    listed = {_key(match): match[0] for match in map(_PHOTO.fullmatch, names) if match}
    if not listed:
        raise DatasetMissing(path, legal, "no such name")
    return listed


def _lines_of(path: Path) -> list[str] | None:
    """Return the lines of a text file, or None if there is no file."""
    try:
        return path.read_text(encoding="latin-1").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _photo(path: Path, match: re.Match[str]) -> _PealPhoto:
    return _PealPhoto(
        path=path,
        key=_key(match),
        person=match["person"],
        shot=match["shot"].upper(),
        source=match["source"].upper(),
        azimuth=float(match["azimuth"]) + 0.0,  # no minus zero
        elevation=ELEVATIONS[match["elevation"].upper()],
        session=match["session"],
    )


def _key(match: re.Match[str]) -> str:
    """Name a photo so that its file, its line of eyes and its line in a list agree, whatever the letter before S."""
    return f"{match['before']}_{match['after']}".upper()


def _read_eyes(reader: FolderReader, frontal: Path, kind: str) -> dict[str, Eyes]:
    """Read the eye files of all folders of a kind; a copy in another format may have none of its own."""
    eyes: dict[str, Eyes] = {}
    for folder in _folders(frontal, kind):
        path = folder / EYE_FILE
        try:
            lines = _lines_of(path) or []
        except OSError:
            reader.skip(path, "a file of eyes that cannot be read")
            continue
        for number, line in enumerate(lines, 1):
            name, *numbers = line.split() or [""]
            match, positions = _PHOTO.fullmatch(name), parse_eyes(numbers)
            if match and positions:
                eyes.setdefault(_key(match), positions)
            elif name:
                reader.skip(f"{reader.name(path)}, line {number}", "not the name of a photo and four numbers")
    return eyes


def _one_normal_each(reader: FolderReader, photos: list[_PealPhoto]) -> dict[str, _PealPhoto]:
    chosen: dict[str, _PealPhoto] = {}
    for photo in sorted(photos, key=lambda photo: (photo.person, photo.session, photo.path)):
        if chosen.setdefault(photo.person, photo) is not photo:
            reader.skip(photo.path, "another normal photo of the same person")
    return chosen


def _complete(reader: FolderReader, people: list[str], lit: list[_PealPhoto]) -> bool:
    if (reader.folder / LISTS["Lighting"]).is_file():
        return len(lit) == LIT_PHOTOS
    # The folder may hold more photos than the list of probes names.
    return len(people) == PEOPLE and len(lit) >= LIT_PHOTOS


def _counts(people: list[str], lit: list[_PealPhoto]) -> str:
    azimuths = [abs(photo.azimuth) for photo in lit]
    by_azimuth = "/".join(str(azimuths.count(azimuth)) for azimuth in (0, 45, 90))
    got = f"{count(len(people), 'person', 'people')} of {PEOPLE} with a normal and a lit photo, "
    return got + f"{len(lit)} lit photos of {LIT_PHOTOS} ({by_azimuth} at azimuths 0/45/90)"


def _read(
    reader: FolderReader, photos: list[_PealPhoto], eyes: dict[str, Eyes], progress: SizedProgress
) -> dict[Path, Image]:
    faces: dict[Path, Image] = {}
    for i in progress(range(len(photos))):
        path, key = photos[i].path, photos[i].key
        if key not in eyes:
            reader.skip(path, f"without eyes in {EYE_FILE}")
            continue
        image = reader.read(path)
        face = None if image is None else reader.crop(image, eyes[key], path)
        if face is not None:
            faces[path] = face
    return faces


def _of_whole_people(reader: FolderReader, photos: list[_PealPhoto], people: list[str]) -> list[_PealPhoto]:
    """Keep the people with a normal and a lit photo that could be read, and skip the others."""
    normal = {photo.person for photo in photos if photo.source == "E"}
    lit = {photo.person for photo in photos if photo.source != "E"}
    for person in people:
        if person not in normal & lit:
            reader.skip(person, f"without a {'lit' if person in normal else 'normal'} photo that can be used")
    return [photo for photo in photos if photo.person in normal & lit]
