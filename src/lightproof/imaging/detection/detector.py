"""Photo -> faces and their eyes, in any light.

The detector is shown squares of the photo, large ones first, in one light after the other. On whatever it takes for a
face a mesh is laid, upright and once more in the mirror: on a face both lie alike, on a trick of the light they do not.
The mean of both says where the pupils are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightproof.errors import BadImage
from lightproof.imaging.detection.eye_alignment import FACE_SIZE, align_by_eyes
from lightproof.imaging.detection.face_networks import MESH_SIDE, PUPILS, SIDE, Points, guess_faces, lay_mesh
from lightproof.imaging.detection.pyramid import Pyramid, Window
from lightproof.types import Floats


def _smoothed(square: Floats) -> Floats:
    from scipy.ndimage import (
        gaussian_filter,  # loaded when it is needed, as in :mod:`lightproof.imaging.detection.eye_alignment`
    )

    return np.asarray(gaussian_filter(square, 1.2))


LOOKS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "gamma": lambda square: square**0.35,
    "plain": lambda square: square,
    "log": lambda square: np.log1p(255 * square) / np.log(256),
    "smooth": lambda square: _smoothed(square) ** 0.35,
}
"""Lights in which a photo is looked at, in this order, until a face is found; values from 0 to 1.

The first finds nearly all, in any light; the last is for faces that drown in the noise of the camera.
"""

DEEPEST: Final = 3
"""How often the photo is halved, at most, to get the squares that are looked at."""

QUICK: Final = 1
"""The same where there is no time."""

FILLING: Final = 0.2
"""Eyes that are this share of a square's side apart are large in it; the detector misses them from about 0.075 down."""

STEEPEST: Final = 60.0
"""Degrees that a head may be rolled; what is rolled farther is found by luck, if at all."""

SUSPECTED: Final = 0.4
"""Score of the detector from which on a closer look is taken."""

BELIEVED: Final = 0.95
"""How sure the mesh must be that it lies on a face."""

AGREEMENT: Final = 0.08
"""How far the meshes of both looks may lie apart, as a share of the eye distance."""

CLOSER: Final = 3.4
"""Side of the square of a closer look, in eye distances."""

BELOW_THE_EYES: Final = 0.4
"""Middle of that square, in eye distances."""

SETTLED: Final = 0.1
"""Eyes that a closer look moves farther, as a share of their distance, are looked at once more from their new place."""

NEAREST_FOUND: Final = 20.0
"""Eyes that are fewer pixels apart are no face to compare: there is too little of it."""

SMALLEST: Final = 0.012
"""Eyes that are a smaller share of the longer side apart are too small even for the smallest squares."""


@dataclass(frozen=True)
class Face:
    """A face in a photo.

    Attributes
    ----------
    right_eye, left_eye : (float, float)
        Column and row of the subject's pupils; the right one is on the left of an upright picture.
    score : float
        How sure the mesh is that it lies on a face, 0 to 1.
    look : str
        The light in which it was found, one of :data:`LOOKS`.
    """

    right_eye: tuple[float, float]
    left_eye: tuple[float, float]
    score: float
    look: str

    @property
    def eye_distance(self) -> float:
        """Return the distance of the eyes in pixels."""
        return abs(complex(*self.left_eye) - complex(*self.right_eye))

    @property
    def roll(self) -> float:
        """Return by how many degrees the head is turned clockwise in the picture."""
        return float(np.degrees(np.angle(complex(*self.left_eye) - complex(*self.right_eye))))


def find_faces(image: NDArray[np.uint8], *, quick: bool = False) -> list[Face]:
    """Find the faces in a photo, in any light; the largest comes first.

    The whole photo is looked at first, then squares of half its size, and so on to eighths, until the smallest face
    that was found is large in its squares: much smaller ones beside it are not looked for. The first look that shows a
    face is the one for the whole photo.

    Parameters
    ----------
    image : ndarray of shape (h, w), uint8
        A grey photo.
    quick : bool
        Look for large faces only, in the first look only: for the frames of a camera, of which there are many, and most
        show nobody.

    Returns
    -------
    list of Face
        Empty where no look shows any.
    """
    if not isinstance(image, np.ndarray) or image.ndim != 2 or image.dtype != np.uint8:
        kind = f"{image.dtype} of shape {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise BadImage("`image` of find_faces", "a grey photo of shape (h, w), uint8", kind)
    if min(image.shape) < 2 * NEAREST_FOUND:
        return []
    photo = Pyramid(image)
    faces: list[Face] = []
    settled: list[Points] = []
    looks = tuple(LOOKS)[: 1 if quick else None]
    for depth in range(QUICK + 1 if quick else DEEPEST + 1):
        for name in looks:
            faces += _new_faces(photo, depth, name, settled)
            if faces:
                looks = (name,)  # a photo has one light
                break
        if faces and min(face.eye_distance for face in faces) >= FILLING * _side(photo, depth):
            break
    return sorted(faces, key=lambda face: -face.eye_distance)


def cut(image: NDArray[np.uint8], face: Face, size: tuple[int, int] = FACE_SIZE) -> NDArray[np.uint8]:
    """Cut a face out of its photo: upright, the eyes where :func:`align_by_eyes` puts them."""
    return align_by_eyes(image, face.right_eye, face.left_eye, size)


def _suspects(photo: Pyramid, depth: int, light: Callable[[Floats], Floats]) -> list[Points]:
    """Eyes of all that looks like a face in some square, surest first; of those that overlap, the surest."""
    scores, points = [], []
    for window in _windows(photo, depth):
        guesses = guess_faces(light(photo.square(window, SIDE)))
        likely = guesses.scores >= SUSPECTED
        scores.append(guesses.scores[likely])
        points.append(window.to_photo(guesses.eyes[likely], SIDE))
    if not points:
        return []
    ordered = np.concatenate(points)[np.argsort(-np.concatenate(scores), kind="stable")]
    kept: list[Points] = []
    for eyes in ordered:
        if abs(eyes[1] - eyes[0]) >= NEAREST_FOUND and not _is_among(kept, eyes):
            kept.append(eyes)
    return kept


def _windows(photo: Pyramid, depth: int) -> Iterator[Window]:
    """Squares that cover the photo, each overlapping the next by half; none where only tiny faces would fit."""
    side = _side(photo, depth)
    if depth and side < 6 * NEAREST_FOUND:
        return
    for row in _middles(photo.height, side):
        for column in _middles(photo.width, side):
            yield Window(complex(column - 0.5, row - 0.5), side)


def _side(photo: Pyramid, depth: int) -> float:
    return float(max(photo.height, photo.width) / 2**depth)


def _middles(length: int, side: float) -> list[float]:
    if length <= side:
        return [length / 2]
    steps = int(np.ceil(2 * (length / side - 1)))
    return [float(middle) for middle in np.linspace(side / 2, length - side / 2, steps + 1)]


def _new_faces(photo: Pyramid, depth: int, name: str, settled: list[Points]) -> list[Face]:
    """Take closer looks at every suspect; return those that they agree on, and enter them among the settled places.

    A face with an eye beyond the photo, or that lies on its side, is settled too: no other light shall make it up.
    """
    found: list[Face] = []
    for eyes in _suspects(photo, depth, LOOKS[name]):
        seen = None if _is_among(settled, eyes) else _look_closer(photo, eyes, LOOKS[name])
        if seen is None or _is_among(settled, seen[0]):
            continue
        settled.append(seen[0])
        face = _face(*seen, name)
        if all(_lies_in(photo, eye) for eye in seen[0]) and abs(face.roll) <= STEEPEST:
            found.append(face)
    return found


def _look_closer(photo: Pyramid, eyes: Points, light: Callable[[Floats], Floats]) -> tuple[Points, float] | None:
    """Find the pupils from close by; None where the looks do not agree that there is a face."""
    seen = _both_meshes(photo, eyes, light)
    if seen is not None and np.abs(seen[0] - eyes).mean() > SETTLED * abs(seen[0][1] - seen[0][0]):
        seen = _both_meshes(photo, seen[0], light)
    return seen


def _both_meshes(photo: Pyramid, eyes: Points, light: Callable[[Floats], Floats]) -> tuple[Points, float] | None:
    """Lay the mesh on the face between two eyes, upright and in the mirror; None where that is no face."""
    apart = eyes[1] - eyes[0]
    middle = complex(eyes.mean() + apart * 1j * BELOW_THE_EYES)
    pairs, sure = [], []
    for mirrored in (False, True):
        window = Window(middle, CLOSER * abs(apart), float(np.angle(apart)), mirrored)
        presence, mesh = lay_mesh(light(photo.square(window, MESH_SIDE)))
        if presence < BELIEVED:
            return None
        pupils = window.to_photo(mesh[list(PUPILS)], MESH_SIDE)
        # What the mirror calls the right eye is the left one.
        pairs.append(pupils[::-1] if mirrored else pupils)
        sure.append(presence)
    mean = np.mean(pairs, axis=0)
    distance = abs(mean[1] - mean[0])
    off = np.abs(pairs[0] - pairs[1]).mean()
    agreed = distance >= NEAREST_FOUND and off <= AGREEMENT * distance
    return (mean, min(sure)) if agreed else None


def _lies_in(photo: Pyramid, eye: complex) -> bool:
    return bool(0 <= eye.real <= photo.width - 1 and 0 <= eye.imag <= photo.height - 1)


def _is_among(places: list[Points], eyes: Points) -> bool:
    return any(_same(eyes, place) for place in places)


def _same(eyes: Points, other: Points) -> bool:
    """Tell whether two pairs of eyes belong to one face."""
    return bool(abs(eyes.mean() - other.mean()) < max(abs(eyes[1] - eyes[0]), abs(other[1] - other[0])))


def _face(eyes: Points, score: float, name: str) -> Face:
    right, left = (complex(eye) for eye in eyes)
    return Face((right.real, right.imag), (left.real, left.imag), score, name)
