"""How well the direction of the light is read off a face, against the labels of Extended Yale B.

    python -m benchmarks.diagnosis path/to/CroppedYale

The settings of `lightproof.imaging.lighting` were chosen on rendered faces and on the people with odd numbers. A photo
without an answer counts as off by 180 degrees (elevation: 90), and as on the wrong side. The light straight above has
no azimuth: it is left out of the azimuths and counts for the elevation. A side is right when the word is: "front" is
wrong for a light beyond 25 degrees.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from lightproof.datasets import FaceSet, load_yale_b
from lightproof.datasets.protocols import has_even_number, has_odd_number, yale_subset
from lightproof.imaging.detection import jitter_by_eyes
from lightproof.imaging.lighting import Diagnosis, diagnose
from lightproof.types import Floats

SIDEWAYS = 25
RANGES = ((0, 10), (10, 25), (25, 60), (60, 95), (95, 130))


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors in degrees of n photos, and whether the side was named; nan where a photo does not count."""

    azimuth: NDArray[np.float64]
    elevation: NDArray[np.float64]
    side: NDArray[np.float64]
    answered: NDArray[np.bool_]


def errors(faces: FaceSet, found: list[Diagnosis]) -> Errors:
    """Compare answers with labels."""
    azimuth = np.array([180.0 if answer.azimuth is None else answer.azimuth for answer in found])
    elevation = np.array([np.nan if answer.elevation is None else answer.elevation for answer in found])
    answered = np.isfinite(elevation)
    off = np.abs(azimuth - faces.azimuths) % 360
    off = np.where(answered, np.minimum(off, 360 - off), 180.0)
    named = np.array([answer.side for answer in found], dtype=object)
    side = (named == np.where(faces.azimuths > 0, "left", "right")).astype(float)
    return Errors(
        azimuth=np.where(faces.elevations < 90, off, np.nan),
        elevation=np.where(answered, np.abs(elevation - faces.elevations), 90.0),
        side=np.where(np.abs(faces.azimuths) > SIDEWAYS, side, np.nan),
        answered=answered,
    )


def row(name: str, wrong: Errors, chosen: NDArray[np.bool_]) -> list[str]:
    """Summarize the chosen photos."""
    azimuth, elevation, side = (values[chosen] for values in (wrong.azimuth, wrong.elevation, wrong.side))
    figures = [*np.nanpercentile(azimuth, [50, 90]), *np.percentile(elevation, [50, 90])]
    shown = [f"{figure:.1f}" for figure in figures]
    shown.insert(2, f"{100 * np.nanmean(side):.1f}" if np.isfinite(side).any() else "")
    return [name, str(int(chosen.sum())), *shown, str(int((~wrong.answered[chosen]).sum()))]


def groups(faces: FaceSet) -> dict[str, NDArray[np.bool_]]:
    """Photos by person, by subset, and by azimuth."""
    subset, aside = yale_subset(faces.azimuths, faces.elevations), np.abs(faces.azimuths)
    chosen = {"all people": np.ones(len(faces), bool)}
    for name, rule in (("odd people", has_odd_number), ("even people", has_even_number)):
        chosen[name] = np.array([rule(label) for label in faces.labels])
    chosen |= {f"subset {i}" if i else "training set": subset == i for i in range(5)}
    chosen |= {f"azimuth {low} to {high}": (aside > low - (low == 0)) & (aside <= high) for low, high in RANGES}
    return chosen


def changed(faces: FaceSet) -> dict[str, Callable[[], NDArray[np.uint8]]]:
    """Make the same photos as other cameras and detectors would give them."""
    unit = faces.images.astype(np.float32) / 255

    def exposed(light: Floats) -> NDArray[np.uint8]:
        return np.clip(np.rint(255 * light), 0, 255).astype(np.uint8)

    return {
        "gamma 1 / 2.2": lambda: exposed(unit ** (1 / 2.2)),
        "a quarter of the light": lambda: exposed(unit / 4),
        "black raised by 25 grey values": lambda: exposed(0.85 * unit + 25 / 255),
        "eyes off by 5 %": lambda: jitter_by_eyes(faces.images, 0.05),
        "size 48 x 42": lambda: exposed(unit.reshape(-1, 48, 4, 42, 4).mean(axis=(2, 4))),
    }


def main(data: str) -> None:
    """Measure and print."""
    faces = load_yale_b(data)
    start = time.perf_counter()
    diagnose(faces.images[0])
    first = time.perf_counter() - start
    start = time.perf_counter()
    wrong = errors(faces, [diagnose(image) for image in faces.images])
    each = 1000 * (time.perf_counter() - start) / len(faces)
    title = f"the first answer after {first:.1f} s, {each:.1f} ms a photo"
    table = Table(title=f"Direction of the light on Extended Yale B, degrees; {title}")
    for column in ("photos", "n", "azimuth", "90 %", "side, %", "elevation", "90 %", "no answer"):
        table.add_column(column)
    for name, chosen in groups(faces).items():
        table.add_row(*row(name, wrong, chosen))
    even = np.array([has_even_number(label) for label in faces.labels])
    for name, make in changed(faces).items():
        other = errors(faces.take(even), [diagnose(image) for image in make()[even]])
        table.add_row(*row(f"even people, {name}", other, np.ones(len(other.side), bool)))
    Console(width=120).print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
