"""Identify many photos on many machines, each of which keeps a shard of the gallery's codes.

Workers read the photos and find the faces; every shard finds its nearest people, and a worker compares each face with
the nearest of all shards. If a worker is lost, another one reads its shard again. Since only the order of whole numbers
decides who is compared, the answers are those of one machine, to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from os import PathLike
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from lightproof.core.dask_cluster import Cluster, executor_for
from lightproof.core.executors import Task
from lightproof.errors import BadCluster, BadGallery, BadParameter, UserError
from lightproof.gallery import shortlist
from lightproof.gallery.decision import FAR, Answer, Calibration, answer, best_candidates
from lightproof.gallery.enrollment import EnrollmentConfig, ExtractedFace, extract_face, killed_workers
from lightproof.gallery.gallery import Gallery
from lightproof.gallery.store import Store, View
from lightproof.imaging.decode import in_one_line
from lightproof.matching.calibration import N_REFERENCE_PEOPLE, check_far
from lightproof.matching.hamming_index import (
    MAX_CANDIDATES,
    HammingIndex,
    Neighbors,
    Prefiltered,
    merged,
    nearest,
    prefilter_limit,
    scan_limit,
)
from lightproof.matching.light_penalty import mutual_agreement
from lightproof.matching.templates import TemplateSet
from lightproof.types import Array, Ints, is_whole

T = TypeVar("T")

PHOTOS_PER_BATCH: Final = 16

BATCHES_PER_ROUND: Final = 32
"""Batches that the shards search for together."""


class SearchJob(NamedTuple):
    """What is the same for all photos; nobody may change the gallery meanwhile.

    Every worker must be able to open the place, which has its password.
    """

    place: str
    config: EnrollmentConfig
    revision: int
    top: int
    far: float
    n_people: int = 0
    """Number of people in a large gallery, where a face is not compared with everybody; else 0."""

    def check_revision(self, view: View) -> None:
        """Refuse a gallery that somebody has changed."""
        if view.revision() != self.revision:
            raise BadGallery(view.place, "a change while photos were asked about; ask again")


class Probe(NamedTuple):
    """A face and its codes, (moves, words), or why there is none."""

    face: ExtractedFace | None
    codes: Array | None
    problem: str = ""


class Answered(NamedTuple):
    """The answer about a photo, or why it was refused."""

    photo: str
    answer: Answer | None
    problem: str = ""


def identify_files(
    place: str | PathLike[str],
    photos: Sequence[str | PathLike[str]],
    cluster: str | Cluster,
    *,
    cropped: bool = False,
    top: int = 5,
    far: float | None = None,
) -> Iterator[Answered]:
    """Identify the person on each of many photos, or a stranger, on the workers of a cluster.

    Parameters
    ----------
    place : str or Path
        A gallery that every worker can open: on a server, or a file that all see under this path. Nobody may change it
        meanwhile.
    photos : sequence of str or Path
        Files that every worker sees under this path.
    cluster : str or Cluster
        The address of a Dask scheduler, such as ``tcp://head:8786``.
    cropped : bool
        Whether the files are faces already.
    top : int
        Number of candidates to name at most.
    far : float, optional
        Share of strangers that may be accepted; that of the gallery by default.

    Yields
    ------
    Answered
        One for each photo, in their order; with a reason instead of an answer for a file that cannot be read.
    """
    if not is_whole(top, 1):
        raise BadParameter("identify", "top", "a whole number of at least 1", top)
    where = str(place) if "://" in str(place) else os.path.abspath(place)
    with Gallery.open(where, create=False) as gallery:
        rate = gallery.calibration().far if far is None else check_far("identify", far)
        job = SearchJob(where, replace(gallery.config, cropped=cropped), gallery.store.revision(), top, rate)
    files = [os.path.abspath(photo) for photo in photos]
    with executor_for("identify", -1, cluster) as executor:
        assert isinstance(executor, Cluster)
        shards, job = _shards(executor, job)
        task = Task(
            do=partial(read_probes, job=job),
            parts=lambda photos: [[photo] for photo in photos],
            lost=lambda photos, deaths: [
                Probe(None, None, str(killed_workers(in_one_line(each), deaths))) for each in photos
            ],
        )
        for start in range(0, len(files), PHOTOS_PER_BATCH * BATCHES_PER_ROUND):
            some = files[start : start + PHOTOS_PER_BATCH * BATCHES_PER_ROUND]
            batches = _batches(some)
            probes = [probe for batch in executor.map(task, batches, len(batches)) for probe in batch]
            yield from _answers(executor, job, shards, some, probes)


def _shards(cluster: Cluster, job: SearchJob) -> tuple[list[Any], SearchJob]:
    """Let the workers read the codes in shards, one for each thread, and keep them; a small gallery needs none."""
    with Store.open(job.place, create=False) as store, store.reading() as view:
        job.check_revision(view)
        if not view.is_larger(shortlist.MAX_PEOPLE_COMPARED):
            return [], job
        edges = np.linspace(1, view.largest_id() + 1, cluster.n_threads + 1).astype(int).tolist()
    shards = [cluster.scatter(read_shard, job, range(start, end)) for start, end in pairwise(edges)]
    return shards, job._replace(n_people=sum(_on_shards(cluster, shards, count_people)))


def _answers(
    cluster: Cluster, job: SearchJob, shards: Sequence[Any], photos: Sequence[str], probes: Sequence[Probe]
) -> Iterator[Answered]:
    good = [probe for probe in probes if probe.face is not None]
    near = _nearest(cluster, shards, [probe.codes for probe in good]) if job.n_people else [None] * len(good)
    batches = _batches([(probe.face, people) for probe, people in zip(good, near, strict=True)])
    compared = cluster.map(_on_shard(partial(compare, job=job)), batches, len(batches))
    answers = (answered for batch in compared for answered in batch)
    for photo, probe in zip(photos, probes, strict=True):
        yield Answered(photo, next(answers) if probe.face is not None else None, probe.problem)


def _batches(things: Sequence[T]) -> list[list[T]]:
    return [list(things[start : start + PHOTOS_PER_BATCH]) for start in range(0, len(things), PHOTOS_PER_BATCH)]


def _nearest(cluster: Cluster, shards: Sequence[Any], codes: Sequence[Array | None]) -> list[Ints]:
    """Find the people nearest to each probe in all shards together."""
    probes = np.stack([code for code in codes if code is not None]) if codes else np.zeros((0, 1, 1), np.uint64)
    if not len(probes):
        return []
    counts = sum(_on_shards(cluster, shards, coarse_scan, probes[:, 0]))
    scan_limits = [scan_limit(each) for each in counts]
    n_codes = int(counts[0].sum())
    counts = sum(_on_shards(cluster, shards, prefilter, probes[:, 0], scan_limits))
    limits = [prefilter_limit(each, n_codes) for each in counts]
    neighbors = _on_shards(cluster, shards, rerank, probes, scan_limits, limits)
    return [nearest(merged(each), MAX_CANDIDATES).people for each in zip(*neighbors, strict=True)]


def _on_shards(cluster: Cluster, shards: Sequence[Any], do: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Let the workers do something with each shard of the codes."""
    return list(cluster.map(_on_shard(do), [(shard, *arguments) for shard in shards], len(shards)))


def _on_shard(do: Callable[[Any], Any]) -> Task[Any, Any]:
    """Make a task that reads no photo: no photo is to blame if workers die."""

    def lost(piece: Any, deaths: int) -> Any:
        raise BadCluster("The workers", "able to hold their part of the gallery", f"{deaths} that died over it")

    return Task(do, lost=lost)


# ------------------------------------------------------------------------------------------------------ on a worker


def read_probes(photos: Sequence[str], job: SearchJob) -> list[Probe]:
    """Find the face on each photo, and make its codes."""
    matcher, codes = job.config.matcher, None
    probes = []
    for photo in photos:
        try:
            face = extract_face(photo, job.config.cropped)
            if job.n_people:
                codes = np.asarray(matcher.encoder.encode_probes(matcher.probes([face.aligned], warps=False))[0])
            probes.append(Probe(face, codes))
        except UserError as mistake:
            probes.append(Probe(None, None, str(mistake)))
    return probes


def read_shard(job: SearchJob, numbers: range) -> HammingIndex:
    """Read the codes of people with these ids."""
    encoder = job.config.matcher.encoder
    index = HammingIndex(encoder.n_first)
    with _store(job.place).reading() as view:
        job.check_revision(view)
        for people, codes in view.codes(numbers=numbers):
            index.add(people, shortlist.read_codes(codes, encoder.n_words, view.place))
    return index


def count_people(piece: tuple[HammingIndex]) -> int:
    """Count the people of a shard."""
    return piece[0].n_people


def coarse_scan(piece: tuple[HammingIndex, Array]) -> Array:
    """Histogram of coarse distances of a shard's codes to each probe, (n, words) -> (n, bits + 1)."""
    index, probes = piece
    return np.stack([index.coarse_scan(code)[0] for code in probes])


def prefilter(piece: tuple[HammingIndex, Array, Sequence[int]]) -> Array:
    """Histogram of distances of those codes of a shard that pass the coarse scan, (n, words) -> (n, bits + 1)."""
    index, probes, scan_limits = piece
    return np.stack([_prefiltered(index, *each)[0] for each in zip(probes, scan_limits, strict=True)])


def rerank(piece: tuple[HammingIndex, Array, Sequence[int], Sequence[int]]) -> list[Neighbors]:
    """Find the people of a shard who are nearest to each probe, (n, moves, words)."""
    index, probes, scan_limits, limits = piece
    left = (_prefiltered(index, codes[0], limit)[1] for codes, limit in zip(probes, scan_limits, strict=True))
    return [index.rerank(*each, MAX_CANDIDATES) for each in zip(probes, left, limits, strict=True)]


def _prefiltered(index: HammingIndex, code: Array, limit: int) -> tuple[Ints, list[Prefiltered]]:
    _, coarse = index.coarse_scan(code)
    return index.prefilter(code, coarse, limit)


def compare(faces: Sequence[tuple[ExtractedFace, Ints | None]], job: SearchJob) -> list[Answer]:
    """Compare faces with the people nearest to each, or with everybody."""
    store, matcher = _store(job.place), job.config.matcher
    calibration = Calibration.read(store.facts().get("calibration"), FAR, store.place)
    answers = []
    for face, near in faces:
        people = _shortlists(_reference_people(job), near, job)
        candidates = best_candidates(matcher.probes([face.aligned]), people, matcher, calibration, job.top)
        answers.append(answer(candidates, job.top, job.far, calibration, face.aligned.has_mesh))
    return answers


def _shortlists(people: TemplateSet, near: Ints | None, job: SearchJob) -> Iterator[TemplateSet]:
    """Yield the people to compare a face with, as :meth:`PeopleIndex.shortlists` does."""
    if near is None:
        yield people
        return
    for some in shortlist.shortlist_steps(near.tolist()):
        with _store(job.place).reading() as view:
            job.check_revision(view)
            stored = shortlist.read_templates(view.comparison_data(some), job.config, view.place)
            people = shortlist.extended(people, (kept for _, kept in stored), job.config)
        yield people


@lru_cache(maxsize=1)
def _reference_people(job: SearchJob) -> TemplateSet:
    """Read the people against whom scores are normalized; in a small gallery, everybody."""
    with _store(job.place).reading() as view:
        job.check_revision(view)
        rows = (
            view.templates_of_people(view.reference_sample(N_REFERENCE_PEOPLE + shortlist.N_SPARE_REFERENCES))
            if job.n_people
            else view.templates()
        )
        stored = shortlist.read_templates(rows, job.config, view.place)
        people = shortlist.template_set_of((kept for _, kept in stored), job.config)
    return replace(people, total=job.n_people or None, known_agreement=mutual_agreement(people))


@lru_cache(maxsize=2)
def _store(place: str) -> Store:
    return Store.open(place, create=False)
