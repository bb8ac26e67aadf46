"""Extended Yale B: subsets by the direction of the light, Test 1 and Test 2 of the paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols.rule import Protocol, Split
from lightproof.errors import BadLabels, BadParameter
from lightproof.types import is_whole

Pick: TypeAlias = int | Literal["authors"]

Light: TypeAlias = tuple[float, float]

# fmt: off
YALE_LIGHTS: Final[tuple[Light, ...]] = (
    (-130, 20), (-120, 0), (-110, -20), (-110, 15), (-110, 40), (-110, 65), (-95, 0), (-85, -20),
    (-85, 20), (-70, -35), (-70, 0), (-70, 45), (-60, -20), (-60, 20), (-50, -40), (-50, 0),
    (-35, -20), (-35, 15), (-35, 40), (-35, 65), (-25, 0), (-20, -40), (-20, -10), (-20, 10),
    (-15, 20), (-10, -20), (-10, 0), (-5, -10), (-5, 10), (0, -35), (0, -20), (0, 0),
    (0, 20), (0, 45), (0, 90), (5, -10), (5, 10), (10, -20), (10, 0), (15, 20),
    (20, -40), (20, -10), (20, 10), (25, 0), (35, -20), (35, 15), (35, 40), (35, 65),
    (50, -40), (50, 0), (60, -20), (60, 20), (70, -35), (70, 0), (70, 45), (85, -20),
    (85, 20), (95, 0), (110, -20), (110, 15), (110, 40), (110, 65), (120, 0), (130, 20),
)
# fmt: on
"""The 64 lights of Extended Yale B as (azimuth, elevation) in degrees, sorted."""

YALE_PICKS: Final = 11
"""Training photos of a person in Extended Yale B; yaleB16, 17 and 18 have ten."""


def yale_subset(azimuths: ArrayLike, elevations: ArrayLike) -> NDArray[np.intp]:
    """Tell the subset of each light, by the table "Azi. & Ele. angles" of the paper.

    Parameters
    ----------
    azimuths, elevations : array-like of shape (n,)
        Degrees.

    Returns
    -------
    ndarray of shape (n,)
        0 for the training set, 1 to 4 for the test subsets.

    Examples
    --------
    >>> yale_subset([5, 20, 50, 0, 85, 120, 0], [10, 10, 0, 45, 20, 0, 90]).tolist()
    [0, 1, 2, 2, 3, 4, 4]
    """
    azimuth, elevation = np.abs(np.asarray(azimuths)), np.abs(np.asarray(elevations))
    by_azimuth = np.searchsorted([10, 25, 60, 95], azimuth, side="left")
    # Straight above or below the camera the elevation decides.
    steep = (azimuth <= 10) & (elevation > 20)
    return np.where(steep, np.where(elevation >= 90, 4, 2), by_azimuth).astype(np.intp)


def has_even_number(label: str) -> bool:
    """Tell whether the number at the end of a name is even: that of yaleB02 is, that of yaleB39 is not."""
    return _number(label) % 2 == 0


def has_odd_number(label: str) -> bool:
    """Tell whether the number at the end of a name is odd."""
    return _number(label) % 2 == 1


def yale_test_1() -> Protocol:
    """Test 1 of the paper: everybody enrolled with all training photos."""
    return _enrolling("Test 1", "all training photos", lambda faces, training: training)


def yale_test_2(pick: Pick = "authors") -> Protocol:
    """Test 2 of the paper: everybody enrolled with one training photo.

    Parameters
    ----------
    pick : int or "authors"
        0 to 10 is a place among the person's training photos in file order, modulo their number. 11 or more is a
        seed: a photo at random for each person. ``"authors"`` is the photo the released code takes: the light at
        azimuth -5, elevation -10, or -5, +10 for people with ten training photos.
    """
    if isinstance(pick, str):
        if pick != "authors":
            raise BadParameter("yale_test_2", "pick", "0 to 10, a seed of 11 or more, or 'authors'", pick)
        return _enrolling("Test 2", "authors", _authors_photo)
    if not is_whole(pick, 0):
        raise BadParameter("yale_test_2", "pick", "0 to 10, a seed of 11 or more, or 'authors'", pick)
    if pick < YALE_PICKS:
        return _enrolling("Test 2", f"photo {pick}", lambda faces, training: training[[pick % len(training)]])
    return _enrolling("Test 2", f"seed {pick}", lambda faces, training: _random_photo(faces, training, int(pick)))


def _number(label: str) -> int:
    found = re.search(r"[0-9]+$", label)
    if found is None:
        raise BadLabels(f"Label {label!r}", "a name with a number at its end, such as yaleB02", "none")
    return int(found[0])


def _enrolling(name: str, gallery: str, choose: Callable[[FaceSet, NDArray[np.intp]], NDArray[np.intp]]) -> Protocol:
    """Enroll what ``choose`` takes of each person's training photos; ask about the four test subsets."""

    def rule(faces: FaceSet) -> Split:
        subset = yale_subset(faces.azimuths, faces.elevations)
        chosen = []
        for person in np.unique(faces.labels):
            training = np.flatnonzero((faces.labels == person) & (subset == 0))
            if len(training) == 0:
                raise BadLabels(f"Label {str(person)!r}", f"on a photo of the training lights for {name}", "none")
            chosen.append(choose(faces, training))
        return Split(np.concatenate(chosen), {i: np.flatnonzero(subset == i) for i in (1, 2, 3, 4)})

    return Protocol(name, gallery, rule)


def _random_photo(faces: FaceSet, training: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    # Seeded by the name too: a person's photo does not depend on who else is in the set.
    rng = np.random.default_rng([seed, *str(faces.labels[training[0]]).encode()])
    return training[[rng.integers(len(training))]]


def _authors_photo(faces: FaceSet, training: NDArray[np.intp]) -> NDArray[np.intp]:
    elevation = -10 if len(training) >= YALE_PICKS else 10
    found: NDArray[np.intp] = training[(faces.azimuths[training] == -5) & (faces.elevations[training] == elevation)]
    if len(found) != 1:
        person = str(faces.labels[training[0]])
        raise BadLabels(f"Label {person!r}", f"on one photo with azimuth -5, elevation {elevation:+d}", str(len(found)))
    return found
