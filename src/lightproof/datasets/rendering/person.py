"""Who a made-up person is: the traits, and where the parts of the face lie."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lightproof.datasets.rendering import Canvas, Field, bell, blob, noise, rise

Traits = dict[str, float]

# fmt: off
# The legal range of each trait; one person is one uniform draw from every row, in this order.
TRAIT_RANGES: dict[str, tuple[float, float]] = {
    # who
    "tone": (0.0, 1.0), "age": (0.0, 1.0), "fat": (0.0, 1.0),
    # head
    "tilt": (-0.02, 0.1), "head_width": (1.27, 1.5), "head_depth": (1.15, 1.6), "jaw_width": (0.74, 1.3),
    "jaw_corner": (1.0, 1.5), "forehead_slope": (0.0, 0.3), "forehead_bulge": (0.0, 0.09),
    # eyebrows
    "brow_ridge": (0.01, 0.13), "brow_y": (-0.35, -0.25), "brow_arch": (-0.01, 0.1), "brow_tilt": (-0.12, 0.12),
    "brow_thick": (0.04, 0.085), "brow_dark": (0.6, 1.0), "brow_inner": (0.13, 0.29), "brow_outer": (0.86, 1.04),
    # eyes
    "socket": (0.07, 0.19), "eye_x": (0.55, 0.6), "eye_y": (-0.025, 0.025), "eye_width": (0.2, 0.255),
    "eye_up": (0.045, 0.115), "eye_low": (0.03, 0.06), "eye_slant": (-0.06, 0.16), "eye_bulge": (-0.05, 0.05),
    "crease_gap": (0.02, 0.09), "crease_depth": (0.0, 0.03), "iris": (0.102, 0.12), "iris_tone": (0.04, 0.26),
    "bags": (0.0, 0.035),
    # nose
    "nose_root": (0.03, 0.15), "nose_tip": (0.3, 0.46), "nose_hump": (-0.03, 0.05), "nose_base": (0.66, 0.81),
    "nose_lift": (0.1, 0.21), "nose_tilt": (0.026, 0.046), "bridge_width": (0.095, 0.15), "ball": (0.11, 0.17),
    "wing_x": (0.2, 0.3), "wing_size": (0.075, 0.105), "wing_height": (0.15, 0.25), "wing_crease": (0.004, 0.022),
    "nostril": (0.04, 0.062),
    # cheeks
    "cheekbone": (0.02, 0.17), "cheekbone_y": (0.26, 0.5), "hollow": (-0.03, 0.12), "fold": (0.0, 0.05),
    # mouth
    "mouth_y": (1.17, 1.31), "mouth_width": (0.36, 0.56), "mouth_curve": (-0.12, 0.08), "mouth_bulge": (0.03, 0.2),
    "lip_up": (0.045, 0.135), "lip_low": (0.07, 0.18), "lip_full": (0.025, 0.09), "lip_tone": (0.42, 0.8),
    "lip_gap": (0.007, 0.015), "bow": (0.0, 0.5), "philtrum": (0.003, 0.022),
    # chin
    "chin": (0.03, 0.2), "chin_width": (0.2, 0.42), "chin_y": (1.74, 1.98), "sulcus": (0.01, 0.08),
    "cleft": (-0.03, 0.03),
    # skin
    "gloss": (0.03, 0.16), "pores": (0.5, 1.5), "mottle": (0.4, 1.4), "freckles": (-1.2, 1.0), "moles": (0.0, 6.0),
    "beard": (-1.1, 1.0),
    # hair
    "hair_dark": (0.0, 1.0), "hair_edge": (-1.55, -0.34), "hair_part": (-0.9, 0.9),
}
# fmt: on


LAST_FRONT = 0.96  # share of the way to the outline where a height above the picture stops describing a head


@dataclass(frozen=True, eq=False)
class Plane:
    """Coordinates of every canvas pixel, and the landmarks of one person on it, computed once.

    ``side`` is |x| without the kink at 0.
    """

    traits: Traits
    x: Field
    y: Field
    side: Field
    wrapped: bool = False  # whether what lies beyond the outline of the head is its side and not the background

    def moved(self, x: Field, y: Field) -> Plane:
        """Return the same person with other coordinates."""
        return replace(self, x=x, y=y, side=_side(x))

    @cached_property
    def outline(self) -> Field:
        """Half of the width of the head at every y."""
        t = self.traits
        narrowing = np.clip((self.y - 0.3) / 1.6, 0.0, None)
        outline = t["head_width"] - (t["head_width"] - t["jaw_width"]) * narrowing ** (1.3 * t["jaw_corner"])
        outline = np.maximum(outline, 0.3)
        return outline if not self.wrapped else np.maximum(outline * (1 - self.closing), 1e-4)

    @cached_property
    def closing(self) -> Field:
        """How far the head closes toward the crown and below the chin: 0 on the face, 1 at both ends."""
        # Both begin beyond the frontal crop.
        ends = np.maximum((-0.75 - self.y) / 1.5, (self.y - self.traits["chin_y"] - 0.05) / 0.4)
        return np.asarray(1 - np.sqrt(1 - np.clip(ends, 0.0, 1.0) ** 2), dtype=np.float64)

    @cached_property
    def reach(self) -> Field:
        """Share of the way from the middle of the face (0) to the outline of the head (1)."""
        return self.side / self.outline

    @cached_property
    def around(self) -> Field:
        """Angle around the head, in radians: 0 in front, a right angle at the outline, more behind it."""
        # Beyond the last bit of the front, equal steps of the canvas are equal angles.
        onward = (self.reach - LAST_FRONT) / math.sqrt(1 - LAST_FRONT**2)
        return np.arcsin(np.minimum(self.reach, LAST_FRONT)) + np.clip(onward, 0.0, 1.3)

    def across(self, columns: Field) -> Field:
        """How far to the side each point lies, if it is drawn at ``columns`` (x in face units)."""
        return columns * self.outline * np.sin(self.around) / self.side

    @cached_property
    def behind_jaw(self) -> Field:
        """Where neck and background show beside the jaw."""
        return np.zeros_like(self.x) if self.wrapped else rise(self.reach - 1.0, 0.012)

    @cached_property
    def eye(self) -> tuple[Field, Field, Field, Field]:
        """Eye coordinates: u along the slit (-1 to 1), v down from it, and the v of both lids."""
        t = self.traits
        u = (self.side - t["eye_x"]) / t["eye_width"]
        v = self.y - t["eye_y"] + t["eye_slant"] * (self.side - t["eye_x"])
        span = np.clip(1 - u**2, 0.0, 1.0)
        upper = -t["eye_up"] * span**0.7 * (1 - 0.22 * u) - 0.006
        lower = t["eye_low"] * span * (1 + 0.25 * u) + 0.004
        return u, v, upper, lower

    @cached_property
    def eye_opening(self) -> Field:
        """Where the eyeball shows between the lids."""
        u, v, upper, lower = self.eye
        return rise(v - upper, 0.006) * rise(lower - v, 0.006) * rise(1 - np.abs(u), 0.02)

    @cached_property
    def nostrils(self) -> Field:
        """How deep in a nostril each point is, 0 to 1."""
        t = self.traits
        off_x = self.side - 0.58 * t["wing_x"]
        off_y = self.y - t["nose_base"] + 0.005
        return np.clip(1.2 * blob(off_x, off_y, 1.25 * t["nostril"], 0.5 * t["nostril"], -12), 0.0, 1.0)

    @cached_property
    def lips(self) -> tuple[Field, Field, Field, Field]:
        """Distance below the line between the lips, height of both lips, share of the way to the corner."""
        t = self.traits
        u = self.side / t["mouth_width"]
        line = t["mouth_y"] + t["mouth_curve"] * 0.35 * (0.3 - np.minimum(u, 1.2) ** 2) + 0.014 * bell(self.x, 0.07)
        span = np.clip(1 - u**2, 0.0, 1.0)
        bow = 1 - 0.45 * t["bow"] * bell(self.x, 0.05) + 0.25 * t["bow"] * bell(self.side - 0.12, 0.07)
        return self.y - line, t["lip_up"] * span**0.9 * bow, t["lip_low"] * span**0.65, u

    @cached_property
    def lip_area(self) -> Field:
        """Where the red of the lips is."""
        v, upper, lower, u = self.lips
        return rise(v + upper, 0.014) * rise(lower - v, 0.018) * rise(1.0 - u, 0.03)

    @cached_property
    def wing(self) -> tuple[Field, Field]:
        """Offsets from the middle of the nearer wing of the nose, in wing sizes."""
        t = self.traits
        off_y = self.y - t["nose_base"] + 0.045 + 0.45 * t["wing_size"]
        return (self.side - t["wing_x"] - 0.25 * off_y) / t["wing_size"], off_y / (1.2 * t["wing_size"])

    @cached_property
    def brow_line(self) -> Field:
        """Height y of the middle of the eyebrow at every x."""
        t = self.traits
        arch = t["brow_arch"] * bell(self.side - 0.74, 0.2)
        droop = 0.5 * np.clip(self.side - 0.8, 0.0, None) ** 1.5
        return t["brow_y"] + t["eye_y"] - arch + t["brow_tilt"] * (self.side - 0.6) + droop

    @cached_property
    def lid_crease(self) -> Field:
        """Where the fold above the upper lid runs, 0 to 1."""
        t = self.traits
        u, v, upper, _ = self.eye
        line = bell(v - upper + t["crease_gap"], 0.014)
        return line * rise(1.1 - np.abs(u), 0.04) * t["crease_depth"] / 0.03


def warped_plane(canvas: Canvas, traits: Traits) -> Plane:
    """Coordinates bent a little by smooth noise: no face is symmetric."""
    x, y = canvas.places()
    x = x + 0.015 * noise(canvas, 34) + 0.0025 * noise(canvas, 14)
    y = y + 0.015 * noise(canvas, 34) + 0.0025 * noise(canvas, 14)
    return Plane(traits, x, y, _side(x), any(canvas.beyond))


def pupils(plane: Plane) -> list[tuple[int, int]]:
    """Canvas row and column of the pupil on the left of the picture, and of the other one."""
    t = plane.traits
    # As where the pupil is painted.
    away = np.hypot(plane.side - t["eye_x"] + 0.005, plane.y - t["eye_y"] + 0.015)
    places = (np.where(half, away, np.inf).argmin() for half in (plane.x < 0, plane.x >= 0))
    return [(int(place // away.shape[1]), int(place % away.shape[1])) for place in places]


def _side(x: Field) -> Field:
    return np.sqrt(x**2 + 0.05**2)
