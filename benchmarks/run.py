"""Run the benchmarks, one thread, everything in one run; print the ratios and store them as JSON.

The machine may be busy, so every time is the best of several turns, and ours and the textbook's take turns.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.bench_recognizer import Faces, Ours, Textbook

RESULTS = Path(__file__).parent / "results.json"


def seconds_of(task: Callable[[], Any]) -> float:
    """Seconds of one turn."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def fastest(slow: Callable[[], Any], fast: Callable[[], Any], turns: int) -> tuple[float, float]:
    """Seconds of the fastest turn of each; the short task runs a few times in its turn, as noise hits it harder."""
    pairs = [(seconds_of(slow), min(seconds_of(fast) for _ in range(4))) for _ in range(turns)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def measure(faces: Faces, turns: int = 5, progress: Callable[[Iterable[Any]], Iterable[Any]] = iter) -> dict[str, Any]:
    """Time both on the same faces."""
    ours, loop = Ours(), Textbook()
    ours.setup(faces)
    loop.setup(faces)
    per_image = {
        "features": (ours.n_features, loop.n_features),
        "fit": (1, 1),
        "identify": (ours.n_identify, loop.n_identify),
    }
    figures: dict[str, Any] = {}
    for what, (n_ours, n_loop) in progress(per_image.items()):
        slow, fast = fastest(getattr(loop, f"time_{what}"), getattr(ours, f"time_{what}"), turns)
        ratio = (slow / n_loop) / (fast / n_ours)
        figures[what] = {"textbook_ms": 1e3 * slow / n_loop, "ours_ms": 1e3 * fast / n_ours, "ratio": ratio}
    figures["accuracy"] = {"textbook": loop.track_accuracy(), "ours": ours.track_accuracy()}
    figures["peak_mib_10000_faces"] = ours.peakmem_identify() / 2**20
    return figures


def main() -> None:
    """Measure, print and store."""
    console = Console()
    with threadpool_limits(1):
        people = partial(track, description="rendering people", console=console, transient=True)
        steps = partial(track, description="measuring", console=console, transient=True, total=3)
        figures = measure(Faces(progress=people), progress=steps)
    table = Table(
        title="64 x 64, cell 4, overlap 1, 4 angles, 38 people, one photo each, one thread", title_justify="left"
    )
    for name in ("", "textbook loop, ms", "lightproof, ms", "times faster"):
        table.add_column(name, justify="left" if not name else "right")
    labels = {
        "features": "features, one image",
        "fit": "fit, all 38",
        "identify": "identify, one image, features excluded",
    }
    for what, label in labels.items():
        row = figures[what]
        table.add_row(label, f"{row['textbook_ms']:.2f}", f"{row['ours_ms']:.3f}", f"{row['ratio']:.0f}")
    console.print(table)
    accuracy = figures["accuracy"]
    console.print(f"accuracy, same probes: textbook {accuracy['textbook']:.3f}, lightproof {accuracy['ours']:.3f}")
    console.print(f"peak memory, identify 10,000 faces: {figures['peak_mib_10000_faces']:.0f} MiB")
    figures["machine"] = {"python": platform.python_version(), "numpy": np.__version__, "processor": platform.machine()}
    RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    console.print(f"stored in {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}")


if __name__ == "__main__":
    main()
