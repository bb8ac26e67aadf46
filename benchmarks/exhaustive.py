"""The exhaustive exact search: every photo against every template of a gallery, in all cores, one pass over the file.

It is what the answers of a large gallery are held against: each person's evidence comes from the same loops, but nobody
is left out, and the people are read as the gallery keeps them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import pairwise
from multiprocessing import get_context
from typing import Final, NamedTuple

import numpy as np

from lightproof.agreement import mutual_agreement
from lightproof.enrolled import Enrolled, drawn_by_lot
from lightproof.evidence import Evidence, joined_evidence
from lightproof.gallery import Gallery
from lightproof.gallery.answers import mark
from lightproof.gallery.taking import lights_of
from lightproof.gallery.templates import decode_all
from lightproof.matcher import FACES
from lightproof.store import View
from lightproof.strangers import Strangers, leads
from lightproof.types import Array, Floats

PEOPLE: Final = 512
"""People compared with at a time: their templates are read and laid out once for all photos."""


class Said(NamedTuple):
    """What photos say for one person each: taxed evidence, distances, and who it is."""

    evidence: Floats
    distances: Floats
    names: list[str]


class Part(NamedTuple):
    """What photos say for some people: for the best of them, and for those whom others are measured against."""

    best: Said
    rivals: dict[str, Said]
    cohort: Floats
    seconds: float


class Told(NamedTuple):
    """Who it is, with which score, and at what cost a photo, in seconds."""

    names: list[str]
    scores: Floats
    seconds: float


def search(place: str, images: Array, jobs: int = 2) -> Told:
    """Compare photos, (n, h, w), with everybody in a gallery.

    Parameters
    ----------
    place : str
    images : ndarray of shape (n, h, w)
    jobs : int
        Processes, each with a part of the people.
    """
    with Gallery.open(place, create=False) as gallery:
        people, n_people, known = gallery.sample(), gallery.follow(), gallery.calibration()
        strangers = known.among(n_people, mutual_agreement(people))
        drawn = {str(people.names[i]) for i in drawn_by_lot(people.lots, len(people))}
        with gallery.store.reading() as view:
            edges = np.linspace(0, max(view.changed(-1)[0]), jobs + 1).astype(int).tolist()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        work = [pool.submit(_part, place, images, range(a + 1, b + 1), drawn) for a, b in pairwise(edges)]
        parts = [piece.result() for piece in work]
    # Without starting the processes: a search that goes on for hours does not count it either.
    seconds = max(part.seconds for part in parts)
    found = [_told(parts, i, strangers) for i in range(len(images))]
    return Told([name for name, _ in found], np.array([score for _, score in found]), seconds / len(images))


def _told(parts: Sequence[Part], i: int, strangers: Strangers) -> tuple[str, float]:
    """Name the best match of one photo, and its score."""
    rivals = [said for part in parts for said in part.rivals.values()]
    best = max((part.best for part in parts), key=lambda said: float(said.evidence[i]))
    said = [*rivals, best] if best.names[i] else rivals
    row = Evidence(np.array([[float(each.evidence[i]) for each in said]], np.float32), parts[0].cohort[i : i + 1])
    ahead = leads(row)[0]
    winner = said[int(ahead.argmax())]
    return winner.names[i], mark(float(ahead.max()), float(winner.distances[i]), strangers).score


def _part(place: str, images: Array, numbers: range, drawn: Set[str]) -> Part:
    n, none = len(images), [""] * len(images)
    best = Said(np.full(n, -np.inf, np.float32), np.zeros(n, np.float32), none)
    rivals: dict[str, Said] = {}
    with Gallery.open(place, create=False) as gallery, gallery.store.reading() as view:
        matcher = gallery.matcher
        # Several photos at a time: what is laid out of people serves all of them.
        asked = [matcher.ask(images[i : i + FACES]) for i in range(0, n, FACES)]
        cohort = np.zeros((n, len(matcher.cohort)), np.float32)
        begun = time.perf_counter()
        for start in range(0, len(numbers), PEOPLE):
            people = _read(gallery, view, numbers[start : start + PEOPLE])
            if len(people):
                said = joined_evidence([matcher.said(each, people) for each in asked])
                rivals |= _rivals(said, people, drawn)
                _keep_better(best, said, people, drawn)
                cohort = said.cohort
        return Part(best, rivals, cohort, time.perf_counter() - begun)


def _rivals(said: Evidence, people: Enrolled, drawn: Set[str]) -> dict[str, Said]:
    assert said.distances is not None
    count = len(said.people)
    return {
        str(name): Said(said.people[:, i].copy(), said.distances[:, i].copy(), [str(name)] * count)
        for i, name in enumerate(people.names)
        if name in drawn
    }


def _keep_better(best: Said, said: Evidence, people: Enrolled, drawn: Set[str]) -> None:
    """Put the best match among some people in place of a worse one."""
    assert said.distances is not None
    others = np.flatnonzero([name not in drawn for name in people.names])
    if not len(others):
        return
    columns = others[said.people[:, others].argmax(axis=1)]
    for i, column in enumerate(columns):
        if said.people[i, column] > best.evidence[i]:
            best.evidence[i], best.distances[i] = said.people[i, column], said.distances[i, column]
            best.names[i] = str(people.names[column])


def _read(gallery: Gallery, view: View, numbers: range) -> Enrolled:
    found = list(view.templates_of_people(numbers))
    templates = decode_all([photos[0].template for _, photos, _ in found], gallery.matcher, gallery.place)
    lit = (
        replace(each, lights=lights_of(photos, gallery.place))
        for each, (_, photos, _) in zip(templates, found, strict=True)
    )
    return gallery.matcher.everybody({person.name: each for (person, _, _), each in zip(found, lit, strict=True)})
