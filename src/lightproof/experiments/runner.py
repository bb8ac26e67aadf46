"""Runs the experiments of a plan that are not in the cache, on all cores, and keeps each result when it is finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lightproof.core.dask_cluster import GOES_ON, Cluster, executor_for
from lightproof.core.executors import Executor, Task
from lightproof.core.progress import Progress, silent
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.errors import BadCluster
from lightproof.experiments import cache, measure
from lightproof.experiments.cache import Cache
from lightproof.experiments.measure import Measurement, take_aligned, take_pictures
from lightproof.experiments.methods import Method
from lightproof.experiments.plan import Experiment
from lightproof.matching.template_codec import parameters_of
from lightproof.method.presets import ENGINES
from lightproof.types import Array, Floats

_Work = tuple[int, Method, Floats, Array, Sequence[Split], Array]
"""An experiment: its number, the method, pictures, labels, galleries and probes, and which faces were found."""


@dataclass(frozen=True)
class Result:
    """An experiment, its galleries and probes, and the answers."""

    experiment: Experiment
    splits: Sequence[Split]
    measurement: Measurement


def run_all(
    plan: Sequence[Experiment],
    faces: FaceSet,
    kept: Cache,
    jobs: int = 1,
    progress: Progress = silent,
    cluster: str | Cluster | None = None,
) -> list[Result]:
    """Run the experiments of a plan that are not in the cache; return the results in the order of the plan.

    ``kept`` keeps every measurement when it is finished: after an interrupt the same call goes on where this one
    stopped. ``jobs`` is the number of processes, -1 one for each core; the workers of ``cluster`` receive the photos.
    """
    data = cache.digest_of_faces(faces)
    splits = _split_all(plan, faces)
    facts = [facts_of(e, data, s) for e, s in zip(plan, splits, strict=True)]
    done = [kept.find(f, partial(Measurement.of, splits=s)) for f, s in zip(facts, splits, strict=True)]
    # Sorted by the kind of pictures, so that each kind is made once.
    missing = sorted((i for i, measurement in enumerate(done) if measurement is None), key=lambda i: _kind(plan[i]))
    with executor_for("run_all", jobs, cluster if missing else None) as executor:
        pictures = _Pictures(faces, executor)
        work = ((i, plan[i].method, pictures.of(plan[i]), faces.labels, splits[i], faces.found) for i in missing)
        task = Task(do=_measure, parts=lambda piece: [piece], lost=_lost)
        for i, measurement in progress(executor.map(task, work, len(missing), ordered=False), len(missing)):
            kept.keep(facts[i], measurement.plain())
            done[i] = measurement
    return [Result(e, s, m) for e, s, m in zip(plan, splits, done, strict=True) if m is not None]


def _split_all(plan: Sequence[Experiment], faces: FaceSet) -> list[list[Split]]:
    """Split the faces for every experiment; experiments that share a protocol share its split."""
    protocols = dict.fromkeys(protocol for experiment in plan for protocol in experiment.protocols)
    splits = {protocol: protocol.split(faces) for protocol in protocols}
    return [[splits[protocol] for protocol in experiment.protocols] for experiment in plan]


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
        "frame": experiment.crop,
        "alignment": experiment.alignment,
        "data": data,
        "splits": cache.digest_of_splits(splits),
        **({"parameters": parameters_of(ENGINES[method.preset])} if method.takes_aligned else {}),
    }


class _Pictures:
    """The photos of a set as the methods see them; only the kind that was used last is kept."""

    def __init__(self, faces: FaceSet, executor: Executor) -> None:
        self._executor, self._faces = executor, executor.scatter(_itself, faces)
        self._kind: tuple[Any, ...] = ()
        self._made: Floats | None = None

    def of(self, experiment: Experiment) -> Floats:
        kind = _kind(experiment)
        if self._made is None or self._kind != kind:
            self._kind, self._made = kind, self._executor.scatter(_take, self._faces, *kind)
        return self._made


def _itself(faces: FaceSet) -> FaceSet:
    return faces


def _take(faces: FaceSet, is_aligned: bool, size: tuple[int, int], smoothing: str, crop: str, alignment: str) -> Array:
    if is_aligned:
        return take_aligned(faces, crop, alignment)
    return take_pictures(faces.images, size, smoothing, crop, alignment)


def _kind(experiment: Experiment) -> tuple[bool, tuple[int, int], str, str, str]:
    method = experiment.method
    return method.takes_aligned, method.size, method.smoothing, experiment.crop, experiment.alignment


def _measure(work: _Work) -> tuple[int, Measurement]:
    i, method, pictures, labels, splits, found = work
    estimator = measure.build(method.build, method.settings, pictures)
    return i, measure.measure(estimator, pictures, labels, splits, found)


def _lost(work: _Work, deaths: int) -> tuple[int, Measurement]:
    raise BadCluster("The workers", f"able to run {work[1].name!r}", f"{deaths} that died over it; {GOES_ON}")
