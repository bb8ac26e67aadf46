"""NearestSubspace: the classifier alone, for any vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lightproof.core.labels import one_photo_each
from lightproof.method.presets import FIXED_COMPONENTS, check_parameter, without_numpy
from lightproof.method.subspace_bank import residuals, stack_spans
from lightproof.method.subspaces import SharedSpan, count_components, span_photos
from lightproof.types import Array, Floats


class NearestSubspace(ClassifierMixin, BaseEstimator):
    """Nearest-subspace classifier.

    Each class has the span of its samples through the origin, cut to the strongest directions. A sample gets the label
    of the nearest subspace. This is the paper's classifier for one patch; for whole faces use
    :class:`lightproof.FaceRecognizer`.

    Parameters
    ----------
    components : float or int, default=0.99
        A float in (0, 1] keeps the fewest directions that hold this share of the samples' variance about the origin;
        an int keeps that many. As many as there are features leave no distance to tell classes apart.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    bases_ : list of ndarray of shape (r, n_features)
        Orthonormal directions kept of each class.
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[1.0, 0.1, 0.0], [2.0, 0.2, 0.0], [0.0, 1.0, 1.0]])
    >>> NearestSubspace().fit(X, ["a", "a", "b"]).predict([[5.0, 0.0, 0.0]])
    array(['a'], dtype='<U1')
    """

    def __init__(self, components: float | int = 0.99) -> None:
        self.components = components

    def fit(self, X: Any, y: Any) -> Self:
        """Span the samples of each class, X of shape (n_samples, n_features) and y of shape (n_samples,)."""
        check_parameter(type(self).__name__, "components", self.components, FIXED_COMPONENTS)
        components = without_numpy({"components": self.components})["components"]
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        with one_photo_each():
            check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        nothing = SharedSpan.of(np.zeros((0, X.shape[1])))
        spans = [span_photos(X[None, classes == c], nothing) for c in range(len(self.classes_))]
        kept = [int(count_components(span.own_variance[0], components)) for span in spans]
        self.bases_ = [span.own[0, :count] for span, count in zip(spans, kept, strict=True)]
        self._stack = stack_spans(spans, components, "kept")
        return self

    def distances(self, X: Any) -> Floats:
        """Distance of each sample to each class, (n_samples, n_features) -> (n_samples, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        # Fitted on one float type, asked in the other: answer in the finer one.
        X = X.astype(np.result_type(X, self._stack.columns), copy=False)
        return np.asarray(residuals(X[:, None, :], self._stack)[0])

    def predict(self, X: Any) -> Array:
        """Name the nearest class of each sample, (n_samples, n_features) -> (n_samples,)."""
        nearest = self.distances(X).argmin(axis=1)
        return np.asarray(self.classes_[nearest])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The check asks for round blobs in the plane, which lines through the origin cannot tell apart.
        tags.classifier_tags.poor_score = True
        return tags
