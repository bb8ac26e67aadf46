"""Two figures that the paper lacks: accuracy by light, and where identity is decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np

from lightproof.core.images import Images, bring_to_size
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import YALE_LIGHTS, Split
from lightproof.experiments.figures.patches import grey
from lightproof.experiments.figures.picture import Picture, source_of
from lightproof.method.patches import PatchGrid
from lightproof.plots import accuracy_by_light, decision_maps
from lightproof.types import Array, Floats, Ints

YALE_BORDERS: Final = (12.5, 30.0, 65.0, 102.5)
"""Azimuths halfway between the lights of neighboring subsets of Extended Yale B."""

BLOCK: Final = 32
"""Photos whose patch distances are held at a time."""


class PatchJudge(Protocol):
    """Whoever knows how far each patch is from each person; a fitted FaceRecognizer does."""

    classes_: Array
    grid_: PatchGrid

    def patch_distances(self, X: Any) -> Floats:
        """Return distances of shape (n, K, C)."""


def light_figure(faces: FaceSet, probes: Ints, right: Mapping[str, Floats]) -> Picture | None:
    """Draw the accuracy of each method by the direction of the light, or nothing where no direction is known.

    Parameters
    ----------
    faces : FaceSet
    probes : ndarray of int of shape (n,)
        Photos that were to be named.
    right : dict of str to ndarray of shape (n,)
        By method: whether each was named correctly, or how often, 0 to 1.
    """
    known = np.isfinite(faces.azimuths[probes]) & np.isfinite(faces.elevations[probes])
    if not known.any():
        return None
    azimuths, elevations = faces.azimuths[probes][known], faces.elevations[probes][known]
    lights, accuracies = accuracies_of_lights(
        azimuths, elevations, {method: np.asarray(values)[known] for method, values in right.items()}
    )
    borders = YALE_BORDERS if {tuple(light) for light in lights.tolist()} <= set(YALE_LIGHTS) else ()
    parted = " Lines part the subsets." if borders else ""
    return Picture(
        "accuracy-by-light",
        "Accuracy by the direction of the light",
        f"Each point is a light, as the camera sees it: in the middle it stands behind the camera, on the left it "
        f"shines from the left of the picture.{parted} Photos: {source_of(faces)}.",
        accuracy_by_light(lights[:, 0], lights[:, 1], accuracies, borders),
    )


def decision_figure(recognizer: PatchJudge, faces: FaceSet, split: Split) -> Picture:
    """Draw how often each patch alone names the person, for each subset.

    Parameters
    ----------
    recognizer : PatchJudge
        Fitted to the gallery.
    faces : FaceSet
    split : Split
    """
    maps = {
        f"subset {number}": patch_accuracies(recognizer, faces.images[probes], faces.labels[probes])
        for number, probes in split.probes.items()
        if len(probes)
    }
    average = grey(bring_to_size(faces.images[split.gallery], None, np.float64).mean(axis=0))
    return Picture(
        "decision-maps",
        "Where identity is decided",
        f"How often each patch alone would name the right one of {len(recognizer.classes_)} people; the first picture "
        f"is the average of the enrolled photos. Photos: {source_of(faces)}.",
        decision_maps(maps, average),
    )


def patch_accuracies(recognizer: PatchJudge, images: Images, labels: Array) -> Floats:
    """Share of the photos that each patch alone names correctly, in percent.

    Parameters
    ----------
    recognizer : PatchJudge
    images : ndarray of shape (n, h, w) or list of ndarray of shape (h, w)
        At least one.
    labels : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (rows, columns)
    """
    right = np.zeros(recognizer.grid_.n_patches)
    for start in range(0, len(images), BLOCK):
        nearest = recognizer.patch_distances(images[start : start + BLOCK]).argmin(axis=2)
        right += np.sum(recognizer.classes_[nearest] == labels[start : start + BLOCK, None], axis=0)
    return recognizer.grid_.as_map(100 * right / len(images))


def accuracies_of_lights(
    azimuths: Floats, elevations: Floats, right: Mapping[str, Floats]
) -> tuple[Floats, dict[str, Floats]]:
    """Gather photos by their light: the lights, shape (l, 2), and by method the accuracy at each in percent."""
    lights, which = np.unique(np.stack([azimuths, elevations], axis=1), axis=0, return_inverse=True)
    counts = np.bincount(which)
    return lights, {name: 100 * np.bincount(which, weights=values) / counts for name, values in right.items()}
