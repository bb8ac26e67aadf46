"""Measure what one more photo under another light is worth: python -m benchmarks.advice.

Rendered people are enrolled under every choice of the lights of `lightproof.gallery.advice`, all of them under the same
ones, and identified under every other light of Extended Yale B. A probe counts if it is found and named when one in a
thousand strangers is accepted; the lead that this needs is measured for each choice, with other rendered people as
strangers. A choice and its mirror image share one figure: a face has no better side. The lead is that over the others
of the gallery alone, and without a penalty for lights that agree: photographs are far from the rendered people of the
cohort, other rendered people are not. Each face gets its mesh as a cropped photo does. Prints the table FOUND_PER_1000,
in per mille, after some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import compress, product

import numpy as np
from rich.console import Console
from rich.progress import track

from lightproof.datasets import make_relit_faces
from lightproof.datasets.protocols import YALE_LIGHTS, Light
from lightproof.datasets.synthetic import YALE_LIGHTS_DEFAULT
from lightproof.gallery.advice import ADVISED_LIGHTS
from lightproof.imaging.detection import AlignedFace, align_crop
from lightproof.matching.calibration import ImpostorModel, normalized_scores
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.matching.scores import Scores, cohort_stats, scores_against
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Floats

FAR = 0.001
PEOPLE = 20
STRANGERS = 12
SEED = 6
"""Other people than those of the cohort. The strangers come after those who are enrolled."""


def choices() -> Iterator[tuple[bool, ...]]:
    """Every choice of the lights, in the order of the table: the first light counts 1, the second 2, and so on."""
    for chosen in product((False, True), repeat=len(ADVISED_LIGHTS)):
        yield chosen[::-1]


def mirrored() -> list[int]:
    """Place in the table of the mirror image of each choice."""
    swap = {"left": "right", "right": "left", "hard left": "hard right", "hard right": "hard left"}
    places = [list(ADVISED_LIGHTS).index(swap.get(name, name)) for name in ADVISED_LIGHTS]
    return [sum(2**place for place, marked in zip(places, chosen, strict=True) if marked) for chosen in choices()]


def measure(preset: str, n_people: int, n_strangers: int, lights: Sequence[Light]) -> Floats:
    """Share found and named for each choice and person, shape (2 ** 7, people)."""
    matcher = Matcher(preset_settings(preset))
    enrolled, known = rendered(n_people, list(ADVISED_LIGHTS.values())), rendered(n_people, lights)
    strangers = rendered(n_people + n_strangers, YALE_LIGHTS_DEFAULT)[n_people:]
    # As they lie: rendered people have their eyes in one place.
    probes = matcher.probes([face for photos in (*known, *strangers) for face in photos], warps=False)
    stats = cohort_stats(probes, matcher.cohorts)
    truth = np.repeat(np.arange(n_people), len(lights))
    columns = []
    for photos in track(enrolled, console=Console(stderr=True)):
        evidence = scores_against(every_template(matcher, photos), probes, stats)
        columns.append(evidence.people)
    by_choice = np.stack(columns, axis=2).transpose(1, 0, 2)  # (choices, photos, people)
    return np.array([np.zeros(n_people), *(found(Scores(each, evidence.cohort), truth) for each in by_choice)])


def rendered(n_people: int, lights: Sequence[Light]) -> list[list[AlignedFace]]:
    """Render each person under every light, and lay the meshes."""
    faces = [align_crop(image) for image in make_relit_faces(n_people, lights, seed=SEED).images]
    return [faces[start : start + len(lights)] for start in range(0, len(faces), len(lights))]


def every_template(matcher: Matcher, photos: Sequence[AlignedFace]) -> TemplateSet:
    """Make a template of every choice of one person's photos but the empty one, in the order of the table."""
    single = matcher.templates(photos)
    some = [chosen for chosen in choices() if any(chosen)]
    return matcher.template_set({chosen: matcher.joined(list(compress(single, chosen))) for chosen in some})


def found(evidence: Scores, truth: Array) -> Floats:
    """Share of each person's photos that are found and named; strangers come after the photos of ``truth``."""
    ahead = normalized_scores(evidence)
    needed = fitted(ahead[len(truth) :].max(axis=1)).lead_at(FAR)
    known = ahead[: len(truth)]
    named = (known.argmax(axis=1) == truth) & (known.max(axis=1) >= needed)
    return np.array([named[truth == person].mean() for person in range(known.shape[1])])


def fitted(best: Floats) -> ImpostorModel:
    """Fit the distribution of strangers to their leads alone, by mean and standard deviation."""
    width = float(best.std() * np.sqrt(6) / np.pi)
    return ImpostorModel(float(best.mean() - np.euler_gamma * width), width)


def main(preset: str = "robust", people: str = str(PEOPLE)) -> None:
    """Measure and print."""
    shares = measure(preset, int(people), STRANGERS, YALE_LIGHTS[::2])
    shares = (shares + shares[mirrored()]) / 2
    table = np.rint(1000 * shares.mean(axis=1)).astype(int)
    error = 1000 * (shares[2:] - shares[1]).std(axis=1).max() / np.sqrt(shares.shape[1])
    console = Console(width=120)
    console.print(f"largest standard error of a difference to one photo from the front: {error:.0f} per mille")
    for start in range(0, len(table), 16):
        console.print("    " + ", ".join(map(str, table[start : start + 16])) + ",", highlight=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
