r"""Small changes of a cloud of gradients, as vectors in the domain of the Discrete R-CDT.

If every point :math:`x_i` of a cloud moves by :math:`\epsilon v_i`, its sorted projections move by

.. math:: \epsilon\, t(n, \theta) = \epsilon \langle v_{\sigma_\theta(n)}, \mathbf w_\theta \rangle,

where :math:`\sigma_\theta` puts the projections on :math:`\mathbf w_\theta` in order: exactly, as long as no point
overtakes another. So a change is one more basis vector beside :math:`\mathbb U_T`, and the translations themselves are
the case of a constant v. "Richer deformations" in docs/method.md has the laws.

Changes of the picture cause them. A picture whose content moves by a matrix M has the gradients
:math:`M^{-\mathsf T} z`: a face turned in the plane turns them, a face stretched or sheared stretches and shears them.
Light does not, in the model of eq. (imageSpace).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lightproof.errors import BadParameter
from lightproof.method.transform import directions
from lightproof.types import Floats

DEFORMATIONS: Final[dict[str, Floats]] = {
    "rotation": np.array([[0.0, -1.0], [1.0, 0.0]]),
    "stretch": np.array([[1.0, 0.0], [0.0, -1.0]]),
    "shear": np.array([[0.0, 1.0], [1.0, 0.0]]),
}
"""Matrices B of the linear maps I + epsilon B. With the identity, which is contrast, they span all linear maps."""


def tangents(cloud: Floats, angles: Floats, names: Sequence[str] = tuple(DEFORMATIONS)) -> Floats:
    r"""First-order change of the Discrete R-CDT of a cloud under linear maps of the cloud.

    .. math:: t_B(n, \theta) = \langle B x_{\sigma_\theta(n)}, \mathbf w_\theta \rangle

    The cloud has shape (..., N, 2), x first, the result (..., len(names), m, N); ``names`` are keys of
    :data:`DEFORMATIONS`.

    Examples
    --------
    >>> tangents(np.array([[2.0, 5.0], [1.0, 7.0]]), np.array([0.0]), ["rotation"]).tolist()
    [[[-7.0, -5.0]]]
    """
    for name in names:
        if name not in DEFORMATIONS:
            raise BadParameter("tangents", "names", f"among {', '.join(map(repr, DEFORMATIONS))}", name)
    matrices = np.array([DEFORMATIONS[name] for name in names]).reshape(-1, 2, 2)
    # <B x, w> = <x, B^T w>: the cloud is projected on other directions, and never moved.
    turned = (directions(angles) @ matrices).astype(cloud.dtype)
    return carry(_project(cloud, directions(angles)), turned @ np.swapaxes(cloud, -1, -2)[..., None, :, :])


def first_order(cloud: Floats, velocities: Floats, angles: Floats) -> Floats:
    r"""First-order change of the Discrete R-CDT of a cloud whose every point has its own velocity, (..., q, m, N).

    Differences are linear, so a picture :math:`J + \epsilon\delta` moves the cloud of J by the differences of
    :math:`\delta`: give these as velocities, cut into the same patches, in q changes of shape (..., q, N, 2).
    """
    if velocities.shape[-2:] != cloud.shape[-2:]:
        legal = f"as many points as `cloud`, {cloud.shape[-2]}"
        raise BadParameter("first_order", "velocities", legal, velocities.shape[-2])
    return carry(_project(cloud, directions(angles)), _project(velocities, directions(angles)))


def carry(projected: Floats, moving: Floats) -> Floats:
    """Put projected velocities, (..., q, m, N), into the order that sorts their projected points, (..., m, N).

    Equal points keep their order; a real change would put the faster one last.
    """
    order = np.argsort(projected, axis=-1, stable=True)[..., None, :, :]
    return np.take_along_axis(moving, np.broadcast_to(order, moving.shape), axis=-1)


def ambient(images: Floats) -> Floats:
    r"""Rate at which :func:`lightproof.method.illumination.log` of a picture changes with even light over all of it.

    .. math:: \frac{d}{d\beta} \frac{\log(1 + 255 (I + \beta))}{\log 256} = \frac{1}{\log 256 \, (1/255 + I)}

    Its differences are velocities for :func:`first_order`; x and y times it give those of a ramp of light. In the
    logarithm contrast is the same change as even light, so this one vector is the first order of both. ``images`` are
    pixels in [0, 1], before the logarithm, of any shape (..., h, w); so is the rate.
    """
    rate: Floats = 1 / (images.dtype.type(np.log(256)) * (images.dtype.type(1 / 255) + images))
    return rate


def _project(vectors: Floats, onto: Floats) -> Floats:
    """Project vectors, (..., N, 2), on directions, (m, 2) -> (..., m, N)."""
    return np.asarray(onto.astype(vectors.dtype) @ np.swapaxes(vectors, -1, -2))
