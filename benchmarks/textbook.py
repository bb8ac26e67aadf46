"""The method as a textbook would write it: one loop per image, patch, angle and person, straight from the equations.

It shares no code with the package, so it serves twice: the fast code must be as right, and is measured against it.
The settings are those of the preset "authors" at 64 x 64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ANGLES = [math.radians(degrees) for degrees in (0.0, 45.0, 135.0, 179.0)]


def gradients(image: Array) -> tuple[Array, Array]:
    """Sobel differences of one image with a reflect-101 border."""
    padded = np.pad(image, 1, mode="reflect")
    horizontal, vertical = np.zeros_like(image), np.zeros_like(image)
    for down, weight in ((0, 1), (1, 2), (2, 1)):
        rows = slice(down, down + image.shape[0])
        horizontal += weight * (padded[rows, 2:] - padded[rows, :-2])
    for across, weight in ((0, 1), (1, 2), (2, 1)):
        columns = slice(across, across + image.shape[1])
        vertical += weight * (padded[2:, columns] - padded[:-2, columns])
    return horizontal, vertical


def features(image: Array, cell: int = 4, overlap: int = 1, angles: Sequence[float] = ANGLES) -> list[Array]:
    """Definition 3.2 for every patch of one image: a vector of sorted projections each."""
    horizontal, vertical = gradients(image)
    vectors = []
    for top in range(0, image.shape[0] - cell + 1, cell - overlap):
        for left in range(0, image.shape[1] - cell + 1, cell - overlap):
            patch = (slice(top, top + cell), slice(left, left + cell))
            projections = []
            for angle in angles:
                projected = horizontal[patch] * math.cos(angle) + vertical[patch] * math.sin(angle)
                projections.append(np.sort(projected.ravel()))
            vectors.append(np.concatenate(projections))
    return vectors


def translations(n_points: int, angles: Sequence[float] = ANGLES) -> tuple[Array, Array]:
    """The set U_T for one patch."""
    cosines = np.concatenate([np.full(n_points, math.cos(angle)) for angle in angles])
    sines = np.concatenate([np.full(n_points, math.sin(angle)) for angle in angles])
    return cosines, sines


def fit(photos: dict[Any, list[list[Array]]], share: float = 0.99) -> dict[Any, list[Array]]:
    """Basis of every patch of every person.

    ``photos[person]`` holds the features of each of the person's photos. Photos and U_T go into one decomposition; the
    fewest directions with that share of the sum of singular values are kept, and the largest number of anybody serves
    everybody in that patch.
    """
    first = next(iter(photos.values()))[0]
    bases: dict[Any, list[Array]] = {person: [] for person in photos}
    for k in range(len(first)):
        cosines, sines = translations(len(first[k]) // len(ANGLES))
        turned, count = {}, 0
        for person, shots in photos.items():
            _, singular, right = np.linalg.svd(
                np.stack([*(shot[k] for shot in shots), cosines, sines]), full_matrices=False
            )
            turned[person] = right
            reached = np.cumsum(singular) / np.sum(singular)
            count = max(count, int(np.argmax(reached >= share)) + 1)
        for person in photos:
            bases[person].append(turned[person][:count].T)
    return bases


def patch_distances(vectors: list[Array], bases: dict[Any, list[Array]]) -> Array:
    """Residual of every patch to every person's subspace, shape (K, C)."""
    out = np.zeros((len(vectors), len(bases)))
    for k, x in enumerate(vectors):
        for c, basis in enumerate(bases.values()):
            out[k, c] = np.linalg.norm(x - basis[k] @ (basis[k].T @ x))
    return out


def identify(vectors: list[Array], bases: dict[Any, list[Array]]) -> Any:
    """Name the person with the smallest sum of distances, each patch divided by its norm over the people."""
    distances = patch_distances(vectors, bases)
    total = np.zeros(len(bases))
    for k in range(len(vectors)):
        total += distances[k] / np.linalg.norm(distances[k] + 1e-5)
    return list(bases)[int(np.argmin(total))]
