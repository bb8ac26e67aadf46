"""Measure the neutral mesh that poses are measured against: python -m benchmarks.neutral_mesh; takes a minute.

It is the mean over rendered people who look into the camera, made symmetric.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

import lightproof.imaging.detection.head_pose
from lightproof.datasets import make_relit_faces
from lightproof.imaging.detection import find_faces
from lightproof.imaging.detection.face_networks import PUPILS, mirror_order
from lightproof.imaging.detection.head_pose import NEUTRAL_FILE
from lightproof.types import Floats

FILE: Final = Path(lightproof.imaging.detection.head_pose.__file__).with_name(NEUTRAL_FILE)
PEOPLE: Final = 200
SURROUND: Final = 0.5  # the mesh lies better where the whole head is seen


def meshes() -> list[Floats]:
    """Lay the mesh on each rendered person."""
    found = [find_faces(image) for image in make_relit_faces(PEOPLE, [(0, 0)], surround=SURROUND).images]
    return [faces[0].mesh for faces in found if faces and faces[0].mesh is not None]


def mean_of(laid: list[Floats]) -> Floats:
    """Return their mean shape (478, 3): symmetric, the pupils at (-0.5, 0, 0) and (0.5, 0, 0)."""
    shapes = []
    for mesh in laid:
        right, left = mesh[list(PUPILS)]
        shapes.append((mesh - (right + left) / 2) / np.linalg.norm(left - right))
    mean = np.mean(shapes, axis=0)
    mean = (mean + mean[mirror_order()] * (-1, 1, 1)) / 2
    return np.asarray(mean / (mean[PUPILS[1], 0] - mean[PUPILS[0], 0]))


def main() -> None:
    """Write the file."""
    laid = meshes()
    mean = mean_of(laid)
    FILE.write_text("".join(f"{x:.4f} {y:.4f} {z:.4f}\n" for x, y, z in mean + 0.0))
    print(f"The mean of {len(laid)} meshes is in {FILE.name}.")


if __name__ == "__main__":
    main()
