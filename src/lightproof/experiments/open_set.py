"""Half of the people are enrolled, the other half strangers: TPIR, FPIR, and the error rate of pairs.

``found`` is the TPIR (true-positive identification rate), ``far`` the FPIR (false-positive identification rate).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
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
from lightproof.datasets.protocols import Protocol, halves_of, has_even_number, has_odd_number
from lightproof.errors import BadLabels
from lightproof.experiments import PHOTO_SETS, subset_title
from lightproof.experiments.measure import take_aligned
from lightproof.experiments.plan import YALE_EVERY_LIGHT
from lightproof.gallery.calibrate import calibrated, relit_copies, shows_something
from lightproof.gallery.decision import Calibration
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import ImpostorModel, normalized_scores
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import Matcher, matcher_for, preset_settings
from lightproof.matching.scores import Scores, stack_probes
from lightproof.matching.templates import Template, TemplateSet
from lightproof.metrics import equal_error_rate, open_set, share_by_person
from lightproof.types import Array, Floats, Ints

N_SPLITS: Final = 5  # of the people into enrolled ones and strangers
N_PHOTO_SPLITS: Final = 20  # the same where there is a single photo to enroll
FARS: Final = (0.01, 0.001)
SEED: Final = 0
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
    """Positions of the probes in the set, their subsets, and whether a face was found in each that is not enrolled."""

    positions: Ints
    subsets: Ints
    found: Array


class _EnrolledLight(NamedTuple):
    """The photos that are enrolled under one light, and their templates."""

    photos: list[AlignedFace]
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
    protocols: Sequence[Protocol] = YALE_EVERY_LIGHT,
    draws: int = N_SPLITS,
) -> list[OpenSetRow]:
    """Run the protocol: five splits of the people in halves, one photo each enrolled, under each of eleven lights.

    ``faces`` must have the lights of Extended Yale B if no other ``protocols`` are given; these differ in the enrolled
    photos alone, the first one chooses the probes. A face of every person must be found. ``jobs`` is the number of
    processes, -1 one for each core; ``picks`` chooses among the protocols; ``matcher_of`` may make matchers that
    galleries do not use; ``draws`` is the number of splits.
    """
    people, truth = np.unique(faces.labels, return_inverse=True)
    if len(people) < 4:
        raise BadLabels("The data set", "of 4 or more people, so that there are strangers", "fewer")
    enrolled = {pick: _enrolled_photos(faces, protocols[pick]) for pick in picks}
    probes = _probes(faces, protocols[0], enrolled)
    positions = probes.positions[probes.found]
    # Without any face there is one empty block, which the matcher refuses.
    starts = range(0, max(len(positions), 1), PROBES_PER_BLOCK)
    blocks = [positions[start : start + PROBES_PER_BLOCK] for start in starts]
    aligned = list(take_aligned(faces, "full"))
    pieces = (piece for preset in presets for piece in _pieces(faces, aligned, blocks, preset, enrolled, matcher_of))
    total = len(presets) * (len(blocks) + len(picks))
    # Read to the end first, so that the bar is full and the processes end.
    results = iter(list(progress(ProcessExecutor(jobs).map(Task(call), pieces, total), total)))
    rows: list[OpenSetRow] = []
    for preset in presets:
        scores = stack_probes(list(islice(results, len(blocks))))
        lights = _by_light(scores, probes.found, list(islice(results, len(picks))))
        data = _Data(people, truth[probes.positions], probes, lights)
        for group, members in _groups(faces, people).items():
            rows += _rows(faces.name, preset, group, data, members, draws)
    return rows


def _groups(faces: FaceSet, people: Array) -> dict[str, Sequence[int]]:
    """Return everybody, and the halves of the people on which settings were chosen and not, by number."""
    halves: dict[str, Callable[[str], bool]] = {half: who.__contains__ for half, who in halves_of(faces).items()}
    if faces.name == "yale":
        halves = {"even": has_even_number, "odd": has_odd_number}
    chosen = {half: [i for i, person in enumerate(people) if is_in(str(person))] for half, is_in in halves.items()}
    return {"all": range(len(people)), **chosen}


def _enrolled_photos(faces: FaceSet, protocol: Protocol) -> Ints:
    """Return the position of everybody's enrolled photo; without a face in it, of the first one with a face."""
    gallery = protocol.split(faces).gallery
    gallery = gallery[np.argsort(faces.labels[gallery], kind="stable")]
    firsts = {label: i for i, label in reversed(list(enumerate(faces.labels.tolist()))) if faces.found[i]}
    return np.array([i if faces.found[i] else firsts[faces.labels[i]] for i in gallery], dtype=np.intp)


def _probes(faces: FaceSet, protocol: Protocol, enrolled: Mapping[int, Ints]) -> _SubsetProbes:
    by_subset = protocol.split(faces).probes
    positions = np.concatenate(list(by_subset.values()))
    subsets = np.repeat(list(by_subset), [len(photos) for photos in by_subset.values()])
    # A probe that is enrolled in place of a photo without a face would be compared with itself.
    compared = faces.found[positions] & ~np.isin(positions, np.concatenate(list(enrolled.values())))
    return _SubsetProbes(positions, subsets, compared)


def _pieces(
    faces: FaceSet,
    aligned: Sequence[AlignedFace],
    blocks: Sequence[Ints],
    preset: str,
    enrolled: Mapping[int, Ints],
    matcher_of: MatcherOf,
) -> Iterator[Callable[[], Any]]:
    """Yield the comparisons of each block of probes with all lights, then those of the photos enrolled in each."""
    lights = {pick: _enroll(matcher_of(preset), faces, aligned, positions) for pick, positions in enrolled.items()}
    # A person's score depends on nobody else, so the people of all lights can be compared at once.
    templates: dict[Hashable, Template] = {
        (pick, name): template for pick, light in lights.items() for name, template in light.templates.templates.items()
    }
    everybody = matcher_of(preset).template_set(templates)
    for block in blocks:
        yield partial(_compare_probes, [aligned[i] for i in block], everybody, preset, matcher_of)
    for pick, light in lights.items():
        yield partial(_compare_enrolled, light, pick, preset, matcher_of)


def _enroll(matcher: Matcher, faces: FaceSet, aligned: Sequence[AlignedFace], positions: Ints) -> _EnrolledLight:
    photos, names = [aligned[i] for i in positions], map(str, faces.labels[positions])
    return _EnrolledLight(photos, matcher.template_set(dict(zip(names, matcher.templates(photos), strict=True))))


def _compare_probes(faces: Sequence[AlignedFace], people: TemplateSet, preset: str, matcher_of: MatcherOf) -> Scores:
    return matcher_of(preset).compare(faces, people)


def _compare_enrolled(light: _EnrolledLight, pick: int, preset: str, matcher_of: MatcherOf) -> tuple[Scores, float]:
    """Compare the enrolled photos and their relit copies; return the agreement of the photos' lights, too."""
    rng = np.random.default_rng(pick)
    copies = [[photo, *relit_copies(photo, rng)] for photo in light.photos]
    flat = [copy if shows_something(copy) else of_person[0] for of_person in copies for copy in of_person]
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


def _trials(data: _Data, members: Sequence[int], draws: int) -> Iterator[_Trial]:
    """Yield a trial for each split of the members and each light."""
    chosen, rng = np.isin(data.truth, members), np.random.default_rng(SEED)
    truth, found = data.truth[chosen], data.probes.found[chosen]
    for _ in range(draws):
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


def _rows(
    dataset: str, preset: str, group: str, data: _Data, members: Sequence[int], draws: int
) -> Iterator[OpenSetRow]:
    chosen = np.isin(data.truth, members)
    trials = list(_trials(data, members, draws))
    best, right, enrolled = (np.stack(parts) for parts in list(zip(*trials, strict=True))[:3])
    truth = np.broadcast_to(data.truth[chosen], enrolled.shape)
    subsets = _subset_masks(data.probes.subsets[chosen])
    half = f"people {group}" if dataset in PHOTO_SETS else f"{group} numbers"
    shown = preset if group == "all" else f"{preset}, {half}"
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
    return {**{k: subsets == k for k in np.unique(subsets).tolist()}, "all": np.ones(len(subsets), bool)}


def open_set_tables(rows: Sequence[OpenSetRow]) -> list[TextTable]:
    """Lay out the rows for people."""
    return [_found_table(rows), _verify_table(rows)]


def _found_table(rows: Sequence[OpenSetRow]) -> TextTable:
    lines, subsets = [], _subsets(rows)
    tested = [row for row in rows if row.far is not None]
    keys = dict.fromkeys((row.preset, row.test, row.far) for row in tested)
    for preset, test, far in keys:
        by = {row.subset: row for row in tested if (row.preset, row.test, row.far) == (preset, test, far)}
        whole = by["all"]
        cells = [f"{by[subset].found:.1f}" if subset in by else "" for subset in subsets]
        interval = f"{whole.found:.2f} ({whole.low:.1f}-{whole.high:.1f})"
        lines.append([preset, test, f"{100 * (far or 0):g}", *cells, interval, f"{whole.accepted:.2f}"])
    return TextTable(
        "Open set: found and named, % of the enrolled people's photos",
        ["preset", "threshold", "strangers asked, %", *subsets.values(), "all", "strangers let in, %"],
        lines,
        f"Half of the people enrolled with one photo, the others strangers; {_draws(rows)}. "
        "'open set' is the threshold that lets in just that many of these strangers, the same for all galleries; "
        "'calibrated' is what each gallery finds out from its own people and relit copies; 95 % intervals by person.",
    )


def _verify_table(rows: Sequence[OpenSetRow]) -> TextTable:
    lines, subsets = [], _subsets(rows)
    for preset in dict.fromkeys(row.preset for row in rows):
        by = {row.subset: row for row in rows if row.preset == preset and row.test == "verify"}
        lines.append([preset, *(f"{by[s].eer:.2f}" if s in by else "" for s in (*subsets, "all"))])
    return TextTable(
        "Verify: equal error rate, %, all pairs of an enrolled photo and a probe",
        ["preset", *subsets.values(), "all"],
        lines,
        "Two photos compared alone, with nobody enrolled.",
    )


def _subsets(rows: Sequence[OpenSetRow]) -> dict[int | str, str]:
    """Return the titles of the subsets, in order."""
    return {row.subset: subset_title(row.dataset, row.subset) for row in rows if row.subset != "all"}


def _draws(rows: Sequence[OpenSetRow]) -> str:
    if rows[0].dataset in PHOTO_SETS:
        return f"{rows[0].galleries} draws"
    return "5 draws, 11 lights of the enrolled photo"
