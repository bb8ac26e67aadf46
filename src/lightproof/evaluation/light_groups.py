"""Photos in groups, by where the light comes from."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.imaging.lighting import diagnose
from lightproof.types import Floats

MAX_FRONT: Final = 25.0
"""A light from the front stands at most so many degrees from the camera."""

MAX_SIDE: Final = 60.0
"""A light from the side stands at most so many degrees from the camera."""

LIGHTS: Final = {
    "all": "all photos",
    "front": "front (up to 25°)",
    "side": "side (25° to 60°)",
    "hard": "hard (beyond 60°)",
    "unknown": "cannot be read",
}
"""Titles of the groups."""


def light_groups(faces: FaceSet, progress: SizedProgress = iter) -> NDArray[np.str_]:
    """Name the group of each photo: ``"front"``, ``"side"``, ``"hard"`` or ``"unknown"``.

    If the data set does not say where the light stood, it is estimated from the face.
    """
    azimuths, elevations = faces.azimuths.astype(np.float64), faces.elevations.astype(np.float64)
    unknown = np.flatnonzero(np.isnan(azimuths) | np.isnan(elevations))
    for i in progress(list(unknown)) if len(unknown) else ():
        light = diagnose(faces.images[i])
        azimuths[i], elevations[i] = (np.nan if angle is None else angle for angle in (light.azimuth, light.elevation))
    return groups_of(azimuths, elevations)


def groups_of(azimuths: Floats, elevations: Floats) -> NDArray[np.str_]:
    """Name the group of each light, by its direction in degrees; nan means that it cannot be read."""
    aside = degrees_aside(azimuths, elevations)
    conditions = [np.isnan(aside), aside <= MAX_FRONT, aside <= MAX_SIDE]
    return np.select(conditions, ["unknown", "front", "side"], "hard")


def degrees_aside(azimuths: Floats, elevations: Floats) -> Floats:
    """Angle between the light and the camera, in degrees."""
    cosine = np.cos(np.radians(azimuths)) * np.cos(np.radians(elevations))
    # Rounded, so that a light at 25 degrees is not at 25.0000001.
    return np.asarray(np.round(np.degrees(np.arccos(np.clip(cosine, -1, 1))), 6))
