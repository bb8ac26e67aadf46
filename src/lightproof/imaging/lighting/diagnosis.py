"""A face -> what light and pose do to it: measurements, and a hint for the person before the camera."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Final, Literal

import numpy as np

from lightproof.core.images import bring_to_size
from lightproof.errors import BadImage, BadParameter
from lightproof.imaging.detection.head_pose import HeadPose
from lightproof.imaging.lighting.light_direction import SMALLEST, brightness, light_directions
from lightproof.types import Array, Floats, is_positive

Side = Literal["left", "right", "front"]
Height = Literal["above", "level", "below"]

# Directions of a light, in degrees.
FRONT_DEGREES: Final = 15.0  # azimuth up to which it has no side
LEVEL_DEGREES: Final = 15.0  # elevation up to which it is level with the face
OVERHEAD_DEGREES: Final = 80.0  # elevation from which on it has no side
BEHIND_DEGREES: Final = 105.0  # azimuth from which on it is behind the person
STEEP_DEGREES: Final = 45.0  # elevation above which it is too high
LOW_DEGREES: Final = -30.0  # elevation below which it is too low

MIN_BRIGHTNESS: Final = 40.0  # grey value below which a face is too dark
MAX_CLIPPED: Final = 0.15  # share of white pixels above which a face is too bright
MIN_EYE_DISTANCE: Final = 40.0  # pixels below which a face is small
MIN_SHARPNESS: Final = 0.13  # below it a face is blurred, by about 2.5 pixels or more on a crop of 192 rows
MAX_BALANCE: Final = 0.2  # above it one half is in shadow: the other is 1.5 times as bright
SHADOW: Final = 0.25  # a pixel is in shadow when it is darker than this share of the brightness
WHITE_FROM: Final = 250  # grey value from which on nothing can be told apart
BLACK_TO: Final = 5  # grey value up to which nothing can be told apart
SHARPNESS_ROWS: Final = 96  # height at which sharpness is judged: finer detail is noise, and no feature of a face

# Of the head; a photo that looks elsewhere is hard to compare with one that looks into the camera.
MAX_YAW_DEGREES: Final = 20.0
MAX_PITCH_DEGREES: Final = 25.0  # people differ by 5 degrees in what is level
MAX_MOUTH_OPEN: Final = 0.45
MIN_EYES_OPEN: Final = 0.1

NO_PROBLEM: Final = "The light is even: nothing to do."


@dataclass(frozen=True)
class Diagnosis:
    """What light and pose do to one face.

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
    yaw, pitch, roll, mouth_open, eyes_open : float or None
        Those of :class:`~lightproof.imaging.detection.HeadPose`, where the pose is known.
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
    yaw: float | None
    pitch: float | None
    roll: float | None
    mouth_open: float | None
    eyes_open: float | None
    even: bool
    hint: str


def diagnose(face: Array, eye_distance: float | None = None, pose: HeadPose | None = None) -> Diagnosis:
    """Measure what the light does to a face, and say what its pose does.

    Parameters
    ----------
    face : ndarray of shape (h, w), uint8
        An upright face of at least 16 x 16 pixels, cut as in Extended Yale B: the eyes at 0.24 of the height and at
        0.21 and 0.79 of the width.
    eye_distance : float, optional
        Pixels between the eyes in the photo before it was cut.
    pose : HeadPose, optional
        How the head is turned; ``pose`` of a :class:`~lightproof.imaging.detection.Portrait`.

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
    if eye_distance is not None and not is_positive(eye_distance):
        raise BadParameter("diagnose", "eye_distance", "a positive number of pixels, or None", eye_distance)
    if pose is not None and not isinstance(pose, HeadPose):
        raise BadParameter("diagnose", "pose", "a HeadPose, or None", pose)
    azimuth, elevation = (None if math.isnan(angle) else float(angle) for angle in light_directions(face[None])[0])
    bright, sides, sharp = brightness(face), balance(face), sharpness(face)
    clipped = float(np.mean(face >= WHITE_FROM))
    problem = problem_for(azimuth, elevation, sides, bright, clipped, sharp, eye_distance, pose)
    known = dict.fromkeys(field.name for field in fields(HeadPose)) if pose is None else asdict(pose)
    return Diagnosis(
        azimuth=azimuth,
        elevation=elevation,
        side=_side(azimuth, elevation),
        height=_height(elevation),
        balance=sides,
        brightness=bright,
        shadow_share=float(np.mean(face < SHADOW * bright)),
        clipped_share=clipped,
        black_share=float(np.mean(face <= BLACK_TO)),
        sharpness=sharp,
        eye_distance=None if eye_distance is None else float(eye_distance),
        **known,
        even=problem is None,
        hint=problem or NO_PROBLEM,
    )


def balance(face: Array) -> float:
    """(left - right) / (left + right) of the mean grey values of both halves of the picture; 0 for a black one."""
    half = face.shape[1] // 2
    left, right = float(face[:, :half].mean()), float(face[:, -half:].mean())
    return (left - right) / (left + right) if left + right > 0 else 0.0


def sharpness(face: Array) -> float:
    """Share of all change from pixel to pixel that a blur of one pixel takes away, 0 to 1; 0 for an even picture.

    A picture that is blurred already has little to lose. The gain of the camera cancels out; its noise counts as
    detail.
    """
    from scipy.ndimage import gaussian_filter  # loaded when it is needed: the direction of the light needs none of it

    height = min(SHARPNESS_ROWS, face.shape[0])
    width = max(2, round(height * face.shape[1] / face.shape[0]))
    small = bring_to_size(face[None], (height, width), np.float64)[0]
    change = _change(small)
    # One grey value on a handful of pixels is no picture.
    return 1 - _change(gaussian_filter(small, 1.0, mode="nearest")) / change if change > 1e-6 * small.size else 0.0


def _change(image: Floats) -> float:
    return float(sum(np.abs(np.diff(image, axis=axis)).sum() for axis in (0, 1)))


def problem_for(
    azimuth: float | None,
    elevation: float | None,
    balance: float,
    brightness: float,
    clipped: float,
    sharpness: float,
    eye_distance: float | None,
    pose: HeadPose | None = None,
) -> str | None:
    """Name the most important problem, or None; the arguments are those of :class:`Diagnosis`, and the pose."""
    if brightness < MIN_BRIGHTNESS:
        return "Too dark: turn on a light in front of you, or turn toward the window."
    if clipped > MAX_CLIPPED:
        return "Too bright, parts of the face are plain white: move away from the lamp or out of the sun."
    if azimuth is None or elevation is None:
        return "The light cannot be read: the picture is even, or shows no upright face."
    turned = _about_the_head(pose)
    if turned is not None:
        return turned
    if eye_distance is not None and eye_distance < MIN_EYE_DISTANCE:
        return f"The face is small, {eye_distance:.0f} pixels from eye to eye: come closer to the camera."
    if sharpness < MIN_SHARPNESS:
        return "The face is blurred: hold still, and let the camera focus."
    return _about_the_light(azimuth, elevation, balance) or _about_the_expression(pose)


def _about_the_head(pose: HeadPose | None) -> str | None:
    if pose is None:
        return None
    if abs(pose.yaw) > MAX_YAW_DEGREES:
        yours, in_picture = ("right", "left") if pose.yaw > 0 else ("left", "right")
        turned = f"{abs(pose.yaw):.0f} degrees to your {yours} ({in_picture} in the picture)"
        return f"Your head is turned {turned}: look at the camera."
    if abs(pose.pitch) > MAX_PITCH_DEGREES:
        way = "up" if pose.pitch > 0 else "down"
        return f"Your head is turned {abs(pose.pitch):.0f} degrees {way}: look at the camera."
    return None


def _about_the_expression(pose: HeadPose | None) -> str | None:
    if pose is not None and pose.eyes_open < MIN_EYES_OPEN:
        return "Your eyes are closed: open them."
    if pose is not None and pose.mouth_open > MAX_MOUTH_OPEN:
        return "Your mouth is wide open: close it."
    return None


def _about_the_light(azimuth: float, elevation: float, balance: float) -> str | None:
    behind = abs(azimuth) >= BEHIND_DEGREES
    # The halves are measured and the direction is estimated: the halves decide which side is dark.
    if abs(balance) > MAX_BALANCE and not behind:
        yours, dark, in_picture = ("right", "left", "right") if balance > 0 else ("left", "right", "left")
        shadow = f"The {in_picture} half of the picture, your {dark} side, is in shadow"
        return f"{shadow}: turn to your {yours}, toward the light."
    # High up, a light behind and one in front look nearly alike.
    if elevation > STEEP_DEGREES:
        return "The light comes steeply from above, the eyes are in shadow: step back from the lamp, or lift your face."
    if behind:
        yours, in_picture = ("right", "left") if azimuth > 0 else ("left", "right")
        return f"The light is behind you, on your {yours} ({in_picture} in the picture): turn around toward it."
    if elevation < LOW_DEGREES:
        return "The light comes from below: put the lamp as high as your eyes."
    return None


def _checked(face: object) -> Array:
    legal = f"a grey face of shape (h, w), uint8, of at least {SMALLEST} x {SMALLEST} pixels"
    if not isinstance(face, np.ndarray):
        raise BadImage("`face` of diagnose", legal, type(face).__name__)
    if face.dtype != np.uint8 or face.ndim != 2 or min(face.shape) < SMALLEST:
        raise BadImage("`face` of diagnose", legal, f"{face.dtype} of shape {face.shape}")
    return face


def _side(azimuth: float | None, elevation: float | None) -> Side | None:
    if azimuth is None or elevation is None:
        return None
    if abs(azimuth) <= FRONT_DEGREES or elevation >= OVERHEAD_DEGREES:
        return "front"
    return "left" if azimuth > 0 else "right"


def _height(elevation: float | None) -> Height | None:
    if elevation is None:
        return None
    return "level" if abs(elevation) <= LEVEL_DEGREES else "above" if elevation > 0 else "below"
