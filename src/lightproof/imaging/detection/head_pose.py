"""The mesh of a face -> how the head is turned, and how far mouth and eyes are open.

A neutral mesh is turned, scaled and moved until it lies on the face's mesh, at points that no expression moves. What
turned it is the pose. It stays turned back for the lips and the lids, whose distances then mean the same in every pose.

The neutral mesh is the mean over rendered people: numbers, and nobody's photo. :mod:`benchmarks.neutral_mesh` measures
it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightproof.imaging.detection.face_networks import PUPILS
from lightproof.types import Floats

NEUTRAL_FILE: Final = "neutral_mesh.txt"

# Pairs of points of the mesh, one above the other.
LIPS: Final = ((13, 14), (82, 87), (312, 317))  # inner rims, in the middle
LIDS: Final = ((159, 145), (158, 153), (160, 144), (386, 374), (385, 380), (387, 373))

# In eye distances. The limits of openness were set by looking at photos of people who laugh, speak and blink.
FIXED_ROW: Final = 0.72  # from the eyes down to the base of the nose: what is above does not move with the mouth
FIXED_APART: Final = 0.42  # from the pupils, where lids and brows move
CLOSED_LIPS: Final = 0.01
OPEN_LIPS: Final = 0.55
CLOSED_LIDS: Final = 0.025
OPEN_LIDS: Final = 0.17


@dataclass(frozen=True)
class HeadPose:
    """How a head is turned, and how far its mouth and eyes are open.

    Attributes
    ----------
    yaw : float
        Degrees; positive where the face looks to the left of the picture, which is the right of the person.
    pitch : float
        Degrees; positive where it looks up. What is level differs by some degrees from person to person.
    roll : float
        Degrees by which the head is turned clockwise in the picture.
    mouth_open, eyes_open : float
        From 0, closed, to 1, wide open. A laugh is about 0.4, an eye at rest about 0.75.
    """

    yaw: float
    pitch: float
    roll: float
    mouth_open: float
    eyes_open: float


def pose_of(mesh: Floats) -> HeadPose:
    """Measure the pose from the mesh of a face, in any unit of length.

    Parameters
    ----------
    mesh : ndarray of shape (478, 3)
        Column, row and depth of the points; see :class:`~lightproof.imaging.detection.Face`.

    Examples
    --------
    >>> from lightproof.imaging.detection.head_pose import neutral_mesh
    >>> pose = pose_of(100 * neutral_mesh() + 50)
    >>> abs(round(pose.yaw, 6)), abs(round(pose.pitch, 6)), abs(round(pose.roll, 6))
    (0.0, 0.0, 0.0)
    """
    fixed = _fixed_points()
    turn, scale = _turn_onto(neutral_mesh()[fixed], mesh[fixed])
    # turn = Rz(roll) Ry(yaw) Rx(-pitch): the line of the eyes gives the roll, as it does where a crop is cut.
    yaw = np.arcsin(np.clip(-turn[2, 0], -1, 1))
    pitch, roll = -np.arctan2(turn[2, 1], turn[2, 2]), np.arctan2(turn[1, 0], turn[0, 0])
    heights = mesh @ turn[:, 1] / scale
    return HeadPose(
        yaw=float(np.degrees(yaw)),
        pitch=float(np.degrees(pitch)),
        roll=float(np.degrees(roll)),
        mouth_open=_openness(heights, LIPS, CLOSED_LIPS, OPEN_LIPS),
        eyes_open=_openness(heights, LIDS, CLOSED_LIDS, OPEN_LIDS),
    )


def _turn_onto(points: Floats, goal: Floats) -> tuple[Floats, float]:
    """Return the rotation (3, 3) and the scale that bring points (n, 3) nearest to others, both about their means.

    It is the least-squares solution of Umeyama (1991).
    """
    before, after = points - points.mean(axis=0), goal - goal.mean(axis=0)
    left, strengths, right = np.linalg.svd(after.T @ before)
    handed = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return left * handed @ right, float(strengths @ handed / (before**2).sum())


def _openness(heights: Floats, pairs: tuple[tuple[int, int], ...], closed: float, wide: float) -> float:
    gap = np.mean([heights[below] - heights[above] for above, below in pairs])
    return float(np.clip((gap - closed) / (wide - closed), 0, 1))


@cache
def neutral_mesh() -> Floats:
    """Return the mean mesh of rendered people who look into the camera, shape (478, 3).

    It is symmetric; the pupils are at (-0.5, 0, 0) and (0.5, 0, 0).
    """
    mesh = np.loadtxt(files(__package__).joinpath(NEUTRAL_FILE).read_text().splitlines())
    mesh.flags.writeable = False
    return mesh


@cache
def _fixed_points() -> NDArray[np.bool_]:
    """Tell for each point whether it stays where it is when lids, brows and mouth move; shape (478,)."""
    neutral = neutral_mesh()
    apart = np.abs(neutral[:, None, :2] @ [1, 1j] - neutral[list(PUPILS), :2] @ [1, 1j])
    fixed: NDArray[np.bool_] = (neutral[:, 1] < FIXED_ROW) & (apart.min(axis=1) > FIXED_APART)
    return fixed
