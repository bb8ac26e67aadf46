"""A folder of photos, one folder a person, into a gallery."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from joblib import cpu_count, delayed

from lightproof.datasets.folder import ENDINGS
from lightproof.errors import BadLabels, BadParameter, DatasetMissing
from lightproof.gallery.belonging import Picture
from lightproof.gallery.filing import Desk, follow_files, remove_missing
from lightproof.gallery.progress import Progress
from lightproof.gallery.sifting import TOGETHER, FolderReport, Plan, Refused, Work
from lightproof.gallery.taking import Job, Made, Way, check_parameters, make
from lightproof.pixels import in_one_line
from lightproof.processes import in_processes
from lightproof.store import Store, check_name
from lightproof.store.names import storable
from lightproof.types import is_whole

COMMITTED: Final = 8
"""Of those, how many are written in one change: an interrupt costs no more."""

DANGLING: Final = "a link to nothing"

LEGAL: Final = "a folder with a folder of photos for each person (name/photo.jpg)"


def plan(folder: str | os.PathLike[str], retry: bool, syncing: bool = False) -> Plan:
    """List the photos of a folder; nothing is read yet.

    Parameters
    ----------
    folder : str or Path
    retry : bool
        Whether refused photos are tried again.
    syncing : bool
        Whether photos that are no longer there are to be removed.
    """
    files, ignored = find_photos(folder)
    lost = [file.photo for file in ignored if file.reason == DANGLING]
    if syncing and lost:
        # It may have been a folder of people: they must not be lost with the disk it lay on.
        raise DatasetMissing(Path(folder, lost[0]), "a link to something", DANGLING)
    return Plan(storable(str(Path(folder).resolve())), files, ignored, retry, syncing)


def find_photos(folder: str | os.PathLike[str]) -> tuple[list[Picture], list[Refused]]:
    """List the photos of a folder, in order, and why other files are left out; refuse a folder without one."""
    top = Path(folder)
    if not top.is_dir():
        raise DatasetMissing(top, LEGAL, "a file" if top.exists() else "no such folder")
    files, ignored = _listed(top)
    if not files:
        raise DatasetMissing(top, LEGAL, "no photo in it")
    return files, ignored


def _listed(top: Path) -> tuple[list[Picture], list[Refused]]:
    files: list[Picture] = []
    ignored = []
    for parts, path in _below(top):
        name = "/".join(parts)
        if any(part.startswith(".") for part in parts):
            continue
        if os.path.splitext(name)[1].lower() not in ENDINGS:
            lost = os.path.islink(path) and not os.path.exists(path)
            ignored.append(Refused(in_one_line(name), DANGLING if lost else "not a picture"))
        elif len(parts) < 2:
            ignored.append(Refused(in_one_line(name), "not in a person's folder"))
        else:
            try:
                files.append(Picture(check_name(parts[0]), name, path))
            except BadLabels as mistake:
                ignored.append(Refused(in_one_line(name), str(mistake)))
    return files, ignored


def _below(top: Path) -> list[tuple[tuple[str, ...], str]]:
    """All files below a folder, in order: the parts of their names in it, and their paths.

    A folder that cannot be listed is no empty one: its people must not be lost.
    """

    def refuse(problem: OSError) -> None:
        raise DatasetMissing(
            Path(problem.filename or top), "a folder that can be listed", problem.strerror or "an error"
        )

    files, seen = [], set()
    for at, folders, names in os.walk(top, onerror=refuse, followlinks=True):
        real = os.path.realpath(at)
        if real in seen:  # a link to a folder that was there already, or in a circle
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        inner = os.path.relpath(at, top)
        parts = () if inner == os.curdir else tuple(inner.split(os.sep))
        files += [((*parts, name), os.path.join(at, name)) for name in names]
    return sorted(files)


def enroll(store: Store, plan: Plan, way: Way, dry_run: bool, jobs: int, progress: Progress) -> FolderReport:
    """Work through a folder, some hundred photos at a time.

    Parameters
    ----------
    store : Store
    plan : Plan
    way : Way
    dry_run : bool
    jobs : int
        Processes; -1 is one for each core.
    progress : callable
        Wraps the stream of finished photos.

    Returns
    -------
    FolderReport
    """
    if jobs != -1 and not is_whole(jobs, 1):
        raise BadParameter("enroll_folder", "jobs", "a whole number of at least 1, or -1 for one each core", jobs)
    with store.reading() as view:
        check_parameters(view, way)
    report = FolderReport(ignored=plan.ignored, dry_run=dry_run)
    work = Work(store, plan, way, report)
    desk = Desk(store, way, report, work.moves)
    stream = _stream(work.pieces(), way, plan.folder, jobs, len(plan.files))
    waiting: list[Made] = []
    for made in progress(_one_by_one(stream), len(plan.files)):
        if made is None:
            continue
        waiting.append(made)
        if len(waiting) >= COMMITTED:
            desk.take(waiting)
            waiting = []
    desk.take(waiting)
    work.settle_twins(desk.refused)
    report.people = len(desk.people)
    follow_files(store, work, report)
    if plan.syncing:
        remove_missing(store, plan, work, way, report)
    return report


def _stream(
    pieces: Iterable[tuple[list[Job], int]], way: Way, folder: str, jobs: int, total: int
) -> Iterator[tuple[Made, int]]:
    workers = min(jobs if jobs > 0 else cpu_count(), cpu_count())
    if workers == 1 or total <= TOGETHER:
        return (_piece(work, settled, way, folder) for work, settled in pieces)
    return in_processes(
        (delayed(_piece)(work, settled, way, folder) for work, settled in pieces), workers, batch_size=1
    )


def _piece(jobs: list[Job], settled: int, way: Way, folder: str) -> tuple[Made, int]:
    return make(jobs, way, folder), settled


def _one_by_one(stream: Iterable[tuple[Made, int]]) -> Iterator[Made | None]:
    """Let a bar count photos: each piece comes with as many steps as it settles."""
    for made, settled in stream:
        yield from (None for _ in range(max(settled - 1, 0)))
        yield made
