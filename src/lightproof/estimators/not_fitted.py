"""The one error that scikit-learn knows too: asked too early.

Apart from the others, because scikit-learn takes longer to load than all the rest: who does not use an estimator need
not wait for it.
"""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from lightproof.errors import UserError


class NotFitted(UserError, NotFittedError):  # type: ignore[misc]
    """Asked before ``fit`` or ``enroll``."""

    def __init__(self, owner: str, wanted: str, first: str = "fit") -> None:
        super().__init__(f"{owner}.{wanted} must come after {first}; got no {first}.")
