"""Two hundred questions and their answers to the last bit: what a change of the code must not change.

``python -m tests.golden`` writes the answers to ``tests/golden.json``. Do that only when a change of answers is meant.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from lightproof import FaceRecognizer, Gallery
from lightproof.datasets import Crowd, make_relit_faces
from lightproof.gallery import Answer, crowd_face, make_gallery

FILE = Path(__file__).with_name("golden.json")
N_ENROLLED = 12
N_STRANGERS = 4
# The first two lights are enrolled, the others asked about.
LIGHTS = [(0, 0), (35, 20), (-20, 10), (50, 0), (-70, 20), (85, 30)]
N_PROBES_PER_PERSON = len(LIGHTS) - 2


def machine() -> dict[str, str]:
    """What decides the last bits: NumPy and the kernels of its linear algebra."""
    # Other packages of a test run, such as OpenCV, bring linear algebra of their own, which computes nothing here.
    ours = [part for part in threadpool_info() if re.search("numpy|scipy", Path(part["filepath"]).parent.name)]
    blas = sorted({str(part.get("architecture")) for part in ours if part["user_api"] == "blas"})
    return {"numpy": np.__version__, "blas": ", ".join(blas)}


def render() -> NDArray[np.uint8]:
    n_people = N_ENROLLED + N_STRANGERS
    faces = make_relit_faces(n_people, LIGHTS, size=(96, 84), seed=11)
    return faces.images.reshape(n_people, len(LIGHTS), 96, 84)


def exact(values: Any) -> list[str]:
    return [float(value).hex() for value in np.ravel(values)]


def answer_of(gallery: Gallery, photo: NDArray[np.uint8]) -> dict[str, Any]:
    return plain(gallery.identify(photo, top=3))


def plain(answer: Answer) -> dict[str, Any]:
    numbers = [(each.score, each.one_in, each.lead, each.distance) for each in answer.candidates]
    return {"name": answer.name, "best": [each.name for each in answer.candidates], "numbers": exact(numbers)}


def ask_gallery(folder: str, preset: str, faces: NDArray[np.uint8]) -> Iterator[dict[str, Any]]:
    """Ask about everybody and some strangers, before and after calibration, and compare photos with one another."""
    path = f"{folder}/{preset}.gallery"
    with Gallery.open(path, preset=preset) as gallery:
        for person in range(N_ENROLLED):
            n_photos = 2 if person % 3 == 0 else 1
            gallery.enroll(f"person {person:02d}", list(faces[person, :n_photos]))
        probes = faces[:, 2:].reshape(-1, *faces.shape[2:])
        for photo in probes[::2]:
            yield answer_of(gallery, photo)
        gallery.calibrate(0.01)
        for photo in probes[1::4]:
            yield answer_of(gallery, photo)
        for person in range(0, N_ENROLLED, 2):
            match = gallery.verify(faces[person, 3], person=f"person {person:02d}")
            yield {"same": match.same, "numbers": exact([match.score, match.one_in, match.lead, match.distance])}
        for person in range(0, N_ENROLLED, 3):
            match = gallery.verify(faces[person, 0], faces[person, 4])
            yield {"same": match.same, "numbers": exact([match.score, match.one_in, match.lead, match.distance])}
        explanation = gallery.explain(faces[1, 3], person="person 01", against="person 02")
        yield {"lead": exact([explanation.lead]), "patches": exact(explanation.patches)[::40]}
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT hash, template FROM photos ORDER BY hash").fetchall()
        codes = connection.execute("SELECT code FROM codes ORDER BY code").fetchall()
    for kept in (rows, codes):
        joined = b"".join(part if isinstance(part, bytes) else part.encode() for row in kept for part in row)
        yield {"sha256": hashlib.sha256(joined).hexdigest()}


def ask_crowd(folder: str) -> Iterator[dict[str, Any]]:
    """Ask among so many people that codes choose whom a photo is compared with."""
    path = f"{folder}/crowd.gallery"
    make_gallery(path, 1200, jobs=1)
    with Gallery.open(path) as gallery:
        for photo in Crowd().probes(range(0, 1320, 60)).images:
            yield plain(gallery.identify_face(crowd_face(photo), top=3))


def ask_recognizer(preset: str, faces: NDArray[np.uint8]) -> Iterator[dict[str, Any]]:
    names = [f"person {person:02d}" for person in range(N_ENROLLED)]
    recognizer = FaceRecognizer(preset).fit(faces[:N_ENROLLED, 0], names)
    probes = faces[:N_ENROLLED, 2:].reshape(-1, *faces.shape[2:])[::3]
    for name, distances in zip(recognizer.predict(probes), recognizer.distances(probes), strict=True):
        yield {"name": str(name), "numbers": exact(distances)}


def questions() -> dict[str, list[dict[str, Any]]]:
    faces = render()
    with TemporaryDirectory() as folder:
        asked = {f"gallery, {preset}": list(ask_gallery(folder, preset, faces)) for preset in ("robust", "fast")}
        asked["gallery of many, fast"] = list(ask_crowd(folder))
    for preset in ("robust", "fast", "authors", "paper"):
        asked[f"recognizer, {preset}"] = list(ask_recognizer(preset, faces))
    return asked


def main() -> None:
    asked = questions()
    FILE.write_text(json.dumps({"machine": machine(), "questions": asked}, indent=1) + "\n")
    print(f"{sum(map(len, asked.values()))} answers in {FILE}")


if __name__ == "__main__":
    main()
