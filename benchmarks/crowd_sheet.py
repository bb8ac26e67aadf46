"""Draw the sheet that the people of a crowd are made of: python -m benchmarks.crowd_sheet; takes minutes.

People are rendered as for :func:`lightproof.datasets.make_relit_faces`, but not lit: what is kept is the root of the
albedo, the normals and the relief, as a mean and the directions in which people differ most.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

import lightproof.datasets.crowd
from lightproof.datasets.crowd.face_model import (
    CELL_SIDE,
    COLUMNS,
    COMPONENTS,
    FIELDS,
    HEIGHT,
    LANDMARK_ROWS,
    MEAN_STEPS,
    PIXELS,
    RELIEF,
    STEPS,
    WIDTH,
)
from lightproof.datasets.rendering import CROP, UNIT, Canvas, Field
from lightproof.datasets.rendering.person import TRAIT_RANGES
from lightproof.datasets.rendering.surface import make_surface
from lightproof.plots import png_of

SHEET = Path(lightproof.datasets.crowd.__file__).with_name("people.png")
SEED = 2024
PEOPLE = 400
LANDMARKS = ("brow_y", "nose_base", "mouth_y")
HEIGHT_OF_UNIT = UNIT * HEIGHT / CROP[0]


def fields_of(person: int) -> NDArray[np.float32]:
    """Render one person: root of the albedo, both sideways normals, relief, gloss and openness, all in one row."""
    surface = make_surface(Canvas(np.random.default_rng([SEED, person])), (HEIGHT, WIDTH))
    rng = np.random.default_rng([SEED, person])  # the traits are what is drawn from it first
    traits = {name: rng.uniform(low, high) for name, (low, high) in TRAIT_RANGES.items()}
    off = [HEIGHT_OF_UNIT * (traits[name] - sum(TRAIT_RANGES[name]) / 2) for name in LANDMARKS]
    normals = surface.normals
    relief = _straightened(surface.relief, off, surface.margin[0])
    relief = relief.reshape(RELIEF[0], CELL_SIDE, RELIEF[1], CELL_SIDE).mean(axis=(1, 3))
    others = (np.sqrt(surface.albedo), normals[0], normals[1], surface.gloss, surface.openness)
    albedo, right, down, gloss, openness = (_straightened(field, off, 0) for field in others)
    parts = [albedo, right, down, relief, gloss, openness]
    return np.concatenate([part.ravel() for part in parts]).astype(np.float32)


def _straightened(field: Field, off: Sequence[float], margin: int) -> Field:
    """Move the landmarks of a field, so many rows off, to where everybody has them."""
    rows = np.arange(len(field), dtype=float)
    back = rows + np.interp(rows - margin, LANDMARK_ROWS, [0, off[0], 0, *off[1:], 0])
    return np.asarray(
        map_coordinates(
            field, np.stack(np.broadcast_arrays(back[:, None], np.arange(field.shape[1]))), order=1, mode="nearest"
        )
    )


def records(people: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Turn rendered people (n, numbers) into the sheet's rows, as :mod:`lightproof.datasets.crowd.face_model` reads."""
    shapes, extras = people[:, :COLUMNS], people[:, COLUMNS:].mean(axis=0)
    mean = shapes.mean(axis=0)
    apart = (shapes - mean) / STEPS
    # Every kind of field counts the same, however its unit is chosen.
    weights = np.concatenate([np.full(part.shape[1], 1 / part.std()) for part in np.split(apart, FIELDS, axis=1)])
    _, strengths, directions = np.linalg.svd(apart * weights, full_matrices=False)
    most = directions[:COMPONENTS] * (strengths[:COMPONENTS, None] / np.sqrt(len(people) - 1)) / weights
    scores = apart * weights @ directions[:COMPONENTS].T
    rest = (apart - (scores @ directions[:COMPONENTS]) / weights).std(axis=0)
    fine = np.rint(mean / STEPS * MEAN_STEPS).astype(int) + 2**15
    pages = [fine // 256, fine % 256, rest, np.zeros(COLUMNS), *(most + 128)]
    pages[3][: 2 * PIXELS] = np.clip(extras * 100, 0, 255)
    return np.clip(np.rint(pages), 0, 255).astype(np.uint8)


def page(record: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay out a record as a picture: three fields side by side, and the relief beside them."""
    picture = np.zeros((HEIGHT, 3 * WIDTH + RELIEF[1]), np.uint8)
    picture[:, : 3 * WIDTH] = record[: 3 * PIXELS].reshape(3, HEIGHT, WIDTH).transpose(1, 0, 2).reshape(HEIGHT, -1)
    picture[: RELIEF[0], 3 * WIDTH :] = record[3 * PIXELS :].reshape(RELIEF)
    return picture


def main() -> None:
    """Write the sheet."""
    people = np.stack(Parallel(n_jobs=-1)(delayed(fields_of)(person) for person in range(PEOPLE)))
    SHEET.write_bytes(png_of(np.concatenate([page(record) for record in records(people)])))


if __name__ == "__main__":
    main()
