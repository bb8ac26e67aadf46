r"""From scores to an answer: somebody who is enrolled, or a stranger.

A stranger has a best match, too, but one that is not much better than the next ones. So scores are normalized as in
adaptive score normalization (AS-norm): from the score of a person the mean of the upper quarter of the scores of other
people is subtracted, and the rest is measured in standard deviations of the cohort scores. That is the *lead*. The
other people are those of the gallery, who were often photographed by the same camera under the same lamp; where they
are few, rendered people of the cohort are added. In a large gallery 56 reference people drawn at random stand for all
of them: the mean over a quarter of these is as good, and costs the same for any number.

Over many strangers the lead of the best match follows a Gumbel distribution, the law of maxima. Its location and scale
depend little on who is enrolled and how the light falls. It turns a lead into a probability, and that into a score.

A score is :math:`\log_{10} N / 6` where one in N strangers would have a best match as good: 0.33 for one in a hundred,
0.5 for one in a thousand, 1 for one in a million or fewer. It means nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from lightproof.errors import BadParameter
from lightproof.matching.scores import Scores
from lightproof.types import Floats, Ints

N_REFERENCE_PEOPLE: Final = 56
"""Number of people drawn at random to normalize scores by; a smaller gallery uses all of its people."""

MIN_REFERENCES: Final = 8
"""Minimum number of other people; in a smaller gallery rendered people fill it up."""

SCORE_DIGITS: Final = 6
"""A score of 1 is a probability of one in a million; nothing is known about smaller ones."""

LOCATION: Final = 1.8
SCALE: Final = 1.2
"""Parameters of the Gumbel distribution, but for what the number of people adds. They lie between what strangers reach
on ORL (s1 to s20), LFW (the first 40 people) and Extended Yale B (odd numbers), which differ: see docs/gallery.md."""

FEW_PEOPLE: Final = 5
"""Number of people from which on they are enough to be compared with."""

LONE_PERSON_SHIFT: Final = 3.5
"""What is added to the location if one person is enrolled, and less and less up to :data:`FEW_PEOPLE`: rendered people
are less like a photograph than people are, so strangers are farther ahead of them."""

LOCATION_GROWTH: Final = 0.1
"""Growth of the location with the logarithm of the number of people: less than the scale, as other scores rise too."""

AGREEMENT_DISCOUNT: Final = 0.5
"""Share of this growth that is missing if all people were enrolled under one light: they share its effect."""

MAX_PEOPLE_MEASURED: Final = 20
"""Number of people up to which that discount was measured; it does not grow beyond."""

PRIOR_STRANGERS: Final = 30
"""Number of strangers whose leads weigh as much as the default model."""

MAX_EXPONENT: Final = 100.0
"""Scales below the location at which every stranger has a greater lead; larger numbers would overflow."""

UPPER_QUARTER_MEAN: Final = 2.3189
"""Mean of the upper quarter of a Gumbel distribution with location 0 and scale 1."""


def reference_sample(sampling_keys: Ints | None, n_people: int) -> Ints:
    """Indices of the reference people, in order: the :data:`N_REFERENCE_PEOPLE` with the smallest keys, or all."""
    if n_people <= N_REFERENCE_PEOPLE:
        return np.arange(n_people)
    sampling_keys = np.arange(n_people) if sampling_keys is None else sampling_keys
    return np.sort(np.argsort(sampling_keys, kind="stable")[:N_REFERENCE_PEOPLE])


def normalized_scores(scores: Scores) -> Floats:
    """Lead of each person: score minus the upper quarter of others, in standard deviations, shape (n, C)."""
    return np.asarray((scores.people - _mean_of_references(scores)) / _cohort_deviation(scores.cohort))


def normalized_score_map(patches: Scores, scores: Scores, person: int) -> Floats:
    """Split the lead of one person over the patches: the sum is the lead, shape (K,).

    Given are the scores of one photo, patch by patch, (K, C) and (K, Z), and as a whole, n = 1.
    """
    everybody = np.concatenate([patches.people, patches.cohort], axis=1)
    references = everybody[:, top_references(scores, person)]
    ahead = patches.people[:, person] - references.mean(axis=1)
    return np.asarray(ahead / (len(everybody) * _cohort_deviation(scores.cohort)[0, 0]))


def top_references(scores: Scores, person: int) -> Ints:
    """Indices of the other people of the gallery whose mean is subtracted; rendered people come after the enrolled."""
    enrolled = scores.people[0]
    references = reference_sample(scores.sampling_keys, len(enrolled))
    others = np.concatenate([references[references != person], len(enrolled) + _stand_ins(scores)[0]])
    values = np.concatenate([enrolled, scores.cohort[0]])[others]
    return np.asarray(others[np.argsort(-values, kind="stable")[: math.ceil(len(others) / 4)]])


def _mean_of_references(scores: Scores) -> Floats:
    """Mean score of the upper quarter of the other people in the gallery, shape (n, C)."""
    people, references = scores.people, reference_sample(scores.sampling_keys, scores.people.shape[1])
    stand_ins = np.take_along_axis(scores.cohort, _stand_ins(scores), axis=1)
    others = np.concatenate([people[:, references], stand_ins], axis=1)
    count = math.ceil((others.shape[1] - 1) / 4)
    top = -np.partition(-others, count, axis=1)[:, : count + 1]
    last = top.min(axis=1, keepdims=True)
    total = top.sum(axis=1, keepdims=True)
    is_reference = np.zeros(people.shape[1], bool)
    is_reference[references] = True
    # People at the top are not compared with themselves: the next one moves up.
    return np.asarray(np.where(is_reference & (people > last), total - people, total - last) / count)


def _stand_ins(scores: Scores) -> Ints:
    """Rendered people that fill up a small gallery, evenly from the least to the most similar, (n, how many)."""
    missing = max(0, MIN_REFERENCES - (scores.people.shape[1] - 1))
    ranks = ((np.arange(missing) + 0.5) / max(missing, 1) * scores.cohort.shape[1]).astype(int)
    return np.argsort(scores.cohort, axis=1, kind="stable")[:, ranks]


def _cohort_deviation(cohort: Floats) -> Floats:
    # Two photos alike to the last bit, or a picture all in shadow, must not divide by 0.
    return np.asarray(np.maximum(cohort.std(axis=1, keepdims=True), 1e-6))


@dataclass(frozen=True)
class ImpostorModel:
    """Gumbel distribution of the lead that a stranger's best match has."""

    location: float
    scale: float

    @classmethod
    def default(cls, n_people: int, agreement: float = 0.0) -> Self:
        """Return the model for a gallery that was not calibrated.

        ``agreement`` is how far the lights of its people agree, 0 to 1: see
        :func:`lightproof.matching.light_penalty.mutual_agreement`. Where that is unknown, 0 is on the safe side.
        """
        log_people = math.log(max(n_people, 1))
        discount = AGREEMENT_DISCOUNT * agreement * min(log_people, math.log(MAX_PEOPLE_MEASURED))
        lonely = LONE_PERSON_SHIFT * max(0.0, (FEW_PEOPLE - max(n_people, 1)) / (FEW_PEOPLE - 1))
        return cls(LOCATION + lonely + LOCATION_GROWTH * (log_people - discount), SCALE)

    def estimated_shift(self, leads: Floats, n_strangers: int) -> float:
        """Estimate by how much strangers lead more than under this model, by the lead of the best match of each photo.

        Only the upper quarter of the leads counts: the others are no risk. Few strangers change little, and several
        photos of one say little more than one.
        """
        if not len(leads):
            return 0.0
        mean = float(leads[leads >= np.quantile(leads, 0.75)].mean())
        weight = n_strangers / (n_strangers + PRIOR_STRANGERS)
        return weight * (mean - (self.location + UPPER_QUARTER_MEAN * self.scale))

    def shifted(self, shift: float) -> ImpostorModel:
        """Return the model of strangers whose leads are greater by ``shift``."""
        return ImpostorModel(self.location + shift, self.scale)

    def for_claim(self, n_people: int) -> ImpostorModel:
        """Return the model of a stranger who claims to be one of ``n_people``: the best match is their maximum.

        Beyond :data:`MAX_PEOPLE_MEASURED` a claim among more people is not harder: only what :meth:`default` adds for
        their number is taken off.
        """
        growth = LOCATION_GROWTH * math.log(max(n_people / MAX_PEOPLE_MEASURED, 1))
        location = self.location - self.scale * math.log(min(n_people, MAX_PEOPLE_MEASURED)) - growth
        return ImpostorModel(location, self.scale)

    def chance(self, lead: Floats) -> Floats:
        """Probability that the best match of a stranger leads by at least ``lead``."""
        exponent = (self.location - np.asarray(lead, np.float64)) / self.scale
        return np.asarray(-np.expm1(-np.exp(np.minimum(exponent, MAX_EXPONENT))))

    def lead_at(self, far: float) -> float:
        """Lead that only this share of the strangers reaches."""
        return self.location - self.scale * math.log(-math.log1p(-far))


def score_of(chance: Floats) -> Floats:
    """Turn the probability that a stranger matches as well into a score, 0 to 1."""
    digits = -np.log10(np.maximum(chance, 10.0**-SCORE_DIGITS))
    # The logarithm of 1 comes out as -0.0; adding 0 makes it 0.
    return np.asarray(np.clip(digits / SCORE_DIGITS, 0, 1) + 0.0)


def check_far(owner: str, far: float) -> float:
    """Refuse what is no false acceptance rate, or one too small to be measured."""
    smallest = 10.0**-SCORE_DIGITS
    if isinstance(far, bool) or not isinstance(far, int | float) or not smallest <= far < 1:
        raise BadParameter(owner, "far", f"a share from {smallest:g} to below 1, such as 0.001", far)
    return float(far)
