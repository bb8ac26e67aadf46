"""Results as accuracies: one row each, with its interval and the published figure beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lightproof.experiments.measure import BY_HAND
from lightproof.experiments.methods import METHODS
from lightproof.experiments.runner import Result
from lightproof.metrics import wilson_interval
from lightproof.types import Array


@dataclass(frozen=True)
class AccuracyRow:
    """One accuracy. The names of the fields are the keys of the JSON file and stay as they are.

    ``accuracy``, ``std``, ``low``, ``high`` and ``published`` are percent; ``std`` is over the galleries of a mean,
    else None; ``low`` and ``high`` are Wilson's 95 % interval for ``n`` probes; ``seconds`` is the time to fit and to
    identify them, all galleries together; ``frame`` is the part of the pictures that the method sees; ``chosen`` is
    the choice of the validation; ``alignment`` and ``detector`` are as in an Experiment (old files lack them).
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
    name: str
    table: str
    frame: str
    low: float
    high: float
    chosen: str
    alignment: str = BY_HAND
    detector: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the row for a JSON file."""
        return asdict(self)

    @property
    def difference(self) -> float | None:
        """Points above the published figure."""
        return None if self.published is None else self.accuracy - self.published

    @property
    def variant(self) -> str:
        """What differs from the method of that name, in words; files hold it as the end of ``method`` alone."""
        return self.method.removeprefix(METHODS[self.name].title).removeprefix(", ")


def rows_of(result: Result) -> Iterator[AccuracyRow]:
    """Turn a result into rows: one for each subset, and one for all of them together."""
    experiment, measurement = result.experiment, result.measurement
    by_subset: dict[int | str, list[Array]] = {s: [hits[s] for hits in measurement.hits] for s in measurement.hits[0]}
    if len(by_subset) > 1:
        by_subset["all"] = [np.concatenate(list(hits.values())) for hits in measurement.hits]
    for subset, galleries in by_subset.items():
        n = len(galleries[0])
        if n == 0:
            continue
        shares = [float(hits.mean()) for hits in galleries]
        low, high = wilson_interval(n * float(np.mean(shares)), n)
        seconds = measurement.seconds[subset] if isinstance(subset, int) else sum(measurement.seconds.values())
        yield AccuracyRow(
            dataset=experiment.dataset,
            test=experiment.test,
            subset=subset,
            method=experiment.method.title,
            preset=experiment.method.preset,
            gallery=experiment.gallery,
            accuracy=100 * float(np.mean(shares)),
            std=100 * float(np.std(shares, ddof=1)) if len(shares) > 1 else None,
            n=n,
            published=experiment.published.get(subset) if isinstance(subset, int) else None,
            seconds=measurement.fit_seconds + seconds,
            name=experiment.method.name,
            table=experiment.table,
            frame=experiment.crop,
            low=100 * low,
            high=100 * high,
            chosen=" | ".join(dict.fromkeys(filter(None, measurement.chosen))),
            alignment=experiment.alignment,
            detector=experiment.detector,
        )


def hits_by_photo(result: Result, n: int) -> Array:
    """Whether each gallery named each of ``n`` photos correctly, shape (galleries, n); False if it was no probe."""
    right = np.zeros((len(result.splits), n), bool)
    for line, split, hits in zip(right, result.splits, result.measurement.hits, strict=True):
        for subset, probes in split.probes.items():
            line[probes] = hits[subset]
    return right


@dataclass(frozen=True)
class ExperimentRows:
    """The rows of one experiment, by subset."""

    by_subset: dict[int | str, AccuracyRow]

    @property
    def whole(self) -> AccuracyRow:
        """The row for all subsets together; the only one if there is one subset."""
        return list(self.by_subset.values())[-1]

    @property
    def subsets(self) -> list[AccuracyRow]:
        """The rows of the single subsets."""
        return [row for subset, row in self.by_subset.items() if subset != "all"]

    @property
    def farthest(self) -> float | None:
        """Points between ours and the published figure in the subset where they differ most."""
        apart = [abs(row.difference) for row in self.subsets if row.difference is not None]
        return max(apart) if apart else None


def lines_of(rows: Iterable[AccuracyRow]) -> list[ExperimentRows]:
    """Put the rows of each experiment together."""
    by_experiment: dict[tuple[str, ...], dict[int | str, AccuracyRow]] = {}
    for row in rows:
        key = (row.dataset, row.table, row.test, row.method, row.preset, row.gallery, row.frame, row.alignment)
        by_experiment.setdefault(key, {})[row.subset] = row
    return [ExperimentRows(by_subset) for by_subset in by_experiment.values()]
