"""Faces are found by the detector, in whole photos or in crops set into a frame, and cut by the eyes it found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.core.executors import ProcessExecutor, Task
from lightproof.core.progress import Progress, silent
from lightproof.core.report_parts import TextTable
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import halves_of, yale_subset
from lightproof.datasets.yale_b import YALE_EYES
from lightproof.experiments import PHOTO_SETS
from lightproof.imaging.detection import FACE_SIZE, Face, align, align_by_eyes, find_faces
from lightproof.imaging.detection.face_networks import find_weights

FRAME: Final = 320  # side of the black frame, in pixels

_NOWHERE: Final = np.full(2, complex(np.nan, np.nan))


class _Sighting(NamedTuple):
    """A face in the picture, and brought to the common shape."""

    face: Face
    shaped: NDArray[np.uint8] | None

    @property
    def eyes(self) -> NDArray[np.complex128]:
        """Both eyes in the picture."""
        return _eyes_of(self.face)

    @property
    def yaw(self) -> float:
        """The yaw of the head in degrees."""
        return float("nan") if self.face.pose is None else self.face.pose.yaw


@dataclass(frozen=True, eq=False)
class Search:
    """The faces that the detector found in a set of photos or crops."""

    faces: FaceSet  # each picture cut by the eyes found in it; black if there were none, see ``found``
    eyes: NDArray[np.complex128]  # column + 1j * row of the right and the left eye in the picture, or NaN, (n, 2)
    looks: tuple[str, ...]  # the look in which each face was found; "" if none was
    yaws: NDArray[np.float64]  # of the heads, in degrees, NaN if unknown, (n,)


def find_again(faces: FaceSet, jobs: int = 1, progress: Progress = silent) -> Search:
    """Look for every face of a set: in its photos, or in its crops (at most 320 x 320 pixels) set into a frame.

    In a photo of several people the one nearest the middle counts.
    """
    find_weights()
    photos = faces.name in PHOTO_SETS
    sightings = ProcessExecutor(jobs).map(Task(_find_in_photo if photos else _find), faces.images, len(faces))
    found = list(progress(sightings, len(faces)))
    eyes = np.array([_NOWHERE if sighting is None else sighting.eyes for sighting in found])
    size = FACE_SIZE if photos else faces.images.shape[1:]
    images = np.zeros((len(faces), *size), np.uint8)
    for i in np.flatnonzero(np.isfinite(eyes[:, 0])):
        right, left = ((eye.real, eye.imag) for eye in eyes[i])
        images[i] = align_by_eyes(faces.images[i], right, left, size)
    looks = tuple("" if sighting is None else sighting.face.look for sighting in found)
    shaped = tuple(None if sighting is None else sighting.shaped for sighting in found)
    yaws = np.array([np.nan if sighting is None else sighting.yaw for sighting in found])
    return Search(replace(faces, images=images, shaped=shaped, found=np.isfinite(eyes[:, 0])), eyes, looks, yaws)


def set_into_frame(image: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], complex]:
    """Set a crop into the middle of a black frame; return the frame, and the position of the crop's corner."""
    frame = np.zeros((FRAME, FRAME), np.uint8)
    left, top = (FRAME - image.shape[1]) // 2, (FRAME - image.shape[0]) // 2
    frame[top : top + image.shape[0], left : left + image.shape[1]] = image
    return frame, complex(left, top)


def eye_errors(search: Search) -> NDArray[np.float64] | None:
    """Mean distance of the eyes from the person's marked ones, in percent of the eye distance, shape (n,).

    NaN if no face was found; None for a data set without marked eyes.
    """
    if search.faces.name != "yale":
        return None
    marked = np.array([YALE_EYES[label] for label in search.faces.labels]) @ [[1, 0], [1j, 0], [0, 1], [0, 1j]]
    errors: NDArray[np.float64] = np.abs(search.eyes - marked).mean(axis=1) / np.abs(marked[:, 1] - marked[:, 0]) * 100
    return errors


def search_table(search: Search) -> TextTable:
    """Show how many faces were found in each subset, how far their eyes are off, and the looks that found them.

    Where no light is known, the groups are the halves of the people.
    """
    faces, errors = search.faces, eye_errors(search)
    groups = [(f"people {half}", np.isin(faces.labels, list(who))) for half, who in halves_of(faces).items()]
    if np.isfinite(faces.azimuths).all():
        subsets = yale_subset(faces.azimuths, faces.elevations)
        groups = [("training set" if k == 0 else f"subset {k}", subsets == k) for k in range(5)]
    groups.append(("all", np.ones(len(faces), bool)))
    lines = [[name, *_cells(search, errors, chosen)] for name, chosen in groups if chosen.any()]
    head, note = ["photos", "number", "found, %", "found in the look"], ""
    if errors is not None:
        head[-1:-1] = ["eyes off: median", "95 % within"]
        note = "Eyes off: mean of both eyes, in percent of the eye distance, from each person's own pupils."
    return TextTable("Faces found", head, lines, note)


def _cells(search: Search, errors: NDArray[np.float64] | None, chosen: NDArray[np.bool_]) -> list[str]:
    found = chosen & search.faces.found
    off: list[str] = []
    if errors is not None:
        off = [f"{np.percentile(errors[found], share):.1f}" if found.any() else "" for share in (50, 95)]
    looks = Counter(np.array(search.looks)[found].tolist())
    counts = ", ".join(f"{look} {count}" for look, count in looks.most_common())
    return [str(int(chosen.sum())), f"{100 * found.sum() / chosen.sum():.2f}", *off, counts]


def _find(image: NDArray[np.uint8]) -> _Sighting | None:
    """Find the face in a crop; a face with an eye outside of it is an artifact of the frame's edge."""
    frame, corner = set_into_frame(image)
    for face in find_faces(frame):
        eyes = _eyes_of(face) - corner
        last = complex(image.shape[1] - 1, image.shape[0] - 1)
        inside = (eyes.real >= 0) & (eyes.imag >= 0) & (eyes.real <= last.real) & (eyes.imag <= last.imag)
        if inside.all():
            return _sighting(image, _moved(face, -corner))
    return None


def _find_in_photo(image: NDArray[np.uint8]) -> _Sighting | None:
    """Find the face nearest the middle of a photo."""
    middle = complex(image.shape[1] - 1, image.shape[0] - 1) / 2
    face = min(find_faces(image), key=lambda face: abs(_eyes_of(face).mean() - middle), default=None)
    return None if face is None else _sighting(image, face)


def _sighting(image: NDArray[np.uint8], face: Face) -> _Sighting:
    return _Sighting(face, align(image, face).shaped)


def _moved(face: Face, move: complex) -> Face:
    """Return a face whose place is counted from another corner."""
    right, left = (complex(eye) for eye in _eyes_of(face) + move)
    mesh = None if face.mesh is None else face.mesh + np.array([move.real, move.imag, 0])
    return replace(face, right_eye=(right.real, right.imag), left_eye=(left.real, left.imag), mesh=mesh)


def _eyes_of(face: Face) -> NDArray[np.complex128]:
    return np.array([complex(*face.right_eye), complex(*face.left_eye)])
