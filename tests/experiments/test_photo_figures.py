"""The figures of ORL and LFW, end to end, on the real photos."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof import FaceRecognizer
from lightproof.datasets import load_lfw, load_orl
from lightproof.datasets.protocols import pose_test
from lightproof.experiments.end_to_end import find_again
from lightproof.experiments.open_set import run_open_set

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def orl(photos_extra, orl_data):
    return find_again(load_orl(orl_data), jobs=2)


def rank_1(faces):
    """Percent of the photos named, of everybody but the first found one of each person."""
    there = faces.take(faces.found)
    first = np.unique(there.labels, return_index=True)[1]
    probes = np.setdiff1d(np.arange(len(there)), first)
    recognizer = FaceRecognizer().fit(there.take(first).aligned(), there.labels[first])
    hits = recognizer.predict(there.take(probes).aligned()) == there.labels[probes]
    return 100 * hits.sum() / (len(faces) - len(first))


def test_people_who_turn_and_smile_are_named_from_one_photo(orl):
    assert rank_1(orl.faces) >= 97


def test_they_are_found_among_strangers(orl):
    rows = run_open_set(orl.faces, ["robust"], protocols=[pose_test(orl.yaws)], picks=[0], draws=20)
    by = {row.far: row.found for row in rows if (row.preset, row.test, row.subset) == ("robust", "open set", "all")}
    assert by[0.01] >= 90, by
    assert by[0.001] >= 82, by


def test_press_photos_are_named_more_often_than_not(photos_extra, lfw_data):
    photos = load_lfw(lfw_data)
    kept = np.arange(len(photos)) % 3 == 0
    kept[np.unique(photos.labels, return_index=True)[1]] = True
    assert rank_1(find_again(photos.take(kept), jobs=2).faces) >= 50
