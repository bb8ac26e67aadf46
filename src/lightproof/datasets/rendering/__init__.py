"""How a made-up person is drawn: fields over a canvas. :mod:`lightproof.datasets.synthetic` puts the light on it.

Everything is laid out in face units: x runs from -1 to 1 over the width of the crop, y grows downward and is 0 on the
line of the eyes, z points to the camera. One unit is about 54 mm on a real head. Fields are made on one fixed canvas
that is a sixth of the crop wider on each side, because a forehead outside the picture still throws its shadow into it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.ndimage import gaussian_filter, map_coordinates

Field = NDArray[np.float64]

CROP = (192, 168)
MARGIN = (CROP[0] // 6, CROP[1] // 6)
UNIT = CROP[1] / 2  # canvas pixels per face unit
EYE_LINE = 0.236  # share of the crop height above the eyes


@dataclass(frozen=True)
class Canvas:
    """Where fields are made, and where their random numbers come from.

    A head that turns shows more of itself than a frontal crop does, so its canvas is larger. The random numbers are
    those of the usual canvas: it is the same person, and the rest is filled with mirror images.
    """

    rng: np.random.Generator
    beyond: tuple[int, int, int] = (0, 0, 0)  # rows above, rows below and columns on each side of the usual canvas

    def places(self) -> tuple[Field, Field]:
        """Return x and y of every pixel in face units."""
        above, below, aside = self.beyond
        rows = np.arange(-above, CROP[0] + 2 * MARGIN[0] + below) + 0.5 - MARGIN[0]
        columns = np.arange(-aside, CROP[1] + 2 * MARGIN[1] + aside) + 0.5 - MARGIN[1]
        y, x = np.meshgrid(rows / UNIT - EYE_LINE * CROP[0] / UNIT, columns / UNIT - 1.0, indexing="ij")
        return x, y


def noise(canvas: Canvas, rows: float, columns: float | None = None) -> Field:
    """Smooth noise of unit spread; the arguments are its grain in canvas pixels."""
    white = canvas.rng.standard_normal((CROP[0] + 2 * MARGIN[0], CROP[1] + 2 * MARGIN[1]))
    grain = (rows, rows if columns is None else columns)
    frequencies = (fft.fftfreq(white.shape[0])[:, None], fft.rfftfreq(white.shape[1])[None, :])
    down, across = (np.exp(-2 * (np.pi * g * f) ** 2) for g, f in zip(grain, frequencies, strict=True))
    # A Gaussian blur through the spectrum costs the same for every grain.
    smooth = fft.irfft2(fft.rfft2(white) * down * across, s=white.shape)
    smooth = np.asarray(smooth / smooth.std(), dtype=np.float64)
    above, below, aside = canvas.beyond
    return np.pad(smooth, ((above, below), (aside, aside)), mode="symmetric") if any(canvas.beyond) else smooth


def rise(value: Field, width: float) -> Field:
    """Go from 0 to 1 as ``value`` passes 0, softly over about four times ``width``."""
    return 0.5 + 0.5 * np.tanh(value / (2 * width))


def bell(value: Field, width: Field | float) -> Field:
    """Bell of height 1 around value = 0."""
    return np.exp(-0.5 * (value / width) ** 2)


def blob(u: Field, v: Field, width: float, height: float, turn: float = 0.0) -> Field:
    """Bell of height 1 around u = v = 0, turned by ``turn`` degrees."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return np.exp(-0.5 * (((c * u + s * v) / width) ** 2 + ((c * v - s * u) / height) ** 2))


def mix(old: Field, new: Field, share: Field) -> Field:
    """Go from old to new where ``share`` goes from 0 to 1."""
    return old + share * (new - old)


def soft_max(a: Field, b: Field, softness: float) -> Field:
    """Larger of two surfaces with a rounded seam."""
    return 0.5 * (a + b + np.sqrt((a - b) ** 2 + softness**2))


def sample(
    field: Field, size: tuple[int, int], margin: tuple[int, int], beyond: tuple[int, int, int] = (0, 0, 0)
) -> Field:
    """Read a canvas field at the pixel centers of a picture of ``size`` with ``margin`` around it.

    What the canvas has ``beyond`` the usual one is read too.
    """
    steps = (CROP[0] / size[0], CROP[1] / size[1])
    # Shrinking without a blur first would turn pores and lashes into noise.
    smooth = gaussian_filter(field, [0.45 * step if step > 1 else 0.0 for step in steps])
    above, below, aside = beyond
    rows, columns = (
        MARGIN[k] + before + (np.arange(-margin[k] - extra, size[k] + margin[k] + more) + 0.5) * steps[k] - 0.5
        for k, (before, extra, more) in enumerate(
            zip((above, aside), in_pixels((above, aside), size), in_pixels((below, aside), size), strict=True)
        )
    )
    grid = np.stack(np.meshgrid(rows, columns, indexing="ij")).astype(np.float64)
    sampled = map_coordinates(smooth, grid, order=1 if min(steps) >= 1 else 3, mode="nearest")
    return np.asarray(sampled, dtype=np.float64)


def in_pixels(lengths: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """Turn canvas rows and columns into whole rows and columns of a picture of ``size``."""
    return lengths[0] * size[0] // CROP[0], lengths[1] * size[1] // CROP[1]


def margin_of(size: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns around a picture of ``size`` whose relief throws shadows into it."""
    return -(-size[0] // 6), -(-size[1] // 6)
