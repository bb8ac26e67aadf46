"""The demonstration: rendered people, enrolled with one photo each, identified in ever harder light and turned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lightproof.core.progress import SizedProgress
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split, yale_subset, yale_test_2
from lightproof.datasets.synthetic import make_relit_faces
from lightproof.estimators.baselines import hog_neighbor, pixel_neighbor
from lightproof.estimators.recognizer import FaceRecognizer
from lightproof.types import Array, Floats

SEVERITIES: Final = {1: "mild", 2: "slanting", 3: "side", 4: "behind or above"}
"""Names of the subsets of the lights: up to 25 degrees aside, up to 60, up to 95, and farther or straight above."""

TURNED: Final = 5
"""Beside these subsets: heads turned to both sides, in mild light."""

YAW: Final = 25.0  # degrees by which they are turned
COLUMNS: Final = SEVERITIES | {TURNED: f"turned {YAW:g}°"}
TURNED_LIGHTS: Final = ((0, 0), (-20, 10), (20, 10))

OURS: Final = "lightproof"

METHODS: Final[dict[str, Callable[[], Any]]] = {
    "raw pixels, nearest": pixel_neighbor,
    "HoG, nearest": hog_neighbor,
    "the paper's method, log": lambda: FaceRecognizer("authors", light="log"),
    OURS: FaceRecognizer,
}


@dataclass(frozen=True, eq=False)
class Demo:
    """The faces of the demonstration and the answers."""

    faces: FaceSet
    split: Split  # gallery and probes, by severity or `TURNED`
    answers: dict[str, Array]  # by method, the name for every photo of ``faces``; "" for the gallery
    recognizer: FaceRecognizer  # gave ``answers[OURS]``

    def accuracy(self, method: str, severity: int) -> float:
        """Share of the probes of one severity, or of `TURNED`, that a method named, in percent."""
        probes = self.split.probes[severity]
        return 100 * float(np.mean(self.answers[method][probes] == self.faces.labels[probes]))

    def rows(self) -> list[dict[str, Any]]:
        """Return every figure, one dictionary each."""
        return [
            {
                "method": method,
                "severity": severity,
                "kind": COLUMNS[severity],
                "accuracy": self.accuracy(method, severity),
                "n": len(probes),
            }
            for method in METHODS
            for severity, probes in self.split.probes.items()
        ]


def render_people(n_people: int, seed: int, progress: SizedProgress = iter) -> FaceSet:
    """Render the people of the demonstration under all 64 lights of Extended Yale B."""
    return make_relit_faces(n_people, None, (96, 84), seed, progress=progress)


def render_demo(n_people: int, seed: int, progress: SizedProgress = iter) -> FaceSet:
    """Render the people of the demonstration under these lights, then each turned to both sides."""
    ahead = render_people(n_people, seed, progress)
    return ahead.joined(make_relit_faces(n_people, TURNED_LIGHTS, (96, 84), seed, yaw=(-YAW, YAW), progress=progress))


def run_demo(faces: FaceSet, progress: SizedProgress = iter) -> Demo:
    """Enroll the frontally lit photo of each person, and identify the others by every method."""
    ahead = np.flatnonzero(faces.yaws == 0)
    upright = faces.take(ahead)
    split = yale_test_2(_frontal_pick(upright)).split(upright)
    kinds = {severity: ahead[chosen] for severity, chosen in split.probes.items()}
    split = Split(ahead[split.gallery], kinds | {TURNED: np.flatnonzero(faces.yaws != 0)})
    probes = np.concatenate(list(split.probes.values()))
    answers: dict[str, Array] = {}
    recognizer = FaceRecognizer()
    for method in progress(METHODS):
        judge = METHODS[method]().fit(faces.images[split.gallery], faces.labels[split.gallery])
        answers[method] = np.full(len(faces), "", faces.labels.dtype)
        answers[method][probes] = judge.predict(faces.images[probes])
        if method == OURS:
            recognizer = judge
    return Demo(faces, split, answers, recognizer)


def why_not_second(demo: Demo, photo: int) -> tuple[str, str, Floats]:
    """Return the best match of a photo, the runner-up, and how much each patch spoke for the best, as a map."""
    contributions = demo.recognizer.patch_contributions(demo.faces.images[[photo]])[0]
    first, second = contributions.sum(axis=0).argsort()[:2]
    favor = demo.recognizer.grid_.as_map(contributions[:, second] - contributions[:, first])
    return str(demo.recognizer.classes_[first]), str(demo.recognizer.classes_[second]), favor


def _frontal_pick(faces: FaceSet) -> int:
    """Return the position of the light at azimuth 0, elevation 0 among the training lights of a person."""
    first = faces.take(faces.labels == faces.labels[0])
    training = first.take(yale_subset(first.azimuths, first.elevations) == 0)
    return int(np.flatnonzero((training.azimuths == 0) & (training.elevations == 0))[0])
