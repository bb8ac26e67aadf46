"""Measure what each view of a patch tells of strangers, alone and both: python -m benchmarks.views CroppedYale.

Half of the odd-numbered people of Extended Yale B are enrolled with one photo each, the others are strangers: on these
people choices are made. Prints a table, after some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lightproof.datasets import FaceSet, load_yale_b
from lightproof.datasets.protocols import has_odd_number
from lightproof.evidence import Evidence
from lightproof.experiments.plan import YALE_EVERY_LIGHT
from lightproof.experiments.report import markdown
from lightproof.experiments.tables import TextTable
from lightproof.matcher import Matcher, preset_settings
from lightproof.metrics import equal_error_rate, open_set
from lightproof.settings import GALLERIES
from lightproof.strangers import leads
from lightproof.types import Array, Floats

VIEWS = {"which gradients (sorted)": (0,), "where they lie (placed)": (1,), "both": (0, 1)}
DRAWS = 5
HEAD = ["preset", "view", "named, all enrolled", "found at 1 %", "found at 0.1 %", "equal error rate"]


class Compared(NamedTuple):
    """All probes against everybody: who each shows, and what it says."""

    truth: Array
    said: Evidence


def seen(preset: str, views: Sequence[int]) -> Matcher:
    """Return a matcher of some of the views."""
    matcher = Matcher(preset_settings(preset))
    matcher.views = tuple(matcher.views[i] for i in views)
    matcher.layouts = tuple(matcher.layouts[i] for i in views)
    return matcher


def compared(matcher: Matcher, faces: FaceSet, pick: int) -> Compared:
    """Enroll everybody under one light and ask about all other photos."""
    split = YALE_EVERY_LIGHT[pick].split(faces)
    people = sorted(split.gallery, key=lambda i: str(faces.labels[i]))
    names = faces.labels[people].tolist()
    probes = np.concatenate(list(split.probes.values()))
    enrolled = matcher.everybody(dict(zip(names, matcher.templates(faces.images[people]), strict=True)))
    truth = np.array([names.index(label) for label in faces.labels[probes]])
    return Compared(truth, matcher.compare(faces.images[probes], enrolled))


def figures(galleries: Sequence[Compared]) -> Iterator[float]:
    """Rank-1, found at 1 % and at 0.1 % of strangers let in, equal error rate; all in percent."""
    yield 100 * float(np.mean([(each.said.people.argmax(axis=1) == each.truth).mean() for each in galleries]))
    best, right, known = (np.concatenate(parts) for parts in zip(*_draws(galleries), strict=True))
    for far in (0.01, 0.001):
        yield 100 * open_set(best[known], right[known], best[~known], far).found
    alone = [_alone(each.said) for each in galleries]
    same = [each.truth[:, None] == np.arange(each.said.people.shape[1]) for each in galleries]
    leading, of_friends = np.stack(alone), np.stack(same)
    yield 100 * equal_error_rate(leading[of_friends], leading[~of_friends])


def _draws(galleries: Sequence[Compared]) -> Iterator[tuple[Floats, Array, Array]]:
    """The lead of each probe's best match, whether it is the right one, and whether the person is enrolled."""
    rng, n = np.random.default_rng(0), galleries[0].said.people.shape[1]
    for _ in range(DRAWS):
        enrolled = np.sort(rng.permutation(n)[: n // 2])
        for truth, said in galleries:
            ahead = leads(replace(said, people=said.people[:, enrolled]))
            yield ahead.max(axis=1), enrolled[ahead.argmax(axis=1)] == truth, np.isin(truth, enrolled)


def _alone(said: Evidence) -> Floats:
    """Lead of everybody as if nobody else were enrolled."""
    n = said.people.shape[1]
    return np.concatenate([leads(replace(said, people=said.people[:, [i]])) for i in range(n)], axis=1)


def measure(faces: FaceSet, presets: Sequence[str], picks: Sequence[int]) -> Iterator[list[str]]:
    """Yield a line of the table for each preset and view."""
    for preset in presets:
        for name, views in VIEWS.items():
            matcher = seen(preset, views)
            found = figures([compared(matcher, faces, pick) for pick in picks])
            yield [f"`{preset}`", name, *(f"{value:.2f}" for value in found)]


def main() -> None:
    """Print the table."""
    faces = load_yale_b(sys.argv[1])
    odd = faces.take(np.array([has_odd_number(str(label)) for label in faces.labels]))
    lines = list(measure(odd, tuple(GALLERIES), range(len(YALE_EVERY_LIGHT))))
    print(markdown(TextTable("Views of a patch, %", HEAD, lines)))


if __name__ == "__main__":
    main()
