"""A face -> what the light does to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from lightproof.errors import BadImage, BadParameter
from lightproof.imaging.lighting import light_direction, measures
from lightproof.imaging.lighting.hints import NO_PROBLEM, problem_for
from lightproof.types import Array, Floats

Side = Literal["left", "right", "front"]
Height = Literal["above", "level", "below"]

SMALLEST: Final = 16

FRONT: Final = 15.0
"""Degrees of azimuth up to which a light has no side."""

LEVEL: Final = 15.0
"""Degrees of elevation up to which a light is level with the face."""

OVERHEAD: Final = 80.0
"""Degrees of elevation from which on a light has no side."""

NO_LIGHT: Final = 4.0
"""Brightness in grey values up to which the noise of the camera would decide the direction."""


@dataclass(frozen=True)
class Diagnosis:
    """What the light does to one face.

    Attributes
    ----------
    azimuth, elevation : float or None
        Direction of the main light in degrees, as in Extended Yale B. Azimuth 0 is the camera, positive is the left of
        the picture (the right of the person), 90 straight from the side, more is behind the face. Positive elevation
        is above. None where the picture does not tell.
    side : {"left", "right", "front"} or None
        Side of the picture that the light comes from.
    height : {"above", "level", "below"} or None
    balance : float
        From -1 to 1: positive where the left half of the picture is the brighter one.
    brightness : float
        Grey value that 95 % of the pixels do not exceed.
    shadow_share : float
        Share of the pixels darker than a quarter of the brightness. Dark hair and beards count.
    clipped_share, black_share : float
        Share of the pixels of 250 and more, and of 5 and less.
    sharpness : float
        From 0 to 1; a sharp face has about 0.25, a blurred one less than 0.13.
    eye_distance : float or None
        Pixels between the eyes in the photo the face was cut from, where that is known.
    even : bool
        Whether the face has none of the problems that a hint names.
    hint : str
        One sentence for the person in front of the camera.
    """

    azimuth: float | None
    elevation: float | None
    side: Side | None
    height: Height | None
    balance: float
    brightness: float
    shadow_share: float
    clipped_share: float
    black_share: float
    sharpness: float
    eye_distance: float | None
    even: bool
    hint: str


def diagnose(face: Array, eye_distance: float | None = None) -> Diagnosis:
    """Say what the light does to a face.

    Parameters
    ----------
    face : ndarray of shape (h, w), uint8
        An upright face of at least 16 x 16 pixels, cut as in Extended Yale B: the eyes at 0.24 of the height and at
        0.21 and 0.79 of the width.
    eye_distance : float, optional
        Pixels between the eyes in the photo before it was cut.

    Returns
    -------
    Diagnosis

    Raises
    ------
    BadImage
        If ``face`` is no such picture.
    BadParameter
        If ``eye_distance`` is not a positive number.

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> lit = diagnose(make_relit_faces(1, lights=[(70, 0)]).images[0])
    >>> lit.side, lit.height, lit.balance > 0
    ('left', 'level', True)
    >>> lit.hint
    'The right half of the picture, your left side, is in shadow: turn to your right, toward the light.'
    """
    face = _checked(face)
    eye_distance = _checked_distance(eye_distance)
    brightness = measures.brightness(face)
    azimuth, elevation = _told(light_directions(face[None])[0])
    balance, clipped, sharpness = measures.balance(face), measures.clipped_share(face), measures.sharpness(face)
    problem = problem_for(azimuth, elevation, balance, brightness, clipped, sharpness, eye_distance)
    return Diagnosis(
        azimuth=azimuth,
        elevation=elevation,
        side=_side(azimuth, elevation),
        height=_height(elevation),
        balance=balance,
        brightness=brightness,
        shadow_share=measures.shadow_share(face),
        clipped_share=clipped,
        black_share=measures.black_share(face),
        sharpness=sharpness,
        eye_distance=eye_distance,
        even=problem is None,
        hint=problem or NO_PROBLEM,
    )


def light_directions(faces: Array) -> Floats:
    """Say where the light comes from for many faces in one go: the direction of :func:`diagnose`, and no more.

    It takes a tenth of a millisecond for each face.

    Parameters
    ----------
    faces : ndarray of shape (n, h, w), uint8
        Upright faces of at least 16 x 16 pixels, cut as :func:`diagnose` wants them; n may be 0.

    Returns
    -------
    ndarray of shape (n, 2)
        Azimuth and elevation in degrees; both nan where the picture does not tell.

    Raises
    ------
    BadImage
        If ``faces`` are no such pictures.

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> lit = make_relit_faces(1, lights=[(70, 0), (-70, 0)])
    >>> azimuths, elevations = light_directions(lit.images).T
    >>> bool(azimuths[0] > 45), bool(azimuths[1] < -45)
    (True, True)
    """
    legal = f"grey faces of shape (n, h, w), uint8, of at least {SMALLEST} x {SMALLEST} pixels"
    if not isinstance(faces, np.ndarray):
        raise BadImage("`faces` of light_directions", legal, type(faces).__name__)
    if faces.dtype != np.uint8 or faces.ndim != 3 or min(faces.shape[1:]) < SMALLEST:
        raise BadImage("`faces` of light_directions", legal, f"{faces.dtype} of shape {faces.shape}")
    lit = np.array([_is_lit(face) for face in faces], bool)
    directions = np.full((len(faces), 2), np.nan)
    # Most often all are lit, and then no face is copied.
    directions[lit] = light_direction.light_directions(faces if lit.all() else faces[lit])
    return directions


def _is_lit(face: Array) -> bool:
    # A tenth of the pixels is more than the bright parts: only a dark face needs a closer look.
    return bool(np.count_nonzero(face > np.uint8(NO_LIGHT)) > face.size / 10) or measures.brightness(face) > NO_LIGHT


def _told(found: Floats) -> tuple[float, float] | tuple[None, None]:
    azimuth, elevation = map(float, found)
    return (None, None) if math.isnan(azimuth) else (azimuth, elevation)


def _checked(face: object) -> Array:
    legal = f"a grey face of shape (h, w), uint8, of at least {SMALLEST} x {SMALLEST} pixels"
    if not isinstance(face, np.ndarray):
        raise BadImage("`face` of diagnose", legal, type(face).__name__)
    if face.dtype != np.uint8 or face.ndim != 2 or min(face.shape) < SMALLEST:
        raise BadImage("`face` of diagnose", legal, f"{face.dtype} of shape {face.shape}")
    return face


def _checked_distance(distance: object) -> float | None:
    if distance is None:
        return None
    number = isinstance(distance, int | float | np.integer | np.floating) and not isinstance(distance, bool)
    if number and 0 < float(distance) < math.inf:  # type: ignore[arg-type]
        return float(distance)  # type: ignore[arg-type]
    raise BadParameter("diagnose", "eye_distance", "a positive number of pixels, or None", distance)


def _side(azimuth: float | None, elevation: float | None) -> Side | None:
    if azimuth is None or elevation is None:
        return None
    if abs(azimuth) <= FRONT or elevation >= OVERHEAD:
        return "front"
    return "left" if azimuth > 0 else "right"


def _height(elevation: float | None) -> Height | None:
    if elevation is None:
        return None
    return "level" if abs(elevation) <= LEVEL else "above" if elevation > 0 else "below"
