"""ORL and Labeled Faces in the Wild (LFW): photos of people who turn and move, in no special light.

The photos are read whole; :mod:`lightproof.experiments.end_to_end` finds the faces in them.

ORL (later the AT&T Database of Faces): 40 people with ten photos each, grey PGM files of 92 x 112 pixels such as
``s1/10.pgm``. Olivetti Research Laboratory; F. Samaria, A. Harter, "Parameterisation of a stochastic model for human
face identification", WACV 1994.

LFW: press photos in color, JPEG files of 250 x 250 pixels such as ``Ada_Byron/Ada_Byron_0001.jpg``. The person of that
name is the one nearest the middle. G. Huang, M. Ramesh, T. Berg, E. Learned-Miller, "Labeled Faces in the Wild: A
Database for Studying Face Recognition in Unconstrained Environments", University of Massachusetts, Amherst, Technical
Report 07-49, 2007.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeAlias

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.file_readers import FolderReader, Image, count, some
from lightproof.errors import DatasetMissing
from lightproof.imaging.decode import read_grey

ORL_PEOPLE: Final = 40
ORL_PHOTOS: Final = 10
"""Photos of each person of ORL."""

ORL_SHAPE: Final = (112, 92)
LFW_SHAPE: Final = (250, 250)

_ORL = (
    "the ORL database of faces (folders s1 to s40, each with 1.pgm to 10.pgm, 92 wide and 112 high; also known as the "
    "AT&T database)"
)
_LFW = (
    "a copy of Labeled Faces in the Wild, or of some of its people (a folder for each person, with files such as "
    "Ada_Byron/Ada_Byron_0001.jpg, 250 x 250 pixels; two or more people with two or more photos each)"
)

_Photos: TypeAlias = dict[str, dict[int, Path]]  # by person and number


def load_orl(folder: str | Path, complete: bool = True, *, progress: SizedProgress = iter) -> FaceSet:
    """Read the photos of ORL from disk.

    Files that are not photos are skipped and listed in ``skipped``.

    Parameters
    ----------
    folder : str or Path
        ``ORL`` (or ``orl_faces``, ``att_faces``), or the folder it lies in.
    complete : bool, default=True
        Refuse a folder without exactly the 400 photos, or in which one cannot be read. False takes the people with two
        or more photos that can be read.
    progress : callable
        Wraps the loop over the photos, to show how far it is.

    Returns
    -------
    FaceSet
        Photos of 112 x 92 pixels, by the numbers of the people and of their photos. The lights are unknown (NaN).
    """
    reader = _reader(folder, _ORL, ("ORL", "orl_faces", "att_faces"))
    photos = _list_photos(reader, r"s[1-9]\d*", lambda person: r"([1-9]\d*)\.pgm")
    photos = {person: photos[person] for person in sorted(photos, key=lambda person: int(person[1:]))}
    if complete:
        everybody = [f"s{i}" for i in range(1, ORL_PEOPLE + 1)]
        expected = (f"{person}/{i}.pgm" for person in everybody for i in range(1, ORL_PHOTOS + 1))
        _check_complete(reader, photos, expected)
    return _read(reader, "orl", photos, ORL_SHAPE, complete, progress)


def load_lfw(folder: str | Path, complete: bool = True, *, progress: SizedProgress = iter) -> FaceSet:
    """Read the photos of LFW from disk, of all people or of some.

    People with a single photo, and files that are not photos, are skipped and listed in ``skipped``.

    Parameters
    ----------
    folder : str or Path
        ``LFW`` (or ``lfw``, ``lfw-deepfunneled``, ``lfw_funneled``), or the folder it lies in. Any number of people
        will do: the set is used in many parts.
    complete : bool, default=True
        Refuse a folder in which a photo cannot be read, or the numbers of a person's photos have a gap: they are 1, 2,
        3 and so on. False takes what can be read.
    progress : callable
        Wraps the loop over the photos, to show how far it is.

    Returns
    -------
    FaceSet
        Photos of 250 x 250 pixels, by name and number. The lights are unknown (NaN).
    """
    reader = _reader(folder, _LFW, ("LFW", "lfw", "lfw-deepfunneled", "lfw_funneled"))
    photos = _list_photos(reader, r"[^.].*", lambda person: rf"{re.escape(person)}_(\d{{4}})\.jpg")
    if complete:
        expected = (f"{p}/{p}_{i:04d}.jpg" for p, numbers in photos.items() for i in range(1, max(numbers) + 1))
        _check_complete(reader, photos, expected)
    return _read(reader, "lfw", photos, LFW_SHAPE, complete, progress)


def _reader(folder: str | Path, legal: str, names: Iterable[str]) -> FolderReader:
    """Open the folder, or the one of these names that lies in it."""
    reader = FolderReader(folder, legal)
    inside = (reader.folder / name for name in names)
    reader.folder = next((path for path in inside if path.is_dir()), reader.folder)
    return reader


def _list_photos(reader: FolderReader, people: str, photo_of: Callable[[str], str]) -> _Photos:
    """Find the photos by person and number, both in order, and skip all other files.

    ``people`` is the pattern of a person's folder, ``photo_of`` returns that of a person's files, with their number.
    """
    photos: _Photos = {}
    for person in sorted(reader.folder.iterdir()):
        if not person.is_dir() or not re.fullmatch(people, person.name):
            reader.skip(person, "not a person's folder")
            continue
        numbers = {}
        for path in sorted(person.iterdir()):
            match = re.fullmatch(photo_of(person.name), path.name)
            if match and path.is_file():
                numbers[int(match[1])] = path
            else:
                reader.skip(path, "not a photo of this person")
        if numbers:
            photos[person.name] = dict(sorted(numbers.items()))
    if not photos:
        raise DatasetMissing(reader.folder, reader.legal, "no photo of that name")
    return photos


def _check_complete(reader: FolderReader, photos: _Photos, expected: Iterable[str]) -> None:
    """Refuse a folder in which photos are missing, or are too many."""
    present = {reader.name(path): None for numbers in photos.values() for path in numbers.values()}
    wanted = dict.fromkeys(expected)
    missing, extra = [n for n in wanted if n not in present], [n for n in present if n not in wanted]
    if missing or extra:
        got = f"{count(len(present), 'photo')} of {count(len(photos), 'person', 'people')}"
        for what, names in (("missing", missing), ("too many", extra)):
            got += f"; {len(names)} {what}: {some(names)}" if names else ""
        raise DatasetMissing(reader.folder, reader.legal, got)


def _read(
    reader: FolderReader,
    name: str,
    photos: _Photos,
    shape: tuple[int, int],
    complete: bool,
    progress: SizedProgress,
) -> FaceSet:
    paths = [path for numbers in photos.values() if len(numbers) > 1 for path in numbers.values()]
    images: dict[Path, Image] = {}
    for i in progress(range(len(paths))):
        image = read_grey(paths[i]) if complete else reader.read(paths[i])
        if image is not None:
            images[paths[i]] = reader.checked(image, paths[i], shape)
    people = {person: [n for n, path in numbers.items() if path in images] for person, numbers in photos.items()}
    for person, numbers in people.items():
        if len(numbers) < 2:
            reader.skip(person, "a person without two photos")
    kept = [(person, n) for person, numbers in people.items() for n in numbers if len(numbers) > 1]
    labels = [person for person, _ in kept]
    if len(set(labels)) < 2:
        raise reader.missing(f"{count(len(set(labels)), 'person', 'people')} with two or more photos that can be read")
    faces = {photos[person][n]: images[photos[person][n]] for person, n in kept}
    return reader.face_set(name, faces, labels, [str(n) for _, n in kept])
