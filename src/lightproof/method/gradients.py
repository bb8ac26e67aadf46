"""Image -> horizontal and vertical differences, (..., h, w) -> (..., 2, h, w).

The horizontal difference comes first, positive to the right, then the vertical one, positive downward. Images have at
least 2 x 2 pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lightproof.core.jit import compiled
from lightproof.types import Floats


def sobel(images: Floats) -> Floats:
    """Sobel 3 x 3 differences with a reflect-101 border, not scaled, as the authors' code takes them.

    Beyond the border the picture is mirrored about its last row and column, so the difference across the border is 0
    in any light: patches that touch the border do not follow the model of eq. (imageSpace) exactly.
    """
    out = np.empty((*images.shape[:-2], 2, *images.shape[-2:]), images.dtype)
    _put_sobel(images.reshape(-1, *images.shape[-2:]), out.reshape(-1, *out.shape[-3:]))
    return out


def central_differences(images: Floats) -> Floats:
    """Half the difference of the two neighbors; at the border, the one-sided difference.

    Exact for a ramp of light everywhere, the border included.
    """
    return np.stack([np.gradient(images, axis=-1), np.gradient(images, axis=-2)], axis=-3)


GRADIENTS: Final[dict[str, Callable[[Floats], Floats]]] = {"sobel": sobel, "central": central_differences}


@compiled
def _put_sobel(images: Floats, out: Floats) -> None:
    """Put the differences of images, shape (n, h, w), into ``out``, shape (n, 2, h, w)."""
    height, last = images.shape[1], images.shape[2] - 1
    for n in range(len(images)):
        for row in range(height):
            # About the outermost row and column the picture is mirrored.
            above = images[n, row - 1 if row > 0 else 1]
            below = images[n, row + 1 if row + 1 < height else height - 2]
            here, across, down = images[n, row], out[n, 0, row], out[n, 1, row]
            for i in range(1, last):
                left = here[i - 1] + here[i - 1] + above[i - 1] + below[i - 1]
                right = here[i + 1] + here[i + 1] + above[i + 1] + below[i + 1]
                across[i] = right - left
                top = above[i] + above[i] + above[i - 1] + above[i + 1]
                down[i] = below[i] + below[i] + below[i - 1] + below[i + 1] - top
            for i, inner in ((0, 1), (last, last - 1)):
                across[i] = 0
                top = above[i] + above[i] + above[inner] + above[inner]
                down[i] = below[i] + below[i] + below[inner] + below[inner] - top
