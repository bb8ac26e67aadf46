"""Images -> the Discrete R-CDT of the gradients of every patch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lightproof.core.images import Images, bring_to_size, check_images
from lightproof.errors import BadImage
from lightproof.method.deformations import DEFORMATIONS, tangents
from lightproof.method.gradients import GRADIENTS
from lightproof.method.illumination import LIGHTS
from lightproof.method.patches import PatchGrid
from lightproof.method.presets import MethodSettings
from lightproof.method.sorting_network import PatchSorter
from lightproof.method.transform import cosines, directions, flatten, project, projection_angles, translation_vectors
from lightproof.method.warps import COPIES, with_copies
from lightproof.types import Floats

IMAGES_PER_BLOCK: Final = 16
"""Images described together: their projections stay in the processor's cache."""

MAX_POINTS_FOR_SORTER: Final = 64
"""Points of the largest patches that :class:`PatchSorter` sorts; larger ones are sorted faster one by one."""

SPANNED_DEFORMATIONS: Final[dict[str, tuple[str, ...]]] = {
    "none": (),
    **{name: (name,) for name in DEFORMATIONS},
    "all": tuple(DEFORMATIONS),
}
"""Deformations of the gradients whose tangents share a photo's span, by the name of the setting."""

TANGENT_SIZE: Final = 0.1
"""Size of the deformation that a tangent stands for, in radians or as a share: its weight beside photos and copies."""


class PatchRCDTExtractor:
    """Describes images, by settings already checked: sorted projections of the gradients of each patch.

    Attributes
    ----------
    gradients_ : callable
        Takes the differences of what :meth:`unlit` returns, (..., h, w) -> (..., 2, h, w).
    angles_ : ndarray of shape (m,)
    translation_ : ndarray of shape (2, m * N), or of length 0
        The translation vectors, flattened like a patch. The cosines leave nothing of them.
    """

    def __init__(self, settings: MethodSettings, shape: tuple[int, ...]) -> None:
        self.prepare(settings, shape)

    def prepare(self, settings: MethodSettings, shape: tuple[int, ...]) -> None:
        """Get ready for images that are brought to ``shape``, rows and columns."""
        self.grid_ = PatchGrid(int(shape[0]), int(shape[1]), settings.cell, settings.overlap)
        self.gradients_ = GRADIENTS[settings.gradient]
        self.angles_ = projection_angles(settings.n_angles, settings.angle_scheme)
        self.translation_ = translation_vectors(self.angles_, self.grid_.n_points)
        self._cosines: Floats | None = None
        self._sorters: dict[PatchGrid, PatchSorter] = {}
        if isinstance(settings.detail, int):
            self._cosines = cosines(self.grid_.n_points, settings.detail).astype(settings.dtype)
            self.translation_ = np.zeros((0, len(self.angles_) * len(self._cosines)))
        self.settings_ = settings

    @property
    def n_numbers(self) -> int:
        """Length of a patch's vector, D."""
        return int(self.translation_.shape[1])

    def patch_vectors(self, X: Images) -> Floats:
        """Compute the features of images, (n, h, w) or a list of (h, w), one vector per patch -> (n, K, D)."""
        images = self.check(X)
        out = np.empty((len(images), self.grid_.n_patches, self.n_numbers), self.settings_.dtype)
        for start in range(0, len(images), IMAGES_PER_BLOCK):
            block = slice(start, start + IMAGES_PER_BLOCK)
            self.describe(self.unlit(images[block]), out=out[block])
        return out

    def enrolled_vectors(self, images: Images, copies: str, deformations: str) -> Floats:
        """Compute what checked images put into a span, shape (n, 1 + copies + tangents, K, D).

        First the features of the images themselves, then those of their copies, a name in
        :data:`lightproof.method.warps.COPIES`, then tangents, a name in :data:`SPANNED_DEFORMATIONS`.
        """
        deformed = SPANNED_DEFORMATIONS[deformations]
        n_moved = 1 + len(COPIES[copies])
        shape = (len(images), n_moved + len(deformed), self.grid_.n_patches, self.n_numbers)
        out = np.empty(shape, self.settings_.dtype)
        for start in range(0, len(images), IMAGES_PER_BLOCK):
            block = slice(start, start + IMAGES_PER_BLOCK)
            pictures = self.unlit(images[block])
            out[block, :n_moved] = self.samples(self.gradients_(with_copies(pictures, copies))).swapaxes(2, 3)
            if deformed:
                out[block, n_moved:] = self._tangents(pictures, deformed)
        return out

    def samples(self, fields: Floats) -> Floats:
        """Compute the features of pictures and their copies by their gradients, (n, L, 2, h, w) -> (n, L, D, K)."""
        each = fields.reshape(-1, *fields.shape[2:])
        out = np.empty((len(each), self.n_numbers, self.grid_.n_patches), each.dtype)
        sorter = self._sorter(self.grid_)
        if sorter is None:
            for start in range(0, len(each), IMAGES_PER_BLOCK):
                block = slice(start, start + IMAGES_PER_BLOCK)
                out[block] = self._sorted_one_by_one(each[block], self.grid_).swapaxes(1, 2)
        else:
            sorter.sort(each, out.reshape(len(each), len(self.angles_), -1, out.shape[-1]))
        return out.reshape(*fields.shape[:2], *out.shape[1:])

    def _tangents(self, pictures: Floats, names: Sequence[str]) -> Floats:
        """First-order changes of the features when the gradients are deformed, shape (n, len(names), K, D)."""
        cloud = self.grid_.gather(self.gradients_(pictures)).swapaxes(-1, -2)
        changes = TANGENT_SIZE * tangents(cloud, self.angles_, names)
        if self._cosines is not None:
            changes = changes @ self._cosines.T
        return flatten(changes).swapaxes(1, 2).astype(pictures.dtype)

    def check(self, X: Images) -> Images:
        """Refuse images that cannot be described; return the others unchanged."""
        images = check_for(X, self.settings_)
        if self.settings_.size == "as-is":
            self.refuse_other_sizes(images)
        return images

    def refuse_other_sizes(self, images: Images) -> None:
        """Refuse images of another size than the grid's."""
        wanted = (self.grid_.height, self.grid_.width)
        for i, shape in enumerate([images.shape[1:]] if isinstance(images, np.ndarray) else map(np.shape, images)):
            if shape != wanted:
                legal = f"of the size seen in fit, {wanted[0]} x {wanted[1]}, because size='as-is'"
                raise BadImage(f"X[{i}]", legal, f"{shape[0]} x {shape[1]}")

    def unlit(self, images: Images) -> Floats:
        """Bring checked images to size and take the light out of them, shape (n, h, w)."""
        settings, shape = self.settings_, (self.grid_.height, self.grid_.width)
        return LIGHTS[settings.light](bring_to_size(images, shape, settings.dtype, settings.smoothing))

    def describe(self, pictures: Floats, grid: PatchGrid | None = None, out: Floats | None = None) -> Floats:
        """Compute the features of what :meth:`unlit` made, on the patches of any grid, shape (n, K, D)."""
        grid, fields = grid or self.grid_, self.gradients_(pictures)
        # Without copies the sorter pays only where neighboring patches share what is sorted.
        sorter = self._sorter(grid) if grid.overlap and grid.cell % grid.stride == 0 else None
        if sorter is None:
            return self._sorted_one_by_one(fields, grid, out)
        waves = np.empty((len(pictures), self.n_numbers, grid.n_patches), pictures.dtype)
        sorter.sort(fields, waves.reshape(len(pictures), len(self.angles_), -1, grid.n_patches))
        if out is None:
            return np.ascontiguousarray(waves.swapaxes(1, 2))
        out[...] = waves.swapaxes(1, 2)
        return out

    def _sorted_one_by_one(self, fields: Floats, grid: PatchGrid, out: Floats | None = None) -> Floats:
        """Compute the features by the gradients, each patch sorted alone, (n, 2, h, w) -> (n, K, D)."""
        # Each pixel is projected once, before the patches are cut: overlapping patches share the work.
        projected = project(fields, self.angles_)
        shape = (len(fields), grid.n_patches, len(self.angles_), -1)
        room = None if out is None or self._cosines is not None else out.reshape(shape)
        patches = grid.gather(projected, room)
        patches.sort(axis=-1)
        if self._cosines is None:
            return flatten(patches)
        # One product over all patches: a small one for each would take longer to start than to do.
        flat = patches.reshape(-1, grid.n_points)
        waves = np.matmul(flat, self._cosines.T, out=None if out is None else out.reshape(len(flat), -1))
        return waves.reshape(len(fields), grid.n_patches, -1)

    def _sorter(self, grid: PatchGrid) -> PatchSorter | None:
        """Return what sorts all patches of a picture at once, if that is faster."""
        if self._cosines is None or grid.n_points > MAX_POINTS_FOR_SORTER:
            return None
        if grid not in self._sorters:
            self._sorters[grid] = PatchSorter(grid, directions(self.angles_), self._cosines)
        return self._sorters[grid]


def shape_for(images: Images, settings: MethodSettings) -> tuple[int, ...]:
    """Return the rows and columns that checked images are brought to."""
    return np.shape(images[0]) if isinstance(settings.size, str) else settings.size


def check_for(X: Images, settings: MethodSettings) -> Images:
    """Refuse images that cannot be described under these settings; return the others unchanged."""
    return check_images(X, settings.cell, unit=settings.light != "none")
