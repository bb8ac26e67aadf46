"""Compare real, rendered and crowd faces as the matcher sees them: python -m benchmarks.crowd CroppedYale [preset].

One photo of everybody is enrolled, lit from the front, about twenty people to a gallery; the others are probes. Prints
a table for each preset: what the right person and the wrong ones get, by the angle between light and camera. What is
free in the crowd was chosen on the odd-numbered people of Extended Yale B. No face has a mesh, as in a gallery of the
crowd. Takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightproof.core.report_parts import TextTable
from lightproof.datasets import YALE_LIGHTS, Crowd, FaceSet, load_yale_b, make_relit_faces
from lightproof.datasets.protocols import has_even_number, has_odd_number
from lightproof.experiments.reproduction_report import markdown
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.matching.scores import Scores
from lightproof.method.presets import ENGINES
from lightproof.types import Floats, Ints

ANGLES = (12.0, 25.0, 50.0, 77.0, 180.0)
NAMES = ("to 12°", "to 25°", "to 50°", "to 77°", "beyond", "all")
PEOPLE = 20
RENDERED = ((0, 0), *YALE_LIGHTS[::2])
SAMPLE = 60
FAR = 0.001
HEAD = [
    "faces",
    "light",
    "right: evidence",
    "right: lead",
    "lowest tenth",
    "wrong: evidence",
    "spread",
    "wrong: lead, 99.9 %",
    "named first",
    f"found at {100 * FAR:g} %",
    "patches that count",
    "lasting",
]


@dataclass(frozen=True, eq=False)
class ProbeSet:
    """A gallery (C, h, w) and its probes (n, h, w), whom they show (n,) and the angle of their light (n,)."""

    enrolled: NDArray[np.uint8]
    probes: NDArray[np.uint8]
    people: Ints
    angles: Floats


@dataclass(frozen=True, eq=False)
class Said:
    """What came of n probes.

    Attributes
    ----------
    angles : ndarray of shape (n,)
    right, right_leads : ndarray of shape (n,)
        Evidence and lead of the right person.
    wrong, wrong_leads : ndarray of shape (n, C - 1)
        Of the others.
    best_strangers : ndarray of shape (n,)
        Lead of the best match when the right person is not enrolled.
    counting : ndarray of shape (n,)
        Patches that count; nan for most probes, for they take time.
    lasting : ndarray of shape (n,)
        See :func:`lasting`.
    """

    angles: Floats
    right: Floats
    right_leads: Floats
    wrong: Floats
    wrong_leads: Floats
    best_strangers: Floats
    counting: Floats
    lasting: Floats

    @classmethod
    def joined(cls, parts: Sequence[Said]) -> Said:
        """Put the probes of several galleries one below the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))


def angle_of(azimuths: Floats, elevations: Floats) -> Floats:
    """Angle between light and camera in degrees."""
    azimuth, elevation = np.radians(azimuths), np.radians(elevations)
    return np.asarray(np.degrees(np.arccos(np.cos(azimuth) * np.cos(elevation))))


def of_faces(faces: FaceSet) -> ProbeSet:
    """Enroll everybody's photo under the light nearest to the camera, and ask about the others."""
    names, people = np.unique(faces.labels, return_inverse=True)
    angles = angle_of(faces.azimuths, faces.elevations)
    order = np.lexsort((angles, people))
    first = order[np.searchsorted(people[order], np.arange(len(names)))]
    others = np.setdiff1d(np.arange(len(faces)), first)
    return ProbeSet(faces.images[first], faces.images[others], people[others], angles[others])


def of_crowd(crowd: Crowd, gallery: int, turns: int) -> ProbeSet:
    """Enroll the twenty people of a gallery, and ask about them in turn."""
    people = np.arange(gallery * PEOPLE, (gallery + 1) * PEOPLE)
    photos = [crowd.probes(people, turn) for turn in range(turns)]
    angles = np.concatenate([angle_of(each.azimuths, each.elevations) for each in photos])
    images = np.concatenate([each.images for each in photos])
    return ProbeSet(crowd.faces(people), images, np.tile(np.arange(PEOPLE), turns), angles)


def ask(matcher: Matcher, asked: ProbeSet) -> Said:
    """Compare the probes of one gallery."""
    people = matcher.template_set(dict(enumerate(matcher.templates(asked.enrolled))))
    said = matcher.compare(asked.probes, people)
    right = np.arange(len(people)) == asked.people[:, None]
    ahead = normalized_scores(said)
    shape = (len(right), -1)
    without = Scores(said.people[~right].reshape(shape), said.cohort)
    counting = np.full(len(right), np.nan)
    for i in np.linspace(0, len(right) - 1, min(SAMPLE, len(right))).astype(int):
        _, maps = matcher.compare_map(asked.probes[i], people)
        counting[i] = patches_that_count(maps.scores.people[:, ~right[i]])
    return Said(
        asked.angles,
        said.people[right],
        ahead[right],
        without.people,
        ahead[~right].reshape(shape),
        normalized_scores(without).max(axis=1),
        counting,
        np.full(len(right), lasting(without.people, asked.people)),
    )


def patches_that_count(patches: Floats) -> float:
    """How many independent patches would tell people apart no better than these, (K, people), do together."""
    return float(patches.var(axis=1, ddof=1).mean() / patches.mean(axis=0).var(ddof=1))


def lasting(wrong: Floats, people: Ints) -> float:
    """Share of what sets wrong people apart on a photo, (n, C - 1), that is the same on all photos of the person."""
    apart = (wrong - wrong.mean(axis=1, keepdims=True)) / wrong.std(axis=1, keepdims=True)
    shares = []
    for person in np.unique(people):
        own = apart[people == person]
        # What remains of chance in a mean over n photos is taken off.
        shares.append((len(own) * (own.mean(axis=0) ** 2).mean() - 1) / (len(own) - 1))
    return float(np.mean(shares))


def rows(name: str, said: Said) -> Iterator[list[str]]:
    """Yield a line of the table for each range of angles, and for all."""
    threshold = np.quantile(said.best_strangers, 1 - FAR)
    group = np.searchsorted(ANGLES, said.angles)
    for i, light in enumerate(NAMES):
        some = group == i if i < len(ANGLES) else np.ones(len(group), bool)
        if not some.any():
            continue
        first = said.right[some] > said.wrong[some].max(axis=1)
        counting = said.counting[some]
        figures = [
            said.right[some].mean(),
            said.right_leads[some].mean(),
            np.quantile(said.right_leads[some], 0.1),
            said.wrong[some].mean(),
            said.wrong[some].std(axis=1, ddof=1).mean(),
            np.quantile(said.wrong_leads[some], 0.999),
        ]
        shares = [100 * first.mean(), 100 * (first & (said.right_leads[some] >= threshold)).mean()]
        count = np.nanmean(counting) if np.isfinite(counting).any() else np.nan
        alike = f"{said.lasting.mean():.2f}" if light == "all" else ""
        yield [name, light, *(f"{x:.2f}" for x in figures), *(f"{x:.1f}" for x in shares), f"{count:.0f}", alike]


def measure(preset: str, faces: FaceSet | None, galleries: int, turns: int) -> Iterator[list[str]]:
    """Yield the lines of all sources under one preset."""
    matcher = Matcher(preset_settings(preset))
    if faces is not None:
        for name, chosen in (("Yale, odd", has_odd_number), ("Yale, even", has_even_number)):
            some = faces.take(np.array([chosen(str(label)) for label in faces.labels]))
            yield from rows(name, ask(matcher, of_faces(some)))
    drawn = of_faces(make_relit_faces(PEOPLE, RENDERED, size=(96, 84), seed=3))
    yield from rows("rendered", ask(matcher, drawn))
    crowd = Crowd()
    yield from rows("crowd", Said.joined([ask(matcher, of_crowd(crowd, i, turns)) for i in range(galleries)]))


def main() -> None:
    """Print the tables."""
    faces = load_yale_b(sys.argv[1])
    for preset in sys.argv[2:] or ENGINES:
        lines = list(measure(preset, faces, galleries=10, turns=16))
        print(markdown(TextTable(f"Faces as `{preset}` sees them", HEAD, lines)))


if __name__ == "__main__":
    main()
