"""Who is on many photos, told by many machines: each has a part of the codes, and keeps it.

Workers read the photos and find the faces; every part of the codes is asked for its nearest people, and a worker
compares each face with those who are nearest of all. A part that is lost with its worker is read again by another
one. Since only the order of whole numbers decides who is compared, the answers are those of one machine, to the last
bit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from os import PathLike
from typing import Any, Final, NamedTuple

import numpy as np

from lightproof.core.cluster import Cluster, executor_for
from lightproof.core.executors import Task
from lightproof.errors import BadCluster, BadGallery, BadParameter, UserError
from lightproof.gallery import shortlist
from lightproof.gallery.calibrate import FAR, Calibration
from lightproof.gallery.decision import answer, best_candidates, far_asked
from lightproof.gallery.enrollment import EnrollmentConfig, Face, killing, taken
from lightproof.gallery.gallery import Gallery
from lightproof.gallery.results import Answer
from lightproof.gallery.shortlist import SPARE, beside, by_name, codes_in, steps, templates_in
from lightproof.gallery.store import Store, View
from lightproof.imaging.decode import contents_of, in_one_line
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
from lightproof.matching.templates import N_REFERENCE_PEOPLE, TemplateSet
from lightproof.types import Array, Ints, is_whole

TOGETHER: Final = 16
"""Photos that a worker looks at in one go."""

IN_A_ROUND: Final = 32
"""Such pieces that are looked up in the parts of the codes together."""


class Asking(NamedTuple):
    """What is the same for all photos.

    Attributes
    ----------
    place : str
        Of the gallery, with its password; every worker must be able to open it.
    config : EnrollmentConfig
    revision : int
        Of the gallery; nobody may change it meanwhile.
    top : int
    far : float
    n_people : int
        How many there are, where they are so many that not everybody is compared with; else 0.
    """

    place: str
    config: EnrollmentConfig
    revision: int
    top: int
    far: float
    n_people: int = 0


class Seen(NamedTuple):
    """A face and its codes, (moves, words), or why there is none."""

    face: Face | None
    codes: Array | None
    problem: str = ""


class Answered(NamedTuple):
    """What came of a photo: an answer, or why it was refused."""

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
    """Tell who is on each of many photos, or that it is a stranger, on the workers of a cluster.

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
        How many candidates to name at most.
    far : float, optional
        Share of strangers that may be accepted; that of the gallery by default.

    Yields
    ------
    Answered
        One for each photo, in their order; what cannot be read is told and skipped.
    """
    if not is_whole(top, 1):
        raise BadParameter("identify", "top", "a whole number of at least 1", top)
    where = str(place) if "://" in str(place) else os.path.abspath(place)
    with Gallery.open(where, create=False) as gallery:
        rate = far_asked("identify", far, gallery.calibration())
        asking = Asking(where, replace(gallery.config, cropped=cropped), gallery.store.revision(), top, rate)
    with executor_for("identify", -1, cluster) as executor:
        assert isinstance(executor, Cluster)
        yield from identify_on(executor, asking, [os.path.abspath(photo) for photo in photos], executor.n_threads)


def identify_on(cluster: Cluster, asking: Asking, photos: Sequence[str], n_shards: int) -> Iterator[Answered]:
    """Tell who is on each photo, in their order.

    Parameters
    ----------
    cluster : Cluster
        Connected.
    asking : Asking
    photos : sequence of str
        Files that every worker sees under this path.
    n_shards : int
        Parts that the codes are cut into, if there are many people.
    """
    pieces = [list(photos[start : start + TOGETHER]) for start in range(0, len(photos), TOGETHER)]
    shards, asking = _shards(cluster, asking, n_shards)
    for start in range(0, len(pieces), IN_A_ROUND):
        some = pieces[start : start + IN_A_ROUND]
        seen = [one for piece in cluster.map(_looking(asking), some, len(some)) for one in piece]
        yield from _answered(cluster, asking, shards, seen, photos[start * TOGETHER :])


def _shards(cluster: Cluster, asking: Asking, n_shards: int) -> tuple[list[Any], Asking]:
    """Have the codes read in parts, which stay where they are; small galleries need none."""
    with Store.open(asking.place, create=False) as store, store.reading() as view:
        _check_revision(view, asking)
        if not view.is_larger(shortlist.SMALL):
            return [], asking
        edges = np.linspace(1, view.last_number() + 1, n_shards + 1).astype(int).tolist()
    numbers = [range(a, b) for a, b in pairwise(edges)]
    shards = [cluster.scatter(read_shard, asking, part) for part in numbers]
    n_people = sum(_of_each(cluster, shards, _count_people))
    return shards, asking._replace(n_people=n_people)


def _answered(
    cluster: Cluster, asking: Asking, shards: Sequence[Any], seen: Sequence[Seen], photos: Sequence[str]
) -> Iterator[Answered]:
    good = [i for i, one in enumerate(seen) if one.face is not None]
    near = _nearest(cluster, shards, [seen[i].codes for i in good]) if asking.n_people else [None] * len(good)
    work = [
        [(seen[i].face, people) for i, people in zip(good[start : start + TOGETHER], near[start:], strict=False)]
        for start in range(0, len(good), TOGETHER)
    ]
    task = _plain(partial(compare, asking=asking))
    told = (one for piece in cluster.map(task, work, len(work)) for one in piece)
    for photo, one in zip(photos, seen, strict=False):
        yield Answered(photo, next(told) if one.face is not None else None, one.problem)


def _nearest(cluster: Cluster, shards: Sequence[Any], codes: Sequence[Array | None]) -> list[Ints]:
    """Find the people nearest to each photo in all parts together."""
    asked = np.stack([code for code in codes if code is not None]) if codes else np.zeros((0, 1, 1), np.uint64)
    if not len(asked):
        return []
    counts = sum(_of_each(cluster, shards, coarse_scan, asked[:, 0]))
    glances = [scan_limit(each) for each in counts]
    n_codes = int(counts[0].sum())
    counts = sum(_of_each(cluster, shards, prefilter, asked[:, 0], glances))
    looks = [prefilter_limit(each, n_codes) for each in counts]
    found = _of_each(cluster, shards, rerank, asked, glances, looks)
    return [nearest(merged(each), MAX_CANDIDATES).people for each in zip(*found, strict=True)]


def _of_each(cluster: Cluster, shards: Sequence[Any], do: Any, *given: Any) -> list[Any]:
    """Let the workers do something with each part of the codes."""
    return list(cluster.map(_plain(do), [(shard, *given) for shard in shards], len(shards)))


def _plain(do: Any) -> Task[Any, Any]:
    """Work in which no photo is read: who dies over it has another reason."""

    def lost(piece: Any, deaths: int) -> Any:
        raise BadCluster("The workers", "able to hold their part of the gallery", f"{deaths} that died over it")

    return Task(do=do, parts=lambda piece: [piece], lost=lost)


def _looking(asking: Asking) -> Task[list[str], list[Seen]]:
    return Task(
        do=partial(look, asking=asking),
        parts=lambda photos: [[photo] for photo in photos],
        lost=lambda photos, deaths: [Seen(None, None, str(killing(in_one_line(photo), deaths))) for photo in photos],
    )


# ------------------------------------------------------------------------------------------------------ on a worker


def look(photos: Sequence[str], asking: Asking) -> list[Seen]:
    """Find the face on each photo, and make its codes."""
    seen = []
    for photo in photos:
        try:
            contents, where = contents_of(photo, None)
            face = taken(contents, where, asking.config.cropped)
            seen.append(Seen(face, _codes_of(face, asking)))
        except UserError as mistake:
            seen.append(Seen(None, None, str(mistake)))
    return seen


def _codes_of(face: Face, asking: Asking) -> Array | None:
    if not asking.n_people:
        return None
    matcher = asking.config.matcher
    asked = matcher.probes([face.image])
    return np.asarray(matcher.encoder.encode_probes(asked.vectors, asked.n_warps)[0])


def read_shard(asking: Asking, numbers: range) -> HammingIndex:
    """Read the codes of people with some numbers."""
    encoder = asking.config.matcher.encoder
    index = HammingIndex(encoder.n_first)
    with _store(asking.place).reading() as view:
        _check_revision(view, asking)
        for people, codes in view.codes(numbers=numbers):
            index.add(people, codes_in(codes, encoder.n_words, view.place))
    return index


def _count_people(piece: tuple[HammingIndex]) -> int:
    return piece[0].n_people


def coarse_scan(piece: tuple[HammingIndex, Array]) -> Array:
    """Count how far the codes of a part are from some photos at a glance, (n, words) -> (n, bits + 1)."""
    index, asked = piece
    return np.stack([index.coarse_scan(code)[0] for code in asked])


def prefilter(piece: tuple[HammingIndex, Array, Sequence[int]]) -> Array:
    """Count how far those codes of a part are that are near at a glance, (n, words) -> (n, bits + 1)."""
    index, asked, glances = piece
    return np.stack([_looked_at(index, *each)[0] for each in zip(asked, glances, strict=True)])


def rerank(piece: tuple[HammingIndex, Array, Sequence[int], Sequence[int]]) -> list[Neighbors]:
    """Find the people of a part who are nearest to some photos, (n, moves, words)."""
    index, asked, glances, looks = piece
    left = (_looked_at(index, codes[0], limit)[1] for codes, limit in zip(asked, glances, strict=True))
    return [index.rerank(*each, MAX_CANDIDATES) for each in zip(asked, left, looks, strict=True)]


def _looked_at(index: HammingIndex, code: Array, limit: int) -> tuple[Ints, list[Prefiltered]]:
    _, seen = index.coarse_scan(code)
    return index.prefilter(code, seen, limit)


def compare(faces: Sequence[tuple[Face, Ints | None]], asking: Asking) -> list[Answer]:
    """Compare faces with the people who are nearest to each, or with everybody."""
    store, matcher = _store(asking.place), asking.config.matcher
    known = Calibration.read(store.facts().get("calibration"), FAR, store.place)
    answers = []
    for face, near in faces:
        people = _in_steps(_sample(asking), near, asking)
        found = best_candidates(matcher.probes([face.image]), people, matcher, known, asking.top)
        answers.append(answer(found, asking.top, asking.far, known))
    return answers


def _in_steps(people: TemplateSet, near: Ints | None, asking: Asking) -> Iterator[TemplateSet]:
    """Yield those whom a face is compared with, as :meth:`PeopleIndex.shortlists` does."""
    if near is None:
        yield people
        return
    for some in steps(near.tolist()):
        with _store(asking.place).reading() as view:
            _check_revision(view, asking)
            found = templates_in(view.compared(some), asking.config, view.place)
            people = beside(people, (kept for _, kept in found), asking.config)
        yield people


@lru_cache(maxsize=1)
def _sample(asking: Asking) -> TemplateSet:
    """Those whom others are measured against; of a small gallery, everybody."""
    with _store(asking.place).reading() as view:
        _check_revision(view, asking)
        rows = view.templates_of_people(view.drawn(N_REFERENCE_PEOPLE + SPARE)) if asking.n_people else view.templates()
        people = by_name((kept for _, kept in templates_in(rows, asking.config, view.place)), asking.config)
    return replace(people, total=asking.n_people or None, known_agreement=mutual_agreement(people))


@lru_cache(maxsize=2)
def _store(place: str) -> Store:
    return Store.open(place, create=False)


def _check_revision(view: View, asking: Asking) -> None:
    if view.revision() != asking.revision:
        raise BadGallery(view.place, "a change while photos were asked about; ask again")
