"""Benchmarks are run, once and tiny: one that nobody runs is dead."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import bounds, bulk, crowd, crowd_sheet, detectors, engine, exhaustive, readers, scale
from benchmarks.bench_recognizer import Faces, Ours, Textbook
from benchmarks.run import measure
from lightproof.datasets import Crowd, FaceSet, make_relit_faces
from lightproof.datasets.crowd.face_model import COLUMNS, read_record
from lightproof.datasets.yale_b import YALE_EYES
from lightproof.gallery import crowd_name, make_gallery
from lightproof.imaging.detection.detector import LOOKS
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.matching.views import FaceView
from tests.matching.pictures import found as found_face

pytestmark = pytest.mark.long


def test_the_benchmark_measures_what_it_says():
    figures = measure(Faces(n_people=3, n_probes=4), turns=1)
    for what in ("features", "fit", "identify"):
        assert figures[what]["ratio"] == pytest.approx(figures[what]["textbook_ms"] / figures[what]["ours_ms"])
    assert 0 < figures["peak_mib_10000_faces"] < 1024
    assert figures["accuracy"]["ours"] == figures["accuracy"]["textbook"]


def test_ours_and_the_textbook_name_the_same_people():
    faces = Faces(n_people=4, n_probes=8)
    ours, loop = Ours(), Textbook()
    ours.setup(faces)
    loop.setup(faces)
    named = ours.recognizer.classes_[ours.time_identify()]
    np.testing.assert_array_equal(named[: loop.n_identify], loop.time_identify())


def off_by(*offsets):
    """Find the eyes of yaleB01 and yaleB02 in their frames, each photo so many pixels off; None finds nothing."""
    left = iter(offsets)

    def detect(picture):
        offset = next(left) if picture.shape == (320, 320) else None
        if offset is None:
            return np.zeros((0, 2), complex)
        eyes = YALE_EYES[f"yaleB0{picture[160, 160]}"]
        return np.array([[complex(*eyes[:2]), complex(*eyes[2:])]]) + offset + 76 + 64j

    return detect


def two_people():
    """Two photos each of two people, grey 1 and grey 2, half of them in the dark."""
    images = np.ones((4, 192, 168), np.uint8) * np.array([1, 1, 2, 2], np.uint8)[:, None, None]
    labels = np.array(["yaleB01", "yaleB01", "yaleB02", "yaleB02"])
    return FaceSet("yale", images, labels, np.array([0.0, 120, 0, 120]), np.zeros(4), ("",) * 4)


def lines_of(*rows):
    return list(detectors.measure(two_people(), [np.zeros((20, 20), np.uint8)], rows))


def test_a_constant_offset_is_an_error_of_the_eyes_but_no_jitter():
    # The eyes of yaleB01 are 92.005 pixels apart, those of yaleB02 94.021: 4.6 pixels are 5.0 and 4.9 percent.
    (line,) = lines_of(("toy", "plain", lambda look: off_by(4.6, 4.6, 4.6, 4.6), True))
    assert line[:9] == ["toy", "plain", "100.0 / 100.0", "4.9", "5.0", "0.0", "0.0", "0.0", "0.0"]


def test_eyes_that_move_from_photo_to_photo_are_jitter():
    # Half of six pixels from the middle of both photos: 3.26 percent of 92, and 3.19 of 94.
    (line,) = lines_of(("toy", "plain", lambda look: off_by(0, 6, 0, 6), True))
    assert line[5:9] == ["3.2", "3.3", "3.2", "3.2"]


def test_a_face_that_is_missed_or_lies_beside_the_crop_is_not_found():
    (line,) = lines_of(("toy", "plain", lambda look: off_by(None, 1, 100, 1), True))
    assert line[2] == "0.0 / 100.0"


def test_a_box_finds_a_face_when_both_eyes_are_in_it():
    around, beside = np.array([[76 + 64j, 244 + 256j]]), np.array([[76 + 64j, 160 + 256j]])
    boxes = iter([around, around, beside, np.zeros((0, 2), complex), around, around])
    (line,) = lines_of(("toy", "plain", lambda look: lambda picture: next(boxes), False))
    assert line[2:9] == ["50.0 / 50.0", "", "", "", "", "", ""]
    assert line[-1] == "1 of 1"


def test_a_detector_whose_package_is_missing_says_so():
    def missing(look):
        raise ImportError

    (line,) = lines_of(("toy", "plain", missing, True))
    assert line[2] == "not installed"
    assert len(line) == len(detectors.HEAD.split(" | "))


def test_pictures_without_people_are_there():
    assert len(detectors.without_people()) > 20


def test_a_folder_is_enrolled_and_its_cost_is_told():
    rendered = make_relit_faces(6, lights=[(0, 0)], size=(96, 84)).images
    row = bulk.measure(bulk.Crowd(rendered, people=9, photos=2), "fast", jobs=1, probes=5)
    assert (row["people"], row["faces"], row["probes"], row["named"]) == (9, 18, 5, 1.0)
    assert row["faces_a_second"] == pytest.approx(18 / row["seconds"], rel=0.05)
    assert 0 < row["file_mib"] < 2
    assert 0 < row["parent_mib_at_100_percent"] < 1024


def test_no_two_photos_of_the_crowd_are_alike():
    rendered = make_relit_faces(4, lights=[(0, 0)], size=(32, 28)).images
    crowd = bulk.Crowd(rendered, people=12, photos=3)
    photos = {crowd.photo(person, number).tobytes() for person in range(12) for number in range(3)}
    assert len(photos) == 36
    np.testing.assert_array_equal(crowd.photo(7, 1), crowd.photo(7, 1))


def test_the_crowd_is_measured_by_light():
    said = crowd.ask(Matcher(preset_settings("fast")), crowd.of_crowd(Crowd(), gallery=0, turns=2))
    lines = list(crowd.rows("crowd", said))
    assert [line[:2] for line in lines] == [["crowd", light] for light in crowd.NAMES]
    assert all(len(line) == len(crowd.HEAD) for line in lines)
    everything = dict(zip(crowd.HEAD, lines[-1], strict=True))
    assert float(everything["right: lead"]) > 5 > float(everything["wrong: lead, 99.9 %"])
    assert float(everything["named first"]) > 90


def test_everybody_is_enrolled_under_the_most_frontal_light_and_asked_about_under_the_others():
    faces = make_relit_faces(2, lights=[(70, 0), (0, 10), (-20, 0)], size=(32, 28))
    asked = crowd.of_faces(faces)
    np.testing.assert_array_equal(asked.enrolled, faces.images[[1, 4]])
    np.testing.assert_array_equal(asked.probes, faces.images[[0, 2, 3, 5]])
    assert asked.people.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(asked.angles, [70, 20, 70, 20])


def test_equal_patches_count_once():
    own = np.random.default_rng(0).standard_normal((30, 4000))
    assert crowd.patches_that_count(own) == pytest.approx(30, rel=0.1)
    assert crowd.patches_that_count(np.repeat(own[:3], 10, axis=0)) == pytest.approx(3, rel=0.1)


def test_only_what_stays_from_photo_to_photo_lasts():
    rng, people = np.random.default_rng(0), np.repeat([0, 1], 200)
    likeness, chance = rng.standard_normal((2, 500))[people], rng.standard_normal((400, 500))
    assert crowd.lasting(likeness, people) == pytest.approx(1)
    assert crowd.lasting(chance, people) == pytest.approx(0, abs=0.02)
    assert crowd.lasting(likeness + chance, people) == pytest.approx(0.5, abs=0.05)


def test_a_page_of_the_sheet_is_read_as_it_was_laid_out():
    record = np.random.default_rng(0).integers(0, 256, COLUMNS).astype(np.uint8)
    np.testing.assert_array_equal(read_record(crowd_sheet.page(record)), record)


def test_a_rendered_person_has_the_landmarks_where_everybody_has_them():
    """The nostrils, dark and just above the base of the nose, come to lie in the same rows."""
    faces = [crowd_sheet.fields_of(person)[: 96 * 84].reshape(96, 84) for person in range(6)]
    darkest = [45 + face[45:56, 34:50].min(axis=1).argmin() for face in faces]
    assert np.ptp(darkest) <= 3


@pytest.fixture(scope="module")
def few_galleries():
    """Two galleries of six rendered people, who are asked about in another light; one face is not found."""
    faces = make_relit_faces(6, lights=[(0, 0), (10, 10), (30, 0)], size=(64, 56))
    people = np.repeat(np.arange(6), 3)
    enrolled, probes = np.stack([3 * np.arange(6), 3 * np.arange(6) + 1]), 3 * np.arange(6) + 2
    found = np.arange(18) != 17
    return engine.Galleries(list(map(found_face, faces.images)), found, people, enrolled, probes, np.arange(6) < 3)


@pytest.mark.parametrize("variant", list(engine.variants()), ids=lambda variant: variant.title)
def test_every_variant_of_the_engine_is_judged(variant, few_galleries, monkeypatch):
    """Discriminants that would be measured for minutes keep the first numbers of a patch."""

    def first_numbers(view):
        raw = FaceView(view, None)
        return np.broadcast_to(np.eye(raw.n_numbers, view.numbers), (raw.n_patches, raw.n_numbers, view.numbers))

    monkeypatch.setattr(engine, "measured", first_numbers)
    judged = engine.judge(variant, few_galleries)
    # The face that is not found is a mistake in both galleries.
    assert {half: figures["rank-1"] for half, figures in judged.items()} == pytest.approx(
        {"all": 100 * 5 / 6, "chosen": 100, "held out": 100 * 2 / 3}
    )
    assert judged["chosen"]["found"] == 100


def test_the_table_of_the_engine_has_a_line_for_each_variant():
    rows = [
        {"variant": variant, "set": "ORL", "people": people, "rank-1": 97.25, "found": 50.0}
        for variant in ("robust", "fast")
        for people in ("all", "chosen", "held out")
    ]
    head, _, first, second = engine.as_markdown(rows).splitlines()
    assert head == "| rank 1 / found at 1 % of strangers | ORL, chosen | ORL, held out |"
    assert (first, second) == ("| robust | 97.2 / 50.0 | 97.2 / 50.0 |", "| fast | 97.2 / 50.0 | 97.2 / 50.0 |")


@pytest.mark.data
def test_our_own_rows_find_faces_in_good_light(photos_extra, yale):
    frontal = yale.take(np.flatnonzero((yale.azimuths == 0) & (yale.elevations == 0))[:3])
    looks = list(LOOKS)
    for line in detectors.measure(frontal, [np.zeros((50, 50), np.uint8)], detectors.DETECTORS[:6]):
        assert line[2] == "100.0"
        assert float(line[4]) < 20
        assert line[-1] == "0 of 1"
    assert list(LOOKS) == looks


@pytest.fixture
def one_process(monkeypatch):
    """Ask the first photos in a process of their own, as the benchmark does, and the others here: it is faster."""
    own = scale.in_own_process
    calls = []

    def ask(module, place, folder, **arrays):
        calls.append(module)
        if len(calls) == 1:
            return own(module, place, folder, **arrays)
        return json.loads(json.dumps(scale.ask(place, arrays["images"])))

    monkeypatch.setattr(scale, "in_own_process", ask)
    return calls


def test_the_growth_of_a_gallery_is_measured_against_the_exhaustive_search(tmp_path, one_process):
    size = scale.Size(tmp_path, 70, 5, Crowd(seed=0), "fast")
    size.make()
    size.ask()
    size.ask_others(faiss=False)
    assert one_process == ["benchmarks.scale"] * 4
    for light in scale.LIGHTS:
        size.hold_against_exhaustive(light, 5, jobs=1)
    size.change()
    row = size.row
    found = row["5 to 50"]
    assert (row["people"], found["people"], found["asked"]) == (70, 70, 5)
    assert (found["same"], found["same_answer"], found["same_score"], found["others"]) == (5, 5, True, [])
    assert found["bounds_find_the_same"]
    assert found["times_faster"] == pytest.approx(found["exhaustive_ms"] / found["p50_ms"])
    assert row["50 to 90"]["asked"] == 1
    assert row["change"]["found_at_once"]
    assert row["change"]["never_named_again"]
    assert row["change"]["bytes_left"] == 0
    assert row["strangers"]["asked"] == 5
    assert 0 < row["strangers"]["p50_ms"] <= row["strangers"]["p99_ms"]
    assert len(list(tmp_path.glob("crowd-*.npz"))) == len(scale.LIGHTS)  # what the searches with bounds found
    assert len(scale.table([row]).lines) == 2
    assert scale.drawn([row]).startswith(b"\x89PNG")


def test_answers_that_differ_from_those_of_the_exhaustive_search_are_counted():
    row = {"names": ["a", "b", "c"], "scores": [1.0, 0.4, 0.1], "one_in": [1e6, 1e4, 2.0], "p50_ms": 10.0}
    told = exhaustive.Told(["a", "x", "y"], np.array([1.0, 0.5, 0.1]), np.array([1e6, 1e5, 3.0]), 0.5)
    full = exhaustive.Told(["a"], np.array([0.9]), np.array([1e6]), 2.0)
    found = scale.compare(row, told, full, ["a", "b", "c"])
    assert (found["same"], found["same_answer"], found["exhaustive_right"]) == (1, 2, 1)
    assert (found["times_faster"], found["bounds_find_the_same"]) == (200, False)
    assert [other["exhaustive_one_in"] for other in found["others"]] == [1e5, 3.0]


@pytest.fixture(scope="module")
def some_people(tmp_path_factory):
    place = str(tmp_path_factory.mktemp("people") / "some.gallery")
    make_gallery(place, 90, preset="fast")
    return place


def test_readers_are_timed_from_one_to_as_many_as_there_are(some_people):
    rows = readers.measure(some_people, turns=1)
    assert [row["readers"] for row in rows] == [1, 2, 4]
    assert all(0 < row[key] < 10_000 for row in rows for key in ("from_disk_ms", "ms"))


def test_no_score_exceeds_its_bound():
    matcher, crowd = Matcher(preset_settings("fast")), Crowd(seed=3)
    people = matcher.template_set(dict(enumerate(matcher.templates(crowd.faces(np.arange(70))))))
    hard, blank = crowd.probes(np.arange(4), turn=5).images, np.zeros((1, 96, 84), np.uint8)
    blank[0, 40:50, 30:50] = 200
    asked = matcher.probes(np.concatenate([crowd.faces(np.arange(3)), hard, blank]))
    said, most = (
        matcher.score_probes(asked, people).people,
        bounds.bounds(bounds.reach_of(asked, matcher), bounds.laid_wide(people)),
    )
    assert most.shape == said.shape
    assert (most >= said).all()
    # It tells strangers from friends, too: no bound of a stranger is as good as what is said for the right person.
    right = said[np.arange(3), np.arange(3)]
    assert (np.sort(most[:3], axis=1)[:, -2] < right).all()


@pytest.fixture(scope="module")
def full_search(some_people):
    """Photos, and what a search in two processes without bounds finds."""
    images = Crowd(seed=0).probes(np.arange(10, 21), turn=1).images
    return images, exhaustive.search(some_people, images)


@pytest.mark.parametrize("guess", [0, 60])
def test_an_exhaustive_search_with_bounds_finds_the_same_whatever_the_guess(some_people, full_search, guess):
    images, full = full_search
    told = exhaustive.search(some_people, images, jobs=1, guesses=[crowd_name(guess)] * len(images))
    assert told.names == full.names
    assert told.scores.tolist() == full.scores.tolist()
    assert told.one_in.tolist() == full.one_in.tolist()
    assert full.names[0] == crowd_name(10)


def test_what_an_exhaustive_search_found_is_kept_for_the_next_one_whatever_its_guess(
    some_people, tmp_path, monkeypatch
):
    images = Crowd().probes([3, 17]).images
    first = exhaustive.search(some_people, images, jobs=1, keep=tmp_path, guesses=[crowd_name(3)] * 2)

    def refuse(*_):
        raise AssertionError("somebody is compared once more")

    monkeypatch.setattr(exhaustive, "_left", refuse)
    again = exhaustive.search(some_people, images, jobs=1, keep=tmp_path, guesses=[crowd_name(8)] * 2)
    assert (again.names, again.scores.tolist()) == (first.names, first.scores.tolist())
    with pytest.raises(AssertionError, match="once more"):
        exhaustive.search(some_people, images[::-1], jobs=1, keep=tmp_path, guesses=[crowd_name(3)] * 2)


def test_an_exhaustive_search_that_was_stopped_goes_on_where_it_was(some_people, tmp_path, monkeypatch):
    images = Crowd().probes([3, 17]).images
    monkeypatch.setattr(exhaustive, "PEOPLE", 8)
    others = {crowd_name(5), crowd_name(12)}
    whole = exhaustive.best_of(some_people, images, range(1, 21), None, others, None)
    read, kept = exhaustive._read, tmp_path / "kept.npz"

    def tired(gallery, view, numbers):
        if numbers.start > 8 and not tired.rested:
            raise KeyboardInterrupt
        assert numbers.start > 8 or not kept.exists()
        return read(gallery, view, numbers)

    monkeypatch.setattr(exhaustive, "_read", tired)
    tired.rested = False
    with pytest.raises(KeyboardInterrupt):
        exhaustive.best_of(some_people, images, range(1, 21), kept, others, None)
    tired.rested = True
    again = exhaustive.best_of(some_people, images, range(1, 21), kept, others, None)
    assert again.best.names == whole.best.names
    assert again.best.evidence.tolist() == whole.best.evidence.tolist()
    assert again.best.distances.tolist() == whole.best.distances.tolist()
