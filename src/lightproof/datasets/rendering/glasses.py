"""Glasses of a made-up person: two rims, a bridge and two temples, a little in front of the skin."""

from __future__ import annotations

import numpy as np

from lightproof.datasets.rendering import Canvas, Field, mix, rise
from lightproof.datasets.rendering.person import Plane, Traits

# fmt: off
# As the traits of a person; one pair of glasses is one uniform draw from every row. Lengths are in face units.
GLASSES_RANGES: dict[str, tuple[float, float]] = {
    "radius": (0.34, 0.48), "flatness": (0.65, 1.0), "squareness": (2.0, 5.0), "below": (0.02, 0.12),
    "thickness": (0.012, 0.04), "tone": (0.02, 0.35), "shine": (0.0, 0.5),
}
# fmt: on

EDGE = 0.008  # face units over which the edge of the frame fades
STAND_OUT = 0.04  # face units by which the frame stands in front of the skin: 2 mm


def with_glasses(
    canvas: Canvas, t: Traits, p: Plane, relief: Field, albedo: Field, gloss: Field
) -> tuple[Field, Field, Field]:
    """Put glasses on a face: new relief, albedo and gloss."""
    g = {name: float(canvas.rng.uniform(low, high)) for name, (low, high) in GLASSES_RANGES.items()}
    across, down = (p.side - t["eye_x"]) / g["radius"], (p.y - t["eye_y"] - g["below"]) / (g["radius"] * g["flatness"])
    # Distance from the middle of the lens in radii; between an ellipse and a rectangle.
    away = (np.abs(across) ** g["squareness"] + np.abs(down) ** g["squareness"]) ** (1 / g["squareness"])
    rims = _line(g["radius"] * (away - 1), g["thickness"])
    inner, outer = t["eye_x"] - g["radius"], t["eye_x"] + g["radius"]
    height = p.y - t["eye_y"] + 0.03
    bridge = _line(height, g["thickness"]) * rise(inner - p.side, EDGE)
    temples = _line(height, g["thickness"]) * rise(p.side - outer, EDGE)
    frame = np.maximum(rims, np.maximum(bridge, temples))
    tone, shine = np.full_like(albedo, g["tone"]), np.full_like(gloss, g["shine"])
    return relief + STAND_OUT * frame, mix(albedo, tone, frame), mix(gloss, shine, frame)


def _line(off: Field, thickness: float) -> Field:
    """Return 1 on a line, 0 beside it; ``off`` is the distance from its middle."""
    return rise(thickness - np.abs(off), EDGE / 2)
