"""Cost, accuracy and room of the presets, in one run, one thread.

    python -m benchmarks.presets path/to/CroppedYale docs/results/presets.json

Extended Yale B, one photo a person under the frontal light, every fourth probe: milliseconds an image from pixels to
name, in one batch, the best of three turns; on the crops as they are, and cut again by eyes that are a little off.
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

from lightproof import FaceRecognizer
from lightproof.core.atomic import whole_file
from lightproof.datasets import load_yale_b
from lightproof.datasets.protocols import yale_test_2
from lightproof.imaging.detection import jitter_by_eyes
from lightproof.types import Array

TURNS = 3

ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("robust", {}),
    ("robust", {"search": "none"}),
    ("fast", {}),
    ("authors", {"light": "log"}),
)


def timed(recognizer: FaceRecognizer, probes: Array, names: Array) -> tuple[float, float]:
    """Milliseconds an image, and percent named correctly."""
    turns = []
    for _ in range(TURNS):
        start = time.perf_counter()
        named = recognizer.predict(probes)
        turns.append(time.perf_counter() - start)
    return 1000 * min(turns) / len(probes), 100 * float(np.mean(named == names))


def room(recognizer: FaceRecognizer) -> tuple[float, float]:
    """KiB of one person in memory (span, and share of the layout for answers) and on disk."""
    people = recognizer._people
    kept = sum(span.own.nbytes + span.coordinates.nbytes for span in people.spans.values())
    kept += people.stack.columns.nbytes + (0 if people.weights is None else people.weights.nbytes)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "people.npz"
        recognizer.save(place)
        written = place.stat().st_size
    return kept / len(people.spans) / 1024, written / len(people.spans) / 1024


def main(data: str, out: str = "") -> None:
    """Measure, print, and write to a file if one is given."""
    faces = load_yale_b(data)
    split = yale_test_2("authors").split(faces)
    probes = np.concatenate(list(split.probes.values()))[::4]
    askew = jitter_by_eyes(faces.images)
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for preset, change in ASKED:
            row: dict[str, Any] = {"preset": preset, "change": change}
            for name, images in (("by hand", faces.images), ("jittered", askew)):
                recognizer = FaceRecognizer(preset, **change).fit(images[split.gallery], faces.labels[split.gallery])
                row[f"ms, {name}"], row[f"%, {name}"] = timed(recognizer, images[probes], faces.labels[probes])
            row["KiB in memory"], row["KiB on disk"] = room(recognizer)
            rows.append(row)
    table = Table(title=f"{len(probes)} probes, {len(split.gallery)} people, one thread")
    for column in rows[0]:
        table.add_column(column)
    for row in rows:
        table.add_row(*(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()))
    Console(width=120).print(table)
    if out:
        with whole_file(Path(out)) as file:
            file.write(json.dumps(rows, indent=1).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
