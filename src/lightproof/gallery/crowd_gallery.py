"""A gallery of made-up people, as large as one likes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Final

import numpy as np

from lightproof.core.dask_cluster import executor_for
from lightproof.core.executors import Task
from lightproof.core.progress import Progress, silent
from lightproof.errors import BadParameter
from lightproof.gallery.enrollment import EnrollmentConfig, ExtractedFace, check_parameters, hash_of, new_photos
from lightproof.gallery.folders.commit import write_in_batches
from lightproof.gallery.gallery import Gallery
from lightproof.gallery.store import NewPhoto, Store
from lightproof.imaging.detection import AlignedFace
from lightproof.types import Array, is_whole

if TYPE_CHECKING:
    from lightproof.datasets import Crowd

PEOPLE_PER_BATCH: Final = 96

Batch = tuple[list[int], int]
"""People to be drawn, and how many people are settled with them."""


def crowd_name(person: int) -> str:
    """Return the name of a person of the crowd in the gallery, by number."""
    return f"person {person:07d}"


def crowd_face(image: Array, source: str = "a photo of the crowd") -> ExtractedFace:
    """Return a photo of the crowd as it is enrolled: without a mesh, which takes longer to lay than all the rest.

    Ask :meth:`GalleryReader.identify_face` about it: only one of two faces with a mesh costs accuracy.
    """
    return ExtractedFace(hash_of(image.tobytes()), source, AlignedFace(image))


def make_gallery(
    place: str | PathLike[str],
    n_people: int,
    *,
    preset: str = "fast",
    seed: int = 0,
    jobs: int = -1,
    progress: Progress = silent,
) -> int:
    """Make a gallery of made-up people with one photo each, which is enrolled like any other.

    The people are those of :class:`lightproof.datasets.Crowd`, named by :func:`crowd_name`; its ``probes`` are photos
    of them under other light. Their faces have no mesh, see :func:`crowd_face`. If some people are there already, only
    the others are added: after a kill the same call goes on.

    Parameters
    ----------
    place : str or Path
        As for :meth:`Gallery.open`; made if it is not there.
    n_people : int
    preset : {"robust", "fast"}
    seed : int
        Another seed makes other people.
    jobs : int
        Processes; -1 is one for each core.
    progress : callable
        Shows how many people are settled.

    Returns
    -------
    int
        Number of added people.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     make_gallery(f"{folder}/crowd.gallery", 5, jobs=1), make_gallery(f"{folder}/crowd.gallery", 7, jobs=1)
    (5, 2)
    """
    from lightproof.datasets import Crowd  # imported late: what renders people loads slowly

    if not is_whole(n_people, 1):
        raise BadParameter("make_gallery", "n_people", "a whole number of at least 1", n_people)
    n_added = 0

    def write(batches: Sequence[dict[str, list[NewPhoto]]]) -> None:
        nonlocal n_added
        photos = {name: own for batch in batches for name, own in batch.items()}
        if photos:
            with gallery.store.writing() as change:
                check_parameters(change, gallery.config)
                change.add_all(photos)
        n_added += len(photos)

    with executor_for("make_gallery", jobs, None) as executor:
        crowd = Crowd(seed=seed)
        with Gallery.open(place, preset=preset) as gallery:
            task = Task(partial(_draw, crowd=crowd, config=gallery.config))
            batches = _missing(gallery.store, n_people)
            write_in_batches(executor.map(task, batches, -(-n_people // PEOPLE_PER_BATCH)), n_people, progress, write)
    return n_added


def _missing(store: Store, n_people: int) -> Iterator[Batch]:
    """Yield the people who are not there yet, some at a time."""
    for start in range(0, n_people, PEOPLE_PER_BATCH):
        names = {crowd_name(person): person for person in range(start, min(start + PEOPLE_PER_BATCH, n_people))}
        with store.reading() as view:
            enrolled = view.ids_of(names)
        yield [person for name, person in names.items() if name not in enrolled], len(names)


def _draw(batch: Batch, crowd: Crowd, config: EnrollmentConfig) -> tuple[dict[str, list[NewPhoto]], int]:
    people, settled = batch
    images = crowd.faces(np.array(people, np.int64))
    faces = [crowd_face(image, crowd_name(who)) for who, image in zip(people, images, strict=True)]
    photos = new_photos(faces, config)
    return {crowd_name(who): [replace(photo, source=None)] for who, photo in zip(people, photos, strict=True)}, settled
