r"""Images -> where in every patch the gradients lie.

The Discrete R-CDT says which gradients a patch holds but not where, so it tolerates a slightly misaligned face. Here
they roughly keep their places: the low cosines over the patch describe both differences of the picture. A change of
light, :math:`\alpha I + \beta + b \cdot x` in a patch, multiplies the gradients and adds a constant, which the cosines
leave out; so it only scales this vector, as it does the sorted one.
"""

from __future__ import annotations

import numpy as np

from lightproof.method.gradients import GRADIENTS
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import MethodSettings
from lightproof.method.transform import plane_cosines
from lightproof.types import Floats


class PatchDCT:
    """Describes pictures by where in each patch the gradients lie; a patch's vector has the length ``n_numbers``, D."""

    def __init__(self, settings: MethodSettings, grid: PatchGrid, detail: int) -> None:
        self._grid = grid
        self._gradients = GRADIENTS[settings.gradient]
        self._cosines = plane_cosines(settings.cell, detail).astype(settings.dtype)
        self.n_numbers = 2 * len(self._cosines)

    def describe(self, pictures: Floats) -> Floats:
        """Compute the features of pictures that the light was taken out of, (n, h, w) -> (n, K, D)."""
        return np.ascontiguousarray(self._waves(self._gradients(pictures)).swapaxes(1, 2))

    def samples(self, fields: Floats) -> Floats:
        """Compute the features of pictures by their gradients, patches last, (n, L, 2, h, w) -> (n, L, D, K)."""
        waves = self._waves(fields.reshape(-1, *fields.shape[2:]))
        return waves.reshape(*fields.shape[:2], *waves.shape[1:])

    def _waves(self, fields: Floats) -> Floats:
        """Describe fields of gradients, (n, 2, h, w) -> (n, D, K)."""
        # A product for each picture: one over all would differ in the last bit with the number of pictures.
        waves: Floats = self._cosines @ self._grid.lanes(fields)
        return waves.reshape(len(fields), self.n_numbers, self._grid.n_patches)
