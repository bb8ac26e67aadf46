"""Run what is not yet done, on all cores, and keep each piece as soon as it is finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lightproof.core.cluster import GOES_ON, Cluster, executor_for
from lightproof.core.executors import Executor, Task
from lightproof.core.progress import Progress, silent
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Protocol, Split
from lightproof.errors import BadCluster
from lightproof.experiments import cache, measure
from lightproof.experiments.cache import Cache
from lightproof.experiments.measure import Outcome, take_pictures
from lightproof.experiments.methods import Method
from lightproof.experiments.plan import Experiment
from lightproof.types import Array, Floats

_Work = tuple[int, Method, Floats, Array, Sequence[Split], Array]
"""An experiment: its number, the method, pictures, labels, galleries and probes, and which faces were found."""


@dataclass(frozen=True)
class Result:
    """An experiment and what came of it."""

    experiment: Experiment
    splits: Sequence[Split]
    outcome: Outcome


def run_all(
    plan: Sequence[Experiment],
    faces: FaceSet,
    kept: Cache,
    jobs: int = 1,
    progress: Progress = silent,
    cluster: str | Cluster | None = None,
) -> list[Result]:
    """Run a plan; what the cache has is not run again.

    Parameters
    ----------
    plan : sequence of Experiment
    faces : FaceSet
    kept : Cache
        Gets every piece as soon as it is finished: after an interrupt the same call goes on where this one stopped.
    jobs : int
        Processes; -1 is one for each core.
    progress : callable
        Shows how far it is.
    cluster : str or Cluster, optional
        The scheduler whose workers do it; they are sent the photos.

    Returns
    -------
    list of Result
        In the order of the plan.
    """
    data = cache.digest_of_faces(faces)
    splits = _split_all(plan, faces)
    facts = [facts_of(experiment, data, own) for experiment, own in zip(plan, splits, strict=True)]
    found = [kept.find(own, partial(Outcome.of, splits=asked)) for own, asked in zip(facts, splits, strict=True)]
    # In order of what the photos are made into, so that each kind is made once.
    missing = sorted((i for i, outcome in enumerate(found) if outcome is None), key=lambda i: _kind_of_picture(plan[i]))
    # Where nothing is missing, nobody is needed.
    with executor_for("run_all", jobs, cluster if missing else None) as executor:
        pictures = _Pictures(faces, executor)
        work = ((i, plan[i].method, pictures.of(plan[i]), faces.labels, splits[i], faces.found) for i in missing)
        task = Task(do=_piece, parts=lambda piece: [piece], lost=_lost)
        for i, outcome in progress(executor.map(task, work, len(missing), ordered=False), len(missing)):
            kept.keep(facts[i], outcome.plain())
            found[i] = outcome
    return [Result(e, s, o) for e, s, o in zip(plan, splits, found, strict=True) if o is not None]


def _split_all(plan: Sequence[Experiment], faces: FaceSet) -> list[list[Split]]:
    """Split the faces for every experiment; those that share a protocol share its split."""
    made: dict[Protocol, Split] = {}
    for experiment in plan:
        for protocol in experiment.protocols:
            if protocol not in made:
                made[protocol] = protocol.split(faces)
    return [[made[protocol] for protocol in experiment.protocols] for experiment in plan]


def facts_of(experiment: Experiment, data: str, splits: Sequence[Split]) -> dict[str, Any]:
    """List everything that decides the figures of an experiment."""
    method = experiment.method
    more = ("torch", "pytorchcv") if method.kind == "network" else ()
    return {
        "format": cache.FORMAT,
        "versions": cache.library_versions(*more),
        "code": cache.digest_of_code((method.build.__module__, measure.__name__)),
        "method": f"{method.build.__module__}.{method.build.__qualname__}",
        "settings": dict(method.settings),
        "size": list(method.size),
        "smoothing": method.smoothing,
        "frame": experiment.frame,
        "alignment": experiment.alignment,
        "data": data,
        "splits": cache.digest_of_splits(splits),
    }


class _Pictures:
    """The photos of a set as some method looks at them; made when first asked for, and kept till another kind is."""

    def __init__(self, faces: FaceSet, executor: Executor) -> None:
        self._executor, self._images = executor, executor.scatter(_itself, faces.images)
        self._kind: tuple[Any, ...] = ()
        self._made: Floats | None = None

    def of(self, experiment: Experiment) -> Floats:
        wanted = _kind_of_picture(experiment)
        if self._made is None or self._kind != wanted:
            self._kind, self._made = wanted, self._executor.scatter(take_pictures, self._images, *wanted)
        return self._made


def _itself(images: Array) -> Array:
    return images


def _kind_of_picture(experiment: Experiment) -> tuple[tuple[int, int], str, str, str]:
    return experiment.method.size, experiment.method.smoothing, experiment.frame, experiment.alignment


def _piece(work: _Work) -> tuple[int, Outcome]:
    i, method, pictures, labels, splits, found = work
    estimator = measure.build(method.build, method.settings, pictures)
    return i, measure.measure(estimator, pictures, labels, splits, found)


def _lost(work: _Work, deaths: int) -> tuple[int, Outcome]:
    raise BadCluster("The workers", f"able to run {work[1].name!r}", f"{deaths} that died over it; {GOES_ON}")
