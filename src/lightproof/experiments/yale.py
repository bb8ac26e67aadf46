"""Extended Yale B as the paper runs it, the published figure beside ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from lightproof.datasets.base import FaceSet
from lightproof.datasets.protocols import YALE_PICKS, Protocol, yale_test_1, yale_test_2
from lightproof.experiments.paper import LOG_METHOD, METHOD, YALE, YALE_OVERLAPS, YALE_PROJECTIONS
from lightproof.images import bring_to_size
from lightproof.recognizer import FaceRecognizer
from lightproof.types import Array

SUBSETS = (1, 2, 3, 4)
LIGHT_OF = {METHOD: "none", LOG_METHOD: "log"}


@dataclass(frozen=True)
class Row:
    """One figure. The names of the fields are the keys of the JSON file and stay as they are.

    ``accuracy``, ``std`` and ``published`` are percent; ``std`` is over the galleries of a mean, else None; ``n`` is
    the number of probes; ``seconds`` is the time to fit and to identify them, all galleries together.
    """

    dataset: str
    test: str
    subset: int | str
    method: str
    preset: str
    gallery: str
    accuracy: float
    std: float | None
    n: int
    published: float | None
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the row for a JSON file."""
        return asdict(self)


@dataclass(frozen=True)
class Experiment:
    """One method under one protocol, or under several whose figures are averaged."""

    method: str
    preset: str
    protocols: Sequence[Protocol]
    gallery: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    published: Mapping[int, float] = field(default_factory=dict)
    subsets: Sequence[int] = SUBSETS

    @property
    def title(self) -> str:
        """Return a line that tells it from the others."""
        return f"{self.protocols[0].name}, {self.preset}: {self.method} ({self.gallery})"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one experiment found: its rows, and what had to be chosen on the way."""

    rows: list[Row]
    notes: list[str]


def plan_yale(presets: Sequence[str]) -> list[Experiment]:
    """List the experiments of the paper on Extended Yale B for some presets."""
    plan = [experiment for preset in presets for experiment in _headline(preset)]
    return plan + (_authors_details() if "authors" in presets else [])


def run(experiment: Experiment, faces: FaceSet, images: Mapping[str, Array]) -> Outcome:
    """Run one experiment.

    Parameters
    ----------
    experiment : Experiment
    faces : FaceSet
    images : mapping
        The images of ``faces`` brought to size, by way of smoothing; see :func:`shrink`.

    Returns
    -------
    Outcome
    """
    recognizer = FaceRecognizer(experiment.preset, **experiment.overrides)
    pixels = images[recognizer.settings()["smoothing"]]
    hits: dict[int, list[Array]] = {subset: [] for subset in experiment.subsets}
    seconds, fitting = dict.fromkeys(experiment.subsets, 0.0), 0.0
    notes = []
    for protocol in experiment.protocols:
        split = protocol.split(faces)
        start = time.perf_counter()
        recognizer.fit(pixels[split.gallery], faces.labels[split.gallery])
        fitting += time.perf_counter() - start
        for subset in experiment.subsets:
            start = time.perf_counter()
            probes = split.probes[subset]
            hits[subset].append(recognizer.predict(pixels[probes]) == faces.labels[probes])
            seconds[subset] += time.perf_counter() - start
        if recognizer.settings()["components"] == "validate":
            notes.append(f"{experiment.title}: validation chose {recognizer.settings_['components']} components")
    return Outcome(list(_rows(experiment, hits, seconds, fitting)), notes)


def shrink(
    faces: FaceSet, smoothing: str, progress: Callable[[Iterable[int]], Iterable[int]] = iter, block: int = 64
) -> Array:
    """Bring all photos to the size of the presets once, so that no experiment repeats it."""
    size = FaceRecognizer().settings()["size"]
    starts = progress(range(0, len(faces), block))
    return np.concatenate([bring_to_size(faces.images[i : i + block], size, np.float32, smoothing) for i in starts])


def _rows(
    experiment: Experiment, hits: dict[int, list[Array]], seconds: dict[int, float], fitting: float
) -> Iterator[Row]:
    whole = [np.concatenate(parts) for parts in zip(*hits.values(), strict=True)]
    judged: list[tuple[int | str, list[Array]]] = list(hits.items())
    if len(hits) == len(SUBSETS):
        judged.append(("all", whole))
    for subset, galleries in judged:
        shares = [100 * float(hit.mean()) for hit in galleries]
        yield Row(
            dataset="yale",
            test=experiment.protocols[0].name,
            subset=subset,
            method=experiment.method,
            preset=experiment.preset,
            gallery=experiment.gallery,
            accuracy=float(np.mean(shares)),
            std=float(np.std(shares, ddof=1)) if len(shares) > 1 else None,
            n=len(galleries[0]),
            published=experiment.published.get(subset) if isinstance(subset, int) else None,
            seconds=fitting + (seconds[subset] if isinstance(subset, int) else sum(seconds.values())),
        )


def _headline(preset: str) -> Iterator[Experiment]:
    every_pick = [yale_test_2(pick) for pick in range(YALE_PICKS)]
    for method, light in LIGHT_OF.items():
        one_photo, all_photos = (dict(zip(SUBSETS, YALE[test, method], strict=True)) for test in ("Test 2", "Test 1"))
        yield Experiment(method, preset, every_pick, f"mean of {YALE_PICKS}", {"light": light}, one_photo)
        yield Experiment(method, preset, [yale_test_2("authors")], "authors", {"light": light}, one_photo)
        validated = {"light": light, "components": "validate"}
        yield Experiment(method, preset, [yale_test_1()], "all training photos", validated, all_photos)


def _authors_details() -> list[Experiment]:
    """Where paper and released code part ways, and the table of parameters."""
    eight_bit = {"smoothing": "8-bit"}
    details = [
        _variant("plain sum", METHOD, {"aggregate": "sum"}),
        _variant("8-bit smoothing", METHOD, eight_bit),
        _variant("8-bit smoothing", LOG_METHOD, {**eight_bit, "light": "log"}),
        _variant("80 % of singular values", METHOD, {"components": 0.8}, yale_test_1()),
        *(
            _variant(
                "80 % of singular values, 8-bit smoothing",
                method,
                {**eight_bit, "components": 0.8, "light": light},
                yale_test_1(),
            )
            for method, light in LIGHT_OF.items()
        ),
    ]
    for cell, by_angles in YALE_PROJECTIONS.items():
        details += [e for m, figure in by_angles.items() for e in _grid_cell(cell, 0, m, figure)]
    for cell, by_overlap in YALE_OVERLAPS.items():
        # Overlap 0 with four angles stands among the projections already.
        details += [e for o, figure in by_overlap.items() if o > 0 for e in _grid_cell(cell, o, 4, figure)]
    return details


def _variant(name: str, method: str, overrides: dict[str, Any], protocol: Protocol | None = None) -> Experiment:
    """Another way to run a method under one protocol, by default with the authors' photo."""
    protocol = protocol or yale_test_2("authors")
    published = dict(zip(SUBSETS, YALE[protocol.name, method], strict=True))
    return Experiment(f"{method}, {name}", "authors", [protocol], protocol.gallery, overrides, published)


def _grid_cell(cell: int, overlap: int, m: int, published: float) -> Iterator[Experiment]:
    """One cell of the table of parameters, in float arithmetic and smoothed in 8 bits."""
    for suffix, smoothing in (("", "float"), (", 8-bit smoothing", "8-bit")):
        yield Experiment(
            f"{METHOD}, cell {cell}, overlap {overlap}, {m} angles{suffix}",
            "authors",
            [yale_test_2("authors")],
            "authors",
            {"cell": cell, "overlap": overlap, "n_angles": m, "smoothing": smoothing},
            {4: published},
            subsets=(4,),
        )
