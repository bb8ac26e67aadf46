"""The plan: every table of the paper as a list of experiments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import (
    YALE_PICKS,
    Protocol,
    ar_test,
    cas_peal_test,
    folder_test,
    halves_of,
    has_even_number,
    has_odd_number,
    pose_test,
    restricted,
    restricted_to_people,
    yale_test_1,
    yale_test_2,
)
from lightproof.experiments import JITTERED_SETS, PHOTO_SETS
from lightproof.experiments.measure import BY_HAND, FOUND, JITTERED
from lightproof.experiments.methods import METHODS, Method
from lightproof.experiments.published_accuracies import (
    CAS_PEAL_ENLARGED,
    METHOD_CHANGES,
    YALE_OVERLAPS,
    YALE_PROJECTIONS,
    published_figures,
)
from lightproof.imaging.detection.face_networks import DETECTOR
from lightproof.method.presets import PAPER_PRESETS
from lightproof.types import Floats

CHOSEN_ON_ODD: Final = ("robust", "fast")
"""Presets whose settings were chosen on the odd-numbered people of Extended Yale B."""

# Constants, because experiments that share a protocol share its split.
YALE_TEST_1: Final = yale_test_1()
YALE_AUTHORS: Final = yale_test_2("authors")
YALE_DARKEST: Final = restricted(YALE_AUTHORS, [4])
YALE_EVERY_LIGHT: Final = tuple(yale_test_2(pick) for pick in range(YALE_PICKS))
YALE_OWN_LIGHTS: Final = tuple(yale_test_2(YALE_PICKS + seed) for seed in range(YALE_PICKS))
YALE_EVEN: Final = tuple(restricted_to_people(protocol, has_even_number) for protocol in YALE_EVERY_LIGHT)
YALE_ODD: Final = tuple(restricted_to_people(protocol, has_odd_number) for protocol in YALE_EVERY_LIGHT)


@dataclass(frozen=True)
class Experiment:
    """One method under one protocol, or under several with the same subsets, whose figures are averaged.

    ``table`` is the one that shows its figures: "main", "jittered", "own lights", "held-out people", "people chosen
    on", "details", "parameters", "explanations", "enlarged", "sweep", or "end to end" and "photos", each also with its
    two halves of the people.
    """

    dataset: str  # one of :data:`lightproof.experiments.DATASETS`
    table: str
    method: Method
    protocols: Sequence[Protocol]
    gallery: str  # the enrolled photos, in words
    crop: str = "full"  # part of the pictures that the method sees, one of :data:`lightproof.experiments.crops.CROPS`
    published: Mapping[int, float] = field(default_factory=dict)  # by subset
    alignment: str = BY_HAND  # of gallery and probes, one of :data:`lightproof.experiments.measure.ALIGNMENTS`
    detector: str = ""  # what found the faces; "" if they were given

    @property
    def test(self) -> str:
        """Return the paper's name of the test."""
        return self.protocols[0].name


def make_plan(dataset: str, faces: FaceSet, methods: Sequence[Method], crops: Sequence[str]) -> list[Experiment]:
    """List the experiments of one of :data:`lightproof.experiments.DATASETS`; the main tables once for each crop."""
    plan = [experiment for method in methods for experiment in _main(dataset, faces, method, crops)]
    names = {method.name for method in methods}
    classical = [method for method in methods if method.kind != "network"]
    if dataset in JITTERED_SETS:
        plan += [_test_2(dataset, "jittered", m, "jittered", alignment=JITTERED) for m in classical]
    if dataset == "yale":
        plan += [_own_lights(method) for method in classical]
        for method in methods:
            if method.preset in CHOSEN_ON_ODD:
                plan.append(_test_2(dataset, "held-out people", method, "even numbers", YALE_EVEN))
                plan.append(_test_2(dataset, "people chosen on", method, "odd numbers", YALE_ODD))
        plan += [e for e in _yale_details() if e.method.name in names]
        plan += [e for e in _explanations() if e.method.name in names]
    if dataset == "cas-peal":
        plan += [e for name in ("rcdt", "log-rcdt") if name in names for e in _enlarged(METHODS[name])]
    return plan


def plan_end_to_end(dataset: str, methods: Sequence[Method]) -> list[Experiment]:
    """List the experiments on faces that the detector found: Test 2, all people and both halves of them."""
    classical = [method for method in methods if method.kind != "network"]
    test = partial(_test_2, dataset, alignment=FOUND, detector=DETECTOR)
    plan = [test("end to end", method, "found") for method in classical]
    for method in classical:
        if dataset == "yale" and method.preset in CHOSEN_ON_ODD:
            plan.append(test("end to end, held-out people", method, "found, even numbers", YALE_EVEN))
            plan.append(test("end to end, people chosen on", method, "found, odd numbers", YALE_ODD))
    return plan


def plan_photos(dataset: str, faces: FaceSet, yaws: Floats, methods: Sequence[Method]) -> list[Experiment]:
    """List the experiments on a set of photos: everybody's first photo enrolled, all people and both halves of them.

    ``yaws`` of the heads part the probes, see :func:`lightproof.datasets.protocols.pose_test`.
    """
    classical = [method for method in methods if method.kind != "network"]
    everybody = pose_test(yaws)
    galleries = {("main", "first photo"): everybody}
    for half, people in halves_of(faces).items():
        galleries[f"photos, people {half}", f"first photo, people {half}"] = restricted_to_people(
            everybody, people.__contains__
        )
    return [
        Experiment(dataset, table, method, [protocol], gallery, alignment=FOUND, detector=DETECTOR)
        for (table, gallery), protocol in galleries.items()
        for method in classical
    ]


def trials_of(dataset: str, faces: FaceSet, one_gallery: bool = False) -> Iterator[tuple[Sequence[Protocol], str]]:
    """Yield the tests of a data set: protocols to average over (a single one if ``one_gallery``), and their gallery."""
    if dataset in ("yale", "rendered"):
        yield from _yale_trials(one_gallery)
    elif dataset == "ar":
        yield [ar_test()], ar_test().gallery
    elif dataset == "cas-peal":
        yield [cas_peal_test()], cas_peal_test().gallery
    elif dataset in PHOTO_SETS:
        yield [folder_test()], "first photo"
    else:
        # As many galleries as the person with most photos has, but no more than on Extended Yale B.
        photos = int(np.unique(faces.labels, return_counts=True)[1].max())
        picks = 1 if one_gallery else min(photos, YALE_PICKS)
        yield [folder_test(pick) for pick in range(picks)], f"mean of {picks}" if picks > 1 else "photo 0"


def _yale_trials(one_gallery: bool = False) -> Iterator[tuple[Sequence[Protocol], str]]:
    yield [YALE_TEST_1], "all training photos"
    if one_gallery:
        yield [YALE_AUTHORS], "authors"
    else:
        yield YALE_EVERY_LIGHT, f"mean of {YALE_PICKS}"


def _main(dataset: str, faces: FaceSet, method: Method, crops: Sequence[str]) -> Iterator[Experiment]:
    for protocols, gallery in trials_of(dataset, faces, one_gallery=method.kind == "network"):
        test = protocols[0].name
        figures = published_figures(dataset, test, method.name)
        # The paper chooses the number of components by validation in Test 1.
        validated = test == "Test 1" and method.preset in PAPER_PRESETS
        run = method.changed(components="validate") if validated else method
        for crop in crops:
            yield Experiment(dataset, "main", run, protocols, gallery, crop, figures if crop == "full" else {})


def _test_2(
    dataset: str,
    table: str,
    method: Method,
    gallery: str,
    protocols: Sequence[Protocol] = YALE_EVERY_LIGHT,
    **more: Any,
) -> Experiment:
    """Test 2 with each training photo in turn; ``gallery`` says how it differs from the main table."""
    return Experiment(dataset, table, method, protocols, f"{gallery}, mean of {YALE_PICKS}", **more)


def _own_lights(method: Method, table: str = "own lights") -> Experiment:
    """Test 2 with a random photo of each person, so that the gallery has many lights."""
    figures = published_figures("yale", "Test 2", method.name)
    return _test_2("yale", table, method, "own lights", YALE_OWN_LIGHTS, published=figures)


def _explanations() -> Iterator[Experiment]:
    for change in METHOD_CHANGES:
        changed = METHODS[change.method].changed(change.title, **change.settings)
        if change.own_lights:
            yield _own_lights(changed, "explanations")
            continue
        for protocols, gallery in _yale_trials():
            figures = published_figures("yale", protocols[0].name, changed.name)
            yield Experiment("yale", "explanations", changed, protocols, gallery, published=figures)


def _yale_details() -> Iterator[Experiment]:
    """Yield the variants in which paper and released code differ, and the table of parameters."""
    ours = [method for method in METHODS.values() if method.preset in PAPER_PRESETS]
    for method in ours:
        yield _detail(method, YALE_AUTHORS)
    plain, log = METHODS["rcdt"], METHODS["log-rcdt"]
    yield _detail(plain.changed("plain sum", aggregate="sum"), YALE_AUTHORS)
    yield _detail(plain.changed("80 % of singular values", components=0.8), YALE_TEST_1)
    for method in (plain, log):
        yield _detail(method.changed("8-bit smoothing", smoothing="8-bit"), YALE_AUTHORS)
        both = method.changed("80 % of singular values, 8-bit smoothing", components=0.8, smoothing="8-bit")
        yield _detail(both, YALE_TEST_1)
    for cell, by_angles in YALE_PROJECTIONS.items():
        for m, figure in by_angles.items():
            yield from _parameters(cell, 0, m, figure)
    for cell, by_overlap in YALE_OVERLAPS.items():
        for overlap, figure in by_overlap.items():
            if overlap:  # overlap 0 with four angles is among the projections
                yield from _parameters(cell, overlap, 4, figure)


def _detail(method: Method, protocol: Protocol) -> Experiment:
    figures = published_figures("yale", protocol.name, method.name)
    return Experiment("yale", "details", method, [protocol], protocol.gallery, published=figures)


def _parameters(cell: int, overlap: int, m: int, figure: float) -> Iterator[Experiment]:
    """One cell of the table of parameters, in float arithmetic and smoothed in 8 bits."""
    for suffix, smoothing in (("", "float"), (", 8-bit smoothing", "8-bit")):
        title = f"cell {cell}, overlap {overlap}, {m} angles{suffix}"
        method = METHODS["rcdt"].changed(title, smoothing=smoothing, cell=cell, overlap=overlap, n_angles=m)
        yield Experiment("yale", "parameters", method, [YALE_DARKEST], "authors", published={4: figure})


def _enlarged(method: Method) -> Iterator[Experiment]:
    for adding, figure in CAS_PEAL_ENLARGED.items():
        protocol = restricted(cas_peal_test(adding), [3])
        shown = {3: figure} if method.name == "rcdt" else {}
        yield Experiment("cas-peal", "enlarged", method, [protocol], protocol.gallery, published=shown)
