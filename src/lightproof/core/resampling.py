"""Blurring and resizing of pictures: linear maps of their lines and of their columns.

They do what ``scipy.ndimage`` and ``skimage.transform.resize`` do; but to load these takes as long as to enroll some
hundred faces, and on small pictures a sum of a few lines and a matrix product are several times as fast as a filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from lightproof.core.jit import compiled
from lightproof.types import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class Resampling:
    """A map of a column of pixels to another one, as a matrix (new, old).

    Each new pixel is made of the pixel ``first``, (new,), and of the next ones, with weights (new, count).
    """

    matrix: Floats
    first: Ints
    weights: Floats

    @classmethod
    def of(cls, matrix: Floats, dtype: Any) -> Self:
        """Make it of its matrix; it computes in ``dtype``."""
        old, counts = matrix.shape[1], matrix != 0
        first, last = counts.argmax(axis=1), old - 1 - counts[:, ::-1].argmax(axis=1)
        most = int((last - first).max()) + 1
        first = np.minimum(first, old - most)
        weights = np.take_along_axis(matrix, first[:, None] + np.arange(most), axis=1)
        return cls(matrix.astype(dtype), first, weights.astype(dtype))

    def down(self, images: Array) -> Floats:
        """Apply it to the columns of images, (n, old, w) -> (n, new, w)."""
        out = np.empty((len(images), len(self.matrix), images.shape[2]), self.matrix.dtype)
        _put_lines(images, self.first, self.weights, out)
        return out

    def across(self, images: Floats) -> Floats:
        """Apply it to the lines of images, (n, h, old) -> (n, h, new)."""
        return images @ self.matrix.T


@lru_cache(maxsize=64)
def blurring(side: int, sigma: float, radius: int, dtype: np.dtype[Any]) -> Resampling:
    """Blur ``side`` pixels by a Gaussian of so many pixels on each side; beyond the ends the last one is repeated."""
    return Resampling.of(_blurred(np.arange(side), side, gaussian(sigma, radius), _repeated), dtype)


@lru_cache(maxsize=64)
def resizing(old: int, new: int, smooth: bool, dtype: np.dtype[Any]) -> Resampling:
    """Resize ``old`` pixels to ``new`` ones, each between the two nearest; beyond the ends they are mirrored.

    When ``smooth``, pixels that become fewer are blurred first.
    """
    sigma = (old / new - 1) / 2 if smooth else 0.0
    weights = gaussian(sigma, reach_of(sigma)) if sigma > 0 else np.ones(1)
    place = (np.arange(new) + 0.5) * (old / new) - 0.5
    below = np.floor(place).astype(np.intp)
    share = (place - below)[:, None]
    one, next_one = (_blurred(_mirrored(pixels, old), old, weights, _mirrored) for pixels in (below, below + 1))
    return Resampling.of((1 - share) * one + share * next_one, dtype)


def gaussian(sigma: float, radius: int) -> Floats:
    """Return the weights of ``scipy.ndimage.gaussian_filter``, shape (2 radius + 1,), the same on every processor.

    NumPy's exponential is not the same to the last bit on all of them.
    """
    weights = np.array([math.exp(-0.5 / sigma**2 * step**2) for step in range(-radius, radius + 1)])
    return np.asarray(weights / weights.sum())


def reach_of(sigma: float) -> int:
    """Return the default radius of a Gaussian: the pixels that count on each side."""
    return int(4 * sigma + 0.5)


def _blurred(pixels: Ints, side: int, weights: Floats, border: Callable[[Ints, int], Ints]) -> Floats:
    """Return the weights that make some of ``side`` pixels when they are blurred, shape (n, side).

    ``border`` takes places that may lie beyond the first or the last pixel to pixels.
    """
    out, rows = np.zeros((len(pixels), side)), np.arange(len(pixels))
    for step, weight in enumerate(weights, start=-(len(weights) // 2)):
        out[rows, border(pixels + step, side)] += weight
    return out


def _repeated(places: Ints, side: int) -> Ints:
    """Repeat the last pixel beyond the ends."""
    return np.clip(places, 0, side - 1)


def _mirrored(places: Ints, side: int) -> Ints:
    """Mirror the pixels beyond the ends about the last one."""
    period = max(2 * side - 2, 1)
    inside = places % period
    return np.where(inside < side, inside, period - inside)


@compiled
def _put_lines(images: Array, first: Ints, weights: Floats, out: Floats) -> None:
    """Put weighted sums of neighboring lines of each image, line i from ``first[i]`` on, into ``out``."""
    for n in range(len(images)):
        for i in range(len(first)):
            place = out[n, i]
            place[...] = 0
            for j in range(weights.shape[1]):
                line, weight = images[n, first[i] + j], weights[i, j]
                for k in range(len(place)):
                    place[k] += weight * out.dtype.type(line[k])
