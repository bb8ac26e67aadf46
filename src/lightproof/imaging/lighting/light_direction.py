"""Where the main light stands, estimated from a face by its likeness to rendered faces under known lights.

The sheet ``lights.png`` shows a few made-up people under a grid of lights; :mod:`benchmarks.cohort` draws it again. The
face and every rendering are shrunk to 16 x 14 pixels; their light is compared there, and the directions of the likest
renderings are averaged. Nothing is trained on photographs.

Three things make the comparison depend on the light and on little else. The logarithm of the picture over its mean,
scaled to one spread, forgets the gain of the camera and most of its gamma. The antisymmetric part, which changes its
sign in the mirror, counts twice as much as the symmetric one: hair, brows and beard are alike on both sides, a light
from one side is not. And each rendering is compared together with its mirror image, so a mirrored face has the mirrored
light.
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np

from lightproof.core.images import bring_to_size
from lightproof.errors import BadImage
from lightproof.imaging.decode import read_grey
from lightproof.types import Array, Floats

SMALLEST: Final = 16  # rows and columns that a face must have
NO_LIGHT: Final = 4.0  # brightness in grey values up to which the noise of the camera would decide the direction
BRIGHT: Final = 0.95  # the brightness of a face is the grey value that this share of its pixels does not exceed

# What lies in deep shadow.
INNER_BORDER: Final = 0.1  # of the height and width, left out on each side
DEEP_SHADOW: Final = 0.15  # of the brightness; what is darker has next to no light of the lamp
SOFT_LIGHT: Final = 0.05  # share of the face in deep shadow up to which the light is soft
HARD_LIGHT: Final = 0.35  # share from which on it is hard

# The sheet of renderings.
RENDERED: Final = (32, 28)  # rows and columns of a face
PEOPLE: Final = 6
SEED: Final = 77  # of the rendered people
STEP: Final = 15.0  # degrees between neighboring lights of the grid
MAX_AZIMUTH: Final = 135.0  # degrees; nothing on a face tells lights farther behind it apart
MIN_ELEVATION: Final = -45.0  # degrees

# How faces are compared with it.
SIZE: Final = (16, 14)  # rows and columns; on finer ones the person shows more than the light
SYMMETRIC: Final = 0.5  # weight of the symmetric part of a face
REACH: Final = 0.05  # a rendering so much farther, squared, than the nearest one has 1 / e of its weight
MIN_CONTRAST: Final = 0.03  # spread of the shrunk face below which there is no light and shade to read
MAX_DISTANCE: Final = 0.6  # squared, to the nearest rendering: 0 the same, 2 unrelated; beyond it, no face to read
FACES_PER_BLOCK: Final = 16  # worked on at a time: they stay in the processor's cache


class _Halves(NamedTuple):
    """The light on the left half of faces, (n, 112) in two parts, and the squared lengths of the whole faces, (n,)."""

    symmetric: Floats
    antisymmetric: Floats
    squared_lengths: Floats


def light_directions(faces: Array) -> Floats:
    """Estimate where the main light of many faces comes from: the direction of :func:`diagnose`, and no more.

    It takes a tenth of a millisecond for each face.

    Parameters
    ----------
    faces : ndarray of shape (n, h, w), uint8
        Upright faces of at least 16 x 16 pixels, cut as :func:`diagnose` wants them; n may be 0.

    Returns
    -------
    ndarray of shape (n, 2)
        Azimuth and elevation in degrees; both nan where the picture does not tell.

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> lit = make_relit_faces(1, lights=[(70, 0), (-70, 0)])
    >>> azimuths, elevations = light_directions(lit.images).T
    >>> bool(azimuths[0] > 45), bool(azimuths[1] < -45)
    (True, True)
    """
    legal = f"grey faces of shape (n, h, w), uint8, of at least {SMALLEST} x {SMALLEST} pixels"
    if not isinstance(faces, np.ndarray):
        raise BadImage("`faces` of light_directions", legal, type(faces).__name__)
    if faces.dtype != np.uint8 or faces.ndim != 3 or min(faces.shape[1:]) < SMALLEST:
        raise BadImage("`faces` of light_directions", legal, f"{faces.dtype} of shape {faces.shape}")
    directions = np.full((len(faces), 2), np.nan)
    lit = np.flatnonzero([_is_lit(face) for face in faces])
    for start in range(0, len(lit), FACES_PER_BLOCK):
        block = lit[start : start + FACES_PER_BLOCK]
        directions[block] = _directions(faces[block])
    return directions


def _is_lit(face: Array) -> bool:
    # A tenth of the pixels is more than the bright parts: only a dark face needs a closer look.
    return bool(np.count_nonzero(face > np.uint8(NO_LIGHT)) > face.size / 10) or brightness(face) > NO_LIGHT


def brightness(face: Array) -> float:
    """Grey value of the bright parts, 0 to 255: ``np.quantile(face, BRIGHT)``, read off the histogram."""
    darker = np.cumsum(np.bincount(face.ravel(), minlength=256))
    position = BRIGHT * (face.size - 1)
    below, above = np.searchsorted(darker, [int(position), min(int(position) + 1, face.size - 1)], side="right")
    return float(below + (above - below) * (position - int(position)))


def shadow_shares(faces: Array) -> Floats:
    """Share of each face in deep shadow, (n, h, w), uint8 -> (n,); hair and background around the face do not count."""
    height, width = faces.shape[1:]
    down, across = (max(1, round(INNER_BORDER * side)) for side in (height, width))
    shares = np.ones(len(faces))
    for i, face in enumerate(faces[:, down : height - down, across : width - across]):
        darker = np.cumsum(np.bincount(face.ravel(), minlength=256))
        bright = int(np.searchsorted(darker, BRIGHT * face.size))
        if bright:
            shares[i] = darker[math.ceil(DEEP_SHADOW * bright) - 1] / face.size
    return shares


def hardness(shadows: Floats) -> Floats:
    """Tell from the :func:`shadow_shares` of faces how hard their light is, 0 to 1."""
    return np.asarray(np.clip((shadows - SOFT_LIGHT) / (HARD_LIGHT - SOFT_LIGHT), 0, 1))


def _directions(faces: Array) -> Floats:
    """Average the directions, in degrees, of the renderings most similar to faces (n, h, w), none of them black."""
    directions = np.full((len(faces), 2), np.nan)
    light = _light_of(faces)
    readable = light.std(axis=(1, 2)) >= MIN_CONTRAST
    renderings, lights = _renderings()
    distances = _squared_distances(_halves(light[readable]), renderings)
    nearest = distances.min(axis=1, keepdims=True)
    weights = np.subtract(nearest, distances, out=distances)
    weights /= REACH * nearest
    x, y, z = (np.exp(weights, out=weights) @ lights).T
    angles = np.degrees(np.stack([np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))], axis=1))
    directions[readable] = np.where(nearest > MAX_DISTANCE, np.nan, angles)
    return directions


def _squared_distances(faces: _Halves, renderings: _Halves) -> Floats:
    """Squared distances of faces to all renderings, then to their mirror images, shape (n, 2 m), at least 1e-9.

    Both have the same products, but for a sign. In place, step by step: this is what most of the time goes into.
    """
    m = len(renderings.symmetric)
    distances = np.empty((len(faces.symmetric), 2 * m))
    symmetric = 4 * faces.symmetric @ renderings.symmetric.T
    antisymmetric = 4 * faces.antisymmetric @ renderings.antisymmetric.T
    np.subtract(renderings.squared_lengths + faces.squared_lengths[:, None], symmetric, out=symmetric)
    np.subtract(symmetric, antisymmetric, out=distances[:, :m])
    np.add(symmetric, antisymmetric, out=distances[:, m:])
    return np.maximum(distances, 1e-9, out=distances)


@lru_cache(maxsize=1)
def _renderings() -> tuple[_Halves, Floats]:
    """Read the sheet: n faces, and the unit vectors to their lights, (2 n, 3), those of the mirror images last."""
    sheet = read_grey(files(__package__).joinpath("lights.png").read_bytes(), where="the sheet of rendered lights")
    lights, (height, width) = light_grid(), RENDERED
    rendered = sheet.reshape(PEOPLE, height, len(lights), width).transpose(0, 2, 1, 3).reshape(-1, height, width)
    vectors = np.tile(toward(np.array(lights)), (PEOPLE, 1))
    faces = _halves(_light_of(np.ascontiguousarray(rendered)))
    return faces, np.concatenate([vectors, vectors * (-1, 1, 1)])


def light_grid() -> list[tuple[float, float]]:
    """Lights about STEP degrees apart in every direction, as (azimuth, elevation)."""
    lights = []
    for elevation in np.arange(MIN_ELEVATION, 90.0 + STEP / 2, STEP):
        # The circles of equal elevation grow shorter toward the top, which is one light.
        steps = round(2 * MAX_AZIMUTH * math.cos(math.radians(elevation)) / STEP)
        azimuths = np.linspace(-MAX_AZIMUTH, MAX_AZIMUTH, max(steps, 1))
        lights += [(float(azimuth), float(elevation)) for azimuth in azimuths]
    return lights


def toward(lights: Floats) -> Floats:
    """Turn azimuth and elevation in degrees into unit vectors to the lights, (n, 2) -> (n, 3).

    They point to the subject's right (left of the picture), up, and to the camera.
    """
    azimuth, elevation = np.radians(lights).T
    level = np.cos(elevation)
    return np.stack([np.sin(azimuth) * level, np.sin(elevation), np.cos(azimuth) * level], axis=1)


def _light_of(faces: Array) -> Floats:
    """Return the logarithm of shrunk faces over their mean, centered, (n, 16, 14); the 1 damps the noise of black."""
    # Of grey values float32 keeps enough. What follows is in float64, so that it is the same, up to its rounding,
    # for any number of faces.
    small = bring_to_size(faces, SIZE, np.float32).astype(np.float64)
    light = np.log1p(small / small.mean(axis=(1, 2), keepdims=True))
    centered: Floats = light - light.mean(axis=(1, 2), keepdims=True)
    return centered


def _halves(light: Floats) -> _Halves:
    """Split light (n, 16, 14), scaled to length 1, into its symmetric part, which counts less, and the other."""
    light = light / np.linalg.norm(light, axis=(1, 2), keepdims=True)
    half, shape = SIZE[1] // 2, (len(light), SIZE[0] * SIZE[1] // 2)
    left, right = light[:, :, :half], light[:, :, : -half - 1 : -1]
    symmetric, antisymmetric = (SYMMETRIC * (left + right) / 2).reshape(shape), ((left - right) / 2).reshape(shape)
    squares = np.vecdot(symmetric, symmetric) + np.vecdot(antisymmetric, antisymmetric)
    return _Halves(symmetric, antisymmetric, np.asarray(2 * squares))
