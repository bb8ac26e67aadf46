"""Distances of all patches -> one number per person, the smaller the nearer.

Every rule is a sum over the patches, so the map of what the patches add is the decision itself. A rule is a function
from the distances of K patches of n images to C people, shape (K, n, C), to what each patch adds, of the same shape. To
add a rule, enter it in :data:`AGGREGATES`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lightproof.types import Floats

SHARPNESS: Final = 6.0
"""How fast the closeness of a patch falls with the distance in :func:`bounded`."""


def plain(distances: Floats) -> Floats:
    r"""Add the distances as they are: :math:`d^c = \sum_k d_k^c`, eq. (dis)."""
    return distances


def normalized(distances: Floats) -> Floats:
    r"""Divide the distances of a patch by their norm over all people, as the authors' code does.

    :math:`d^c = \sum_k d_k^c / \lVert d_k + 10^{-5} \rVert`. Every patch then counts the same, however bright it is.
    The paper does not mention this step.
    """
    n_people = distances.shape[2]
    ones = np.ones(n_people, distances.dtype)
    # |d + e|^2 = |d|^2 + 2 e sum(d) + C e^2 needs no copy of d.
    square = np.vecdot(distances, distances) + 2e-5 * (distances @ ones) + n_people * 1e-10
    weights: Floats = (1 / np.sqrt(square)).astype(distances.dtype)
    return distances * weights[:, :, None]


def bounded(distances: Floats) -> Floats:
    r"""Let a patch add at most 1: :math:`d^c = \sum_k 1 - e^{-6 s_k^c}`.

    :math:`s_k^c`, within [0, 1], is the relative distance, the sine of the angle between patch and subspace: see
    :data:`RELATIVE`. A patch that matches nobody, in shadow or covered, adds about 1 for everybody, which decides
    nothing.
    """
    out = distances * distances.dtype.type(-SHARPNESS)
    np.expm1(out, out=out)
    return np.negative(out, out=out)


AGGREGATES: Final[dict[str, Callable[[Floats], Floats]]] = {"sum": plain, "normalized": normalized, "bounded": bounded}

RELATIVE: Final = {"bounded"}
"""Rules for distances relative to the length of the patch's own vector, beyond the translation vectors."""


def combine(distances: Floats, rule: str) -> Floats:
    """Sum what the patches add by a rule, (K, n, C) -> (n, C)."""
    total: Floats = AGGREGATES[rule](distances).sum(axis=0)
    return total
