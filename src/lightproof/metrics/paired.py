"""Tests of whether two methods differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lightproof.types import Array


class Paired(NamedTuple):
    """Two methods on the same photos.

    Attributes
    ----------
    first_only, second_only : int
        Photos on which only one of them was right; with several galleries, right in more of them.
    p : float
        Probability of a split at least as uneven if neither were better.
    """

    first_only: int
    second_only: int
    p: float


def mcnemar(first: Array, second: Array) -> Paired:
    """McNemar's exact test of two methods on the same photos.

    Parameters
    ----------
    first, second : ndarray of shape (n,) or (galleries, n)
        Whether each photo was named correctly. With several galleries each photo counts once, for the method that
        was right in more of them: its answers are not independent.

    Examples
    --------
    >>> import numpy as np
    >>> mcnemar(np.array([1, 1, 1, 1, 1, 0]), np.array([0, 0, 0, 0, 1, 0]))
    Paired(first_only=4, second_only=0, p=0.125)
    """
    return _sign_test(_lead(first, second))


def compare_by_person(first: Array, second: Array, people: Array) -> Paired:
    """Test two methods with each person counted once, not each photo: photos of one person are alike.

    Parameters
    ----------
    first, second : ndarray of shape (n,) or (galleries, n)
        Whether each photo was named correctly.
    people : ndarray of shape (n,)
        The person on each photo.
    """
    _, person = np.unique(people, return_inverse=True)
    return _sign_test(np.bincount(person, weights=_lead(first, second)))


def _lead(first: Array, second: Array) -> Array:
    """Count by photo in how many more galleries the first method was right."""
    ahead: Array = np.atleast_2d(first).sum(axis=0, dtype=int) - np.atleast_2d(second).sum(axis=0, dtype=int)
    return ahead


def _sign_test(lead: Array) -> Paired:
    from scipy.stats import binomtest  # slow to load, and only comparisons need it

    ahead, behind = int((lead > 0).sum()), int((lead < 0).sum())
    p = float(binomtest(ahead, ahead + behind).pvalue) if ahead + behind else 1.0
    return Paired(ahead, behind, p)
