"""The rivals' features: images in, one row of numbers each out.

All keep to scikit-learn's contract for transformers, learn nothing, and describe a few images at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from skimage.feature import hog, local_binary_pattern
from sklearn.base import BaseEstimator, TransformerMixin

from lightproof.core.images import ROUNDING, Images, bring_to_size, check_images
from lightproof.errors import BadImage
from lightproof.estimators.baselines.reflectance_maps import (
    gradient_face,
    log_dct,
    multiscale_log_differences,
    stretch,
    weber_face,
)
from lightproof.estimators.sklearn_contract import ImageEstimator
from lightproof.method.illumination import LIGHTS, tan_triggs
from lightproof.method.presets import POSITIVE, Rule, at_least, check_parameter, one_of, size_from
from lightproof.types import Array, Floats, is_whole

IMAGES_PER_BLOCK: Final = 32
"""Images described together: memory stays bounded."""

SIZE: Final = (64, 64)

RESCALES: Final = ("none", "before", "after", "both")

PATTERNS: Final = 59
"""Kinds of pattern of 8 neighbors: 58 with at most two changes around the circle, and all others as one."""

GREYS: Final = 65535
"""LBP compares whole numbers: 16 bits keep all that a photo holds."""


@dataclass(eq=False, repr=False)
class PictureFeatures(ImageEstimator, TransformerMixin, BaseEstimator):
    """Bring images to one size and describe each by one row: the base of all features here.

    Parameters
    ----------
    size : (int, int), default=(64, 64)
        Rows and columns every image is brought to.
    """

    size: Any = SIZE

    def fit(self, X: Images, y: Any = None) -> Self:
        """Check the parameters and the images, (n, h, w) or a list of (h, w); nothing is learned from them."""
        self._check_parameters()
        check_images(X)
        return self

    def transform(self, X: Images) -> Floats:
        """Compute the features of grey faces, (n, h, w) or a list of (h, w) -> (n, D), float32."""
        self._check_parameters()
        images = check_images(X)
        rows: Floats = np.empty((0, 0), np.float32)
        for start in range(0, len(images), IMAGES_PER_BLOCK):
            pixels = bring_to_size(images[start : start + IMAGES_PER_BLOCK], self.size, np.float64)
            block = self._describe(self._in_unit_range(pixels, start)).reshape(len(pixels), -1)
            if start == 0:
                rows = np.empty((len(images), block.shape[1]), np.float32)
            rows[start : start + IMAGES_PER_BLOCK] = block
        return rows

    def _describe(self, pixels: Floats) -> Floats:
        """Describe a block, (b, h, w) -> (b, ...)."""
        raise NotImplementedError

    def _rules(self) -> dict[str, Rule]:
        """Return the legal values of the parameters other than ``size``."""
        return {}

    def _check_parameters(self) -> None:
        self._check("size", size_from(2))  # first: other rules depend on the size
        for name, rule in self._rules().items():
            self._check(name, rule)

    def _check(self, name: str, rule: Rule) -> None:
        check_parameter(type(self).__name__, name, getattr(self, name), rule)

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
        tags.requires_fit = False
        return tags


class Pixels(PictureFeatures):
    """The pixels themselves."""

    def _describe(self, pixels: Floats) -> Floats:
        return pixels


class TanTriggs(PictureFeatures):
    """Pixels after the chain of :func:`lightproof.method.illumination.tan_triggs`."""

    def _describe(self, pixels: Floats) -> Floats:
        return tan_triggs(pixels)


@dataclass(eq=False, repr=False, kw_only=True)
class _Map(PictureFeatures):
    """A picture map as features, stretched as the INface toolbox does.

    Parameters
    ----------
    rescale : {"none", "before", "after", "both"}, default="none"
        Whether the picture is stretched to 256 levels before the map, after it, or both.
    """

    rescale: str = "none"

    def _map(self, pixels: Floats) -> Floats:
        raise NotImplementedError

    def _describe(self, pixels: Floats) -> Floats:
        mapped = self._map(stretch(pixels) if self.rescale in ("before", "both") else pixels)
        return stretch(mapped) if self.rescale in ("after", "both") else mapped

    def _rules(self) -> dict[str, Rule]:
        return {"rescale": one_of(RESCALES)}


@dataclass(eq=False, repr=False, kw_only=True)
class WeberFace(_Map):
    """The pixels of :func:`lightproof.estimators.baselines.reflectance_maps.weber_face`.

    Parameters
    ----------
    sigma, alpha : float, default=1, 2
    """

    sigma: float = 1
    alpha: float = 2

    def _map(self, pixels: Floats) -> Floats:
        return weber_face(pixels, self.sigma, self.alpha)

    def _rules(self) -> dict[str, Rule]:
        return super()._rules() | {"sigma": POSITIVE, "alpha": POSITIVE}


@dataclass(eq=False, repr=False, kw_only=True)
class GradientFace(_Map):
    """The angles of :func:`lightproof.estimators.baselines.reflectance_maps.gradient_face`.

    Parameters
    ----------
    sigma : float, default=0.75
    encoding : {"circle", "angle"}, default="circle"
        ``"circle"`` gives cosine and sine, because angles wrap: a classifier that measures distances takes 0.1 and
        6.2 for far apart. ``"angle"`` gives the angles as they are.
    rescale : {"none", "before", "after", "both"}, default="none"
        After the map only with ``encoding="angle"``.
    """

    sigma: float = 0.75
    encoding: str = "circle"

    def _map(self, pixels: Floats) -> Floats:
        return gradient_face(pixels, self.sigma)

    def _describe(self, pixels: Floats) -> Floats:
        angles = super()._describe(pixels)
        return angles if self.encoding == "angle" else np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def _rules(self) -> dict[str, Rule]:
        legal = RESCALES if self.encoding == "angle" else ("none", "before")
        return {"sigma": POSITIVE, "encoding": one_of(("circle", "angle")), "rescale": one_of(legal)}


@dataclass(eq=False, repr=False, kw_only=True)
class MSLDE(_Map):
    """The pixels of :func:`~lightproof.estimators.baselines.reflectance_maps.multiscale_log_differences`.

    Parameters
    ----------
    scales : int, default=6
    """

    scales: int = 6

    def _map(self, pixels: Floats) -> Floats:
        return multiscale_log_differences(pixels, self.scales)

    def _rules(self) -> dict[str, Rule]:
        return super()._rules() | {"scales": at_least(1)}


@dataclass(eq=False, repr=False, kw_only=True)
class LogDCT(_Map):
    """The pixels of :func:`lightproof.estimators.baselines.reflectance_maps.log_dct`.

    Parameters
    ----------
    discard : int, default=50
    """

    discard: int = 50

    def _map(self, pixels: Floats) -> Floats:
        return log_dct(pixels, self.discard)

    def _rules(self) -> dict[str, Rule]:
        most = self.size[0] * self.size[1] - 1
        legal = f"an int from 0 to rows * columns - 1 = {most}"
        return super()._rules() | {"discard": (legal, lambda value: is_whole(value, 0) and value <= most)}


@dataclass(eq=False, repr=False, kw_only=True)
class HoG(PictureFeatures):
    """Histograms of oriented gradients, scikit-image's ``hog``: 9 unsigned orientations, L2-Hys.

    N. Dalal, B. Triggs, "Histograms of Oriented Gradients for Human Detection", CVPR 2005.

    Parameters
    ----------
    light : {"none", "log", "tan-triggs"}, default="none"
        How the light is reduced first; see :mod:`lightproof.method.illumination`.
    cell : int, default=8
        Side of a cell in pixels.
    block : int, default=3
        Side of a block in cells.
    """

    light: str = "none"
    cell: int = 8
    block: int = 3

    def _describe(self, pixels: Floats) -> Floats:
        cell, block = (self.cell, self.cell), (self.block, self.block)
        lit = LIGHTS[self.light](pixels)
        return np.stack([hog(image, pixels_per_cell=cell, cells_per_block=block) for image in lit])

    def _rules(self) -> dict[str, Rule]:
        return {"light": one_of(LIGHTS), "cell": at_least(1), "block": at_least(1)}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        side = self.cell * self.block
        legal = f"at least {side} x {side} for cell={self.cell} and block={self.block}"
        self._check("size", (legal, lambda size: min(size) >= side))


@dataclass(eq=False, repr=False, kw_only=True)
class LBP(PictureFeatures):
    """Histograms of local binary patterns, one for each cell of the picture.

    The pattern of a pixel says which of its 8 neighbors on the circle of radius 1 are at least as bright, by
    scikit-image's ``local_binary_pattern``. Gain and brightness of the light change no pattern. Neighbors beyond the
    border count as black.

    T. Ahonen, A. Hadid, M. Pietikäinen, "Face Description with Local Binary Patterns: Application to Face
    Recognition", IEEE Transactions on Pattern Analysis and Machine Intelligence 28(12), 2006. The article takes
    8 neighbors at radius 2 and cells of 18 x 21 pixels, weighed by place; radius 1 and even cells of 8 x 8 are ours.

    Parameters
    ----------
    cell : int, default=8
        Side of a cell in pixels; what is left over at the right and below belongs to the last cells.
    """

    cell: int = 8

    def _describe(self, pixels: Floats) -> Floats:
        cells = _cell_numbers(pixels.shape[1:], self.cell)
        whole = np.rint(pixels * GREYS).astype(np.int32)
        return np.stack([_histograms(image, cells) for image in whole])

    def _rules(self) -> dict[str, Rule]:
        return {"cell": at_least(1)}


def _cell_numbers(shape: tuple[int, ...], cell: int) -> Array:
    across, down = (np.minimum(np.arange(side) // cell, max(side // cell - 1, 0)) for side in (shape[1], shape[0]))
    return np.asarray(down[:, None] * (across[-1] + 1) + across)


def _histograms(image: Array, cells: Array) -> Floats:
    patterns = local_binary_pattern(image, 8, 1, "nri_uniform").astype(np.intp)  # type: ignore[no-untyped-call]
    counts = np.bincount((cells * PATTERNS + patterns).ravel(), minlength=PATTERNS * (int(cells.max()) + 1))
    return counts.astype(np.float64)
