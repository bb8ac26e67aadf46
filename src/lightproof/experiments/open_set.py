"""Half of the people are enrolled, the other half strangers: TPIR, FPIR, and the error rate of pairs.

``found`` is the TPIR (true-positive identification rate), ``far`` the FPIR (false-positive identification rate).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice, product
from operator import call
from typing import Any, Final, NamedTuple

import numpy as np

from lightproof.core.executors import ProcessExecutor, Task
from lightproof.core.progress import Progress, silent
from lightproof.core.report_parts import TextTable
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import has_even_number, has_odd_number
from lightproof.errors import BadLabels
from lightproof.experiments.plan import YALE_EVERY_LIGHT
from lightproof.gallery.calibrate import calibrated, relit_copies
from lightproof.gallery.decision import Calibration
from lightproof.matching.calibration import ImpostorModel, normalized_scores
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import Matcher, matcher_for, preset_settings
from lightproof.matching.scores import Scores, stack_probes
from lightproof.matching.templates import Template, TemplateSet
from lightproof.metrics import equal_error_rate, open_set, share_by_person
from lightproof.types import Array, Floats, Ints

N_SPLITS: Final = 5  # of the people into enrolled ones and strangers
FARS: Final = (0.01, 0.001)
SEED: Final = 0
SUBSETS: Final = (1, 2, 3, 4)
PROBES_PER_BLOCK: Final = 128

MatcherOf = Callable[[str], Matcher]  # makes the matcher of a preset


@dataclass(frozen=True, kw_only=True)
class OpenSetRow:
    """One figure. The names of the fields are the keys of the JSON file and stay as they are.

    ``test`` is "open set" (one threshold for all galleries, which accepts the share ``far`` of the strangers),
    "calibrated" (each gallery's own threshold, from its own people and relit copies of their photos), "uncalibrated"
    (the default threshold), or "verify" (pairs of one enrolled photo and one other). All figures are percent:
    ``found``, with the interval ``low`` to ``high`` by person, is the share of the enrolled people's photos that are
    accepted and rightly named, ``accepted`` that of the strangers' photos. ``each`` is ``found`` with an own threshold
    for every gallery. ``n`` and ``strangers`` are numbers of comparisons.
    """

    dataset: str
    test: str
    preset: str
    people: str
    subset: int | str
    far: float | None = None
    found: float | None = None
    low: float | None = None
    high: float | None = None
    accepted: float | None = None
    each: float | None = None
    rank1: float | None = None
    eer: float | None = None
    n: int
    strangers: int
    galleries: int

    def as_dict(self) -> dict[str, Any]:
        """Return the row for a JSON file."""
        return asdict(self)


class _SubsetProbes(NamedTuple):
    """Positions of the probes in the set, their subsets, and whether a face was found in each."""

    positions: Ints
    subsets: Ints
    found: Array


class _EnrolledLight(NamedTuple):
    """The photos that are enrolled under one light, and their templates."""

    photos: list[Array]
    templates: TemplateSet


class _LightScores(NamedTuple):
    """Scores against everybody enrolled under one light, and the agreement of the lights of the enrolled photos.

    Of each person's photo and its relit copies, ``own`` and ``own_cohort`` have the shape (C, copies, C or cohort).
    """

    probes: Scores
    own: Floats
    own_cohort: Floats
    agreement: float


class _Data(NamedTuple):
    """What is computed once for a preset; ``truth`` is the number of the person on each probe."""

    people: Array
    truth: Ints
    probes: _SubsetProbes
    lights: list[_LightScores]


class _Trial(NamedTuple):
    """One split under one light: the best match of each probe, whether it is right, and the impostors' models."""

    best: Floats
    right: Array
    enrolled: Array
    impostors: dict[str, ImpostorModel]


def matcher_of_preset(preset: str) -> Matcher:
    """Return the matcher of the galleries of a preset."""
    return matcher_for(preset_settings(preset))


def run_open_set(
    faces: FaceSet,
    presets: Sequence[str],
    jobs: int = 1,
    progress: Progress = silent,
    picks: Sequence[int] = range(len(YALE_EVERY_LIGHT)),
    matcher_of: MatcherOf = matcher_of_preset,
) -> list[OpenSetRow]:
    """Run the protocol: five splits of the people in halves, one photo each enrolled, under each of eleven lights.

    ``faces`` must have the lights of Extended Yale B; ``jobs`` is the number of processes, -1 one for each core;
    ``picks`` chooses among the eleven photos that can be enrolled; ``matcher_of`` may make matchers that galleries do
    not use.
    """
    people, truth = np.unique(faces.labels, return_inverse=True)
    if len(people) < 4:
        raise BadLabels("The data set", "of 4 or more people, so that there are strangers", "fewer")
    probes = _probes(faces)
    positions = probes.positions[probes.found]
    # Without any face there is one empty block, which the matcher refuses.
    starts = range(0, max(len(positions), 1), PROBES_PER_BLOCK)
    blocks = [positions[start : start + PROBES_PER_BLOCK] for start in starts]
    pieces = (piece for preset in presets for piece in _pieces(faces, blocks, preset, picks, matcher_of))
    total = len(presets) * (len(blocks) + len(picks))
    # Read to the end first, so that the bar is full and the processes end.
    results = iter(list(progress(ProcessExecutor(jobs).map(Task(call), pieces, total), total)))
    rows: list[OpenSetRow] = []
    for preset in presets:
        scores = stack_probes(list(islice(results, len(blocks))))
        lights = _by_light(scores, probes.found, list(islice(results, len(picks))))
        data = _Data(people, truth[probes.positions], probes, lights)
        rows += _rows(faces.name, preset, "all", data, range(len(people)))
        if faces.name == "yale":
            for name, chosen in (("even", has_even_number), ("odd", has_odd_number)):
                members = [i for i, person in enumerate(people) if chosen(str(person))]
                rows += _rows(faces.name, preset, name, data, members)
    return rows


def _probes(faces: FaceSet) -> _SubsetProbes:
    by_subset = YALE_EVERY_LIGHT[0].split(faces).probes
    positions = np.concatenate([by_subset[subset] for subset in SUBSETS])
    subsets = np.repeat(SUBSETS, [len(by_subset[subset]) for subset in SUBSETS])
    return _SubsetProbes(positions, subsets, faces.found[positions])


def _pieces(
    faces: FaceSet, blocks: Sequence[Ints], preset: str, picks: Sequence[int], matcher_of: MatcherOf
) -> Iterator[Callable[[], Any]]:
    """Yield the comparisons of each block of probes with all lights, then those of the photos enrolled in each."""
    lights = [_enroll(matcher_of(preset), faces, pick) for pick in picks]
    # A person's score depends on nobody else, so the people of all lights can be compared at once.
    templates: dict[Hashable, Template] = {
        (pick, name): template
        for pick, light in zip(picks, lights, strict=True)
        for name, template in light.templates.templates.items()
    }
    everybody = matcher_of(preset).template_set(templates)
    for block in blocks:
        yield partial(_compare_probes, faces.images[block], everybody, preset, matcher_of)
    for pick, light in zip(picks, lights, strict=True):
        yield partial(_compare_enrolled, light, pick, preset, matcher_of)


def _enroll(matcher: Matcher, faces: FaceSet, pick: int) -> _EnrolledLight:
    gallery = YALE_EVERY_LIGHT[pick].split(faces).gallery
    gallery = gallery[np.argsort(faces.labels[gallery], kind="stable")]
    # Without a face in the photo, the person's first one with a face is enrolled.
    usable = [
        i if faces.found[i] else np.flatnonzero((faces.labels == faces.labels[i]) & faces.found)[0] for i in gallery
    ]
    photos, names = [faces.images[i] for i in usable], map(str, faces.labels[gallery])
    return _EnrolledLight(photos, matcher.template_set(dict(zip(names, matcher.templates(photos), strict=True))))


def _compare_probes(images: Array, people: TemplateSet, preset: str, matcher_of: MatcherOf) -> Scores:
    return matcher_of(preset).compare(images, people)


def _compare_enrolled(light: _EnrolledLight, pick: int, preset: str, matcher_of: MatcherOf) -> tuple[Scores, float]:
    """Compare the enrolled photos and their relit copies; return the agreement of the photos' lights, too."""
    rng = np.random.default_rng(pick)
    copies = [[photo, *relit_copies(photo, rng)] for photo in light.photos]
    flat = [copy if copy.min() < copy.max() else of_person[0] for of_person in copies for copy in of_person]
    return matcher_of(preset).compare(flat, light.templates), mutual_agreement(light.templates)


def _by_light(scores: Scores, found: Array, enrolled: Sequence[tuple[Scores, float]]) -> list[_LightScores]:
    """Part the scores of the probes by light; a probe without a face scores 0."""
    people, cohort = (np.zeros((len(found), part.shape[1]), part.dtype) for part in (scores.people, scores.cohort))
    people[found], cohort[found] = scores.people, scores.cohort
    lights = []
    for part, (own, agreement) in zip(np.split(people, len(enrolled), axis=1), enrolled, strict=True):
        shape = (part.shape[1], len(own.people) // part.shape[1], -1)
        own_people, own_cohort = own.people.reshape(shape), own.cohort.reshape(shape)
        lights.append(_LightScores(Scores(part, cohort), own_people, own_cohort, agreement))
    return lights


def _trials(data: _Data, members: Sequence[int]) -> Iterator[_Trial]:
    """Yield a trial for each split of the members and each light."""
    chosen, rng = np.isin(data.truth, members), np.random.default_rng(SEED)
    truth, found = data.truth[chosen], data.probes.found[chosen]
    for _ in range(N_SPLITS):
        enrolled = np.sort(rng.permutation(np.asarray(members))[: len(members) // 2])
        for light in data.lights:
            scores = normalized_scores(Scores(light.probes.people[chosen][:, enrolled], light.probes.cohort[chosen]))
            best = np.where(found, scores.max(axis=1), -1e3)
            right = (enrolled[scores.argmax(axis=1)] == truth) & found
            yield _Trial(best, right, np.isin(truth, enrolled), _impostors(light, enrolled))


def _impostors(light: _LightScores, enrolled: Ints) -> dict[str, ImpostorModel]:
    """Return the model of a gallery's impostors by test: the default one, and that from its own people."""
    n, best = len(enrolled), []
    for person in enrolled:
        others = enrolled[enrolled != person]
        best.append(normalized_scores(Scores(light.own[person][:, others], light.own_cohort[person])).max(axis=1))
    own = calibrated(best, FARS[0], n - 1, light.agreement)
    tests = {"calibrated": own, "uncalibrated": Calibration(FARS[0])}
    return {test: calibration.impostor_model(n, light.agreement) for test, calibration in tests.items()}


def _rows(dataset: str, preset: str, group: str, data: _Data, members: Sequence[int]) -> Iterator[OpenSetRow]:
    chosen = np.isin(data.truth, members)
    trials = list(_trials(data, members))
    best, right, enrolled = (np.stack(parts) for parts in list(zip(*trials, strict=True))[:3])
    truth = np.broadcast_to(data.truth[chosen], enrolled.shape)
    subsets = _subset_masks(data.probes.subsets[chosen])
    shown = preset if group == "all" else f"{preset}, {group} numbers"
    common: dict[str, Any] = {"dataset": dataset, "preset": shown, "people": group, "galleries": len(trials)}
    for far, test in product(FARS, ("open set", "calibrated", "uncalibrated")):
        if test == "open set":
            each = [open_set(b[e], r[e], b[~e], far).found for b, r, e in zip(best, right, enrolled, strict=True)]
            thresholds = [open_set(best[enrolled], right[enrolled], best[~enrolled], far).threshold]
        else:
            thresholds = [trial.impostors[test].lead_at(far) for trial in trials]
        accepted = best > np.array(thresholds)[:, None]
        for subset, inside in subsets.items():
            mates, strangers = enrolled & inside, ~enrolled & inside
            if not (mates.any() and strangers.any()):
                continue
            hit = (accepted & right)[mates]
            low, high = share_by_person(hit, truth[mates])
            yield OpenSetRow(
                test=test, subset=subset, far=far, found=100 * float(hit.mean()), low=100 * low, high=100 * high,
                accepted=100 * float(accepted[strangers].mean()),
                each=100 * float(np.mean(each)) if subset == "all" and test == "open set" else None,
                rank1=100 * float(right[mates].mean()), n=int(mates.sum()), strangers=int(strangers.sum()), **common,
            )  # fmt: skip
    yield from _pair_rows(data, members, common)


def _pair_rows(data: _Data, members: Sequence[int], common: dict[str, Any]) -> Iterator[OpenSetRow]:
    """Yield the rows of ``verify``: all pairs of an enrolled photo and a probe, each compared alone."""
    chosen = np.isin(data.truth, members) & data.probes.found
    by_light = []
    for light in data.lights:
        people, cohort = light.probes.people[chosen], light.probes.cohort[chosen]
        by_light.append(np.stack([normalized_scores(Scores(people[:, [i]], cohort))[:, 0] for i in members], 1))
    scores = np.stack(by_light)
    same = np.broadcast_to(data.truth[chosen][:, None] == np.asarray(members), scores.shape)
    for subset, mask in _subset_masks(data.probes.subsets[chosen]).items():
        inside = np.broadcast_to(mask[:, None], scores.shape)
        mated, non_mated = inside & same, inside & ~same
        if mated.any() and non_mated.any():
            eer = 100 * equal_error_rate(scores[mated], scores[non_mated])
            n, strangers = int(mated.sum()), int(non_mated.sum())
            yield OpenSetRow(test="verify", subset=subset, eer=eer, n=n, strangers=strangers, **common)


def _subset_masks(subsets: Ints) -> dict[int | str, Array]:
    return {**{subset: subsets == subset for subset in SUBSETS}, "all": np.ones(len(subsets), bool)}


def open_set_tables(rows: Sequence[OpenSetRow]) -> list[TextTable]:
    """Lay out the rows for people."""
    return [_found_table(rows), _verify_table(rows)]


def _found_table(rows: Sequence[OpenSetRow]) -> TextTable:
    lines = []
    tested = [row for row in rows if row.far is not None]
    keys = dict.fromkeys((row.preset, row.test, row.far) for row in tested)
    for preset, test, far in keys:
        by = {row.subset: row for row in tested if (row.preset, row.test, row.far) == (preset, test, far)}
        whole = by["all"]
        cells = [f"{by[subset].found:.1f}" if subset in by else "" for subset in SUBSETS]
        interval = f"{whole.found:.2f} ({whole.low:.1f}-{whole.high:.1f})"
        lines.append([preset, test, f"{100 * (far or 0):g}", *cells, interval, f"{whole.accepted:.2f}"])
    return TextTable(
        "Open set: found and named, % of the enrolled people's photos",
        ["preset", "threshold", "strangers asked, %", *(f"subset {s}" for s in SUBSETS), "all", "strangers let in, %"],
        lines,
        "Half of the people enrolled with one photo, the others strangers; 5 draws, 11 lights of the enrolled photo. "
        "'open set' is the threshold that lets in just that many of these strangers, the same for all galleries; "
        "'calibrated' is what each gallery finds out from its own people and relit copies; 95 % intervals by person.",
    )


def _verify_table(rows: Sequence[OpenSetRow]) -> TextTable:
    lines = []
    for preset in dict.fromkeys(row.preset for row in rows):
        by = {row.subset: row for row in rows if row.preset == preset and row.test == "verify"}
        lines.append([preset, *(f"{by[s].eer:.2f}" if s in by else "" for s in (*SUBSETS, "all"))])
    return TextTable(
        "Verify: equal error rate, %, all pairs of an enrolled photo and a probe",
        ["preset", *(f"subset {s}" for s in SUBSETS), "all"],
        lines,
        "Two photos compared alone, with nobody enrolled.",
    )
