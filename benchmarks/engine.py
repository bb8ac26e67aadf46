"""What each part of the engine brings: python -m benchmarks.engine FOLDER docs/results/engine.json; takes half an hour.

FOLDER has CroppedYale, ORL and LFW in it. Everything is end to end: the detector finds the faces, in photos or in crops
set into a frame. One photo a person is enrolled. In each variant one part of the preset "robust" is left out or
replaced by another. Two figures for each set: rank 1 in percent, and with half of the people as strangers the share
found and named at the threshold that lets in 1 % of the strangers. "chosen" are the people that settings were chosen
on, "held out" the others. Variants that the file has already are not run again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import numpy as np
from rich.progress import track

from benchmarks import discriminants
from lightproof.core.atomic import whole_file
from lightproof.core.executors import ProcessExecutor, Task
from lightproof.datasets import FaceSet, load_lfw, load_orl, load_yale_b
from lightproof.datasets.protocols import folder_test, halves_of, has_odd_number
from lightproof.experiments.end_to_end import find_again
from lightproof.experiments.plan import YALE_EVERY_LIGHT
from lightproof.imaging.detection import AlignedFace
from lightproof.matching import scores
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.matching.scores import Scores
from lightproof.matching.templates import Template
from lightproof.matching.views import FaceView
from lightproof.method.presets import EngineSettings, ViewSettings
from lightproof.metrics import open_set
from lightproof.types import Array, Floats, Ints

FAR: Final = 0.01
DRAWS: Final = 10
YALE_LIGHTS: Final = YALE_EVERY_LIGHT[::4]
ROBUST: Final = preset_settings("robust")


class Galleries(NamedTuple):
    """Found faces of a set, the photos enrolled in each gallery, (g, C), the probes, and who was chosen on, (C,)."""

    faces: list[AlignedFace]
    found: Array
    people: Ints
    enrolled: Ints
    probes: Ints
    chosen_on: Array


class Variant(NamedTuple):
    """A way to change the engine: how its matcher is made, what is done to the faces, and what is patched."""

    title: str
    matcher: Callable[[], Matcher]
    faces: Callable[[AlignedFace], AlignedFace] = lambda face: face
    patched: dict[str, Any] = {}  # noqa: RUF012, nobody changes it


def with_views(*views: ViewSettings) -> Callable[[], Matcher]:
    """Return what makes a matcher with other views; their discriminants are measured."""

    def make() -> Matcher:
        matcher = Matcher(EngineSettings(ROBUST.views, ROBUST.warps))
        matcher.settings = EngineSettings(views)
        matcher.views = tuple(FaceView(view, measured(view)) for view in views)
        return matcher

    return make


def raw() -> Matcher:
    """Make a matcher without discriminants: all numbers of a patch, whatever they tell."""
    matcher = Matcher(ROBUST)
    matcher.views = tuple(FaceView(view, None) for view in ROBUST.views)
    return matcher


@cache
def measured(view: ViewSettings) -> Floats:
    """Measure the discriminants of a view, as :mod:`benchmarks.discriminants` does."""
    people, faces = rendered()
    seen = replace(view, shape="eyes" if view.shape == "crop" else view.shape)
    return np.asarray(discriminants.measure(seen, faces, people).astype(np.float32)[:, :, : view.numbers])


@cache
def rendered() -> tuple[Array, list[AlignedFace]]:
    """Render the people that discriminants are measured on."""
    groups = discriminants.groups()
    parts = ProcessExecutor(-1).map(Task(discriminants.render), groups, len(groups))
    people, faces = zip(*(pair for part in parts for pair in part), strict=True)
    return np.array(people), list(faces)


def variants() -> Iterator[Variant]:
    """Yield the engine as it is, and with one part after the other left out or changed."""
    mesh, coarse, eyes, crop = ROBUST.views
    yield Variant("robust", lambda: Matcher(ROBUST))
    yield Variant("fast", lambda: Matcher(preset_settings("fast")))
    yield Variant("no mesh: cut by the eyes only", lambda: Matcher(ROBUST), lambda face: AlignedFace(face.image))
    yield Variant("the mesh only, in any light", lambda: Matcher(ROBUST), patched={"MAX_EYES_WEIGHT": 0.0})
    yield Variant("mesh and eyes half each, in any light", lambda: Matcher(ROBUST), patched={"hardness": _in_between})
    yield Variant("mesh: fine patches only", with_views(mesh, eyes, crop))
    yield Variant("mesh: coarse patches only", with_views(coarse, eyes, crop))
    unsorted = replace(mesh, sorted_detail=0)
    yield Variant("without the Discrete R-CDT", with_views(unsorted, coarse, eyes, crop))
    twice = replace(coarse, sorted_detail=5)
    yield Variant("the Discrete R-CDT of coarse patches, too", with_views(mesh, twice, eyes, crop))
    yield Variant("all numbers of a patch, without discriminants", raw)
    yield Variant(
        "half of the numbers of a patch", with_views(*(replace(v, numbers=v.numbers // 2) for v in ROBUST.views))
    )
    yield Variant("the eyes not moved, turned and scaled", lambda: Matcher(EngineSettings(ROBUST.views, warps=False)))


def _in_between(shadows: Floats) -> Floats:
    return np.full(np.shape(shadows), 0.5 / scores.MAX_EYES_WEIGHT)


def photo_galleries(photos: FaceSet) -> Galleries:
    """Find the faces of ORL or LFW: everybody's first photo is enrolled; where no face is in it, the next one."""
    faces = find_again(photos, -1).faces
    split = folder_test().split(faces)
    names, people = np.unique(faces.labels, return_inverse=True)
    first = {int(people[i]): int(i) for i in split.gallery}
    enrolled = [_first_found(faces, people, person, first[person]) for person in range(len(names))]
    (probes,) = split.probes.values()
    halves = list(halves_of(faces).values())
    chosen_on = np.array([str(name) in halves[0] for name in names])
    kept = np.setdiff1d(probes, enrolled)
    return Galleries(faces.aligned(), faces.found, people, np.array([enrolled]), kept, chosen_on)


def yale_galleries(crops: FaceSet) -> Galleries:
    """Find the faces of Extended Yale B in frames: Test 2, under some of the lights."""
    faces = find_again(crops, -1).faces
    names, people = np.unique(faces.labels, return_inverse=True)
    enrolled = []
    for protocol in YALE_LIGHTS:
        gallery = {int(people[i]): int(i) for i in protocol.split(faces).gallery}
        enrolled.append([_first_found(faces, people, person, gallery[person]) for person in range(len(names))])
    probes = np.concatenate(list(YALE_LIGHTS[0].split(faces).probes.values()))
    chosen_on = np.array([has_odd_number(str(name)) for name in names])
    return Galleries(faces.aligned(), faces.found, people, np.array(enrolled), probes, chosen_on)


def _first_found(faces: FaceSet, people: Ints, person: int, photo: int) -> int:
    return photo if faces.found[photo] else int(np.flatnonzero((people == person) & faces.found)[0])


def judge(variant: Variant, galleries: Galleries) -> dict[str, dict[str, float]]:
    """Measure both figures for everybody and for both halves."""
    with ExitStack() as stack:
        for name, value in variant.patched.items():
            stack.enter_context(patch.object(scores, name, value))
        matcher = variant.matcher()
        faces = list(map(variant.faces, galleries.faces))
        # A photo without a face is a mistake; something must stand for it.
        found = galleries.found[galleries.probes]
        probes = [faces[i] for i in galleries.probes[found]]
        photos = np.unique(galleries.enrolled)
        templates = dict(zip(photos.tolist(), matcher.templates([faces[i] for i in photos]), strict=True))
        everybody: dict[Hashable, Template] = {
            (g, c): templates[i] for g, row in enumerate(galleries.enrolled.tolist()) for c, i in enumerate(row)
        }
        compared = matcher.compare(probes, matcher.template_set(everybody))
    n_people = galleries.enrolled.shape[1]
    people = np.zeros((len(found), len(galleries.enrolled), n_people), np.float32)
    people[found] = compared.people.reshape(-1, *people.shape[1:])
    cohort = np.zeros((len(found), compared.cohort.shape[1]), np.float32)
    cohort[found] = compared.cohort
    truth = galleries.people[galleries.probes]
    halves = {"all": np.ones(n_people, bool), "chosen": galleries.chosen_on, "held out": ~galleries.chosen_on}
    return {half: _figures(people, cohort, truth, found, np.flatnonzero(who)) for half, who in halves.items()}


def _figures(people: Floats, cohort: Floats, truth: Ints, found: Array, members: Ints) -> dict[str, float]:
    rows = np.isin(truth, members)
    people, cohort, truth, found = people[rows][:, :, members], cohort[rows], truth[rows], found[rows]
    named = (members[people.argmax(axis=2)] == truth[:, None]) & found[:, None]
    rng, best, right, mated = np.random.default_rng(0), [], [], []
    for _ in range(DRAWS):
        enrolled = np.sort(rng.permutation(len(members))[: len(members) // 2])
        for gallery in range(people.shape[1]):
            leads = normalized_scores(Scores(people[:, gallery, enrolled], cohort))
            best.append(np.where(found, leads.max(axis=1), -1e3))
            right.append((members[enrolled[leads.argmax(axis=1)]] == truth) & found)
            mated.append(np.isin(truth, members[enrolled]))
    lead, hit, known = np.stack(best), np.stack(right), np.stack(mated)
    share = open_set(lead[known], hit[known], lead[~known], FAR).found
    return {"rank-1": 100 * float(named.mean()), "found": 100 * float(share)}


def as_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Write the table of the documents: rank 1 / found at 1 % of strangers."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    columns = [(name, half) for name in sets for half in ("chosen", "held out")]
    lines = [["rank 1 / found at 1 % of strangers", *(f"{name}, {half}" for name, half in columns)]]
    lines.append(["---"] * len(lines[0]))
    by = {(row["variant"], row["set"], row["people"]): row for row in rows}
    for title in dict.fromkeys(row["variant"] for row in rows):
        cells = [by[title, *column] for column in columns]
        lines.append([title, *(f"{cell['rank-1']:.1f} / {cell['found']:.1f}" for cell in cells)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(data: str, out: str) -> None:
    """Run what the file lacks, and print the table."""
    folder, place = Path(data), Path(out)
    rows: list[dict[str, Any]] = json.loads(place.read_text(encoding="utf-8")) if place.exists() else []
    loaded: dict[str, Callable[[], Galleries]] = {
        "ORL": lambda: photo_galleries(load_orl(folder / "ORL")),
        "LFW": lambda: photo_galleries(load_lfw(folder / "LFW")),
        "Yale B in frames": lambda: yale_galleries(load_yale_b(folder / "CroppedYale")),
    }
    for name, load in loaded.items():
        known = {row["variant"] for row in rows if row["set"] == name}
        missing = [variant for variant in variants() if variant.title not in known]
        galleries = load() if missing else None
        for variant in track(missing, description=name):
            assert galleries is not None
            for people, figures in judge(variant, galleries).items():
                rows.append({"variant": variant.title, "set": name, "people": people, **figures})
            with whole_file(place) as file:
                file.write(json.dumps(rows, indent=1).encode())
    print(as_markdown(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
