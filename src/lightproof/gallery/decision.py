"""From scores to answers: how good a match is, who is on a photo, and whether two photos show the same person."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from itertools import chain, repeat
from typing import Final, Self

import numpy as np

from lightproof.core.moved import Renamed
from lightproof.errors import BadGallery, UnknownPerson
from lightproof.gallery.enrollment import ExtractedFace
from lightproof.gallery.store import check_name
from lightproof.matching.calibration import SCORE_DIGITS, ImpostorModel, check_far, normalized_scores, score_of
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.matcher import Matcher
from lightproof.matching.scores import ProbeSet
from lightproof.matching.templates import TemplateSet
from lightproof.types import is_whole

FAR: Final = 0.001
"""Default share of strangers that are accepted."""

SURE_ENOUGH: Final = (1e5, 2.0)
"""A best match as rare as one in this many strangers ends the search after the first, or second, shortlist."""


@dataclass(frozen=True)
class Match:
    """How good a match is.

    Attributes
    ----------
    score : float
        From 0 to 1. One in ``10 ** (6 * score)`` strangers would have a match as good: 0.33 is one in a hundred, 0.5
        one in a thousand, 1 one in a million or fewer.
    one_in : float
        That number: about one in so many strangers would score this well.
    lead : float
        The normalized score behind it; see :mod:`lightproof.matching.calibration`.
    distance : float
        Between photo and person alone, whoever else is enrolled: the enrolled photo itself is at about 0.2, other
        people are at 0.7 to 0.8.
    """

    score: float
    one_in: float
    lead: float
    distance: float


@dataclass(frozen=True)
class Candidate(Match):
    """A person who may be on a photo, and how good the match is."""

    name: str


@dataclass(frozen=True)
class Answer:
    """Who is on a photo.

    Attributes
    ----------
    name : str or None
        None for a stranger: nobody reaches the threshold.
    score, one_in : float
        Of the best match, whether it is accepted or not; see :class:`Match`.
    threshold : float
        The score from which on a match is accepted.
    far : float
        Share of strangers that are accepted all the same: see :meth:`lightproof.Gallery.identify`.
    candidates : tuple of Candidate
        The best few, the best first.
    calibrated : bool
        Whether scores were calibrated on this gallery, or are by default values.
    with_mesh : bool
        Whether the face was brought to the common shape by a mesh; else it was compared as it came.
    """

    name: str | None
    score: float
    one_in: float
    threshold: float
    far: float
    candidates: tuple[Candidate, ...]
    calibrated: bool
    with_mesh: bool = False

    @property
    def known(self) -> bool:
        """Whether it is an enrolled person."""
        return self.name is not None

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if not self.candidates:
            return "Unknown: nobody is enrolled."
        chance = f"about 1 in {counted(self.one_in)} strangers would score this well"
        wanted = f"1 in {counted(1 / self.far)} is asked for"
        if self.name is None:
            return f"Unknown: the nearest is {self.candidates[0].name}, but {chance}; {wanted}."
        return f"{self.name}: {chance}; {wanted}."


@dataclass(frozen=True)
class Verification(Match):
    """Whether two photos show the same person.

    Attributes
    ----------
    same : bool
        Whether the score reaches the threshold.
    threshold, far : float
        As in :class:`Answer`.
    with_mesh : bool
        Whether all faces, an enrolled person's too, have a mesh; else they were compared as they came.
    """

    same: bool
    threshold: float
    far: float
    with_mesh: bool = False

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        verdict = "The same person" if self.same else "Not known to be the same person"
        chance = f"about 1 in {counted(self.one_in)} other people would score this well"
        return f"{verdict}: {chance}; 1 in {counted(1 / self.far)} is asked for."


def counted(number: float) -> str:
    """Write a number with two significant digits: 1,300."""
    if number < 10:
        return f"{number:.1f}".removesuffix(".0")
    digits = max(0, int(math.log10(number)) - 1)
    return f"{round(number / 10**digits) * 10**digits:,}"


@dataclass(frozen=True)
class Calibration:
    """How well strangers match in a gallery.

    Attributes
    ----------
    far : float
        Share of strangers that may be accepted.
    shift : float
        How much more strangers lead here than by default.
    people : int
        How many were enrolled.
    strangers, relit : int
        Number of photos, and of relit copies of them, that were compared with everybody else.
    """

    far: float
    shift: float = 0.0
    people: int = 0
    strangers: int = 0
    relit: int = 0

    @classmethod
    def read(cls, written: str | None, far: float, place: str) -> Self:
        """Read what :meth:`written` wrote in a gallery; without it, return the default."""
        if written is None:
            return cls(far)
        try:
            fields = json.loads(written)
            # What another version measured means something else here; the rate stays.
            read = cls(**fields) if fields.keys() == asdict(cls(far)).keys() else cls(fields["far"])
            counts = (read.people, read.strangers, read.relit)
            legal = math.isfinite(read.shift) and all(is_whole(count, 0) for count in counts)
            check_far("calibrate", read.far)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            legal = False
        if not legal:
            raise BadGallery(place, "a calibration that cannot be read (see: lightproof calibrate)")
        return read

    def written(self) -> str:
        """Return all as JSON."""
        return json.dumps(asdict(self))

    def impostor_model(self, n_people: int, agreement: float = 0.0) -> ImpostorModel:
        """Return the model of strangers among so many people, whose lights agree so far; people may have changed."""
        return ImpostorModel.default(n_people, agreement).shifted(self.shift)

    among = Renamed("impostor_model")


def match_of(lead: float, distance: float, impostors: ImpostorModel) -> Match:
    """Turn a lead into a match, by the leads that impostors have."""
    chance = np.asarray(impostors.chance(np.asarray(lead)))
    one_in = min(1 / max(float(chance), 10.0**-SCORE_DIGITS), 10.0**SCORE_DIGITS)
    return Match(float(score_of(chance)), one_in, float(lead), float(distance))


def candidates(
    probe: ProbeSet, people: TemplateSet, matcher: Matcher, calibration: Calibration, limit: int | None = None
) -> list[Candidate]:
    """Compare one photo with people; return the best ``limit`` of them, the best first."""
    if not people.templates:
        return []
    scores = matcher.score_probes(probe, people)
    assert scores.distances is not None
    leads, distances = normalized_scores(scores)[0], scores.distances[0]
    impostors = calibration.impostor_model(people.n_people, mutual_agreement(people))
    names = list(people.templates)
    order = np.argsort(-leads, kind="stable")[:limit]
    return [Candidate(**vars(match_of(leads[i], distances[i], impostors)), name=str(names[i])) for i in order]


def best_candidates(
    probe: ProbeSet, shortlists: Iterable[TemplateSet], matcher: Matcher, calibration: Calibration, limit: int
) -> list[Candidate]:
    """Compare one photo with longer and longer shortlists until the best match is clear; the best come first."""
    best: list[Candidate] = []
    for people, enough in zip(shortlists, chain(SURE_ENOUGH, repeat(math.inf)), strict=False):
        best = candidates(probe, people, matcher, calibration, limit)
        if best and best[0].one_in >= enough:
            break
    return best


def answer(candidates: list[Candidate], top: int, far: float, calibration: Calibration, with_mesh: bool) -> Answer:
    """Name the best candidate if the match is good enough."""
    best = candidates[0] if candidates else None
    accepted = best is not None and best.one_in * far >= 1
    return Answer(
        name=best.name if best and accepted else None,
        score=best.score if best else 0.0,
        one_in=best.one_in if best else 1.0,
        threshold=float(score_of(np.asarray(far))),
        far=far,
        candidates=tuple(candidates[:top]),
        calibrated=calibration.strangers > 0,
        with_mesh=with_mesh,
    )


def verdict(match: Match, far: float, with_mesh: bool = False) -> Verification:
    """Decide whether a match is good enough."""
    same, threshold = match.one_in * far >= 1, float(score_of(np.asarray(far)))
    return Verification(match.score, match.one_in, match.lead, match.distance, same, threshold, far, with_mesh)


def match_with_person(
    probe: ProbeSet, person: str, people: TemplateSet, matcher: Matcher, calibration: Calibration
) -> Match:
    """Compare one photo with one enrolled person, among all of them."""
    index = people.names.index(enrolled_name(people, person))
    scores = matcher.score_probes(probe, people)
    assert scores.distances is not None
    impostors = calibration.impostor_model(people.n_people, mutual_agreement(people)).for_claim(people.n_people)
    return match_of(normalized_scores(scores)[0, index], scores.distances[0, index], impostors)


def match_with_photo(face: ExtractedFace, other: ExtractedFace, matcher: Matcher) -> Match:
    """Compare a face with another one, alone."""
    people = matcher.template_set({"": matcher.templates([other.aligned])[0]})
    [match] = candidates(matcher.probes([face.aligned]), people, matcher, Calibration(FAR))
    return match


def enrolled_name(people: TemplateSet, name: str) -> str:
    """Return a name as it is enrolled; refuse one that nobody has."""
    name, names = check_name(name), [str(label) for label in people.names]
    if name not in people.templates:
        raise UnknownPerson(name, names, what="The name", nearest=get_close_matches(name, names))
    return name
