"""One method, some galleries: fit, predict, count.

Whatever this module reaches by its imports decides a figure; nothing about tables or reports belongs here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self

import numpy as np
from sklearn.pipeline import Pipeline

from lightproof.core.images import bring_to_size
from lightproof.datasets.protocols import Split
from lightproof.experiments.crops import CROPS
from lightproof.imaging.detection import jitter_by_eyes
from lightproof.types import Array, Floats

PHOTOS_PER_BLOCK: Final = 64

BY_HAND: Final = "by hand"
JITTERED: Final = "jittered"
FOUND: Final = "found"

ALIGNMENTS: Final[dict[str, Callable[[Array], Array]]] = {
    BY_HAND: lambda images: images,
    JITTERED: partial(jitter_by_eyes, share=0.04, seed=0),
    FOUND: lambda images: images,
}
"""How the crops lie: as they come; cut again by eyes that are a little off, photo i always by the same; or cut by the
eyes that a detector found, before they come here."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """What one method did on every gallery of an experiment.

    Attributes
    ----------
    hits : list of dict of int to ndarray of bool
        For each gallery, by subset: whether each probe was named correctly, in the order of the split.
    fit_seconds : float
        All galleries together, features of the pictures included where they are computed once for all.
    seconds : dict of int to float
        By subset, to name the probes; all galleries together.
    chosen : list of str
        For each gallery, what the method chose by validation, in words; empty where it chooses nothing.
    """

    hits: list[dict[int, Array]]
    fit_seconds: float
    seconds: dict[int, float]
    chosen: list[str]

    def plain(self) -> dict[str, Any]:
        """Return it as plain values, for a file."""
        return {
            "hits": [{str(s): "".join("01"[int(h)] for h in hits) for s, hits in by.items()} for by in self.hits],
            "fit_seconds": self.fit_seconds,
            "seconds": {str(subset): value for subset, value in self.seconds.items()},
            "chosen": self.chosen,
        }

    @classmethod
    def of(cls, plain: dict[str, Any], splits: Sequence[Split]) -> Self:
        """Read it from plain values; those that cannot be an outcome on these splits are an error."""
        outcome = cls(
            hits=[{int(subset): _bits(hits) for subset, hits in by.items()} for by in plain["hits"]],
            fit_seconds=float(plain["fit_seconds"]),
            seconds={int(subset): float(value) for subset, value in plain["seconds"].items()},
            chosen=[str(choice) for choice in plain["chosen"]],
        )
        asked = [{subset: len(probes) for subset, probes in split.probes.items()} for split in splits]
        answered = [{subset: len(hits) for subset, hits in by.items()} for by in outcome.hits]
        if answered != asked or set(outcome.seconds) != set(asked[0]) or len(outcome.chosen) != len(splits):
            raise ValueError("answers to other questions")
        return outcome


def measure(
    estimator: Any, pictures: Floats, labels: Array, splits: Sequence[Split], found: Array | None = None
) -> Measurement:
    """Fit and judge one estimator on every split.

    A photo in which no face was found is neither enrolled nor compared with anybody; asked about, it is a mistake.

    Parameters
    ----------
    estimator : estimator
        A pipeline's features must not depend on the gallery: they are computed once, for all splits.
    pictures : ndarray of shape (n, h, w)
        Already brought to size.
    labels : ndarray of shape (n,)
    splits : sequence of Split
    found : ndarray of shape (n,), bool, optional
        Whether there is a face; everywhere if not given.

    Returns
    -------
    Measurement
    """
    found = np.ones(len(labels), bool) if found is None else found
    start = time.perf_counter()
    judge, known = estimator, pictures
    if isinstance(estimator, Pipeline):
        judge, known = estimator[-1], estimator[:-1].fit_transform(pictures)
    outcome = Measurement([], time.perf_counter() - start, dict.fromkeys(splits[0].probes, 0.0), [])
    fitting = outcome.fit_seconds
    for split in splits:
        start = time.perf_counter()
        enrolled = split.gallery[found[split.gallery]]
        judge.fit(known[enrolled], labels[enrolled])
        fitting += time.perf_counter() - start
        hits = {}
        for subset, probes in split.probes.items():
            start = time.perf_counter()
            hits[subset] = found[probes]
            asked = probes[found[probes]]
            if len(asked):
                hits[subset][found[probes]] = judge.predict(known[asked]) == labels[asked]
            outcome.seconds[subset] += time.perf_counter() - start
        outcome.hits.append(hits)
        outcome.chosen.append(_choice(judge))
    return Measurement(outcome.hits, fitting, outcome.seconds, outcome.chosen)


def build(maker: Callable[..., Any], settings: Mapping[str, Any], pictures: Floats) -> Any:
    """Make an estimator that takes the pictures in the size they have."""
    return maker(size=pictures.shape[1:], **settings)


def take_pictures(images: Array, size: tuple[int, int], smoothing: str, crop: str, alignment: str = BY_HAND) -> Floats:
    """Bring all photos to a size once, and cut out what a method may look at.

    Crops that are moved are moved first, in the size they come in. Photos are smoothed before they are shrunk, so at
    the cut between interior and rim one row of pixels on each side holds a little of the other.

    Parameters
    ----------
    images : ndarray of shape (n, h, w)
    size : (int, int)
    smoothing : {"float", "8-bit"}
    crop : {"full", "interior", "outer"}
    alignment : {"by hand", "jittered", "found"}

    Returns
    -------
    ndarray, float32
    """
    aligned = ALIGNMENTS[alignment](images)
    blocks = (aligned[i : i + PHOTOS_PER_BLOCK] for i in range(0, len(aligned), PHOTOS_PER_BLOCK))
    return np.concatenate([CROPS[crop](bring_to_size(block, size, np.float32, smoothing)) for block in blocks])


def _choice(judge: Any) -> str:
    if hasattr(judge, "chosen_"):
        return str(judge.chosen_)
    # Our own method says it by its settings: asked to validate, it keeps a number.
    settings = getattr(judge, "settings_", {})
    if getattr(judge, "components", None) == "validate":
        return f"{settings['components']} components"
    return ""


def _bits(hits: str) -> Array:
    if set(hits) - {"0", "1"}:
        raise ValueError("hits are written as 0 and 1")
    return np.array([hit == "1" for hit in hits], bool)
