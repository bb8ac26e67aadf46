"""Where the main light stands, read off a face by its likeness to rendered faces under known lights.

The sheet ``lights.png`` shows a few made-up people under a grid of lights; :mod:`benchmarks.cohort` draws it again. The
face and every rendering are shrunk to 16 x 14 pixels; their light is compared there, and the directions of the likest
renderings are averaged. Nothing is trained on photographs.

Three things make the comparison care for the light and for little else. The logarithm of the picture over its mean,
brought to one spread, forgets the gain of the camera and most of its gamma. The part of it that changes its sign in the
mirror counts twice as much as the part that stays: hair, brows and beard lie on both sides alike, a light on the side
does not. And every rendering stands beside its mirror image, so a mirrored face has the mirrored light.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np

from lightproof.core.images import bring_to_size
from lightproof.imaging.decode import read_grey
from lightproof.types import Array, Floats

SIZE: Final = (16, 14)
"""Rows and columns on which the light is compared; on finer ones the person shows more than the light."""

RENDERED: Final = (32, 28)
"""Rows and columns of a face on the sheet."""

PEOPLE: Final = 6
SEED: Final = 77
"""Rendered people, and the seed of them."""

STEP: Final = 15.0
"""Degrees between neighboring lights of the grid."""

FARTHEST: Final = 135.0
"""Largest azimuth of the grid; nothing on a face tells lights farther behind it apart."""

LOWEST: Final = -45.0

SYMMETRIC: Final = 0.5
"""Weight of the part of a face that is the same in the mirror."""

REACH: Final = 0.05
"""How fast a rendering loses weight: by 1 / e when it is this share farther away (squared) than the nearest one."""

LEAST_CONTRAST: Final = 0.03
"""Spread of the shrunk face below which there is no light and shade to read."""

LEAST_LIKENESS: Final = 0.6
"""Squared distance to the nearest rendering (0 the same, 2 unrelated to it) beyond which it is no face to read."""

BLOCK: Final = 16
"""Faces worked on at a time: they stay in the processor's cache."""


class _Halves(NamedTuple):
    """Light on the left half of faces: what is the same in the mirror, and what changes its sign, (n, 112) each."""

    same: Floats
    other: Floats

    @property
    def squares(self) -> Floats:
        """Squared lengths of the whole faces, shape (n,)."""
        return np.asarray(2 * (np.vecdot(self.same, self.same) + np.vecdot(self.other, self.other)))


@dataclass(frozen=True, eq=False)
class _Bank:
    """Renderings, their squared lengths (n,), and the unit vectors to their lights (2 n, 3), mirrored ones last."""

    faces: _Halves
    squares: Floats
    lights: Floats


def light_directions(faces: Array) -> Floats:
    """Azimuth and elevation of the main light of many faces in degrees; both nan where a picture does not tell.

    Parameters
    ----------
    faces : ndarray of shape (n, h, w), uint8
        Aligned faces, none of them black.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    directions = np.full((len(faces), 2), np.nan)
    for start in range(0, len(faces), BLOCK):
        some = slice(start, start + BLOCK)
        light = _light_of(_shrunk(faces[some]))
        told = light.std(axis=(1, 2)) >= LEAST_CONTRAST
        directions[some][told] = _likest(_halves(light[told]))
    return directions


def _likest(faces: _Halves) -> Floats:
    """Average the directions of the likest renderings of each face, (n, 2)."""
    far = _squared_distances(faces, _bank())
    nearest = far.min(axis=1, keepdims=True)
    like = np.subtract(nearest, far, out=far)
    like /= REACH * nearest
    x, y, z = (np.exp(like, out=like) @ _bank().lights).T
    directions = np.degrees(np.stack([np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))], axis=1))
    return np.where(nearest > LEAST_LIKENESS, np.nan, directions)


def _squared_distances(faces: _Halves, bank: _Bank) -> Floats:
    """How far faces are from all renderings, and from their mirror images after these, shape (n, 2 m), at least 1e-9.

    Both have the same products, but for a sign. In place, step by step: this is what most of the time goes into.
    """
    m = len(bank.squares)
    far = np.empty((len(faces.same), 2 * m))
    same, other = 4 * faces.same @ bank.faces.same.T, 4 * faces.other @ bank.faces.other.T
    np.subtract(bank.squares + faces.squares[:, None], same, out=same)
    np.subtract(same, other, out=far[:, :m])
    np.add(same, other, out=far[:, m:])
    return np.maximum(far, 1e-9, out=far)


@lru_cache(maxsize=1)
def _bank() -> _Bank:
    """Read the sheet of rendered people: one below the other, their lights side by side."""
    sheet = read_grey(files(__package__).joinpath("lights.png").read_bytes(), where="the sheet of rendered lights")
    lights, (height, width) = light_grid(), RENDERED
    rendered = sheet.reshape(PEOPLE, height, len(lights), width).transpose(0, 2, 1, 3).reshape(-1, height, width)
    faces = _halves(_light_of(_shrunk(np.ascontiguousarray(rendered))))
    side = np.tile(toward(np.array(lights)), (PEOPLE, 1))
    return _Bank(faces, faces.squares, np.concatenate([side, side * (-1, 1, 1)]))


def light_grid() -> list[tuple[float, float]]:
    """Lights about STEP degrees apart in every direction, as (azimuth, elevation)."""
    lights = []
    for elevation in np.arange(LOWEST, 90.0 + STEP / 2, STEP):
        # The circles of equal elevation grow shorter toward the top, which is one light.
        steps = round(2 * FARTHEST * math.cos(math.radians(elevation)) / STEP)
        lights += [(float(azimuth), float(elevation)) for azimuth in np.linspace(-FARTHEST, FARTHEST, max(steps, 1))]
    return lights


def toward(lights: Floats) -> Floats:
    """Turn azimuth and elevation in degrees into unit vectors to the lights, (n, 2) -> (n, 3).

    They point to the subject's right (left of the picture), up, and to the camera.
    """
    azimuth, elevation = np.radians(lights).T
    level = np.cos(elevation)
    return np.stack([np.sin(azimuth) * level, np.sin(elevation), np.cos(azimuth) * level], axis=1)


def _shrunk(faces: Array) -> Floats:
    # Of grey values float32 keeps enough. What follows is in float64, so that it is the same, up to its rounding,
    # for any number of faces.
    return bring_to_size(faces, SIZE, np.float32).astype(np.float64)


def _light_of(small: Floats) -> Floats:
    """Logarithm of shrunk faces (n, 16, 14) over their mean, with mean 0; the 1 keeps the noise of black quiet."""
    light = np.log1p(small / small.mean(axis=(1, 2), keepdims=True))
    centered: Floats = light - light.mean(axis=(1, 2), keepdims=True)
    return centered


def _halves(light: Floats) -> _Halves:
    """Take light (n, 16, 14), brought to one length, apart; what is the same in the mirror counts less."""
    light = light / np.linalg.norm(light, axis=(1, 2), keepdims=True)
    half, shape = SIZE[1] // 2, (len(light), SIZE[0] * SIZE[1] // 2)
    left, right = light[:, :, :half], light[:, :, : -half - 1 : -1]
    return _Halves((SYMMETRIC * (left + right) / 2).reshape(shape), ((left - right) / 2).reshape(shape))
