"""The relief of one made-up person: a height field."""

from __future__ import annotations

import math

import numpy as np

from lightproof.datasets.rendering import Canvas, Field, bell, blob, mix, noise, rise, soft_max
from lightproof.datasets.rendering.person import Plane, Traits

CLOSING_DEPTH = 1.2  # face units by which the crown lies behind the forehead, and the throat behind the chin


def head_shape(t: Traits, p: Plane) -> Field:
    """Height field of the bare head."""
    z = _head(t, p) + _cheeks(t, p) + _mouth_region(t, p)
    z = _with_eyes(t, p, z)
    z = z + _nose(t, p) + _lips(t, p) - _wrinkles(t, p)
    return z - 0.9 * p.behind_jaw


def _head(t: Traits, p: Plane) -> Field:
    """Skull with forehead, brow ridge, temples and chin."""
    if p.wrapped:
        sides = -t["head_depth"] * (1 - np.cos(p.around)) - CLOSING_DEPTH * p.closing
    else:
        sides = -t["head_depth"] * (1 - np.sqrt(1 - np.minimum(p.reach, 0.985) ** 2))
    above = np.clip(-0.25 - p.y, 0.0, None)
    forehead = -t["forehead_slope"] * above - 0.25 * above**2 + t["forehead_bulge"] * blob(p.x, p.y + 0.75, 0.5, 0.25)
    ridge = t["brow_ridge"] * bell(p.y - p.brow_line - 0.02, 0.11) * rise(1.1 - p.side, 0.08)
    temples = -0.08 * blob(p.side - 1.15, p.y + 0.35, 0.15, 0.3)
    off_y = p.y - t["chin_y"]
    chin = t["chin"] * blob(p.x, off_y, t["chin_width"], 0.19)
    chin = chin - max(t["cleft"], 0.0) * blob(p.x, off_y, 0.05, 0.1)
    below = np.clip(off_y - 0.1, 0.0, None)
    return t["tilt"] * p.y + sides + forehead + ridge + temples + chin - 2.5 * below**1.5


def _cheeks(t: Traits, p: Plane) -> Field:
    """Cheekbones, the hollow under them and the soft pad beside the mouth."""
    bone = t["cheekbone"] * blob(p.side - 0.82, p.y - t["cheekbone_y"], 0.3, 0.16, -18)
    pad = (0.03 + 0.09 * t["fat"]) * blob(p.side - 0.68, p.y - 0.72, 0.24, 0.3)
    hollow = t["hollow"] * (1 - 0.6 * t["fat"]) * blob(p.side - 0.85, p.y - 0.95, 0.16, 0.3, 15)
    return bone + pad - hollow


def _mouth_region(t: Traits, p: Plane) -> Field:
    """Dental arch, philtrum and the furrow above the chin."""
    arch = t["mouth_bulge"] * blob(p.x, p.y - t["mouth_y"] + 0.05, 0.42, 0.34)
    top = t["nose_base"] + 0.1
    middle = 0.5 * (top + t["mouth_y"] - t["lip_up"])
    philtrum = t["philtrum"] * (
        0.8 * blob(p.side - 0.12, p.y - middle, 0.04, 0.13) - blob(p.x, p.y - middle, 0.055, 0.13)
    )
    sulcus_y = t["mouth_y"] + t["lip_low"] + 0.13
    return arch + philtrum - t["sulcus"] * blob(p.x, p.y - sulcus_y, 0.26, 0.07)


def eye_surround(t: Traits, p: Plane) -> Field:
    """Mark the thin dull skin right around the eye."""
    u, v, upper, lower = p.eye
    return rise(v - upper + 0.02 + t["crease_gap"], 0.016) * rise(lower + 0.05 - v, 0.02) * rise(1.18 - np.abs(u), 0.04)


def _with_eyes(t: Traits, p: Plane, z: Field) -> Field:
    """Sink the sockets into ``z`` and lay eyeballs and lids into them."""
    u, v, upper, lower = p.eye
    off_x, off_y = p.side - t["eye_x"], p.y - t["eye_y"]
    z = z - t["socket"] * blob(off_x + 0.03, off_y, 0.27, 0.15)
    z = z - 0.6 * t["socket"] * blob(p.side - 0.27, p.y, 0.1, 0.16)
    level = -0.1 - 0.55 * t["socket"] + t["eye_bulge"]
    ball = level - (off_x**2 + off_y**2) / 0.58
    lids = soft_max(z, ball, 0.06)
    along = rise(1.15 - np.abs(u), 0.05)
    crease = t["crease_depth"] * bell(v - upper + t["crease_gap"], 0.016)
    pouch = t["bags"] * t["age"] * bell(v - lower - 0.15 - 0.03 * u, 0.03)
    rim = 0.006 * (bell(v - upper + 0.012, 0.012) + bell(v - lower - 0.012, 0.014))
    lids = lids + along * (rim - crease - pouch)
    return mix(lids, ball - 0.016, p.eye_opening)


def _nose(t: Traits, p: Plane) -> Field:
    """Height of bridge, ball, wings and nostrils above the face."""
    tip_y = t["nose_base"] - t["nose_lift"]
    down = np.clip((p.y + 0.1) / (tip_y + 0.1), 0.0, 1.2)
    profile = t["nose_root"] + (t["nose_tip"] - t["nose_root"]) * down**1.2
    profile = profile + t["nose_hump"] * bell(down - 0.45, 0.2)
    profile = profile * rise(p.y + 0.2, 0.06)
    floor = t["nose_base"] + 0.04 * bell(p.x, 0.07) - 0.2 * np.clip(p.side - 0.14, 0.0, 0.3) ** 1.2
    under = rise(floor - p.y, t["nose_tilt"])
    width = t["bridge_width"] + (1.1 * t["ball"] - t["bridge_width"]) * down**1.6 + 0.3 * np.clip(-p.y, 0.0, 0.3)
    bridge = 0.75 * profile * bell(p.x, width)
    # A flat foot carries the bridge into the cheeks; it must end softly, or the cheeks get a step.
    foot = 0.25 * profile * bell(p.x, 2.1 * width) * rise(tip_y - 0.02 - p.y, 0.06)
    ball = 0.9 * t["nose_tip"] * blob(p.x, p.y - tip_y - 0.015, t["ball"], 0.45 * t["nose_lift"] + 0.05)
    off_x, off_y = p.wing
    above = np.clip(-off_y, 0.0, None)
    wings = t["wing_height"] * np.exp(-0.5 * (np.abs(off_x) ** 2.6 + np.abs(off_y / (1 + 0.35 * above)) ** 2.2))
    ring = bell(np.hypot(off_x, off_y) - 1.6, 0.28)
    crease = t["wing_crease"] * ring * rise(off_x - 0.6 - 0.3 * above, 0.25)
    return np.cbrt(bridge**3 + ball**3 + wings**3) * under + foot - crease - 0.05 * p.nostrils


def _lips(t: Traits, p: Plane) -> Field:
    """Height of both lips, the line between them and the corners of the mouth."""
    v, upper, lower, u = p.lips
    up = t["lip_full"] * 0.8 * bell(v + 0.5 * upper, 0.42 * upper + 0.015)
    low = t["lip_full"] * 1.2 * bell(v - 0.48 * lower, 0.4 * lower + 0.015)
    inside = np.sqrt(np.clip(1 - u**2, 0.0, 1.0)) * rise(0.95 - u, 0.05)
    slit = 0.03 * bell(v, 0.014) * rise(1.0 - u, 0.04)
    corner = 0.018 * blob(p.side - t["mouth_width"] - 0.01, v, 0.055, 0.055)
    return (up + low) * inside - slit - corner


def _wrinkles(t: Traits, p: Plane) -> Field:
    """Depth of the folds that come with age."""
    age = math.pow(t["age"], 1.5)
    start, end = t["wing_x"] + 0.09, t["mouth_width"] + 0.13
    along = np.clip((p.y - t["nose_base"] + 0.1) / (t["mouth_y"] - t["nose_base"] + 0.1), 0.0, 1.3)
    line = start + (end - start) * along**0.8
    ends = rise(p.y - t["nose_base"] + 0.02, 0.06) * rise(t["mouth_y"] - 0.06 - p.y, 0.07)
    fold = (t["fold"] * 0.4 + 0.03 * age) * ends * bell(p.side - line, 0.06)
    rows = p.y + 0.06 * np.cos(2.2 * p.x) + 0.02 * np.sin(7 * p.x)
    forehead = 0.011 * age * (0.5 + 0.5 * np.cos(rows * 2 * np.pi / 0.13)) ** 4 * blob(p.x, p.y + 0.65, 0.5, 0.15)
    frown = 0.02 * age * blob(p.side - 0.11, p.y + 0.27, 0.024, 0.09, 8)
    return fold + forehead + frown


def skin_texture(canvas: Canvas, t: Traits, p: Plane) -> tuple[Field, Field]:
    """Uneven flesh that belongs to the shape, and pores too fine to throw a shadow."""
    quiet = 1 - 0.9 * p.eye_opening
    flesh = 0.014 * noise(canvas, 16) + 0.002 * noise(canvas, 6) + 0.0004 * (0.6 + t["age"]) * noise(canvas, 2.5)
    patches = np.clip(1 + 0.4 * noise(canvas, 20), 0.2, 2.0)
    pores = t["pores"] * (0.00065 * noise(canvas, 1.3) + 0.0005 * noise(canvas, 0.7))
    return flesh * quiet, pores * patches * quiet * (1 - 0.7 * p.behind_jaw)
