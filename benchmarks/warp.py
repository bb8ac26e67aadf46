"""What it costs to bring a face to the common shape, on one thread: python -m benchmarks.warp.

The warp of a face is measured beside the sorting of the same face with its four copies, as it is enrolled, and beside
laying the mesh that the warp needs. The three take turns in one run, so their ratios hold on any machine. The faces are
rendered. Prints a table after some seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.watching import stay_on_one_core
from lightproof.datasets import make_relit_faces
from lightproof.imaging.detection import FACE_SIZE, cut, find_faces, mesh_of_crop, warp_to_neutral
from lightproof.matching.matcher import preset_settings
from lightproof.method.rcdt import PatchRCDTExtractor
from lightproof.method.warps import with_copies

PEOPLE = 12
LIGHTS = ((0, 0), (-50, 10))
SURROUND = 0.5  # the mesh lies better where the whole head is seen
TURNS = 9


class Work(NamedTuple):
    """The three steps of one face."""

    warp: Callable[[], Any]
    sort: Callable[[], Any]
    lay: Callable[[], Any]


def works(people: int) -> list[Work]:
    """Make the steps of each face that is found in the rendered photos."""
    settings = next(view for view in preset_settings("robust").views if view.sorted_detail)
    extractor = PatchRCDTExtractor(settings.method, settings.size)
    found = []
    for photo in make_relit_faces(people, LIGHTS, surround=SURROUND).images:
        face = next(iter(find_faces(photo)), None)
        if face is None or face.mesh is None:
            continue
        crop = cut(photo, face, FACE_SIZE)
        shaped = warp_to_neutral(photo, face.mesh)
        fields = extractor.gradients_(with_copies(extractor.unlit(shaped[None]), settings.method.copies))
        # Each name is bound now: the loop goes on to other faces.
        found.append(
            Work(
                lambda photo=photo, mesh=face.mesh: warp_to_neutral(photo, mesh),  # type: ignore[misc]
                lambda fields=fields: extractor.samples(fields),  # type: ignore[misc]
                lambda crop=crop: mesh_of_crop(crop),  # type: ignore[misc]
            )
        )
    return found


def measure(faces: Sequence[Work], turns: int = TURNS) -> dict[str, float]:
    """Milliseconds of each step a face: the median over the faces, each at the best of its turns."""
    best = np.full((len(faces), len(Work._fields)), np.inf)
    for turn in range(turns + 1):
        for i, face in enumerate(faces):
            for j, step in enumerate(face):
                start = time.perf_counter()
                step()
                seconds = time.perf_counter() - start
                # In the first turn loops are compiled and tables are made.
                best[i, j] = min(best[i, j], seconds) if turn else np.inf
    return dict(zip(Work._fields, (1000 * np.median(best, axis=0)).tolist(), strict=True))


def main() -> None:
    """Measure and print."""
    stay_on_one_core()
    with threadpool_limits(1):
        faces = works(PEOPLE)
        taken = measure(faces)
    titles = {
        "warp": "bring the face to the common shape",
        "sort": "sort its patches, with four copies",
        "lay": "lay the mesh on its crop",
    }
    table = Table(title=f"{len(faces)} rendered faces, one thread")
    for column in ("step", "ms a face", "share that the warp takes of it, %"):
        table.add_column(column)
    for name, title in titles.items():
        table.add_row(title, f"{taken[name]:.2f}", "" if name == "warp" else f"{100 * taken['warp'] / taken[name]:.0f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
