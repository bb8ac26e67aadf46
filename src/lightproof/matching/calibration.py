r"""From evidence to an answer: somebody who is enrolled, or a stranger.

The best match of a stranger is somebody too. What gives a stranger away is that the best match is not much better than
others: so from the evidence for a person the mean evidence of the upper quarter of the others is subtracted, and the
rest is measured in standard deviations of the rendered people. That is the *lead*. The others are those of the gallery,
who were often photographed by the same camera under the same lamp, and the rendered people, who are always the same.
In a gallery of many, 56 people drawn by lot stand for all of them: the mean of a quarter of these is as
good, and the same few can be asked however many there are.
Over many strangers the lead of the best match follows a Gumbel distribution, the law of maxima, whose place and width
depend little on who is enrolled and how the light falls. It turns a lead into a chance, a chance into a score.

A score is :math:`\log_{10} N / 6` where one in N strangers would have a best match as good: 0.33 for one in a hundred,
0.5 for one in a thousand, 1 for one in a million or fewer. There is no other meaning to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from lightproof.errors import BadParameter
from lightproof.matching.scores import Scores
from lightproof.matching.templates import N_REFERENCE_PEOPLE, reference_sample
from lightproof.types import Floats, Ints

ENOUGH: Final = 8
"""Others to compare with; in a smaller gallery rendered people fill up the number."""

SHARE: Final = 0.2
"""How much the rendered people count among the others; those of the gallery count the rest."""

DIGITS: Final = 6
"""A score of 1 is a chance of one in a million; beyond it nothing is known."""

PLACE: Final = 0.85
WIDTH: Final = 0.5
"""Of the Gumbel distribution among one person."""

GROWTH: Final = 0.3
"""What the place moves by with the logarithm of how many are enrolled. Less than the width, as it would be if the
others of a lead did not rise too."""

ALIKE: Final = 0.5
"""Where everybody was enrolled under one light the best of many stands out by so much less: the others of a lead share
what the light does to a stranger."""

MEASURED: Final = 20
"""So many people were enrolled when that was seen. What is beyond is not counted upon."""

PRIOR: Final = 30
"""How many strangers of one's own outweigh what is known without any."""

CERTAIN: Final = 100.0
"""Widths behind the usual at which every stranger leads by more; beyond, numbers grow too large to be written."""

UPPER: Final = 2.3189
"""Mean of the upper quarter of a Gumbel distribution with place 0 and width 1."""


def normalized_scores(evidence: Scores, share: float = SHARE) -> Floats:
    """How far each person is ahead of the upper quarter of the others, in standard deviations, shape (n, C).

    Parameters
    ----------
    evidence : Scores
    share : float
        How much the rendered people count among the others, 0 to 1.
    """
    return np.asarray((evidence.people - _bar(evidence, share)) / _spread(evidence.cohort))


def normalized_score_map(patches: Scores, evidence: Scores, person: int) -> Floats:
    """Split the lead of one person over the patches: the sum is the lead, shape (K,).

    Parameters
    ----------
    patches : Scores
        Of one photo, patch by patch: ``people`` (K, C), ``cohort`` (K, Z).
    evidence : Scores
        Of the same photo, n = 1.
    person : int
    """
    template_set = np.concatenate([patches.people, patches.cohort], axis=1)
    rendered = np.argsort(-evidence.cohort[0], kind="stable")[: _quarter(evidence.cohort.shape[1])]
    others = [template_set[:, top_references(evidence, person)], patches.cohort[:, rendered]]
    rivals = (1 - SHARE) * others[0].mean(axis=1) + SHARE * others[1].mean(axis=1)
    return np.asarray((patches.people[:, person] - rivals) / (len(template_set) * _spread(evidence.cohort)[0, 0]))


def top_references(evidence: Scores, person: int) -> Ints:
    """Places of the others in the gallery a lead is measured against; rendered people come after the enrolled."""
    known, drawn = evidence.people[0], reference_people(evidence)
    others = np.concatenate([drawn[drawn != person], len(known) + _stand_ins(evidence)[0]])
    values = np.concatenate([known, evidence.cohort[0]])[others]
    return np.asarray(others[np.argsort(-values, kind="stable")[: _count(evidence)]])


def reference_people(evidence: Scores) -> Ints:
    """Places of the people that leads are measured against, in order."""
    return reference_sample(evidence.sampling_keys, evidence.people.shape[1])


def _bar(evidence: Scores, share: float) -> Floats:
    """What a lead is measured against, for each photo and person, shape (n, C)."""
    count = _quarter(evidence.cohort.shape[1])
    rendered = -np.partition(-evidence.cohort, count - 1, axis=1)[:, :count].mean(axis=1, keepdims=True)
    return np.asarray((1 - share) * _bar_of_gallery(evidence) + share * rendered)


def _bar_of_gallery(evidence: Scores) -> Floats:
    """Mean of the upper quarter of the others in the gallery, shape (n, C)."""
    people, drawn = evidence.people, reference_people(evidence)
    filled = np.take_along_axis(evidence.cohort, _stand_ins(evidence), axis=1)
    rivals, count = np.concatenate([people[:, drawn], filled], axis=1), _count(evidence)
    best = -np.partition(-rivals, count, axis=1)[:, : count + 1]
    last = best.min(axis=1, keepdims=True)
    everything = best.sum(axis=1, keepdims=True)
    own = np.zeros(people.shape[1], bool)
    own[drawn] = True
    # Whoever is among the best is no rival of their own: the next one moves up.
    return np.asarray(np.where(own & (people > last), everything - people, everything - last) / count)


def _count(evidence: Scores) -> int:
    """How many others make up the bar of the gallery."""
    return _quarter(max(min(evidence.people.shape[1] - 1, N_REFERENCE_PEOPLE - 1), ENOUGH))


def _stand_ins(evidence: Scores) -> Ints:
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
class ImpostorModel:
    """How well strangers do: the distribution of the lead of their best match.

    Attributes
    ----------
    place, width : float
        Of a Gumbel distribution.
    """

    place: float
    width: float

    @classmethod
    def usual(cls, n_people: int, alike: float = 0.0) -> Self:
        """Return what is known without calibration.

        Parameters
        ----------
        n_people : int
            How many are enrolled.
        alike : float
            How far their lights agree, 0 to 1: see :func:`lightproof.matching.light_penalty.mutual_agreement`. Where it is not
            known, 0 is on the safe side.
        """
        many = math.log(max(n_people, 1))
        spared = ALIKE * alike * min(many, math.log(MEASURED))
        return cls(PLACE + GROWTH * (many - spared), WIDTH)

    def shift_of(self, best: Floats, n_strangers: int) -> float:
        """How much farther some strangers lead than these; a few change little.

        Only the better quarter of them is looked at: what becomes of the others is of no consequence.

        Parameters
        ----------
        best : ndarray of shape (n,)
            The lead of their best match, for each photo.
        n_strangers : int
            How many people they are: several photos of one say little more than one.
        """
        if not len(best):
            return 0.0
        seen = float(best[best >= np.quantile(best, 0.75)].mean())
        return n_strangers / (n_strangers + PRIOR) * (seen - (self.place + UPPER * self.width))

    def shifted(self, shift: float) -> ImpostorModel:
        """Strangers who lead farther by so much."""
        return ImpostorModel(self.place + shift, self.width)

    def one_of(self, n_people: int) -> ImpostorModel:
        """How well a stranger does with one of so many people, named beforehand: the best of all is their maximum.

        Beyond :data:`MEASURED` nothing is gained by being asked about one of ever more: only what :meth:`usual` adds
        for their number is taken off.
        """
        beyond = math.log(max(n_people / MEASURED, 1))
        return ImpostorModel(self.place - self.width * math.log(min(n_people, MEASURED)) - GROWTH * beyond, self.width)

    def chance(self, lead: Floats) -> Floats:
        """Share of strangers whose best match leads by at least so much."""
        behind = (self.place - np.asarray(lead, np.float64)) / self.width
        return np.asarray(-np.expm1(-np.exp(np.minimum(behind, CERTAIN))))

    def lead_at(self, far: float) -> float:
        """Lead that only this share of the strangers reaches."""
        return self.place - self.width * math.log(-math.log1p(-far))


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
