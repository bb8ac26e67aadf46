r"""The Discrete CDT and R-CDT, and the distances they turn into Euclidean ones.

Differs from the paper: (I) an integral over :math:`\theta` is a mean over the given angles; (II) the angles are those
of :func:`projection_angles`, whose scheme ``"authors"`` is not evenly spaced.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.core.jit import compiled
from lightproof.errors import BadParameter
from lightproof.types import Array, Floats, is_whole

AUTHORS_DEGREES: Final = {2: (30.0, 120.0), 3: (0.0, 45.0, 135.0), 4: (0.0, 45.0, 135.0, 179.0)}
"""Angles of the authors' released code that follow no rule; every other number is spread over 0 to 179 degrees."""

ANGLE_SCHEMES: Final = ("uniform", "authors")


def projection_angles(m: int, scheme: str = "uniform") -> Floats:
    r"""Directions :math:`\theta_1, ..., \theta_m` of Remark 3.1, in radians.

    Parameters
    ----------
    m : int
        Number of directions, 1 or more.
    scheme : {"uniform", "authors"}
        ``"uniform"`` spreads them evenly over :math:`[0, \pi)`. ``"authors"`` gives those of the released code:
        30, 120 degrees for two; 0, 45, 135 for three; 0, 45, 135, 179 for four; else m steps from 0 to 179.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> np.rad2deg(projection_angles(4)).round(6).tolist()
    [0.0, 45.0, 90.0, 135.0]
    """
    if not is_whole(m, 1):
        raise BadParameter("projection_angles", "m", "an int of 1 or more", m)
    if scheme == "uniform":
        return np.arange(m) * (np.pi / m)
    if scheme == "authors":
        return np.deg2rad(AUTHORS_DEGREES.get(int(m), np.linspace(0.0, 179.0, m)))
    raise BadParameter("projection_angles", "scheme", f"one of {', '.join(map(repr, ANGLE_SCHEMES))}", scheme)


def directions(angles: Floats) -> Floats:
    r"""Unit vectors :math:`\mathbf w_\theta = (\cos\theta, \sin\theta)` of eq. (proj_distr), (m,) -> (m, 2)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def project(fields: Floats, angles: Floats) -> Floats:
    """Project fields of gradient vectors, x first, on every direction, (n, 2, h, w), (m,) -> (n, m, h, w)."""
    onto = directions(angles).astype(fields.dtype)
    out = np.empty((len(fields), len(onto), *fields.shape[2:]), fields.dtype)
    _put_projections(fields.reshape(*fields.shape[:2], -1), onto, out.reshape(*out.shape[:2], -1))
    return out


@compiled
def _put_projections(fields: Floats, onto: Floats, out: Floats) -> None:
    for n in range(len(fields)):
        right, down = fields[n, 0], fields[n, 1]
        for j in range(len(onto)):
            cosine, sine, projected = onto[j, 0], onto[j, 1], out[n, j]
            for i in range(len(projected)):
                projected[i] = cosine * right[i] + sine * down[i]


def discrete_cdt(values: Array) -> Array:
    r"""Discrete Cumulative Distribution Transform, Definition 3.1: the points in increasing order.

    Parameters
    ----------
    values : ndarray of shape (..., N)
        Where the N equal masses of each one-dimensional distribution sit.

    Returns
    -------
    ndarray of shape (..., N)
        Ascending along the last axis.

    Examples
    --------
    >>> discrete_cdt(np.array([3.0, 1.0, 2.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.sort(values, axis=-1)


def discrete_rcdt(cloud: Floats, angles: Floats) -> Floats:
    r"""Discrete Radon-CDT of a cloud of 2-D vectors, Definition 3.2.

    Each vector is projected on every direction, and each projection is sorted.

    Parameters
    ----------
    cloud : ndarray of shape (..., N, 2)
        Gradient vectors, x first.
    angles : ndarray of shape (m,)
        Directions in radians; see :func:`projection_angles`.

    Returns
    -------
    ndarray of shape (..., m, N)
        Ascending along the last axis.
    """
    return discrete_cdt(directions(angles) @ np.swapaxes(cloud, -1, -2))


def wasserstein_1d(first: Floats, second: Floats) -> Floats:
    r"""2-Wasserstein distance of two point sets on a line, by the isometry of eq. (dcdtembedding).

    .. math:: W_2 = \sqrt{\tfrac1N \lVert \mathcal F(P_1) - \mathcal F(P_2) \rVert^2}

    Parameters
    ----------
    first, second : ndarray of shape (..., N)

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> float(wasserstein_1d(np.array([0.0, 1.0]), np.array([3.0, 2.0])))
    2.0
    """
    _check_same_points(first, second, "wasserstein_1d", axis=-1)
    apart: Floats = discrete_cdt(first) - discrete_cdt(second)
    return np.asarray(np.sqrt(np.mean(np.square(apart), axis=-1)))


def sliced_wasserstein(first: Floats, second: Floats, angles: Floats) -> Floats:
    r"""Discrete sliced Wasserstein distance of two clouds, eq. (dsw), over a finite set of angles.

    .. math:: d = \sqrt{\tfrac1m \sum_j W_2^2\big(P_1(\theta_j), P_2(\theta_j)\big)}

    The paper integrates over :math:`[0, \pi)` and leaves out the :math:`1/N`: its d is :math:`\sqrt{\pi N}` times this
    one, which is the usual normalization and ranks people alike.

    Parameters
    ----------
    first, second : ndarray of shape (..., N, 2)
    angles : ndarray of shape (m,)

    Returns
    -------
    ndarray of shape (...)
    """
    _check_same_points(first, second, "sliced_wasserstein", axis=-2)
    apart = discrete_rcdt(first, angles) - discrete_rcdt(second, angles)
    return np.asarray(np.sqrt(np.mean(np.square(apart), axis=(-2, -1))))


def flatten(transform: Array) -> Array:
    """Lay the m sorted projections of a patch end to end, as Remark 3.1 does, (..., m, N) -> (..., m * N)."""
    return transform.reshape(*transform.shape[:-2], -1)


def cosines(n_points: int, detail: int) -> Floats:
    r"""Orthonormal cosines that describe a sorted projection: :math:`\cos(\pi j (n + 1/2) / N)`, j = 1, ..., detail.

    A sorted projection is a smooth rising curve, so a few cosines hold nearly all of it. The constant, j = 0, is left
    out: a translation of the cloud changes nothing else, so the cosines are at right angles to
    :func:`translation_vectors`.

    Parameters
    ----------
    n_points : int
        Points per patch, N.
    detail : int
        Number of cosines, 1 to N - 1.

    Returns
    -------
    ndarray of shape (detail, N)

    Examples
    --------
    >>> cosines(2, 1).round(3).tolist()
    [[0.707, -0.707]]
    """
    if not is_whole(detail, 1) or detail >= n_points:
        raise BadParameter("cosines", "detail", f"an int from 1 to N - 1 = {n_points - 1}", detail)
    waves = np.cos(np.pi / n_points * np.outer(np.arange(1, detail + 1), np.arange(n_points) + 0.5))
    return np.asarray(np.sqrt(2 / n_points) * waves)


def plane_cosines(cell: int, detail: int) -> Floats:
    r"""Orthonormal cosines over a square patch, both ways: :math:`\cos(\pi i (y + 1/2) / c) \cos(\pi j (x + 1/2) / c)`.

    They describe roughly where in a patch something lies. The constant, i = j = 0, is left out: a ramp of light added
    to a picture changes nothing else in its differences.

    Parameters
    ----------
    cell : int
        Side of a patch, c.
    detail : int
        The most half waves in either direction, 1 to c - 1.

    Returns
    -------
    ndarray of shape ((detail + 1) ** 2 - 1, cell * cell)

    Examples
    --------
    >>> plane_cosines(2, 1).round(3).tolist()
    [[0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]
    """
    line = np.concatenate([np.full((1, cell), cell**-0.5), cosines(cell, detail)])
    return np.kron(line, line)[1:]


def translation_vectors(angles: Floats, n_points: int) -> Floats:
    r"""The set :math:`\mathbb U_T` of eq. (subspace): what adding a constant gradient does to a flattened R-CDT.

    :math:`\mu_1(n, \theta) = \cos\theta` and :math:`\mu_2(n, \theta) = \sin\theta`, flattened as the features are.

    Parameters
    ----------
    angles : ndarray of shape (m,)
    n_points : int
        Points per patch, N.

    Returns
    -------
    ndarray of shape (2, m * N)
    """
    return flatten(np.repeat(directions(angles).T[:, :, None], n_points, axis=2))


def _check_same_points(first: Floats, second: Floats, owner: str, axis: int) -> None:
    if first.shape[axis] != second.shape[axis]:
        raise BadParameter(owner, "second", f"as many points as `first`, {first.shape[axis]}", second.shape[axis])
