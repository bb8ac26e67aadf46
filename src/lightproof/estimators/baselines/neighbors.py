"""Nearest neighbor on any features, by the common distance or by chi-square."""

from __future__ import annotations

from typing import Any, Final, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import additive_chi2_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import validate_data

from lightproof.core.labels import check_labels, label_array, one_photo_each, sort_labels
from lightproof.estimators.not_fitted import NotFitted
from lightproof.types import Array

BLOCK: Final = 256
"""Probes compared at a time."""


class OneNeighbor(KNeighborsClassifier):
    """scikit-learn's nearest neighbor, which also takes one photo a person without a warning."""

    def __init__(self) -> None:
        super().__init__(n_neighbors=1)

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their names.

        Parameters
        ----------
        X : array-like of shape (n, D)
        y : sequence of length n
        """
        with one_photo_each():
            return cast(Self, super().fit(X, y))


class ChiSquareNeighbor(ClassifierMixin, BaseEstimator):
    r"""Nearest neighbor of histograms by the chi-square distance :math:`\sum_i (a_i - b_i)^2 / (a_i + b_i)`.

    Bins that are empty on both sides count nothing. Of equally near rows the first is taken.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their names.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Counts or shares, 0 or more.
        y : sequence of length n
        """
        self._rows = validate_data(self, X, dtype=[np.float64, np.float32], ensure_non_negative=True)
        labels = check_labels(y, len(self._rows))
        self._names, self.classes_ = label_array(labels), label_array(sort_labels(labels))
        return self

    def predict(self, X: Any) -> Array:
        """Name the person of each row.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        if not hasattr(self, "classes_"):
            raise NotFitted(type(self).__name__, "predict")
        rows = validate_data(self, X, dtype=self._rows.dtype, reset=False, ensure_non_negative=True)
        # scikit-learn's kernel cannot read what it may not write; it is minus the distance.
        known, rows = (np.require(some, requirements="W") for some in (self._rows, rows))
        blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
        nearest = np.concatenate([additive_chi2_kernel(block, known).argmax(axis=1) for block in blocks])
        names: Array = self._names[nearest]
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
