"""What the presets promise: room, answers, and settings that go together."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof import PRESETS, FaceRecognizer, PatchRCDT
from lightproof.errors import BadParameter
from lightproof.method.deformations import DEFORMATIONS
from lightproof.method.gradients import GRADIENTS
from lightproof.method.rcdt import SPANNED_DEFORMATIONS, TANGENT_SIZE
from lightproof.method.subspace_bank import length_weights
from lightproof.method.subspaces import SharedSpan, span_photos
from lightproof.method.transform import cosines, discrete_rcdt, flatten

ROOM = {"robust": 128 * 1024, "fast": 32 * 1024}
COMPACT = sorted(ROOM)


@pytest.fixture(scope="module")
def one_photo(frontal):
    return frontal.take(frontal.azimuths == 0)


@pytest.fixture(scope="module")
def fitted(one_photo):
    return {name: FaceRecognizer(name).fit(one_photo.images, one_photo.labels) for name in COMPACT}


@pytest.fixture(scope="module")
def awry(lit):
    """Return probes that were moved by a few pixels, so that some are searched for."""
    return np.roll(lit.images[::3], (2, -3), axis=(1, 2))


def same_answers(first, second, X):
    assert_array_equal(first.classes_, second.classes_)
    assert_array_equal(first.patch_distances(X), second.patch_distances(X))
    assert_array_equal(first.distances(X), second.distances(X))


def room_of_a_person(recognizer, label):
    """Bytes of every array that is there for one person: the span, what it remembers, the share of the stack."""
    people = recognizer._people
    kept = [value for value in vars(people.spans[label]).values() if isinstance(value, np.ndarray)]
    return sum(array.nbytes for array in kept) + people.stack.columns.nbytes / people.stack.n_people


def test_robust_is_the_default(one_photo):
    assert FaceRecognizer().settings() == PRESETS["robust"]
    assert FaceRecognizer().fit(one_photo.images, one_photo.labels).settings_ == PRESETS["robust"]


def test_a_preset_is_read_like_a_dict_and_cannot_be_changed():
    fast = PRESETS["fast"]
    assert dict(fast) == fast == asdict(fast)
    assert fast["size"] == fast.size == (72, 63)
    assert fast | {"cell": 8} == {**fast, "cell": 8} != fast
    assert fast.get("placed_detail") is None
    assert FaceRecognizer(**fast).settings() == FaceRecognizer("fast").settings() == fast
    with pytest.raises(FrozenInstanceError):
        fast.cell = 8


def test_presets_set_the_same_settings():
    assert len({frozenset(settings) for settings in PRESETS.values()}) == 1
    assert set(PRESETS["robust"]) | {"preset", "cropped", "random_state"} == set(FaceRecognizer().get_params())


@pytest.mark.parametrize("preset", COMPACT)
def test_span_and_share_of_the_stack_stay_within_the_room_of_a_person(fitted, preset):
    people = fitted[preset]._people
    share = people.stack.columns.nbytes / len(people.spans)
    for spans in people.spans.values():
        assert spans.own.nbytes + spans.coordinates.nbytes + share <= ROOM[preset]


@pytest.mark.parametrize("preset", COMPACT)
def test_a_person_takes_no_more_room_in_memory_than_allowed(fitted, lit, preset):
    """After the first answers, when whatever is worked out once is there."""
    recognizer = fitted[preset]
    recognizer.predict(lit.images[:2])
    for label in recognizer.classes_.tolist():
        assert room_of_a_person(recognizer, label) <= ROOM[preset]


@pytest.mark.parametrize("preset", COMPACT)
def test_more_photos_of_a_person_take_no_more_room(fitted, frontal, preset):
    many = FaceRecognizer(preset).fit(frontal.images, frontal.labels)
    label = many.classes_[0]
    assert room_of_a_person(many, label) <= room_of_a_person(fitted[preset], label)
    many.enroll(label, frontal.images[:3])
    assert room_of_a_person(many, label) <= room_of_a_person(fitted[preset], label)


@pytest.mark.parametrize("preset", COMPACT)
def test_a_person_takes_no_more_room_on_disk_than_allowed(fitted, tmp_path, preset):
    file = tmp_path / "people"
    fitted[preset].save(file)
    assert file.stat().st_size / len(fitted[preset].classes_) <= ROOM[preset]


@pytest.mark.parametrize("preset", COMPACT)
def test_whole_numbers_take_less_than_half_the_room_of_floats(fitted, one_photo, preset):
    floats = FaceRecognizer(preset, storage="float").fit(one_photo.images, one_photo.labels)
    label = floats.classes_[0]
    assert room_of_a_person(fitted[preset], label) < room_of_a_person(floats, label) / 2


@pytest.mark.slow
@pytest.mark.parametrize("preset", COMPACT)
def test_whole_numbers_answer_like_floats(fitted, one_photo, lit, awry, preset):
    probes = np.concatenate([lit.images, awry])
    floats = FaceRecognizer(preset, storage="float").fit(one_photo.images, one_photo.labels)
    assert np.mean(floats.predict(probes) == fitted[preset].predict(probes)) >= 0.95
    off = np.abs(fitted[preset].distances(probes) / floats.distances(probes) - 1)
    assert np.median(off) < 0.005


@pytest.mark.parametrize("preset", COMPACT)
def test_compact_presets_name_faces_in_hard_light(fitted, lit, preset):
    assert fitted[preset].score(lit.images, lit.labels) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("preset", COMPACT)
def test_compact_people_enrolled_one_by_one_are_those_fitted_at_once(fitted, one_photo, awry, preset):
    one_by_one = FaceRecognizer(preset)
    for label, image in reversed(list(zip(one_photo.labels, one_photo.images, strict=True))):
        one_by_one.enroll(label, image[None])
    same_answers(one_by_one, fitted[preset], awry)


@pytest.mark.parametrize("preset", COMPACT)
def test_compact_people_come_back_from_a_file_as_they_were(fitted, awry, tmp_path, preset):
    fitted[preset].save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    assert loaded.settings_ == fitted[preset].settings_
    same_answers(loaded, fitted[preset], awry)


@pytest.mark.slow
@pytest.mark.parametrize("preset", COMPACT)
def test_photos_added_after_a_file_meet_the_same_people(one_photo, frontal, awry, tmp_path, preset):
    stayed = FaceRecognizer(preset).fit(one_photo.images, one_photo.labels)
    stayed.save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    second = frontal.take(frontal.azimuths != 0)
    for recognizer in (stayed, loaded):
        recognizer.enroll(second.labels[0], second.images[:1]).enroll("new", second.images[-1:])
    same_answers(loaded, stayed, awry)


@pytest.mark.parametrize("preset", COMPACT)
def test_forgetting_restores_compact_people_exactly(one_photo, lit, awry, preset):
    recognizer = FaceRecognizer(preset).fit(one_photo.images, one_photo.labels)
    before = recognizer.patch_distances(awry)
    recognizer.enroll("guest", lit.images[:2]).forget("guest")
    assert_array_equal(recognizer.patch_distances(awry), before)


@pytest.mark.parametrize("preset", COMPACT)
def test_a_photo_added_to_compact_people_brings_its_like_nearer(one_photo, lit, preset):
    recognizer = FaceRecognizer(preset, search="none").fit(one_photo.images, one_photo.labels)
    label, photo = lit.labels[0], lit.images[:1]
    before = recognizer.distances(photo)[0]
    after = recognizer.enroll(label, photo).distances(photo)[0]
    mine = recognizer.classes_ == label
    assert after[mine] < 0.8 * before[mine]
    assert_allclose(after[~mine], before[~mine], rtol=1e-5)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"detail": "all", "storage": "float"},
            r"^`search` of FaceRecognizer must be 'none' unless detail is an int and aggregate is 'bounded'; "
            r"got 'similarity'\.$",
        ),
        ({"aggregate": "sum"}, r"^`search` of FaceRecognizer must be 'none' unless .*; got 'similarity'\.$"),
        (
            {"components": 0.9},
            r"^`storage` of FaceRecognizer must be 'float' unless detail and components are ints and span is 'kept'; "
            r"got 'int8'\.$",
        ),
        ({"components": "validate"}, r"^`storage` of FaceRecognizer must be 'float' unless .*; got 'int8'\.$"),
        ({"span": "joint"}, r"^`storage` of FaceRecognizer must be 'float' unless .*; got 'int8'\.$"),
        (
            {"detail": "all", "search": "none"},
            r"^`storage` of FaceRecognizer must be 'float' unless .*; got 'int8'\.$",
        ),
        (
            {"detail": 36},
            r"^`detail` of FaceRecognizer must be an int from 1 to cell \* cell - 1 = 35, or 'all'; got 36\.$",
        ),
        (
            {"cell": 2, "overlap": 1},
            r"^`detail` of FaceRecognizer must be an int from 1 to cell \* cell - 1 = 3, or 'all'; got 5\.$",
        ),
        ({"preset": "authors", "search": "similarity"}, r"^`search` of FaceRecognizer must be 'none' unless "),
        ({"preset": "authors", "storage": "int8"}, r"^`storage` of FaceRecognizer must be 'float' unless "),
        ({"preset": "paper", "storage": "int8", "components": 3}, r"^`storage` of FaceRecognizer must be 'float' "),
    ],
)
def test_settings_that_do_not_go_together_get_one_sentence(one_photo, params, message):
    with pytest.raises(BadParameter, match=message):
        FaceRecognizer(**params).fit(one_photo.images, one_photo.labels)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"detail": 0}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got 0\.$"),
        ({"detail": "some"}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got 'some'\.$"),
        ({"detail": 2.0}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got 2\.0\.$"),
        ({"detail": True}, r"^`detail` of FaceRecognizer must be an int of 1 or more, or 'all'; got True\.$"),
        ({"copies": "ring"}, r"^`copies` of FaceRecognizer must be one of 'none', 'cross', 'square'.*; got 'ring'\.$"),
        ({"search": "all"}, r"^`search` of FaceRecognizer must be one of 'none', 'similarity'; got 'all'\.$"),
        ({"storage": "int4"}, r"^`storage` of FaceRecognizer must be one of 'float', 'int8'; got 'int4'\.$"),
        ({"aggregate": "mean"}, r"^`aggregate` of FaceRecognizer must be one of .*'bounded'; got 'mean'\.$"),
        ({"preset": "best"}, r"^`preset` of FaceRecognizer must be one of 'robust', 'fast', .*; got 'best'\.$"),
    ],
)
def test_new_settings_outside_their_values_get_one_sentence(one_photo, params, message):
    with pytest.raises(BadParameter, match=message):
        FaceRecognizer(**params).fit(one_photo.images, one_photo.labels)


def test_features_alone_refuse_more_cosines_than_points(one_photo):
    expected = r"^`detail` of PatchRCDT must be an int from 1 to cell \* cell - 1 = 15, or 'all'; got 16\.$"
    with pytest.raises(BadParameter, match=expected):
        PatchRCDT(detail=16).fit(one_photo.images)
    assert PatchRCDT(detail=15).fit_transform(one_photo.images).shape == (len(one_photo), 441 * 4 * 15)


def test_numpy_ints_are_as_good_as_ints(one_photo, fitted, lit):
    found = FaceRecognizer(detail=np.int64(5), components=np.int32(3)).fit(one_photo.images, one_photo.labels)
    same_answers(found, fitted["robust"], lit.images[:5])


@pytest.mark.slow
@pytest.mark.parametrize(
    "params",
    [
        {"detail": "all", "search": "none", "storage": "float"},
        {"storage": "float", "components": 0.9},
        {"storage": "float", "span": "joint"},
        {"aggregate": "sum", "search": "none"},
        {"preset": "fast", "search": "similarity"},
        {"preset": "authors", "aggregate": "bounded"},
        {"preset": "paper", "detail": 4, "components": 3, "storage": "int8"},
    ],
)
def test_settings_that_go_together_name_faces(one_photo, lit, params):
    assert FaceRecognizer(**params).fit(one_photo.images, one_photo.labels).score(lit.images, lit.labels) > 0.6


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


@pytest.mark.parametrize("preset", PRESETS)
def test_the_weights_multiply_what_the_patches_stay_below_1(one_photo, lit, preset):
    settings = {"preset": preset, "search": "none"}
    plain, weighed = (
        FaceRecognizer(weights=weights, **settings).fit(one_photo.images, one_photo.labels)
        for weights in ("equal", "length")
    )
    assert plain._people.weights is None
    weights = length_weights(list(weighed._people.spans.values()))
    assert weights.std() > 0.05
    alike = plain.patch_contributions(lit.images)
    found = weighed.patch_contributions(lit.images)
    assert_allclose(found, 1 - weights * (1 - alike), rtol=1e-4, atol=1e-6)
    # The sum is that of the weighed patches: a person's weights add up to the number of patches.
    assert_allclose(found.sum(axis=1), (weights * alike).sum(axis=1), rtol=1e-4, atol=1e-4)
    assert_array_equal(weighed.patch_distances(lit.images), plain.patch_distances(lit.images))


@pytest.mark.parametrize("preset", COMPACT)
def test_the_weights_of_a_person_stay_when_others_come_and_go(one_photo, lit, preset):
    recognizer = FaceRecognizer(preset).fit(one_photo.images, one_photo.labels)
    before = recognizer._people.weights
    recognizer.enroll("zzz", lit.images[:1])
    assert_array_equal(recognizer._people.weights[:, :-1], before)
    recognizer.forget(one_photo.labels[0])
    assert_array_equal(recognizer._people.weights[:, :-1], before[:, 1:])


# Deformations that share the span.

WHOLE = {
    "points": {"preset": "paper", "components": 1.0, "dtype": "float64"},
    "cosines": {"storage": "float", "components": 20, "copies": "none", "dtype": "float64", "search": "none"},
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
    assert PRESETS[preset]["deformations"] == "none"


@pytest.mark.slow
@pytest.mark.parametrize("names", SPANNED_DEFORMATIONS)
@pytest.mark.parametrize("kind", WHOLE)
def test_deformations_put_one_vector_each_behind_photo_and_copies(one_photo, names, kind):
    recognizer = FaceRecognizer(deformations=names, **WHOLE[kind]).fit(one_photo.images, one_photo.labels)
    extractor = recognizer._extractor
    found = extractor.enrolled_vectors(one_photo.images, "cross", names)
    assert found.shape[:2] == (len(one_photo), 1 + 4 + len(SPANNED_DEFORMATIONS[names]))
    assert_allclose(found[:, 0], extractor.patch_vectors(one_photo.images), rtol=1e-10, atol=1e-12)
    assert_array_equal(found[:, :5], extractor.enrolled_vectors(one_photo.images, "cross", "none"))
    assert recognizer._people.spans[recognizer.classes_[0]].coordinates.shape[1] == 1 + len(SPANNED_DEFORMATIONS[names])


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFORMATIONS)
@pytest.mark.parametrize("kind", WHOLE)
def test_a_tangent_is_how_the_features_begin_to_change(rng, name, kind):
    """Against the features of gradients that are deformed in earnest, a little; no two points are level in noise."""
    noise = rng.random((1, 96, 84))
    extractor = FaceRecognizer(**WHOLE[kind]).fit(noise, ["a"])._extractor
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
    extractor = without._extractor
    features, tangent = extractor.enrolled_vectors(mine, "none", name)[0]
    for size in (0.01, 0.3):
        probe = (features + size * tangent / TANGENT_SIZE)[None]
        rest = without._people.distances(probe)[:, 0, 0]
        assert np.median(rest) > 0.1 * size * np.median(np.linalg.norm(tangent / TANGENT_SIZE, axis=1)) / (
            np.median(np.linalg.norm(features, axis=1)) if kind == "cosines" else 1
        )
        for spanning in (with_it, with_all):
            assert spanning._people.distances(probe)[:, 0, 0].max() < 1e-6
        others = [other for other in DEFORMATIONS if other != name]
        for other in others:
            tangent_of_other = extractor.enrolled_vectors(mine, "none", other)[0, 1]
            probe = (features + size * tangent_of_other / TANGENT_SIZE)[None]
            assert np.median(with_it._people.distances(probe)[:, 0, 0]) > 1e-4
            assert with_all._people.distances(probe)[:, 0, 0].max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["rotation", "all"])
def test_every_preset_names_faces_with_deformations_in_the_span(one_photo, lit, preset, name):
    recognizer = FaceRecognizer(preset, deformations=name).fit(one_photo.images, one_photo.labels)
    assert recognizer.score(lit.images, lit.labels) >= 0.8
    assert recognizer.distances(lit.images).dtype == np.float32


def test_a_patch_that_is_far_from_two_people_adds_the_same_to_both(one_photo, lit):
    recognizer = FaceRecognizer(search="none").fit(one_photo.images, one_photo.labels)
    far = np.ones((837, 1, len(recognizer.classes_)), np.float32)
    added = recognizer._people.contributions(far)
    assert np.ptp(added) < 2e-2  # e^-6 is not quite 0
    assert np.ptp(recognizer._people.weights) > 1
