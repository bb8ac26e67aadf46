"""Any number of made-up people, drawn fast, each from a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.crowd.drawing import Shots, draw
from lightproof.datasets.crowd.face_model import (
    COMPONENTS,
    HEIGHT,
    LANDMARK_ROWS,
    NODES,
    PIXELS,
    SPACING,
    STEPS,
    WIDTH,
    Looks,
    read_sheet,
)
from lightproof.datasets.crowd.random_fields import BELL, Keys, bells_of, keys_of
from lightproof.datasets.protocols import YALE_LIGHTS
from lightproof.errors import BadParameter
from lightproof.types import Floats, Ints, is_whole

DEFAULT_LOOKS: Final = Looks(
    variety=np.float32(1.4),
    paint=np.float32(0.6),
    bumps=np.float32(0.2),
    ambient=np.float32(0.16),
    penumbra=np.float32(0.3),
    shape=np.float32(0.3),
    wobble=np.float32(0.35),
    noise=np.float32(0.4),
)
"""Chosen on the odd-numbered people of Extended Yale B, see :mod:`benchmarks.crowd`."""

# Standard deviations: of the grain of skins from person to person, then from photo to photo.
GRAIN_SPREAD: Final = 0.35
EYE_OFFSET: Final = 0.45  # of the eyes in pixels, right and down; they are 48 apart
SCALE_SPREAD: Final = 0.008  # of the scale, and of the turn in radians
FRONTAL_SPREAD: Final = 5.0  # of the light of an enrolled photo from the camera, both ways, in degrees
LIGHT_SPREAD: Final = 3.0  # of the light of a probe from one of Extended Yale B, in degrees
EXPOSURE_SPREAD: Final = 0.15  # of the brightness, as a share
MAX_DEVIATIONS: Final = 2.5  # no light, move or exposure is off by more deviations

EXPOSED_TONE: Final = 0.62
"""Mean root of the albedo at which exposure is 1; lighter people get less light, darker ones more."""

TONE_LIMITS: Final = (0.35, 0.9)  # tones beyond these are exposed like these
PEOPLE_PER_BLOCK: Final = 32  # drawn at a time, so that their numbers stay in the processor's cache
N_PEOPLE: Final = 2**31  # numbers of people, and turns, are below it

# Deviation in pixels of the rows of brows, base of the nose and mouth among rendered people; eyes and rim stay.
_ROWS_OFF: Final = {1: 1.2, 3: 1.8, 4: 1.7}
_NODE_ROWS: Final = SPACING * np.arange(NODES[0]) - 0.5
_ROWS: Final[Floats] = np.array(
    [off / BELL * np.interp(_NODE_ROWS, LANDMARK_ROWS, np.eye(6)[k]) for k, off in _ROWS_OFF.items()], np.float32
)


@dataclass(frozen=True, eq=False)
class Probes:
    """Other photos of people, shape (n, 96, 84), and where the light stood, as in `lightproof.datasets.FaceSet`."""

    images: NDArray[np.uint8]
    azimuths: Floats
    elevations: Floats


class Crowd:
    """Any number of made-up people, each from a number, a fifth of a millisecond for each photo.

    A person is a draw from a linear model of rendered people, with features moved and a skin of its own. A photo
    depends on the seed, the person and the turn alone: any selection of people, in any order, gives the same bytes.

    Parameters
    ----------
    seed : int
        Other seed, other people.

    Examples
    --------
    >>> crowd = Crowd(seed=0)
    >>> crowd.faces([3, 999_999]).shape
    (2, 96, 84)
    >>> probes = crowd.probes([3, 999_999], turn=1)
    >>> probes.images.shape, probes.azimuths.shape
    ((2, 96, 84), (2,))
    """

    def __init__(self, seed: int = 0) -> None:
        if not is_whole(seed, 0) or seed >= 2**63:
            raise BadParameter("Crowd", "seed", "a whole number from 0 to 2**63 - 1", seed)
        self.seed = int(seed)
        self.looks = DEFAULT_LOOKS

    def faces(self, people: Ints | Sequence[int]) -> NDArray[np.uint8]:
        """Draw the photo that each person is enrolled with: lit from about the camera.

        Parameters
        ----------
        people : array-like of int of shape (n,)
            Numbers of people, 0 to 2**31 - 1.

        Returns
        -------
        ndarray of shape (n, 96, 84), uint8
        """
        whom = keys_of(self.seed, _checked_people("faces", people))
        photos = keys_of(0, whom)
        chances = _chances(photos)
        return self._drawn(whom, photos, FRONTAL_SPREAD * chances[:, :2], chances[:, 2:])

    def probes(self, people: Ints | Sequence[int], turn: int = 0) -> Probes:
        """Draw another photo of each person, under one of the lights of Extended Yale B, or near it.

        Parameters
        ----------
        people : array-like of int of shape (n,)
            Numbers of people, 0 to 2**31 - 1.
        turn : int
            Which of their other photos, 0 to 2**31 - 1.

        Returns
        -------
        Probes
        """
        if not is_whole(turn, 0) or turn >= N_PEOPLE:
            raise BadParameter("Crowd.probes", "turn", "a whole number from 0 to 2**31 - 1", turn)
        whom = keys_of(self.seed, _checked_people("probes", people))
        photos = keys_of(1 + turn, whom)
        chances = _chances(photos)
        lamps = np.array(YALE_LIGHTS, float)[(photos % np.uint64(len(YALE_LIGHTS))).astype(np.intp)]
        lights = lamps + LIGHT_SPREAD * chances[:, :2]
        lights[:, 1] = np.minimum(lights[:, 1], 90.0)
        return Probes(self._drawn(whom, photos, lights, chances[:, 2:]), *lights.T.copy())

    def _drawn(self, whom: Keys, photos: Keys, lights: Floats, chances: Floats) -> NDArray[np.uint8]:
        sheet, images = read_sheet(), np.empty((len(whom), HEIGHT, WIDTH), np.uint8)
        rays = _rays(lights)
        moves = (chances[:, :4] * [EYE_OFFSET, EYE_OFFSET, SCALE_SPREAD, SCALE_SPREAD]).astype(np.float32)
        gains = 1 + EXPOSURE_SPREAD * chances[:, 4]
        for start in range(0, len(whom), PEOPLE_PER_BLOCK):
            some = slice(start, start + PEOPLE_PER_BLOCK)
            draws = bells_of(whom[some], COMPONENTS + len(_ROWS) + 1)
            shapes, rows, grains = np.split(draws, [COMPONENTS, COMPONENTS + len(_ROWS)], axis=1)
            shots = Shots(
                people=whom[some],
                photos=photos[some],
                shapes=shapes @ sheet.components,
                # Summed one by one: the sums of a matrix product may differ from one block size to another.
                rows=rows[:, :1] * _ROWS[0] + rows[:, 1:2] * _ROWS[1] + rows[:, 2:] * _ROWS[2],
                lights=rays[some],
                moves=moves[some],
                grains=np.square(1 + np.float32(GRAIN_SPREAD / BELL) * grains[:, 0]),
                gains=(gains[some] * EXPOSED_TONE / _tones(shapes, self.looks)).astype(np.float32),
            )
            draw(shots, sheet, self.looks, images[some])
        return images


def _chances(photos: Keys) -> Floats:
    """Draw the circumstances of each photo: seven bell-shaped numbers of deviation 1, shape (n, 7)."""
    return np.clip(bells_of(photos, 7).astype(np.float64) / BELL, -MAX_DEVIATIONS, MAX_DEVIATIONS)


def _tones(draws: Floats, looks: Looks) -> Floats:
    """Mean root of the albedo of people, shape (n,)."""
    sheet = read_sheet()
    apart = draws.astype(np.float64) @ sheet.tones[1:]  # of whole numbers again
    return np.asarray(np.clip(sheet.tones[0] + float(looks.variety) * STEPS[0] / (PIXELS * BELL) * apart, *TONE_LIMITS))


def _rays(lights: Floats) -> Floats:
    """Unit vectors to the lights (right, down, to the camera), (n, 2) -> (n, 3).

    Sines are not the same to the last bit on all processors; rounded, they are.
    """
    # Imported here, so that the data sets load without the light estimator.
    from lightproof.imaging.lighting import toward

    return np.asarray(np.rint(toward(lights) * (-1, -1, 1) * 2**16) / 2**16, np.float32)


def _checked_people(method: str, people: Any) -> Keys:
    legal = "a list or array of whole numbers from 0 to 2**31 - 1"
    numbers = np.asarray(people)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise BadParameter(f"Crowd.{method}", "people", legal, people)
    wrong = (numbers < 0) | (numbers >= N_PEOPLE)
    if wrong.any():
        raise BadParameter(f"Crowd.{method}", "people", legal, int(numbers[wrong][0]))
    return numbers.astype(np.uint64)
