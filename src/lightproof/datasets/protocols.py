"""Who is enrolled with which photo, and which photos are probes: rules only, no file access."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightproof.datasets.face_set import FaceSet
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

AR_GALLERY: Final = ("1", "14")
"""Neutral, light from the front, one of each session."""

AR_PROBES: Final = {1: ("5", "6", "18", "19"), 2: ("7", "20")}
"""Light from the left or the right; light from both sides."""

CAS_PEAL_AZIMUTHS: Final = {1: 0, 2: 45, 3: 90}
"""Azimuth of the lamp, to either side, by subset."""

CAS_PEAL_GALLERIES: Final = ("one normal photo", "normal and subset 1", "normal and subsets 1, 2")

POSE_BORDERS: Final = (10.0, 25.0)
"""Differences of yaw, in degrees, that part the probes of :func:`pose_test`."""

CHOSEN_ON, HELD_OUT = "chosen on", "held out"

CHOSEN_ON_FIRST: Final = {"orl": 20, "lfw": 40}
"""On so many people, the first ones, settings may be chosen: s1 to s20 of ORL; of LFW the first by name."""


@dataclass(frozen=True, eq=False)
class Split:
    """Positions in a FaceSet: photos to enroll, and to identify by subset; a higher number is a harder light."""

    gallery: NDArray[np.intp]
    probes: dict[int, NDArray[np.intp]]


@dataclass(frozen=True)
class Protocol:
    """A rule that splits a data set into gallery and probes; ``gallery`` says in words which photos are enrolled.

    ``name`` is that of the paper; ``people`` tells from a label whether that person takes part.
    """

    name: str
    gallery: str
    rule: Callable[[FaceSet], Split]
    people: Callable[[str], bool] = lambda label: True

    def split(self, faces: FaceSet) -> Split:
        """Apply the rule. Refuse a split that leaves out a person, or whose probes are enrolled."""
        split = self.rule(faces)
        people = [label for label in np.unique(faces.labels) if self.people(str(label))]
        left_out = np.setdiff1d(people, faces.labels[split.gallery])
        if len(left_out):
            legal = f"on a photo that {self.name} enrolls ({self.gallery})"
            raise BadLabels(f"Label {str(left_out[0])!r}", legal, "none")
        for subset, probes in split.probes.items():
            both = np.intersect1d(split.gallery, probes)
            if len(both):
                got = f"{len(both)} of them, the first {faces.files[both[0]]}"
                raise BadLabels(f"Probes {subset} of {self.name}", "photos that are not enrolled", got)
        return split


def restricted(protocol: Protocol, subsets: Iterable[int]) -> Protocol:
    """Return a protocol with some subsets of the probes only."""
    chosen = tuple(subsets)

    def rule(faces: FaceSet) -> Split:
        split = protocol.split(faces)
        return Split(split.gallery, {subset: split.probes[subset] for subset in chosen})

    return replace(protocol, rule=rule)


def restricted_to_people(protocol: Protocol, people: Callable[[str], bool]) -> Protocol:
    """Return a protocol with the people whom both it and ``people`` take, in the gallery and among the probes."""

    def rule(faces: FaceSet) -> Split:
        split = protocol.split(faces)
        chosen = [label for label in np.unique(faces.labels) if people(str(label))]
        inside = np.isin(faces.labels, chosen)
        gallery, *probes = (photos[inside[photos]] for photos in (split.gallery, *split.probes.values()))
        if len(gallery) == 0:
            raise BadLabels(f"People of {protocol.name}", "some who take part", "none")
        return Split(gallery, dict(zip(split.probes, probes, strict=True)))

    return replace(protocol, rule=rule, people=lambda label: protocol.people(label) and people(label))


def has_even_number(label: str) -> bool:
    """Tell whether the number at the end of a name is even: that of yaleB02 is, that of yaleB39 is not."""
    if number := re.search(r"[0-9]+$", label):
        return int(number[0]) % 2 == 0
    raise BadLabels(f"Label {label!r}", "a name with a number at its end, such as yaleB02", "none")


def has_odd_number(label: str) -> bool:
    """Tell whether the number at the end of a name is odd."""
    return not has_even_number(label)


def yale_subset(azimuths: ArrayLike, elevations: ArrayLike) -> NDArray[np.intp]:
    """Tell the subset of each light (degrees), by the table "Azi. & Ele. angles" of the paper; 0 is the training set.

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


def yale_test_1() -> Protocol:
    """Test 1 of the paper: all training photos are enrolled."""
    return _yale_test("Test 1", "all training photos", lambda faces, training: training)


def yale_test_2(pick: Pick = "authors") -> Protocol:
    """Test 2 of the paper: one training photo of each person is enrolled.

    Parameters
    ----------
    pick : int or "authors"
        0 to 10 is a place among the person's training photos in file order, modulo their number. 11 or more is a
        seed: a photo at random for each person. ``"authors"`` is the photo the released code takes: the light at
        azimuth -5, elevation -10, or -5, +10 for people with ten training photos.
    """
    if pick == "authors":
        return _yale_test("Test 2", "authors", _authors_photo)
    if isinstance(pick, str) or not is_whole(pick, 0):
        raise BadParameter("yale_test_2", "pick", "0 to 10, a seed of 11 or more, or 'authors'", pick)
    if pick < YALE_PICKS:
        return _yale_test("Test 2", f"photo {pick}", lambda faces, training: training[[pick % len(training)]])
    return _yale_test("Test 2", f"seed {pick}", lambda faces, training: _random_photo(faces, training, int(pick)))


def _yale_test(name: str, gallery: str, choose: Callable[[FaceSet, NDArray[np.intp]], NDArray[np.intp]]) -> Protocol:
    """Enroll what ``choose`` takes of each person's training photos; the probes are the four test subsets."""

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
    # Seeded by the name too: a person's photo does not depend on the other people in the set.
    rng = np.random.default_rng([seed, *str(faces.labels[training[0]]).encode()])
    return training[[rng.integers(len(training))]]


def _authors_photo(faces: FaceSet, training: NDArray[np.intp]) -> NDArray[np.intp]:
    elevation = -10 if len(training) >= YALE_PICKS else 10
    photos: NDArray[np.intp] = training[(faces.azimuths[training] == -5) & (faces.elevations[training] == elevation)]
    if len(photos) != 1:
        label = f"Label {str(faces.labels[training[0]])!r}"
        raise BadLabels(label, f"on one photo with azimuth -5, elevation {elevation:+d}", str(len(photos)))
    return photos


def ar_test() -> Protocol:
    """Test of the paper on AR: shots 1 and 14 are enrolled.

    Subset 1 is light from one side (shots 5, 6, 18, 19; 400 photos of 100 people), subset 2 light from both sides
    (shots 7 and 20; 200 photos).
    """

    def rule(faces: FaceSet) -> Split:
        shots = np.array(faces.shots)
        probes = {subset: np.flatnonzero(np.isin(shots, chosen)) for subset, chosen in AR_PROBES.items()}
        return Split(np.flatnonzero(np.isin(shots, AR_GALLERY)), probes)

    return Protocol("Test", "shots 1 and 14", rule)


def cas_peal_test(adding: int = 0) -> Protocol:
    """Test of the paper on CAS-PEAL-R1: one normal photo of each person is enrolled.

    Subset 1 is the lamp at azimuth 0, subset 2 at 45 degrees to either side, subset 3 at 90 degrees.

    Parameters
    ----------
    adding : int
        The enlarged training sets of the paper's discussion: 1 enrolls subset 1 too, 2 subsets 1 and 2. Then only
        subset 3 is left as probes.
    """
    if not is_whole(adding, 0) or adding >= len(CAS_PEAL_GALLERIES):
        raise BadParameter("cas_peal_test", "adding", "0, 1 or 2", adding)

    def rule(faces: FaceSet) -> Split:
        # The room's own light, E, is that of the normal photo.
        normal = np.array([shot.startswith("IE") for shot in faces.shots], dtype=bool)
        lamp = {i: ~normal & (np.abs(faces.azimuths) == azimuth) for i, azimuth in CAS_PEAL_AZIMUTHS.items()}
        enrolled = np.any([normal, *(lamp[subset] for subset in range(1, adding + 1))], axis=0)
        subsets = [3] if adding else list(CAS_PEAL_AZIMUTHS)
        return Split(np.flatnonzero(enrolled), {subset: np.flatnonzero(lamp[subset]) for subset in subsets})

    return Protocol("Test", CAS_PEAL_GALLERIES[adding], rule)


def folder_test(pick: int = 0) -> Protocol:
    """Enroll one photo of each person of a folder; all other photos are subset 1.

    A person's single photo is enrolled, so it is no probe.

    Parameters
    ----------
    pick : int
        Place among the person's photos in file order, from 0, modulo their number.
    """
    if not is_whole(pick, 0):
        raise BadParameter("folder_test", "pick", "a whole number of at least 0", pick)

    def rule(faces: FaceSet) -> Split:
        by_person = [np.flatnonzero(faces.labels == person) for person in np.unique(faces.labels)]
        gallery = np.array([photos[pick % len(photos)] for photos in by_person], dtype=np.intp)
        return Split(gallery, {1: np.setdiff1d(np.arange(len(faces)), gallery)})

    return Protocol("One photo", f"photo {pick}", rule)


def pose_test(yaws: ArrayLike) -> Protocol:
    """Enroll the first photo of each person; the others are parted by how far the head has turned since.

    Subset 1 differs from the enrolled photo by less than 10 degrees of yaw, subset 2 by 10 to 25, subset 3 by more.
    Where one of both yaws is unknown (no face was found, or nothing tells its pose), the probe is in subset 4. There
    are no empty subsets.

    Parameters
    ----------
    yaws : array-like of shape (n,)
        The yaw of the head on each photo of the set, in degrees, or NaN.
    """
    yaws = np.asarray(yaws, float)

    def rule(faces: FaceSet) -> Split:
        split = folder_test().split(faces)
        enrolled = dict(zip(faces.labels[split.gallery].tolist(), yaws[split.gallery], strict=True))
        (probes,) = split.probes.values()
        turned = np.abs(yaws[probes] - [enrolled[label] for label in faces.labels[probes].tolist()])
        # NaN is beyond every border.
        subset = 1 + np.searchsorted([*POSE_BORDERS, np.inf], turned, side="right")
        return Split(split.gallery, {int(k): probes[subset == k] for k in np.unique(subset)})

    return Protocol("One photo", "first photo", rule)


def halves_of(faces: FaceSet) -> dict[str, frozenset[str]]:
    """Return the people on whom settings are chosen and those held out, in ORL and LFW; nothing for other sets."""
    people = list(dict.fromkeys(map(str, faces.labels)))
    first = CHOSEN_ON_FIRST.get(faces.name, len(people))
    halves = {CHOSEN_ON: frozenset(people[:first]), HELD_OUT: frozenset(people[first:])}
    return halves if len(people) > first else {}
