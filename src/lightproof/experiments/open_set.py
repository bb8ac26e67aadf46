"""Half of the people enrolled, the other half strangers: who is found, and who is let in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
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

DRAWS: Final = 5
FARS: Final = (0.01, 0.001)
SEED: Final = 0

SUBSETS: Final = (1, 2, 3, 4)

TOGETHER: Final = 128
"""Probes that are compared in one go."""


@dataclass(frozen=True)
class OpenSetRow:
    """One figure. The names of the fields are the keys of the JSON file and stay as they are.

    ``test`` is "open set" (one threshold for all galleries, that lets in just the share ``far`` of the strangers),
    "calibrated" (each gallery's own threshold, from its own people and relit copies of their photos), "uncalibrated"
    (the usual threshold), or "verify" (pairs of one enrolled photo and one other). ``found``, ``low``, ``high``,
    ``accepted``, ``eer`` and ``rank1`` are percent: of the enrolled people's photos, those that were accepted and
    rightly named, with an interval by person; of the strangers' photos, those that were accepted. ``each`` is ``found``
    with a
    threshold of its own for every gallery. ``n`` and ``strangers`` are numbers of comparisons.
    """

    dataset: str
    test: str
    preset: str
    people: str
    subset: int | str
    far: float | None
    found: float | None
    low: float | None
    high: float | None
    accepted: float | None
    each: float | None
    rank1: float | None
    eer: float | None
    n: int
    strangers: int
    galleries: int

    def as_dict(self) -> dict[str, Any]:
        """Return the row for a JSON file."""
        return asdict(self)


class _Gallery(NamedTuple):
    """One light of the enrolled photos: evidence of all probes, and of the enrolled photos themselves, for everybody.

    ``own`` holds, for each person, their photo and its relit copies, as evidence for everybody: (C, copies, C).
    ``alike`` says how far the lights of the enrolled photos agree.
    """

    probes: Scores
    own: Floats
    own_cohort: Floats
    alike: float


class _Light(NamedTuple):
    """The photos that are enrolled in one light, and who is on them."""

    photos: list[Array]
    people: TemplateSet


class _Data(NamedTuple):
    """Everything that is measured once: ``truth`` is the number of the person on each probe."""

    people: Array
    truth: Ints
    subsets: Ints
    found: Array
    galleries: list[_Gallery]


class _Trial(NamedTuple):
    """One draw in one gallery: the lead of the best match of each probe, whose it is, and what strangers do there."""

    best: Floats
    right: Array
    known: Array
    thresholds: dict[str, ImpostorModel]


def matcher_of_preset(preset: str) -> Matcher:
    """Return what the galleries of a preset compare with."""
    return matcher_for(preset_settings(preset))


def run_open_set(
    faces: FaceSet,
    presets: Sequence[str],
    jobs: int = 1,
    progress: Progress = silent,
    picks: Sequence[int] = range(len(YALE_EVERY_LIGHT)),
    matcher_named: Callable[[str], Matcher] = matcher_of_preset,
) -> list[OpenSetRow]:
    """Run the protocol: five draws of half of the people, one photo each, in each of eleven lights.

    Parameters
    ----------
    faces : FaceSet
        With the lights of Extended Yale B.
    presets : sequence of str
    jobs : int
        Processes; -1 is one for each core.
    progress : callable
        Shows how far it is.
    picks : sequence of int
        Which of the eleven photos that can be enrolled.
    matcher_named : callable
        Makes the matcher of a preset; whoever compares others than those of galleries gives another.

    Returns
    -------
    list of OpenSetRow
    """
    if len(np.unique(faces.labels)) < 4:
        raise BadLabels("The data set", "of 4 or more people, so that there are strangers", "fewer")
    rows: list[OpenSetRow] = []
    pieces = len(presets) * (len(_blocks(faces)) + len(picks))
    # To the end before anything is made of it: a bar is full then, and processes are done.
    done = iter(list(progress(_stream(faces, presets, picks, matcher_named, jobs, pieces), pieces)))
    for preset in presets:
        data = _data(faces, _galleries(faces, picks, done))
        rows += _rows(faces.name, preset, "all", data, range(len(data.people)))
        if faces.name == "yale":
            for name, chosen in (("even", has_even_number), ("odd", has_odd_number)):
                some = [i for i, person in enumerate(data.people) if chosen(str(person))]
                rows += _rows(faces.name, preset, name, data, some)
    return rows


def _probes(faces: FaceSet) -> dict[int, Array]:
    return dict(YALE_EVERY_LIGHT[0].split(faces).probes)


def _places(faces: FaceSet) -> Ints:
    return np.concatenate([_probes(faces)[subset] for subset in SUBSETS])


def _blocks(faces: FaceSet) -> list[Ints]:
    """The probes whose faces were found, some at a time."""
    there = _places(faces)[faces.found[_places(faces)]]
    # None at all is one block of nothing, which is refused in a sentence.
    return [there[start : start + TOGETHER] for start in range(0, max(len(there), 1), TOGETHER)]


def _stream(
    faces: FaceSet,
    presets: Sequence[str],
    picks: Sequence[int],
    matcher_named: Callable[[str], Matcher],
    jobs: int,
    total: int,
) -> Iterator[Any]:
    """Yield for each preset what each block of probes says for everybody in every light, then what each light has."""
    pieces = (piece for preset in presets for piece in _pieces(faces, preset, picks, matcher_named))
    return ProcessExecutor(jobs).map(Task(_done), pieces, total)


def _done(piece: Callable[[], Any]) -> Any:
    return piece()


def _pieces(
    faces: FaceSet, preset: str, picks: Sequence[int], matcher_named: Callable[[str], Matcher]
) -> Iterator[Callable[[], Any]]:
    lights = [_enrolled(matcher_named(preset), faces, pick) for pick in picks]
    # What is said for a person depends on nobody else, so a probe is taken apart once for all lights.
    everybody: dict[Hashable, Template] = {
        (pick, name): template
        for pick, light in zip(picks, lights, strict=True)
        for name, template in light.people.templates.items()
    }
    people = matcher_named(preset).template_set(everybody)
    for block in _blocks(faces):
        yield partial(_said, faces.images[block], people, preset, matcher_named)
    for pick, light in zip(picks, lights, strict=True):
        yield partial(_own, light, pick, preset, matcher_named)


def _enrolled(matcher: Matcher, faces: FaceSet, pick: int) -> _Light:
    gallery = YALE_EVERY_LIGHT[pick].split(faces).gallery
    gallery = gallery[np.argsort(faces.labels[gallery], kind="stable")]
    photos = [faces.images[i] if faces.found[i] else _any_face(faces, i) for i in gallery]
    names = map(str, faces.labels[gallery])
    return _Light(photos, matcher.template_set(dict(zip(names, matcher.templates(photos), strict=True))))


def _said(images: Array, people: TemplateSet, preset: str, matcher_named: Callable[[str], Matcher]) -> Scores:
    return matcher_named(preset).compare(images, people)


def _own(light: _Light, pick: int, preset: str, matcher_named: Callable[[str], Matcher]) -> tuple[Scores, float]:
    """What the enrolled photos and their relit copies say, and how far the lights of the photos agree."""
    rng = np.random.default_rng(pick)
    own = [[photo, *relit_copies(photo, rng)] for photo in light.photos]
    flat = [copy if copy.min() < copy.max() else photo[0] for photo in own for copy in photo]
    return matcher_named(preset).compare(flat, light.people), mutual_agreement(light.people)


def _galleries(faces: FaceSet, picks: Sequence[int], done: Iterator[Any]) -> list[_Gallery]:
    """Put together what was found for one preset; a face that was not found says nothing, and is never accepted."""
    there = faces.found[_places(faces)]
    said = stack_probes(list(islice(done, len(_blocks(faces)))))
    known, made_up = (np.zeros((len(there), part.shape[1]), part.dtype) for part in (said.people, said.cohort))
    known[there], made_up[there] = said.people, said.cohort
    of_lights = np.split(known, len(picks), axis=1)
    found = zip(of_lights, islice(done, len(picks)), strict=True)
    return [_gallery(Scores(probes, made_up), own, alike) for probes, (own, alike) in found]


def _gallery(probes: Scores, own: Scores, alike: float) -> _Gallery:
    shape = (probes.people.shape[1], len(own.people) // probes.people.shape[1], -1)
    return _Gallery(probes, own.people.reshape(shape), own.cohort.reshape(shape), alike)


def _any_face(faces: FaceSet, i: int) -> Array:
    """Another enrolled photo of a person whose face was not found in this one."""
    same = np.flatnonzero((faces.labels == faces.labels[i]) & faces.found)
    return np.asarray(faces.images[same[0]])


def _data(faces: FaceSet, galleries: list[_Gallery]) -> _Data:
    probes, places = _probes(faces), _places(faces)
    people, truth = np.unique(faces.labels, return_inverse=True)
    subsets = np.concatenate([np.full(len(probes[subset]), subset) for subset in SUBSETS])
    return _Data(people, truth[places], subsets, faces.found[places], galleries)


def _draws(some: Sequence[int]) -> Iterator[Ints]:
    rng = np.random.default_rng(SEED)
    for _ in range(DRAWS):
        yield np.sort(rng.permutation(np.asarray(some))[: len(some) // 2])


def _trials(data: _Data, some: Sequence[int]) -> Iterator[_Trial]:
    asked = np.isin(data.truth, some)
    for enrolled in _draws(some):
        for gallery in data.galleries:
            ahead = normalized_scores(Scores(gallery.probes.people[asked][:, enrolled], gallery.probes.cohort[asked]))
            place = ahead.argmax(axis=1)
            best = np.where(data.found[asked], ahead.max(axis=1), -1e3)
            right = (enrolled[place] == data.truth[asked]) & data.found[asked]
            yield _Trial(best, right, np.isin(data.truth[asked], enrolled), _thresholds(gallery, enrolled))


def _thresholds(gallery: _Gallery, enrolled: Ints) -> dict[str, ImpostorModel]:
    """How well strangers do, without calibration, and as the gallery finds out from its own people."""
    n = len(enrolled)
    best = []
    for person in enrolled:
        others = enrolled[enrolled != person]
        evidence = Scores(gallery.own[person][:, others], gallery.own_cohort[person])
        best.append(normalized_scores(evidence).max(axis=1))
    found = calibrated(best, FARS[0], n - 1, gallery.alike)
    known = {"uncalibrated": Calibration(FARS[0]), "calibrated": found}
    return {test: each.impostor_model(n, gallery.alike) for test, each in known.items()}


def _rows(dataset: str, preset: str, name: str, data: _Data, some: Sequence[int]) -> Iterator[OpenSetRow]:
    asked = np.isin(data.truth, some)
    truth, subsets = data.truth[asked], data.subsets[asked]
    trials = list(_trials(data, some))
    shown = preset if name == "all" else f"{preset}, {name} numbers"
    best = np.stack([trial.best for trial in trials])
    right = np.stack([trial.right for trial in trials])
    known = np.stack([trial.known for trial in trials])
    common: dict[str, Any] = {"dataset": dataset, "preset": shown, "people": name, "galleries": len(trials)}
    of_known = np.broadcast_to(truth, known.shape)
    for far in FARS:
        threshold = open_set(best[known], right[known], best[~known], far).threshold
        bars = {"open set": np.full(len(trials), threshold)}
        for test in ("calibrated", "uncalibrated"):
            bars[test] = np.array([trial.thresholds[test].lead_at(far) for trial in trials])
        each = _each(best, right, known, far)
        for test, bar in bars.items():
            accepted = best > bar[:, None]
            for subset in (*SUBSETS, "all"):
                there = known & ((subsets == subset) | (subset == "all"))
                strange = ~known & ((subsets == subset) | (subset == "all"))
                if not (there.any() and strange.any()):
                    continue
                hit = accepted & right
                low, high = share_by_person(hit[there], of_known[there])
                yield OpenSetRow(
                    test=test, subset=subset, far=far, found=100 * float(hit[there].mean()), low=100 * low,
                    high=100 * high, accepted=100 * float(accepted[strange].mean()),
                    each=each if subset == "all" and test == "open set" else None,
                    rank1=100 * float(right[there].mean()), eer=None, n=int(there.sum()),
                    strangers=int(strange.sum()), **common,
                )  # fmt: skip
    yield from _pairs(data, some, common)


def _each(best: Floats, right: Array, known: Array, far: float) -> float:
    """Share found with a threshold of its own for every gallery, in percent."""
    trials = zip(best, right, known, strict=True)
    return 100 * float(np.mean([open_set(b[k], r[k], b[~k], far).found for b, r, k in trials]))


def _pairs(data: _Data, some: Sequence[int], common: dict[str, Any]) -> Iterator[OpenSetRow]:
    """All pairs of an enrolled photo and a probe, each compared alone: what ``verify`` of two photos does."""
    asked = np.isin(data.truth, some) & data.found
    scores = []
    for gallery in data.galleries:
        cohort = gallery.probes.cohort[asked]
        scores.append(
            np.stack([normalized_scores(Scores(gallery.probes.people[asked][:, [i]], cohort))[:, 0] for i in some], 1)
        )
    ahead = np.stack(scores)
    same = np.broadcast_to(data.truth[asked][:, None] == np.asarray(some), ahead.shape)
    for subset in (*SUBSETS, "all"):
        there = np.broadcast_to(((data.subsets[asked] == subset) | (subset == "all"))[:, None], ahead.shape)
        if not ((there & same).any() and (there & ~same).any()):
            continue
        eer = equal_error_rate(ahead[there & same], ahead[there & ~same])
        yield OpenSetRow(
            test="verify", subset=subset, far=None, found=None, low=None, high=None, accepted=None, each=None,
            rank1=None, eer=100 * eer, n=int((there & same).sum()), strangers=int((there & ~same).sum()), **common,
        )  # fmt: skip


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
