"""Photo -> faces and their eyes, in any light.

The detector looks at squares of the photo, large ones first, in one light after the other. Whatever it takes for a face
gets a mesh, fitted once upright and once in the mirror: on a face both agree, on a trick of the light they do not. The
mean of both is the face's mesh, and gives the pupils. A face that is cut out already gets the same two meshes.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.imaging.detection.eye_alignment import FACE_SIZE, align_by_eyes, check_photo, eye_places
from lightproof.imaging.detection.face_networks import (
    MESH_SIDE,
    PUPILS,
    SIDE,
    Points,
    guess_faces,
    lay_mesh,
    mirror_order,
)
from lightproof.imaging.detection.head_pose import HeadPose, pose_of
from lightproof.types import Floats


def _smoothed(square: Floats) -> Floats:
    from scipy.ndimage import gaussian_filter  # loaded when it is needed, as in `eye_alignment`

    return np.asarray(gaussian_filter(square, 1.2))


LOOKS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "gamma": lambda square: square**0.35,
    "plain": lambda square: square,
    "log": lambda square: np.log1p(255 * square) / np.log(256),
    "smooth": lambda square: _smoothed(square) ** 0.35,
}
"""Lights in which the detector looks at a photo, in this order, until it finds a face; values from 0 to 1.

The first finds nearly all, in any light; the last is for faces that drown in the noise of the camera.
"""

MAX_DEPTH: Final = 3  # number of times the sides of the squares are halved, at most
QUICK_DEPTH: Final = 1  # the same for a quick search

# Eye distance, as a share of a square's side, of a face that is large in it; the detector misses below about 0.075.
LARGE_EYE_SHARE: Final = 0.2
MAX_ROLL_DEGREES: Final = 60.0  # of a head; beyond it the detector finds a face by luck, if at all
MIN_DETECTOR_SCORE: Final = 0.4  # from which on the mesh is tried
MIN_MESH_SCORE: Final = 0.95  # from which on there is a face

# In eye distances.
MAX_MESH_GAP: Final = 0.08  # between the pupils of the two meshes, up to which they agree
MESH_SQUARE: Final = 3.4  # side of the mesh's square
MESH_MIDDLE: Final = 0.4  # from the eyes down to that square's middle
MAX_EYE_MOVE: Final = 0.1  # by which the mesh may move the eyes; if it moves them farther, it is fitted once more

MIN_EYE_PIXELS: Final = 20.0  # eye distance below which there is too little of a face to compare it
FADING_SHARE: Final = 0.3  # of a crop's width: so far beyond its border it has faded to 1 / e
SMALLEST_CROP: Final = 16  # pixels a side of a crop below which it gets no mesh
MIN_EYE_SHARE: Final = 0.012  # of the photo's longer side: too small an eye distance even for the smallest squares


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
    mesh : ndarray of shape (478, 3), read-only, or None
        Column, row and depth in pixels of the photo of the points that the mesh lays on the face; depth falls toward
        the camera. The mean of the mesh laid upright and of the one laid in the mirror. None for a face that was
        not found by the mesh. It counts neither for equality nor for the hash.
    mesh_gap : float or None
        Mean distance between these two meshes in the picture, in eye distances: the smaller, the surer is the mesh.
    """

    right_eye: tuple[float, float]
    left_eye: tuple[float, float]
    score: float
    look: str
    mesh: Floats | None = field(default=None, compare=False, repr=False)
    mesh_gap: float | None = field(default=None, compare=False)

    @property
    def eye_distance(self) -> float:
        """Return the distance of the eyes in pixels."""
        return abs(complex(*self.left_eye) - complex(*self.right_eye))

    @cached_property
    def pose(self) -> HeadPose | None:
        """How the head is turned, and whether mouth and eyes are open; None without a mesh."""
        return None if self.mesh is None else pose_of(self.mesh)

    @property
    def roll(self) -> float:
        """Return by how many degrees the head is turned clockwise in the picture."""
        return float(np.degrees(np.angle(complex(*self.left_eye) - complex(*self.right_eye))))


def find_faces(image: NDArray[np.uint8], *, quick: bool = False) -> list[Face]:
    """Find the faces in a photo, in any light; the largest comes first.

    The search goes from the whole photo to squares of half its size, and so on to eighths, until the smallest face
    found is large in its squares: it ignores much smaller ones beside it. The first light that shows a face is the one
    for the whole photo.

    Parameters
    ----------
    image : ndarray of shape (h, w), uint8
        A grey photo.
    quick : bool
        Look for large faces only, in the first light only: for a camera's many frames, most of which show nobody.

    Returns
    -------
    list of Face
        Empty if no light shows any.
    """
    check_photo("find_faces", image)
    if min(image.shape) < 2 * MIN_EYE_PIXELS:
        return []
    photo = Pyramid(image)
    faces: list[Face] = []
    settled: list[Points] = []
    looks = tuple(LOOKS)[: 1 if quick else None]
    for depth in range(QUICK_DEPTH + 1 if quick else MAX_DEPTH + 1):
        for look in looks:
            faces += _new_faces(photo, depth, look, settled)
            if faces:
                looks = (look,)  # a photo has one light
                break
        if faces and min(face.eye_distance for face in faces) >= LARGE_EYE_SHARE * _side(photo, depth):
            break
    return sorted(faces, key=lambda face: -face.eye_distance)


def cut(image: NDArray[np.uint8], face: Face, size: tuple[int, int] = FACE_SIZE) -> NDArray[np.uint8]:
    """Cut a face out of its photo: upright, the eyes where :func:`align_by_eyes` puts them."""
    return align_by_eyes(image, face.right_eye, face.left_eye, size)


def mesh_of_crop(crop: NDArray[np.uint8]) -> Face | None:
    """Lay the mesh on a face that is cut out already, its eyes about where :func:`align_by_eyes` puts them.

    The network needs to see more than the crop shows. In each look the border of the crop is drawn on first, fading
    into the dark, as a head does. Where both meshes do not agree on that, it is black beyond the border.

    Parameters
    ----------
    crop : ndarray of shape (h, w), uint8
        A grey face, best of 64 x 56 pixels or more.

    Returns
    -------
    Face or None
        Eyes and mesh in pixels of the crop; None if no look shows a face on which both meshes agree.

    Raises
    ------
    MissingExtra
        If the extra ``photos`` is not installed.
    """
    check_photo("mesh_of_crop", crop)
    if min(crop.shape) < SMALLEST_CROP:
        return None
    eyes = np.array(eye_places(*crop.shape))
    more = crop.shape[1]
    drawn_on, plain = Pyramid(_drawn_on(crop, more)), Pyramid(crop)
    for look in LOOKS:
        for photo, corner in ((drawn_on, complex(more, more)), (plain, 0j)):
            face = _look_closer(photo, eyes + corner, look, 0.0)
            if face is not None and face.mesh is not None:
                right, left = (complex(eye) for eye in _eyes_of(face) - corner)
                mesh = face.mesh - (corner.real, corner.imag, 0)
                mesh.flags.writeable = False
                return replace(face, right_eye=(right.real, right.imag), left_eye=(left.real, left.imag), mesh=mesh)
    return None


def _drawn_on(crop: NDArray[np.uint8], more: int) -> NDArray[np.uint8]:
    """Draw the border of a crop so many pixels on to each side, fading into the dark."""
    rows, columns = (np.maximum(0, np.abs(np.arange(-more, n + more) - (n - 1) / 2) - (n - 1) / 2) for n in crop.shape)
    fading = np.exp(-np.hypot(rows[:, None], columns) / (FADING_SHARE * crop.shape[1]))
    faded: NDArray[np.uint8] = np.rint(np.pad(crop, more, mode="edge") * fading).astype(np.uint8)
    return faded


def _suspects(photo: Pyramid, depth: int, light: Callable[[Floats], Floats]) -> list[Points]:
    """Return the eyes of whatever looks like a face in a square, surest first; of overlapping ones the surest."""
    scores, points = [], []
    for window in _windows(photo, depth):
        guesses = guess_faces(light(photo.square(window, SIDE)))
        likely = guesses.scores >= MIN_DETECTOR_SCORE
        scores.append(guesses.scores[likely])
        points.append(window.to_photo(guesses.eyes[likely], SIDE))
    if not points:
        return []
    ordered = np.concatenate(points)[np.argsort(-np.concatenate(scores), kind="stable")]
    kept: list[Points] = []
    for eyes in ordered:
        if abs(eyes[1] - eyes[0]) >= MIN_EYE_PIXELS and not _is_among(kept, eyes):
            kept.append(eyes)
    return kept


def _windows(photo: Pyramid, depth: int) -> Iterator[Window]:
    """Squares that cover the photo, each overlapping the next by half; none where only tiny faces would fit."""
    side = _side(photo, depth)
    if depth and side < 6 * MIN_EYE_PIXELS:
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


def _new_faces(photo: Pyramid, depth: int, look: str, settled: list[Points]) -> list[Face]:
    """Fit the mesh to every suspect; return the faces on which both meshes agree, and add their eyes to ``settled``.

    A face with an eye beyond the photo, or that lies on its side, is settled too: no other light shall make it up.
    """
    faces: list[Face] = []
    for suspect in _suspects(photo, depth, LOOKS[look]):
        face = None if _is_among(settled, suspect) else _look_closer(photo, suspect, look)
        if face is None:
            continue
        eyes = _eyes_of(face)
        if _is_among(settled, eyes):
            continue
        settled.append(eyes)
        if all(_lies_in(photo, eye) for eye in eyes) and abs(face.roll) <= MAX_ROLL_DEGREES:
            faces.append(face)
    return faces


def _eyes_of(face: Face) -> Points:
    return np.array([complex(*face.right_eye), complex(*face.left_eye)])


def _look_closer(photo: Pyramid, eyes: Points, look: str, min_eye_pixels: float = MIN_EYE_PIXELS) -> Face | None:
    """Find the pupils from close by; None where the meshes do not agree that there is a face."""
    face = both_meshes(photo, eyes, look, min_eye_pixels)
    if face is not None and np.abs(_eyes_of(face) - eyes).mean() > MAX_EYE_MOVE * face.eye_distance:
        face = both_meshes(photo, _eyes_of(face), look, min_eye_pixels)
    return face


def both_meshes(photo: Pyramid, eyes: Points, look: str, min_eye_pixels: float) -> Face | None:
    """Fit the mesh to the face between two eyes, upright and in the mirror; None where that is no face."""
    between = eyes[1] - eyes[0]
    middle = complex(eyes.mean() + between * 1j * MESH_MIDDLE)
    side = MESH_SQUARE * abs(between)
    pairs, meshes, scores = [], [], []
    for mirrored in (False, True):
        window = Window(middle, side, float(np.angle(between)), mirrored)
        score, points = lay_mesh(LOOKS[look](photo.square(window, MESH_SIDE)))
        if score < MIN_MESH_SCORE:
            return None
        flat = points[:, 0] + 1j * points[:, 1]
        pupils = window.to_photo(flat[list(PUPILS)], MESH_SIDE)
        pairs.append(pupils[::-1] if mirrored else pupils)  # what the mirror calls the right eye is the left one
        placed = window.to_photo(flat, MESH_SIDE)
        mesh = np.column_stack([placed.real, placed.imag, points[:, 2] * side / MESH_SIDE])
        meshes.append(mesh[mirror_order()] if mirrored else mesh)
        scores.append(score)
    right, left = (complex(eye) for eye in np.mean(pairs, axis=0))
    distance = abs(left - right)
    if distance < min_eye_pixels or np.abs(pairs[0] - pairs[1]).mean() > MAX_MESH_GAP * distance:
        return None
    mesh = np.mean(meshes, axis=0)
    mesh.flags.writeable = False
    gap = float(np.hypot(*(meshes[0] - meshes[1])[:, :2].T).mean() / distance)
    return Face((right.real, right.imag), (left.real, left.imag), min(scores), look, mesh, gap)


def _lies_in(photo: Pyramid, eye: complex) -> bool:
    return bool(0 <= eye.real <= photo.width - 1 and 0 <= eye.imag <= photo.height - 1)


def _is_among(known: list[Points], eyes: Points) -> bool:
    """Tell whether a pair of eyes belongs to the face of a known pair."""
    width = abs(eyes[1] - eyes[0])
    return any(abs(eyes.mean() - other.mean()) < max(width, abs(other[1] - other[0])) for other in known)


class Window(NamedTuple):
    """A square of the photo: its middle, its side in pixels, its turn in radians, whether it is seen in a mirror."""

    middle: complex
    side: float
    turn: float = 0.0
    mirrored: bool = False

    def to_photo(self, points: NDArray[np.complex128], pixels: int) -> NDArray[np.complex128]:
        """Take places in the square, drawn with so many pixels a side, to places in the photo.

        In the square pixel i reaches from i to i + 1; in the photo its middle is at i.
        """
        centered = points - pixels / 2 * (1 + 1j)
        if self.mirrored:
            centered = -centered.conj()
        return self.middle + centered * cmath.rect(self.side / pixels, self.turn)


class Pyramid:
    """A photo, and the same photo halved again and again."""

    def __init__(self, image: NDArray[np.uint8]) -> None:
        self._levels: list[Floats] = [image.astype(np.float32) / np.float32(255)]
        self.height, self.width = image.shape

    def square(self, window: Window, pixels: int) -> Floats:
        """Draw a square of the photo with so many pixels a side; beyond the photo it is black."""
        from skimage.transform import AffineTransform, warp  # loaded when it is needed, as in `eye_alignment`

        level = self._level_for(window.side / pixels)
        halved = 2.0**level
        # The middle of pixel 0 is at 0 on every level, so a place moves by the half pixel that it gains or loses.
        corner = window.to_photo(np.array([0.5 + 0.5j, 1.5 + 0.5j, 0.5 + 1.5j]), pixels)
        here, right, down = ((corner + 0.5 + 0.5j) / halved - 0.5 - 0.5j).tolist()
        to_right, to_down = right - here, down - here
        matrix = [[to_right.real, to_down.real, here.real], [to_right.imag, to_down.imag, here.imag], [0, 0, 1]]
        drawn: Floats = warp(  # type: ignore[no-untyped-call]
            self._levels[level],
            AffineTransform(matrix=np.array(matrix)),  # type: ignore[no-untyped-call]
            output_shape=(pixels, pixels),
            order=1,
            mode="constant",
        )
        return drawn

    def _level_for(self, step: float) -> int:
        """Choose the level on which the square takes about every pixel: none is skipped, few are read twice."""
        level = 0
        while step >= 1.5 and min(self._levels[level].shape) >= 2:
            level, step = level + 1, step / 2
            if level == len(self._levels):
                self._levels.append(_halved(self._levels[-1]))
        return level


def _halved(image: Floats) -> Floats:
    height, width = (side // 2 for side in image.shape)
    blocks = image[: 2 * height, : 2 * width].reshape(height, 2, width, 2)
    half: Floats = blocks.mean(axis=(1, 3))
    return half
