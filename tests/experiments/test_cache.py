"""What is kept is believed only under the facts it was kept under."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lightproof.datasets.protocols import yale_test_2
from lightproof.errors import CannotWrite
from lightproof.experiments import cache
from lightproof.experiments.cache import Cache, digest_of_code, digest_of_faces, digest_of_splits
from lightproof.experiments.measure import Outcome

FACTS = {"method": "m", "size": [64, 64], "settings": {"alpha": 2}, "versions": {"lightproof": "1"}}


def outcome():
    hits = [{1: np.array([True, False, True]), 4: np.array([False])}, {1: np.zeros(3, bool), 4: np.array([True])}]
    return Outcome(hits, 1.5, {1: 0.25, 4: 0.5}, ["linear, C=1", ""])


def only_file(folder):
    (found,) = folder.iterdir()
    return found


def test_what_is_kept_comes_back_to_the_last_bit(tmp_path):
    kept = Cache(tmp_path / "cache")
    assert kept.find(FACTS, Outcome.of) is None
    kept.keep(FACTS, outcome().plain())
    found = kept.find(FACTS, Outcome.of)
    assert found is not None
    for before, after in zip(outcome().hits, found.hits, strict=True):
        assert list(before) == list(after)
        for subset in before:
            np.testing.assert_array_equal(before[subset], after[subset])
    assert (found.fit_seconds, found.seconds, found.chosen) == (1.5, {1: 0.25, 4: 0.5}, ["linear, C=1", ""])


@pytest.mark.parametrize(
    "other",
    [
        {**FACTS, "versions": {"lightproof": "2"}},
        {**FACTS, "settings": {"alpha": 3}},
        {**FACTS, "size": [64, 32]},
        {**FACTS, "more": 1},
    ],
)
def test_other_facts_find_nothing(tmp_path, other):
    kept = Cache(tmp_path)
    kept.keep(FACTS, outcome().plain())
    assert kept.find(other, Outcome.of) is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"lightproof": "1"', '"lightproof": "2"'),
        lambda text: text.replace('"101"', '"1x1"'),
        lambda text: text.replace('"hits"', '"hits_of_another_version"'),
        lambda text: "[]",
        lambda text: '"text"',
    ],
    ids=["cut off", "other version inside", "strange hits", "other keys", "list", "text"],
)
def test_a_file_that_says_something_else_is_not_trusted(tmp_path, spoil):
    kept = Cache(tmp_path)
    kept.keep(FACTS, outcome().plain())
    place = only_file(tmp_path)
    spoiled = spoil(place.read_text())
    assert spoiled != place.read_text()
    place.write_text(spoiled)
    assert kept.find(FACTS, Outcome.of) is None


def test_nothing_half_written_is_left(tmp_path, monkeypatch):
    kept = Cache(tmp_path)
    monkeypatch.setattr(cache.json, "dumps", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        kept.keep(FACTS, outcome().plain())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(CannotWrite, match="must be a place that can be written; got: "):
        Cache(tmp_path / "taken").keep(FACTS, outcome().plain())


def test_the_file_can_be_read_by_people(tmp_path):
    Cache(tmp_path).keep(FACTS, outcome().plain())
    noted = json.loads(only_file(tmp_path).read_text())
    assert noted["facts"] == FACTS
    assert noted["content"]["hits"][0] == {"1": "101", "4": "0"}


def test_every_photo_and_label_counts_for_the_data(people):
    whole = digest_of_faces(people)
    assert digest_of_faces(people) == whole
    touched = people.take(np.arange(len(people)))
    touched.images[-1, -1, -1] ^= 1
    assert digest_of_faces(touched) != whole
    renamed = people.take(np.arange(len(people)))
    renamed.labels[0] = "somebody"
    assert digest_of_faces(renamed) != whole


def test_another_gallery_is_another_split(people):
    digests = {digest_of_splits([yale_test_2(pick).split(people)]) for pick in range(11)}
    assert len(digests) == 11


def test_the_code_behind_a_method_counts_and_the_code_beside_it_does_not():
    reached = cache._sources(("lightproof.recognizer",))
    assert {"lightproof.transform", "lightproof.subspaces", "lightproof.images"} <= set(reached)
    assert not {"lightproof.baselines.svm", "lightproof.experiments.report", "lightproof.plots"} & set(reached)
    assert digest_of_code(("lightproof.recognizer",)) != digest_of_code(("lightproof.baselines.svm",))


def test_a_changed_line_of_code_is_another_digest(monkeypatch):
    before = digest_of_code.__wrapped__(("lightproof.frames",))
    monkeypatch.setattr(cache, "_sources", lambda modules: {"lightproof.frames": "changed = True"})
    assert digest_of_code.__wrapped__(("lightproof.frames",)) != before
