"""How well the pose of a head is read off its mesh: python -m benchmarks.poses path/to/CroppedYale; takes minutes.

Rendered people turn by known angles; nobody of them is among those of the neutral mesh. Extended Yale B, cropped, shows
people who look into the camera: each crop is set into a black frame, and read as a crop, too. Then both readings of the
same photo are compared.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from lightproof.datasets import load_yale_b, make_relit_faces
from lightproof.datasets.protocols import yale_subset
from lightproof.experiments.end_to_end import set_into_frame
from lightproof.imaging.detection import Face, HeadPose, find_faces, mesh_of_crop
from lightproof.types import Array

PEOPLE = 24
SEED = 9
SURROUND = 0.5
YAWS = (-45, -35, -25, -15, 0, 15, 25, 35, 45)
PITCHES = (-30, -20, -10, 10, 20, 30)
OPENNESS = (0.25, 0.5, 1.0)
EVERY = 3  # of the photos of Extended Yale B


def pose_in(photo: Array) -> HeadPose | None:
    """Return the pose of the largest face in a photo."""
    return _pose(next(iter(find_faces(photo)), None))


def _pose(face: Face | None) -> HeadPose | None:
    return None if face is None else face.pose


def row(name: str, found: list[HeadPose | None]) -> list[str]:
    """Say for some photos: how many, without a mesh, and each number as median and 5 to 95 %."""
    known = np.array([[p.yaw, p.pitch, p.mouth_open, p.eyes_open] for p in found if p is not None])
    cells = []
    for values, digits in zip(known.T, (1, 1, 2, 2), strict=True):
        low, middle, high = np.percentile(values, (5, 50, 95)) + 0.0
        cells.append(f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})")
    return [name, str(len(found)), str(sum(pose is None for pose in found)), *cells]


def rendered(yaw: float = 0, pitch: float = 0, mouth_open: float = 0) -> list[HeadPose | None]:
    """Read the pose of rendered people who hold the same one."""
    faces = make_relit_faces(
        PEOPLE, [(0, 0)], seed=SEED, surround=SURROUND, yaw=yaw, pitch=pitch, mouth_open=mouth_open
    )
    return [pose_in(image) for image in faces.images]


def main(data: str) -> None:
    """Measure and print."""
    table = Table(title="Pose: median (5 to 95 %)")
    for column in ("photos", "n", "no mesh", "yaw", "pitch", "mouth open", "eyes open"):
        table.add_column(column)
    for yaw in YAWS:
        table.add_row(*row(f"rendered, yaw {yaw}", rendered(yaw=yaw)))
    for pitch in PITCHES:
        table.add_row(*row(f"rendered, pitch {pitch}", rendered(pitch=pitch)))
    for mouth_open in OPENNESS:
        table.add_row(*row(f"rendered, mouth open {mouth_open:g}", rendered(mouth_open=mouth_open)))
    yale = load_yale_b(data)
    yale = yale.take(np.arange(len(yale)) % EVERY == 0)
    subsets = yale_subset(yale.azimuths, yale.elevations)
    framed = [pose_in(set_into_frame(image)[0]) for image in yale.images]
    start = time.perf_counter()
    cropped = [_pose(mesh_of_crop(image)) for image in yale.images]
    each = 1000 * (time.perf_counter() - start) / len(yale)
    for subset in range(5):
        name = "training set" if subset == 0 else f"subset {subset}"
        for kind, found in (("in frames", framed), ("crops", cropped)):
            chosen = [found[i] for i in np.flatnonzero(subsets == subset)]
            table.add_row(*row(f"Extended Yale B {kind}, {name}", chosen))
    console = Console(width=140)
    console.print(table)
    console.print(f"mesh_of_crop takes {each:.1f} ms a crop.")


if __name__ == "__main__":
    main(*sys.argv[1:])
