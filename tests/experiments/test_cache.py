"""What is kept is believed only under the facts it was kept under."""

from __future__ import annotations

import json
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lightproof.core import atomic
from lightproof.datasets.protocols import Split, yale_test_2
from lightproof.errors import CannotWrite
from lightproof.experiments import cache
from lightproof.experiments.cache import Cache, digest_of_code, digest_of_faces, digest_of_splits
from lightproof.experiments.measure import Measurement

SPLIT = Split(np.array([0]), {1: np.array([1, 2, 3]), 4: np.array([4])})

read = partial(Measurement.of, splits=[SPLIT, SPLIT])

FACTS = {"method": "m", "size": [64, 64], "settings": {"alpha": 2}, "versions": {"lightproof": "1"}}


def outcome():
    hits = [{1: np.array([True, False, True]), 4: np.array([False])}, {1: np.zeros(3, bool), 4: np.array([True])}]
    return Measurement(hits, 1.5, {1: 0.25, 4: 0.5}, ["linear, C=1", ""])


def only_file(folder):
    (found,) = folder.iterdir()
    return found


def test_what_is_kept_comes_back_to_the_last_bit(tmp_path):
    kept = Cache(tmp_path / "cache")
    assert kept.find(FACTS, read) is None
    kept.keep(FACTS, outcome().plain())
    found = kept.find(FACTS, read)
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
    assert kept.find(other, read) is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"lightproof": "1"', '"lightproof": "2"'),
        lambda text: text.replace('"101"', '"1x1"'),
        lambda text: text.replace('"101"', '"10"'),
        lambda text: text.replace('"101"', '"1010"'),
        lambda text: text.replace('"4": "0"', '"3": "0"'),
        lambda text: text.replace('"4": 0.5', '"3": 0.5'),
        lambda text: text.replace('"linear, C=1",', ""),
        lambda text: text.replace('"hits"', '"hits_of_another_version"'),
        lambda text: "[]",
        lambda text: '"text"',
    ],
    ids=[
        "cut off",
        "other version inside",
        "strange hits",
        "too few hits",
        "too many hits",
        "another subset",
        "seconds of another subset",
        "too few choices",
        "other keys",
        "list",
        "text",
    ],
)
def test_a_file_that_says_something_else_is_not_trusted(tmp_path, spoil):
    kept = Cache(tmp_path)
    kept.keep(FACTS, outcome().plain())
    place = only_file(tmp_path)
    spoiled = spoil(place.read_text())
    assert spoiled != place.read_text()
    place.write_text(spoiled)
    assert kept.find(FACTS, read) is None


def test_a_file_of_before_stays_when_writing_fails(tmp_path, monkeypatch):
    kept = Cache(tmp_path)
    kept.keep(FACTS, outcome().plain())
    before = only_file(tmp_path).read_bytes()
    monkeypatch.setattr(atomic.os, "replace", lambda *arguments: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        kept.keep(FACTS, {"other": "content"})
    assert only_file(tmp_path).read_bytes() == before


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


def test_other_probes_are_another_split():
    other = Split(SPLIT.gallery, {1: np.array([1, 2, 3]), 4: np.array([5])})
    assert digest_of_splits([SPLIT]) != digest_of_splits([other])
    renamed = Split(SPLIT.gallery, {1: np.array([1, 2, 3]), 3: np.array([4])})
    assert digest_of_splits([SPLIT]) != digest_of_splits([renamed])


def test_the_libraries_that_compute_are_those_of_the_project_file():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    needed = {name.split(">")[0] for name in project["dependencies"]}
    talking = {"typer", "rich", "matplotlib", "pillow", "joblib", "threadpoolctl", "packaging", "sqlalchemy"}
    assert set(cache.LIBRARIES) == needed - talking


def test_a_module_imported_by_name_from_its_package_counts(tmp_path):
    lines = ["from lightproof.estimators import model_file", "from lightproof.datasets import yale_b"]
    source = "\n".join([*lines, "import lightproof.method.subspace_bank"])
    modules = {"lightproof.estimators.model_file", "lightproof.datasets.yale_b", "lightproof.method.subspace_bank"}
    assert modules <= set(cache._imported(source))
    assert "lightproof.estimators.model_file" in cache._sources(("lightproof.estimators.recognizer",))


def test_the_code_behind_a_method_counts_and_the_code_beside_it_does_not():
    reached = cache._sources(("lightproof.estimators.recognizer",))
    assert {"lightproof.method.transform", "lightproof.method.subspaces", "lightproof.core.images"} <= set(reached)
    assert not {
        "lightproof.estimators.baselines.classifiers",
        "lightproof.experiments.reproduction_report",
        "lightproof.plots",
    } & set(reached)
    assert digest_of_code(("lightproof.estimators.recognizer",)) != digest_of_code(
        ("lightproof.estimators.baselines.classifiers",)
    )


def test_a_changed_line_of_code_is_another_digest(monkeypatch):
    before = digest_of_code.__wrapped__(("lightproof.experiments.crops",))
    monkeypatch.setattr(cache, "_sources", lambda modules: {"lightproof.experiments.crops": "changed = True"})
    assert digest_of_code.__wrapped__(("lightproof.experiments.crops",)) != before
