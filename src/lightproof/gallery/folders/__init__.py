"""A folder of photos, one folder a person, into a gallery: scan, compare with the gallery, process, commit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lightproof.core.dask_cluster import Cluster, executor_for
from lightproof.core.executors import Executor, Task
from lightproof.core.progress import Progress
from lightproof.errors import BadImage
from lightproof.gallery.enrollment import (
    BatchResult,
    EnrollmentConfig,
    check_parameters,
    hash_of,
    killed_workers,
    process_files,
    refusal_of,
)
from lightproof.gallery.folders.commit import FolderWriter, remove_missing, write_in_batches
from lightproof.gallery.folders.diff import Batch, FolderDiff
from lightproof.gallery.folders.scan import FolderReport, FolderScan, check_visible
from lightproof.gallery.store import Store
from lightproof.imaging.decode import contents_of, in_one_line


def enroll_folder(
    store: Store,
    scan: FolderScan,
    config: EnrollmentConfig,
    progress: Progress,
    *,
    syncing: bool = False,
    dry_run: bool = False,
    retry: bool = False,
    jobs: int = -1,
    cluster: str | Cluster | None = None,
) -> FolderReport:
    """Enroll a folder; see :meth:`lightproof.gallery.Gallery.enroll_folder`.

    When ``syncing``, photos follow their files, and photos that are no longer there are removed.
    """
    with executor_for("enroll_folder", jobs, cluster) as executor:
        with store.reading() as view:
            check_parameters(view, config)
        report = FolderReport(ignored=scan.ignored, dry_run=dry_run)
        diff = FolderDiff(store, scan, config, report, executor, retry=retry, moving=syncing)
        writer = FolderWriter(store, config, report, diff.moves, diff.unread)
        write_in_batches(_results(scan, diff, config, executor), len(scan.files), progress, writer.write)
    diff.report_copies(writer.refused)
    # Several workers meet unreadable files earlier than one does; the report is the same.
    report.refused.sort()
    report.people = len(writer.people)
    if diff.sources and not dry_run:
        with store.writing() as change:
            change.set_sources(diff.sources)
    if syncing:
        remove_missing(store, scan.name, diff, config, report)
    return report


def _results(
    scan: FolderScan, diff: FolderDiff, config: EnrollmentConfig, executor: Executor
) -> Iterator[tuple[BatchResult, int]]:
    task = Task(
        do=partial(_process, config=config, name=scan.name, path=scan.path),
        parts=_single_files,
        lost=partial(_lost, config=config, name=scan.name),
    )
    for result, settled in executor.map(task, diff.batches(), diff.n_batches):
        yield diff.without_copies(result), settled


def _process(batch: Batch, config: EnrollmentConfig, name: str, path: str) -> tuple[BatchResult, int]:
    files, settled = batch
    check_visible(path)
    return process_files(files, config, name), settled


def _single_files(batch: Batch) -> list[Batch]:
    files, settled = batch
    return [([file], settled - len(files) + 1 if i == 0 else 1) for i, file in enumerate(files)]


def _lost(batch: Batch, deaths: int, config: EnrollmentConfig, name: str) -> tuple[BatchResult, int]:
    """Refuse a photo over which every worker dies, and remember it: no more workers should die."""
    [file], settled = batch
    try:
        # It is hashed here, and not opened as a picture.
        file = file._replace(hash=file.hash or hash_of(contents_of(file.path, file.source)[0]))
    except BadImage as mistake:
        return BatchResult({}, {}, [], [file._replace(problem=mistake.got)]), settled
    reason = str(killed_workers(in_one_line(file.source), deaths))
    return BatchResult({}, {}, [refusal_of(file, config, name, reason)], []), settled
