r"""A common light makes strangers look alike: how much, and the penalty for it.

Under the same light the shadows of two people fall alike, so a photo scores higher against everybody who was enrolled
under its own light. Where all people were enrolled under one light, that cancels out in the normalized score. Where
the lights differ, it would let strangers in. So the score for each person is lowered by

.. math:: (2 + 8 h) \, e^{4 (\cos \theta - 1)}

standard deviations of the cohort scores, where :math:`\theta` is the angle between the light of the photo and the
nearest light the person was enrolled under, and h, 0 to 1, how hard both lights are: soft ones throw no shadows. A
genuine match under the same light leads by much more than that. The cohort scores stay: the shadows of rendered people
are drawn, and fall less alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from lightproof.core.images import Images, to_bytes
from lightproof.imaging.detection import FACE_SIZE
from lightproof.imaging.lighting import hardness, light_directions, toward
from lightproof.matching.calibration import N_REFERENCE_PEOPLE, reference_sample
from lightproof.matching.scores import ProbeSet, Scores
from lightproof.matching.templates import TemplateSet
from lightproof.types import Floats, Ints

SOFT_PENALTY: Final = 2.0
HARD_PENALTY: Final = 10.0
"""Penalty under the very same light, soft or hard, in standard deviations of the cohort scores. They were chosen on
Extended Yale B (odd numbers), everybody enrolled under a light of their own, and on ORL (s1 to s20)."""

ANGULAR_DECAY: Final = 4.0
"""How fast the penalty falls with the angle: to a half at 34 degrees, to a tenth at 65."""

MAX_PEOPLE_COMPARED: Final = 100
MAX_PHOTOS_PER_PERSON: Final = 10
"""Samples that :func:`mean_agreement` is taken over, at most."""


def lights_of(images: Images) -> Floats:
    """Azimuth and elevation of the light on each face in degrees, shape (n, 2); nan where the face does not show it."""
    return light_directions(to_bytes(images, FACE_SIZE))


def light_agreement(lights: Floats, enrolled: Floats, first: Ints) -> Floats:
    """How far the light of photos, (n, 2), agrees with the nearest light of each person, 0 to 1, shape (n, C).

    ``enrolled`` and ``first`` are the ``lights`` and ``first_lights`` of a :class:`TemplateSet`. A photo whose light is
    unknown agrees with nobody.
    """
    if not len(enrolled):
        return np.zeros((len(lights), 0))
    visible = ~np.isnan(lights).any(axis=1)
    agreement = np.zeros((len(lights), len(enrolled)))
    agreement[visible] = np.exp(ANGULAR_DECAY * (toward(lights[visible]) @ toward(enrolled).T - 1))
    return np.asarray(np.maximum.reduceat(agreement, first, axis=1))


def mutual_agreement(people: TemplateSet) -> float:
    """How far the lights of the people themselves agree, 0 to 1: 1 if all photos were taken under one lamp."""
    if people.known_agreement is not None:
        return people.known_agreement
    if len(people) > N_REFERENCE_PEOPLE:
        people = people.subset(reference_sample(people.sampling_keys, len(people)))
    return mean_agreement(people.lights, people.first_lights)


def mean_agreement(lights: Floats, first: Ints) -> float:
    """Mean :func:`light_agreement` over pairs of people, and over the photos of the first of them, 0 to 1.

    Given are the ``lights`` and ``first_lights`` of a :class:`TemplateSet`.
    """
    if len(first) < 2:
        return 1.0
    ends = np.append(first[1:], len(lights))
    chosen = _evenly_spaced(0, len(first), MAX_PEOPLE_COMPARED)
    photos = [_evenly_spaced(int(first[i]), int(ends[i]), MAX_PHOTOS_PER_PERSON) for i in chosen]
    counts = np.array([len(own) for own in photos])
    sample, starts = lights[np.concatenate(photos)], np.cumsum(counts) - counts
    agreement = np.add.reduceat(light_agreement(sample, sample, starts), starts, axis=0) / counts[:, None]
    return float((agreement.sum() - np.trace(agreement)) / (len(agreement) * (len(agreement) - 1)))


def _evenly_spaced(start: int, end: int, limit: int) -> Ints:
    """Whole numbers from ``start`` to below ``end``; at most ``limit`` of them, evenly spaced."""
    return np.linspace(start, end - 1, min(end - start, limit)).astype(int)


def light_penalty(scores: Scores, probes: ProbeSet, people: TemplateSet) -> Floats:
    """Penalty on the score of each person for the light that the photo shares with them, shape (n, C)."""
    agreement = light_agreement(probes.lights, people.lights, people.first_lights)
    both_hard = np.minimum(hardness(probes.shadows)[:, None], hardness(people.shadows))
    most = SOFT_PENALTY + (HARD_PENALTY - SOFT_PENALTY) * both_hard
    penalty = most * scores.cohort.std(axis=1, keepdims=True) * agreement
    return np.asarray(penalty.astype(scores.people.dtype))


def penalized(scores: Scores, probes: ProbeSet, people: TemplateSet) -> Scores:
    """Subtract the :func:`light_penalty` from scores."""
    return replace(scores, people=scores.people - light_penalty(scores, probes, people))
