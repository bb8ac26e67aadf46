"""Classifiers of any features: nearest neighbors, and a support vector machine that validates its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import additive_chi2_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils.validation import validate_data

from lightproof.core.labels import check_labels, label_array, one_photo_each, sort_labels, training_part
from lightproof.errors import BadLabels
from lightproof.estimators.sklearn_contract import NotFitted
from lightproof.method.presets import at_least, check_parameter, one_of
from lightproof.types import Array, Floats

COSTS: Final = (0.01, 0.1, 1.0, 10.0, 100.0)
WIDTHS: Final = (0.1, 1.0, 10.0)

PROBES_PER_BLOCK: Final = 256
"""Probes compared together: memory stays bounded."""


@dataclass(frozen=True)
class SVMParameters:
    """One choice of parameters: the cost C of a photo on the wrong side, and the width of the Gaussian kernel.

    The width is a multiple of scikit-learn's ``gamma="scale"``; None is the linear kernel.
    """

    C: float
    width: float | None = None

    def __str__(self) -> str:
        kernel = "linear" if self.width is None else f"rbf, gamma={self.width:g} x scale"
        return f"{kernel}, C={self.C:g}"


CANDIDATES: Final = tuple(SVMParameters(C, width) for width in (None, *WIDTHS) for C in COSTS)
"""The simplest first."""

DEFAULT: Final = SVMParameters(1.0)


class ValidatedSVM(ClassifierMixin, BaseEstimator):
    r"""Support vector machine, scikit-learn's ``SVC``, with kernel and C chosen by photos held back from training.

    Two thirds of each person's training photos train every candidate, the others validate it: linear with C in
    {0.01, 0.1, 1, 10, 100}, then rbf with the same C and gamma of {0.1, 1, 10} times scikit-learn's ``"scale"``. The
    first with the most photos named right is trained on all photos. Somebody with one photo only trains.

    With one photo of everybody there is nothing to validate, and nothing to choose either: one against one, **the
    machine is then the nearest neighbor**, whatever the kernel and C. Of two points :math:`x_1, x_2` both are support
    vectors with the same multiplier a, so the decision is
    :math:`a (k(x, x_1) - k(x, x_2)) - a (k(x_1, x_1) - k(x_2, x_2)) / 2 = a (d(x, x_2)^2 - d(x, x_1)^2) / 2`
    with d the distance that belongs to the kernel: the boundary is the perpendicular bisector. C only limits a. The
    nearest point wins each of its duels, so it gets most votes; and the distance of an rbf kernel grows with the
    common one.

    Parameters
    ----------
    strategy : {"ovo", "ovr"}, default="ovo"
        One person against another and a vote, as ``SVC`` does, or each against all others and the largest decision.
    random_state : int, default=0
        Seed of the split; nothing else is random.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    chosen_ : str
        What was chosen and why, in one line.
    """

    def __init__(self, strategy: str = "ovo", *, random_state: int = 0) -> None:
        self.strategy = strategy
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the parameters and train on rows X, shape (n, D), with labels y of any hashable type."""
        check_parameter(type(self).__name__, "strategy", self.strategy, one_of(("ovo", "ovr")))
        check_parameter(type(self).__name__, "random_state", self.random_state, at_least(0))
        vectors = validate_data(self, X, dtype=[np.float64, np.float32])
        labels = check_labels(y, len(vectors))
        people = sort_labels(labels)
        if len(people) < 2:
            raise BadLabels("y", f"of 2 or more people for {type(self).__name__}", str(len(people)))
        index = {label: i for i, label in enumerate(people)}
        targets = np.array([index[label] for label in labels])
        # The linear machine does not care where the origin is; rounding does.
        self._middle = vectors.mean(axis=0, dtype=np.float64)
        self._vectors = vectors - self._middle
        self._scale = _scale(vectors)
        products = self._vectors @ self._vectors.T
        squares = _squared_distances(products, products.diagonal(), products.diagonal())
        candidate, self.chosen_ = self._choose(products, squares, targets)
        self._machine = self._train(candidate, self._kernel(candidate, products, squares), targets)
        self._candidate, self.classes_ = candidate, label_array(people)
        return self

    def predict(self, X: Any) -> Array:
        """Name the person of each row, (n, D) -> (n,)."""
        if not hasattr(self, "classes_"):
            raise NotFitted(type(self).__name__, "predict")
        vectors = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        own = np.einsum("ij,ij->i", self._vectors, self._vectors)
        indices = []
        for start in range(0, len(vectors), PROBES_PER_BLOCK):
            block = vectors[start : start + PROBES_PER_BLOCK] - self._middle
            products = block @ self._vectors.T
            squares = _squared_distances(products, np.einsum("ij,ij->i", block, block), own)
            indices.append(self._machine.predict(self._kernel(self._candidate, products, squares)))
        return np.asarray(self.classes_[np.concatenate(indices)])

    def _choose(self, products: Floats, squares: Floats, targets: Array) -> tuple[SVMParameters, str]:
        part = training_part(targets.tolist(), int(self.random_state), single="trains")
        if part.all():
            return DEFAULT, f"one photo a person: nothing to choose, {DEFAULT}"
        best, chosen = -1, DEFAULT
        for candidate in CANDIDATES:
            kernel = self._kernel(candidate, products, squares)
            machine = self._train(candidate, kernel[np.ix_(part, part)], targets[part])
            right = int(np.sum(machine.predict(kernel[np.ix_(~part, part)]) == targets[~part]))
            if right > best:
                best, chosen = right, candidate
        held = int(np.sum(~part))
        return chosen, f"{chosen}, {100 * best / held:.1f} % of {held} held-back photos"

    def _train(self, candidate: SVMParameters, kernel: Floats, targets: Array) -> Any:
        machine = SVC(C=candidate.C, kernel="precomputed")
        with one_photo_each():
            return (machine if self.strategy == "ovo" else OneVsRestClassifier(machine)).fit(kernel, targets)

    def _kernel(self, candidate: SVMParameters, products: Floats, squares: Floats) -> Floats:
        return products if candidate.width is None else np.exp(-candidate.width * self._scale * squares)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")


def _scale(vectors: Floats) -> float:
    """Scikit-learn's ``gamma="scale"``."""
    variance = float(vectors.var(dtype=np.float64))
    return 1 / (vectors.shape[1] * variance) if variance > 0 else 1.0


def _squared_distances(products: Floats, left: Floats, right: Floats) -> Floats:
    return np.asarray(np.maximum(left[:, None] + right - 2 * products, 0))


class OneNeighbor(KNeighborsClassifier):
    """scikit-learn's nearest neighbor, which also takes one photo a person without a warning."""

    def __init__(self) -> None:
        super().__init__(n_neighbors=1)

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows X, shape (n, D), and their labels y."""
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
        """Keep the rows X, counts or shares of shape (n, D), and their labels y."""
        self._rows = validate_data(self, X, dtype=[np.float64, np.float32], ensure_non_negative=True)
        labels = check_labels(y, len(self._rows))
        self._names, self.classes_ = label_array(labels), label_array(sort_labels(labels))
        return self

    def predict(self, X: Any) -> Array:
        """Name the person of each row, (n, D) -> (n,)."""
        if not hasattr(self, "classes_"):
            raise NotFitted(type(self).__name__, "predict")
        rows = validate_data(self, X, dtype=self._rows.dtype, reset=False, ensure_non_negative=True)
        # scikit-learn's kernel, minus the distance, only takes arrays that are writable.
        enrolled, rows = (np.require(array, requirements="W") for array in (self._rows, rows))
        blocks = [rows[start : start + PROBES_PER_BLOCK] for start in range(0, len(rows), PROBES_PER_BLOCK)]
        nearest = np.concatenate([additive_chi2_kernel(block, enrolled).argmax(axis=1) for block in blocks])
        return np.asarray(self._names[nearest])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
