"""PatchRCDT: images -> the Discrete R-CDT of the gradients of every patch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from lightproof.alignment import COPIES, with_copies
from lightproof.deformations import DEFORMATIONS, tangents
from lightproof.errors import BadImage, NotFitted
from lightproof.gradients import GRADIENTS
from lightproof.images import Images, bring_to_size, check_images
from lightproof.light import LIGHTS
from lightproof.patches import PatchGrid
from lightproof.settings import check_settings, plain
from lightproof.sorting import PatchSorter
from lightproof.transform import cosines, directions, flatten, projection_angles, translation_vectors
from lightproof.types import Floats

BLOCK = 16
"""Images worked on at a time: their projections stay in the processor's cache."""


FEW_POINTS: Final = 64
"""Points of a patch up to which all patches are sorted at once; more are sorted faster patch by patch."""

SPANNED: Final[dict[str, tuple[str, ...]]] = {
    "none": (),
    **{name: (name,) for name in DEFORMATIONS},
    "all": tuple(DEFORMATIONS),
}
"""Deformations of the gradients whose tangents may share a photo's span."""

SLIGHT: Final = 0.1
"""Size of a deformation in radians, or as a share, against which tangents are weighed beside photos and copies."""


class PatchRCDT(TransformerMixin, BaseEstimator):
    """Sorted projections of the gradients of each patch.

    Every image becomes one row: patch after patch, in each patch the sorted projections on every angle. A change of
    light ``alpha I + beta + b.x`` inside a patch scales its part of the row and adds a combination of
    ``translation_``.

    Parameters
    ----------
    size : (int, int) or "as-is", default=(64, 64)
        Rows and columns every image is brought to. ``"as-is"`` keeps the size, which must then be the same for all.
    smoothing : {"float", "8-bit"}, default="float"
        How a picture is smoothed before it shrinks; see :func:`lightproof.images.bring_to_size`.
    light : {"none", "log", "tan-triggs"}, default="none"
        What is done against the light before anything else.
    gradient : {"sobel", "central"}, default="sobel"
    cell : int, default=4
        Side of a patch in pixels. Small patches obey the light model better, large ones forgive misalignment.
    overlap : int, default=1
        Pixels that neighboring patches share, 0 to ``cell - 1``. More overlap costs time and gains accuracy.
    n_angles : int, default=4
        Number of projections.
    angle_scheme : {"authors", "uniform"}, default="authors"
        See :func:`lightproof.transform.projection_angles`.
    detail : int or "all", default="all"
        Numbers that describe a sorted projection: ``"all"`` keeps its points, an int that many cosines of it, which
        hold nearly as much; see :func:`lightproof.transform.cosines`.
    dtype : {"float32", "float64"}, default="float32"

    Attributes
    ----------
    grid_ : PatchGrid
    angles_ : ndarray of shape (m,)
    translation_ : ndarray of shape (2, m * N), or of length 0
        The translation vectors, flattened like a patch. The cosines leave nothing of them.

    Examples
    --------
    >>> from lightproof.datasets import make_relit_faces
    >>> faces = make_relit_faces(n_subjects=2, lights=[(0, 0), (50, 0)], size=(64, 56))
    >>> PatchRCDT(size="as-is").fit_transform(faces.images).shape
    (4, 24192)
    """

    def __init__(
        self,
        *,
        size: Any = (64, 64),
        smoothing: str = "float",
        light: str = "none",
        gradient: str = "sobel",
        cell: int = 4,
        overlap: int = 1,
        n_angles: int = 4,
        angle_scheme: str = "authors",
        detail: Any = "all",
        dtype: str = "float32",
    ) -> None:
        self.size = size
        self.smoothing = smoothing
        self.light = light
        self.gradient = gradient
        self.cell = cell
        self.overlap = overlap
        self.n_angles = n_angles
        self.angle_scheme = angle_scheme
        self.detail = detail
        self.dtype = dtype

    def fit(self, X: Images, y: Any = None) -> Self:
        """Lay the grid of patches over the images; nothing is learned from them.

        Parameters
        ----------
        X : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)
        y : ignored
        """
        check_settings(type(self).__name__, self.get_params())
        images = _checked(X, self.get_params())
        return self.lay_grid(images[0].shape if self.size == "as-is" else self.size)

    def lay_grid(self, shape: tuple[int, ...]) -> Self:
        """Prepare for images that are brought to ``shape``."""
        self.grid_ = PatchGrid(int(shape[0]), int(shape[1]), int(self.cell), int(self.overlap))
        self.angles_ = projection_angles(self.n_angles, self.angle_scheme)
        self.translation_ = translation_vectors(self.angles_, self.grid_.n_points)
        self._cosines = None
        if self.detail != "all":
            self._cosines = cosines(self.grid_.n_points, self.detail).astype(self.dtype)
            self.translation_ = np.zeros((0, len(self.angles_) * len(self._cosines)))
        # What transform works with: parameters set after fit wait for the next fit.
        self.settings_ = plain(self.get_params())
        return self

    def transform(self, X: Images) -> Floats:
        """Compute the features.

        Parameters
        ----------
        X : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)

        Returns
        -------
        ndarray of shape (n, K * D)
        """
        vectors = self.patch_vectors(X)
        return vectors.reshape(len(vectors), -1)

    def patch_vectors(self, X: Images) -> Floats:
        """Compute the features, one vector per patch.

        Parameters
        ----------
        X : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)

        Returns
        -------
        ndarray of shape (n, K, D)
        """
        images = self.check(X)
        out = np.empty((len(images), self.grid_.n_patches, self.translation_.shape[1]), self.settings_["dtype"])
        for start in range(0, len(images), BLOCK):
            self.vectors_of(images[start : start + BLOCK], out[start : start + BLOCK])
        return out

    def enrolled_vectors(self, images: Images, copies: str, deformations: str) -> Floats:
        """Compute what checked images put into a span: their features, those of their moved copies, and tangents.

        Parameters
        ----------
        images : checked images
        copies : str
            A name in :data:`lightproof.alignment.COPIES`.
        deformations : str
            A name in :data:`SPANNED`.

        Returns
        -------
        ndarray of shape (n, 1 + copies + tangents, K, D)
            The images themselves first.
        """
        return next(self.enrolled_blocks(images, copies, deformations, len(images))).swapaxes(2, 3)

    def enrolled_blocks(self, images: Images, copies: str, deformations: str, block: int) -> Iterator[Floats]:
        """Yield what :meth:`enrolled_vectors` computes, some images at a time, patches last: (n, copies, D, K).

        The next block is put where the last one stood.
        """
        n_copies, n_tangents = 1 + len(COPIES[copies]), len(SPANNED[deformations])
        shape = (n_copies + n_tangents, self.translation_.shape[1], self.grid_.n_patches)
        room = np.empty((min(block, len(images)), *shape), self.settings_["dtype"])
        sorter = self._sorter(self.grid_, len(room) * n_copies)
        for start in range(0, len(images), block):
            some = images[start : start + block]
            out = room[: len(some)]
            for i in range(0, len(some), BLOCK):
                self._enrolled(some[i : i + BLOCK], copies, deformations, sorter, out[i : i + BLOCK])
            yield out

    def _enrolled(
        self, images: Images, copies: str, deformations: str, sorter: PatchSorter | None, out: Floats
    ) -> None:
        """Put what a few images put into a span into ``out``, patches last, shape (n, copies, D, K)."""
        pictures, tangents_of = self.unlit(images), SPANNED[deformations]
        copied = with_copies(pictures, copies)
        n_copies = copied.shape[1]
        if sorter is None:
            vectors = self.describe(copied.reshape(-1, *pictures.shape[1:])).swapaxes(1, 2)
            out[:, :n_copies] = vectors.reshape(*copied.shape[:2], *vectors.shape[1:])
        elif tangents_of:
            for place, each in zip(out, copied, strict=True):
                self._patches_last(each, sorter, place[:n_copies])
        else:
            self._patches_last(copied.reshape(-1, *pictures.shape[1:]), sorter, out.reshape(-1, *out.shape[2:]))
        if tangents_of:
            out[:, n_copies:] = self._tangents(pictures, tangents_of).swapaxes(2, 3)

    def _tangents(self, pictures: Floats, names: Sequence[str]) -> Floats:
        """How the features begin to change when the gradients are deformed, shape (n, len(names), K, D)."""
        cloud = self.grid_.gather(GRADIENTS[self.settings_["gradient"]](pictures)).swapaxes(-1, -2)
        changes = SLIGHT * tangents(cloud, self.angles_, names)
        if self._cosines is not None:
            changes = changes @ self._cosines.T
        return flatten(changes).swapaxes(1, 2).astype(pictures.dtype)

    def check(self, X: Images) -> Images:
        """Refuse what :meth:`fit` did not prepare for; return the images, whose pixels are still as they came."""
        if not hasattr(self, "grid_"):
            raise NotFitted(type(self).__name__, "transform")
        images = _checked(X, self.settings_)
        if self.settings_["size"] == "as-is":
            wanted = (self.grid_.height, self.grid_.width)
            for i, shape in enumerate([images.shape[1:]] if isinstance(images, np.ndarray) else map(np.shape, images)):
                if shape != wanted:
                    legal = f"of the size seen in fit, {wanted[0]} x {wanted[1]}, because size='as-is'"
                    raise BadImage(f"X[{i}]", legal, f"{shape[0]} x {shape[1]}")
        return images

    def vectors_of(self, images: Images, out: Floats | None = None) -> Floats:
        """Compute the features of checked images in one go, shape (n, K, D), and put them into ``out``."""
        return self.describe(self.unlit(images), out=out)

    def unlit(self, images: Images) -> Floats:
        """Bring checked images to size and take the light out of them, shape (n, h, w)."""
        settings, shape = self.settings_, (self.grid_.height, self.grid_.width)
        return LIGHTS[settings["light"]](bring_to_size(images, shape, settings["dtype"], settings["smoothing"]))

    def describe(self, pictures: Floats, grid: PatchGrid | None = None, out: Floats | None = None) -> Floats:
        """Compute the features of what :meth:`unlit` made, on the patches of any grid, shape (n, K, D)."""
        grid = grid or self.grid_
        # Without copies it pays only where neighbors share what is sorted.
        sorter = self._sorter(grid, len(pictures)) if grid.overlap and grid.cell % grid.stride == 0 else None
        if sorter is not None:
            waves = np.empty((len(pictures), self.translation_.shape[1], grid.n_patches), pictures.dtype)
            self._patches_last(pictures, sorter, waves)
            if out is None:
                return np.ascontiguousarray(waves.swapaxes(1, 2))
            out[...] = waves.swapaxes(1, 2)
            return out
        projected = self._projected(pictures)
        shape = (len(pictures), grid.n_patches, len(self.angles_), -1)
        room = None if out is None or self._cosines is not None else out.reshape(shape)
        patches = grid.gather(projected, room)
        patches.sort(axis=-1)
        if self._cosines is None:
            return flatten(patches)
        # One product over all patches: a small one for each would take longer to start than to do.
        flat = patches.reshape(-1, grid.n_points)
        waves = np.matmul(flat, self._cosines.T, out=None if out is None else out.reshape(len(flat), -1))
        return waves.reshape(len(pictures), grid.n_patches, -1)

    def _projected(self, pictures: Floats) -> Floats:
        """Project the gradients on every angle, (n, h, w) -> (n, m, h, w).

        Each pixel once, before the patches are cut: overlapping patches share the work.
        """
        gradients = GRADIENTS[self.settings_["gradient"]](pictures)
        n, _, height, width = gradients.shape
        projected: Floats = directions(self.angles_).astype(pictures.dtype) @ gradients.reshape(n, 2, -1)
        return projected.reshape(n, -1, height, width)

    def _sorter(self, grid: PatchGrid, n: int) -> PatchSorter | None:
        """Return what sorts the patches of up to n pictures at once, if that is worth it."""
        if self._cosines is None or grid.n_points > FEW_POINTS:
            return None
        return PatchSorter(grid, self._cosines, len(self.angles_), n)

    def _patches_last(self, pictures: Floats, sorter: PatchSorter, out: Floats) -> None:
        """Put the features into ``out``, contiguous, patches last, shape (n, D, K)."""
        for start in range(0, len(pictures), sorter.block):
            some = slice(start, start + sorter.block)
            place = out[some]
            shape = (len(place), len(self.angles_), -1, place.shape[-1])
            sorter.sort(self._projected(pictures[some]), place.reshape(shape))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "grid_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array, tags.input_tags.two_d_array = True, False
        return tags


def _checked(X: Images, settings: dict[str, Any]) -> Images:
    return check_images(X, settings["cell"], unit=settings["light"] != "none")
