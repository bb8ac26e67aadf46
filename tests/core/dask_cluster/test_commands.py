"""Commands whose work is done by other machines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from lightproof.datasets import make_relit_faces
from lightproof.experiments.cache import Cache
from lightproof.experiments.methods import METHODS
from lightproof.experiments.plan import make_plan
from lightproof.experiments.runner import run_all
from lightproof.gallery import Gallery
from tests.cli.conftest import call, command, types  # noqa: F401

pytestmark = pytest.mark.long


def test_a_folder_is_enrolled_and_followed_by_workers(call, address, album, tmp_path):  # noqa: F811
    place = str(tmp_path / "people.gallery")
    code, out, _ = call(
        "enroll", "--folder", str(album), "--cropped", "--gallery", place, "--cluster", address, "--json", "-"
    )
    assert (code, json.loads(out)[0]["enrolled"]) == (1, 80)
    code, out, _ = call(
        "sync", str(album), "--cropped", "--gallery", place, "--cluster", address, "--yes", "--json", "-"
    )
    assert json.loads(out)[0]["known"] == 80


def test_a_cluster_that_is_not_there_is_one_sentence_and_no_gallery_is_made(call, album, tmp_path):  # noqa: F811
    place = tmp_path / "people.gallery"
    for address, code, sentence in [
        (
            "tcp://127.0.0.1:1",
            1,
            "tcp://127.0.0.1:1 must be the address of a Dask scheduler; got Connection refused.\n",
        ),
        (
            "here",
            2,
            "`address` of Cluster must be an address such as tcp://host:8786 or tls://host:8786; got 'here'.\n",
        ),
    ]:
        asked = ("--cropped", "--gallery", str(place), "--cluster", address)
        assert call("enroll", "--folder", str(album), *asked) == (code, "", f"lightproof: {sentence}")
        assert call("reproduce", "rendered", "--cluster", address, "--out", str(tmp_path / "out"))[0] == code
    assert not place.exists()


def test_a_cluster_is_for_folders(call):  # noqa: F811
    said = "lightproof: `cluster` of enroll must be given together with --folder; got 'Ada'.\n"
    assert call("enroll", "Ada", "ada.jpg", "--cluster", "tcp://127.0.0.1:1") == (2, "", said)


def test_ctrl_c_ends_the_command_and_not_the_workers(workers, address, album, tmp_path):
    slow = """
import sys, time
from lightproof.gallery.folders import FolderWriter, commit, diff
from lightproof.cli import main
commit.BATCHES_PER_CHANGE = 1
diff.FACES_PER_BATCH = 5
write = FolderWriter.write
FolderWriter.write = lambda self, results: (write(self, results), print("took", flush=True), time.sleep(0.5))
main()
"""
    place = str(tmp_path / "people.gallery")
    asked = ["enroll", "--folder", str(album), "--cropped", "--gallery", place, "--cluster", address]
    asking = subprocess.Popen(
        [sys.executable, "-c", slow, *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert asking.stdout.readline() == "took\n", asking.communicate()
    os.kill(asking.pid, signal.SIGINT)
    _, said = asking.communicate(timeout=60)
    assert (asking.returncode, said.splitlines()[-1]) == (
        130, "Stopped. What is enrolled is whole; the same command goes on from there.",
    )  # fmt: skip
    assert len(workers.run(os.getpid)) == 2
    with Gallery.open(place) as gallery:
        assert 0 < gallery.store.counts().photos < 80


@pytest.fixture(scope="module")
def experiments():
    faces = make_relit_faces(6, size=(64, 56))
    methods = [METHODS[name] for name in list(METHODS)[:2]]
    return make_plan("rendered", faces, methods, ["full", "interior"]), faces


def test_the_figures_of_experiments_are_those_of_one_machine_and_kept_alike(experiments, address, tmp_path):
    plan, faces = experiments
    alone = run_all(plan, faces, Cache(tmp_path / "alone"))
    many = run_all(plan, faces, Cache(tmp_path / "many"), -1, cluster=address)
    figures = [
        [[{k: v.tolist() for k, v in by.items()} for by in one.measurement.hits] for one in results]
        for results in (alone, many)
    ]
    assert len(plan) > 2
    assert figures[0] == figures[1]
    names = [sorted(file.name for file in (tmp_path / kind).iterdir()) for kind in ("alone", "many")]
    assert names[0] == names[1]
    # All of it is kept: nobody is asked for it again.
    assert len(run_all(plan, faces, Cache(tmp_path / "many"), cluster="nobody is there")) == len(plan)
