"""The published figures, and what could explain ours where they differ.

The figures are from "Local Sliced-Wasserstein Feature Sets for Illumination-invariant Face Recognition" (Zhuang et
al.): rank-1 accuracy in percent. Methods go by the names of :mod:`lightproof.experiments.methods`.

The changes were looked for with the test photos in view. They explain what others published; they are not settings to
use, and no default here follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

# fmt: off
PUBLISHED: Final[dict[tuple[str, str], dict[str, tuple[float, ...]]]] = {
    ("yale", "Test 1"): {
        "weberface":         (100.0, 95.1, 94.2, 90.6),
        "mslde":             (100.0, 93.3, 82.0, 79.1),
        "gradientface":      (100.0, 91.5, 88.4, 85.1),
        "log-dct":           (97.8, 80.5, 70.7, 43.6),
        "hog":               (100.0, 82.4, 49.1, 65.9),
        "log-hog":           (100.0, 91.1, 70.5, 80.6),
        "vgg16":             (67.8, 14.6, 3.7, 2.4),
        "vgg16-relit":       (98.6, 77.1, 55.5, 25.3),
        "resnet50":          (96.5, 50.3, 9.5, 4.0),
        "resnet50-relit":    (97.8, 73.3, 42.0, 26.9),
        "densenet121":       (85.5, 36.4, 5.9, 3.8),
        "densenet121-relit": (98.1, 58.7, 23.4, 14.8),
        "rcdt":              (100.0, 98.8, 96.2, 94.4),
        "log-rcdt":          (100.0, 98.9, 96.6, 95.7),
    },
    ("yale", "Test 2"): {
        "weberface":         (92.1, 78.8, 70.1, 74.4),
        "mslde":             (87.6, 64.9, 60.8, 64.0),
        "gradientface":      (80.5, 58.6, 65.2, 60.0),
        "log-dct":           (72.8, 41.3, 39.8, 24.6),
        "hog":               (68.6, 47.2, 30.7, 42.0),
        "log-hog":           (73.1, 51.9, 44.2, 51.0),
        "vgg16":             (15.0, 5.7, 2.4, 2.6),
        "vgg16-relit":       (66.0, 33.5, 10.6, 7.7),
        "resnet50":          (63.9, 14.9, 3.5, 2.2),
        "resnet50-relit":    (91.0, 49.3, 23.8, 14.4),
        "densenet121":       (57.1, 15.5, 4.6, 2.0),
        "densenet121-relit": (78.4, 24.8, 9.2, 2.0),
        "rcdt":              (98.4, 95.5, 92.4, 91.8),
        "log-rcdt":          (98.9, 95.5, 95.5, 96.3),
    },
    ("cas-peal", "Test"): {
        "weberface":         (16.2, 19.5, 27.5),
        "mslde":             (18.0, 17.9, 40.0),
        "gradientface":      (21.1, 20.0, 38.4),
        "log-dct":           (11.4, 8.5, 4.0),
        "hog":               (19.3, 13.2, 19.0),
        "log-hog":           (22.8, 17.2, 24.3),
        "vgg16":             (2.3, 1.7, 0.7),
        "vgg16-relit":       (5.5, 3.5, 2.6),
        "resnet50":          (3.8, 1.8, 1.0),
        "resnet50-relit":    (6.9, 4.8, 5.1),
        "densenet121":       (1.4, 1.1, 0.8),
        "densenet121-relit": (3.3, 2.0, 1.0),
        "rcdt":              (42.2, 50.2, 49.7),
        "log-rcdt":          (45.2, 54.3, 52.4),
    },
    ("ar", "Test"): {
        "weberface":         (93.7, 87.0),
        "mslde":             (97.5, 94.5),
        "gradientface":      (97.5, 93.0),
        "log-dct":           (87.5, 73.0),
        "hog":               (99.7, 83.5),
        "log-hog":           (100.0, 95.5),
        "vgg16":             (19.7, 11.5),
        "vgg16-relit":       (80.2, 58.4),
        "resnet50":          (59.5, 7.5),
        "resnet50-relit":    (92.7, 80.0),
        "densenet121":       (54.2, 9.0),
        "densenet121-relit": (89.9, 82.4),
        "rcdt":              (99.5, 94.5),
        "log-rcdt":          (99.5, 95.5),
    },
}
# fmt: on
"""Accuracies in the test subsets by data set, test and method: the three tables of results and the table of log."""

YALE_PROJECTIONS: Final[dict[int, dict[int, float]]] = {
    16: {2: 35.1, 3: 40.0, 4: 38.7, 8: 39.7, 20: 39.5, 45: 40.0},
    8: {2: 62.4, 3: 65.3, 4: 63.2, 8: 69.7, 20: 69.4, 45: 69.5},
    4: {2: 78.5, 3: 86.5, 4: 87.3, 8: 89.3, 20: 89.3, 45: 89.3},
}
"""Test 2, subset 4, overlap 0: accuracy by cell size and number of projections."""

YALE_OVERLAPS: Final[dict[int, dict[int, float]]] = {8: {0: 63.2, 2: 73.2, 4: 76.9}, 4: {0: 87.3, 1: 91.8, 2: 93.4}}
"""Test 2, subset 4, four projections: accuracy by cell size and overlap."""

CAS_PEAL_ENLARGED: Final[dict[int, float]] = {0: 49.7, 1: 70.17, 2: 82.51}
"""Discussion: accuracy in test subset 3 when the photos of that many other subsets are enrolled too."""


def published_figures(dataset: str, test: str, method: str) -> dict[int, float]:
    """Return the published figures of a method by subset; empty if the paper has none."""
    return dict(enumerate(PUBLISHED.get((dataset, test), {}).get(method, ()), start=1))


FAR: Final = 5.0
"""A row is explained if it is more points from the published figure."""


@dataclass(frozen=True)
class MethodChange:
    """A change to a method that may explain its published figure; it is run in full.

    ``settings`` are keywords of :meth:`lightproof.experiments.methods.Method.changed`. With ``own_lights`` each person
    is enrolled with a random photo, in Test 2 only.
    """

    method: str
    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    own_lights: bool = False


def _for_all() -> Iterator[MethodChange]:
    for method in ("weberface", "mslde", "gradientface", "log-dct", "hog", "log-hog"):
        yield MethodChange(method, "8-bit smoothing", {"smoothing": "8-bit"})
        yield MethodChange(method, "128 x 128 pixels", {"size": (128, 128)})
        yield MethodChange(method, "one against the rest", {"strategy": "ovr"})


def _with_own_lights(method: str, title: str, settings: Mapping[str, Any]) -> Iterator[MethodChange]:
    yield MethodChange(method, title, settings)
    yield MethodChange(method, f"{title}, own lights", settings, own_lights=True)


METHOD_CHANGES: Final[tuple[MethodChange, ...]] = (
    *_for_all(),
    *_with_own_lights("weberface", "alpha 9, 8-bit smoothing", {"alpha": 9, "smoothing": "8-bit"}),
    *_with_own_lights("mslde", "20 scales, 8-bit smoothing", {"scales": 20, "smoothing": "8-bit"}),
    *_with_own_lights("gradientface", "angles as numbers", {"encoding": "angle"}),
    *_with_own_lights("log-dct", "stretched to 0..255", {"rescale": "after"}),
    MethodChange("log-dct", "10 coefficients dropped", {"discard": 10}),
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
"""What may explain the rest, by method."""
