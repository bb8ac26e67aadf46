"""A folder that is enrolled by other machines: the same gallery, whoever dies on the way."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import WorkerPlugin

from lightproof.core.dask_cluster import Cluster
from lightproof.errors import BadCluster, BadImage, BadParameter, DatasetMissing
from lightproof.gallery.folders import commit, diff
from tests.core.dask_cluster.conftest import DEATHS, started
from tests.gallery.people import new, state

pytestmark = pytest.mark.long


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(diff, "FACES_PER_BATCH", 5)
    monkeypatch.setattr(diff, "FILES_PER_READ", 7)
    monkeypatch.setattr(diff, "FILES_PER_QUERY", 40)
    monkeypatch.setattr(commit, "BATCHES_PER_CHANGE", 2)


def kept(gallery):
    """All that is kept, but for the time of day."""
    refusals = gallery.store.refusals().values()
    refused = sorted((one.hash, one.person, one.source, one.folder, one.parameters, one.reason) for one in refusals)
    sources = sorted((photo.hash, photo.person, photo.source, photo.folder) for photo in gallery.store.photos())
    return state(gallery), refused, sources


@pytest.fixture
def alone(album, tmp_path):
    """The report of a single process, and what the gallery keeps then."""
    with new(tmp_path / "alone.gallery", keep_photos=True) as gallery:
        return gallery.enroll_folder(album, cropped=True, jobs=1), kept(gallery)


def enroll(place, album, cluster, **more):
    with new(place, keep_photos=True) as gallery:
        return gallery.enroll_folder(album, cropped=True, cluster=cluster, **more), kept(gallery)


def at_step(number, act):
    """Do something once, when so many photos are done."""

    def progress(pieces, total):
        for i, piece in enumerate(pieces):
            if i == number:
                act()
            yield piece

    return progress


def test_the_gallery_and_the_report_are_those_of_one_machine(address, album, alone, store_place, small_pieces):
    assert alone[0].enrolled == 80
    assert enroll(store_place, album, address) == alone
    assert [refused.photo for refused in alone[0].refused] == [
        "005/broken.png",
        "007/bad.png",
        "012/grey.pgm",
        "020/copy.pgm",
    ]


def test_a_folder_is_followed_as_by_one_machine(address, album, tmp_path, monkeypatch):
    """Also from another place than the workers stand in."""
    monkeypatch.chdir(album.parent)
    with new(tmp_path / "a.gallery") as one, new(tmp_path / "b.gallery") as many, Cluster(address) as cluster:
        for gallery in (one, many):
            gallery.enroll("stays", [(album / "000" / "0.pgm").read_bytes()[:-1] + b"!"], cropped=True)
            gallery.sync(album, cropped=True, jobs=1)
            gallery.rename("001", "Ada")
        before = kept(one)
        moved = album / "moved"
        (album / "003").rename(moved)
        try:
            reports = [one.sync(album, cropped=True, jobs=1), many.sync(album.name, cropped=True, cluster=cluster)]
        finally:
            moved.rename(album / "003")
        assert reports[0] == reports[1]
        assert reports[0].gone == ["003"]
        assert kept(one) == kept(many) != before


def test_what_a_dead_worker_had_is_done_by_others(workers, address, album, alone, tmp_path, small_pieces):
    [victim, _] = workers.run(os.getpid).values()
    killing = at_step(15, lambda: os.kill(victim, signal.SIGKILL))
    assert enroll(tmp_path / "many.gallery", album, address, progress=killing) == alone


class Poison(WorkerPlugin):
    """Lets a worker die over one photo, as a decoder with a fault in it would; also one that is started again."""

    name = "poison"

    def setup(self, worker):
        from lightproof.gallery import enrollment

        self.face_of = enrollment.face_of

        def dying(image, contents, where, aligned):
            if where == "013/27.pgm":
                os._exit(9)
            return self.face_of(image, contents, where, aligned)

        enrollment.face_of = dying

    def teardown(self, worker):
        from lightproof.gallery import enrollment

        enrollment.face_of = self.face_of


def test_a_photo_that_kills_workers_is_refused_and_remembered_and_all_others_enrolled(
    workers, address, album, tmp_path, small_pieces
):
    workers.register_plugin(Poison())
    try:
        with new(tmp_path / "many.gallery") as gallery, new(tmp_path / "one.gallery") as one:
            report = gallery.enroll_folder(album, cropped=True, cluster=address)
            workers.unregister_worker_plugin("poison")
            said = f"013/27.pgm must be a photo that workers survive; got {DEATHS} killed workers."
            assert (report.enrolled, [why for name, why in report.refused if name == "013/27.pgm"]) == (79, [said])
            again = gallery.enroll_folder(album, cropped=True, cluster=address)
            assert (again.enrolled, [name for name, _ in again.refused_before].count("013/27.pgm")) == (0, 1)
            assert gallery.enroll_folder(album, cropped=True, cluster=address, retry=True).enrolled == 1
            one.enroll_folder(album, cropped=True, jobs=1)
            assert state(gallery) == state(one)
    finally:
        if "poison" in str(workers.run(lambda dask_worker: list(dask_worker.plugins))):
            workers.unregister_worker_plugin("poison")


def test_an_interrupted_folder_goes_on_and_the_workers_are_free(workers, address, album, alone, tmp_path, small_pieces):
    def interrupt():
        raise KeyboardInterrupt

    place = tmp_path / "many.gallery"
    with pytest.raises(KeyboardInterrupt):
        enroll(place, album, address, progress=at_step(30, interrupt))
    assert not any(workers.processing().values())
    report, everything = enroll(place, album, address)
    assert (0 < report.known < 40, report.known + report.enrolled) == (True, 80)
    assert everything == alone[1]


def hide_folder():
    from lightproof.gallery.folders import scan

    scan.os = SimpleNamespace(path=SimpleNamespace(isdir=lambda path: False))


def test_workers_that_do_not_see_the_folder_are_told_of(on_workers, address, album, tmp_path):
    on_workers(hide_folder)
    with pytest.raises(
        DatasetMissing, match=r"album\d+ must be a folder that every worker sees under this path; got none"
    ):
        enroll(tmp_path / "many.gallery", album, address)


def lock_one_file(module):
    import importlib

    room = importlib.import_module(f"lightproof.gallery.{module}")
    read = room.contents_of

    def locked(path, where):
        if where == "002/4.pgm":
            raise BadImage(where, "a readable image file", "Permission denied")
        return read(path, where)

    room.contents_of = locked


@pytest.mark.parametrize(("module", "known"), [("folders.scan", ["Zoe"]), ("enrollment", ["Zoe"]), ("enrollment", [])])
def test_a_file_that_only_a_worker_cannot_read_is_said_and_not_remembered(
    on_workers, address, album, tmp_path, module, known
):
    on_workers(lock_one_file, module)
    with new(tmp_path / "many.gallery") as gallery:
        for name in known:  # a gallery that knows nobody does not have files read before they are worked on
            gallery.enroll(name, [np.random.default_rng(0).integers(0, 256, (96, 84)).astype(np.uint8)])
        report = gallery.enroll_folder(album, cropped=True, cluster=address)
        said = "002/4.pgm must be a file that every worker can read; got Permission denied."
        assert (report.enrolled, [why for name, why in report.refused if name == "002/4.pgm"]) == (79, [said])
        assert "002/4.pgm" not in {refusal.source for refusal in gallery.store.refusals().values()}
        assert gallery.sync(album, cropped=True, jobs=1).enrolled == 1
        on_workers(lock_one_file, module)
        assert gallery.sync(album, cropped=True, cluster=address).removed == []


def test_a_worker_of_several_threads_makes_the_same_and_a_scheduler_that_goes_leaves_the_gallery_whole(
    album, alone, tmp_path, small_pieces
):
    with started(tmp_path, threads=2) as (address, scheduler, _):
        assert enroll(tmp_path / "threads.gallery", album, address) == alone
        gone = r"Scheduler .* must be there till the end; got no connection to it; what is finished is kept"
        with pytest.raises(BadCluster, match=gone):
            enroll(tmp_path / "many.gallery", album, address, progress=at_step(30, scheduler.kill))
    report, everything = enroll(tmp_path / "many.gallery", album, None, jobs=1)
    assert (0 < report.known < 80, report.known + report.enrolled) == (True, 80)
    assert everything == alone[1]


def test_nobody_waits_for_ever_for_workers_that_are_all_gone(album, tmp_path, small_pieces):
    said = r"must be one with workers; got none in 1 seconds \(start some with: dask "
    with started(tmp_path, threads=1) as (address, _, worker), Cluster(address) as cluster:
        cluster.patience = 1  # not before the worker is there: that may take longer
        with pytest.raises(BadCluster, match=said):
            enroll(tmp_path / "many.gallery", album, cluster, progress=at_step(30, worker.kill))
    with new(tmp_path / "many.gallery") as gallery:
        assert 0 < gallery.store.counts().photos < 80


def test_processes_of_this_machine_are_not_counted_on_a_cluster(address, album, tmp_path):
    with pytest.raises(BadParameter, match="`jobs` of enroll_folder must be left out where there is a cluster"):
        enroll(tmp_path / "many.gallery", album, address, jobs=2)
