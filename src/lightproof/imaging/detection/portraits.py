"""A photo, as a file, as bytes or as an array -> the face in it: the one way in for pictures that are not yet crops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.errors import BadImage, BadParameter, MissingExtra, NoFace, SeveralFaces
from lightproof.imaging.decode import in_one_line, read_grey
from lightproof.imaging.detection.detector import (
    LOOKS,
    MIN_EYE_PIXELS,
    MIN_EYE_SHARE,
    Face,
    cut,
    find_faces,
    mesh_of_crop,
)
from lightproof.imaging.detection.eye_alignment import FACE_SIZE
from lightproof.imaging.detection.head_pose import HeadPose

File: TypeAlias = str | Path | bytes
"""The path of a picture, or what is in its file."""

SEVERAL: Final = ("largest", "refuse")  # what to do about several faces


@dataclass(frozen=True, eq=False)
class Portrait:
    """A face, upright and cropped, and where it was in a photo that shows so many faces.

    ``face`` is None for a picture that was a face already.
    """

    image: NDArray[np.uint8]
    face: Face | None
    n_faces: int

    @cached_property
    def pose(self) -> HeadPose | None:
        """How the head is turned, and whether mouth and eyes are open.

        For a picture that was a face already, the mesh is laid on it now. None if that shows no face, or if the extra
        ``photos`` is not installed.
        """
        if self.face is not None:
            return self.face.pose
        try:
            laid = mesh_of_crop(self.image)
        except MissingExtra:
            return None
        return None if laid is None else laid.pose


def read_portrait(
    source: File | NDArray[np.uint8],
    *,
    cropped: bool = False,
    several: str = "largest",
    where: str | None = None,
    quick: bool = False,
    most_pixels: int | None = None,
) -> Portrait:
    """Read a picture, find the face in it and cut it out.

    Parameters
    ----------
    source : str, Path, bytes or ndarray of shape (h, w), uint8
        A file, the contents of one, or a grey photo.
    cropped : bool
        Whether the picture is a face already: then it stays as it is.
    several : {"largest", "refuse"}
        What to do about several faces: take the largest, or say that there are several.
    where : str, optional
        What the picture is called in a message; the path where there is one.
    quick : bool
        Look for large faces only; see :func:`~lightproof.imaging.detection.find_faces`.
    most_pixels : int, optional
        A larger file is refused; see :func:`~lightproof.imaging.decode.read_grey`.

    Returns
    -------
    Portrait
    """
    if several not in SEVERAL:
        raise BadParameter("read_portrait", "several", f"one of {', '.join(map(repr, SEVERAL))}", several)
    photo = source if isinstance(source, np.ndarray) else read_grey(source, where=where, most_pixels=most_pixels)
    if cropped:
        return Portrait(photo, None, 1)
    portrait = next(_portraits(photo, _name(source, where), quick))
    if several == "refuse" and portrait.n_faces > 1:
        raise SeveralFaces(_name(source, where), portrait.n_faces)
    return portrait


def read_portraits(source: File | NDArray[np.uint8], *, where: str | None = None) -> Iterator[Portrait]:
    """Read a photo, and cut out every face in it, the largest first; a photo without any is refused."""
    photo = source if isinstance(source, np.ndarray) else read_grey(source, where=where)
    yield from _portraits(photo, _name(source, where))


def _portraits(photo: NDArray[np.uint8], where: str, quick: bool = False) -> Iterator[Portrait]:
    faces = find_faces(photo, quick=quick)
    if not faces:
        raise NoFace(where, tuple(LOOKS), max(MIN_EYE_PIXELS, round(max(photo.shape) * MIN_EYE_SHARE)))
    for face in faces:
        yield Portrait(cut(photo, face, FACE_SIZE), face, len(faces))


def _name(source: File | NDArray[np.uint8], where: str | None) -> str:
    return in_one_line(where or (str(source) if isinstance(source, str | Path) else "the picture"))


def is_file(picture: Any) -> bool:
    """Tell a file, or what is in one, from an array."""
    return isinstance(picture, str | Path | bytes)


def pictures_of(X: Any, cropped: bool = False) -> Any:
    """Replace the files in a list of pictures by the faces in them, or by the pictures where these are ``cropped``.

    Arrays are faces already and stay. Anything that holds no file comes back as it is.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind not in "UO":
        return X
    if is_file(X) or (isinstance(X, np.ndarray) and X.ndim == 0):
        raise BadImage("X", "a list of pictures, even of one: ['photo.jpg']", f"a {type(X).__name__}")
    if not isinstance(X, Sequence | np.ndarray) or not any(is_file(picture) for picture in X):
        return X
    return [_read(picture, cropped, i) if is_file(picture) else picture for i, picture in enumerate(X)]


def _read(file: File, cropped: bool, i: int) -> NDArray[np.uint8]:
    """Return the face in file i of a list; an error calls mere contents by that number."""
    if isinstance(file, bytes):
        return read_portrait(file, cropped=cropped, where=f"X[{i}]").image
    # The strings of an array of strings are NumPy's own.
    return read_portrait(str(file), cropped=cropped).image
