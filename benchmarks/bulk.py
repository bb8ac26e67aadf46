"""How fast a folder of faces is enrolled, in how much memory: python -m benchmarks.bulk [FILE.json].

Ten thousand faces are made from two hundred rendered people, no two files alike: blends of two people, each photo with
a slope of light and noise of its own. They are enrolled into a new SQLite file as ten thousand people, and as one
thousand people of ten photos, by a process of its own whose memory is watched. Beside it stands how many relit probes
are named rightly.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from joblib.externals.loky import get_reusable_executor
from numpy.typing import NDArray

from benchmarks.watching import resident
from lightproof.datasets import make_relit_faces
from lightproof.gallery import Gallery
from lightproof.matching.calibration import normalized_scores

RENDERED: Final = 200
PROBES: Final = 16
NOISE: Final = 2.0

WARM: Final = 0.1
"""The share of the faces after which all processes have long been at work."""

ROWS: Final = (
    ("robust", 10_000, 1), ("robust", 1_000, 10), ("fast", 10_000, 1), ("fast", 1_000, 10), ("fast", 19_000, 1)
)  # fmt: skip
"""Presets, people and photos of each. Of more people than that some would be blends of the same two."""

Faces = NDArray[np.uint8]


class Crowd(NamedTuple):
    """Rendered people, and how many blends of them, with how many photos each.

    Attributes
    ----------
    rendered : ndarray of shape (n, h, w), uint8
    people, photos : int
    """

    rendered: Faces
    people: int
    photos: int

    def photo(self, person: int, number: int, slope: float = 0.4) -> Faces:
        """One photo of somebody; the same every time, another one for another number."""
        i, j, share = self._parents(person)
        rng = np.random.default_rng([person, number])
        face = share * self.rendered[i] + (1 - share) * self.rendered[j]
        height, width = face.shape
        up, right = rng.uniform(-slope, slope, 2)
        light = np.linspace(-up, up, height)[:, None] + np.linspace(-right, right, width)
        relit = face * np.exp(light) + rng.normal(0, NOISE, face.shape)
        shown: Faces = np.clip(np.rint(relit), 0, 255).astype(np.uint8)
        return shown

    def _parents(self, person: int) -> tuple[int, int, float]:
        n = len(self.rendered)
        step, first = divmod(person, n)
        # Every pair once: neighbors first, then every second one, and so on.
        return first, (first + step + 1) % n, 0.5 + 0.1 * np.sin(person)

    def write(self, folder: Path) -> None:
        """Write everybody's photos as PGM, a folder each."""
        for person in range(self.people):
            own = folder / f"person {person:05d}"
            own.mkdir(parents=True)
            for number in range(self.photos):
                face = self.photo(person, number)
                head = f"P5 {face.shape[1]} {face.shape[0]} 255\n"
                (own / f"{number}.pgm").write_bytes(head.encode() + face.tobytes())


class Memory:
    """Watches how much memory this process and its children use, while photos are counted."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.started = total, 0, 0.0
        self.samples: list[tuple[float, float, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def progress(self, pieces: Iterable[Any], total: int) -> Iterator[Any]:
        """Count what is finished."""
        for piece in pieces:
            self.done += 1
            if self.done == max(1, int(WARM * self.total)):
                self.started = time.perf_counter()
            yield piece

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            self._look()

    def _look(self) -> None:
        mine, theirs = _resident(os.getpid()), sum(map(_resident, _children(os.getpid())))
        self.samples.append((self.done / self.total, mine, theirs))

    def peak(self, column: int, start: float, end: float) -> float:
        """Most MiB between two shares of the work."""
        return max((sample[column] for sample in self.samples if start <= sample[0] <= end), default=0.0)


def _resident(process: int) -> float:
    """MiB of memory that a process has now, 0 once it is gone."""
    return resident(process) / 2**20


def _children(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            own = [int(word) for word in task.read_text().split()]
        except OSError:
            continue
        found += [below for child in own for below in [child, *_children(child)]]
    return found


def enroll(folder: str, place: str, preset: str, jobs: int) -> dict[str, Any]:
    """Enroll a folder into a new gallery and say what it cost."""
    total = sum(1 for _ in Path(folder).glob("*/*.pgm"))
    with Gallery.open(place, preset=preset) as gallery, Memory(total) as memory:
        start = time.perf_counter()
        report = gallery.enroll_folder(folder, cropped=True, jobs=jobs, progress=memory.progress)
        seconds, going = time.perf_counter() - start, time.perf_counter() - memory.started
    # A busy machine takes longer; the work itself does not grow.
    if jobs > 1:
        get_reusable_executor().shutdown(wait=True)
    work = sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    assert report.enrolled == total
    return {
        "preset": preset,
        "people": report.people,
        "faces": total,
        "jobs": jobs,
        "seconds": round(seconds, 2),
        "faces_a_second": round(total / seconds, 1),
        "faces_a_second_once_started": round((1 - WARM) * total / going, 1),
        "processor_seconds": round(work, 1),
        "parent_mib_at_25_percent": round(memory.peak(1, 0, 0.25), 1),
        "parent_mib_at_100_percent": round(memory.peak(1, 0.25, 1), 1),
        "workers_mib_at_25_percent": round(memory.peak(2, 0, 0.25), 1),
        "workers_mib_at_100_percent": round(memory.peak(2, 0.25, 1), 1),
        "file_mib": round(os.path.getsize(place) / 2**20, 1),
    }


def named(crowd: Crowd, place: str, probes: int) -> dict[str, float]:
    """Identify some people from relit photos that were not enrolled, all against everybody."""
    who = np.linspace(0, crowd.people - 1, probes).astype(int)
    with Gallery.open(place, create=False) as gallery:
        everybody, known = gallery.everybody(), gallery.calibration()
        asked = [crowd.photo(person, crowd.photos, slope=1.2) for person in who]
        ahead = normalized_scores(gallery.matcher.compare(asked, everybody))
    names = np.array([str(name) for name in everybody.names])
    right = names[ahead.argmax(axis=1)] == [f"person {person:05d}" for person in who]
    sure = known.impostor_model(len(names)).chance(ahead.max(axis=1)) <= known.far
    return {"probes": probes, "named": float(np.mean(right)), "named_and_sure": float(np.mean(right & sure))}


def measure(crowd: Crowd, preset: str, jobs: int = 2, turns: int = 1, probes: int = PROBES) -> dict[str, Any]:
    """Make the folder, enroll it some times, keep the best run, and add how many probes are named."""
    with tempfile.TemporaryDirectory() as top:
        folder, place = Path(top, "faces"), Path(top, "made", "bulk.gallery")
        crowd.write(folder)
        runs = []
        for _ in range(turns):
            shutil.rmtree(place.parent, ignore_errors=True)
            place.parent.mkdir()
            # A process of its own: the memory of this one, which made the faces, does not count.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                runs.append(alone.submit(enroll, str(folder), str(place), preset, jobs).result())
        best = min(runs, key=lambda run: run["seconds"])
        return best | {"all_seconds": [run["seconds"] for run in runs]} | named(crowd, str(place), probes)


def main() -> None:
    """Measure every row."""
    rendered = make_relit_faces(RENDERED, lights=[(0, 0)], seed=5).images
    rows = []
    for preset, people, photos in ROWS:
        rows.append(measure(Crowd(rendered, people, photos), preset, turns=3))
        print(json.dumps(rows[-1]), flush=True)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
