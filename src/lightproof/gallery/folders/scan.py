"""A folder of photos, one folder a person, into a gallery."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from lightproof.core.cluster import Cluster, executor_for
from lightproof.core.executors import Executor, Task
from lightproof.core.progress import Progress, single_steps
from lightproof.errors import BadImage, BadLabels, DatasetMissing
from lightproof.gallery.enrollment import (
    BatchResult,
    EnrollmentConfig,
    check_parameters,
    hash_of,
    killing,
    make,
    refusal_of,
)
from lightproof.gallery.folders.commit import Desk, follow_files, remove_missing
from lightproof.gallery.folders.diff import FolderReport, Piece, Plan, Refused, Work, together
from lightproof.gallery.folders.ownership import Picture
from lightproof.gallery.folders.read import check_visible
from lightproof.gallery.store import Store, check_name, storable
from lightproof.imaging.decode import ENDINGS, contents_of, in_one_line

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
    return Plan(storable(str(Path(folder).resolve())), os.path.abspath(folder), files, ignored, retry, syncing)


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

    files: list[tuple[tuple[str, ...], str]] = []
    whole = os.path.abspath(top)  # other machines stand elsewhere
    real: dict[str, str] = {}
    seen = set()
    for at, folders, names in os.walk(whole, onerror=refuse, followlinks=True):
        above, name = os.path.split(at)
        real[at] = os.path.realpath(at) if at == whole or os.path.islink(at) else f"{real[above]}{os.sep}{name}"
        if real[at] in seen:  # a link to a folder that was there already, or in a circle
            folders.clear()
            continue
        seen.add(real[at])
        folders.sort()
        parts = tuple(at[len(whole.rstrip(os.sep)) :].split(os.sep)[1:]) if at != whole else ()
        files += [((*parts, name), f"{at}{os.sep}{name}") for name in names]
    return sorted(files)


def enroll(
    store: Store,
    plan: Plan,
    config: EnrollmentConfig,
    dry_run: bool,
    jobs: int,
    progress: Progress,
    cluster: str | Cluster | None = None,
) -> FolderReport:
    """Work through a folder, some hundred photos at a time.

    Parameters
    ----------
    store : Store
    plan : Plan
    config : EnrollmentConfig
    dry_run : bool
    jobs : int
        Processes; -1 is one for each core.
    progress : callable
        Wraps the stream of finished photos.
    cluster : str or Cluster, optional
        The scheduler whose workers read the files and make the templates.

    Returns
    -------
    FolderReport
    """
    with executor_for("enroll_folder", jobs, cluster) as executor:
        with store.reading() as view:
            check_parameters(view, config)
        report = FolderReport(ignored=plan.ignored, dry_run=dry_run)
        work = Work(store, plan, config, report, executor)
        desk = Desk(store, config, report, work.moves, work.unread)
        _write_all(desk, progress(single_steps(_stream(work, config, plan, executor)), len(plan.files)))
    work.settle_twins(desk.refused)
    # Who works ahead meets what cannot be read earlier; the report is the same.
    report.refused.sort()
    report.people = len(desk.people)
    follow_files(store, work, report)
    if plan.syncing:
        remove_missing(store, plan, work, config, report)
    return report


def _write_all(desk: Desk, stream: Iterable[BatchResult | None]) -> None:
    waiting: list[BatchResult] = []
    for made in stream:
        if made is None:
            continue
        waiting.append(made)
        if len(waiting) >= COMMITTED:
            desk.take(waiting)
            waiting = []
    desk.take(waiting)


def _stream(work: Work, config: EnrollmentConfig, plan: Plan, executor: Executor) -> Iterator[tuple[BatchResult, int]]:
    task = Task(
        do=partial(_made, config=config, folder=plan.folder, top=plan.top),
        parts=_single_photos,
        lost=partial(_lost, config=config, folder=plan.folder),
    )
    for made, settled in executor.map(task, work.pieces(), -(-len(plan.files) // together(config))):
        yield work.sifted(made), settled


def _made(piece: Piece, config: EnrollmentConfig, folder: str, top: str) -> tuple[BatchResult, int]:
    jobs, settled = piece
    check_visible(top)
    return make(jobs, config, folder), settled


def _single_photos(piece: Piece) -> list[Piece]:
    jobs, settled = piece
    return [([job], settled - len(jobs) + 1 if i == 0 else 1) for i, job in enumerate(jobs)]


def _lost(piece: Piece, deaths: int, config: EnrollmentConfig, folder: str) -> tuple[BatchResult, int]:
    """Refuse a photo over which every worker dies, and remember it: they should not die again."""
    [job], settled = piece
    try:
        # It is not opened as a picture here, only summed up.
        job = job._replace(hash=job.hash or hash_of(contents_of(job.path, job.source)[0]))
    except BadImage as mistake:
        return BatchResult({}, {}, [], [(job, str(mistake))]), settled
    reason = str(killing(in_one_line(job.source), deaths))
    return BatchResult({}, {}, [refusal_of(job, config, folder, reason)], []), settled
