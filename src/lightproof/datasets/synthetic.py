"""Made-up faces under hard light: procedural heads, lit like Extended Yale B."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import YALE_LIGHTS, Light
from lightproof.datasets.rendering import Field
from lightproof.datasets.rendering.surface import Surface, make_surface
from lightproof.errors import BadParameter
from lightproof.imaging.detection import check_size
from lightproof.types import is_whole

# fmt: off
YALE_LIGHTS_DEFAULT: tuple[Light, ...] = (
    (0, 0), (-10, 0), (5, 10), (20, -10), (-20, 10), (35, 15), (-35, -20), (0, 45),
    (-50, 0), (50, 0), (60, 20), (-70, 0), (70, -35), (-85, 20), (110, 40), (-110, -20),
)
"""Sixteen of them, from frontal to behind the ear; the frontal one comes first."""
# fmt: on

GRAY_PER_RADIANCE = 255.0  # one exposure for the whole set: white paper facing the lamp reads 255
BOUNCE = 0.035  # light that comes back from the walls, as a share of the lamp
ELECTRONS_PER_GRAY = 45.0
READ_NOISE_GRAY = 0.8
PENUMBRA_DEGREES = 5.0
SHADOW_REACH = 1.8  # face units; no part of a face throws a longer shadow onto the face


def make_relit_faces(
    n_subjects: int = 20,
    lights: Sequence[Light] | None = YALE_LIGHTS_DEFAULT,
    size: tuple[int, int] = (192, 168),
    seed: int = 0,
    *,
    progress: SizedProgress = iter,
) -> FaceSet:
    """Render made-up people, each under every light.

    Parameters
    ----------
    n_subjects : int
        How many people. Person i is the same one whatever else is asked for.
    lights : sequence of (azimuth, elevation), optional
        Directions in degrees; azimuth -180 to 180, positive lights the left of the picture, elevation -90 to 90,
        positive is above. ``None`` means all 64 of `YALE_LIGHTS`.
    size : tuple of int
        Height and width of the photos, at least 16 each.
    seed : int
        Other seed, other people. The same arguments give the same bits.
    progress : callable
        Wraps the loop over the people, to show how far it is.

    Returns
    -------
    FaceSet
        ``n_subjects * len(lights)`` photos, person by person, lights in the given order.

    Raises
    ------
    BadParameter
        If an argument is outside its legal values.

    Examples
    --------
    >>> faces = make_relit_faces(n_subjects=2, lights=[(0, 0), (50, -20)], size=(32, 28))
    >>> faces.images.shape
    (4, 32, 28)
    >>> faces.files[1]
    'person-00/A+050E-20'
    """
    for name, value, least in (("n_subjects", n_subjects, 1), ("seed", seed, 0)):
        if not is_whole(value, least):
            raise BadParameter("make_relit_faces", name, f"a whole number of at least {least}", value)
    height, width = check_size("make_relit_faces", size)
    chosen = _checked_lights(lights)
    images = np.empty((n_subjects, len(chosen), height, width), dtype=np.uint8)
    for i in progress(range(n_subjects)):
        surface = make_surface(np.random.default_rng([seed, i]), (height, width))
        for j, light in enumerate(chosen):
            images[i, j] = _expose(_radiance(surface, light), _sensor_rng(seed, i, light))
    people = [f"person-{i:02d}" for i in range(n_subjects)]
    light_names = [f"A{azimuth:+04g}E{elevation:+03g}" for azimuth, elevation in chosen]  # as Extended Yale B does
    return FaceSet(
        name="relit faces",
        images=images.reshape(-1, height, width),
        labels=np.repeat(np.array(people), len(chosen)),
        azimuths=np.tile([azimuth for azimuth, _ in chosen], n_subjects),
        elevations=np.tile([elevation for _, elevation in chosen], n_subjects),
        files=tuple(f"{person}/{name}" for person in people for name in light_names),
    )


def _checked_lights(lights: Sequence[Light] | None) -> list[Light]:
    if lights is None:
        return [(float(azimuth), float(elevation)) for azimuth, elevation in YALE_LIGHTS]
    legal = "a non-empty sequence of (azimuth, elevation) in degrees, within -180..180 and -90..90, or None"
    try:
        pairs = np.array(list(lights), dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter("make_relit_faces", "lights", legal, lights) from None
    if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not np.all(np.abs(pairs) <= (180.0, 90.0)):
        raise BadParameter("make_relit_faces", "lights", legal, lights)
    return [(float(azimuth), float(elevation)) for azimuth, elevation in pairs + 0.0]  # no minus zero


def _sensor_rng(seed: int, person: int, light: Light) -> np.random.Generator:
    """Noise of one photo, keyed by the light itself and not by its place in the list."""
    millidegrees = [round(1000 * (angle + 180)) for angle in light]
    return np.random.default_rng([seed, person, *millidegrees])


def _toward(light: Light) -> NDArray[np.float64]:
    """Return the unit vector (x right, y down, z to the camera) from the face to the light."""
    azimuth, elevation = np.radians(light)
    level = np.cos(elevation)
    return np.array([-np.sin(azimuth) * level, -np.sin(elevation), np.cos(azimuth) * level], dtype=np.float64)


def _radiance(surface: Surface, light: Light, cast_shadows: bool = True) -> Field:
    """Light that reaches the camera from each pixel, shape (h, w); 1 is white paper facing the lamp."""
    toward = _toward(light)
    facing = np.maximum(np.tensordot(toward, surface.normals, 1), 0.0)
    lit = _cast_light(surface, toward) if cast_shadows else np.ones_like(facing)
    shine = surface.gloss * _shine(surface.normals, toward) * np.minimum(4 * facing, 1.0)
    # The wall beside the lamp is the brightest, so the shadow side keeps a trace of shape.
    walls = BOUNCE * surface.openness * (1 + 0.5 * np.tensordot(toward * [1.0, 1.0, 0.0], surface.normals, 1))
    radiance: Field = surface.albedo * (facing * lit + walls) + shine * lit
    return radiance


def _shine(normals: Field, toward: NDArray[np.float64]) -> Field:
    """Mirror-like part of the reflection for gloss 1, shape (h, w)."""
    halfway = toward + np.array([0.0, 0.0, 1.0])
    halfway = halfway / max(float(np.linalg.norm(halfway)), 1e-6)
    # Skin shines more at grazing light (Fresnel), which is what outlines a face lit from behind.
    grazing = 1 + 4 * (1 - abs(float(halfway[2]))) ** 2
    return np.asarray(grazing * np.maximum(np.tensordot(halfway, normals, 1), 0.0) ** 14, dtype=np.float64)


def _cast_light(surface: Surface, toward: NDArray[np.float64]) -> Field:
    """Share of the lamp that is not hidden behind the face itself, shape (h, w)."""
    sideways = float(np.hypot(toward[0], toward[1]))
    if sideways < 1e-6:
        return np.ones_like(surface.albedo)
    horizon = np.degrees(np.arctan(_horizon_slope(surface, toward[:2] / sideways)))
    above = np.degrees(np.arctan2(toward[2], sideways)) - horizon
    ramp = np.clip(above / PENUMBRA_DEGREES + 0.4, 0.0, 1.0)
    soft = ramp * ramp * (3 - 2 * ramp)
    return np.asarray(gaussian_filter(soft, [0.007 / pitch for pitch in surface.pitch]), dtype=np.float64)


def _horizon_slope(surface: Surface, direction: NDArray[np.float64]) -> Field:
    """Steepest rise seen from each pixel along ``direction`` (x, y), shape (h, w).

    The walk goes one pixel at a time along the longer axis and mixes two neighbors across the other one, so that a
    step is four array operations instead of an interpolation.
    """
    per_pixel = np.array([direction[1] / surface.pitch[0], direction[0] / surface.pitch[1]])  # rows, columns per unit
    major = int(np.argmax(np.abs(per_pixel)))
    move = per_pixel / abs(per_pixel[major])
    unit_step = 1 / abs(per_pixel[major])
    reach = int(SHADOW_REACH / unit_step)
    # Nothing beyond the canvas throws a shadow: the head falls away there.
    tall = np.pad(surface.relief.astype(np.float32), reach + 1, constant_values=-9.0)
    height, width = surface.albedo.shape
    top, left = (side + reach + 1 for side in surface.margin)
    here = tall[top : top + height, left : left + width]
    slope = np.full(here.shape, -np.inf, dtype=np.float32)
    for step in _step_lengths(reach):
        row, column = move * step
        rows, columns = int(np.floor(row)), int(np.floor(column))
        share = np.float32((column - columns) if major == 0 else (row - rows))
        near = tall[top + rows : top + rows + height, left + columns : left + columns + width]
        if share > 0:
            rows, columns = (rows, columns + 1) if major == 0 else (rows + 1, columns)
            far = tall[top + rows : top + rows + height, left + columns : left + columns + width]
            near = near + share * (far - near)
        np.maximum(slope, (near - here) / np.float32(step * unit_step), out=slope)
    return slope.astype(np.float64)


def _step_lengths(reach: int) -> list[int]:
    """Every pixel near by, then wider and wider: far things need less precision."""
    steps = [1]
    while steps[-1] < reach:
        steps.append(steps[-1] + 1 + steps[-1] // 24)
    return [step for step in steps if step <= reach]


def _expose(radiance: Field, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Turn light into 8-bit gray with the shot and read noise of a sensor."""
    gray = GRAY_PER_RADIANCE * radiance
    noisy = gray + np.sqrt(gray / ELECTRONS_PER_GRAY + READ_NOISE_GRAY**2) * rng.standard_normal(gray.shape)
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
