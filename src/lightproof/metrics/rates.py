"""Rates of identification (1:N) and verification (1:1), and their curves.

A higher score means more alike, and a score is accepted when it is strictly above the threshold. So tied scores are
accepted or refused together, and a threshold that is a stranger's own score refuses that stranger.

In 1:N search among strangers ``far`` is the FPIR of ISO/IEC 19795-1, the false-positive identification rate, and
``found`` the TPIR at rank 1, the true-positive identification rate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lightproof.errors import BadParameter
from lightproof.types import Array, Floats, Ints


def cmc(ranks: Array, n_people: int | None = None) -> Floats:
    """Cumulative match characteristic: the share of photos whose person is among the best 1, 2, 3, ...

    Parameters
    ----------
    ranks : ndarray of shape (n,)
        Rank of the right person, 1 for the best match; infinite for a person who is not enrolled.
    n_people : int, optional
        Length of the answer; the largest finite rank if not given.

    Examples
    --------
    >>> cmc(np.array([1, 3, 1, 2]))
    array([0.5 , 0.75, 1.  ])
    """
    ranks = np.asarray(ranks, dtype=np.float64)
    if not len(ranks) or not ranks.min() >= 1:
        raise BadParameter("cmc", "ranks", "one or more ranks from 1 on", ranks.min() if len(ranks) else "none")
    finite = ranks[np.isfinite(ranks)]
    length = int(finite.max(initial=1)) if n_people is None else n_people
    counts = np.bincount(np.minimum(finite, length + 1).astype(int), minlength=length + 2)[1 : length + 1]
    return np.asarray(np.cumsum(counts) / len(ranks))


def rank_of(scores: Floats, truth: Ints) -> Ints:
    """Rank of the right person among all, 1 for the best; people tied with the right one rank before.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
    truth : ndarray of shape (n,)
        Column of the right person.
    """
    own = np.take_along_axis(scores, truth[:, None], axis=1)
    return np.asarray((scores >= own).sum(axis=1), dtype=np.intp)


class Roc(NamedTuple):
    """Both errors at every threshold that makes a difference, from accepting everything to accepting nothing.

    Attributes
    ----------
    thresholds : ndarray of shape (t,)
        Rising, from minus infinity.
    far : ndarray of shape (t,)
        Share of the impostors accepted; falls from 1 to 0.
    frr : ndarray of shape (t,)
        Share of the genuine refused; rises from 0 to 1.
    """

    thresholds: Floats
    far: Floats
    frr: Floats


def roc(genuine: Floats, impostor: Floats) -> Roc:
    """False acceptance against false rejection; the DET curve is the same on other axes.

    Parameters
    ----------
    genuine, impostor : ndarray of any shape
        Scores of pairs of photos of the same person, and of different people.

    Examples
    --------
    >>> found = roc(np.array([1.0, 3.0]), np.array([0.0, 1.0]))
    >>> [values.tolist() for values in found]
    [[-inf, 0.0, 1.0, 3.0], [1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0]]
    """
    same, other = checked_scores("roc", "genuine", genuine), checked_scores("roc", "impostor", impostor)
    return _curve(same, other)


def equal_error_rate(genuine: Floats, impostor: Floats) -> float:
    """Error at which the share of impostors accepted is that of genuine pairs refused.

    The curve is straight between neighboring thresholds, so the answer depends on the order of the scores alone.

    Examples
    --------
    >>> equal_error_rate(np.array([2.0, 3.0, 5.0, 6.0]), np.array([0.0, 1.0, 1.5, 4.0]))
    0.25
    """
    _, far, frr = roc(genuine, impostor)
    return float(crossing(far[None], frr[None])[0])


class OpenSet(NamedTuple):
    """Rates of a search among strangers at a threshold.

    Attributes
    ----------
    found : float
        Share of the enrolled people's photos that are accepted and rightly named, the TPIR.
    far : float
        Share of the strangers that are accepted, the FPIR.
    threshold : float
    """

    found: float
    far: float
    threshold: float


def open_set(best: Floats, right: Array, stranger_best: Floats, far: float) -> OpenSet:
    """Rates at the lowest threshold that accepts at most the share ``far`` of the strangers.

    With ties among the strangers it may accept fewer, never more. With n strangers a rate under 1 / n accepts none.

    Parameters
    ----------
    best : ndarray of shape (n,)
        Score of the best match of each photo of somebody enrolled.
    right : ndarray of shape (n,), bool
        Whether the best match is the right person.
    stranger_best : ndarray of shape (s,)
        Score of the best match of each stranger's photo.
    far : float
        0 to 1.

    Examples
    --------
    >>> open_set(np.array([5.0, 4.0, 2.0]), np.array([True, False, True]), np.array([0.0, 1.0, 2.0, 3.0]), 0.5)
    OpenSet(found=0.6666666666666666, far=0.5, threshold=1.0)
    """
    if not 0 <= far <= 1:
        raise BadParameter("open_set", "far", "a share from 0 to 1", far)
    strangers = np.sort(checked_scores("open_set", "stranger_best", stranger_best))[::-1]
    # 0.29 * 100 is a little under 29.
    allowed = int(far * len(strangers) + 1e-9)
    threshold = -math.inf if allowed >= len(strangers) else float(strangers[allowed])
    return open_set_at(best, right, strangers, threshold)


def open_set_at(best: Floats, right: Array, stranger_best: Floats, threshold: float) -> OpenSet:
    """Rates at a given threshold; arguments as in :func:`open_set`."""
    best = checked_scores("open_set_at", "best", best)
    strangers = checked_scores("open_set_at", "stranger_best", stranger_best)
    found = np.mean((best > threshold) & np.asarray(right, bool).ravel())
    return OpenSet(float(found), float(np.mean(strangers > threshold)), threshold)


def open_set_curve(best: Floats, right: Array, stranger_best: Floats) -> Roc:
    """Return :func:`open_set` at every threshold: ``far`` of strangers, ``frr`` the share not found or not named."""
    best = checked_scores("open_set_curve", "best", best)
    strangers = checked_scores("open_set_curve", "stranger_best", stranger_best)
    # A photo taken for somebody else is not found at any threshold.
    return _curve(np.where(np.asarray(right, bool).ravel(), best, -np.inf), strangers)


def checked_scores(owner: str, name: str, scores: Array) -> Floats:
    """Flatten scores, and refuse none at all or some that are not finite."""
    flat = np.asarray(scores, dtype=np.float64).ravel()
    bad = int((~np.isfinite(flat)).sum())
    if bad or not len(flat):
        got = f"{bad} of {len(flat)} that are not" if bad else "none"
        raise BadParameter(owner, name, "one or more finite numbers", got)
    return flat


def crossing(far: Floats, frr: Floats) -> Floats:
    """Where falling and rising rates meet, (n, t) -> (n,); both are straight between neighbors."""
    over = frr >= far
    after = np.where(over.any(axis=1), over.argmax(axis=1), far.shape[1] - 1)
    before = np.maximum(after - 1, 0)
    rows = np.arange(len(far))
    fall, gap = far[rows, before] - far[rows, after], far[rows, before] - frr[rows, before]
    rise = frr[rows, after] - frr[rows, before]
    step = np.divide(gap, fall + rise, out=np.zeros_like(gap), where=fall + rise > 0)
    return np.asarray(far[rows, before] - np.clip(step, 0, 1) * fall)


def _curve(genuine: Floats, impostor: Floats) -> Roc:
    values = np.unique(np.concatenate([genuine, impostor]))
    thresholds = np.concatenate([[-np.inf], values[np.isfinite(values)]])
    refused = np.searchsorted(np.sort(genuine), thresholds, side="right") / len(genuine)
    spared = np.searchsorted(np.sort(impostor), thresholds, side="right") / len(impostor)
    return Roc(thresholds, 1 - spared, refused)
