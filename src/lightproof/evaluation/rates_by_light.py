"""From questions and answers to figures, each with its interval, for all photos and by light."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightproof.evaluation.light_groups import LIGHTS
from lightproof.evaluation.trials import Answers, Trials
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

POINTS: Final = 800
"""Points of a curve that are kept; more would not be seen."""


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes
    ----------
    measure : str
        One of `MEASURES`.
    light : str
        ``"all"``, or the group of the photos.
    threshold : {"measured", "used"} or None
        ``"measured"``: the one that accepts at most the wanted share of these very strangers. ``"used"``: the one that
        a gallery uses, which knows nothing of them. None where there is none.
    far : float or None
        Share of strangers that the threshold is meant to accept.
    value : float
        A share, 0 to 1.
    low, high : float or None
        Its 95 % interval, with people drawn again and not photos; None where one person is too few.
    people, photos, questions : int
        How many stand behind it; a photo is asked about in several draws.
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
    """The curves of one group of photos; None where there was nothing to ask.

    Attributes
    ----------
    cmc : ndarray, optional
    pairs : Roc, optional
        1:1, ROC and DET alike.
    strangers : Roc, optional
        Share of strangers accepted, and of enrolled photos not found or not rightly named.
    """

    cmc: Floats | None
    pairs: Roc | None
    strangers: Roc | None


@dataclass(frozen=True, eq=False)
class Judge:
    """Turns trials into figures.

    Attributes
    ----------
    trials : Trials
    people : ndarray of shape (n,)
        Number of the person on each photo.
    lights : ndarray of shape (n,), str
    fars : sequence of float
    usual : ImpostorModel
        What the gallery takes strangers for.
    """

    trials: Trials
    people: Ints
    lights: NDArray[np.str_]
    fars: Sequence[float]
    usual: ImpostorModel

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
            yield "used", far, self.usual.lead_at(far)

    def _figures(self, light: str, thresholds: Sequence[tuple[str, float, float]]) -> Iterator[Figure]:
        closed, known, strangers = self._answers(light)
        yield from self._share("rank-1", light, None, None, closed, closed.right)
        yield from self._equal_error(light)
        for kind, far, threshold in thresholds:
            passed = known.lead > threshold
            yield from self._share("found", light, kind, far, known, passed & known.right)
            yield from self._share("misnamed", light, kind, far, known, passed & ~known.right)
            yield from self._share("strangers accepted", light, kind, far, strangers, strangers.lead > threshold)

    def _share(
        self, measure: str, light: str, kind: str | None, far: float | None, asked: Answers, hit: Array
    ) -> Iterator[Figure]:
        if len(asked):
            interval = share_by_person(hit, self.people[asked.photo])
            yield self._figure(measure, light, kind, far, float(hit.mean()), interval, asked.photo)

    def _equal_error(self, light: str) -> Iterator[Figure]:
        pairs, chosen = self.trials.pairs, self._of(light, self.trials.pairs.photo)
        same, other = chosen & pairs.same, chosen & ~pairs.same
        if same.any() and other.any():
            whose = self.people[pairs.photo]
            error = equal_error_rate(pairs.lead[same], pairs.lead[other])
            interval = equal_error_by_person(pairs.lead[same], whose[same], pairs.lead[other], whose[other])
            yield self._figure("equal error", light, None, None, error, interval, pairs.photo[chosen])

    def _figure(
        self,
        measure: str,
        light: str,
        kind: str | None,
        far: float | None,
        value: float,
        interval: Interval,
        photos: Ints,
    ) -> Figure:
        low, high = (None if math.isnan(end) else end for end in interval)
        distinct = np.unique(photos)
        people = len(np.unique(self.people[distinct]))
        return Figure(measure, light, kind, far, value, low, high, people, len(distinct), len(photos))

    def _curves(self, light: str) -> Curves:
        closed, known, strangers = self._answers(light)
        pairs, chosen = self.trials.pairs, self._of(light, self.trials.pairs.photo)
        same, other = pairs.lead[chosen & pairs.same], pairs.lead[chosen & ~pairs.same]
        return Curves(
            cmc(closed.rank) if len(closed) else None,
            thinned(roc(same, other)) if len(same) and len(other) else None,
            thinned(open_set_curve(known.lead, known.right, strangers.lead)) if len(known) and len(strangers) else None,
        )

    def _answers(self, light: str) -> tuple[Answers, Answers, Answers]:
        asked = (self.trials.closed, self.trials.known, self.trials.strangers)
        closed, known, strangers = (each.take(self._of(light, each.photo)) for each in asked)
        return closed, known, strangers

    def _of(self, light: str, photos: Ints) -> NDArray[np.bool_]:
        if light == "all":
            return np.ones(len(photos), bool)
        return np.asarray((self.lights == light)[photos])


def thinned(curve: Roc, points: int = POINTS) -> Roc:
    """Leave out points between which nothing is seen: about as many stay along each axis."""
    if len(curve.far) <= 2 * points:
        return curve
    # Small rates are drawn as large as great ones, so steps are even in the logarithm.
    least = np.log10(max(curve.far[curve.far > 0].min(), 1e-9))
    by_far = np.searchsorted(-curve.far, -np.logspace(0, least, points))
    by_frr = np.searchsorted(curve.frr, np.linspace(0, 1, points))
    kept = np.unique(np.concatenate([[0, len(curve.far) - 1], by_far, by_frr]))
    kept = kept[kept < len(curve.far)]
    return Roc(*(values[kept] for values in curve))
