from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lightproof.datasets import YALE_LIGHTS, FaceSet
from lightproof.datasets.protocols import (
    Protocol,
    Split,
    ar_test,
    cas_peal_test,
    folder_test,
    has_even_number,
    has_odd_number,
    pose_test,
    restricted,
    restricted_to_people,
    yale_subset,
    yale_test_1,
    yale_test_2,
)
from lightproof.errors import BadLabels, BadParameter


@pytest.fixture
def names_only():
    """Two people under all lights, a third who lacks one training photo; the pictures do not matter here."""
    people = {"a": list(YALE_LIGHTS), "b": list(YALE_LIGHTS), "c": [x for x in YALE_LIGHTS if x != (-10, 0)]}
    rows = [(name, azimuth, elevation) for name, lights in people.items() for azimuth, elevation in lights]
    labels, azimuths, elevations = (np.array(column) for column in zip(*rows, strict=True))
    files = tuple(f"{name}/{i}" for i, (name, *_) in enumerate(rows))
    return FaceSet("names", np.zeros((len(rows), 2, 2), np.uint8), labels, azimuths * 1.0, elevations * 1.0, files)


def test_every_light_of_yale_is_in_one_subset():
    subset = yale_subset(*np.array(YALE_LIGHTS).T)
    assert np.bincount(subset).tolist() == [11, 10, 18, 12, 13]


@pytest.mark.parametrize(
    ("light", "subset"),
    [((10, -20), 0), ((-15, 20), 1), ((25, 0), 1), ((0, -35), 2), ((0, 45), 2), ((60, 20), 2), ((-95, 0), 3),
     ((70, 45), 3), ((110, 15), 4), ((0, 90), 4), ((-130, 20), 4)],
)  # fmt: skip
def test_the_table_of_the_paper_is_followed(light, subset):
    assert yale_subset([light[0]], [light[1]]).tolist() == [subset]


def test_test_1_enrolls_all_training_photos(names_only):
    split = yale_test_1().split(names_only)
    assert len(split.gallery) == 11 + 11 + 10
    assert {s: len(probes) for s, probes in split.probes.items()} == {1: 30, 2: 54, 3: 36, 4: 39}


@pytest.mark.parametrize("pick", range(11))
def test_an_index_is_a_place_in_file_order_modulo_the_number_of_photos(names_only, pick):
    everything = yale_test_1().split(names_only).gallery
    chosen = yale_test_2(pick).split(names_only).gallery
    assert_array_equal(chosen, [everything[pick], everything[11 + pick], everything[22 + pick % 10]])


def test_a_seed_gives_one_photo_each_and_the_same_every_time(names_only):
    splits = [yale_test_2(seed).split(names_only).gallery for seed in (11, 11, 12, 13, 14, 15)]
    assert_array_equal(splits[0], splits[1])
    assert any(not np.array_equal(splits[0], other) for other in splits[2:])
    assert names_only.labels[splits[0]].tolist() == ["a", "b", "c"]


def test_a_seeded_photo_does_not_depend_on_who_else_is_there(names_only):
    alone = names_only.take(names_only.labels == "b")
    photo = {len(f): f.files[yale_test_2(77).split(f).gallery[-2 if len(f) > 64 else 0]] for f in (names_only, alone)}
    assert len(set(photo.values())) == 1


def test_gallery_and_probes_never_meet(names_only):
    for protocol in (yale_test_1(), yale_test_2(3), yale_test_2("authors"), yale_test_2(99)):
        split = protocol.split(names_only)
        assert not set(split.gallery) & set(np.concatenate(list(split.probes.values())))


@pytest.mark.parametrize("pick", ["random", -1, 2.0, True, None])
def test_a_bad_pick_is_refused(pick):
    legal = "0 to 10, a seed of 11 or more, or 'authors'"
    with pytest.raises(BadParameter, match=rf"^`pick` of yale_test_2 must be {legal}; got .*\.$"):
        yale_test_2(pick)


def test_somebody_without_a_training_photo_is_named(names_only):
    dark = names_only.take((names_only.labels != "b") | (np.abs(names_only.azimuths) > 90))
    expected = r"^Label 'b' must be on a photo of the training lights for Test 1; got none\.$"
    with pytest.raises(BadLabels, match=expected):
        yale_test_1().split(dark)


def test_somebody_without_the_authors_light_is_named(names_only):
    theirs = (names_only.azimuths == -5) & (names_only.elevations == 10)
    other = names_only.take(~((names_only.labels == "c") & theirs))
    with pytest.raises(BadLabels, match=r"^Label 'c' must be on one photo with azimuth -5, elevation \+10; got 0\.$"):
        yale_test_2("authors").split(other)


def test_a_rule_that_leaves_somebody_out_is_refused(names_only):
    protocol = Protocol("Half", "person a", lambda faces: Split(np.flatnonzero(faces.labels == "a"), {}))
    expected = r"^Label 'b' must be on a photo that Half enrolls \(person a\); got none\.$"
    with pytest.raises(BadLabels, match=expected):
        protocol.split(names_only)


def test_a_rule_that_asks_about_enrolled_photos_is_refused(names_only):
    everything = np.arange(len(names_only))
    protocol = Protocol("Lazy", "all", lambda faces: Split(everything, {1: everything[:0], 2: everything[5:7]}))
    expected = r"^Probes 2 of Lazy must be photos that are not enrolled; got 2 of them, the first a/5\.$"
    with pytest.raises(BadLabels, match=expected):
        protocol.split(names_only)


def with_shots(*people):
    """A set of which only people, shots and azimuths matter."""
    rows = [(f"p{i}", shot) for i, shots in enumerate(people) for shot in shots]
    labels, shots = (tuple(column) for column in zip(*rows, strict=True))
    azimuths = np.array([float(shot[3:]) if shot.startswith("I") else np.nan for shot in shots])
    pictures = np.zeros((len(rows), 2, 2), np.uint8)
    return FaceSet("shots", pictures, np.array(labels), azimuths, azimuths * 0, labels, shots)


def test_ar_enrolls_shots_1_and_14_and_asks_about_side_light():
    everything = [str(shot) for shot in range(1, 27)]
    protocol = ar_test()
    split = protocol.split(with_shots(everything, everything))
    assert (protocol.name, protocol.gallery) == ("Test", "shots 1 and 14")
    assert split.gallery.tolist() == [0, 13, 26, 39]
    assert {s: (p % 26 + 1).tolist() for s, p in split.probes.items()} == {1: [5, 6, 18, 19] * 2, 2: [7, 20] * 2}


def test_somebody_in_ar_without_front_light_is_named():
    expected = r"^Label 'p1' must be on a photo that Test enrolls \(shots 1 and 14\); got none\.$"
    with pytest.raises(BadLabels, match=expected):
        ar_test().split(with_shots(["1", "5"], ["5"]))


@pytest.mark.parametrize(
    ("adding", "words", "gallery", "probes"),
    [
        (0, "one normal photo", [0, 6], {1: [1, 7], 2: [2, 3], 3: [4, 5, 8]}),
        (1, "normal and subset 1", [0, 1, 6, 7], {3: [4, 5, 8]}),
        (2, "normal and subsets 1, 2", [0, 1, 2, 3, 6, 7], {3: [4, 5, 8]}),
    ],
)
def test_cas_peal_asks_by_azimuth_and_enrolls_what_is_added(adding, words, gallery, probes):
    faces = with_shots(["IEU+00", "IFM+00", "IFU+45", "ILM-45", "IFD+90", "ILM-90"], ["IEU+00", "ILD+00", "IFM+90"])
    protocol = cas_peal_test(adding)
    split = protocol.split(faces)
    assert (protocol.name, protocol.gallery) == ("Test", words)
    assert split.gallery.tolist() == gallery
    assert {subset: photos.tolist() for subset, photos in split.probes.items()} == probes


@pytest.mark.parametrize("adding", [3, -1, 1.0, True, "1"])
def test_a_bad_addition_is_refused(adding):
    with pytest.raises(BadParameter, match=r"^`adding` of cas_peal_test must be 0, 1 or 2; got .*\.$"):
        cas_peal_test(adding)


@pytest.mark.parametrize("pick", [-1, 1.0, "authors", None])
def test_a_bad_place_in_a_folder_is_refused(pick):
    expected = r"^`pick` of folder_test must be a whole number of at least 0; got .*\.$"
    with pytest.raises(BadParameter, match=expected):
        folder_test(pick)


def test_of_some_people_only_they_are_enrolled_and_asked_about(names_only):
    whole = yale_test_2(4).split(names_only)
    some = restricted_to_people(yale_test_2(4), lambda label: label != "b").split(names_only)
    inside = names_only.labels != "b"
    assert_array_equal(some.gallery, [photo for photo in whole.gallery if inside[photo]])
    assert list(some.probes) == list(whole.probes)
    for subset, photos in whole.probes.items():
        assert_array_equal(some.probes[subset], photos[inside[photos]])


def test_of_some_people_each_keeps_the_photo_of_the_whole_set(names_only):
    """A half is the same question with fewer people in it: as if the others were not in the set."""
    for protocol in (yale_test_1(), yale_test_2(10), yale_test_2("authors"), yale_test_2(77)):
        part = names_only.take(names_only.labels == "c")
        alone, among = protocol.split(part), restricted_to_people(protocol, lambda label: label == "c")
        split = among.split(names_only)
        assert [part.files[i] for i in alone.gallery] == [names_only.files[i] for i in split.gallery]
        assert (among.name, among.gallery) == (protocol.name, protocol.gallery)


def test_restrictions_to_subsets_and_to_people_go_together(names_only):
    people_first = restricted(restricted_to_people(yale_test_2(0), lambda label: label != "a"), [4]).split(names_only)
    subset_first = restricted_to_people(restricted(yale_test_2(0), [4]), lambda label: label != "a").split(names_only)
    for split in (people_first, subset_first):
        assert set(names_only.labels[split.gallery]) == set(names_only.labels[split.probes[4]]) == {"b", "c"}
        assert list(split.probes) == [4]


def test_who_was_left_out_before_stays_out(names_only):
    without_a = restricted_to_people(yale_test_2(0), lambda label: label != "a")
    only_c = restricted_to_people(without_a, lambda label: label != "b")
    assert set(names_only.labels[only_c.split(names_only).gallery]) == {"c"}


def test_somebody_who_takes_part_must_be_enrolled(names_only):
    only_a = Protocol(
        "Half", "person a", lambda faces: Split(np.flatnonzero(faces.labels == "a"), {}), "ab".__contains__
    )
    with pytest.raises(BadLabels, match=r"^Label 'b' must be on a photo that Half enrolls \(person a\); got none\.$"):
        only_a.split(names_only)


def test_nobody_at_all_is_refused(names_only):
    nobody = restricted_to_people(yale_test_2(0), lambda label: label == "d")
    with pytest.raises(BadLabels, match=r"^People of Test 2 must be some who take part; got none\.$"):
        nobody.split(names_only)
    twice = [restricted_to_people(yale_test_2(0), lambda label, own=own: label == own) for own in "ab"]
    with pytest.raises(BadLabels, match=r"^People of Test 2 must be some who take part; got none\.$"):
        restricted_to_people(twice[0], twice[1].people).split(names_only)


@pytest.mark.parametrize(("label", "even"), [("yaleB02", True), ("yaleB39", False), ("yaleB10", True), ("2-01", False)])
def test_the_number_at_the_end_of_a_name_is_even_or_odd(label, even):
    assert has_even_number(label) is even
    assert has_odd_number(label) is not even


def test_a_name_without_a_number_is_neither_even_nor_odd(names_only):
    expected = r"^Label 'a' must be a name with a number at its end, such as yaleB02; got none\.$"
    with pytest.raises(BadLabels, match=expected):
        restricted_to_people(yale_test_2(0), has_even_number).split(names_only)


@pytest.mark.data
def test_the_halves_of_yale_part_its_people(yale):
    halves = [restricted_to_people(yale_test_2(3), half).split(yale) for half in (has_even_number, has_odd_number)]
    assert [len(split.gallery) for split in halves] == [18, 20]  # 14 is missing
    assert_array_equal(np.sort(np.concatenate([split.gallery for split in halves])), yale_test_2(3).split(yale).gallery)
    # 53 test photos a person, less those marked bad: 5 of yaleB12 and 1 of 16; 4 each of 11 and 13, and 1 of 15.
    assert [sum(map(len, split.probes.values())) for split in halves] == [18 * 53 - 6, 20 * 53 - 9]


@pytest.fixture
def turning():
    """Two people, the photos of each one after the other, and the yaw of the head on each."""
    labels = np.array(["a", "b", "a", "b", "a", "b", "b", "b"])
    yaws = np.array([-20, 5, -10.5, -20, 5, np.nan, 14.999, -5])
    return FaceSet("names", np.zeros((8, 2, 2), np.uint8), labels, yaws * 0, yaws * 0, ("",) * 8), yaws


def test_probes_are_parted_by_the_turn_of_the_head_since_the_enrolled_photo(turning):
    """A difference of 10 degrees is no small one, and one of 25 is no middle one."""
    faces, yaws = turning
    split = pose_test(yaws).split(faces)
    assert split.gallery.tolist() == folder_test().split(faces).gallery.tolist() == [0, 1]
    assert {k: v.tolist() for k, v in split.probes.items()} == {1: [2, 6], 2: [7], 3: [3, 4], 4: [5]}


def test_a_turn_to_the_left_counts_as_one_to_the_right(turning):
    faces, yaws = turning
    one, other = (pose_test(sign * yaws).split(faces).probes for sign in (1, -1))
    assert {k: v.tolist() for k, v in one.items()} == {k: v.tolist() for k, v in other.items()}


def test_where_no_yaw_is_known_all_probes_are_in_one_subset(turning):
    faces, _ = turning
    split = pose_test(np.full(8, np.nan)).split(faces)
    assert {k: v.tolist() for k, v in split.probes.items()} == {4: list(range(2, 8))}


def test_whoever_is_enrolled_in_an_unknown_pose_differs_from_it_by_nobody_knows_how_much(turning):
    faces, yaws = turning
    yaws[0] = np.nan
    assert pose_test(yaws).split(faces).probes[4].tolist() == [2, 4, 5]
