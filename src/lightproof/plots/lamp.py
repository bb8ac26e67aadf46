"""A face with the light that falls on it: a lamp beside it, a ball lit from the same side, and the figures."""

from __future__ import annotations

import math
import textwrap
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from lightproof.imaging.lighting import Diagnosis, toward
from lightproof.plots.canvas import FAINT, GREY, encoded, no_ticks, sheet, show_face
from lightproof.types import Array, Floats

LAMP: Final = "#e69f00"
FRONTAL: Final = 15.0  # degrees: a light nearer to the camera has no side on which a lamp could stand
FILL: Final = 0.06  # light on the dark side of the ball, so that it looks round


def draw_light(face: Array, diagnosis: Diagnosis) -> bytes:
    """Draw a face with the lamp on a ring around it, and the figures of its light beside it.

    The lamp is hollow when the light comes from behind the face. The whole ring shines when it comes from the camera.
    Nothing shines when the direction is unknown.
    """
    figure = sheet(860, 500)
    picture, beside = figure.subplots(1, 2, width_ratios=(10, 9))
    show_face(picture, face)
    height, width = np.shape(face)
    middle = np.array([(width - 1) / 2, (height - 1) / 2])
    ring = 0.66 * math.hypot(height, width)
    picture.set_xlim(middle[0] - 1.2 * ring, middle[0] + 1.2 * ring)
    picture.set_ylim(middle[1] + 1.2 * ring, middle[1] - 1.2 * ring)
    light = _toward(diagnosis)
    _draw_lamp(picture, light, middle, ring)
    _draw_figures(beside, diagnosis, light)
    figure.suptitle(textwrap.fill(diagnosis.hint, 84), fontsize=12)
    return encoded(figure)


def _toward(diagnosis: Diagnosis) -> Floats | None:
    """Unit vector to the light: right in the picture, up, to the camera; None if the direction is unknown."""
    if diagnosis.azimuth is None or diagnosis.elevation is None:
        return None
    light: Floats = toward(np.array([[diagnosis.azimuth, diagnosis.elevation]]))[0] * (-1, 1, 1)
    return light


def _draw_lamp(axes: Axes, light: Floats | None, middle: Floats, ring: float) -> None:
    frontal = light is not None and light[2] >= math.cos(math.radians(FRONTAL))
    color, line = (LAMP, 4.0) if frontal else (FAINT, 1.2)
    axes.add_patch(Circle(_xy(middle), ring, fill=False, edgecolor=color, linewidth=line))
    if light is None or frontal:
        return
    side = np.array([light[0], -light[1]]) / math.hypot(light[0], light[1])  # rows of a picture grow downward
    lamp, bulb = middle + ring * side, 0.075 * ring
    for turn in np.arange(0, 2 * math.pi, math.pi / 4):
        ray = np.array([math.cos(turn), math.sin(turn)])
        axes.plot(*zip(lamp + 1.35 * bulb * ray, lamp + 1.9 * bulb * ray, strict=True), color=LAMP, linewidth=2)
    inner = "white" if light[2] < 0 else LAMP
    axes.add_patch(Circle(_xy(lamp), bulb, facecolor=inner, edgecolor=LAMP, linewidth=2.5, zorder=3))
    # The arrow ends a little inside the face.
    rim = 0.9 * float(np.min((middle + 0.5) / np.maximum(np.abs(side), 1e-9)))
    style = {"arrowstyle": "-|>,head_length=0.7,head_width=0.35", "color": LAMP, "linewidth": 3}
    axes.annotate("", xy=_xy(middle + rim * side), xytext=_xy(lamp - 2.2 * bulb * side), arrowprops=style)


def _xy(point: Floats) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _draw_figures(axes: Axes, diagnosis: Diagnosis, light: Floats | None) -> None:
    no_ticks(axes)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    if light is not None:
        ball = axes.inset_axes((0.0, 0.58, 0.4, 0.4))
        ball.imshow(_ball(light), interpolation="antialiased")
        ball.set_axis_off()
        ball.add_patch(Circle((79.5, 79.5), 78, fill=False, edgecolor=FAINT, linewidth=1))
    axes.text(0.46, 0.78, _direction(diagnosis), fontsize=11, va="center", linespacing=1.5)
    for i, (name, value) in enumerate(_lines(diagnosis)):
        axes.text(0.0, 0.49 - 0.064 * i, name, fontsize=10, color=GREY)
        axes.text(0.46, 0.49 - 0.064 * i, value, fontsize=10)


def _direction(diagnosis: Diagnosis) -> str:
    if diagnosis.azimuth is None or diagnosis.elevation is None:
        return "the light\ncannot be read"
    front = diagnosis.side == "front"
    words = ["the front" if front else f"the {diagnosis.side} of the picture"]
    words += ["behind"] if abs(diagnosis.azimuth) > 90 and not front else []
    words += [diagnosis.height] if diagnosis.height in ("above", "below") else []
    direction = textwrap.fill(f"light from {', '.join(words)}", 24)
    return f"{direction}\nazimuth {round(diagnosis.azimuth):+d}°\nelevation {round(diagnosis.elevation):+d}°"


def _lines(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    brighter = "left half brighter" if diagnosis.balance > 0 else "right half brighter"
    lines = [
        ("balance", f"{diagnosis.balance:+.2f}" + (f", {brighter}" if abs(diagnosis.balance) >= 0.05 else "")),
        ("brightness", f"{diagnosis.brightness:.0f} of 255"),
        ("in shadow", f"{diagnosis.shadow_share:.0%}"),
        ("white", f"{diagnosis.clipped_share:.0%}"),
        ("black", f"{diagnosis.black_share:.0%}"),
        ("sharpness", f"{diagnosis.sharpness:.2f}"),
    ]
    if diagnosis.eye_distance is not None:
        lines.append(("between the eyes", f"{diagnosis.eye_distance:.0f} pixels"))
    if diagnosis.yaw is not None and diagnosis.pitch is not None:
        aside, high = "left" if diagnosis.yaw > 0 else "right", "up" if diagnosis.pitch > 0 else "down"
        lines.append(("head looks", f"{abs(diagnosis.yaw):.0f}° {aside}, {abs(diagnosis.pitch):.0f}° {high}"))
    return lines


def _ball(light: Floats, side: int = 160) -> Floats:
    """Draw a matt ball under the light: colors with opacity, shape (side, side, 4)."""
    x, y = np.meshgrid(np.linspace(-1.02, 1.02, side), np.linspace(1.02, -1.02, side))
    inside = x**2 + y**2
    z = np.sqrt(np.clip(1 - inside, 0, None))
    grey = FILL + (1 - FILL) * np.clip(light[0] * x + light[1] * y + light[2] * z, 0, None)
    # Half a pixel of softness keeps the rim from looking like stairs.
    cover = np.clip((1 - np.sqrt(inside)) * side / 2, 0, 1)
    return np.stack([np.sqrt(np.clip(grey, 0, 1))] * 3 + [cover], axis=2)
