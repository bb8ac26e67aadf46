"""Measure what each view of a patch tells of strangers, alone and both: python -m benchmarks.views CroppedYale.

Half of the odd-numbered people of Extended Yale B are enrolled with one photo each, the others are strangers: on these
people choices are made. Prints a table, after some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from lightproof.core.report_parts import TextTable
from lightproof.datasets import FaceSet, load_yale_b
from lightproof.datasets.protocols import has_odd_number
from lightproof.experiments.open_set import OpenSetRow, run_open_set
from lightproof.experiments.plan import YALE_EVERY_LIGHT
from lightproof.experiments.reproduction_report import markdown
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.method.presets import GALLERIES

VIEWS = {"which gradients (sorted)": (0,), "where they lie (placed)": (1,), "both": (0, 1)}
HEAD = ["preset: view", "named among the enrolled", "found at 1 %", "found at 0.1 %", "equal error rate"]


def seen(name: str) -> Matcher:
    """Return a matcher of some of the views of a preset."""
    preset, view = name.split(": ")
    matcher = Matcher(preset_settings(preset))
    matcher.views = tuple(matcher.views[i] for i in VIEWS[view])
    matcher.view_specs = tuple(matcher.view_specs[i] for i in VIEWS[view])
    return matcher


def measure(faces: FaceSet, presets: Sequence[str], picks: Sequence[int], jobs: int) -> Iterator[list[str]]:
    """Yield a line of the table for each preset and view."""
    names = [f"{preset}: {view}" for preset, view in product(presets, VIEWS)]
    rows = run_open_set(faces, names, jobs, picks=picks, matcher_of=seen)
    for name in names:
        lax, strict, pairs = _figures([row for row in rows if (row.preset, row.subset) == (name, "all")])
        yield [name, *(f"{value:.2f}" for value in (lax.rank1, lax.found, strict.found, pairs.eer))]


def _figures(rows: Sequence[OpenSetRow]) -> list[OpenSetRow]:
    """At 1 % of strangers let in, at 0.1 %, and of pairs."""
    return [row for row in rows if row.test in ("open set", "verify")]


def main() -> None:
    """Print the table."""
    faces = load_yale_b(sys.argv[1])
    odd = faces.take(np.array([has_odd_number(str(label)) for label in faces.labels]))
    lines = measure(replace(odd, name="odd"), tuple(GALLERIES), range(len(YALE_EVERY_LIGHT)), jobs=-1)
    print(markdown(TextTable("Views of a patch, %", HEAD, list(lines))))


if __name__ == "__main__":
    main()
