"""A gallery of made-up people, as large as one likes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Final

import numpy as np
from joblib import cpu_count, delayed

from lightproof.core.processes import in_processes
from lightproof.core.progress import Progress, silent, single_steps
from lightproof.errors import BadParameter
from lightproof.gallery.enrollment import EnrollmentConfig, Face, check_parameters, hash_of, photos_of
from lightproof.gallery.gallery import Gallery
from lightproof.gallery.store import NewPhoto, Store
from lightproof.types import is_whole

if TYPE_CHECKING:
    from lightproof.datasets import Crowd

TOGETHER: Final = 96
"""People that are drawn in one go."""

COMMITTED: Final = 8
"""Of those, how many are written in one change."""


def crowd_name(person: int) -> str:
    """Return what the gallery calls a person of the crowd, by number."""
    return f"person {person:07d}"


def make_gallery(
    place: str | PathLike[str],
    n_people: int,
    *,
    preset: str = "fast",
    seed: int = 0,
    jobs: int = -1,
    progress: Progress = silent,
) -> int:
    """Make a gallery of made-up people, one photo each, through all that an enrolled photo goes through.

    People are those of :class:`lightproof.datasets.Crowd`, called by :func:`crowd_name`; its ``probes`` are photos of
    them under other light. Where some of them are there already only the others are added: after a kill the same call
    goes on.

    Parameters
    ----------
    place : str or Path
        As for :meth:`Gallery.open`; made if it is not there.
    n_people : int
    preset : {"robust", "fast"}
    seed : int
        Other seed, other people.
    jobs : int
        Processes; -1 is one for each core.
    progress : callable
        Shows how far it is, in people.

    Returns
    -------
    int
        How many were added.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     make_gallery(f"{folder}/crowd.gallery", 5, jobs=1), make_gallery(f"{folder}/crowd.gallery", 7, jobs=1)
    (5, 2)
    """
    from lightproof.datasets import Crowd  # loaded when it is needed: what renders people takes long

    if not is_whole(n_people, 1):
        raise BadParameter("make_gallery", "n_people", "a whole number of at least 1", n_people)
    if jobs != -1 and not is_whole(jobs, 1):
        raise BadParameter("make_gallery", "jobs", "a whole number of at least 1, or -1 for one each core", jobs)
    crowd = Crowd(seed=seed)
    with Gallery.open(place, preset=preset) as gallery:
        config = gallery.config
        pieces = _missing(gallery.store, n_people)
        count = 0
        waiting: list[dict[str, list[NewPhoto]]] = []
        for made in progress(single_steps(_stream(pieces, crowd, config, jobs)), n_people):
            if made is None:
                continue
            waiting.append(made)
            if len(waiting) == COMMITTED:
                count += _write(gallery.store, config, waiting)
                waiting = []
        return count + _write(gallery.store, config, waiting)


def _missing(store: Store, n_people: int) -> Iterator[tuple[list[int], int]]:
    """Yield people who are to be drawn, some at a time, and how many that settles."""
    for start in range(0, n_people, TOGETHER):
        names = {crowd_name(person): person for person in range(start, min(start + TOGETHER, n_people))}
        with store.reading() as view:
            here = view.ids_of(names)
        yield [person for name, person in names.items() if name not in here], len(names)


def _stream(
    pieces: Iterable[tuple[list[int], int]], crowd: Crowd, config: EnrollmentConfig, jobs: int
) -> Iterator[tuple[dict[str, list[NewPhoto]], int]]:
    workers = min(jobs if jobs > 0 else cpu_count(), cpu_count())
    if workers == 1:
        return (_drawn(people, settled, crowd, config) for people, settled in pieces)
    return in_processes((delayed(_drawn)(people, settled, crowd, config) for people, settled in pieces), workers)


def _drawn(
    people: list[int], settled: int, crowd: Crowd, config: EnrollmentConfig
) -> tuple[dict[str, list[NewPhoto]], int]:
    images = crowd.faces(np.array(people, np.int64))
    faces = [Face(hash_of(image.tobytes()), crowd_name(who), image) for who, image in zip(people, images, strict=True)]
    photos = photos_of(faces, config)
    return {crowd_name(who): [replace(photo, source=None)] for who, photo in zip(people, photos, strict=True)}, settled


def _write(store: Store, config: EnrollmentConfig, waiting: list[dict[str, list[NewPhoto]]]) -> int:
    together = {name: photos for made in waiting for name, photos in made.items()}
    if together:
        with store.writing() as change:
            check_parameters(change, config)
            change.add_all(together)
    return len(together)
