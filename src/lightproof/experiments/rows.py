"""Results as figures: one row each, with its interval and the published figure beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lightproof.experiments.measure import BY_HAND
from lightproof.experiments.runner import Result
from lightproof.metrics import wilson_interval
from lightproof.types import Array


@dataclass(frozen=True)
class Row:
    """One figure. The names of the fields are the keys of the JSON file and stay as they are.

    ``accuracy``, ``std``, ``low``, ``high`` and ``published`` are percent; ``std`` is over the galleries of a mean,
    else None; ``low`` and ``high`` are Wilson's 95 % interval for ``n`` probes; ``seconds`` is the time to fit and to
    name them, all galleries together; ``chosen`` says what validation chose; ``alignment`` is how the crops lie, by
    hand where a file does not say; ``detector`` is what found the faces, "" where nothing was looked for.
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


def rows_of(result: Result) -> Iterator[Row]:
    """Turn a result into rows: one for each subset, and one for all of them together."""
    experiment, outcome = result.experiment, result.outcome
    judged: dict[int | str, list[Array]] = {s: [hits[s] for hits in outcome.hits] for s in outcome.hits[0]}
    if len(judged) > 1:
        judged["all"] = [np.concatenate(list(hits.values())) for hits in outcome.hits]
    for subset, galleries in judged.items():
        n = len(galleries[0])
        if n == 0:
            continue
        shares = [float(hits.mean()) for hits in galleries]
        low, high = wilson_interval(n * float(np.mean(shares)), n)
        naming = outcome.seconds[subset] if isinstance(subset, int) else sum(outcome.seconds.values())
        yield Row(
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
            seconds=outcome.fit_seconds + naming,
            name=experiment.method.name,
            table=experiment.table,
            frame=experiment.frame,
            low=100 * low,
            high=100 * high,
            chosen=" | ".join(dict.fromkeys(filter(None, outcome.chosen))),
            alignment=experiment.alignment,
            detector=experiment.detector,
        )


def hits_by_photo(result: Result, n: int) -> Array:
    """Lay out the answers by photo: True where a gallery named it correctly, False also where it was not asked.

    Parameters
    ----------
    result : Result
    n : int
        Photos in the set.

    Returns
    -------
    ndarray of shape (galleries, n), bool
    """
    out = np.zeros((len(result.splits), n), bool)
    for line, split, hits in zip(out, result.splits, result.outcome.hits, strict=True):
        for subset, probes in split.probes.items():
            line[probes] = hits[subset]
    return out


@dataclass(frozen=True)
class Line:
    """The rows of one experiment, by subset."""

    by_subset: dict[int | str, Row]

    @property
    def whole(self) -> Row:
        """The figure for all subsets together; the only one if there is one subset."""
        return list(self.by_subset.values())[-1]

    @property
    def subsets(self) -> list[Row]:
        """The figures of the single subsets."""
        return [row for subset, row in self.by_subset.items() if subset != "all"]

    @property
    def farthest(self) -> float | None:
        """Points between ours and the published figure in the subset where they differ most."""
        apart = [abs(row.difference) for row in self.subsets if row.difference is not None]
        return max(apart) if apart else None


def lines_of(rows: Iterable[Row]) -> list[Line]:
    """Put the rows of each experiment together."""
    found: dict[tuple[str, ...], dict[int | str, Row]] = {}
    for row in rows:
        key = (row.dataset, row.table, row.test, row.method, row.preset, row.gallery, row.frame, row.alignment)
        found.setdefault(key, {})[row.subset] = row
    return [Line(by_subset) for by_subset in found.values()]
