"""One method, some galleries: fit, predict, count.

The cache hashes all that this module imports, so nothing about tables or reports belongs here.
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
from lightproof.core.threads import in_threads
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.estimators.recognizer import FaceRecognizer
from lightproof.experiments.crops import CROPS
from lightproof.imaging.detection import AlignedFace, align_crop, jitter_by_eyes
from lightproof.matching.matcher import Matcher, matcher_for
from lightproof.matching.templates import Template
from lightproof.method.presets import ENGINES
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
"""How pictures are aligned: as they come; cut again by eyes that are a little off, for photo i always by the same; or
by the eyes that a detector found, before they come here."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """The answers of one method on every gallery of an experiment.

    ``fit_seconds`` are those of all galleries together, and of the features if they are computed once for all.
    """

    hits: list[dict[int, Array]]  # for each gallery, by subset: whether each probe was identified correctly
    fit_seconds: float
    seconds: dict[int, float]  # by subset, to identify the probes; all galleries together
    chosen: list[str]  # for each gallery, the choice of the validation in words; "" if there is none

    def plain(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {
            "hits": [{str(s): "".join("01"[int(h)] for h in hits) for s, hits in by.items()} for by in self.hits],
            "fit_seconds": self.fit_seconds,
            "seconds": {str(subset): value for subset, value in self.seconds.items()},
            "chosen": self.chosen,
        }

    @classmethod
    def of(cls, plain: dict[str, Any], splits: Sequence[Split]) -> Self:
        """Read it from plain values; refuse those that do not fit these splits."""
        read = cls(
            hits=[{int(subset): _bits(hits) for subset, hits in by.items()} for by in plain["hits"]],
            fit_seconds=float(plain["fit_seconds"]),
            seconds={int(subset): float(value) for subset, value in plain["seconds"].items()},
            chosen=[str(choice) for choice in plain["chosen"]],
        )
        probes = [{subset: len(probes) for subset, probes in split.probes.items()} for split in splits]
        answers = [{subset: len(hits) for subset, hits in by.items()} for by in read.hits]
        if answers != probes or set(read.seconds) != set(probes[0]) or len(read.chosen) != len(splits):
            raise ValueError("answers to other questions")
        return read


def measure(
    estimator: Any, pictures: Floats, labels: Array, splits: Sequence[Split], found: Array | None = None
) -> Measurement:
    """Fit and judge one estimator on every split; the pictures (n, h, w) are already brought to size.

    The features of a pipeline must not depend on the gallery: they are computed once, for all splits. With the engine a
    score depends on nobody else who is enrolled: all galleries are compared at once. A photo without a face (``found``,
    everywhere if not given) is neither enrolled nor compared; as a probe it is a mistake.
    """
    found = np.ones(len(labels), bool) if found is None else found
    if isinstance(estimator, FaceRecognizer) and estimator.preset in ENGINES:
        return _measure_engine(matcher_for(ENGINES[estimator.preset]), pictures, labels, splits, found)
    start = time.perf_counter()
    classifier, features = estimator, pictures
    if isinstance(estimator, Pipeline):
        classifier, features = estimator[-1], estimator[:-1].fit_transform(pictures)
    fit_seconds = time.perf_counter() - start
    all_hits, seconds, chosen = [], dict.fromkeys(splits[0].probes, 0.0), []
    for split in splits:
        start = time.perf_counter()
        enrolled = split.gallery[found[split.gallery]]
        classifier.fit(features[enrolled], labels[enrolled])
        fit_seconds += time.perf_counter() - start
        hits = {}
        for subset, probes in split.probes.items():
            start = time.perf_counter()
            hits[subset] = found[probes]
            compared = probes[found[probes]]
            if len(compared):
                hits[subset][found[probes]] = classifier.predict(features[compared]) == labels[compared]
            seconds[subset] += time.perf_counter() - start
        all_hits.append(hits)
        chosen.append(_choice(classifier))
    return Measurement(all_hits, fit_seconds, seconds, chosen)


def _measure_engine(
    matcher: Matcher, pictures: Array, labels: Array, splits: Sequence[Split], found: Array
) -> Measurement:
    """Compare all probes with the people of all galleries; the time of each subset is its share of the probes."""
    start = time.perf_counter()
    galleries = [split.gallery[found[split.gallery]] for split in splits]
    photos = np.unique(np.concatenate(galleries))
    single = dict(zip(photos.tolist(), matcher.templates(pictures[photos]), strict=True))
    keys: list[tuple[int, str]] = []
    people: list[Template] = []
    for number, gallery in enumerate(galleries):
        own = {label: [single[i] for i in gallery[labels[gallery] == label].tolist()] for label in labels[gallery]}
        people += matcher.joined_people(list(own.values()))
        keys += [(number, str(label)) for label in own]
    columns, names = np.array([number for number, _ in keys]), np.array([name for _, name in keys])
    everybody = matcher.template_set(dict(zip(keys, people, strict=True)))
    fit_seconds = time.perf_counter() - start
    start = time.perf_counter()
    wanted = np.unique(np.concatenate([probes for split in splits for probes in split.probes.values()]))
    asked = wanted[found[wanted]]
    named = np.zeros((len(labels), len(splits)), names.dtype)
    if len(asked):
        scores = matcher.compare(pictures[asked], everybody).people
        for number in range(len(splits)):
            own_columns = np.flatnonzero(columns == number)
            named[asked, number] = names[own_columns[scores[:, own_columns].argmax(axis=1)]]
    spent = (time.perf_counter() - start) / max(1, len(wanted))
    right = (named == labels.astype(names.dtype)[:, None]) & found[:, None]
    hits = [
        {subset: right[probes, number] for subset, probes in split.probes.items()}
        for number, split in enumerate(splits)
    ]
    seconds = {subset: spent * len(np.unique(np.concatenate([s.probes[subset] for s in splits]))) for subset in hits[0]}
    return Measurement(hits, fit_seconds, seconds, [""] * len(splits))


def build(maker: Callable[..., Any], settings: Mapping[str, Any], pictures: Floats) -> Any:
    """Make an estimator for pictures of this size."""
    return maker(size=pictures.shape[1:], **settings)


def take_aligned(faces: FaceSet, crop: str, alignment: str = BY_HAND) -> Array:
    """Return all photos as the engine compares them, cut out, shape (n,): objects.

    Faces found in photos have their meshes already; on others these are laid now.
    """
    if faces.shaped and crop == "full" and alignment != JITTERED:
        aligned = faces.aligned()
    else:
        images = CROPS[crop](ALIGNMENTS[alignment](faces.images))
        # The networks run without holding the other thread up.
        aligned = in_threads(
            lambda i: align_crop(images[i]) if faces.found[i] else AlignedFace(images[i]), range(len(images))
        )
    objects = np.empty(len(aligned), object)
    objects[:] = aligned
    return objects


def take_pictures(images: Array, size: tuple[int, int], smoothing: str, crop: str, alignment: str = BY_HAND) -> Floats:
    """Bring all photos (n, h, w) to a size once, and cut out what the method sees, float32.

    They are aligned first, in the size they come in. They are smoothed before they are shrunk, so at the cut between
    interior and rim one row of pixels on each side holds a little of the other.
    """
    aligned = ALIGNMENTS[alignment](images)
    blocks = (aligned[i : i + PHOTOS_PER_BLOCK] for i in range(0, len(aligned), PHOTOS_PER_BLOCK))
    return np.concatenate([CROPS[crop](bring_to_size(block, size, np.float32, smoothing)) for block in blocks])


def _choice(classifier: Any) -> str:
    if hasattr(classifier, "chosen_"):
        return str(classifier.chosen_)
    # Our own method keeps the number that it chose among its settings.
    if getattr(classifier, "components", None) == "validate":
        return f"{classifier.settings_['components']} components"
    return ""


def _bits(hits: str) -> Array:
    if set(hits) - {"0", "1"}:
        raise ValueError("hits are written as 0 and 1")
    return np.array([hit == "1" for hit in hits], bool)
