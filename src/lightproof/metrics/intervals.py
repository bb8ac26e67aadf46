"""Confidence intervals of rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.special import ndtri

from lightproof.errors import BadParameter
from lightproof.metrics.rates import checked_scores, crossing
from lightproof.types import Array, Floats, Ints

RESAMPLES: Final = 1000
"""Resamples of people for an interval."""

N_THRESHOLDS: Final = 1000
"""Thresholds at which the interval of an equal error rate is computed."""

_RESAMPLES_PER_BLOCK: Final = 100
"""Memory stays bounded."""

Interval = tuple[float, float]
"""Lower and upper end; both NaN if nothing can be said."""


def wilson_interval(right: float, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share.

    Parameters
    ----------
    right : float
        How many of ``n`` were right; a mean over galleries need not be whole.
    n : int
    level : float

    Examples
    --------
    >>> low, high = wilson_interval(9, 10)
    >>> f"{low:.3f} {high:.3f}"
    '0.596 0.982'
    """
    # scipy's own takes whole numbers only; a mean over galleries need not be one.
    z = float(ndtri(0.5 + level / 2))
    share, width = right / n, z * z / n
    half = z * math.sqrt(max(share * (1 - share), 0.0) / n + width / (4 * n))
    return max(0.0, (share + width / 2 - half) / (1 + width)), min(1.0, (share + width / 2 + half) / (1 + width))


def bootstrap_by_person(
    statistic: Callable[[Ints], float], people: Array, n: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> Interval:
    """Percentile interval of any figure, with people drawn again and not photos: photos of one person go together.

    Parameters
    ----------
    statistic : callable
        Takes positions of photos, some of them several times, and returns the figure; NaN if there is none.
    people : ndarray of shape (n_photos,)
        The person on each photo. With fewer than two people the interval is NaN: one says nothing about others.
    n : int
        Resamples.
    seed : int
    level : float
    """
    times, person = _drawn(people, n, seed)
    photos = np.split(np.argsort(person, kind="stable"), np.cumsum(np.bincount(person))[:-1])
    drawn = (np.concatenate([photos[i] for i in np.repeat(np.arange(len(photos)), row.astype(int))]) for row in times)
    return _percentiles(times, np.array([statistic(positions) for positions in drawn]), level)


def share_by_person(right: Array, people: Array, n: int = RESAMPLES, seed: int = 0, level: float = 0.95) -> Interval:
    """Interval of a mean as :func:`bootstrap_by_person` has it, computed at once.

    If everybody has the same share, the bootstrap would see no spread; then it is Wilson's interval, with each person
    counted once.

    Parameters
    ----------
    right : ndarray of shape (n_photos,)
        Whether each photo was right, or how often, 0 to 1.
    people : ndarray of shape (n_photos,)
    n, seed, level
        As in :func:`bootstrap_by_person`.
    """
    times, person = _drawn(people, n, seed)
    photos = np.bincount(person)
    shares = np.bincount(person, weights=np.asarray(right, float)) / photos
    if len(photos) > 1 and np.ptp(shares) < 1e-12:
        return wilson_interval(float(shares.sum()), len(shares), level)
    return _percentiles(times, (times @ (shares * photos)) / (times @ photos), level)


def equal_error_by_person(
    genuine: Floats,
    genuine_people: Array,
    impostor: Floats,
    impostor_people: Array,
    n: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Interval of the equal error rate as :func:`bootstrap_by_person` has it, computed at once on some thresholds.

    If no resample has an error, it is Wilson's interval of none, with each person counted once.

    Parameters
    ----------
    genuine, impostor : ndarray of shape (g,) and (i,)
    genuine_people, impostor_people : ndarray of shape (g,) and (i,)
        The person on the probe of each pair.
    n, seed, level
        As in :func:`bootstrap_by_person`.
    """
    same = checked_scores("equal_error_by_person", "genuine", genuine)
    other = checked_scores("equal_error_by_person", "impostor", impostor)
    times, person = _drawn(np.concatenate([np.ravel(genuine_people), np.ravel(impostor_people)]), n, seed)
    thresholds = np.unique(np.quantile(np.concatenate([same, other]), np.linspace(0, 1, N_THRESHOLDS), method="lower"))
    refused = _refused(same, person[: len(same)], thresholds, times.shape[1])
    spared = _refused(other, person[len(same) :], thresholds, times.shape[1])
    rates = []
    for start in range(0, n, _RESAMPLES_PER_BLOCK):
        block = times[start : start + _RESAMPLES_PER_BLOCK]
        low, high = block @ refused, block @ spared
        with np.errstate(invalid="ignore"):  # nobody with such a pair was drawn: NaN
            rates.append(crossing(1 - high[:, :-1] / high[:, -1:], low[:, :-1] / low[:, -1:]))
    errors = np.concatenate(rates)
    if times.shape[1] > 1 and not errors.any():
        return wilson_interval(0, times.shape[1], level)
    return _percentiles(times, errors, level)


def _refused(scores: Floats, person: Ints, thresholds: Floats, n_people: int) -> Floats:
    """Count the scores of each person that do not exceed each threshold, -inf first, all last: (people, t + 2)."""
    steps = len(thresholds) + 2
    step = 1 + np.searchsorted(thresholds, scores, side="left")
    counts = np.bincount(person * steps + step, minlength=n_people * steps).reshape(n_people, steps)
    return np.asarray(counts.cumsum(axis=1), dtype=np.float64)


def _drawn(people: Array, n: int, seed: int) -> tuple[Floats, Ints]:
    """Draw people: how often each is in each resample, (n, people), and the number of the person on each photo."""
    if not np.size(people):
        raise BadParameter("the interval", "people", "one or more", "none")
    names, person = np.unique(people, return_inverse=True)
    count = len(names)
    times = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=n)
    return times.astype(np.float64), np.asarray(person, dtype=np.intp).ravel()


def _percentiles(times: Floats, values: Floats, level: float) -> Interval:
    valid = values[~np.isnan(values)]
    if times.shape[1] < 2 or not len(valid):
        return math.nan, math.nan
    low, high = np.quantile(valid, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
