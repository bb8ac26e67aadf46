r"""What the light of two photos has in common makes strangers look alike: how much, and what is taken off for it.

Under the same light the shadows of two people fall alike, so a photo says more for whoever was enrolled under its own
light, friend or stranger. Where everybody was enrolled under one light that is the same for all and falls out of the
lead. Where the lights differ it would let strangers in. So the lights of the photo and of the enrolled photos are
compared, and from the evidence for each person is taken

.. math:: 5 \, e^{4 (\cos \theta - 1)}

standard deviations of the rendered people, where :math:`\theta` is the angle between the light of the photo and the
nearest light the person was enrolled under. A friend under the same light is ahead by much more than that. Nothing is
taken from the rendered people: their shadows are drawn, and fall less alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from lightproof.core.images import Images, to_bytes
from lightproof.imaging.detection import FACE_SIZE
from lightproof.imaging.lighting import light_directions, toward
from lightproof.matching.scores import Scores
from lightproof.matching.templates import N_REFERENCE_PEOPLE, TemplateSet, reference_sample
from lightproof.types import Floats, Ints

TAX: Final = 5.0
"""Standard deviations of the rendered people that are taken off under the very same light."""

NARROWNESS: Final = 4.0
"""How fast that falls with the angle: to a half at 34 degrees, to a tenth at 65."""

SOME: Final = 100
"""People whose lights tell how far those of all agree."""

FEW: Final = 10
"""Of how many photos of each, at most."""


def lights_of(images: Images) -> Floats:
    """Azimuth and elevation of the light on each face in degrees, shape (n, 2); nan where it cannot be told."""
    return light_directions(to_bytes(images, FACE_SIZE))


def light_agreement(lights: Floats, people: TemplateSet) -> Floats:
    """How far the light of some photos agrees with that of everybody's nearest photo, 0 to 1, shape (n, C).

    Parameters
    ----------
    lights : ndarray of shape (n, 2)
        Azimuth and elevation in degrees; a photo whose light is not known agrees with nobody.
    people : TemplateSet
    """
    if not len(people):
        return np.zeros((len(lights), 0))
    return _alike(lights, people.lights, people.first_lights)


def mutual_agreement(people: TemplateSet) -> float:
    """How far the lights of the people themselves agree, 0 to 1: 1 if all photos were taken under one lamp."""
    if people.alike is not None:
        return people.alike
    some = (
        people.of(reference_sample(people.sampling_keys, len(people))) if len(people) > N_REFERENCE_PEOPLE else people
    )
    return mean_agreement(some.lights, some.first_lights)


def mean_agreement(lights: Floats, first: Ints) -> float:
    """How far the lights of several people agree, 0 to 1; see :func:`mutual_agreement`.

    Parameters
    ----------
    lights : ndarray of shape (at least C, 2)
        Azimuth and elevation on their photos, one person after the other.
    first : ndarray of shape (C,)
        Place of each person's first light.

    Returns
    -------
    float
        The mean over two people, and over the photos of the one, of how far the light agrees with the nearest of the
        other.
    """
    if len(first) < 2:
        return 1.0
    ends = np.append(first[1:], len(lights))
    photos = [_evenly(int(first[i]), int(ends[i]), FEW) for i in _evenly(0, len(first), SOME)]
    counts = np.array([len(own) for own in photos])
    some, starts = lights[np.concatenate(photos)], np.cumsum(counts) - counts
    nearest = _alike(some, some, starts)
    alike = np.add.reduceat(nearest, starts, axis=0) / counts[:, None]
    return float((alike.sum() - np.trace(alike)) / (len(alike) * (len(alike) - 1)))


def _evenly(start: int, end: int, most: int) -> Ints:
    """Whole numbers from ``start`` to below ``end``; where they are many, some of them, evenly."""
    return np.linspace(start, end - 1, min(end - start, most)).astype(int)


def _alike(lights: Floats, enrolled: Floats, first: Ints) -> Floats:
    known = ~np.isnan(lights).any(axis=1)
    alike = np.zeros((len(lights), len(enrolled)))
    alike[known] = np.exp(NARROWNESS * (toward(lights[known]) @ toward(enrolled).T - 1))
    return np.asarray(np.maximum.reduceat(alike, first, axis=1))


def light_penalty(said: Scores, lights: Floats, people: TemplateSet) -> Floats:
    """What is taken off the evidence for each person enrolled, shape (n, C).

    Parameters
    ----------
    said : Scores
        Of n photos.
    lights : ndarray of shape (n, 2)
    people : TemplateSet
    """
    taken = TAX * said.cohort.std(axis=1, keepdims=True) * light_agreement(lights, people)
    return np.asarray(taken.astype(said.people.dtype))


def penalized(said: Scores, lights: Floats, people: TemplateSet) -> Scores:
    """Take the :func:`light_penalty` off what photos say."""
    return replace(said, people=said.people - light_penalty(said, lights, people))
