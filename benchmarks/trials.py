"""Lights, sums and copies that were tried and not kept, for benchmarks.beyond."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import ndimage

from lightproof import FaceRecognizer
from lightproof.method.aggregate import AGGREGATES, RELATIVE
from lightproof.method.illumination import LIGHTS, ROWS_PER_PIXEL_OF_BLUR, tan_triggs
from lightproof.method.warps import COPIES
from lightproof.types import Floats


def recognizer(preset: str, size: tuple[int, ...], settings: dict[str, Any]) -> FaceRecognizer:
    """Make the paper's recognizer for pictures of one size; it knows the trials by name."""
    enter()
    return FaceRecognizer(preset, size=tuple(size), **settings)


def self_quotient(images: Floats) -> Floats:
    """Divide the picture by its own blur."""
    light = _blurred(images, 4)
    return _blurred(images, 1) / (light + images.dtype.type(0.01))


def local_contrast(images: Floats) -> Floats:
    """Gamma, difference of Gaussians, divided by its local standard deviation."""
    curved = images ** images.dtype.type(0.2)
    band = _blurred(curved, 1) - _blurred(curved, 4)
    spread: Floats = band / (np.sqrt(_blurred(band * band, 4)) + images.dtype.type(0.02))
    return spread


def _blurred(images: Floats, pixels: float) -> Floats:
    """Blur by so many pixels of a picture of 96 rows."""
    sigma = pixels * images.shape[-2] / ROWS_PER_PIXEL_OF_BLUR
    blurred: Floats = ndimage.gaussian_filter(images, sigma, mode="nearest", axes=(-2, -1))
    return blurred


def _bounded(sharpness: float) -> Any:
    return lambda sines: -np.expm1(-sharpness * sines)


def spread_weighted(sines: Floats) -> Floats:
    """Weigh what a patch adds by how much it tells the people apart."""
    adds: Floats = AGGREGATES["bounded"](sines)
    weighed: Floats = adds / (adds.std(axis=2, keepdims=True) + adds.dtype.type(0.02))
    return weighed


def normalized_bounded(sines: Floats) -> Floats:
    """Scale a patch's distances so that their median over the people is the same everywhere."""
    return AGGREGATES["bounded"](sines / (2 * np.median(sines, axis=2, keepdims=True) + sines.dtype.type(1e-6)))


WEIGHTED: Final = {"spread over people": spread_weighted, "same median everywhere": normalized_bounded}

SUMS: Final = {
    "relative-sum": lambda sines: sines,
    "relative-log": lambda sines: np.log(sines + sines.dtype.type(0.001)),
    "bounded-3": _bounded(3),
    "bounded-12": _bounded(12),
    **WEIGHTED,
}


def enter() -> None:
    """Make the trials known by name."""
    LIGHTS["self-quotient"], LIGHTS["local-contrast"] = self_quotient, local_contrast
    LIGHTS["tan-triggs-half"] = lambda images: tan_triggs(images, images.shape[-2] / ROWS_PER_PIXEL_OF_BLUR / 2)
    LIGHTS["tan-triggs-wide"] = lambda images: tan_triggs(images, images.shape[-2] / ROWS_PER_PIXEL_OF_BLUR * 1.5)
    AGGREGATES.update(SUMS)
    RELATIVE.update(SUMS)
    turned = ((0, 0, 0.04, 0), (0, 0, -0.04, 0), (0, 0, 0, 0.04), (0, 0, 0, -0.04))
    COPIES["turned"] = (*COPIES["cross"], *turned)
