"""Cost, accuracy and room of the presets, in one run, on one core.

    python -m benchmarks.presets path/to/CroppedYale docs/results/presets.json

Extended Yale B, one photo a person under the frontal light, every fourth probe; on the crops as they are, and cut again
by eyes that are a little off. The presets of the engine compare faces whose meshes were laid before: laying them, and
bringing the face to the common shape, is timed apart. Milliseconds an image to its name, in one batch, the best of
three turns; those of "authors" are from pixels. The slowest probe is that of all probes, asked one by one, each at the
best of its turns.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.watching import stay_on_one_core
from lightproof import FaceRecognizer
from lightproof.core.atomic import whole_file
from lightproof.datasets import load_yale_b
from lightproof.datasets.protocols import yale_test_2
from lightproof.estimators.engine_model import EngineModel
from lightproof.imaging.detection import align_crop, jitter_by_eyes
from lightproof.matching.templates import Template, TemplateSet
from lightproof.method.presets import ENGINES
from lightproof.types import Array

TURNS = 3

BY_HAND = "by hand"

ASKED: tuple[tuple[str, dict[str, Any]], ...] = (("robust", {}), ("fast", {}), ("authors", {"light": "log"}))


def laid(images: Array) -> tuple[Array, float]:
    """Lay the mesh on each image, (n, h, w) -> (n,), objects; return milliseconds an image, too."""
    align_crop(images[0])  # the networks are loaded, the loops are compiled
    faces = np.empty(len(images), object)
    start = time.perf_counter()
    faces[:] = [align_crop(image) for image in images]
    return faces, 1000 * (time.perf_counter() - start) / len(images)


def timed(recognizer: FaceRecognizer, probes: Array, names: Array) -> tuple[float, float]:
    """Milliseconds an image, and percent named correctly."""
    turns = []
    for _ in range(TURNS):
        start = time.perf_counter()
        named = recognizer.predict(probes)
        turns.append(time.perf_counter() - start)
    return 1000 * min(turns) / len(probes), 100 * float(np.mean(named == names))


def slowest(recognizer: FaceRecognizer, probes: Array) -> float:
    """Milliseconds of the slowest probe that is asked alone; what a busy machine adds in one turn does not count."""
    seconds = []
    for i in range(len(probes)):
        turns = []
        for _ in range(TURNS):
            start = time.perf_counter()
            recognizer.predict(probes[i : i + 1])
            turns.append(time.perf_counter() - start)
        seconds.append(min(turns))
    return 1000 * max(seconds)


def room(recognizer: FaceRecognizer) -> tuple[float, float]:
    """KiB of one person in memory (span, and share of the layout for answers) and on disk."""
    model = recognizer._model
    if isinstance(model, EngineModel):
        kept = _bytes_of_templates(model.people)
    else:
        people = model.people
        kept = sum(span.own.nbytes + span.coordinates.nbytes for span in people.spans.values()) / len(people.spans)
        layout = people.stack.columns.nbytes + (0 if people.weights is None else people.weights.nbytes)
        kept += layout / len(people.spans)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "people.npz"
        recognizer.save(place)
        written = place.stat().st_size
    return kept / 1024, written / len(model.labels) / 1024


def _bytes_of_templates(people: TemplateSet) -> float:
    """Bytes of one person: the template, and a lane of the layout; a small gallery leaves lanes of its block empty."""
    lanes = 0.0
    for bank in people.views:
        lanes += sum(part.nbytes / part.shape[-1] for part in bank.blocks.codes) / len(bank.blocks.codes)
        lanes += sum(part.nbytes / part.shape[-1] for part in bank.blocks.scales) / len(bank.blocks.scales)
        lanes += bank.weights.nbytes / bank.weights.shape[1]
    return lanes + float(np.mean([_bytes_of(template) for template in people.templates.values()]))


def _bytes_of(template: Template) -> int:
    # A view that repeats another one is held once.
    spans = {id(each): each for each in template.spans}.values()
    return sum(each.own.nbytes + each.coordinates.nbytes for each in spans)


def main(data: str, out: str = "") -> None:
    """Measure, print, and write to a file if one is given."""
    stay_on_one_core()
    faces = load_yale_b(data)
    split = yale_test_2("authors").split(faces)
    probes, names = np.concatenate(list(split.probes.values()))[::4], faces.labels
    pictures = {BY_HAND: faces.images, "jittered": jitter_by_eyes(faces.images)}
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1):
        used = {name: (images[split.gallery], images[probes]) for name, images in pictures.items()}
        aligned, costs = {}, {}
        for name, (enrolled, asked) in used.items():
            shaped, costs[name] = laid(asked)
            aligned[name] = laid(enrolled)[0], shaped
        for preset, change in ASKED:
            given = aligned if preset in ENGINES else used
            row: dict[str, Any] = {
                "preset": ", ".join([preset, *map(str, change.values())]),
                "ms to lay the mesh": costs[BY_HAND] if preset in ENGINES else None,
            }
            for name, (enrolled, asked) in given.items():
                recognizer = FaceRecognizer(preset, **change).fit(enrolled, names[split.gallery])
                recognizer.predict(asked[:1])  # what is made once is made now
                row[f"ms, {name}"], row[f"%, {name}"] = timed(recognizer, asked, names[probes])
                if name == BY_HAND:
                    row["slowest probe, ms"] = slowest(recognizer, asked)
            row["KiB in memory"], row["KiB on disk"] = room(recognizer)
            rows.append(row)
    table = Table(title=f"{len(probes)} probes, {len(split.gallery)} people, one core")
    for column in rows[0]:
        table.add_column(column)
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    Console(width=140).print(table)
    if out:
        with whole_file(Path(out)) as file:
            file.write(json.dumps(rows, indent=1).encode())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
