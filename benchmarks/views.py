"""Measure what the views by the mesh tell of strangers, each alone and both: python -m benchmarks.views CroppedYale.

Every shape needs a view, so those by the eyes and as the face came stay; the preset "robust" has two views by the mesh,
one of fine patches and one of coarse ones, and these are left out in turn. Half of the odd-numbered people of Extended
Yale B are enrolled with one photo each, the others are strangers: on these people choices are made. Prints a table,
after some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lightproof.core.report_parts import TextTable
from lightproof.datasets import FaceSet, load_yale_b
from lightproof.datasets.protocols import has_odd_number
from lightproof.experiments.open_set import OpenSetRow, run_open_set
from lightproof.experiments.plan import YALE_EVERY_LIGHT
from lightproof.experiments.reproduction_report import markdown
from lightproof.matching.matcher import Matcher, matcher_for, preset_settings

VIEWS = {"fine patches": (0,), "coarse patches": (1,), "both": (0, 1)}
"""Which of the views by the mesh are kept."""

HEAD = ["views by the mesh", "named among the enrolled", "found at 1 %", "found at 0.1 %", "equal error rate"]


def matcher_of(name: str) -> Matcher:
    """Return the matcher of "robust" with some of its views by the mesh."""
    settings = preset_settings("robust")
    by_mesh = [view for view in settings.views if view.shape == "mesh"]
    others = [view for view in settings.views if view.shape != "mesh"]
    return matcher_for(replace(settings, views=(*(by_mesh[i] for i in VIEWS[name]), *others)))


def measure(faces: FaceSet, picks: Sequence[int], jobs: int) -> Iterator[list[str]]:
    """Yield a line of the table for each choice of views."""
    rows = run_open_set(faces, tuple(VIEWS), jobs, picks=picks, matcher_of=matcher_of)
    for name in VIEWS:
        lax, strict, pairs = _figures([row for row in rows if (row.preset, row.subset) == (name, "all")])
        yield [name, *(f"{value:.2f}" for value in (lax.rank1, lax.found, strict.found, pairs.eer))]


def _figures(rows: Sequence[OpenSetRow]) -> list[OpenSetRow]:
    """At 1 % of strangers let in, at 0.1 %, and of pairs."""
    return [row for row in rows if row.test in ("open set", "verify")]


def main() -> None:
    """Print the table."""
    faces = load_yale_b(sys.argv[1])
    odd = faces.take(np.array([has_odd_number(str(label)) for label in faces.labels]))
    lines = measure(replace(odd, name="odd"), range(len(YALE_EVERY_LIGHT)), jobs=-1)
    print(markdown(TextTable('Views by the mesh of "robust", %', HEAD, list(lines))))


if __name__ == "__main__":
    main()
