"""What the estimators share of scikit-learn's contract.

Not in :mod:`lightproof.errors`, because scikit-learn takes longer to load than all the rest.
"""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError

from lightproof.errors import UserError


class NotFitted(UserError, NotFittedError):  # type: ignore[misc]
    """Asked before ``fit`` or ``enroll``."""

    def __init__(self, owner: str, wanted: str, first: str = "fit") -> None:
        super().__init__(f"{owner}.{wanted} must come after {first}; got no {first}.")


class ImageEstimator:
    """Base of estimators whose samples are images, not rows of numbers."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.three_d_array, tags.input_tags.two_d_array = True, False
        return tags
