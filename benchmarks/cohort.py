"""Draw the sheets of rendered people that come with the package: python -m benchmarks.cohort."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lightproof.imaging.lighting
import lightproof.matching.cohort
from lightproof.core.images import bring_to_size
from lightproof.datasets import make_relit_faces
from lightproof.imaging.detection import align, find_faces
from lightproof.imaging.lighting import light_direction
from lightproof.matching.cohort import FACE_SHAPE, FACES_PER_ROW, N_FACES, SEED, SHAPED_SHEET, SHEET
from lightproof.plots import png_of

SURROUND = 0.5  # the mesh lies better where the whole head is seen
FOLDER = Path(lightproof.matching.cohort.__file__).parent
LIGHTS = Path(lightproof.imaging.lighting.__file__).with_name("lights.png")


def draw(count: int) -> NDArray[np.uint8]:
    """Render the first so many people, lit from the front, shape (count, 96, 84)."""
    return shrunk(make_relit_faces(n_subjects=count, lights=[(0, 0)], seed=SEED).images)


def draw_shaped(count: int) -> NDArray[np.uint8]:
    """Bring the same people to the common shape by their meshes, shape (count, 96, 84)."""
    faces = make_relit_faces(n_subjects=count, lights=[(0, 0)], seed=SEED, surround=SURROUND)
    shaped = [align(image, find_faces(image)[0]).shaped for image in faces.images]
    return shrunk(np.stack([face for face in shaped if face is not None]))


def shrunk(faces: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bring faces to the size of the sheets."""
    return np.clip(np.rint(255 * bring_to_size(faces, FACE_SHAPE, np.float64)), 0, 255).astype(np.uint8)


def draw_lights(count: int) -> NDArray[np.uint8]:
    """Render the first so many people under every light of the grid: one below the other, lights side by side."""
    lights, (height, width) = light_direction.light_grid(), light_direction.RENDERED
    faces = make_relit_faces(count, lights, size=light_direction.RENDERED, seed=light_direction.SEED).images
    rows = faces.reshape(count, len(lights), height, width).transpose(0, 2, 1, 3)
    return rows.reshape(count * height, len(lights) * width)


def main() -> None:
    """Write the sheets."""
    LIGHTS.write_bytes(png_of(draw_lights(light_direction.PEOPLE)))
    for name, faces in ((SHEET, draw(N_FACES)), (SHAPED_SHEET, draw_shaped(N_FACES))):
        people = faces.reshape(N_FACES // FACES_PER_ROW, FACES_PER_ROW, *FACE_SHAPE).transpose(0, 2, 1, 3)
        sheet = people.reshape(N_FACES // FACES_PER_ROW * FACE_SHAPE[0], FACES_PER_ROW * FACE_SHAPE[1])
        (FOLDER / name).write_bytes(png_of(sheet))


if __name__ == "__main__":
    main()
