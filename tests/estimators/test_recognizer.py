from __future__ import annotations

import datetime
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from benchmarks import textbook
from lightproof import PRESETS, FaceRecognizer, Gallery
from lightproof.errors import (
    BadImage,
    BadLabels,
    BadParameter,
    MissingExtra,
    NoFace,
    UnknownPerson,
    UserError,
)
from lightproof.estimators import subspace_model
from lightproof.estimators.sklearn_contract import NotFitted
from lightproof.imaging.detection import read_portrait
from lightproof.method import subspace_bank
from lightproof.method.presets import ENGINES
from tests.bounded import BOUNDED
from tests.scenes import as_photo, clutter, compose, seat


def same_answers(first, second, X):
    assert_array_equal(first.classes_, second.classes_)
    assert_array_equal(first.distances(X), second.distances(X))


@pytest.mark.parametrize(
    "settings",
    [
        *({"preset": preset} for preset in PRESETS),
        *(settings | {"light": "log"} for settings in ({"preset": "authors"}, {"preset": "paper"}, BOUNDED)),
    ],
)
def test_hard_light_is_named_from_one_photo(faces, frontal, settings):
    one = frontal.take(frontal.azimuths == 0)
    side = faces.take(faces.azimuths == 50)
    assert FaceRecognizer(**settings).fit(one.images, one.labels).score(side.images, side.labels) == 1.0


@pytest.mark.parametrize("preset", ENGINES)
def test_what_galleries_share_cannot_be_changed_alone(frontal, preset):
    expected = rf"^`light` of FaceRecognizer must be None with preset='{preset}', whose settings belong together"
    with pytest.raises(BadParameter, match=expected):
        FaceRecognizer(preset, light="log").fit(frontal.images, frontal.labels)


@pytest.mark.parametrize("preset", ENGINES)
def test_a_recognizer_and_a_gallery_name_the_same_person(frontal, lit, tmp_path, preset):
    """One engine: the nearest person of the closed set is the best candidate of the open one."""
    one = frontal.azimuths == 0
    recognizer = FaceRecognizer(preset).fit(frontal.images[one], frontal.labels[one])
    with Gallery.open(tmp_path / "people.gallery", preset=preset) as gallery:
        for image, name in zip(frontal.images[one], frontal.labels[one], strict=True):
            gallery.enroll(str(name), [image])
        best = [gallery.identify(image).candidates[0].name for image in lit.images]
    assert recognizer.predict(lit.images).tolist() == best


@pytest.mark.usefixtures("photos_extra")
def test_a_recognizer_tells_who_has_a_mesh(frontal):
    recognizer = FaceRecognizer("fast").fit([*frontal.images[:1], np.eye(64)], ["face", "no face"])
    assert recognizer.with_mesh_ == {"face": True, "no face": False}
    assert not any(FaceRecognizer("paper").fit(frontal.images, frontal.labels).with_mesh_.values())


@pytest.mark.slow
def test_batched_distances_equal_the_textbook_loop(faces, frontal, lit):
    recognizer = FaceRecognizer("authors", size="as-is", dtype="float64").fit(frontal.images, frontal.labels)
    photos = {
        person: [textbook.features(image / 255.0) for image in frontal.images[frontal.labels == person]]
        for person in np.unique(frontal.labels)
    }
    bases = textbook.fit(photos)
    # The gallery itself is among the probes: there the distances are 0, where rounding is worst.
    probes = np.concatenate([lit.images[:6], frontal.images[:3]])
    found = recognizer.patch_distances(probes)
    for i, image in enumerate(probes):
        vectors = textbook.features(image / 255.0)
        assert_allclose(found[i], textbook.patch_distances(vectors, bases), rtol=1e-10, atol=1e-10)
        assert recognizer.predict(probes[[i]])[0] == textbook.identify(vectors, bases)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "rtol"),
    [
        ({"preset": "authors"}, 1e-4),
        ({"preset": "paper"}, 1e-4),
        (BOUNDED | {"storage": "float"}, 1e-4),
        # A direction that lies between two whole numbers may be rounded to either: an error of 1 in 127 there.
        (BOUNDED, 2e-3),
    ],
)
def test_float32_answers_like_float64(frontal, lit, settings, rtol):
    fine, coarse = (
        FaceRecognizer(dtype=dtype, **settings).fit(frontal.images, frontal.labels) for dtype in ("float64", "float32")
    )
    assert coarse.distances(lit.images).dtype == np.float32
    assert fine.distances(lit.images).dtype == np.float64
    assert_allclose(coarse.distances(lit.images), fine.distances(lit.images), rtol=rtol)
    assert_array_equal(coarse.predict(lit.images), fine.predict(lit.images))


@pytest.mark.parametrize(
    ("preset", "patches"), [("robust", 16 * 14), ("fast", 16 * 14), ("authors", 21 * 21), ("paper", 21 * 21)]
)
def test_shapes_are_images_by_patches_by_people(frontal, lit, preset, patches):
    recognizer = FaceRecognizer(preset).fit(frontal.images, frontal.labels)
    assert recognizer.distances(lit.images).shape == (len(lit), 5)
    assert recognizer.patch_distances(lit.images).shape == (len(lit), patches, 5)
    assert recognizer.patch_contributions(lit.images).shape == (len(lit), patches, 5)
    assert recognizer.similarity(lit.images).shape == (len(lit), 5)


@pytest.mark.parametrize("preset", PRESETS)
def test_patch_contributions_add_up_to_the_distances(frontal, lit, preset):
    recognizer = FaceRecognizer(preset).fit(frontal.images, frontal.labels)
    total = recognizer.patch_contributions(lit.images).sum(axis=1)
    assert_allclose(total, recognizer.distances(lit.images), rtol=1e-4)


def test_sum_and_normalized_sum_are_those_of_the_equations(frontal, lit):
    plain = FaceRecognizer("authors", aggregate="sum", dtype="float64").fit(frontal.images, frontal.labels)
    normalized = FaceRecognizer("authors", aggregate="normalized", dtype="float64").fit(frontal.images, frontal.labels)
    d = plain.patch_distances(lit.images)
    assert_allclose(plain.distances(lit.images), d.sum(axis=1), rtol=1e-10)
    expected = (d / np.linalg.norm(d + 1e-5, axis=2, keepdims=True)).sum(axis=1)
    assert_allclose(normalized.distances(lit.images), expected, rtol=1e-10)


def test_similarity_ranks_like_the_distance_and_is_highest_for_the_answer(frontal, lit):
    recognizer = FaceRecognizer().fit(frontal.images, frontal.labels)
    similarity, distances = recognizer.similarity(lit.images), recognizer.distances(lit.images)
    assert_array_equal(similarity.argsort(axis=1)[:, ::-1], distances.argsort(axis=1))
    assert (similarity <= 1).all()
    assert_allclose(similarity[0, 0], 1 - distances[0, 0] / distances[0, 1:].mean(), rtol=1e-5)


def test_similarity_to_the_only_person_is_0(frontal):
    alone = frontal.take(frontal.labels == "person-00")
    assert not FaceRecognizer().fit(alone.images, alone.labels).similarity(frontal.images).any()


def test_fitting_twice_equals_fitting_once(faces, frontal, lit):
    once = FaceRecognizer().fit(frontal.images, frontal.labels)
    twice = FaceRecognizer().fit(faces.images[:9], faces.labels[:9]).fit(frontal.images, frontal.labels)
    same_answers(once, twice, lit.images)


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides",
    [
        *({"preset": preset} for preset in PRESETS),
        {"preset": "authors", "span": "kept"},
        {"preset": "authors", "components": 3},
        {"preset": "authors", "components": 0.8},
        BOUNDED,
        BOUNDED | {"components": 2},
        BOUNDED | {"storage": "float"},
        BOUNDED | {"storage": "float", "components": 0.8},
        BOUNDED | {"deformations": "all", "copies": "square"},
    ],
)
def test_enrolling_one_by_one_equals_fitting_all(frontal, lit, overrides):
    together = FaceRecognizer(**overrides).fit(frontal.images, frontal.labels)
    step_by_step = FaceRecognizer(**overrides)
    for person in ["person-03", "person-00", "person-04", "person-01", "person-02"]:
        assert step_by_step.enroll(person, frontal.images[frontal.labels == person]) is step_by_step
    same_answers(together, step_by_step, lit.images)


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides",
    [
        *({"preset": preset} for preset in PRESETS),
        {"preset": "authors", "span": "kept"},
        {"preset": "authors", "components": 0.8},
        BOUNDED | {"storage": "float", "components": 0.8},
    ],
)
def test_forgetting_equals_never_having_met(frontal, lit, overrides):
    others = frontal.take(frontal.labels != "person-02")
    without = FaceRecognizer(**overrides).fit(others.images, others.labels)
    forgot = FaceRecognizer(**overrides).fit(frontal.images, frontal.labels).forget("person-02")
    same_answers(without, forgot, lit.images)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"preset": "authors"},
        {"preset": "paper"},
        BOUNDED | {"storage": "float"},
    ],
)
def test_enrolling_more_photos_of_a_person_equals_fitting_all_of_them(frontal, lit, settings):
    """Where all directions are kept; ``storage="int8"`` keeps the first few, and photos added later meet those."""
    together = FaceRecognizer(dtype="float64", **settings).fit(frontal.images, frontal.labels)
    first = frontal.azimuths == 0
    later = FaceRecognizer(dtype="float64", **settings).fit(frontal.images[first], frontal.labels[first])
    for person in np.unique(frontal.labels):
        later.enroll(person, frontal.images[~first & (frontal.labels == person)])
    assert_allclose(later.distances(lit.images), together.distances(lit.images), rtol=1e-9)


def test_a_failed_enroll_changes_nothing(frontal, lit):
    recognizer = FaceRecognizer().fit(frontal.images, frontal.labels)
    before = recognizer.distances(lit.images)
    spoiled = np.full((1, 64, 56), np.nan)
    with pytest.raises(BadImage, match="finite"):
        recognizer.enroll("person-00", spoiled)
    with pytest.raises(BadImage, match="finite"):
        recognizer.fit(spoiled, ["x"])
    assert_array_equal(recognizer.distances(lit.images), before)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        [3, 1, 2, 10, 7],
        [0.5, 1.5, -2.0, 3.0, 9.0],
        ["é", "b", "a", "", "日本"],
        [(1, "a"), (0, "b"), (2, "c"), (3, "d"), (4, "e")],
        [datetime.date(2026, 1, day) for day in (5, 4, 3, 2, 1)],
        ["one", 2, None, (4,), 5.0],
        [True, False, 2, 3, 4],
    ],
)
def test_labels_may_be_of_any_type(frontal, lit, names):
    known = np.unique(frontal.labels).tolist()
    y = [names[known.index(label)] for label in frontal.labels]
    truth = [names[known.index(label)] for label in lit.labels]
    recognizer = FaceRecognizer().fit(frontal.images, y)
    easy = np.flatnonzero(lit.azimuths == 20)
    assert recognizer.predict(lit.images[easy]).tolist() == [truth[i] for i in easy]
    assert recognizer.score(lit.images[easy], [truth[i] for i in easy]) == 1.0
    assert recognizer.score(lit.images[easy], [truth[i] for i in easy[::-1]]) < 1.0
    recognizer.forget(names[0])
    assert names[0] not in recognizer.predict(lit.images).tolist()


def test_classes_are_sorted_and_of_their_own_dtype(frontal):
    recognizer = FaceRecognizer().fit(frontal.images[:4], ["b", "b", "a", "a"])
    assert recognizer.classes_.tolist() == ["a", "b"]
    assert recognizer.classes_.dtype.kind == "U"
    assert FaceRecognizer().fit(frontal.images[:4], [2, 2, 1, 1]).classes_.dtype.kind == "i"


def test_images_of_different_sizes_come_as_a_list(frontal, lit):
    cropped = [image[: 60 + i % 4, : 52 + i % 5] for i, image in enumerate(frontal.images)]
    recognizer = FaceRecognizer().fit(cropped, frontal.labels)
    assert recognizer.predict([lit.images[0], lit.images[1][:, :50]]).shape == (2,)


@pytest.mark.slow
def test_integer_and_float_pixels_are_the_same_picture(frontal, lit):
    recognizer = FaceRecognizer(**BOUNDED, dtype="float64").fit(frontal.images, frontal.labels)
    wide = lit.images.astype(np.uint16) * 257
    for same in (lit.images / 255.0, wide):
        assert_allclose(recognizer.distances(same), recognizer.distances(lit.images), rtol=1e-9)


def test_params_clone_and_grid_search_work(frontal):
    recognizer = FaceRecognizer("paper", cell=8, light="log")
    assert clone(recognizer).get_params() == recognizer.get_params()
    assert recognizer.get_params()["cell"] == 8
    grid = {"cell": [4, 8], "preset": ["authors", "paper"]}
    search = GridSearchCV(FaceRecognizer("paper", size=(32, 32)), grid, cv=2)
    search.fit(frontal.images, frontal.labels)
    assert search.best_score_ == 1.0
    assert cross_val_score(FaceRecognizer(), list(frontal.images), frontal.labels, cv=2).mean() == 1.0


def test_an_override_beats_the_preset_and_the_rest_comes_from_it():
    settings = FaceRecognizer("paper", cell=8).settings()
    assert settings == PRESETS["paper"] | {"cell": 8}


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides",
    [
        {"preset": "authors", "components": np.float32(0.5), "span": "kept"},
        {"preset": "authors", "components": np.float64(0.5)},
        {"preset": "authors", "components": np.int64(3)},
        BOUNDED | {"components": np.int64(2), "detail": np.int32(4)},
        BOUNDED | {"components": np.float32(0.5), "storage": "float"},
        BOUNDED | {"cell": np.int64(8), "random_state": np.int64(1), "size": (np.int32(32), 32)},
    ],
)
def test_numpy_scalars_are_plain_numbers(frontal, lit, tmp_path, overrides):
    ordinary = {name: np.array(value).tolist() for name, value in overrides.items()}
    given, expected = (FaceRecognizer(**o).fit(frontal.images, frontal.labels) for o in (overrides, ordinary))
    same_answers(given, expected, lit.images)
    given.save(tmp_path / "people")
    same_answers(FaceRecognizer.load(tmp_path / "people"), expected, lit.images)


def test_settings_changed_after_fit_wait_for_the_next_fit(frontal, lit):
    recognizer = FaceRecognizer("paper").fit(frontal.images, frontal.labels)
    before = recognizer.distances(lit.images)
    assert_array_equal(recognizer.set_params(cell=8, light="log").distances(lit.images), before)


@pytest.mark.slow
def test_parallel_grid_search_gives_the_same_scores(frontal):
    searches = [
        GridSearchCV(FaceRecognizer("paper", size=(32, 32)), {"cell": [4, 8]}, cv=2, n_jobs=n).fit(
            frontal.images, frontal.labels
        )
        for n in (1, 2)
    ]
    assert_array_equal(searches[0].cv_results_["mean_test_score"], searches[1].cv_results_["mean_test_score"])


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "n_probes"), [("fast", 400), ("authors", 3000)])
def test_identifying_many_faces_holds_no_more_than_a_block_of_them(rng, preset, n_probes):
    """All patch distances of these probes would take 200 MB, all features 100 MB or more."""
    strangers = rng.integers(0, 256, (38, 64, 64)).astype(np.uint8)
    recognizer = FaceRecognizer(preset).fit(strangers, list(range(38)))
    probes = np.resize(strangers, (n_probes, 64, 64))
    tracemalloc.start()
    named = recognizer.predict(probes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_array_equal(named, np.arange(n_probes) % 38)
    assert peak < 64 * 2**20


@pytest.mark.parametrize("grey", [0, 200])
def test_a_blank_picture_is_nobody_and_is_refused(frontal, grey):
    recognizer = FaceRecognizer().fit(frontal.images, frontal.labels)
    blank = np.stack([frontal.images[0], np.full_like(frontal.images[0], grey)])
    expected = rf"^X\[1\] must be a picture of something; got one even grey, every pixel {grey}\.$"
    for ask in (recognizer.predict, lambda X: recognizer.enroll("x", X), lambda X: recognizer.fit(X, ["a", "b"])):
        with pytest.raises(BadImage, match=expected):
            ask(blank)


@pytest.mark.parametrize("images", [None, 7, (image for image in [])])
@pytest.mark.parametrize("fitted", [True, False])
def test_enrolling_something_else_than_images_is_refused(frontal, images, fitted):
    recognizer = FaceRecognizer()
    if fitted:
        recognizer.fit(frontal.images, frontal.labels)
    with pytest.raises(BadImage, match=r"^X must be a stack of grey images .*; got a "):
        recognizer.enroll("Ann", images)


def test_strange_labels_come_back_as_they_were(frontal):
    for names in ([2**63, -1], ["a\0", "a"], [True, 1.5]):
        recognizer = FaceRecognizer().fit(frontal.images[[0, 2]], names)
        assert sorted(recognizer.predict(frontal.images[[0, 2]]).tolist()) == sorted(names)
        assert recognizer.score(frontal.images[[0, 2]], names) == 1.0


@pytest.mark.parametrize("settings", [{"preset": "authors"}, {"preset": "paper"}, BOUNDED])
def test_memory_stays_bounded_by_blocks(frontal, lit, monkeypatch, settings):
    """Never more patch distances at once than one block has."""
    recognizer = FaceRecognizer(**settings).fit(frontal.images, frontal.labels)
    seen = []
    true_residuals = subspace_bank.residuals

    def counted(vectors, bases):
        seen.append(len(vectors))
        return true_residuals(vectors, bases)

    # The relative distances are made of the residuals, too.
    for module in (subspace_bank, subspace_model):
        monkeypatch.setattr(module, "residuals", counted)
    recognizer.predict(np.resize(lit.images, (100, 64, 56)))
    assert sum(seen) == 100
    assert max(seen) <= subspace_model.PROBES_PER_BLOCK < 100


@pytest.mark.parametrize("method", ["predict", "distances", "patch_distances", "patch_contributions", "similarity"])
def test_asking_before_fit_is_refused(lit, method):
    expected = rf"^FaceRecognizer\.{method} must come after fit or enroll; got no fit or enroll\.$"
    with pytest.raises(NotFitted, match=expected):
        getattr(FaceRecognizer(), method)(lit.images)
    assert issubclass(NotFitted, NotFittedError)


def test_asking_after_everybody_is_forgotten_is_refused(frontal):
    alone = frontal.take(frontal.labels == "person-00")
    recognizer = FaceRecognizer().fit(alone.images, alone.labels).forget("person-00")
    assert len(recognizer.classes_) == 0
    with pytest.raises(NotFitted, match="predict must come after fit or enroll"):
        recognizer.predict(alone.images)
    assert recognizer.enroll("person-00", alone.images).predict(alone.images).tolist() == ["person-00"] * 2


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"], r"^y must be one label for each of the 10 images; got 2 labels\.$"),
        (["a"] * 11, r"^y must be one label for each of the 10 images; got 11 labels\.$"),
        ("abc", r"^y must be a list of labels, one for each of the 10 images; got 'abc'\.$"),
        (None, r"^y must be a list of labels, one for each of the 10 images; got None\.$"),
        ([["a"]] * 10, r"^y\[0\] must be hashable, such as a str or an int; got a list\.$"),
        (np.zeros((10, 2)), r"^y must be a list of labels, one for each of the 10 images; got shape \(10, 2\)\.$"),
        ([float("nan")] * 10, r"^y\[0\] must be a label that equals itself, not NaN; got nan\.$"),
    ],
)
def test_labels_that_do_not_match_get_one_sentence(frontal, y, message):
    with pytest.raises(BadLabels, match=message):
        FaceRecognizer().fit(frontal.images, y)


def test_a_label_with_no_image_is_refused(frontal):
    recognizer = FaceRecognizer().fit(frontal.images, frontal.labels)
    with pytest.raises(BadLabels, match=r"^Label 'Ann' must be enrolled with at least one image; got none\.$"):
        recognizer.enroll("Ann", [])


def test_forgetting_a_stranger_is_refused(frontal):
    recognizer = FaceRecognizer().fit(frontal.images, frontal.labels)
    expected = r"^`label` must be one of the 5 enrolled people \('person-00', .*'person-04'\); got 'Ann'\.$"
    with pytest.raises(UnknownPerson, match=expected):
        recognizer.forget("Ann")


def test_another_size_at_predict_is_refused_when_sizes_are_kept(frontal, lit):
    recognizer = FaceRecognizer("paper", size="as-is").fit(frontal.images, frontal.labels)
    expected = r"^X\[0\] must be of the size seen in fit, 64 x 56, because size='as-is'; got 60 x 56\.$"
    with pytest.raises(BadImage, match=expected):
        recognizer.predict(lit.images[:, :60])


@pytest.mark.parametrize(("preset", "cell"), [("robust", 6), ("fast", 6), ("authors", 4), ("paper", 4)])
def test_an_image_smaller_than_a_cell_is_refused(frontal, preset, cell):
    expected = rf"^X\[0\] must be at least {cell} x {cell} pixels for cell={cell}; got {cell - 1} x 56\.$"
    with pytest.raises(BadImage, match=expected):
        FaceRecognizer(preset).fit(frontal.images[:, : cell - 1], frontal.labels)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"preset": "best"},
            r"^`preset` of FaceRecognizer must be one of 'robust', 'fast', 'authors', 'paper'; got 'best'\.$",
        ),
        ({"components": 0}, r"^`components` of FaceRecognizer must be a share in .* or 'validate'; got 0\.$"),
        ({"components": 1.5}, r"^`components` of FaceRecognizer must be a share in .* or 'validate'; got 1\.5\.$"),
        (
            {"aggregate": "mean"},
            r"^`aggregate` of FaceRecognizer must be one of 'sum', 'normalized', 'bounded'; got 'mean'\.$",
        ),
        (
            {"deformations": "twist"},
            r"^`deformations` of FaceRecognizer must be one of 'none', 'rotation', 'stretch', 'shear', 'all'; "
            r"got 'twist'\.$",
        ),
        ({"weights": "even"}, r"^`weights` of FaceRecognizer must be one of 'equal', 'length'; got 'even'\.$"),
        ({"span": "wide"}, r"^`span` of FaceRecognizer must be one of 'kept', 'joint'; got 'wide'\.$"),
        (BOUNDED | {"size": (2, 9)}, r"^`size` of FaceRecognizer must be at least 6 x 6 for cell=6; got \(2, 9\)\.$"),
        (
            {"preset": "authors", "size": (2, 9)},
            r"^`size` of FaceRecognizer must be at least 4 x 4 for cell=4; got \(2, 9\)\.$",
        ),
        ({"random_state": None}, r"^`random_state` of FaceRecognizer must be an int of 0 or more; got None\.$"),
        (BOUNDED | {"overlap": 6}, r"^`overlap` of FaceRecognizer must be an int from 0 to cell - 1 = 5; got 6\.$"),
        (
            {"preset": "authors", "overlap": 4},
            r"^`overlap` of FaceRecognizer must be an int from 0 to cell - 1 = 3; got 4\.$",
        ),
    ],
)
def test_bad_settings_get_one_sentence(frontal, params, message):
    with pytest.raises(BadParameter, match=message):
        FaceRecognizer(**params).fit(frontal.images, frontal.labels)


def test_every_error_is_a_user_error_and_a_value_error(frontal):
    with pytest.raises(UserError):
        FaceRecognizer().fit([], [])
    with pytest.raises(ValueError, match="at least one image"):
        FaceRecognizer().fit([], [])


# -------------------------------------------------------------------------------------------------------------- files


def png(picture):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def crops(frontal, tmp_path):
    """The frontal faces as files that are faces already."""
    for i, image in enumerate(frontal.images):
        (tmp_path / f"{i}.png").write_bytes(png(image))
    return [str(tmp_path / f"{i}.png") for i in range(len(frontal))]


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """Photographs of three people in two lights, and of a wall."""
    folder = tmp_path_factory.mktemp("photos")
    for i, sitter in enumerate(seat(3, (0.0, 50.0))):
        for azimuth in (0.0, 50.0):
            scene = compose(sitter, roll=10 * i - 10, azimuth=azimuth, seed=i)
            (folder / f"{i}-{azimuth:.0f}.png").write_bytes(png(scene.photo))
    (folder / "wall.png").write_bytes(png(as_photo(clutter(160, 200, 0))))
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_people_are_named_on_photographs_from_one_photograph_each(photos):
    enrolled, asked = ([str(photos / f"{i}-{azimuth}.png") for i in range(3)] for azimuth in (0, 50))
    recognizer = FaceRecognizer().fit(enrolled, ["Ann", "Bob", "Cy"])
    assert recognizer.predict(asked).tolist() == ["Ann", "Bob", "Cy"]
    assert recognizer.score(asked, ["Ann", "Bob", "Cy"]) == 1.0


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_a_photograph_is_the_face_that_is_found_in_it(photos):
    files = [photos / f"{i}-0.png" for i in range(3)]
    faces = [read_portrait(file).aligned for file in files]
    by_files = FaceRecognizer("fast").fit(files, [1, 2, 3])
    by_faces = FaceRecognizer("fast").fit(faces, [1, 2, 3])
    same_answers(by_files, by_faces, faces)
    probes = [photos / "1-50.png", photos.joinpath("2-50.png").read_bytes(), str(photos / "0-50.png")]
    found = [read_portrait(probe).aligned for probe in probes]
    for ask in ("predict", "distances", "patch_distances", "patch_contributions", "similarity"):
        assert_array_equal(getattr(by_files, ask)(probes), getattr(by_faces, ask)(found))


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_a_photograph_without_a_face_is_refused_by_name_and_nothing_changes(photos, frontal, lit):
    wall, expected = (
        photos / "wall.png",
        r"wall\.png must be a photo of a face with at least 20 pixels between the eyes; ",
    )
    recognizer = FaceRecognizer("fast").fit(frontal.images, frontal.labels)
    before = recognizer.distances(lit.images)
    for ask in (
        recognizer.predict,
        recognizer.distances,
        lambda X: recognizer.enroll("Ann", X),
        lambda X: recognizer.fit(X, ["Ann", "Bob"]),
        lambda X: FaceRecognizer().enroll("Ann", X),
    ):
        with pytest.raises(NoFace, match=expected):
            ask([photos / "0-0.png", wall])
    assert_array_equal(recognizer.distances(lit.images), before)
    assert "Ann" not in recognizer.classes_


def test_without_the_extra_photographs_are_refused_in_one_sentence(no_extra, photos):
    with pytest.raises(MissingExtra, match=r"^To find faces in photographs .* pip install 'lightproof\[photos\]'\.$"):
        FaceRecognizer().fit([photos / "0-0.png"], ["Ann"])


@pytest.mark.parametrize(
    "given",
    [
        lambda files: files,
        lambda files: [Path(file) for file in files],
        lambda files: tuple(files),
        lambda files: np.array(files),
        lambda files: np.array(files, dtype=object),
        lambda files: [Path(file).read_bytes() for file in files],
    ],
    ids=["strings", "paths", "tuple", "array of strings", "array of objects", "bytes"],
)
def test_files_that_are_faces_already_are_what_is_in_them(no_extra, frontal, lit, crops, given):
    by_files = FaceRecognizer("fast", cropped=True).fit(given(crops), frontal.labels)
    by_faces = FaceRecognizer("fast").fit(frontal.images, frontal.labels)
    same_answers(by_files, by_faces, lit.images)
    assert_array_equal(by_files.distances(given(crops)), by_faces.distances(frontal.images))


def test_arrays_and_files_may_stand_in_one_list(no_extra, frontal, crops):
    recognizer = FaceRecognizer("fast", cropped=True).fit(frontal.images, frontal.labels)
    mixed = [frontal.images[0], crops[1], frontal.images[2], Path(crops[3]).read_bytes()]
    assert_array_equal(recognizer.distances(mixed), recognizer.distances(frontal.images[:4]))


def test_a_person_is_enrolled_with_files(no_extra, frontal, lit, crops):
    by_files, by_faces = FaceRecognizer("fast", cropped=True), FaceRecognizer("fast")
    for i, label in enumerate(frontal.labels):
        by_files.enroll(str(label), [crops[i]])
        by_faces.enroll(str(label), frontal.images[[i]])
    same_answers(by_files, by_faces, lit.images)


@pytest.mark.parametrize(("file", "kind"), [("0.png", "str"), (Path("0.png"), r"\w*Path"), (b"0", "bytes")])
def test_one_file_that_is_in_no_list_is_refused(frontal, file, kind):
    recognizer = FaceRecognizer("fast", cropped=True).fit(frontal.images, frontal.labels)
    expected = rf"^X must be a list of pictures, even of one: \['photo\.jpg'\]; got a {kind}\.$"
    for ask in (recognizer.predict, lambda X: recognizer.fit(X, ["Ann"]), lambda X: recognizer.enroll("Ann", X)):
        with pytest.raises(BadImage, match=expected):
            ask(file)


def test_a_file_that_is_no_picture_or_not_there_is_refused_by_name(frontal, crops, tmp_path):
    recognizer = FaceRecognizer("fast", cropped=True).fit(frontal.images, frontal.labels)
    (tmp_path / "notes.png").write_text("no picture")
    for name in ("notes.png", "none.png"):
        with pytest.raises(BadImage, match=rf"^{tmp_path / name} must be "):
            recognizer.predict([crops[0], tmp_path / name])
    with pytest.raises(BadImage, match=r"^X\[1\] must be "):
        recognizer.predict([crops[0], b"no picture"])


def test_whether_files_are_cropped_is_a_parameter_like_the_others(frontal, crops):
    recognizer = FaceRecognizer("fast", cropped=True)
    assert recognizer.get_params()["cropped"] is True
    assert clone(recognizer).get_params() == recognizer.get_params()
    assert clone(recognizer.set_params(cropped=False)).cropped is False
    assert FaceRecognizer().get_params()["cropped"] is False
    scores = cross_val_score(FaceRecognizer("fast", cropped=True), crops, frontal.labels, cv=2)
    assert scores.mean() == 1.0


@pytest.mark.parametrize("cropped", [True, False])
def test_a_saved_recognizer_knows_whether_files_are_cropped(frontal, crops, tmp_path, cropped):
    recognizer = FaceRecognizer("fast", cropped=cropped).fit(frontal.images, frontal.labels)
    recognizer.save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    assert loaded.cropped is cropped
    assert loaded.get_params() == recognizer.get_params()
    if cropped:
        same_answers(loaded, recognizer, crops)


@pytest.mark.parametrize("cropped", ["no", None, 1])
def test_cropped_is_true_or_false(frontal, cropped):
    expected = rf"^`cropped` of FaceRecognizer must be True or False; got {cropped!r}\.$"
    with pytest.raises(BadParameter, match=expected):
        FaceRecognizer(cropped=cropped).fit(frontal.images, frontal.labels)
