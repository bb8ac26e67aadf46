"""From trials to figures, each with its interval, for all photos and by light.

Among strangers the share ``found`` is the TPIR of ISO/IEC 19795-1, the true-positive identification rate at rank 1, and
``far``, the share of strangers accepted, is the FPIR, the false-positive identification rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.evaluation.light_groups import LIGHTS
from lightproof.evaluation.trials import Answers, Pairs, Trials
from lightproof.matching.calibration import ImpostorModel
from lightproof.metrics import (
    Interval,
    Roc,
    cmc,
    equal_error_by_person,
    equal_error_rate,
    open_set,
    open_set_curve,
    roc,
    share_by_person,
)
from lightproof.types import Array, Floats, Ints

MEASURES: Final = {
    "rank-1": "named correctly where everybody is enrolled",
    "equal error": "error of 1:1 comparisons where both kinds are equal",
    "found": "enrolled, accepted and rightly named",
    "misnamed": "enrolled, accepted and taken for somebody else",
    "strangers accepted": "not enrolled, and accepted all the same",
}
"""What is measured, all as shares."""

MAX_POINTS: Final = 800
"""Points kept along each axis of a curve; more would not be seen."""


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes
    ----------
    measure, light : str
        One of `MEASURES`, and ``"all"`` or the group of the photos.
    threshold : {"measured", "used"} or None
        ``"measured"``: the one that accepts at most the wanted share of these very strangers. ``"used"``: the one that
        a gallery uses, which knows nothing of them. None for a measure without a threshold.
    far : float or None
        Share of strangers that the threshold is meant to accept.
    value, low, high : float
        A share, 0 to 1, and its 95 % interval, with people drawn again and not photos; None if one person is too few.
    people, photos, questions : int
        How many the figure rests on; a photo is the probe in several draws.
    """

    measure: str
    light: str
    threshold: str | None
    far: float | None
    value: float
    low: float | None
    high: float | None
    people: int
    photos: int
    questions: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as a row for machines."""
        return {"row": "figure", **asdict(self)}


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of one group of photos; None without trials.

    ``pairs`` is 1:1, ROC and DET alike. ``strangers`` is the share of strangers accepted, and of enrolled photos not
    found or not rightly named.
    """

    cmc: Floats | None
    pairs: Roc | None
    strangers: Roc | None


_Key: TypeAlias = tuple[str, str, str | None, float | None]
"""Measure, light, threshold and far of a figure."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Turns trials into figures.

    ``people`` is the number of the person on each photo, ``impostors`` are the strangers that the gallery expects.
    """

    trials: Trials
    people: Ints
    lights: NDArray[np.str_]
    fars: Sequence[float]
    impostors: ImpostorModel

    def groups(self) -> list[str]:
        """Groups of light that there are photos of, all photos first."""
        return ["all", *(light for light in LIGHTS if light in self.lights)]

    def figures(self) -> list[Figure]:
        """Every figure of every group."""
        thresholds = list(self._thresholds())
        return [figure for light in self.groups() for figure in self._figures(light, thresholds)]

    def curves(self) -> dict[str, Curves]:
        """The curves of every group."""
        return {light: self._curves(light) for light in self.groups()}

    def _thresholds(self) -> Iterator[tuple[str, float, float]]:
        known, strangers = self.trials.known, self.trials.strangers
        for far in self.fars:
            if len(known) and len(strangers):
                yield "measured", far, open_set(known.lead, known.right, strangers.lead, far).threshold
            yield "used", far, self.impostors.lead_at(far)

    def _figures(self, light: str, thresholds: Sequence[tuple[str, float, float]]) -> Iterator[Figure]:
        closed, known, strangers = self._answers(light)
        yield from self._share(("rank-1", light, None, None), closed, closed.right)
        yield from self._equal_error(light)
        for kind, far, threshold in thresholds:
            accepted = known.lead > threshold
            yield from self._share(("found", light, kind, far), known, accepted & known.right)
            yield from self._share(("misnamed", light, kind, far), known, accepted & ~known.right)
            yield from self._share(("strangers accepted", light, kind, far), strangers, strangers.lead > threshold)

    def _share(self, key: _Key, answers: Answers, hits: Array) -> Iterator[Figure]:
        if len(answers):
            interval = share_by_person(hits, self.people[answers.photo])
            yield self._figure(key, float(hits.mean()), interval, answers.photo)

    def _equal_error(self, light: str) -> Iterator[Figure]:
        pairs, same, other = self._pairs(light)
        if same.any() and other.any():
            people, genuine, impostor = self.people[pairs.photo], pairs.lead[same], pairs.lead[other]
            interval = equal_error_by_person(genuine, people[same], impostor, people[other])
            error = equal_error_rate(genuine, impostor)
            yield self._figure(("equal error", light, None, None), error, interval, pairs.photo[same | other])

    def _figure(self, key: _Key, value: float, interval: Interval, photos: Ints) -> Figure:
        low, high = (None if math.isnan(end) else end for end in interval)
        distinct = np.unique(photos)
        people = len(np.unique(self.people[distinct]))
        return Figure(*key, value, low, high, people, len(distinct), len(photos))

    def _curves(self, light: str) -> Curves:
        closed, known, strangers = self._answers(light)
        pairs, same, other = self._pairs(light)
        return Curves(
            cmc(closed.rank) if len(closed) else None,
            thinned(roc(pairs.lead[same], pairs.lead[other])) if same.any() and other.any() else None,
            thinned(open_set_curve(known.lead, known.right, strangers.lead)) if len(known) and len(strangers) else None,
        )

    def _answers(self, light: str) -> tuple[Answers, Answers, Answers]:
        every = (self.trials.closed, self.trials.known, self.trials.strangers)
        closed, known, strangers = (answers.take(self._are_in(light, answers.photo)) for answers in every)
        return closed, known, strangers

    def _pairs(self, light: str) -> tuple[Pairs, NDArray[np.bool_], NDArray[np.bool_]]:
        """All pairs, and which of those in a light show the same person, and which do not."""
        pairs = self.trials.pairs
        chosen = self._are_in(light, pairs.photo)
        return pairs, chosen & pairs.same, chosen & ~pairs.same

    def _are_in(self, light: str, photos: Ints) -> NDArray[np.bool_]:
        return np.ones(len(photos), bool) if light == "all" else np.asarray((self.lights == light)[photos])


def thinned(curve: Roc, points: int = MAX_POINTS) -> Roc:
    """Leave out points too close to be seen: about as many stay along each axis."""
    if len(curve.far) <= 2 * points:
        return curve
    # Curves are drawn over the logarithm of the rate, so steps are even in it.
    least = np.log10(max(curve.far[curve.far > 0].min(), 1e-9))
    by_far = np.searchsorted(-curve.far, -np.logspace(0, least, points))
    by_frr = np.searchsorted(curve.frr, np.linspace(0, 1, points))
    kept = np.unique(np.concatenate([[0, len(curve.far) - 1], by_far, by_frr]))
    kept = kept[kept < len(curve.far)]
    return Roc(*(values[kept] for values in curve))
