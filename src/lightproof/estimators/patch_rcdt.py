"""PatchRCDT: the features as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin

from lightproof.core.images import Images
from lightproof.estimators.sklearn_contract import ImageEstimator, NotFitted
from lightproof.method.presets import MethodSettings
from lightproof.method.rcdt import PatchRCDTExtractor, check_for, shape_for
from lightproof.types import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class PatchRCDT(ImageEstimator, TransformerMixin, BaseEstimator, PatchRCDTExtractor):
    """Sorted projections of the gradients of each patch.

    Every image becomes one row: patch after patch, in each patch the sorted projections on every angle. A change of
    light ``alpha I + beta + b.x`` in a patch scales its part of the row and adds a combination of ``translation_``.

    Parameters
    ----------
    size : (int, int) or "as-is", default=(64, 64)
        Rows and columns every image is brought to. ``"as-is"`` keeps the size, which must then be the same for all.
    smoothing : {"float", "8-bit"}, default="float"
        How a picture is smoothed before it shrinks; see :func:`lightproof.core.images.bring_to_size`.
    light : {"none", "log", "tan-triggs"}, default="none"
        How the light is reduced first; see :mod:`lightproof.method.illumination`.
    gradient : {"sobel", "central"}, default="sobel"
    cell : int, default=4
        Side of a patch in pixels. Small patches obey the light model better, large ones forgive misalignment.
    overlap : int, default=1
        Pixels that neighboring patches share, 0 to ``cell - 1``. More overlap costs time and gains accuracy.
    n_angles : int, default=4
        Number of projections.
    angle_scheme : {"authors", "uniform"}, default="authors"
        See :func:`lightproof.method.transform.projection_angles`.
    detail : int or "all", default="all"
        Numbers that describe a sorted projection: ``"all"`` keeps its points, an int that many cosines of it, which
        hold nearly as much; see :func:`lightproof.method.transform.cosines`.
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

    size: Any = (64, 64)
    smoothing: str = "float"
    light: str = "none"
    gradient: str = "sobel"
    cell: int = 4
    overlap: int = 1
    n_angles: int = 4
    angle_scheme: str = "authors"
    detail: Any = "all"
    dtype: str = "float32"

    def fit(self, X: Images, y: Any = None) -> Self:
        """Lay the grid of patches over the images, (n, h, w) or a list of (h, w); nothing is learned from them."""
        # Parameters set after this wait for the next fit.
        settings = MethodSettings.checked(type(self).__name__, self.get_params())
        self.prepare(settings, shape_for(check_for(X, settings), settings))
        return self

    def transform(self, X: Images) -> Floats:
        """Compute the features of images, (n, h, w) or a list of (h, w) -> (n, K * D)."""
        vectors = self.patch_vectors(X)
        return vectors.reshape(len(vectors), -1)

    def check(self, X: Images) -> Images:
        """Refuse images that :meth:`fit` did not prepare for; return the others unchanged."""
        if not self.__sklearn_is_fitted__():
            raise NotFitted(type(self).__name__, "transform")
        return super().check(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "grid_")
