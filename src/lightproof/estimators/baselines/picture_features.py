"""The rivals' features: images in, one row of numbers each out.

All keep to scikit-learn's contract for transformers, learn nothing, and work on a few images at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from lightproof.core.images import ROUNDING, Images, bring_to_size, check_images
from lightproof.errors import BadImage, BadParameter
from lightproof.estimators.baselines.reflectance_maps import (
    gradient_face,
    log_dct,
    multiscale_log_differences,
    stretch,
    weber_face,
)
from lightproof.method.illumination import tan_triggs
from lightproof.types import Floats, is_positive, is_whole

BLOCK: Final = 32
"""Images worked on at a time: memory stays bounded however many there are."""

SIZE: Final = (64, 64)

RESCALES: Final = ("none", "before", "after", "both")

Rule = tuple[str, Callable[[Any], bool]]


class PictureFeatures(TransformerMixin, BaseEstimator):
    """Bring images to one size and describe each by one row; what the features here have in common."""

    size: Any

    def fit(self, X: Images, y: Any = None) -> Self:
        """Check the parameters and the images; nothing is learned from them.

        Parameters
        ----------
        X : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)
        y : ignored
        """
        self._check_parameters()
        check_images(X)
        return self

    def transform(self, X: Images) -> Floats:
        """Compute the features.

        Parameters
        ----------
        X : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)
            Grey faces: uint8, uint16, or floats in [0, 1].

        Returns
        -------
        ndarray of shape (n, D), float32
        """
        self._check_parameters()
        images = check_images(X)
        rows: Floats = np.empty((0, 0), np.float32)
        for start in range(0, len(images), BLOCK):
            pixels = bring_to_size(images[start : start + BLOCK], self.size, np.float64)
            block = self._describe(self._in_unit_range(pixels, start)).reshape(len(pixels), -1)
            if start == 0:
                rows = np.empty((len(images), block.shape[1]), np.float32)
            rows[start : start + BLOCK] = block
        return rows

    def _describe(self, pixels: Floats) -> Floats:
        """Describe a block, (b, h, w) -> (b, ...)."""
        raise NotImplementedError

    def _rules(self) -> dict[str, Rule]:
        """Tell the legal values of the parameters; a legal ``size`` is a matter of course."""
        return {}

    def _check_parameters(self) -> None:
        self._check("size", SIZE_RULE)  # first: other rules may ask how large the picture is
        for name, rule in self._rules().items():
            self._check(name, rule)

    def _check(self, name: str, rule: Rule) -> None:
        legal, is_legal = rule
        if not is_legal(getattr(self, name)):
            raise BadParameter(type(self).__name__, name, legal, getattr(self, name))

    def _in_unit_range(self, pixels: Floats, start: int) -> Floats:
        low, high = pixels.min(axis=(1, 2)), pixels.max(axis=(1, 2))
        for i in np.flatnonzero((low < -ROUNDING) | (high > 1 + ROUNDING))[:1]:
            legal = f"within [0, 1] for {type(self).__name__}"
            raise BadImage(f"Pixels of X[{start + i}]", legal, f"{low[i]:.6g} to {high[i]:.6g}")
        return np.clip(pixels, 0, 1)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array, tags.input_tags.two_d_array = True, False
        tags.requires_fit = False
        return tags


class Pixels(PictureFeatures):
    """The pixels themselves.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    """

    def __init__(self, size: Any = SIZE) -> None:
        self.size = size

    def _describe(self, pixels: Floats) -> Floats:
        return pixels


class TanTriggs(PictureFeatures):
    """Pixels after the chain of :func:`lightproof.method.illumination.tan_triggs`.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    """

    def __init__(self, size: Any = SIZE) -> None:
        self.size = size

    def _describe(self, pixels: Floats) -> Floats:
        return tan_triggs(pixels)


class _Map(PictureFeatures):
    """A picture map as features; ``rescale`` stretches pictures as the INface toolbox does."""

    rescale: str

    def _map(self, pixels: Floats) -> Floats:
        raise NotImplementedError

    def _describe(self, pixels: Floats) -> Floats:
        mapped = self._map(stretch(pixels) if self.rescale in ("before", "both") else pixels)
        return stretch(mapped) if self.rescale in ("after", "both") else mapped

    def _rules(self) -> dict[str, Rule]:
        return {"rescale": one_of(RESCALES)}


class WeberFace(_Map):
    """The pixels of :func:`lightproof.estimators.baselines.reflectance_maps.weber_face`.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    sigma, alpha : float, default=1, 2
    rescale : {"none", "before", "after", "both"}, default="none"
        Whether the picture is stretched to 256 levels before the map, after it, or both.
    """

    def __init__(self, size: Any = SIZE, *, sigma: float = 1, alpha: float = 2, rescale: str = "none") -> None:
        self.size = size
        self.sigma = sigma
        self.alpha = alpha
        self.rescale = rescale

    def _map(self, pixels: Floats) -> Floats:
        return weber_face(pixels, self.sigma, self.alpha)

    def _rules(self) -> dict[str, Rule]:
        return super()._rules() | {"sigma": POSITIVE, "alpha": POSITIVE}


class GradientFace(_Map):
    """The angles of :func:`lightproof.estimators.baselines.reflectance_maps.gradient_face`.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    sigma : float, default=0.75
    encoding : {"circle", "angle"}, default="circle"
        ``"circle"`` gives cosine and sine, because angles wrap: a classifier that measures distances takes 0.1 and
        6.2 for far apart. ``"angle"`` gives the angles as they are.
    rescale : {"none", "before", "after", "both"}, default="none"
        Whether the picture is stretched to 256 levels before the map, after it, or both; after it only with
        ``encoding="angle"``.
    """

    def __init__(
        self, size: Any = SIZE, *, sigma: float = 0.75, encoding: str = "circle", rescale: str = "none"
    ) -> None:
        self.size = size
        self.sigma = sigma
        self.encoding = encoding
        self.rescale = rescale

    def _map(self, pixels: Floats) -> Floats:
        return gradient_face(pixels, self.sigma)

    def _describe(self, pixels: Floats) -> Floats:
        angles = super()._describe(pixels)
        return angles if self.encoding == "angle" else np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def _rules(self) -> dict[str, Rule]:
        legal = RESCALES if self.encoding == "angle" else ("none", "before")
        return {"sigma": POSITIVE, "encoding": one_of(("circle", "angle")), "rescale": one_of(legal)}


class MSLDE(_Map):
    """The pixels of :func:`lightproof.estimators.baselines.reflectance_maps.multiscale_log_differences`; its parameters are ours.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    scales : int, default=6
    rescale : {"none", "before", "after", "both"}, default="none"
        Whether the picture is stretched to 256 levels before the map, after it, or both.
    """

    def __init__(self, size: Any = SIZE, *, scales: int = 6, rescale: str = "none") -> None:
        self.size = size
        self.scales = scales
        self.rescale = rescale

    def _map(self, pixels: Floats) -> Floats:
        return multiscale_log_differences(pixels, self.scales)

    def _rules(self) -> dict[str, Rule]:
        return super()._rules() | {"scales": at_least(1)}


class LogDCT(_Map):
    """The pixels of :func:`lightproof.estimators.baselines.reflectance_maps.log_dct`.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    discard : int, default=50
    rescale : {"none", "before", "after", "both"}, default="none"
        Whether the picture is stretched to 256 levels before the map, after it, or both.
    """

    def __init__(self, size: Any = SIZE, *, discard: int = 50, rescale: str = "none") -> None:
        self.size = size
        self.discard = discard
        self.rescale = rescale

    def _map(self, pixels: Floats) -> Floats:
        return log_dct(pixels, self.discard)

    def _rules(self) -> dict[str, Rule]:
        most = self.size[0] * self.size[1] - 1
        legal = f"an int from 0 to rows * columns - 1 = {most}"
        return super()._rules() | {"discard": (legal, lambda value: is_whole(value, 0) and value <= most)}


def one_of(names: tuple[str, ...]) -> Rule:
    """Rule: one of some names."""
    return f"one of {', '.join(map(repr, names))}", lambda value: isinstance(value, str) and value in names


def at_least(least: int) -> Rule:
    """Rule: a whole number from ``least`` on."""
    return f"an int of {least} or more", lambda value: is_whole(value, least)


def _is_size(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(is_whole(side, 2) for side in value)


SIZE_RULE: Final[Rule] = ("(rows, columns) of 2 or more each", _is_size)

POSITIVE: Final[Rule] = ("a number above 0", is_positive)
