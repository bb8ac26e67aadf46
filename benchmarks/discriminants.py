"""Measure what the views of the presets keep of a patch: python -m benchmarks.discriminants; takes some minutes.

Rendered people, each in two poses and under four lights in either, with glasses and without, are found and cut like
photographs. The result goes
into the package, ``src/lightproof/matching/discriminants.npz``; no photo of anybody is used.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

import lightproof.matching.views
from lightproof.core.atomic import whole_file
from lightproof.core.executors import ProcessExecutor, Task
from lightproof.datasets import make_relit_faces
from lightproof.imaging.detection import AlignedFace, align, find_faces
from lightproof.matching.views import DISCRIMINANTS_FILE, FaceView, fisher_discriminants, name_of
from lightproof.method.presets import ENGINES, ViewSettings
from lightproof.types import Array

FILE: Final = Path(lightproof.matching.views.__file__).with_name(DISCRIMINANTS_FILE)
GROUPS: Final = 20
PEOPLE: Final = 8  # in a group, which share two poses and their lights
SEED: Final = 500
SURROUND: Final = 0.5  # the mesh lies better where the whole head is seen
MAX_YAW, MAX_PITCH = 30, 12
FACES_PER_BLOCK: Final = 64


class Group(NamedTuple):
    """A group of people in one pose."""

    number: int
    yaw: float
    pitch: float
    mouth_open: float
    smile: float
    glasses: float
    lights: list[tuple[int, int]]


def groups() -> list[Group]:
    """Draw poses and lights: in the first pose of a group the heads look into the camera, and one light is in front."""
    rng, drawn = np.random.default_rng(0), []
    for number in range(2 * GROUPS):
        lights = [(0, 0), *((int(rng.integers(-90, 91)), int(rng.integers(-40, 41))) for _ in range(3))]
        yaw = float(rng.uniform(-MAX_YAW, MAX_YAW)) if number % 2 else 0.0
        pitch = float(rng.uniform(-MAX_PITCH, MAX_PITCH))
        mouth_open, smile = float(rng.choice([0, 0, 0.3, 0.6])), float(rng.choice([0, 0, 0.5, 1]))
        glasses = float(rng.choice([0, 1]))
        drawn.append(Group(number // 2, yaw, pitch, mouth_open, smile, glasses, lights))
    return drawn


def render(group: Group) -> list[tuple[int, AlignedFace]]:
    """Render a group, and cut out the faces that are found, with the numbers of the people."""
    faces = make_relit_faces(
        PEOPLE, group.lights, seed=SEED + group.number, surround=SURROUND, yaw=group.yaw, pitch=group.pitch,
        mouth_open=group.mouth_open, smile=group.smile, glasses=group.glasses,
    )  # fmt: skip
    people = PEOPLE * group.number + np.repeat(np.arange(PEOPLE), len(group.lights))
    found = [(int(person), image, find_faces(image)) for person, image in zip(people, faces.images, strict=True)]
    return [(person, align(image, these[0])) for person, image, these in found if these]


def measure(view: ViewSettings, faces: list[AlignedFace], people: Array) -> Array:
    """Measure the discriminants of a view, in half precision."""
    raw = FaceView(view, None)
    pictures = np.stack([face.picture(view.shape) for face in faces])
    starts = range(0, len(pictures), FACES_PER_BLOCK)
    vectors = np.concatenate([raw.vectors(raw.unlit(pictures[i : i + FACES_PER_BLOCK])) for i in starts])
    return fisher_discriminants(vectors, people, view.numbers).astype(np.float16)


def main() -> None:
    """Write the file."""
    drawn = groups()
    rendered = [pair for some in ProcessExecutor(-1).map(Task(render), drawn, len(drawn)) for pair in some]
    people, faces = np.array([person for person, _ in rendered]), [face for _, face in rendered]
    print(f"{len(faces)} of {2 * GROUPS * PEOPLE * 4} faces of {len(np.unique(people))} people found")
    views: dict[str, ViewSettings] = {}
    for settings in ENGINES.values():
        for view in settings.views:
            name = name_of(view)  # that of views by the eyes stands for faces as they came, too
            if view.shape == "crop":
                continue
            most = max(view.numbers, views[name].numbers if name in views else 0)
            views[name] = replace(view, numbers=most)
    measured = {name: measure(view, faces, people) for name, view in views.items()}
    contents = io.BytesIO()
    np.savez_compressed(contents, allow_pickle=False, **measured)
    with whole_file(FILE) as file:
        file.write(contents.getvalue())
    for name, matrix in measured.items():
        print(f"{name}: {matrix.shape}")


if __name__ == "__main__":
    main()
