"""Figures for a report, and two that the paper lacks: accuracy by light, and where identity is decided."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol, Self

import numpy as np

from lightproof.core.images import Images, bring_to_size
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import YALE_LIGHTS, Split
from lightproof.method.patches import PatchGrid
from lightproof.plots import accuracy_by_light, decision_maps
from lightproof.types import Array, Floats, Ints

SOURCES: Final = {
    "yale": "Extended Yale B",
    "ar": "AR face database",
    "cas-peal": "CAS-PEAL-R1",
    "folder": "a folder of pictures",
    "relit faces": "rendered, no real people",
}
"""The photos of a data set in words; other sets are called by their name."""

YALE_BORDERS: Final = (12.5, 30.0, 65.0, 102.5)
"""Azimuths halfway between the lights of neighboring subsets of Extended Yale B."""

PHOTOS_PER_BLOCK: Final = 32  # patch distances of so many are held at a time


@dataclass(frozen=True)
class ReportFigure:
    """A figure for a page; ``name`` is the stem of its file."""

    name: str
    title: str
    caption: str
    png: bytes

    def plain(self) -> dict[str, str]:
        """Return plain values for a file."""
        return {**asdict(self), "png": base64.b64encode(self.png).decode()}

    @classmethod
    def of(cls, plain: dict[str, str]) -> Self:
        """Read it from plain values."""
        return cls(plain["name"], plain["title"], plain["caption"], base64.b64decode(plain["png"], validate=True))


def source_of(faces: FaceSet) -> str:
    """Return the source of the photos of a data set, for a caption."""
    return SOURCES.get(faces.name, faces.name)


class PatchJudge(Protocol):
    """What gives the distance of each patch from each person, such as a fitted FaceRecognizer."""

    classes_: Array
    grid_: PatchGrid

    def patch_distances(self, X: Any) -> Floats:
        """Return distances of shape (n, K, C)."""


def light_figure(faces: FaceSet, probes: Ints, right: Mapping[str, Floats]) -> ReportFigure | None:
    """Draw the accuracy of each method by the direction of the light; None if no direction is known.

    ``right`` is, by method, whether each of the ``probes`` (n,) was named correctly, or how often, 0 to 1.
    """
    known = np.isfinite(faces.azimuths[probes]) & np.isfinite(faces.elevations[probes])
    if not known.any():
        return None
    azimuths, elevations = faces.azimuths[probes][known], faces.elevations[probes][known]
    lights, accuracies = accuracies_of_lights(
        azimuths, elevations, {method: np.asarray(values)[known] for method, values in right.items()}
    )
    borders = YALE_BORDERS if {tuple(light) for light in lights.tolist()} <= set(YALE_LIGHTS) else ()
    lines = " Lines part the subsets." if borders else ""
    return ReportFigure(
        "accuracy-by-light",
        "Accuracy by the direction of the light",
        f"Each point is a light, as the camera sees it: in the middle it stands behind the camera, on the left it "
        f"shines from the left of the picture.{lines} Photos: {source_of(faces)}.",
        accuracy_by_light(lights[:, 0], lights[:, 1], accuracies, borders),
    )


def decision_figure(recognizer: PatchJudge, faces: FaceSet, split: Split) -> ReportFigure:
    """Draw how often each patch alone names the person, for each subset; the recognizer is fitted to the gallery."""
    maps = {
        f"subset {number}": patch_accuracies(recognizer, faces.images[probes], faces.labels[probes])
        for number, probes in split.probes.items()
        if len(probes)
    }
    average = grey(bring_to_size(faces.images[split.gallery], None, np.float64).mean(axis=0))
    return ReportFigure(
        "decision-maps",
        "Where identity is decided",
        f"How often each patch alone would name the right one of {len(recognizer.classes_)} people; the first picture "
        f"is the average of the enrolled photos. Photos: {source_of(faces)}.",
        decision_maps(maps, average),
    )


def patch_accuracies(recognizer: PatchJudge, images: Images, labels: Array) -> Floats:
    """Share of the photos (at least one) that each patch alone names correctly, in percent, shape (rows, columns)."""
    right = np.zeros(recognizer.grid_.n_patches)
    for start in range(0, len(images), PHOTOS_PER_BLOCK):
        block = slice(start, start + PHOTOS_PER_BLOCK)
        nearest = recognizer.patch_distances(images[block]).argmin(axis=2)
        right += np.sum(recognizer.classes_[nearest] == labels[block, None], axis=0)
    return recognizer.grid_.as_map(100 * right / len(images))


def accuracies_of_lights(
    azimuths: Floats, elevations: Floats, right: Mapping[str, Floats]
) -> tuple[Floats, dict[str, Floats]]:
    """Return the lights, shape (l, 2), and by method the accuracy at each in percent."""
    lights, which = np.unique(np.stack([azimuths, elevations], axis=1), axis=0, return_inverse=True)
    counts = np.bincount(which)
    return lights, {name: 100 * np.bincount(which, weights=values) / counts for name, values in right.items()}


def grey(pixels: Floats) -> Array:
    """Turn pixels with white = 1 into uint8, cut off at black and white."""
    return np.clip(np.rint(255 * pixels), 0, 255).astype(np.uint8)
