r"""From evidence to an answer: somebody who is enrolled, or a stranger.

The best match of a stranger is somebody too. What gives a stranger away is that the best match is not much better than
others: so from the evidence for a person the mean evidence of the upper quarter of the others is subtracted, and the
rest is measured in standard deviations of the rendered people. That is the *lead*. Over many strangers the lead of the
best match follows a Gumbel distribution, the law of maxima, whose place and width depend little on who is enrolled and
how the light falls. It turns a lead into a chance, a chance into a score.

A score is :math:`\log_{10} N / 6` where one in N strangers would have a best match as good: 0.33 for one in a hundred,
0.5 for one in a thousand, 1 for one in a million or fewer. There is no other meaning to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from scipy.stats import gumbel_r

from lightproof.errors import BadParameter
from lightproof.evidence import Evidence
from lightproof.types import Floats, Ints

ENOUGH: Final = 8
"""Others to compare with; in a smaller gallery rendered people fill up the number."""

DIGITS: Final = 6
"""A score of 1 is a chance of one in a million; beyond it nothing is known."""

NINETIETH: Final = 1.9
"""Nine of ten strangers lead by less than this."""

SOME: Final = 20
GROWTH: Final = 0.7
"""From so many people on, ten times as many let strangers lead by so much more: the best of many is better."""

WIDTH: Final = 0.44
NARROW: Final = 0.45
"""Width of the distribution among many people, and what the first person adds to it: the fewer, the wider."""

PRIOR: Final = 30
"""How many strangers of one's own outweigh what is known without any."""

_EULER: Final = 0.5772156649015329


def leads(evidence: Evidence) -> Floats:
    """How far each person is ahead of the upper quarter of the others, in standard deviations, shape (n, C)."""
    spread = _spread(evidence.cohort)
    return np.asarray((evidence.people - _bar(evidence)) / spread)


def lead_map(patches: Evidence, evidence: Evidence, person: int) -> Floats:
    """Split the lead of one person over the patches: the sum is the lead, shape (K,).

    Parameters
    ----------
    patches : Evidence
        Of one photo, patch by patch: ``people`` (K, C), ``cohort`` (K, Z).
    evidence : Evidence
        Of the same photo, n = 1.
    person : int
    """
    everybody = np.concatenate([patches.people, patches.cohort], axis=1)
    rivals = everybody[:, upper_quarter(evidence, person)].mean(axis=1)
    return np.asarray((patches.people[:, person] - rivals) / (len(everybody) * _spread(evidence.cohort)[0, 0]))


def upper_quarter(evidence: Evidence, person: int) -> Ints:
    """Places of those a person's lead is measured against; rendered people are numbered after the enrolled."""
    known = evidence.people[0]
    others = np.concatenate([np.delete(np.arange(len(known)), person), len(known) + _stand_ins(evidence)[0]])
    values = np.concatenate([known, evidence.cohort[0]])[others]
    return np.asarray(others[np.argsort(-values, kind="stable")[: _quarter(len(others))]])


def _bar(evidence: Evidence) -> Floats:
    """Mean of the upper quarter of the others, for each photo and person, shape (n, C)."""
    people = evidence.people
    rivals = np.concatenate([people, np.take_along_axis(evidence.cohort, _stand_ins(evidence), axis=1)], axis=1)
    count = _quarter(rivals.shape[1] - 1)
    best = -np.partition(-rivals, count, axis=1)[:, : count + 1]
    last = best.min(axis=1, keepdims=True)
    everything = best.sum(axis=1, keepdims=True)
    # Whoever is among the best is no rival of their own: the next one moves up.
    return np.asarray(np.where(people > last, everything - people, everything - last) / count)


def _stand_ins(evidence: Evidence) -> Ints:
    """Rendered people that fill up a small gallery, evenly from the least to the most similar, (n, how many)."""
    missing = max(0, ENOUGH - (evidence.people.shape[1] - 1))
    evenly = ((np.arange(missing) + 0.5) / max(missing, 1) * evidence.cohort.shape[1]).astype(int)
    return np.argsort(evidence.cohort, axis=1, kind="stable")[:, evenly]


def _quarter(others: int) -> int:
    return -(-others // 4)


def _spread(cohort: Floats) -> Floats:
    # Two photos alike to the last bit, or a picture all in shadow, must not divide by 0.
    return np.asarray(np.maximum(cohort.std(axis=1, keepdims=True), 1e-6))


@dataclass(frozen=True)
class Strangers:
    """How well strangers do: the distribution of the lead of their best match.

    Attributes
    ----------
    place, width : float
        Of a Gumbel distribution.
    """

    place: float
    width: float

    @classmethod
    def usual(cls, n_people: int) -> Self:
        """Return what is known without calibration, for a gallery of so many people."""
        width = WIDTH + NARROW / max(n_people, 1)
        ninetieth = NINETIETH + GROWTH * max(0.0, math.log10(max(n_people, 1) / SOME))
        return cls(ninetieth + width * math.log(-math.log(0.9)), width)

    @classmethod
    def seen(cls, best: Floats, n_people: int, n_strangers: int | None = None) -> Self:
        """Fit the leads of some strangers' best matches; a few change little of what is known anyway.

        Parameters
        ----------
        best : ndarray of shape (n,)
        n_people : int
            How many people they were compared with.
        n_strangers : int, optional
            How many people these strangers are: several photos of one say little more than one.
        """
        known = cls.usual(n_people)
        count = len(best) if n_strangers is None else n_strangers
        share = count / (count + PRIOR)
        mean = (1 - share) * known.mean + share * float(best.mean() if len(best) else 0)
        variance = (1 - share) * known.variance + share * float(np.square(best - mean).mean() if len(best) else 0)
        width = math.sqrt(6 * variance) / math.pi
        return cls(mean - _EULER * width, width)

    @property
    def mean(self) -> float:
        """Mean lead of a stranger's best match."""
        return self.place + _EULER * self.width

    @property
    def variance(self) -> float:
        """Variance of it."""
        return (math.pi * self.width) ** 2 / 6

    def one_of(self, n_people: int) -> Strangers:
        """How well a stranger does with one of so many people, named beforehand: the best of all is their maximum."""
        return Strangers(self.place - self.width * math.log(n_people), self.width)

    def chance(self, lead: Floats) -> Floats:
        """Share of strangers whose best match leads by at least so much."""
        return np.asarray(gumbel_r.sf(lead, self.place, self.width))

    def lead_at(self, far: float) -> float:
        """Lead that only this share of the strangers reaches."""
        return float(gumbel_r.isf(far, self.place, self.width))


def score_of(chance: Floats) -> Floats:
    """Turn the chance that a stranger does as well into a score, 0 to 1."""
    digits = -np.log10(np.maximum(chance, 10.0**-DIGITS))
    # The logarithm of 1 comes out as -0.0; adding 0 makes it 0.
    return np.asarray(np.clip(digits / DIGITS, 0, 1) + 0.0)


def check_far(owner: str, far: float) -> float:
    """Refuse what is no rate of false acceptance."""
    least = 10.0**-DIGITS
    if isinstance(far, bool) or not isinstance(far, int | float) or not least <= far < 1:
        raise BadParameter(owner, "far", f"a share from {least:g} to below 1, such as 0.001", far)
    return float(far)
