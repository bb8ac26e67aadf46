"""Copies of photos under other lights, by the paper's model of light over the whole picture."""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.types import Floats

ALPHA: Final = (0.1, 3.0)
BETA: Final = (1.0, 30.0)
SLOPE: Final = (0.1, 3.0)
"""The paper's ranges of alpha, beta and both parts of b, for grey values 0..255."""


def relight(images: Floats, alpha: Floats, beta: Floats, b: Floats) -> Floats:
    r"""Put each image under another light: :math:`\alpha I + \beta + b \cdot x`, not clipped.

    Parameters
    ----------
    images : ndarray of shape (n, h, w)
        Grey values 0..255.
    alpha, beta : ndarray of shape (n,)
        Contrast and brightness.
    b : ndarray of shape (n, 2)
        Grey values from the first row to the last, and from the first column to the last: :math:`x` is in the unit
        square.

    Returns
    -------
    ndarray of shape (n, h, w)
    """
    rows, columns = np.linspace(0, 1, images.shape[1])[:, None], np.linspace(0, 1, images.shape[2])
    alpha, beta, down, across = (part[:, None, None] for part in (alpha, beta, b[:, 0], b[:, 1]))
    relit: Floats = alpha * images + beta + down * rows + across * columns
    return relit


def relit_copies(images: Floats, rng: np.random.Generator) -> Floats:
    """Put each image, with white = 1, under a light drawn from the paper's ranges; clip it to black and white."""
    n = len(images)
    relit = relight(255 * images, rng.uniform(*ALPHA, n), rng.uniform(*BETA, n), rng.uniform(*SLOPE, (n, 2)))
    return np.clip(relit / 255, 0, 1).astype(images.dtype)
