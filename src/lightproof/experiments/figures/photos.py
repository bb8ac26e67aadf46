"""Which photos of a data set are shown."""

from __future__ import annotations

from typing import Final

import numpy as np

from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.types import Array, Ints

MOST_SUBSETS: Final = 5
MOST_PEOPLE: Final = 10


def photos_of_one(faces: FaceSet, split: Split) -> dict[str, int]:
    """Choose a person with photos in as many subsets as possible, and one photo of each."""
    best: dict[str, int] = {}
    for photo in split.gallery:
        chosen = {"training": int(photo)}
        for number, probes in list(split.probes.items())[:MOST_SUBSETS]:
            own = probes[faces.labels[probes] == faces.labels[photo]]
            if len(own):
                chosen[f"subset {number}"] = _typical(faces, own)
        if len(chosen) > len(best):
            best = chosen
    return best


def example_rows(faces: FaceSet, split: Split) -> dict[str, list[Array | None]]:
    """Choose photos of several people for each subset, their lights spread over the subset; None where one has none."""
    people = np.unique(faces.labels[split.gallery])[:MOST_PEOPLE]
    rows: dict[str, list[Array | None]] = {}
    subsets = {f"subset {number}": probes for number, probes in list(split.probes.items())[:MOST_SUBSETS]}
    for name, photos in {"training": split.gallery, **subsets}.items():
        of_each = [photos[faces.labels[photos] == person] for person in people]
        if any(map(len, of_each)):
            rows[name] = [
                faces.images[own[i * len(own) // len(people)]] if len(own) else None for i, own in enumerate(of_each)
            ]
    return rows


def _typical(faces: FaceSet, photos: Ints) -> int:
    """Choose the photo of middle brightness; where directions are known, of those lit from one side."""
    lit_from_left = photos[faces.azimuths[photos] > 0]
    photos = lit_from_left if len(lit_from_left) else photos
    by_brightness = np.argsort([float(np.mean(faces.images[i])) for i in photos], kind="stable")
    return int(photos[by_brightness[len(photos) // 2]])
