"""What the presets promise: room, answers, and settings that go together."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof import PRESETS, FaceRecognizer, PatchRCDT
from lightproof.errors import BadParameter
from lightproof.matching.template_codec import encode_template
from lightproof.method.deformations import DEFORMATIONS
from lightproof.method.gradients import GRADIENTS
from lightproof.method.presets import ENGINES, PAPER_PRESETS
from lightproof.method.rcdt import SPANNED_DEFORMATIONS, TANGENT_SIZE
from lightproof.method.subspace_bank import length_weights
from lightproof.method.subspaces import SharedSpan, span_photos
from lightproof.method.transform import cosines, discrete_rcdt, flatten
from tests.bounded import BOUNDED
from tests.matching.pictures import crop_with_mesh, found

SMALL = BOUNDED | {"size": (72, 63), "cell": 4, "overlap": 1, "n_angles": 3, "detail": 3, "components": 2}
COMPACT = {"bounded": BOUNDED, "small": SMALL}
"""Settings of the paper's estimator that keep people in whole numbers."""

SETTINGS = {preset: {"preset": preset} for preset in ENGINES} | COMPACT
"""All that keep people in whole numbers: the engine, and the paper's estimator."""

PAPER_SETTINGS = {preset: {"preset": preset} for preset in PAPER_PRESETS} | COMPACT

KIB = 1024

ENGINE_ROOM = {
    ("robust", crop_with_mesh): (100, 42),
    ("robust", found): (85, 30),
    ("fast", crop_with_mesh): (40, 17.5),
    ("fast", found): (33, 11),
}
"""KiB that a person of one photo takes, in memory and on disk. A face that was found in a photo has a view less."""

COMPACT_ROOM = {"bounded": (118, 65), "small": (22, 12.5)}

ROOM_OF_A_LIGHT = dict.fromkeys(COMPACT, 0) | dict.fromkeys(ENGINES, 16)
"""Bytes of the direction of the light on a photo."""


@pytest.fixture(scope="module")
def one_photo(frontal):
    return frontal.take(frontal.azimuths == 0)


@pytest.fixture(scope="module")
def fitted(one_photo):
    return {name: FaceRecognizer(**given).fit(one_photo.images, one_photo.labels) for name, given in SETTINGS.items()}


@pytest.fixture(scope="module", params=ENGINE_ROOM, ids=lambda asked: f"{asked[0]}-{asked[1].__name__}")
def crowd(request, faces):
    """As many people as are compared side by side, so that no place is left empty; and their limits."""
    preset, kind = request.param
    pictures = [kind(image) for image in np.resize(faces.images, (64, *faces.images.shape[1:]))]
    return FaceRecognizer(preset).fit(pictures, list(range(64))), *ENGINE_ROOM[request.param]


@pytest.fixture(scope="module")
def awry(lit):
    """Return probes that were moved by a few pixels, so that some are far from everybody."""
    return np.roll(lit.images, (2, -3), axis=(1, 2))


def same_answers(first, second, X):
    assert_array_equal(first.classes_, second.classes_)
    assert_array_equal(first.patch_distances(X), second.patch_distances(X))
    assert_array_equal(first.distances(X), second.distances(X))


def arrays_in(kept):
    """Find every array that is kept, by its id; a part of an array keeps the whole."""
    if isinstance(kept, np.ndarray):
        return arrays_in(kept.base) if isinstance(kept.base, np.ndarray) else {id(kept): kept}
    if is_dataclass(kept):
        kept = vars(kept)  # with whatever was worked out once
    parts = kept.values() if isinstance(kept, dict) else kept if isinstance(kept, list | tuple) else ()
    return {name: array for part in parts for name, array in arrays_in(part).items()}


def room(kept):
    return sum(array.nbytes for array in arrays_in(kept).values())


def room_in_memory(recognizer, X):
    """KiB of a person after the first answers, when whatever is worked out once is there."""
    recognizer.similarity(X)
    recognizer.patch_contributions(X)
    model = recognizer._model
    people = [getattr(model, each.name) for each in fields(model) if each.name not in ("matcher", "extractor")]
    return room(people) / len(model.labels) / KIB


def room_where_compared(recognizer, X):
    """Bytes of what answers come from, after the first answer; the engine keeps a template of each photo beside it."""
    recognizer.similarity(X)
    return room(recognizer._model.people)


def room_on_disk(recognizer, folder):
    """KiB of a person in a file."""
    recognizer.save(folder / "people")
    return (folder / "people").stat().st_size / len(recognizer.classes_) / KIB


def test_robust_is_the_default(one_photo):
    robust = PRESETS["robust"].as_dict()
    assert FaceRecognizer().settings() == robust != PRESETS["fast"].as_dict()
    assert FaceRecognizer().fit(one_photo.images, one_photo.labels).settings_ == robust


def test_a_preset_of_the_paper_is_read_like_a_dict_and_cannot_be_changed():
    paper = PRESETS["paper"]
    assert dict(paper) == paper == asdict(paper)
    assert paper["size"] == paper.size == (64, 64)
    assert paper | {"cell": 8} == {**paper, "cell": 8} != paper
    assert paper.get("placed_detail") is None
    assert FaceRecognizer("authors", **paper).settings() == FaceRecognizer("paper").settings() == paper
    with pytest.raises(FrozenInstanceError):
        paper.cell = 8


@pytest.mark.parametrize("preset", ENGINES)
def test_a_preset_of_the_engine_cannot_be_changed(preset):
    settings = ENGINES[preset]
    assert FaceRecognizer(preset).settings() == asdict(settings)
    with pytest.raises(FrozenInstanceError):
        settings.warps = not settings.warps
    with pytest.raises(FrozenInstanceError):
        settings.views[0].numbers = 1
    # A dict of the settings is a copy.
    FaceRecognizer(preset).settings()["views"][0]["numbers"] = 1
    assert FaceRecognizer(preset).settings() == asdict(settings)


def test_presets_set_the_same_settings():
    assert {*ENGINES, *PAPER_PRESETS} == set(PRESETS)
    for alike in (PAPER_PRESETS.values(), [engine.as_dict() for engine in ENGINES.values()]):
        assert len({frozenset(settings) for settings in alike}) == 1
    assert set(PRESETS["paper"]) | {"preset", "cropped", "random_state"} == set(FaceRecognizer().get_params())


def test_a_person_of_the_engine_takes_no_more_room_than_allowed(crowd, lit, tmp_path):
    recognizer, most_in_memory, most_on_disk = crowd
    on_disk = room_on_disk(recognizer, tmp_path)
    # In memory is at least what a file needs to hold: else some of it was not counted.
    assert on_disk < room_in_memory(recognizer, lit.images[:2]) <= most_in_memory
    assert on_disk <= most_on_disk


@pytest.mark.parametrize("name", COMPACT)
def test_a_compact_person_takes_no_more_room_than_allowed(fitted, lit, tmp_path, name):
    most_in_memory, most_on_disk = COMPACT_ROOM[name]
    on_disk = room_on_disk(fitted[name], tmp_path)
    assert on_disk < room_in_memory(fitted[name], lit.images[:2]) <= most_in_memory
    assert on_disk <= most_on_disk


@pytest.mark.parametrize("name", SETTINGS)
def test_more_photos_of_a_person_take_no_more_room_where_they_are_compared(fitted, frontal, lit, name):
    """But for the directions of their light, of which the engine keeps two numbers a photo."""
    many = FaceRecognizer(**SETTINGS[name]).fit(frontal.images, frontal.labels)
    new = len(many.classes_)
    assert len(frontal) == 2 * new
    most = room_where_compared(fitted[name], lit.images[:1]) + new * ROOM_OF_A_LIGHT[name]
    assert 0 < room_where_compared(many, lit.images[:1]) <= most


@pytest.mark.parametrize("name", SETTINGS)
def test_photos_added_again_and_again_take_no_more_room_where_they_are_compared(fitted, one_photo, lit, name):
    recognizer = FaceRecognizer(**SETTINGS[name]).fit(one_photo.images, one_photo.labels)
    rooms = []
    for _ in range(3):
        recognizer.enroll(lit.labels[0], lit.images[:2])
        rooms.append(room_where_compared(recognizer, lit.images[:1]))
    people = recognizer._model.people
    # What was made together with others lies in one array with them, and stays there when it is replaced.
    replaced = room((people.spans if name in COMPACT else people.templates)[lit.labels[0]])
    most = room_where_compared(fitted[name], lit.images[:1]) + replaced + 2 * ROOM_OF_A_LIGHT[name]
    assert rooms[0] <= most
    assert rooms[2] <= rooms[0] + 4 * ROOM_OF_A_LIGHT[name]


@pytest.mark.parametrize("preset", ENGINES)
def test_a_further_photo_adds_its_template_to_a_file_of_the_engine(fitted, one_photo, lit, tmp_path, preset):
    """Its template and the length of that: what is joined of several photos is made again when the file is read."""
    recognizer, path = FaceRecognizer(preset).fit(one_photo.images, one_photo.labels), tmp_path / "people"
    recognizer.save(path)
    before = path.stat().st_size
    recognizer.enroll(lit.labels[0], lit.images[:2]).save(path)
    templates = recognizer._model.photos[lit.labels[0]][1:]
    assert path.stat().st_size - before == sum(len(encode_template(template)) + 8 for template in templates) > 2 * KIB


@pytest.mark.parametrize(("name", "share"), [("bounded", 0.2), ("small", 0.12)])
def test_whole_numbers_take_a_fraction_of_the_room_of_floats(fitted, one_photo, lit, name, share):
    floats = FaceRecognizer(**COMPACT[name] | {"storage": "float"}).fit(one_photo.images, one_photo.labels)
    in_floats, in_numbers = (room_in_memory(each, lit.images[:2]) for each in (floats, fitted[name]))
    assert in_numbers < share * in_floats


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPACT)
def test_whole_numbers_answer_like_floats(fitted, one_photo, lit, awry, name):
    probes = np.concatenate([lit.images, awry])
    floats = FaceRecognizer(**COMPACT[name] | {"storage": "float"}).fit(one_photo.images, one_photo.labels)
    assert np.mean(floats.predict(probes) == fitted[name].predict(probes)) >= 0.95
    off = np.abs(fitted[name].distances(probes) / floats.distances(probes) - 1)
    assert 0 < np.median(off) < 5e-4
    assert off.max() < 5e-3


@pytest.mark.parametrize("name", SETTINGS)
def test_compact_people_are_named_in_hard_light(fitted, lit, name):
    assert fitted[name].score(lit.images, lit.labels) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("preset", ENGINES)
def test_photos_enrolled_one_by_one_are_those_fitted_at_once(frontal, awry, preset):
    """To the last bit; in whole numbers the paper's estimator keeps too little of earlier photos for that."""
    at_once, one_by_one = FaceRecognizer(preset).fit(frontal.images, frontal.labels), FaceRecognizer(preset)
    for turn in (0, 1):
        for i in reversed(range(turn, len(frontal), 2)):
            one_by_one.enroll(frontal.labels[i], frontal.images[i : i + 1])
    same_answers(one_by_one, at_once, awry[::6])


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_photos_added_after_a_file_meet_the_same_people(frontal, lit, awry, tmp_path, name):
    stayed = FaceRecognizer(**SETTINGS[name]).fit(frontal.images, frontal.labels)
    stayed.save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    for recognizer in (stayed, loaded):
        recognizer.enroll(lit.labels[0], lit.images[:1]).enroll("new", lit.images[-1:])
    same_answers(loaded, stayed, awry[::6])


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_forgetting_restores_compact_people_exactly(fitted, one_photo, lit, awry, name):
    recognizer = FaceRecognizer(**SETTINGS[name]).fit(one_photo.images, one_photo.labels)
    recognizer.enroll("guest", lit.images[:2]).forget("guest")
    same_answers(recognizer, fitted[name], awry[::6])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_photo_added_to_compact_people_brings_its_like_nearer_and_nobody_else(fitted, one_photo, lit, name):
    label, photo = lit.labels[0], lit.images[:1]
    before = fitted[name].distances(photo)[0]
    both = FaceRecognizer(**SETTINGS[name]).fit(one_photo.images, one_photo.labels).enroll(label, photo)
    after = both.distances(photo)[0]
    mine = both.classes_ == label
    assert after[mine] < 0.7 * before[mine]
    assert_array_equal(after[~mine], before[~mine])
    # And the first photo counts as before.
    first = one_photo.images[one_photo.labels == label]
    new_alone = FaceRecognizer(**SETTINGS[name]).fit(photo, [label])
    assert both.distances(first)[0, mine] < 0.7 * new_alone.distances(first)[0]


@pytest.mark.parametrize("preset", ENGINES)
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for settings in (PRESETS["paper"], BOUNDED) for name, value in settings.items() if name != "preset"],
)
def test_no_setting_of_the_engine_can_be_changed_alone(one_photo, preset, name, value):
    """Even to a value that the paper's estimator takes."""
    expected = (
        rf"^`{name}` of FaceRecognizer must be None with preset='{preset}', whose settings belong together "
        r"\(preset='paper' takes it\); got .*\.$"
    )
    recognizer = FaceRecognizer(preset, **{name: value})
    with pytest.raises(BadParameter, match=expected):
        recognizer.fit(one_photo.images, one_photo.labels)
    with pytest.raises(BadParameter, match=expected):
        recognizer.settings()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            BOUNDED | {"components": 0.9},
            r"^`storage` of FaceRecognizer must be 'float' unless detail and components are ints and span is 'kept'; "
            r"got 'int8'\.$",
        ),
        (
            BOUNDED | {"components": "validate"},
            r"^`storage` of FaceRecognizer must be 'float' unless .*; got 'int8'\.$",
        ),
        (BOUNDED | {"span": "joint"}, r"^`storage` of FaceRecognizer must be 'float' unless .*; got 'int8'\.$"),
        (BOUNDED | {"detail": "all"}, r"^`storage` of FaceRecognizer must be 'float' unless .*; got 'int8'\.$"),
        (
            BOUNDED | {"detail": 36},
            r"^`detail` of FaceRecognizer must be an int from 1 to cell \* cell - 1 = 35, or 'all'; got 36\.$",
        ),
        (
            BOUNDED | {"cell": 2, "overlap": 1},
            r"^`detail` of FaceRecognizer must be an int from 1 to cell \* cell - 1 = 3, or 'all'; got 5\.$",
        ),
        ({"preset": "authors", "storage": "int8"}, r"^`storage` of FaceRecognizer must be 'float' unless "),
        ({"preset": "paper", "storage": "int8", "components": 3}, r"^`storage` of FaceRecognizer must be 'float' "),
    ],
)
def test_settings_that_do_not_go_together_get_one_sentence(one_photo, params, message):
    with pytest.raises(BadParameter, match=message):
        FaceRecognizer(**params).fit(one_photo.images, one_photo.labels)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"detail": 0}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got 0\.$"),
        ({"detail": "some"}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got 'some'\.$"),
        ({"detail": 2.0}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got 2\.0\.$"),
        ({"detail": True}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got True\.$"),
        ({"copies": "ring"}, r"^`copies` of FaceRecognizer must be one of 'none', 'cross', 'square'.*; got 'ring'\.$"),
        ({"storage": "int4"}, r"^`storage` of FaceRecognizer must be one of 'float', 'int8'; got 'int4'\.$"),
    ],
)
def test_settings_outside_their_values_get_one_sentence_under_any_preset(one_photo, preset, params, message):
    with pytest.raises(BadParameter, match=message):
        FaceRecognizer(preset, **params).fit(one_photo.images, one_photo.labels)


def test_features_alone_refuse_more_cosines_than_points(one_photo):
    expected = r"^`detail` of PatchRCDT must be an int from 1 to cell \* cell - 1 = 15, or 'all'; got 16\.$"
    with pytest.raises(BadParameter, match=expected):
        PatchRCDT(detail=16).fit(one_photo.images)
    assert PatchRCDT(detail=15).fit_transform(one_photo.images).shape == (len(one_photo), 441 * 4 * 15)


@pytest.mark.parametrize("preset", ENGINES)
def test_an_engine_takes_numpy_scalars_and_saves_them(fitted, one_photo, lit, tmp_path, preset):
    """The paper's estimator does so, too: tests/estimators/test_recognizer.py."""
    recognizer = FaceRecognizer(np.str_(preset), cropped=np.bool_(False), random_state=np.int64(0))
    recognizer.fit(one_photo.images, one_photo.labels).save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    assert loaded.get_params() == fitted[preset].get_params()
    assert {type(value) for value in loaded.get_params().values()} == {str, bool, int, type(None)}
    for each in (recognizer, loaded):
        same_answers(each, fitted[preset], lit.images[:2])


@pytest.mark.slow
@pytest.mark.parametrize(
    "params",
    [
        BOUNDED | {"detail": "all", "storage": "float"},
        BOUNDED | {"storage": "float", "components": 0.9},
        BOUNDED | {"storage": "float", "span": "joint"},
        BOUNDED | {"aggregate": "sum"},
        {"preset": "authors", "aggregate": "bounded"},
        {"preset": "paper", "detail": 4, "components": 3, "storage": "int8"},
    ],
)
def test_settings_that_go_together_name_faces(one_photo, lit, params):
    assert FaceRecognizer(**params).fit(one_photo.images, one_photo.labels).score(lit.images, lit.labels) >= 0.8


# What a patch counts.

NOTHING_SHARED = SharedSpan.of(np.zeros((0, 6)))


def spans_of_lengths(lengths, shared=NOTHING_SHARED):
    """Return one photo whose vectors have these lengths, all in one direction."""
    samples = np.zeros((len(lengths), 1, 6))
    samples[:, 0, 2] = lengths
    return span_photos(samples, shared)


def uneven_samples(seed, n_people, n_patches, n_photos):
    rng = np.random.default_rng(seed)
    lengths = rng.lognormal(0, 2, (n_people, n_patches, 1, 1))
    return lengths * rng.normal(size=(n_people, n_patches, n_photos, 6))


some_people = st.builds(
    uneven_samples, st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 30), st.integers(1, 4)
)
somebody = some_people.map(lambda people: people[0])


def test_the_weights_of_lengths_are_those_of_the_formula():
    """Lengths 1, 2, 4 with the median 2: l / (l + 2) is 1/3, 1/2, 2/3, and their mean is 1/2."""
    assert_allclose(length_weights([spans_of_lengths([1.0, 2.0, 4.0])])[:, 0], [2 / 3, 1, 4 / 3], rtol=1e-6)


@given(some_people)
def test_the_mean_weight_of_a_persons_patches_is_1(people):
    found = length_weights([span_photos(samples, NOTHING_SHARED) for samples in people])
    assert found.shape == people.shape[1::-1]
    assert found.dtype == np.float32
    assert (found > 0).all()
    assert_allclose(found.mean(axis=0), 1, rtol=1e-5)


@given(somebody)
def test_longer_patches_count_more(samples):
    length = np.linalg.norm(samples, axis=(1, 2))
    found = length_weights([span_photos(samples, NOTHING_SHARED)])[:, 0]
    in_order = found[np.argsort(length)]
    assert (np.diff(in_order) >= 0).all()
    apart = length.max() > 1.01 * length.min()
    assert (in_order[-1] > in_order[0]) == apart
    # However long a patch is, it has twice the say of one of median length at most.
    say = length / (length + np.median(length))
    assert_allclose(found, say / say.mean(), rtol=1e-5)


@given(somebody, st.floats(1e-6, 1e6))
def test_weights_do_not_depend_on_the_scale_of_the_vectors(samples, scale):
    one, other = (length_weights([span_photos(many, NOTHING_SHARED)]) for many in (samples, scale * samples))
    assert_allclose(other, one, rtol=1e-5)


def test_weights_do_not_depend_on_other_people(rng):
    alone = spans_of_lengths(rng.random(9))
    others = [spans_of_lengths(1e6 * rng.random(9)), spans_of_lengths(np.zeros(9))]
    assert_array_equal(length_weights([others[0], alone, others[1]])[:, [1]], length_weights([alone]))


def test_somebody_with_nothing_in_any_patch_has_equal_weights():
    assert_array_equal(length_weights([spans_of_lengths([0.0, 0.0, 0.0])]), np.ones((3, 1)))


def test_patches_with_nothing_in_them_count_nothing():
    assert_allclose(length_weights([spans_of_lengths([0.0, 0.0, 0.0, 5.0])])[:, 0], [0, 0, 0, 4], rtol=1e-6)


def test_only_what_lies_beyond_the_shared_directions_has_weight():
    """The patches have lengths 5, 5, 1 and leave 3, 0, 1 beyond the first axis."""
    shared = SharedSpan.of(np.eye(6)[:1])
    samples = np.zeros((3, 1, 6))
    samples[:, 0, :2] = [(4, 3), (5, 0), (0, 1)]
    say = np.array([3 / 4, 0, 1 / 2])
    assert_allclose(length_weights([span_photos(samples, shared)])[:, 0], say / say.mean(), rtol=1e-6)


@pytest.mark.parametrize("name", PAPER_SETTINGS)
def test_the_weights_multiply_what_the_patches_stay_below_1(one_photo, lit, name):
    plain, weighed = (
        FaceRecognizer(**PAPER_SETTINGS[name] | {"weights": weights}).fit(one_photo.images, one_photo.labels)
        for weights in ("equal", "length")
    )
    assert plain._model.people.weights is None
    weights = length_weights(list(weighed._model.people.spans.values()))
    assert weights.std() > 0.05
    alike = plain.patch_contributions(lit.images)
    found = weighed.patch_contributions(lit.images)
    assert_allclose(found, 1 - weights * (1 - alike), rtol=1e-6, atol=1e-6)
    # The sum is that of the weighed patches: a person's weights add up to the number of patches.
    assert_allclose(found.sum(axis=1), (weights * alike).sum(axis=1), rtol=1e-5)
    assert_array_equal(weighed.patch_distances(lit.images), plain.patch_distances(lit.images))


@pytest.mark.parametrize("name", COMPACT)
def test_the_weights_of_a_person_stay_when_others_come_and_go(one_photo, lit, name):
    recognizer = FaceRecognizer(**COMPACT[name]).fit(one_photo.images, one_photo.labels)
    before = recognizer._model.people.weights
    recognizer.enroll("zzz", lit.images[:1])
    assert_array_equal(recognizer._model.people.weights[:, :-1], before)
    recognizer.forget(one_photo.labels[0])
    assert_array_equal(recognizer._model.people.weights[:, :-1], before[:, 1:])


# Deformations that share the span.

WHOLE = {
    "points": {"preset": "paper", "components": 1.0, "dtype": "float64"},
    "cosines": BOUNDED | {"storage": "float", "components": 20, "copies": "none", "dtype": "float64"},
}
"""Settings that keep every direction of the span."""


def deformed_features(extractor, picture, name, size):
    """Return the features of a picture whose gradients went through I + size B, patch by patch."""
    cloud = extractor.grid_.gather(GRADIENTS["sobel"](picture))[0].swapaxes(-1, -2)
    moved = discrete_rcdt(cloud @ (np.eye(2) + size * DEFORMATIONS[name]).T, extractor.angles_)
    detail = extractor.settings_.detail
    return flatten(moved if detail == "all" else moved @ cosines(extractor.grid_.n_points, detail).T)


@pytest.mark.parametrize("preset", PRESETS)
def test_no_preset_spans_deformations(preset):
    settings = PRESETS[preset]
    methods = [view.method for view in settings.views] if preset in ENGINES else [settings]
    assert {method["deformations"] for method in methods} == {"none"}


@pytest.mark.slow
@pytest.mark.parametrize("names", SPANNED_DEFORMATIONS)
@pytest.mark.parametrize("kind", WHOLE)
def test_deformations_put_one_vector_each_behind_photo_and_copies(one_photo, names, kind):
    recognizer = FaceRecognizer(deformations=names, **WHOLE[kind]).fit(one_photo.images, one_photo.labels)
    extractor = recognizer._model.extractor
    found = extractor.enrolled_vectors(one_photo.images, "cross", names)
    assert found.shape[:2] == (len(one_photo), 1 + 4 + len(SPANNED_DEFORMATIONS[names]))
    assert_allclose(found[:, 0], extractor.patch_vectors(one_photo.images), rtol=1e-10, atol=1e-12)
    assert_array_equal(found[:, :5], extractor.enrolled_vectors(one_photo.images, "cross", "none"))
    assert recognizer._model.people.spans[recognizer.classes_[0]].coordinates.shape[1] == 1 + len(
        SPANNED_DEFORMATIONS[names]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFORMATIONS)
@pytest.mark.parametrize("kind", WHOLE)
def test_a_tangent_is_how_the_features_begin_to_change(rng, name, kind):
    """Against the features of gradients that are deformed in earnest, a little; no two points are level in noise."""
    noise = rng.random((1, 96, 84))
    extractor = FaceRecognizer(**WHOLE[kind]).fit(noise, ["a"])._model.extractor
    tangent = extractor.enrolled_vectors(noise, "none", name)[0, 1] / TANGENT_SIZE
    picture, size = extractor.unlit(noise), 1e-7
    assert_allclose(deformed_features(extractor, picture, name, 0), extractor.describe(picture)[0], atol=1e-10)
    change = deformed_features(extractor, picture, name, size) - deformed_features(extractor, picture, name, 0)
    # At the border of the picture some differences are 0, and points are level.
    inside = extractor.grid_.as_map(np.arange(extractor.grid_.n_patches))[1:-1, 1:-1].ravel()
    assert_allclose((change / size)[inside], tangent[inside], atol=1e-5 * np.abs(tangent).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFORMATIONS)
@pytest.mark.parametrize("kind", WHOLE)
def test_a_spanned_deformation_has_no_distance_to_the_first_order(one_photo, name, kind):
    mine = one_photo.images[:1]
    with_it, with_all, without = (
        FaceRecognizer(deformations=names, **WHOLE[kind]).fit(one_photo.images, one_photo.labels)
        for names in (name, "all", "none")
    )
    extractor = without._model.extractor
    features, tangent = extractor.enrolled_vectors(mine, "none", name)[0]
    for size in (0.01, 0.3):
        probe = (features + size * tangent / TANGENT_SIZE)[None]
        rest = without._model.people.distances(probe)[:, 0, 0]
        assert np.median(rest) > 0.1 * size * np.median(np.linalg.norm(tangent / TANGENT_SIZE, axis=1)) / (
            np.median(np.linalg.norm(features, axis=1)) if kind == "cosines" else 1
        )
        for spanning in (with_it, with_all):
            assert spanning._model.people.distances(probe)[:, 0, 0].max() < 1e-6
        others = [other for other in DEFORMATIONS if other != name]
        for other in others:
            tangent_of_other = extractor.enrolled_vectors(mine, "none", other)[0, 1]
            probe = (features + size * tangent_of_other / TANGENT_SIZE)[None]
            assert np.median(with_it._model.people.distances(probe)[:, 0, 0]) > 1e-4
            assert with_all._model.people.distances(probe)[:, 0, 0].max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_SETTINGS)
@pytest.mark.parametrize("deformations", ["rotation", "all"])
def test_faces_are_named_with_deformations_in_the_span(one_photo, lit, name, deformations):
    settings = PAPER_SETTINGS[name] | {"deformations": deformations}
    recognizer = FaceRecognizer(**settings).fit(one_photo.images, one_photo.labels)
    assert recognizer.score(lit.images, lit.labels) >= 0.8
    assert recognizer.distances(lit.images).dtype == np.float32


def test_a_patch_that_is_far_from_two_people_adds_the_same_to_both(fitted):
    recognizer = fitted["bounded"]
    far = np.ones((recognizer.grid_.n_patches, 1, len(recognizer.classes_)), np.float32)
    added = recognizer._model.people.contributions(far)
    assert np.ptp(added) < 4e-3  # e^-6 is not quite 0
    assert np.ptp(recognizer._model.people.weights) > 1
