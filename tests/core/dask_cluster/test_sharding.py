"""Many photos, told by the workers of a cluster, each with a part of the codes."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
from distributed import WorkerPlugin

from lightproof.core.dask_cluster import Cluster
from lightproof.datasets import Crowd
from lightproof.errors import BadGallery, BadParameter
from lightproof.gallery import Gallery, distributed, identify_files, make_gallery, shortlist
from lightproof.matching import hamming_index
from tests.cli.conftest import call, command, types  # noqa: F401
from tests.core.dask_cluster.conftest import DEATHS, put

pytestmark = pytest.mark.long

COUNT = 240
ASKED = np.arange(0, COUNT, 12)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("many") / "crowd.gallery"
    make_gallery(place, COUNT, seed=4, jobs=1)
    return place


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Faces of known people and of strangers, and two that are no good."""
    top = tmp_path_factory.mktemp("asked")
    images = Crowd(seed=4).probes([*ASKED, 7001, 7002]).images
    for i, image in enumerate(images):
        put(top, f"{i:02d}.pgm", b"P5 84 96 255\n" + image.tobytes())
    put(top, "bad.png", b"no picture")
    return [*sorted(top.glob("*.pgm")), top / "bad.png", top / "missing.png"]


@pytest.fixture
def alone(place, photos):
    """What one machine says."""

    def answers():
        with Gallery.open(place) as gallery:
            return [gallery.identify(photo, cropped=True) for photo in photos[:-2]]

    return answers


@pytest.mark.parametrize("small", [100, 1000], ids=["many people", "few people"])
def test_the_answers_are_those_of_one_machine_to_the_last_bit(place, photos, alone, address, small, monkeypatch):
    monkeypatch.setattr(shortlist, "MAX_PEOPLE_COMPARED", small)
    # Fewer than there are: otherwise everybody would be compared with.
    for room in (shortlist, distributed):
        monkeypatch.setattr(room, "MAX_CANDIDATES", 100)
    # No look lets everybody pass.
    monkeypatch.setattr(hamming_index, "MIN_RERANKED", 60)
    monkeypatch.setattr(hamming_index, "PREFILTERED_PER_RERANKED", 2)
    told = list(identify_files(place, photos, address, cropped=True))
    assert [one.photo for one in told] == [str(photo) for photo in photos]
    assert [one.answer for one in told[:-2]] == alone()
    assert all(one.answer is None for one in told[-2:])
    assert "must be" in told[-2].problem
    assert "missing.png" in told[-1].problem


def test_a_lost_workers_part_is_read_again_by_another(place, photos, alone, address, workers, monkeypatch):
    monkeypatch.setattr(shortlist, "MAX_PEOPLE_COMPARED", 100)
    monkeypatch.setattr("lightproof.gallery.distributed.PHOTOS_PER_BATCH", 2)
    monkeypatch.setattr("lightproof.gallery.distributed.BATCHES_PER_ROUND", 2)
    told = []
    for one in identify_files(place, photos, address, cropped=True):
        told.append(one)
        if len(told) == 5:
            victim = next(iter(workers.run(os.getpid).values()))
            os.kill(victim, signal.SIGKILL)
    assert [one.answer for one in told[:-2]] == alone()


class Poison(WorkerPlugin):
    """Lets a worker die over one photo; also one that is started again."""

    name = "poison"

    def setup(self, worker):
        from lightproof.gallery import distributed

        self.extract_face = distributed.extract_face

        def dying(photo, cropped):
            if photo.endswith("03.pgm"):
                os._exit(9)
            return self.extract_face(photo, cropped)

        distributed.extract_face = dying

    def teardown(self, worker):
        from lightproof.gallery import distributed

        distributed.extract_face = self.extract_face


def test_a_photo_that_kills_workers_is_told_and_skipped(place, photos, alone, address, workers):
    workers.register_plugin(Poison())
    try:
        told = list(identify_files(place, photos[:6], address, cropped=True))
    finally:
        workers.unregister_worker_plugin("poison")
    whole = alone()
    assert [one.answer for one in told] == [*whole[:3], None, *whole[4:6]]
    said = f"{photos[3]} must be a photo that workers survive; got {DEATHS} killed workers."
    assert told[3].problem == said


def test_a_gallery_that_changes_meanwhile_is_told(place, photos, address, tmp_path, monkeypatch):
    monkeypatch.setattr("lightproof.gallery.distributed.PHOTOS_PER_BATCH", 1)
    monkeypatch.setattr("lightproof.gallery.distributed.BATCHES_PER_ROUND", 1)
    monkeypatch.setattr(shortlist, "MAX_PEOPLE_COMPARED", 100)
    with Gallery.open(place) as whole:
        whole.export(tmp_path / "copy.gallery")
    answers = identify_files(tmp_path / "copy.gallery", photos, address, cropped=True)
    next(answers)
    with Gallery.open(tmp_path / "copy.gallery") as gallery:
        gallery.forget("person 0000003")
    with pytest.raises(BadGallery, match=r"got a change while photos were asked about; ask again\.$"):
        list(answers)


def test_what_cannot_be_asked_is_refused(place, photos):
    with pytest.raises(BadParameter, match=r"`top` of identify must be a whole number of at least 1; got 0\.$"):
        list(identify_files(place, photos, "tcp://127.0.0.1:1", top=0))


def test_the_command_says_what_it_says_alone(place, photos, address, call, tmp_path):  # noqa: F811
    wanted, told = tmp_path / "alone.json", tmp_path / "told.json"
    arguments = ["identify", *map(str, photos), "--cropped", "--gallery", str(place), "--json"]
    assert call(*arguments, str(wanted))[0] == 1
    code, _, err = call(*arguments, str(told), "--cluster", address)
    assert code == 1
    assert len(err.strip().splitlines()) >= 2
    assert json.loads(told.read_text()) == json.loads(wanted.read_text())
    with Cluster(address) as cluster:
        assert cluster.n_threads >= 1


def test_pictures_of_reasons_are_not_drawn_on_a_cluster(place, photos, call):  # noqa: F811
    code, _, err = call(
        "identify", str(photos[0]), "--gallery", str(place), "--explain", "why", "--cluster", "tcp://a:1"
    )
    assert code == 2
    assert "left out where there is a cluster" in " ".join(err.split())
