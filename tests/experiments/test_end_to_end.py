"""Nothing is told about the eyes; a face that is not found is a mistake, and nobody is compared with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.datasets import FaceSet, load_lfw, load_orl, make_relit_faces
from lightproof.datasets.protocols import CHOSEN_ON_FIRST, pose_test, yale_test_2
from lightproof.datasets.yale_b import YALE_EYES
from lightproof.errors import MissingExtra
from lightproof.estimators.baselines import pixel_neighbor
from lightproof.estimators.recognizer import FaceRecognizer
from lightproof.experiments import end_to_end
from lightproof.experiments.accuracies import AccuracyRow, lines_of, rows_of
from lightproof.experiments.cache import Cache, digest_of_faces
from lightproof.experiments.end_to_end import FRAME, Search, eye_errors, find_again, search_table, set_into_frame
from lightproof.experiments.measure import measure, take_pictures
from lightproof.experiments.methods import METHODS, Method
from lightproof.experiments.plan import CHOSEN_ON_ODD, YALE_EVERY_LIGHT, Experiment, plan_end_to_end
from lightproof.experiments.runner import facts_of, run_all
from lightproof.imaging.detection import FACE_SIZE, Face, align_by_eyes
from lightproof.imaging.detection.face_networks import DETECTOR
from tests.scenes import compose, pupils_of, seat

pytestmark = pytest.mark.slow

LIGHTS = [(0, 0), (-5, 10), (20, 10), (50, 0), (85, 20), (110, 40)]
"""Two of the training set, and one of each subset."""

NOISE = 9
"""Place of the second person's photo of subset 2."""

PIXELS = Method("pixels", "raw pixels", "extra", pixel_neighbor)


@pytest.fixture(scope="module")
def crops():
    """Three people; one of the probes shows nobody at all."""
    faces = make_relit_faces(3, LIGHTS)
    images = faces.images.copy()
    images[NOISE] = np.random.default_rng(0).integers(0, 256, images.shape[1:])
    return replace(faces, images=images)


@pytest.fixture(scope="module")
def search(photos_extra, crops):
    return find_again(crops)


@pytest.fixture
def pretended(crops):
    """What a detector might have found, without any: the crops as they are, all found but one."""
    found = np.arange(len(crops)) != NOISE
    return replace(crops, found=found)


# ------------------------------------------------------------------------------------------------------------- finding


def test_every_face_is_found_and_noise_is_not(search):
    assert np.flatnonzero(~search.faces.found).tolist() == [NOISE]
    assert [look == "" for look in search.looks] == (~search.faces.found).tolist()


def test_the_eyes_are_found_where_they_are_in_the_crop(search):
    """Measured: 3 % of the eye distance at worst."""
    pupils = np.repeat([pupils_of(i) for i in range(3)], len(LIGHTS), axis=0)
    off = np.abs(search.eyes - pupils).mean(axis=1) / np.abs(pupils[:, 1] - pupils[:, 0])
    assert np.isnan(search.eyes[NOISE]).all()
    assert np.nanmax(off) < 0.05
    assert np.nanmedian(off) < 0.025


def test_faces_are_cut_anew_by_the_eyes_that_were_found(search, crops):
    for i in np.flatnonzero(search.faces.found):
        eyes = [(eye.real, eye.imag) for eye in search.eyes[i]]
        assert_array_equal(search.faces.images[i], align_by_eyes(crops.images[i], *eyes))
    assert not search.faces.images[NOISE].any()
    assert_array_equal(search.faces.labels, crops.labels)
    assert search.faces.files == crops.files


def test_two_processes_find_what_one_finds(search, crops):
    some = np.array([0, 3, NOISE, 14])
    seen = []
    again = find_again(crops.take(some), jobs=2, progress=lambda pieces, total: seen.append(total) or pieces)
    assert seen == [4]
    assert_array_equal(again.eyes, search.eyes[some])
    assert_array_equal(again.faces.images, search.faces.images[some])
    assert_array_equal(again.faces.found, search.faces.found[some])


def test_without_the_extra_it_is_said_before_anything_is_looked_at(no_extra, crops, monkeypatch):
    monkeypatch.setattr(end_to_end, "find_weights", end_to_end.find_weights.__wrapped__)
    with pytest.raises(MissingExtra, match=r"pip install 'lightproof\[photos\]'\.$"):
        find_again(crops, progress=lambda pieces, total: pytest.fail("looked"))


@pytest.mark.parametrize("shape", [(192, 168), (191, 169), (320, 320), (64, 56)])
def test_the_crop_lies_in_the_middle_of_a_black_frame(rng, shape):
    crop = rng.integers(1, 256, shape).astype(np.uint8)
    frame, corner = set_into_frame(crop)
    assert frame.shape == (FRAME, FRAME) == (320, 320)
    left, top = int(corner.real), int(corner.imag)
    assert_array_equal(frame[top : top + shape[0], left : left + shape[1]], crop)
    assert np.count_nonzero(frame) == crop.size
    assert abs(FRAME - shape[1] - 2 * left) <= 1
    assert abs(FRAME - shape[0] - 2 * top) <= 1


def pretend_to_find(monkeypatch, *eyes):
    """Let the detector find faces with these eyes in every frame."""
    faces = [Face(right, left, 1.0, "gamma") for right, left in eyes]
    monkeypatch.setattr(end_to_end, "find_faces", lambda frame: faces)
    monkeypatch.setattr(end_to_end, "find_weights", lambda: None)


@pytest.mark.parametrize(
    "outside",
    [
        ((70.0, 110.0), (170.0, 110.0)),  # the crop reaches from 76 to 243 and from 64 to 255
        ((110.0, 110.0), (243.5, 110.0)),
        ((110.0, 110.0), (250.0, 110.0)),
        ((110.0, 60.0), (200.0, 70.0)),
        ((110.0, 255.4), (200.0, 250.0)),
    ],
)
def test_a_face_with_an_eye_outside_of_the_crop_is_a_trick_of_the_frame(crops, monkeypatch, outside):
    inside = ((110.0, 110.0), (206.0, 112.0))
    one = crops.take(np.array([0]))
    pretend_to_find(monkeypatch, outside)
    assert not find_again(one).faces.found.any()
    pretend_to_find(monkeypatch, outside, inside)
    assert_allclose(find_again(one).eyes, [[34 + 46j, 130 + 48j]])


@pytest.fixture(scope="module")
def snapshots():
    """Photos as in LFW: one person in the middle; the same beside a larger face; nobody."""
    sitter, other = seat(2)
    alone = compose(sitter, (250, 250), eye_distance=45, middle=125 + 115j)
    both = compose(other, eye_distance=60, middle=50 + 60j, before=alone)
    nobody = np.full((250, 250), 90, np.uint8)
    images = np.stack([alone.photo, both.photo, nobody])
    unknown = np.full(3, np.nan)
    labels, files = np.array(["Ada", "Ada", "Ben"]), ("Ada_0001.jpg", "Ada_0002.jpg", "Ben_0001.jpg")
    return FaceSet("lfw", images, labels, unknown, unknown, files), np.array(alone.eyes[0])


def test_in_a_photo_the_face_nearest_the_middle_counts(photos_extra, snapshots):
    photos, eyes = snapshots
    search = find_again(photos)
    assert search.faces.found.tolist() == [True, True, False]
    assert np.abs(search.eyes[:2] - eyes).max() < 0.08 * abs(eyes[1] - eyes[0])
    assert search.faces.images.shape == (3, *FACE_SIZE)
    assert not search.faces.images[2].any()
    for photo, pair, face in zip(photos.images[:2], search.eyes, search.faces.images, strict=False):
        assert_array_equal(face, align_by_eyes(photo, *((eye.real, eye.imag) for eye in pair)))


def test_faces_of_orl_and_of_lfw_are_found(photos_extra, orl_data, lfw_data):
    """All of the first three people of ORL, and of every 25th photo of LFW all but one; most lie in the middle."""
    orl, lfw = load_orl(orl_data), load_lfw(lfw_data)
    assert find_again(orl.take(np.arange(30))).faces.found.all()
    search = find_again(lfw.take(np.arange(0, len(lfw), 25)))
    assert search.faces.found.mean() > 0.98
    between = search.eyes[search.faces.found].mean(axis=1)
    assert (np.abs(between - (125 + 115j)) < 25).mean() > 0.95


def test_probes_are_grouped_by_the_turn_that_the_mesh_measures(photos_extra):
    """The first of a person's four photos looks into the camera, the next are turned by 4, 17 and 38 degrees."""
    people = make_relit_faces(2, [(0, 0)], (96, 84), yaw=(0, 4, -17, 38), surround=0.5)
    search = find_again(replace(people, name="orl"))
    assert search.faces.found.all()
    probes = pose_test(search.yaws).split(search.faces).probes
    assert {subset: photos.tolist() for subset, photos in probes.items()} == {1: [1, 5], 2: [2, 6], 3: [3, 7]}


def test_the_yaw_is_unknown_where_no_face_is_found(photos_extra, snapshots):
    assert np.isnan(find_again(snapshots[0].take(np.array([2]))).yaws).all()


def test_without_lights_the_table_parts_the_people_on_whom_settings_were_chosen(monkeypatch):
    monkeypatch.setitem(CHOSEN_ON_FIRST, "lfw", 1)
    nowhere = complex(np.nan, np.nan)
    done = search_of(["Ada", "Ben", "Ben"], [(30 + 40j, 90 + 40j), (nowhere, nowhere), (30 + 40j, 90 + 40j)], "lfw")
    table = search_table(replace(done, faces=replace(done.faces, azimuths=np.full(3, np.nan))))
    assert table.head == ["photos", "number", "found, %", "found in the look"]
    assert table.lines == [
        ["people chosen on", "1", "100.00", "gamma 1"],
        ["people held out", "2", "50.00", "gamma 1"],
        ["all", "3", "66.67", "gamma 2"],
    ]


# --------------------------------------------------------------------------------------------------------- eye errors


def search_of(labels, eyes, name="yale"):
    """A search on Extended Yale B with these eyes, all found but where they are NaN."""
    eyes = np.array(eyes, complex)
    faces = make_relit_faces(1, [(0, 0), (-5, 10), (85, 20)][: len(labels)], size=(16, 16))
    there = np.isfinite(eyes[:, 0])
    faces = replace(faces, name=name, labels=np.array(labels), found=there)
    return Search(faces, eyes, tuple("gamma" if found else "" for found in there), np.full(len(there), np.nan))


def test_eye_errors_are_percent_of_the_eye_distance_from_the_persons_own_eyes():
    assert YALE_EYES["yaleB06"] == (35, 47, 132, 47)
    assert YALE_EYES["yaleB32"] == (39, 47, 131, 48)
    nowhere = complex(np.nan, np.nan)
    right_off, exact = (35 + 9.7 + 47j, 132 + 47j), (39 + 47j, 131 + 48j)
    errors = eye_errors(search_of(["yaleB06", "yaleB32", "yaleB06"], [right_off, exact, (nowhere, nowhere)]))
    assert_allclose(errors, [5, 0, np.nan])  # 9.7 of 97 pixels, mean with the other eye's 0


def test_where_nobody_marked_the_eyes_there_is_no_error(search):
    assert eye_errors(search) is None


def test_the_table_says_by_light_how_many_were_found_how_well_and_in_which_look():
    nowhere = complex(np.nan, np.nan)
    off = (35 + 9.7 + 47j, 132 + 47j)
    table = search_table(search_of(["yaleB06"] * 3, [off, (nowhere, nowhere), off]))
    assert table.head == ["photos", "number", "found, %", "eyes off: median", "95 % within", "found in the look"]
    assert table.lines == [
        ["training set", "2", "50.00", "5.0", "5.0", "gamma 1"],
        ["subset 3", "1", "100.00", "5.0", "5.0", "gamma 1"],
        ["all", "3", "66.67", "5.0", "5.0", "gamma 2"],
    ]


def test_a_light_in_which_nothing_was_found_has_no_error():
    nowhere = complex(np.nan, np.nan)
    table = search_table(search_of(["yaleB06"], [(nowhere, nowhere)]))
    assert table.lines == [[name, "1", "0.00", "", "", ""] for name in ("training set", "all")]


def test_every_person_of_extended_yale_b_has_eyes_about_where_the_crop_puts_them():
    assert list(YALE_EYES) == [f"yaleB{i:02d}" for i in range(1, 40) if i != 14]
    eyes = np.array(list(YALE_EYES.values()))
    assert (np.abs(eyes - [34.8, 45.6, 132.2, 45.6]) < 16).all()
    assert ((eyes[:, 2] - eyes[:, 0] >= 88) & (eyes[:, 2] - eyes[:, 0] <= 103)).all()
    assert_allclose(np.median(eyes, axis=0), [34.8, 45.6, 132.2, 45.6], atol=3)


# ------------------------------------------------------------------------------------------------------------- judging


class Witness:
    """Names everybody as the first who was enrolled, and remembers what it was shown."""

    def __init__(self):
        self.shown = []

    def fit(self, X, y):
        self.shown.append(X)
        self.names = y
        return self

    def predict(self, X):
        self.shown.append(X)
        return np.repeat(self.names[:1], len(X))


def test_a_face_that_is_not_found_is_a_mistake_and_never_shown_to_the_estimator(pretended):
    marked = np.arange(len(pretended), dtype=float)[:, None, None] * np.ones((1, 4, 4))
    split, witness = yale_test_2(0).split(pretended), Witness()
    outcome = measure(witness, marked, pretended.labels, [split], pretended.found)
    shown = np.concatenate(witness.shown)[:, 0, 0].astype(int).tolist()
    assert sorted(shown) == sorted(
        set(range(len(pretended))) - {NOISE} - {1, 7, 13}
    )  # those neither enrolled nor asked
    asked = {
        photo: hit for s, photos in split.probes.items() for photo, hit in zip(photos, outcome.hits[0][s], strict=True)
    }
    # The witness names all as the first person, who has the first six photos.
    assert asked == {photo: photo < 6 for photo in asked}
    assert not asked[NOISE]


def test_even_who_would_name_it_rightly_does_not_get_the_point(pretended):
    """Everything else being the same, the one that was not found is the one that is lost."""
    split = yale_test_2(0).split(pretended)

    class Knowing(Witness):
        def predict(self, X):
            return pretended.labels[X[:, 0, 0].astype(int)]

    marked = np.arange(len(pretended), dtype=float)[:, None, None] * np.ones((1, 4, 4))
    outcome = measure(Knowing(), marked, pretended.labels, [split], pretended.found)
    hits = np.concatenate([outcome.hits[0][s] for s in split.probes])
    photos = np.concatenate(list(split.probes.values()))
    assert photos[~hits].tolist() == [NOISE]
    assert measure(Knowing(), marked, pretended.labels, [split]).hits[0][2].all()


def test_somebody_whose_photo_was_not_found_is_not_enrolled(pretended):
    split = yale_test_2(0).split(pretended)
    lost = split.gallery[1]
    found = np.arange(len(pretended)) != lost
    pictures = take_pictures(pretended.images, (64, 56), "float", "full", "found")
    outcome = measure(FaceRecognizer("fast"), pictures, pretended.labels, [split], found)
    for subset, photos in split.probes.items():
        theirs = pretended.labels[photos] == pretended.labels[lost]
        assert not outcome.hits[0][subset][theirs].any()


def test_a_subset_in_which_nothing_was_found_is_all_mistakes(pretended):
    split = yale_test_2(0).split(pretended)
    found = np.ones(len(pretended), bool)
    found[split.probes[4]] = False
    pictures = take_pictures(pretended.images, (64, 56), "float", "full", "found")
    outcome = measure(FaceRecognizer("fast"), pictures, pretended.labels, [split], found)
    assert not outcome.hits[0][4].any()
    assert outcome.hits[0][1].all()


def test_crops_that_were_found_are_taken_as_they_are(pretended):
    found, by_hand = (take_pictures(pretended.images, (24, 24), "float", "full", a) for a in ("found", "by hand"))
    assert_array_equal(found, by_hand)


# ---------------------------------------------------------------------------------------------------------------- rows


def test_people_are_named_end_to_end_and_the_rows_say_how(search, tmp_path):
    plan = plan_end_to_end("rendered", [METHODS["fast"]])
    (result,) = run_all(plan, search.faces, Cache(tmp_path))
    rows = {row.subset: row for row in rows_of(result)}
    assert {subset: row.accuracy for subset, row in rows.items()} == pytest.approx(
        {1: 100, 2: 100 * 2 / 3, 3: 100, 4: 100, "all": 100 * 11 / 12}
    )
    for row in rows.values():
        said = row.as_dict()
        assert (said["alignment"], said["detector"], said["table"]) == ("found", DETECTOR, "end to end")
        assert row.gallery == "found, mean of 11"
        assert AccuracyRow(**said) == row


def test_every_method_bears_a_black_picture_where_nothing_was_found(search, tmp_path):
    """Features are made of all pictures at once; warnings are errors here."""
    classical = [method for method in METHODS.values() if method.kind != "network"]
    plan = [replace(e, protocols=e.protocols[:1]) for e in plan_end_to_end("rendered", classical)]
    for result in run_all(plan, search.faces, Cache(tmp_path)):
        split = result.splits[0]
        place = split.probes[2].tolist().index(NOISE)
        assert not result.measurement.hits[0][2][place], result.experiment.method.name


def test_a_row_of_a_file_that_says_nothing_of_a_detector_had_none(crops, tmp_path):
    plan = [Experiment("rendered", "main", PIXELS, [yale_test_2(0)], "some")]
    (row, *_) = rows_of(run_all(plan, crops, Cache(tmp_path))[0])
    assert (row.detector, row.alignment) == ("", "by hand")
    old = row.as_dict()
    del old["detector"]
    assert AccuracyRow(**old) == row


def test_found_and_by_hand_are_two_lines_and_two_pieces_of_work(search, crops, tmp_path):
    kept, asked = Cache(tmp_path), []
    by_hand = Experiment("rendered", "main", PIXELS, [yale_test_2(0)], "some")
    found = replace(by_hand, alignment="found", detector=DETECTOR)
    results = []
    for experiment, faces in ((by_hand, crops), (found, search.faces), (found, search.faces)):
        results += run_all([experiment], faces, kept, progress=lambda p, total: asked.append(total) or p)
    assert asked == [1, 1, 0]
    lines = lines_of(row for result in results[:2] for row in rows_of(result))
    assert [line.whole.alignment for line in lines] == ["by hand", "found"]


def test_what_was_found_is_among_the_facts_that_decide_a_figure(pretended):
    everything = replace(pretended, found=np.ones(len(pretended), bool))
    assert digest_of_faces(pretended) != digest_of_faces(everything)
    split = [yale_test_2(0).split(pretended)]
    by_hand = Experiment("rendered", "main", PIXELS, [yale_test_2(0)], "some")
    facts = [facts_of(replace(by_hand, alignment=alignment), "data", split) for alignment in ("by hand", "found")]
    assert facts[0] != facts[1]


def test_whether_a_face_was_found_stays_with_its_photo(pretended):
    assert pretended.take(np.array([NOISE, 0])).found.tolist() == [False, True]
    assert replace(pretended, found=np.zeros(0, bool)).found.all()


def test_the_plan_asks_as_test_2_does_and_on_yale_of_both_halves_too():
    methods = [METHODS["rcdt"], METHODS["robust"], METHODS["fast"]]
    rendered, yale = (plan_end_to_end(dataset, methods) for dataset in ("rendered", "yale"))
    assert [(e.method, e.table) for e in rendered] == [(method, "end to end") for method in methods]
    assert [e.table for e in yale[:3]] == ["end to end"] * 3
    halves = [(e.table, e.method.preset) for e in yale[3:]]
    assert halves == [
        (f"end to end, {who}", preset) for preset in CHOSEN_ON_ODD for who in ("held-out people", "people chosen on")
    ]
    for e in (*rendered, *yale):
        assert (e.test, e.alignment, e.detector, e.crop, dict(e.published)) == (
            "Test 2",
            "found",
            DETECTOR,
            "full",
            {},
        )
        assert len(e.protocols) == 11
    assert all(e.protocols == YALE_EVERY_LIGHT for e in (*rendered, *yale[:3]))
    assert len({(e.method.title, e.gallery) for e in yale}) == len(yale)
