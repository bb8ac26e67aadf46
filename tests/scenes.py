"""Photographs that the tests compose: faces on backgrounds, of any size, turned, dark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from skimage.transform import SimilarityTransform, warp

from lightproof.datasets import make_relit_faces
from lightproof.datasets.rendering import MARGIN, Canvas
from lightproof.datasets.rendering.person import TRAIT_RANGES, pupils, warped_plane
from lightproof.imaging.detection import Face


@dataclass(frozen=True, eq=False)
class Sitter:
    """A rendered person, lit from the front and from other sides, and the pupils in each crop of 192 x 168 pixels."""

    lit: dict[float, NDArray[np.uint8]]
    pupils: tuple[complex, complex]

    @property
    def front(self) -> NDArray[np.uint8]:
        return self.lit[0.0]


@dataclass(frozen=True, eq=False)
class Scene:
    """A photo and the true eyes in it, of everybody who was set in."""

    photo: NDArray[np.uint8]
    eyes: tuple[tuple[complex, complex], ...]

    def eye_error(self, face: Face, of: int = -1) -> float:
        """Mean distance of a face's eyes from somebody's true ones, the last one's if not said, in eye distances."""
        right, left = self.eyes[of]
        return (abs(complex(*face.right_eye) - right) + abs(complex(*face.left_eye) - left)) / 2 / abs(left - right)


@cache
def seat(n: int, azimuths: tuple[float, ...] = (0.0,)) -> list[Sitter]:
    """Render some people, each under some lights; once for all tests, so nobody may paint on them."""
    images = make_relit_faces(n, [(azimuth, 0) for azimuth in azimuths]).images
    lit = images.reshape(n, len(azimuths), *images.shape[1:])
    return [Sitter(dict(zip(azimuths, lit[i], strict=True)), pupils_of(i)) for i in range(n)]


def pupils_of(person: int) -> tuple[complex, complex]:
    """Right and left pupil of a rendered person of seed 0, to half a pixel: drawn once more up to where they are."""
    rng = np.random.default_rng([0, person])
    traits = {name: float(rng.uniform(low, high)) for name, (low, high) in TRAIT_RANGES.items()}
    right, left = pupils(warped_plane(Canvas(rng), traits))
    return complex(right[1] - MARGIN[1], right[0] - MARGIN[0]), complex(left[1] - MARGIN[1], left[0] - MARGIN[0])


def clutter(height: int, width: int, seed: int) -> NDArray[np.float64]:
    """A background of blobs, edges and grain, from 0 to 1."""
    rng = np.random.default_rng(seed)
    coarse, fine = (gaussian_filter(rng.standard_normal((height, width)), grain) for grain in (height / 12, 2.0))
    picture = coarse / coarse.std() + 0.3 * fine / fine.std()
    for _ in range(12):
        top, left = rng.integers(0, height), rng.integers(0, width)
        picture[top : top + rng.integers(8, height // 2), left : left + rng.integers(8, width // 2)] += rng.normal()
    low, high = picture.min(), picture.max()
    return (picture - low) / (high - low)


def compose(
    sitter: Sitter,
    size: tuple[int, int] = (360, 480),
    eye_distance: float = 80.0,
    roll: float = 0.0,
    middle: complex | None = None,
    azimuth: float = 0.0,
    seed: int = 0,
    before: Scene | None = None,
) -> Scene:
    """Set a cropped face into a cluttered photo, or into a scene where others are already.

    ``roll`` turns the head clockwise, in degrees; ``middle`` is where the point between the eyes goes.
    """
    height, width = size if before is None else before.photo.shape
    middle = complex(width / 2, height / 2.4) if middle is None else middle
    right, left = sitter.pupils
    step = np.exp(1j * np.radians(roll)) * eye_distance / (left - right)
    move = middle - step * (right + left) / 2
    to_photo = SimilarityTransform(
        matrix=np.array([[step.real, -step.imag, move.real], [step.imag, step.real, move.imag], [0, 0, 1]])
    )
    face = sitter.lit[azimuth] / 255.0
    smooth = gaussian_filter(face, max(0.0, (1 / abs(step) - 1) / 2))
    seen, cover = (
        warp(part, to_photo.inverse, output_shape=(height, width), order=1, mode="constant")
        for part in (smooth, _oval(face.shape))
    )
    background = clutter(height, width, seed) if before is None else before.photo / 255.0
    eyes = () if before is None else before.eyes
    photo = as_photo(cover * seen + (1 - cover) * background)
    return Scene(photo, (*eyes, (step * right + move, step * left + move)))


def darkened(photo: NDArray[np.uint8], brightness: float) -> NDArray[np.uint8]:
    """Take the same photo with less light: less of everything but the noise of the camera."""
    noise = np.random.default_rng(0).normal(0, 0.004, photo.shape)
    return as_photo(brightness * photo / 255.0 + noise)


def as_photo(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Bring values from 0 to 1 into eight bits."""
    return np.clip(np.rint(255 * values), 0, 255).astype(np.uint8)


def _oval(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """1 on the face, falling to 0 before the edge of the crop: no straight border gives it away."""
    rows, columns = (np.abs(np.linspace(-1, 1, side)) for side in shape)
    reach = (rows[:, None] ** 4 + columns[None, :] ** 4) ** 0.25
    return np.clip((1 - reach) / 0.1, 0, 1)
