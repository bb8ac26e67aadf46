"""What a gallery answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lightproof.matching.calibration import SCORE_DIGITS, ImpostorModel, score_of


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
        What the score is made of: how far the person is ahead of the upper quarter of the others; see
        :mod:`lightproof.matching.calibration`.
    distance : float
        Between photo and person alone, whoever else is enrolled: the enrolled photo itself is at about 0.2, other
        people are at 0.7 to 0.8.
    """

    score: float
    one_in: float
    lead: float
    distance: float


def mark(lead: float, distance: float, strangers: ImpostorModel) -> Match:
    """Turn a lead into a mark, by how well strangers do."""
    chance = np.asarray(strangers.chance(np.asarray(lead)))
    one_in = min(1 / max(float(chance), 10.0**-SCORE_DIGITS), 10.0**SCORE_DIGITS)
    return Match(float(score_of(chance)), one_in, float(lead), float(distance))


@dataclass(frozen=True)
class Candidate(Match):
    """Somebody who might be on a photo, and how well it fits."""

    name: str


@dataclass(frozen=True)
class Answer:
    """Who is on a photo.

    Attributes
    ----------
    name : str or None
        None is a stranger: nobody reaches the threshold.
    score, one_in : float
        Of the best match, whether it is accepted or not; see :class:`Match`.
    threshold : float
        The score from which on a match is accepted.
    far : float
        Share of strangers that are accepted all the same.
    candidates : tuple of Candidate
        The best few, the best first.
    calibrated : bool
        Whether the meaning of the score was checked on this gallery; if not, what is usual stands in.
    """

    name: str | None
    score: float
    one_in: float
    threshold: float
    far: float
    candidates: tuple[Candidate, ...]
    calibrated: bool

    @property
    def known(self) -> bool:
        """Whether it is somebody who is enrolled."""
        return self.name is not None

    @property
    def sentence(self) -> str:
        """Say it in words."""
        if not self.candidates:
            return "Unknown: nobody is enrolled."
        how = f"about 1 in {counted(self.one_in)} strangers would score this well"
        asked = f"1 in {counted(1 / self.far)} is asked for"
        if self.name is None:
            return f"Unknown: the nearest is {self.candidates[0].name}, but {how}; {asked}."
        return f"{self.name}: {how}; {asked}."


@dataclass(frozen=True)
class Verification(Match):
    """Whether two photos show the same person.

    Attributes
    ----------
    same : bool
        Whether the score reaches the threshold.
    threshold, far : float
        As in :class:`Answer`.
    """

    same: bool
    threshold: float
    far: float

    @property
    def sentence(self) -> str:
        """Say it in words."""
        verdict = "The same person" if self.same else "Not known to be the same person"
        how = f"about 1 in {counted(self.one_in)} other people would score this well"
        return f"{verdict}: {how}; 1 in {counted(1 / self.far)} is asked for."


def counted(number: float) -> str:
    """Write a number with two digits that count: 1,300."""
    if number < 10:
        return f"{number:.1f}".removesuffix(".0")
    digits = max(0, int(math.log10(number)) - 1)
    return f"{round(number / 10**digits) * 10**digits:,}"
