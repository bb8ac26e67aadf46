"""Nearest neighbor on raw pixels and on histograms of oriented gradients."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from skimage.feature import hog
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lightproof.images import Images, bring_to_size, check_images
from lightproof.labels import one_photo_each
from lightproof.types import Floats

SIZE = (64, 64)


def pixel_neighbor() -> Pipeline:
    """Nearest neighbor on the pixels at 64 x 64: what no method at all does."""
    return make_pipeline(FunctionTransformer(_pixels), _OneNeighbor(n_neighbors=1))


def hog_neighbor() -> Pipeline:
    """Nearest neighbor on HoG (Dalal and Triggs 2005) at 64 x 64, with scikit-image's defaults.

    9 orientations, cells of 8 x 8 pixels, blocks of 3 x 3 cells, L2-Hys.
    """
    return make_pipeline(FunctionTransformer(_hogs), _OneNeighbor(n_neighbors=1))


class _OneNeighbor(KNeighborsClassifier):
    def fit(self, X: Any, y: Any) -> Self:
        with one_photo_each():
            return cast(Self, super().fit(X, y))


def _pixels(X: Images) -> Floats:
    stack = bring_to_size(check_images(X), SIZE, np.float64)
    return stack.reshape(len(stack), -1)


def _hogs(X: Images) -> Floats:
    return np.stack([hog(image) for image in bring_to_size(check_images(X), SIZE, np.float64)])
