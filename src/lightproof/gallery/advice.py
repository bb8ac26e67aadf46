"""Which lights a person's photos lack, and which one more photo would help most.

The gain of a photo was measured: rendered people were enrolled under every choice of the lights below, and probes under
the lights of Extended Yale B were identified. ``FOUND_PER_1000`` holds the results; :mod:`benchmarks.advice` measures
them again. Left and right are those of the person, as in the hints of :mod:`lightproof.imaging.lighting`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from lightproof.core.images import Images
from lightproof.errors import BadParameter
from lightproof.imaging.lighting import toward
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.matcher import Matcher
from lightproof.matching.scores import Scores
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Floats

ADVISED_LIGHTS: Final[dict[str, tuple[float, float]]] = {
    "front": (0, 10),
    "left": (-50, 10),
    "right": (50, 10),
    "hard left": (-100, 10),
    "hard right": (100, 10),
    "above": (0, 65),
    "below": (0, -45),
}
"""Azimuth and elevation in degrees that each name stands for; a positive azimuth is the right of the person."""

DESCRIPTIONS: Final[dict[str, str]] = {
    "front": "light from the front, such as a window that you face",
    "left": "light half from your left, such as a window ahead of you on the left",
    "right": "light half from your right, such as a window ahead of you on the right",
    "hard left": "light straight from your left, such as a window beside you",
    "hard right": "light straight from your right, such as a window beside you",
    "above": "light from above, such as a lamp on the ceiling",
    "below": "light from below, such as a lamp on the table",
}

# fmt: off
FOUND_PER_1000: Final = (
    0, 884, 673, 917, 673, 917, 902, 936, 410, 934, 809, 935, 906, 948, 922, 974,
    410, 934, 906, 948, 809, 935, 922, 974, 798, 977, 937, 978, 937, 978, 969, 978,
    394, 952, 835, 965, 835, 965, 958, 997, 703, 953, 902, 989, 941, 997, 990, 991,
    703, 953, 941, 997, 902, 989, 990, 991, 897, 998, 992, 994, 992, 994, 992, 992,
    777, 939, 877, 966, 877, 966, 958, 995, 902, 962, 908, 988, 954, 994, 980, 992,
    902, 962, 954, 994, 908, 988, 980, 992, 970, 995, 982, 990, 982, 990, 983, 992,
    925, 959, 955, 991, 955, 991, 995, 997, 952, 981, 984, 992, 991, 996, 991, 995,
    952, 981, 991, 996, 984, 992, 991, 995, 997, 998, 992, 995, 992, 995, 992, 997,
)
# fmt: on
"""Probes of 1000 under all lights that were found and named, for every choice of lights that people were enrolled
under; preset "robust", one in a thousand strangers accepted. The index of a choice is the sum of 1, 2, 4, ... for its
lights, in the order of ``ADVISED_LIGHTS``.
"""

MIN_GAIN: Final = 0.02
"""Gain below which another photo is not worth the trouble, and may be chance."""


@dataclass(frozen=True)
class Advice:
    """What to photograph next.

    Attributes
    ----------
    person : hashable
    has, lacks : tuple of str
        Names of ``ADVISED_LIGHTS`` that the photos show, and that they do not.
    next : str
        One sentence for the person.
    gain : float or None
        Gain in the share of probes under all lights that are found and named, 0 to 1, as measured on rendered people.
        None if the lights of the photos are unknown.
    """

    person: Hashable
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    next: str
    gain: float | None


def light_names(lights: Array | Iterable[tuple[float | None, float | None]]) -> list[str | None]:
    """Name the light of each photo: the nearest of ``ADVISED_LIGHTS``, or None if the direction is unknown.

    Parameters
    ----------
    lights : ndarray of shape (n, 2), or (azimuth, elevation) of each photo
        In degrees, as :func:`lightproof.imaging.lighting.light_directions` returns them; nan or None if unknown.
    """
    legal = "azimuth and elevation of each photo in degrees, nan or None where they are not known"
    try:
        pairs = np.array(list(lights), float).reshape(-1, 2)
    except (TypeError, ValueError):
        raise BadParameter("advise", "lights", legal, lights) from None
    if np.isinf(pairs).any():
        raise BadParameter("advise", "lights", legal, lights)
    names, directions = list(ADVISED_LIGHTS), toward(np.array(list(ADVISED_LIGHTS.values()), float))
    visible = ~np.isnan(pairs).any(axis=1)
    nearest = (toward(np.where(visible[:, None], pairs, 0)) @ directions.T).argmax(axis=1)
    return [names[i] if is_visible else None for i, is_visible in zip(nearest, visible, strict=True)]


def share_found(names: Collection[str]) -> float:
    """Share of probes under all lights that were found and named when people were enrolled under these lights."""
    return FOUND_PER_1000[sum(2**i for i, name in enumerate(ADVISED_LIGHTS) if name in names)] / 1000


def advise(person: Hashable, lights: Array | Iterable[tuple[float | None, float | None]]) -> Advice:
    """Say which lights the photos of a person lack, and which one more photo would help most; see :func:`light_names`.

    Examples
    --------
    >>> given = advise("Anna", [(0, 5), (None, None)])
    >>> given.has, len(given.lacks)
    (('front',), 6)
    """
    names = light_names(lights)
    has = tuple(name for name in ADVISED_LIGHTS if name in names)
    lacks = tuple(name for name in ADVISED_LIGHTS if name not in has)
    if names and not has:
        sentence = f"The light of the photos cannot be read: add one with {DESCRIPTIONS['front']}."
        return Advice(person, has, lacks, sentence, None)
    now = share_found(has)
    gains = {name: round(share_found((*has, name)) - now, 3) for name in lacks}
    best = max(gains, key=gains.__getitem__, default=None)
    if best is None or gains[best] < MIN_GAIN:
        sentence = f"Nothing to gain: with photos under these lights, {now:.0%} of rendered faces are found."
        return Advice(person, has, lacks, sentence, max(gains.values(), default=0.0))
    rise = f"on rendered people it raises the share found under all lights from {now:.0%} to {now + gains[best]:.0%}"
    return Advice(person, has, lacks, f"Add a photo with {DESCRIPTIONS[best]}: {rise}.", gains[best])


def photo_gains(matcher: Matcher, people: TemplateSet, person: Hashable, faces: Images) -> Floats:
    """Measure which of a person's photos, three or more, helps most to find the others, shape (n,).

    Each photo in turn is compared with the others, and again with one of them left out: the lead falls by the gain of
    that one. The gain is the mean over the other photos; it is negative if they do better without it. The work grows
    with the square of n. The person's own template in ``people`` is not used.
    """
    n = len(faces)
    if n < 3:
        raise BadParameter("photo_gains", "faces", "at least three photos of one person", n)
    single = matcher.templates(faces)
    missing: list[tuple[int, ...]] = [*((j,) for j in range(n)), *combinations(range(n), 2)]
    joined = [matcher.joined([single[k] for k in range(n) if k not in out]) for out in missing]
    own = matcher.compare(faces, matcher.template_set(dict(enumerate(joined)))).people
    others = matcher.compare(faces, people.removing(person))
    leads = np.stack(
        [
            normalized_scores(Scores(np.column_stack([own_scores, others.people]), others.cohort))[:, 0]
            for own_scores in own.T
        ],
        axis=1,
    )
    losses = np.zeros((n, n))
    for column, pair in enumerate(missing[n:], start=n):
        for probe, left_out in (pair, pair[::-1]):
            losses[left_out, probe] = leads[probe, probe] - leads[probe, column]
    return np.asarray(losses.sum(axis=1) / (n - 1))
