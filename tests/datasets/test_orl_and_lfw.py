"""ORL and LFW on folders written here, with pictures of nobody; the real sets where they are."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from lightproof.datasets import load_lfw, load_orl
from lightproof.datasets.protocols import folder_test, halves_of
from lightproof.errors import BadImage, DatasetMissing


def write_photo(path, value, shape, mode="L"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full(shape, value, np.uint8)).convert(mode).save(path)


def fake_orl(home, people=40, photos=10, shape=(112, 92)):
    """ORL with evenly grey photos: the person's number plus that of the photo."""
    for person in range(1, people + 1):
        for i in range(1, photos + 1):
            write_photo(home / "ORL" / f"s{person}" / f"{i}.pgm", person + i, shape)
    (home / "ORL" / "README").write_text("stray")
    (home / "ORL" / "s1" / "Thumbs.db").write_bytes(b"stray")
    return home / "ORL"


def fake_lfw(home, shape=(250, 250), **counts):
    """LFW with so many photos of each person, in color."""
    for name, n in counts.items():
        for i in range(1, n + 1):
            write_photo(home / "lfw" / name / f"{name}_{i:04d}.jpg", 10 * i, shape, "RGB")
    return home / "lfw"


def test_the_photos_of_orl_come_in_the_order_of_their_numbers(tmp_path):
    fake_orl(tmp_path)
    faces = load_orl(tmp_path)
    assert (faces.name, faces.images.shape) == ("orl", (400, 112, 92))
    assert list(dict.fromkeys(faces.labels)) == [f"s{i}" for i in range(1, 41)]
    assert faces.files[:2] + faces.files[9:11] == ("s1/1.pgm", "s1/2.pgm", "s1/10.pgm", "s2/1.pgm")
    assert faces.shots[8:11] == ("9", "10", "1")
    assert faces.images[:, 0, 0].tolist() == [p + i for p in range(1, 41) for i in range(1, 11)]
    assert np.isnan([faces.azimuths, faces.elevations]).all()
    assert faces.skipped == ("README: not a person's folder", "s1/Thumbs.db: not a photo of this person")


def test_an_orl_that_lacks_photos_says_which(tmp_path):
    root = fake_orl(tmp_path, people=39)
    (root / "s2" / "10.pgm").unlink()
    write_photo(root / "s3" / "11.pgm", 1, (112, 92))
    got = "got 390 photos of 39 people; 11 missing: s2/10.pgm, s40/1.pgm, s40/2.pgm, s40/3.pgm, s40/4.pgm, s40/5.pgm "
    got += "and 5 more; 1 too many: s3/11.pgm."
    with pytest.raises(DatasetMissing, match=f"^{re.escape(str(root))} must be the ORL database .*; {re.escape(got)}$"):
        load_orl(root)
    assert len(load_orl(root, complete=False)) == 390


@pytest.mark.parametrize("load", [load_orl, load_lfw])
def test_another_folder_is_answered_with_one_sentence(tmp_path, load):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for folder, got in (("file", "a file"), ("nowhere", "no such folder"), ("empty", "no photo of that name")):
        with pytest.raises(DatasetMissing, match=rf"{folder} must be .* \(.*s.*\); got {got}\.$"):
            load(tmp_path / folder, complete=False)


def test_people_of_lfw_come_by_name_and_in_grey(tmp_path):
    root = fake_lfw(tmp_path, Cleo_Doe=3, Ada_Byron=2, Ben_Doe=1)
    (root / "Ada_Byron" / "Cleo_Doe_0001.jpg").write_bytes(b"another's")
    (root / ".cache").mkdir()
    faces = load_lfw(tmp_path)
    assert (faces.name, faces.images.shape) == ("lfw", (5, 250, 250))
    assert faces.labels.tolist() == ["Ada_Byron"] * 2 + ["Cleo_Doe"] * 3
    assert faces.files[2:4] == ("Cleo_Doe/Cleo_Doe_0001.jpg", "Cleo_Doe/Cleo_Doe_0002.jpg")
    assert faces.images[:, 125, 125].tolist() == [10, 20, 10, 20, 30]
    assert faces.skipped == (
        ".cache: not a person's folder",
        "Ada_Byron/Cleo_Doe_0001.jpg: not a photo of this person",
        "Ben_Doe: a person without two photos",
    )


def test_any_people_of_lfw_will_do_but_not_with_gaps(tmp_path):
    root = fake_lfw(tmp_path, Ada_Byron=2, Cleo_Doe=4)
    (root / "Cleo_Doe" / "Cleo_Doe_0002.jpg").unlink()
    with pytest.raises(DatasetMissing, match=r"got 5 photos of 2 people; 1 missing: Cleo_Doe/Cleo_Doe_0002\.jpg\.$"):
        load_lfw(root)
    assert load_lfw(root, complete=False).shots == ("1", "2", "1", "3", "4")


def test_one_person_with_two_photos_is_no_set(tmp_path):
    root = fake_lfw(tmp_path, Ada_Byron=2, Cleo_Doe=1)
    with pytest.raises(DatasetMissing, match="got 1 person with two or more photos that can be read; 1 left out"):
        load_lfw(root)


def test_a_broken_photo_is_refused_or_skipped(tmp_path):
    root = fake_lfw(tmp_path, Ada_Byron=3, Cleo_Doe=2, Dan_Doe=2)
    for name in ("Ada_Byron", "Dan_Doe"):
        (root / name / f"{name}_0002.jpg").write_bytes(b"broken")
    with pytest.raises(BadImage, match="Ada_Byron_0002"):
        load_lfw(root)
    faces = load_lfw(root, complete=False)
    assert faces.labels.tolist() == ["Ada_Byron", "Ada_Byron", "Cleo_Doe", "Cleo_Doe"]
    assert faces.skipped == (
        "Ada_Byron/Ada_Byron_0002.jpg: not a readable picture",
        "Dan_Doe/Dan_Doe_0002.jpg: not a readable picture",
        "Dan_Doe: a person without two photos",
    )


@pytest.mark.parametrize(("load", "fake"), [(load_orl, fake_orl), (load_lfw, fake_lfw)])
def test_photos_of_another_size_are_another_set(tmp_path, load, fake):
    fake(tmp_path, shape=(64, 64)) if fake is fake_orl else fake(tmp_path, shape=(64, 64), Ada=2, Ben=2)
    with pytest.raises(DatasetMissing, match=r"must be \d+ x \d+ pixels as in .*; got 64 x 64\.$"):
        load(tmp_path)


def test_the_loop_over_the_photos_can_be_shown(tmp_path):
    seen = []
    load_lfw(fake_lfw(tmp_path, Ada=2, Ben=3), progress=lambda photos: seen.append(len(photos)) or photos)
    assert seen == [5]


def test_settings_may_be_chosen_on_the_first_people_alone(tmp_path):
    halves = halves_of(load_orl(fake_orl(tmp_path)))
    assert halves == {
        "chosen on": {f"s{i}" for i in range(1, 21)},
        "held out": {f"s{i}" for i in range(21, 41)},
    }
    assert halves_of(load_lfw(fake_lfw(tmp_path, Ada=2, Ben=2))) == {}


# ---------------------------------------------------------------------------------------------------------- real data


def test_the_real_orl_is_complete(orl_data):
    faces = load_orl(orl_data)
    assert np.unique(faces.labels, return_counts=True)[1].tolist() == [10] * 40
    assert len(folder_test().split(faces).probes[1]) == 360
    # No photo is there twice.
    assert len({image.tobytes() for image in faces.images}) == 400


def test_the_real_lfw_is_split_as_its_facts_say(lfw_data):
    faces = load_lfw(lfw_data)
    split = folder_test().split(faces)
    assert_array_equal(np.array(faces.shots)[split.gallery], "1")
    assert len(split.gallery) + len(split.probes[1]) == len(faces)
    assert np.unique(faces.labels, return_counts=True)[1].min() >= 2
    if len(split.gallery) == 79:  # the half of the people with ten or more photos that figures are reported on
        assert len(faces) == 1589
        assert [len(who) for who in halves_of(faces).values()] == [40, 39]
