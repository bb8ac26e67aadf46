"""A photo, as a file, as bytes or as an array -> the face in it: the one way in for pictures that are not yet crops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.core.images import to_bytes
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
from lightproof.imaging.detection.eye_alignment import FACE_SIZE, eye_places
from lightproof.imaging.detection.head_pose import HeadPose
from lightproof.imaging.detection.mesh_warp import warp_to_neutral
from lightproof.imaging.lighting.light_direction import hardness, shadow_shares
from lightproof.types import Array, Floats

File: TypeAlias = str | Path | bytes
"""The path of a picture, or what is in its file."""

MIN_SURE_EYES: Final = 28.0  # pixels between the eyes below which a mesh is not sure in hard light


MAX_CROP_MOVE: Final = 0.2
"""Eye distances by which the eyes of a crop may be off; beyond, it was cut otherwise, mostly with less of the head."""

SEVERAL: Final = ("largest", "refuse")  # what to do about several faces


@dataclass(frozen=True, eq=False)
class AlignedFace:
    """A face as it is compared.

    Attributes
    ----------
    image : ndarray of shape (h, w)
        As it was cut out of a photo by its eyes, or as it came.
    eyes : ndarray of shape (h, w) or None
        Cut by the eyes that the mesh has found: for a face found in a photo that is ``image`` itself. None without a
        mesh.
    shaped : ndarray of shape (192, 168), uint8, or None
        Brought to the common shape by its mesh; None where there is no mesh.
    """

    image: Array
    _: KW_ONLY
    eyes: Array | None = None
    shaped: NDArray[np.uint8] | None = None

    @classmethod
    def found(cls, image: Array, shaped: NDArray[np.uint8] | None) -> Self:
        """Return a face that was found in a photo, and cut out of it by the eyes of its mesh."""
        return cls(image) if shaped is None else cls(image, eyes=image, shaped=shaped)

    @property
    def has_mesh(self) -> bool:
        """Whether a mesh lies on the face."""
        return self.shaped is not None

    @property
    def came_cut(self) -> bool:
        """Whether the face has a mesh, and came cut out otherwise than by the eyes of that."""
        return self.picture("eyes") is not self.image

    def picture(self, shape: str) -> Array:
        """Return the face in a shape, "mesh", "eyes" or "crop"; without a mesh it is the same in all."""
        wanted = {"mesh": self.shaped, "eyes": self.eyes, "crop": self.image}[shape]
        return self.image if wanted is None else wanted


def align(photo: NDArray[np.uint8], face: Face) -> AlignedFace:
    """Cut a face out of its photo, by its eyes and by its mesh."""
    image = cut(photo, face, FACE_SIZE)
    if _is_unsure(face, image):
        return AlignedFace(image)
    return AlignedFace.found(image, warp_to_neutral(photo, _mesh_of(face)))


def align_crop(image: Array) -> AlignedFace:
    """Lay the mesh on a face that is cut out already, cut it again by the eyes, and bring it to the common shape.

    Without the extra ``photos``, or where the picture shows no face, it stays as it is.
    """
    grey = to_bytes([image], image.shape)[0]
    laid = _mesh_on(grey)
    return AlignedFace(image) if laid is None else _aligned_crop(image, grey, laid)


def _aligned_crop(image: Array, grey: NDArray[np.uint8], laid: Face) -> AlignedFace:
    height, width = grey.shape
    places, eyes = np.array(eye_places(height, width)), np.array([complex(*laid.right_eye), complex(*laid.left_eye)])
    inside = (eyes.real >= 0) & (eyes.imag >= 0) & (eyes.real <= width - 1) & (eyes.imag <= height - 1)
    is_usual = np.abs(eyes - places).max() <= MAX_CROP_MOVE * abs(places[1] - places[0])
    if not inside.all() or _is_unsure(laid, grey, is_usual):
        return AlignedFace(image)
    return AlignedFace(image, eyes=cut(grey, laid, FACE_SIZE), shaped=warp_to_neutral(grey, _mesh_of(laid)))


def _is_unsure(face: Face, image: NDArray[np.uint8], shows_head: bool = True) -> bool:
    """Tell whether a face has no mesh to rely on.

    In hard light the mesh trembles most on a tiny face, and on a crop that shows too little of the head.
    """
    needs_soft_light = face.eye_distance < MIN_SURE_EYES or not shows_head
    return face.mesh is None or (needs_soft_light and bool(hardness(shadow_shares(image[None]))[0] > 0))


def _mesh_of(face: Face) -> Floats:
    assert face.mesh is not None
    return face.mesh


def _mesh_on(crop: NDArray[np.uint8]) -> Face | None:
    try:
        return mesh_of_crop(crop)
    except MissingExtra:
        return None


@dataclass(frozen=True, eq=False)
class Portrait:
    """A face, upright and cropped, and where it was in a photo that shows so many faces.

    ``face`` is None for a picture that was a face already.
    """

    image: NDArray[np.uint8]
    face: Face | None
    n_faces: int
    photo: NDArray[np.uint8] | None = None

    @cached_property
    def laid(self) -> Face | None:
        """The face with its mesh, in the photo, or in a picture that was a face already: there it is laid on now.

        None if that shows no face, or if the extra ``photos`` is not installed.
        """
        return self.face if self.face is not None else _mesh_on(self.image)

    @property
    def pose(self) -> HeadPose | None:
        """How the head is turned, and whether mouth and eyes are open; None without a mesh."""
        return None if self.laid is None else self.laid.pose

    @cached_property
    def aligned(self) -> AlignedFace:
        """The face as it is compared."""
        if self.laid is None:
            return AlignedFace(self.image)
        if self.photo is None:
            return _aligned_crop(self.image, self.image, self.laid)
        if _is_unsure(self.laid, self.image):
            return AlignedFace(self.image)
        return AlignedFace.found(self.image, warp_to_neutral(self.photo, _mesh_of(self.laid)))


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
        yield Portrait(cut(photo, face, FACE_SIZE), face, len(faces), photo)


def _name(source: File | NDArray[np.uint8], where: str | None) -> str:
    return in_one_line(where or (str(source) if isinstance(source, str | Path) else "the picture"))


def is_file(picture: Any) -> bool:
    """Tell a file, or what is in one, from an array."""
    return isinstance(picture, str | Path | bytes)


def pictures_of(X: Any, cropped: bool = False) -> Any:
    """Replace the files in a list of pictures by the faces in them, or by the pictures where these are ``cropped``.

    Arrays are faces already and stay. Anything that holds no file comes back as it is.
    """
    pictures = portraits_of(X, cropped)
    return pictures if pictures is X else [each.image if isinstance(each, Portrait) else each for each in pictures]


def portraits_of(X: Any, cropped: bool = False) -> Any:
    """Replace the files in a list of pictures by portraits of the faces in them; see :func:`pictures_of`."""
    if not _holds_files(X):
        return X
    return [_read(picture, cropped, i) if is_file(picture) else picture for i, picture in enumerate(X)]


def _holds_files(X: Any) -> bool:
    if isinstance(X, np.ndarray) and X.dtype.kind not in "UO":
        return False
    if is_file(X) or (isinstance(X, np.ndarray) and X.ndim == 0):
        raise BadImage("X", "a list of pictures, even of one: ['photo.jpg']", f"a {type(X).__name__}")
    return isinstance(X, Sequence | np.ndarray) and any(is_file(picture) for picture in X)


def _read(file: File, cropped: bool, i: int) -> Portrait:
    """Read the face in file i of a list; an error calls mere contents by that number."""
    if isinstance(file, bytes):
        return read_portrait(file, cropped=cropped, where=f"X[{i}]")
    # The strings of an array of strings are NumPy's own.
    return read_portrait(str(file), cropped=cropped)
