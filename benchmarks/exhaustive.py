"""The exhaustive exact search: every photo against every template of a gallery, in all cores, one pass over the file.

It is what the answers of a large gallery are held against: each person's evidence comes from the same loops, but nobody
is left out, and the people are read as the gallery keeps them. With a guess for each photo it takes a third of the
time: who cannot be better than the guess, by :mod:`benchmarks.bounds`, is not compared to the end. What it finds is the
same.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks.bounds import bounds, laid_wide, reach_of
from lightproof.gallery import Gallery
from lightproof.gallery.decision import match_of
from lightproof.gallery.shortlist import read_templates, template_set_of
from lightproof.gallery.store import View
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import ImpostorModel, normalized_scores, reference_sample
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import PROBES_PER_BLOCK, Matcher
from lightproof.matching.scores import ProbeSet, Scores, stack_probes
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Floats

PEOPLE: Final = 4096
"""People compared with at a time: their templates are read and laid out once for all photos."""


class Best(NamedTuple):
    """Who matches each photo best, by taxed evidence; nobody has no name."""

    evidence: Floats
    distances: Floats
    names: list[str]


@dataclass
class Part:
    """Who matches photos best among some people."""

    best: Best
    done: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, n: int) -> Part:
        """Start with nobody."""
        return cls(Best(np.full(n, -np.inf, np.float32), np.zeros(n, np.float32), [""] * n))

    def write(self, file: Path) -> None:
        """Keep it, to go on from there."""
        with open(file.with_suffix(".new"), "wb") as stream:
            state = np.array([self.done, self.seconds])
            np.savez(stream, allow_pickle=False, state=state, **self.best._asdict())
        os.replace(file.with_suffix(".new"), file)

    @classmethod
    def read(cls, file: Path) -> Part:
        """Read what :meth:`write` kept."""
        with np.load(file) as kept:
            best = Best(kept["evidence"], kept["distances"], kept["names"].tolist())
            return cls(best, int(kept["state"][0]), float(kept["state"][1]))


class Told(NamedTuple):
    """Who it is, with which score, and at what cost a photo: seconds in which all cores were busy with it.

    One in ``one_in`` strangers would match as well.
    """

    names: list[str]
    scores: Floats
    one_in: Floats
    seconds: float


class Group(NamedTuple):
    """Some photos that are compared together: what is laid out of people serves all of them."""

    rows: slice
    asked: ProbeSet


def search(
    place: str, images: Array, jobs: int = 2, keep: Path | None = None, guesses: Sequence[str] | None = None
) -> Told:
    """Compare photos, (n, h, w), with everybody in a gallery.

    Parameters
    ----------
    place : str
    images : ndarray of shape (n, h, w)
    jobs : int
        Processes, each with a part of the people; 1 is this one.
    keep : Path, optional
        A folder where what is done is kept: after an interrupt it goes on from there, and the same call once more
        compares nobody.
    guesses : sequence of str, optional
        Somebody enrolled for each photo. Whoever cannot be better is not compared to the end; the answer is the same,
        whatever the guess, and found faster if it is good.
    """
    with Gallery.open(place, create=False) as gallery:
        people, known = gallery.reference_people(), gallery.calibration()
        strangers = known.impostor_model(gallery.follow(), mutual_agreement(people))
        drawn = people.subset(reference_sample(people.sampling_keys, len(people)))
        groups = grouped(images, gallery.matcher)
        begun = time.process_time()
        rivals = stack_probes([gallery.matcher.score_probes(group.asked, drawn) for group in groups])
        seconds = time.process_time() - begun
        least = least_of(gallery, groups, guesses) if guesses else None
        # Another state of the gallery would have other answers. Which guesses these are changes none of them.
        state = (gallery.store.revision(), guesses is not None)
        key = hashlib.blake2b(images.tobytes() + str(state).encode(), digest_size=8)
        with gallery.store.reading() as view:
            edges = np.linspace(0, view.largest_id(), jobs + 1).astype(int).tolist()
    names = {str(name) for name in drawn.names}
    ranges = [range(a + 1, b + 1) for a, b in pairwise(edges)]
    files = [keep and keep / f"{Path(place).stem}-{key.hexdigest()}-{part.start}-{part.stop}.npz" for part in ranges]
    work = [(place, images, *each, names, least) for each in zip(ranges, files, strict=True)]
    parts = _in_processes(work) if jobs > 1 else [best_of(*piece) for piece in work]
    found = [_told([part.best for part in parts], i, rivals, drawn, strangers) for i in range(len(images))]
    # The time of the processors, not that on the clock: something else may have run beside it for hours.
    seconds = (seconds + sum(part.seconds for part in parts)) / (os.cpu_count() or 1)
    who, scores, one_in = zip(*found, strict=True)
    return Told(list(who), np.array(scores), np.array(one_in), seconds / len(images))


def _in_processes(work: Sequence[tuple[Any, ...]]) -> list[Part]:
    with ProcessPoolExecutor(len(work), mp_context=get_context("spawn")) as pool:
        return [piece.result() for piece in [pool.submit(best_of, *piece) for piece in work]]


def grouped(images: Array, matcher: Matcher) -> list[Group]:
    """Make photos ready, some at a time; as in a question to a gallery, each gets its mesh."""
    rows = [slice(i, i + PROBES_PER_BLOCK) for i in range(0, len(images), PROBES_PER_BLOCK)]
    return [Group(some, matcher.probes([AlignedFace(image) for image in images[some]])) for some in rows]


def least_of(gallery: Gallery, groups: Sequence[Group], guesses: Sequence[str]) -> Floats:
    """What the best match of each photo says at least: what the guess does, shape (n,)."""
    least = np.empty(len(guesses), np.float32)
    with gallery.store.reading() as view:
        for rows, asked in groups:
            names = list(guesses[rows])
            people = _read(gallery, view, list(view.ids_of(set(names)).values()))
            said = gallery.matcher.score_probes(asked, people).people
            least[rows] = [said[i, people.names.index(name)] for i, name in enumerate(names)]
    return least


def best_of(
    place: str, images: Array, numbers: range, file: Path | None, others: Set[str], least: Floats | None
) -> Part:
    """Find who matches photos best among the people of some numbers, but for those who are compared elsewhere.

    Parameters
    ----------
    place : str
    images : ndarray of shape (n, h, w)
    numbers : range
    file : Path, optional
        Where what is done is kept.
    others : set of str
        Who is not compared here.
    least : ndarray of shape (n,), optional
        What the best match is known to say; whoever cannot reach it need not be compared to the end.
    """
    part = Part.read(file) if file and file.exists() else Part.of(len(images))
    with Gallery.open(place, create=False) as gallery, gallery.store.reading() as view:
        groups = grouped(images, gallery.matcher)
        reach = [reach_of(group.asked, gallery.matcher) for group in groups] if least is not None else []
        if reach:
            bounds(reach[0], laid_wide(gallery.reference_people()))  # what is compiled once is not counted
        for start in range(part.done, len(numbers), PEOPLE):
            begun = time.process_time()
            people = _read(gallery, view, numbers[start : start + PEOPLE])
            people = people.subset(np.flatnonzero([name not in others for name in people.names]))
            wide = laid_wide(people) if reach and len(people) else None
            for i, group in enumerate(groups):
                some = people
                if least is not None and wide is not None:
                    some = _left(people, bounds(reach[i], wide), np.maximum(least, part.best.evidence)[group.rows])
                if len(some):
                    _keep_better(part.best, group.rows.start, gallery.matcher.score_probes(group.asked, some), some)
            part.done, part.seconds = start + PEOPLE, part.seconds + time.process_time() - begun
            if file:
                part.write(file)
    return part


def _left(people: TemplateSet, most: Floats, least: Floats) -> TemplateSet:
    """Return those who may be better than what is known, by their bounds, (n, C)."""
    return people.subset(np.flatnonzero((most >= least[:, None]).any(axis=0)))


def _keep_better(best: Best, first: int, said: Scores, people: TemplateSet) -> None:
    """Put the best match of some photos among some people in place of a worse one."""
    assert said.distances is not None
    for i, column in enumerate(said.people.argmax(axis=1)):
        if said.people[i, column] > best.evidence[first + i]:
            best.evidence[first + i], best.distances[first + i] = said.people[i, column], said.distances[i, column]
            best.names[first + i] = str(people.names[column])


def _told(
    parts: Sequence[Best], i: int, rivals: Scores, drawn: TemplateSet, strangers: ImpostorModel
) -> tuple[str, float, float]:
    """Name the best match of one photo, its score, and one in how many strangers would match as well."""
    assert rivals.distances is not None
    best = max(parts, key=lambda part: float(part.evidence[i]))
    others = [best] if best.names[i] else []
    names = [*map(str, drawn.names), *(one.names[i] for one in others)]
    people = np.append(rivals.people[i], [one.evidence[i] for one in others]).astype(np.float32)
    distances = np.append(rivals.distances[i], [one.distances[i] for one in others])
    # Those drawn by lot come first: that is whom leads are measured against where no lots are told.
    ahead = normalized_scores(Scores(people[None], rivals.cohort[i : i + 1]))[0]
    winner = int(ahead.argmax())
    found = match_of(float(ahead[winner]), float(distances[winner]), strangers)
    return names[winner], found.score, found.one_in


def _read(gallery: Gallery, view: View, numbers: Sequence[int]) -> TemplateSet:
    found = read_templates(view.templates_of_people(numbers), gallery.config, gallery.place)
    return template_set_of((kept for _, kept in found), gallery.config)
