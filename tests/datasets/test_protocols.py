from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lightproof.datasets import YALE_LIGHTS, FaceSet
from lightproof.datasets.protocols import yale_subset, yale_test_1, yale_test_2
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
