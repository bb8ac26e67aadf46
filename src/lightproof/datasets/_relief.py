"""Shape and paint of one made-up person: a height field, an albedo and a gloss.

Everything is laid out in face units: x runs from -1 to 1 over the width of the crop, y grows downward and is 0 on the
line of the eyes, z points to the camera. One unit is about 54 mm on a real head. Fields are made on one fixed canvas
that is a sixth of the crop wider on each side, because a forehead outside the picture still throws its shadow into it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.ndimage import gaussian_filter, map_coordinates

Field = NDArray[np.float64]
Traits = dict[str, float]

CROP = (192, 168)
MARGIN = (CROP[0] // 6, CROP[1] // 6)
UNIT = CROP[1] / 2  # canvas pixels per face unit
EYE_LINE = 0.236  # share of the crop height above the eyes

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


@dataclass(frozen=True, eq=False)
class Surface:
    """One person, sampled for one picture size.

    Attributes
    ----------
    relief : ndarray of shape (h + 2 my, w + 2 mx)
        Height toward the camera, in face units, crop and margin.
    detail : ndarray of shape (h, w)
        Pores and fine lines, too shallow to throw a shadow.
    albedo, gloss : ndarray of shape (h, w)
        Share of the light that is scattered, and strength of the shine.
    margin : tuple of int
        (my, mx), rows and columns of ``relief`` on each side of the crop.
    pitch : tuple of float
        Height and width of a pixel in face units.
    """

    relief: Field
    detail: Field
    albedo: Field
    gloss: Field
    margin: tuple[int, int]
    pitch: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Plane:
    """Coordinates of every canvas pixel, and the landmarks of one person on it.

    ``side`` is |x| without the kink at 0. The rest is kept because many parts of the face ask for it.
    """

    traits: Traits
    x: Field
    y: Field
    side: Field

    @cached_property
    def reach(self) -> Field:
        """Share of the way from the middle of the face (0) to the outline of the head (1)."""
        return _jaw_reach(self.traits, self)

    @cached_property
    def behind_jaw(self) -> Field:
        """Where neck and background show beside the jaw."""
        return _rise(self.reach - 1.0, 0.012)

    @cached_property
    def eye(self) -> tuple[Field, Field, Field, Field]:
        """Eye coordinates: u along the slit (-1 to 1), v down from it, and the v of both lids."""
        return _eye_frame(self.traits, self)

    @cached_property
    def eye_opening(self) -> Field:
        """Where the eyeball shows between the lids."""
        u, v, upper, lower = self.eye
        return _rise(v - upper, 0.006) * _rise(lower - v, 0.006) * _rise(1 - np.abs(u), 0.02)

    @cached_property
    def nostrils(self) -> Field:
        """How deep in a nostril each point is, 0 to 1."""
        return _nostrils(self.traits, self)

    @cached_property
    def lips(self) -> tuple[Field, Field, Field, Field]:
        """Distance below the line between the lips, height of both lips, share of the way to the corner."""
        return _lip_frame(self.traits, self)

    @cached_property
    def lip_area(self) -> Field:
        """Where the red of the lips is."""
        v, upper, lower, u = self.lips
        return _rise(v + upper, 0.014) * _rise(lower - v, 0.018) * _rise(1.0 - u, 0.03)


def make_surface(rng: np.random.Generator, size: tuple[int, int]) -> Surface:
    """Draw one person from ``rng`` and sample it for a picture of ``size`` (h, w)."""
    traits = {name: float(rng.uniform(low, high)) for name, (low, high) in TRAIT_RANGES.items()}
    plane = _warped_plane(rng, traits)
    shape = _shape(traits, plane)
    texture, fine = _skin_texture(rng, traits, plane)
    albedo, gloss = _paint(rng, traits, plane)
    hair, strands = _hair(rng, traits, plane)
    hair_tone = 0.03 + 0.3 * (1 - traits["hair_dark"]) ** 3
    albedo = _mix(albedo, hair_tone * (1 + 0.35 * strands), hair)
    albedo = _mix(albedo, np.full_like(albedo, 0.05), plane.behind_jaw)
    gloss = _mix(gloss, 0.12 + 0.08 * strands, hair)
    margin = (-(-size[0] // 6), -(-size[1] // 6))
    return Surface(
        relief=_sample(shape + texture + gaussian_filter(hair, 2.5) * 0.07 + hair * 0.004 * strands, size, margin),
        detail=_sample(fine * (1 - hair), size, (0, 0)),
        albedo=_sample(np.clip(albedo, 0.02, 0.95), size, (0, 0)),
        gloss=_sample(np.clip(gloss, 0.0, 1.0), size, (0, 0)),
        margin=margin,
        pitch=(CROP[0] / UNIT / size[0], CROP[1] / UNIT / size[1]),
    )


def _sample(field: Field, size: tuple[int, int], margin: tuple[int, int]) -> Field:
    """Read a canvas field at the pixel centers of a picture of ``size`` with ``margin`` around it."""
    steps = (CROP[0] / size[0], CROP[1] / size[1])
    # Shrinking without a blur first would turn pores and lashes into noise.
    smooth = gaussian_filter(field, [0.45 * step if step > 1 else 0.0 for step in steps])
    rows, columns = (MARGIN[k] + (np.arange(-margin[k], size[k] + margin[k]) + 0.5) * steps[k] - 0.5 for k in range(2))
    grid = np.stack(np.meshgrid(rows, columns, indexing="ij")).astype(np.float64)
    sampled = map_coordinates(smooth, grid, order=1 if min(steps) >= 1 else 3, mode="nearest")
    return np.asarray(sampled, dtype=np.float64)


def _warped_plane(rng: np.random.Generator, traits: Traits) -> Plane:
    """Coordinates bent a little by smooth noise: no face is symmetric."""
    rows, columns = (np.arange(CROP[k] + 2 * MARGIN[k]) + 0.5 - MARGIN[k] for k in range(2))
    y, x = np.meshgrid(rows / UNIT - EYE_LINE * CROP[0] / UNIT, columns / UNIT - 1.0, indexing="ij")
    x = x + 0.015 * _noise(rng, 34) + 0.0025 * _noise(rng, 14)
    y = y + 0.015 * _noise(rng, 34) + 0.0025 * _noise(rng, 14)
    return Plane(traits, x, y, np.sqrt(x**2 + 0.05**2))


def _noise(rng: np.random.Generator, rows: float, columns: float | None = None) -> Field:
    """Smooth noise of unit spread; the arguments are its grain in canvas pixels."""
    white = rng.standard_normal((CROP[0] + 2 * MARGIN[0], CROP[1] + 2 * MARGIN[1]))
    grain = (rows, rows if columns is None else columns)
    frequencies = (fft.fftfreq(white.shape[0])[:, None], fft.rfftfreq(white.shape[1])[None, :])
    down, across = (np.exp(-2 * (np.pi * g * f) ** 2) for g, f in zip(grain, frequencies, strict=True))
    # A Gaussian blur through the spectrum costs the same for every grain.
    smooth = fft.irfft2(fft.rfft2(white) * down * across, s=white.shape)
    return np.asarray(smooth / smooth.std(), dtype=np.float64)


def _rise(value: Field, width: float) -> Field:
    """Go from 0 to 1 as ``value`` passes 0, softly over about four times ``width``."""
    return 0.5 + 0.5 * np.tanh(value / (2 * width))


def _bell(value: Field, width: Field | float) -> Field:
    """Bell of height 1 around value = 0."""
    return np.exp(-0.5 * (value / width) ** 2)


def _blob(u: Field, v: Field, width: float, height: float, turn: float = 0.0) -> Field:
    """Bell of height 1 around u = v = 0, turned by ``turn`` degrees."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return np.exp(-0.5 * (((c * u + s * v) / width) ** 2 + ((c * v - s * u) / height) ** 2))


def _mix(old: Field, new: Field, share: Field) -> Field:
    return old + share * (new - old)


def _soft_max(a: Field, b: Field, softness: float) -> Field:
    """Larger of two surfaces with a rounded seam."""
    return 0.5 * (a + b + np.sqrt((a - b) ** 2 + softness**2))


def _jaw_reach(t: Traits, p: Plane) -> Field:
    """Share of the way from the middle (0) to the outline of the head (1)."""
    narrowing = np.clip((p.y - 0.3) / 1.6, 0.0, None)
    outline = t["head_width"] - (t["head_width"] - t["jaw_width"]) * narrowing ** (1.3 * t["jaw_corner"])
    return p.side / np.maximum(outline, 0.3)


def _shape(t: Traits, p: Plane) -> Field:
    """Height field of the bare head."""
    z = _head(t, p) + _cheeks(t, p) + _mouth_region(t, p)
    z = _with_eyes(t, p, z)
    z = z + _nose(t, p) + _lips(t, p) - _wrinkles(t, p)
    return z - 0.9 * p.behind_jaw


def _head(t: Traits, p: Plane) -> Field:
    """Skull with forehead, brow ridge, temples and chin."""
    reach: Field = np.minimum(p.reach, 0.985)
    sides = -t["head_depth"] * (1 - np.sqrt(1 - reach**2))
    above = np.clip(-0.25 - p.y, 0.0, None)
    forehead = -t["forehead_slope"] * above - 0.25 * above**2 + t["forehead_bulge"] * _blob(p.x, p.y + 0.75, 0.5, 0.25)
    ridge = t["brow_ridge"] * _bell(p.y - _brow_line(t, p) - 0.02, 0.11) * _rise(1.1 - p.side, 0.08)
    temples = -0.08 * _blob(p.side - 1.15, p.y + 0.35, 0.15, 0.3)
    off_y = p.y - t["chin_y"]
    chin = t["chin"] * _blob(p.x, off_y, t["chin_width"], 0.19)
    chin = chin - max(t["cleft"], 0.0) * _blob(p.x, off_y, 0.05, 0.1)
    below = np.clip(off_y - 0.1, 0.0, None)
    return t["tilt"] * p.y + sides + forehead + ridge + temples + chin - 2.5 * below**1.5


def _brow_line(t: Traits, p: Plane) -> Field:
    """Height y of the middle of the eyebrow at every x."""
    arch = t["brow_arch"] * _bell(p.side - 0.74, 0.2)
    droop = 0.5 * np.clip(p.side - 0.8, 0.0, None) ** 1.5
    return t["brow_y"] + t["eye_y"] - arch + t["brow_tilt"] * (p.side - 0.6) + droop


def _cheeks(t: Traits, p: Plane) -> Field:
    """Cheekbones, the hollow under them and the soft pad beside the mouth."""
    bone = t["cheekbone"] * _blob(p.side - 0.82, p.y - t["cheekbone_y"], 0.3, 0.16, -18)
    pad = (0.03 + 0.09 * t["fat"]) * _blob(p.side - 0.68, p.y - 0.72, 0.24, 0.3)
    hollow = t["hollow"] * (1 - 0.6 * t["fat"]) * _blob(p.side - 0.85, p.y - 0.95, 0.16, 0.3, 15)
    return bone + pad - hollow


def _mouth_region(t: Traits, p: Plane) -> Field:
    """Dental arch, philtrum and the furrow above the chin."""
    arch = t["mouth_bulge"] * _blob(p.x, p.y - t["mouth_y"] + 0.05, 0.42, 0.34)
    top = t["nose_base"] + 0.1
    middle = 0.5 * (top + t["mouth_y"] - t["lip_up"])
    philtrum = t["philtrum"] * (
        0.8 * _blob(p.side - 0.12, p.y - middle, 0.04, 0.13) - _blob(p.x, p.y - middle, 0.055, 0.13)
    )
    sulcus_y = t["mouth_y"] + t["lip_low"] + 0.13
    return arch + philtrum - t["sulcus"] * _blob(p.x, p.y - sulcus_y, 0.26, 0.07)


def _eye_frame(t: Traits, p: Plane) -> tuple[Field, Field, Field, Field]:
    """Eye coordinates: u along the slit (-1 to 1), v down from it, and the v of both lids."""
    u = (p.side - t["eye_x"]) / t["eye_width"]
    v = p.y - t["eye_y"] + t["eye_slant"] * (p.side - t["eye_x"])
    span = np.clip(1 - u**2, 0.0, 1.0)
    upper = -t["eye_up"] * span**0.7 * (1 - 0.22 * u) - 0.006
    lower = t["eye_low"] * span * (1 + 0.25 * u) + 0.004
    return u, v, upper, lower


def _eye_surround(t: Traits, p: Plane) -> Field:
    """Mark the thin dull skin right around the eye."""
    u, v, upper, lower = p.eye
    return (
        _rise(v - upper + 0.02 + t["crease_gap"], 0.016) * _rise(lower + 0.05 - v, 0.02) * _rise(1.18 - np.abs(u), 0.04)
    )


def _with_eyes(t: Traits, p: Plane, z: Field) -> Field:
    """Sink the sockets into ``z`` and lay eyeballs and lids into them."""
    u, v, upper, lower = p.eye
    off_x, off_y = p.side - t["eye_x"], p.y - t["eye_y"]
    z = z - t["socket"] * _blob(off_x + 0.03, off_y, 0.27, 0.15)
    z = z - 0.6 * t["socket"] * _blob(p.side - 0.27, p.y, 0.1, 0.16)
    level = -0.1 - 0.55 * t["socket"] + t["eye_bulge"]
    ball = level - (off_x**2 + off_y**2) / 0.58
    lids = _soft_max(z, ball, 0.06)
    along = _rise(1.15 - np.abs(u), 0.05)
    crease = t["crease_depth"] * _bell(v - upper + t["crease_gap"], 0.016)
    pouch = t["bags"] * t["age"] * _bell(v - lower - 0.15 - 0.03 * u, 0.03)
    rim = 0.006 * (_bell(v - upper + 0.012, 0.012) + _bell(v - lower - 0.012, 0.014))
    lids = lids + along * (rim - crease - pouch)
    return _mix(lids, ball - 0.016, p.eye_opening)


def _nose(t: Traits, p: Plane) -> Field:
    """Height of bridge, ball, wings and nostrils above the face."""
    tip_y = t["nose_base"] - t["nose_lift"]
    down = np.clip((p.y + 0.1) / (tip_y + 0.1), 0.0, 1.2)
    profile = t["nose_root"] + (t["nose_tip"] - t["nose_root"]) * down**1.2
    profile = profile + t["nose_hump"] * _bell(down - 0.45, 0.2)
    profile = profile * _rise(p.y + 0.2, 0.06)
    floor = t["nose_base"] + 0.04 * _bell(p.x, 0.07) - 0.2 * np.clip(p.side - 0.14, 0.0, 0.3) ** 1.2
    under = _rise(floor - p.y, t["nose_tilt"])
    width = t["bridge_width"] + (1.1 * t["ball"] - t["bridge_width"]) * down**1.6 + 0.3 * np.clip(-p.y, 0.0, 0.3)
    bridge = 0.75 * profile * _bell(p.x, width)
    # A flat foot carries the bridge into the cheeks; it must end softly, or the cheeks get a step.
    foot = 0.25 * profile * _bell(p.x, 2.1 * width) * _rise(tip_y - 0.02 - p.y, 0.06)
    ball = 0.9 * t["nose_tip"] * _blob(p.x, p.y - tip_y - 0.015, t["ball"], 0.45 * t["nose_lift"] + 0.05)
    off_x, off_y = _wing_frame(t, p)
    above = np.clip(-off_y, 0.0, None)
    wings = t["wing_height"] * np.exp(-0.5 * (np.abs(off_x) ** 2.6 + np.abs(off_y / (1 + 0.35 * above)) ** 2.2))
    ring = _bell(np.hypot(off_x, off_y) - 1.6, 0.28)
    crease = t["wing_crease"] * ring * _rise(off_x - 0.6 - 0.3 * above, 0.25)
    return np.cbrt(bridge**3 + ball**3 + wings**3) * under + foot - crease - 0.05 * p.nostrils


def _wing_frame(t: Traits, p: Plane) -> tuple[Field, Field]:
    """Offsets from the middle of the nearer wing of the nose, in wing sizes."""
    off_y = p.y - t["nose_base"] + 0.045 + 0.45 * t["wing_size"]
    return (p.side - t["wing_x"] - 0.25 * off_y) / t["wing_size"], off_y / (1.2 * t["wing_size"])


def _nostrils(t: Traits, p: Plane) -> Field:
    """How deep in a nostril each point is, 0 to 1."""
    off_x = p.side - 0.58 * t["wing_x"]
    off_y = p.y - t["nose_base"] + 0.005
    return np.clip(1.2 * _blob(off_x, off_y, 1.25 * t["nostril"], 0.5 * t["nostril"], -12), 0.0, 1.0)


def _lip_frame(t: Traits, p: Plane) -> tuple[Field, Field, Field, Field]:
    """Distance below the line between the lips, the height of both lips, and the share of the way to the corner."""
    u = p.side / t["mouth_width"]
    line = t["mouth_y"] + t["mouth_curve"] * 0.35 * (0.3 - np.minimum(u, 1.2) ** 2) + 0.014 * _bell(p.x, 0.07)
    span = np.clip(1 - u**2, 0.0, 1.0)
    bow = 1 - 0.45 * t["bow"] * _bell(p.x, 0.05) + 0.25 * t["bow"] * _bell(p.side - 0.12, 0.07)
    return p.y - line, t["lip_up"] * span**0.9 * bow, t["lip_low"] * span**0.65, u


def _lips(t: Traits, p: Plane) -> Field:
    """Height of both lips, the line between them and the corners of the mouth."""
    v, upper, lower, u = p.lips
    up = t["lip_full"] * 0.8 * _bell(v + 0.5 * upper, 0.42 * upper + 0.015)
    low = t["lip_full"] * 1.2 * _bell(v - 0.48 * lower, 0.4 * lower + 0.015)
    inside = np.sqrt(np.clip(1 - u**2, 0.0, 1.0)) * _rise(0.95 - u, 0.05)
    slit = 0.03 * _bell(v, 0.014) * _rise(1.0 - u, 0.04)
    corner = 0.018 * _blob(p.side - t["mouth_width"] - 0.01, v, 0.055, 0.055)
    return (up + low) * inside - slit - corner


def _wrinkles(t: Traits, p: Plane) -> Field:
    """Depth of the folds that come with age."""
    age = math.pow(t["age"], 1.5)
    start, end = t["wing_x"] + 0.09, t["mouth_width"] + 0.13
    along = np.clip((p.y - t["nose_base"] + 0.1) / (t["mouth_y"] - t["nose_base"] + 0.1), 0.0, 1.3)
    line = start + (end - start) * along**0.8
    ends = _rise(p.y - t["nose_base"] + 0.02, 0.06) * _rise(t["mouth_y"] - 0.06 - p.y, 0.07)
    fold = (t["fold"] * 0.4 + 0.03 * age) * ends * _bell(p.side - line, 0.06)
    rows = p.y + 0.06 * np.cos(2.2 * p.x) + 0.02 * np.sin(7 * p.x)
    forehead = 0.011 * age * (0.5 + 0.5 * np.cos(rows * 2 * np.pi / 0.13)) ** 4 * _blob(p.x, p.y + 0.65, 0.5, 0.15)
    frown = 0.02 * age * _blob(p.side - 0.11, p.y + 0.27, 0.024, 0.09, 8)
    return fold + forehead + frown


def _skin_texture(rng: np.random.Generator, t: Traits, p: Plane) -> tuple[Field, Field]:
    """Uneven flesh that belongs to the shape, and pores too fine to throw a shadow."""
    quiet = 1 - 0.9 * p.eye_opening
    flesh = 0.014 * _noise(rng, 16) + 0.002 * _noise(rng, 6) + 0.0004 * (0.6 + t["age"]) * _noise(rng, 2.5)
    patches = np.clip(1 + 0.4 * _noise(rng, 20), 0.2, 2.0)
    pores = t["pores"] * (0.00065 * _noise(rng, 1.3) + 0.0005 * _noise(rng, 0.7))
    return flesh * quiet, pores * patches * quiet * (1 - 0.7 * p.behind_jaw)


def _paint(rng: np.random.Generator, t: Traits, p: Plane) -> tuple[Field, Field]:
    """Albedo and gloss of everything but the hair on the head."""
    skin = 0.34 + 0.42 * t["tone"] ** 0.7
    blotches = 0.035 * _noise(rng, 12) + 0.025 * _noise(rng, 4) + 0.02 * _noise(rng, 1.5) + 0.012 * _noise(rng, 0.6)
    ruddy = -0.1 * _blob(p.side - 0.75, p.y - 0.55, 0.22, 0.2) - 0.08 * _blob(
        p.x, p.y - t["nose_base"] + 0.15, 0.2, 0.15
    )
    dark_eyes = -0.12 * _blob(p.side - t["eye_x"] + 0.08, p.y - 0.12, 0.22, 0.09)
    albedo = skin * np.exp(t["mottle"] * blotches + 0.7 * ruddy + (0.4 + t["bags"] * 30) * dark_eyes)
    albedo = albedo * (1 - (0.2 + 5 * t["bags"]) * _eye_surround(t, p))
    albedo = albedo * np.exp(-_freckles(rng, t, p) - _moles(rng, t, p))
    albedo = _mix(albedo, albedo * t["lip_tone"], p.lip_area)
    v, _, _, u = p.lips
    gap = _bell(v, t["lip_gap"] * (1.1 - 0.5 * np.minimum(u, 1.0))) * _rise(0.97 - u, 0.04)
    albedo = albedo * (1 - 0.55 * gap)
    albedo = albedo * (1 - 0.85 * p.nostrils)
    albedo = albedo * (1 - _beard(rng, t, p))
    albedo = _with_brows(rng, t, p, albedo)
    albedo = _with_painted_eyes(rng, t, p, albedo)
    oily = 1 + 0.6 * _blob(p.x, p.y + 0.5, 0.4, 0.3) + 0.9 * _blob(p.x, p.y - 0.4, 0.16, 0.3)
    gloss = t["gloss"] * oily * np.clip(1 + 0.25 * _noise(rng, 1.2) + 0.25 * _noise(rng, 9), 0.1, 2.0)
    gloss = gloss * (1 + 0.5 * p.lip_area) * (1 - gap) * (1 - np.maximum(p.eye_opening, 0.8 * _eye_surround(t, p)))
    return albedo, gloss


def _freckles(rng: np.random.Generator, t: Traits, p: Plane) -> Field:
    """Darkening by freckles across nose and cheeks; most people have none."""
    spots = np.clip(_noise(rng, 1.1) - 0.8, 0.0, 2.0) ** 1.5
    return max(t["freckles"], 0.0) * 0.17 * spots * (0.25 + _blob(p.side - 0.5, p.y - 0.4, 0.45, 0.3))


def _moles(rng: np.random.Generator, t: Traits, p: Plane) -> Field:
    """Darkening by a few moles anywhere on the face."""
    places = rng.uniform((-0.95, -0.5, 0.011, 0.3), (0.95, 1.6, 0.026, 1.0), size=(6, 4))
    spots = [depth * _blob(p.x - x, p.y - y, radius, radius) for x, y, radius, depth in places[: round(t["moles"])]]
    return np.sum(spots, axis=0) if spots else np.zeros_like(p.x)


def _beard(rng: np.random.Generator, t: Traits, p: Plane) -> Field:
    """Share of light that stubble or a beard swallows."""
    v, _, lower, _ = p.lips
    jaw = _rise(p.y - 1.12 + 0.4 * np.clip(p.side - 0.5, -0.5, 0.6) + 0.06 * _noise(rng, 8), 0.1)
    jaw = jaw * (1 - 0.8 * _blob(p.side - 0.4, v - lower - 0.06, 0.12, 0.06))
    lip_top = t["nose_base"] + 0.14
    mustache = _blob(p.side - 0.24, p.y - 0.5 * (lip_top + t["mouth_y"] - t["lip_up"]), 0.25, 0.11, 16)
    hairs = np.clip(0.85 + 0.07 * _noise(rng, 1.2, 0.8) + 0.07 * _noise(rng, 0.6), 0.0, 1.25)
    share = np.clip(np.maximum(jaw, 0.9 * mustache), 0.0, 1.0) * (1 - p.lip_area) * (1 - p.nostrils)
    return np.clip(math.pow(max(t["beard"], 0.0), 1.3) * 0.75 * hairs * share, 0.0, 0.9)


def _with_brows(rng: np.random.Generator, t: Traits, p: Plane, albedo: Field) -> Field:
    """Draw the eyebrows, thinner and lighter toward the temple, with single hairs."""
    off = p.y - _brow_line(t, p) + 0.006 * _noise(rng, 2, 2)
    taper = 1.15 - 0.65 * np.clip((p.side - t["brow_inner"]) / (t["brow_outer"] - t["brow_inner"]), 0.0, 1.0) ** 1.5
    body = np.exp(-(np.abs(off / (t["brow_thick"] * taper)) ** 2.2))
    ends = _rise(p.side - t["brow_inner"], 0.03) * _rise(t["brow_outer"] - p.side, 0.035)
    hairs = np.clip(0.88 + 0.1 * _noise(rng, 1.8, 0.9) + 0.08 * _noise(rng, 5), 0.0, 1.1)
    tone = 0.035 + 0.1 * (1 - t["hair_dark"])
    return _mix(albedo, np.full_like(albedo, tone), np.clip(t["brow_dark"] * body * ends * hairs, 0.0, 0.95))


def _with_painted_eyes(rng: np.random.Generator, t: Traits, p: Plane, albedo: Field) -> Field:
    """Draw white, iris, pupil, the shade of the lid and the lashes."""
    u, v, upper, lower = p.eye
    radius = np.hypot(p.side - t["eye_x"] + 0.005, p.y - t["eye_y"] + 0.015)
    white = 0.5 + 0.02 * _noise(rng, 3) - 0.16 * np.abs(u) ** 3
    iris = t["iris_tone"] * (0.8 + 0.15 * _noise(rng, 1.0)) * (0.45 + 0.55 * _rise(t["iris"] - 0.018 - radius, 0.006))
    eye = _mix(white, iris, _rise(t["iris"] - radius, 0.006))
    eye = _mix(eye, np.full_like(eye, 0.02), _rise(0.045 - radius, 0.006))
    eye = eye * (1 - 0.6 * np.exp(-np.clip(v - upper, 0.0, None) / 0.03))
    albedo = _mix(albedo, eye, p.eye_opening)
    slit = _rise(1.06 - np.abs(u), 0.03)
    lash = 0.7 * _bell(v - upper + 0.006, 0.012) * (0.75 + 0.25 * u)
    lash = lash * np.clip(1 + 0.25 * _noise(rng, 1, 0.8), 0, 1.3) + 0.22 * _bell(v - lower, 0.01)
    return albedo * (1 - np.clip(lash * slit, 0.0, 0.9)) * (1 - 0.25 * _crease_line(t, p))


def _crease_line(t: Traits, p: Plane) -> Field:
    u, v, upper, _ = p.eye
    line = _bell(v - upper + t["crease_gap"], 0.014)
    return line * _rise(1.1 - np.abs(u), 0.04) * t["crease_depth"] / 0.03


def _hair(rng: np.random.Generator, t: Traits, p: Plane) -> tuple[Field, Field]:
    """Where hair covers the head, and its strands (unit spread)."""
    strands = _noise(rng, 14, 0.8)
    locks = _noise(rng, 40, 6)
    side_swept = 0.12 * np.cos(1.6 * (p.x - t["hair_part"]))
    edge = t["hair_edge"] + side_swept + 0.035 * locks + 0.022 * strands
    top = _rise(edge - p.y, 0.028)
    sides = _rise(p.side - 1.22 - 0.1 * np.clip(p.y, 0, 1) + 0.02 * strands, 0.02) * _rise(0.9 - p.y, 0.1)
    return np.maximum(top, sides), strands
