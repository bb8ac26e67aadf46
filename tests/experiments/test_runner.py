"""A plan is run once, survives an interrupt, and does not depend on how many processes ran it."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof.baselines import pixel_neighbor
from lightproof.datasets.protocols import yale_test_1, yale_test_2
from lightproof.experiments.cache import Cache
from lightproof.experiments.measure import measure, take_pictures
from lightproof.experiments.methods import METHODS, Method
from lightproof.experiments.plan import Experiment
from lightproof.experiments.rows import hits_by_photo, rows_of
from lightproof.experiments.runner import run_all
from lightproof.images import bring_to_size
from lightproof.recognizer import FaceRecognizer

PIXELS = Method("pixels", "raw pixels", "extra", pixel_neighbor)


def experiment(method=PIXELS, picks=(0,), frame="full"):
    return Experiment("rendered", "main", method, [yale_test_2(pick) for pick in picks], "some", frame)


@pytest.fixture
def plan():
    return [experiment(picks=(0, 1)), experiment(METHODS["rcdt"]), experiment(frame="outer"), experiment(picks=(5,))]


def answers(results):
    return [[{s: h.tolist() for s, h in hits.items()} for hits in r.outcome.hits] for r in results]


def test_a_result_is_what_fit_and_predict_say(people, tmp_path):
    (result,) = run_all([experiment(METHODS["log-rcdt"])], people, Cache(tmp_path))
    split = yale_test_2(0).split(people)
    images = bring_to_size(people.images, (64, 64), np.float32)
    recognizer = FaceRecognizer(light="log").fit(images[split.gallery], people.labels[split.gallery])
    for subset, probes in split.probes.items():
        expected = recognizer.predict(images[probes]) == people.labels[probes]
        np.testing.assert_array_equal(result.outcome.hits[0][subset], expected)


def test_results_come_in_the_order_of_the_plan(people, tmp_path, plan):
    results = run_all(plan, people, Cache(tmp_path))
    assert [r.experiment for r in results] == plan


def test_what_is_finished_is_not_run_again(people, tmp_path, plan):
    first = run_all(plan, people, Cache(tmp_path))
    written = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    asked = []
    second = run_all(plan, people, Cache(tmp_path), progress=lambda pieces, total: asked.append(total) or pieces)
    assert asked == [0]
    assert answers(first) == answers(second)
    assert [r.outcome.seconds for r in first] == [r.outcome.seconds for r in second]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == written


def test_after_an_interrupt_only_the_rest_is_run(people, tmp_path, plan):
    def interrupted(pieces, total):
        for done, piece in enumerate(pieces):
            if done == 2:
                raise KeyboardInterrupt
            yield piece

    with pytest.raises(KeyboardInterrupt):
        run_all(plan, people, Cache(tmp_path / "cut"), progress=interrupted)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cut").iterdir()}
    assert len(kept) == 2
    asked = []
    went_on = run_all(plan, people, Cache(tmp_path / "cut"), progress=lambda p, total: asked.append(total) or p)
    assert asked == [2]
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert answers(went_on) == answers(run_all(plan, people, Cache(tmp_path / "whole")))


def test_two_processes_find_what_one_finds(people, tmp_path, plan):
    one = run_all(plan, people, Cache(tmp_path / "one"), jobs=1)
    two = run_all(plan, people, Cache(tmp_path / "two"), jobs=2)
    assert answers(one) == answers(two)


def test_another_setting_or_another_photo_is_run_anew(people, tmp_path):
    kept = Cache(tmp_path)
    run_all([experiment()], people, kept)
    for plan, faces in (
        ([experiment(METHODS["rcdt"].changed(cell=8))], people),
        ([experiment(frame="interior")], people),
        ([experiment(picks=(3,))], people),
        ([experiment()], people.take(np.arange(len(people) - 1))),
    ):
        asked = []
        run_all(plan, faces, kept, progress=lambda p, total, asked=asked: asked.append(total) or p)
        assert asked == [1]


def test_features_are_computed_once_and_the_answers_are_those_of_the_whole_pipeline(people):
    splits = [yale_test_1().split(people), yale_test_2(0).split(people)]
    pictures = take_pictures(people.images, (32, 32), "float", "full")
    quick = measure(pixel_neighbor(size=(32, 32)), pictures, people.labels, splits)
    for split, hits in zip(splits, quick.hits, strict=True):
        whole = pixel_neighbor(size=(32, 32)).fit(pictures[split.gallery], people.labels[split.gallery])
        for subset, probes in split.probes.items():
            np.testing.assert_array_equal(hits[subset], whole.predict(pictures[probes]) == people.labels[probes])


def test_an_empty_subset_has_no_row(people, tmp_path):
    from lightproof.datasets.protocols import Protocol, Split

    def rule(faces):
        split = yale_test_2(0).split(faces)
        return Split(split.gallery, {1: split.probes[1], 2: split.probes[2][:0]})

    plan = [Experiment("rendered", "main", PIXELS, [Protocol("Test 2", "some", rule)], "some")]
    rows = list(rows_of(run_all(plan, people, Cache(tmp_path))[0]))
    assert [row.subset for row in rows] == [1, "all"]
    assert rows[0].accuracy == rows[1].accuracy


def test_mean_and_spread_are_over_the_galleries(people, tmp_path):
    kept = Cache(tmp_path)
    each = [{row.subset: row for row in rows_of(run_all([experiment(picks=(p,))], people, kept)[0])} for p in (0, 1, 2)]
    together = list(rows_of(run_all([experiment(picks=(0, 1, 2))], people, kept)[0]))
    assert [row.subset for row in together] == [1, 2, 3, 4, "all"]
    for row in together:
        alone = [rows[row.subset].accuracy for rows in each]
        assert row.accuracy == pytest.approx(np.mean(alone))
        assert row.std == pytest.approx(np.std(alone, ddof=1))
        assert row.n == {1: 30, 2: 54, 3: 36, 4: 39, "all": 159}[row.subset]
        assert row.low < row.accuracy < row.high
        assert all(rows[row.subset].std is None for rows in each)
        assert row.seconds > 0
    *subsets, everything = together
    assert everything.accuracy == pytest.approx(sum(r.accuracy * r.n for r in subsets) / everything.n)


def test_answers_by_photo_are_false_where_nothing_was_asked(people, tmp_path):
    (result,) = run_all([experiment()], people, Cache(tmp_path))
    laid_out = hits_by_photo(result, len(people))
    split = result.splits[0]
    assert laid_out.shape == (1, len(people))
    assert not laid_out[0, split.gallery].any()
    for subset, probes in split.probes.items():
        np.testing.assert_array_equal(laid_out[0, probes], result.outcome.hits[0][subset])
