"""A face against the people who are enrolled: marks, answers, verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import chain, repeat
from typing import Final

import numpy as np

from lightproof.errors import UnknownPerson
from lightproof.gallery.calibrate import FAR, Calibration
from lightproof.gallery.enrollment import Face
from lightproof.gallery.results import Answer, Candidate, Match, Verification, mark
from lightproof.gallery.store import check_name
from lightproof.matching.calibration import check_far, normalized_scores, score_of
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import Matcher, ProbeSet
from lightproof.matching.templates import TemplateSet
from lightproof.types import Floats

ENOUGH: Final = (1e5, 2.0)
"""Where one in so many strangers would match as well as the best of the people compared with first, or of the next,
nobody else is looked for."""


def far_asked(owner: str, far: float | None, known: Calibration) -> float:
    """Return the share of strangers that may be accepted: what was asked for, or that of the gallery."""
    return check_far(owner, far) if far is not None else known.far


def candidates(
    asked: ProbeSet, people: TemplateSet, matcher: Matcher, known: Calibration, most: int | None = None
) -> list[Candidate]:
    """Compare a face with everybody, or with those worth it; the best first, so many at most."""
    if not len(people):
        return []
    ahead, distances = _compared(asked, people, matcher)
    strangers = known.among(people.n_people, mutual_agreement(people))
    names = people.names
    order = np.argsort(-ahead, kind="stable")[:most]
    return [Candidate(**vars(mark(ahead[i], distances[i], strangers)), name=str(names[i])) for i in order]


def best_candidates(
    asked: ProbeSet, steps: Iterable[TemplateSet], matcher: Matcher, known: Calibration, most: int
) -> list[Candidate]:
    """Compare a face with ever more people, until somebody is clearly it or there is nobody left; the best first."""
    found: list[Candidate] = []
    for people, enough in zip(steps, chain(ENOUGH, repeat(math.inf)), strict=False):
        found = candidates(asked, people, matcher, known, most)
        if found and found[0].one_in >= enough:
            break
    return found


def _compared(asked: ProbeSet, people: TemplateSet, matcher: Matcher) -> tuple[Floats, Floats]:
    """How far each person is ahead, and how far away, shape (C,)."""
    evidence = matcher.score_probes(asked, people)
    assert evidence.distances is not None
    return normalized_scores(evidence)[0], evidence.distances[0]


def answer(found: list[Candidate], top: int, far: float, known: Calibration) -> Answer:
    """Name the best if it is good enough."""
    best = found[0] if found else None
    accepted = best is not None and best.one_in * far >= 1
    return Answer(
        name=best.name if best and accepted else None,
        score=best.score if best else 0.0,
        one_in=best.one_in if best else 1.0,
        threshold=_threshold(far),
        far=far,
        candidates=tuple(found[:top]),
        calibrated=known.strangers > 0,
    )


def verdict(found: Match, far: float) -> Verification:
    """Say whether a match is good enough."""
    same = found.one_in * far >= 1
    return Verification(found.score, found.one_in, found.lead, found.distance, same, _threshold(far), far)


def with_person(asked: ProbeSet, person: str, people: TemplateSet, matcher: Matcher, known: Calibration) -> Match:
    """Compare a face with somebody enrolled, among all who are."""
    place = people.names.index(among(people, person))
    ahead, distances = _compared(asked, people, matcher)
    strangers = known.among(people.n_people, mutual_agreement(people))
    return mark(ahead[place], distances[place], strangers.for_claim(people.n_people))


def with_photo(face: Face, other: Face, matcher: Matcher) -> Match:
    """Compare a face with another one, alone."""
    people = matcher.template_set({"": matcher.templates([other.image])[0]})
    [found] = candidates(matcher.probes([face.image]), people, matcher, Calibration(FAR))
    return found


def among(people: TemplateSet, name: str) -> str:
    """Return a name as it is enrolled; refuse one that nobody has."""
    wanted, known = check_name(name), [str(one) for one in people.names]
    if wanted not in people.templates:
        raise UnknownPerson(wanted, known, what="The name", nearest=get_close_matches(wanted, known))
    return wanted


def _threshold(far: float) -> float:
    return float(score_of(np.asarray(far)))
