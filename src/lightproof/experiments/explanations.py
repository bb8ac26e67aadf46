"""What could explain a figure far from the published one: changes that are run, and guesses that are called so.

The changes were looked for with the test photos in view. They explain what others published; they are not settings to
use, and no default here follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

FAR: Final = 5.0
"""Points from the published figure from which on a row is explained."""

SVM_METHODS: Final = ("weberface", "mslde", "gradientface", "log-dct", "hog", "log-hog")


@dataclass(frozen=True)
class Explanation:
    """One change to a method, run in full.

    Attributes
    ----------
    method : str
        Short name of the method.
    title : str
        What is changed.
    change : mapping
        Keywords of :meth:`lightproof.experiments.methods.Method.changed`.
    own_lights : bool
        Whether it is run with everybody enrolled in a light of their own, which concerns Test 2 only.
    """

    method: str
    title: str
    change: Mapping[str, Any] = field(default_factory=dict)
    own_lights: bool = False


def _for_all() -> Iterator[Explanation]:
    for method in SVM_METHODS:
        yield Explanation(method, "8-bit smoothing", {"smoothing": "8-bit"})
        yield Explanation(method, "128 x 128 pixels", {"size": (128, 128)})
        yield Explanation(method, "one against the rest", {"strategy": "ovr"})


def _with_own_lights(method: str, title: str, change: Mapping[str, Any]) -> Iterator[Explanation]:
    yield Explanation(method, title, change)
    yield Explanation(method, f"{title}, own lights", change, own_lights=True)


EXPLANATIONS: Final[tuple[Explanation, ...]] = (
    *_for_all(),
    *_with_own_lights("weberface", "alpha 9, 8-bit smoothing", {"alpha": 9, "smoothing": "8-bit"}),
    *_with_own_lights("mslde", "20 scales, 8-bit smoothing", {"scales": 20, "smoothing": "8-bit"}),
    *_with_own_lights("gradientface", "angles as numbers", {"encoding": "angle"}),
    *_with_own_lights("log-dct", "stretched to 0..255", {"rescale": "after"}),
    Explanation("log-dct", "10 coefficients dropped", {"discard": 10}),
    *_with_own_lights("hog", "blocks of 2 x 2 cells, 8-bit smoothing", {"block": 2, "smoothing": "8-bit"}),
    *_with_own_lights("log-hog", "blocks of 2 x 2 cells, 8-bit smoothing", {"block": 2, "smoothing": "8-bit"}),
)

_LONGER = (
    "A guess, not tested: the paper trained longer, or on larger pictures; its number of iterations, its batch and the "
    "size of its pictures are not known."
)

_SLOW = (
    "A guess, not tested: without batch normalization this network learns slowly at this rate; the paper's number of "
    "iterations is not known."
)

GUESSES: Final[dict[str, str]] = {
    "weberface": "A guess, not tested: another kernel or neighborhood than the reference implementation's.",
    "mslde": "A guess, not tested: the weights of the scales, which were never published.",
    "gradientface": "A guess, not tested: another width of the Gaussian, or the angle measured in another way.",
    "log-dct": "A guess, not tested: another number of coefficients together with the stretching.",
    "hog": "A guess, not tested: other cells and blocks, or another implementation of HoG.",
    "log-hog": "A guess, not tested: other cells and blocks, or another implementation of HoG.",
    "rcdt": "A guess, not tested: another photo was drawn.",
    "log-rcdt": "A guess, not tested: another photo was drawn.",
    **dict.fromkeys(("vgg16", "vgg16-relit"), _SLOW),
    **dict.fromkeys(("resnet50", "resnet50-relit", "densenet121", "densenet121-relit"), _LONGER),
}
"""What remains, by method."""
