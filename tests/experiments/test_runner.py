"""A plan is run once, survives an interrupt, and does not depend on how many processes ran it."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof.core import executors
from lightproof.core.images import bring_to_size
from lightproof.datasets import make_relit_faces
from lightproof.datasets.protocols import Split, yale_test_1, yale_test_2
from lightproof.estimators.baselines import pixel_neighbor
from lightproof.estimators.recognizer import FaceRecognizer
from lightproof.experiments import cache
from lightproof.experiments.accuracies import AccuracyRow, hits_by_photo, lines_of, rows_of
from lightproof.experiments.cache import Cache
from lightproof.experiments.measure import PHOTOS_PER_BLOCK, measure, take_pictures
from lightproof.experiments.methods import METHODS, Method
from lightproof.experiments.plan import Experiment
from lightproof.experiments.runner import facts_of, run_all
from lightproof.imaging.detection import jitter_by_eyes
from lightproof.metrics import wilson_interval
from tests.matching.pictures import mixed

pytestmark = pytest.mark.slow

PIXELS = Method("pixels", "raw pixels", "extra", pixel_neighbor)


def experiment(method=PIXELS, picks=(0,), crop="full", alignment="by hand"):
    protocols = [yale_test_2(pick) for pick in picks]
    return Experiment("rendered", "main", method, protocols, "some", crop, alignment=alignment)


@pytest.fixture
def plan():
    return [experiment(picks=(0, 1)), experiment(METHODS["rcdt"]), experiment(crop="outer"), experiment(picks=(5,))]


def answers(results):
    return [[{s: h.tolist() for s, h in hits.items()} for hits in r.measurement.hits] for r in results]


def test_a_result_is_what_fit_and_predict_say(people, tmp_path):
    (result,) = run_all([experiment(METHODS["log-rcdt"])], people, Cache(tmp_path))
    split = yale_test_2(0).split(people)
    images = bring_to_size(people.images, (64, 64), np.float32)
    recognizer = FaceRecognizer("authors", light="log").fit(images[split.gallery], people.labels[split.gallery])
    for subset, probes in split.probes.items():
        expected = recognizer.predict(images[probes]) == people.labels[probes]
        np.testing.assert_array_equal(result.measurement.hits[0][subset], expected)


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
    assert [r.measurement.seconds for r in first] == [r.measurement.seconds for r in second]
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
        ([experiment(METHODS["rcdt"])], people),
        ([experiment(crop="interior")], people),
        ([experiment(alignment="jittered")], people),
        ([experiment(picks=(3,))], people),
        ([experiment()], people.take(np.arange(len(people) - 1))),
    ):
        asked = []
        run_all(plan, faces, kept, progress=lambda p, total, asked=asked: asked.append(total) or p)
        assert asked == [1]


@pytest.mark.parametrize(
    "other",
    [
        experiment(METHODS["rcdt"].changed(cell=8)),
        experiment(METHODS["rcdt"].changed(size=(32, 32))),
        experiment(METHODS["rcdt"].changed(smoothing="8-bit")),
        experiment(METHODS["rcdt"], crop="outer"),
        experiment(METHODS["rcdt"], alignment="jittered"),
        experiment(METHODS["hog"]),
    ],
)
def test_everything_that_decides_a_figure_is_among_its_facts(people, other):
    split = [yale_test_2(0).split(people)]
    plain = facts_of(experiment(METHODS["rcdt"]), "data", split)
    assert facts_of(experiment(METHODS["rcdt"]), "data", split) == plain
    assert facts_of(other, "data", split) != plain
    assert facts_of(experiment(METHODS["rcdt"]), "other data", split) != plain


@pytest.mark.parametrize("name", ["library_versions", "digest_of_code"])
def test_another_version_or_other_code_is_run_anew(people, tmp_path, monkeypatch, name):
    kept = Cache(tmp_path)
    run_all([experiment()], people, kept)
    monkeypatch.setattr(cache, name, lambda *arguments: "another")
    asked = []
    run_all([experiment()], people, kept, progress=lambda p, total: asked.append(total) or p)
    assert asked == [1]


def test_smoothing_decides_what_a_method_sees(people):
    plain, rounded = (take_pictures(people.images, (24, 24), config, "full") for config in ("float", "8-bit"))
    assert plain.shape == rounded.shape
    assert 0 < np.abs(plain - rounded).max() < 2 / 255


def test_only_one_row_of_pixels_at_the_cut_holds_anything_of_the_other_side(people, rng):
    """Photos are smoothed before they are shrunk, so the cut is not sharp to the last pixel."""
    photos = people.images[:2].repeat(4, axis=1).repeat(4, axis=2)  # 192 x 168
    changed = photos.copy()
    changed[:, 24:168, 21:147] = rng.integers(0, 256, (2, 144, 126))
    before, after = (take_pictures(images, (64, 64), "float", "outer") for images in (photos, changed))
    touched = np.flatnonzero((before != after).any(axis=(0, 2)))
    # The strips are 8 pixels deep: the row next to the interior is the last of the top, the first of the bottom, ...
    assert set(touched) == {7, 8, 23, 24}


def test_crops_are_jittered_in_the_size_they_come_in_and_then_made_small(people):
    taken = take_pictures(people.images, (24, 24), "float", "interior", "jittered")
    moved = jitter_by_eyes(people.images, share=0.04, seed=0)
    assert moved.dtype == people.images.dtype == np.uint8
    np.testing.assert_array_equal(taken, take_pictures(moved, (24, 24), "float", "interior"))
    # More photos than are made small at a time, and none is moved as another one.
    assert len(people) > PHOTOS_PER_BLOCK
    assert (taken != take_pictures(people.images, (24, 24), "float", "interior")).any(axis=(1, 2)).all()


def test_gallery_and_probes_are_jittered_alike_and_the_row_says_so(people, tmp_path):
    by_hand, jittered = run_all([experiment(), experiment(alignment="jittered")], people, Cache(tmp_path))
    split = yale_test_2(0).split(people)
    pictures = bring_to_size(jitter_by_eyes(people.images), (64, 64), np.float32)
    judge = pixel_neighbor(size=(64, 64)).fit(pictures[split.gallery], people.labels[split.gallery])
    for subset, probes in split.probes.items():
        expected = judge.predict(pictures[probes]) == people.labels[probes]
        np.testing.assert_array_equal(jittered.measurement.hits[0][subset], expected)
    assert answers([by_hand]) != answers([jittered])
    assert {row.alignment for row in rows_of(by_hand)} == {"by hand"}
    assert {row.as_dict()["alignment"] for row in rows_of(jittered)} == {"jittered"}


def test_no_more_processes_are_started_than_there_is_work(people, tmp_path, plan, monkeypatch):
    started = []

    class Counted(executors.Parallel):
        def __init__(self, n_jobs, **options):
            started.append(n_jobs)
            super().__init__(n_jobs, **options)

    monkeypatch.setattr(executors, "Parallel", Counted)
    monkeypatch.setattr(executors, "cpu_count", lambda: 3)
    run_all(plan[:2], people, Cache(tmp_path / "a"), jobs=5000)
    run_all(plan, people, Cache(tmp_path / "b"), jobs=5000)
    assert started == [2, 3]


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
        # For the number of photos, not of answers: those of one photo in several galleries are not independent.
        expected = wilson_interval(row.n * row.accuracy / 100, row.n)
        assert (row.low, row.high) == pytest.approx((100 * expected[0], 100 * expected[1]))
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
        np.testing.assert_array_equal(laid_out[0, probes], result.measurement.hits[0][subset])


def test_a_row_of_a_file_that_says_nothing_of_alignment_is_by_hand(people, tmp_path):
    (row, *_) = rows_of(run_all([experiment()], people, Cache(tmp_path))[0])
    old = row.as_dict()
    del old["alignment"]
    assert AccuracyRow(**old) == row


def test_rows_that_differ_in_alignment_only_are_two_lines(people, tmp_path):
    results = run_all([experiment(), experiment(alignment="jittered")], people, Cache(tmp_path))
    lines = lines_of(row for result in results for row in rows_of(result))
    assert [line.whole.alignment for line in lines] == ["by hand", "jittered"]


@pytest.mark.parametrize("preset", ["robust", "fast"])
def test_all_galleries_of_the_engine_at_once_are_those_one_after_the_other(preset, monkeypatch):
    """One and two photos a person, other people in each gallery, and a face that is not found."""
    faces = make_relit_faces(4, [(0, 0), (10, 0), (60, 10), (80, 20), (20, 40)], size=(64, 56))
    aligned = np.empty(20, object)
    aligned[:] = mixed(faces.images)
    found = np.arange(20) != 3
    splits = [
        Split(np.array([0, 5, 10, 15]), {1: np.array([2, 3, 7]), 2: np.array([13, 18, 19])}),
        Split(np.array([0, 1, 6, 11, 10]), {1: np.array([3, 9, 14]), 2: np.array([2, 12])}),
    ]
    at_once = measure(FaceRecognizer(preset), aligned, faces.labels, splits, found)
    monkeypatch.setattr("lightproof.experiments.measure.ENGINES", {})
    one_by_one = measure(FaceRecognizer(preset), aligned, faces.labels, splits, found)
    for together, alone in zip(at_once.hits, one_by_one.hits, strict=True):
        assert {subset: hits.tolist() for subset, hits in together.items()} == {
            subset: hits.tolist() for subset, hits in alone.items()
        }
    assert not at_once.hits[0][1][1]
    assert at_once.seconds.keys() == {1, 2}
