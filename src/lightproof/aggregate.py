"""Distances of all patches -> one number per person, the smaller the nearer.

To add a rule, write a function from distances (K, n, C) to weights (K, n) and enter it in :data:`AGGREGATES`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lightproof.types import Floats


def equal_weights(distances: Floats) -> Floats:
    r"""Weigh every patch by 1: :math:`d^c = \sum_k d_k^c`, eq. (dis).

    Parameters
    ----------
    distances : ndarray of shape (K, n, C)

    Returns
    -------
    ndarray of shape (K, n)
    """
    return np.ones(distances.shape[:2], distances.dtype)


def normalizing_weights(distances: Floats) -> Floats:
    r"""Weigh a patch by one over the norm of its distances to all people, as the authors' code does.

    :math:`d^c = \sum_k d_k^c / \lVert d_k + 10^{-5} \rVert`, the norm taken over the people. Every patch then has the
    same say, however bright it is. The paper does not mention this step.

    Parameters
    ----------
    distances : ndarray of shape (K, n, C)

    Returns
    -------
    ndarray of shape (K, n)
    """
    n_people = distances.shape[2]
    ones = np.ones(n_people, distances.dtype)
    # |d + e|^2 = |d|^2 + 2 e sum(d) + C e^2 needs no copy of d.
    square = np.vecdot(distances, distances) + 2e-5 * (distances @ ones) + n_people * 1e-10
    weights: Floats = (1 / np.sqrt(square)).astype(distances.dtype)
    return weights


AGGREGATES: Final[dict[str, Callable[[Floats], Floats]]] = {"sum": equal_weights, "normalized": normalizing_weights}


def combine(distances: Floats, rule: str) -> Floats:
    """Sum the weighted distances over the patches, (K, n, C) -> (n, C)."""
    # A product of (1, K) and (K, C) for each image: weighting and sum in one pass.
    weights = AGGREGATES[rule](distances).T[:, None, :]
    total: Floats = np.matmul(weights, distances.transpose(1, 0, 2))[:, 0, :]
    return total


def contributions(distances: Floats, rule: str) -> Floats:
    """Return what each patch adds to :func:`combine`, shape (K, n, C)."""
    return distances * AGGREGATES[rule](distances)[:, :, None]
