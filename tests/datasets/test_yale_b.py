from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from lightproof.datasets import YALE_LIGHTS, load_yale_b
from lightproof.datasets.yale_b import BAD, PEOPLE, SUBSET_COUNTS
from lightproof.errors import BadImage, DatasetMissing


def write_photo(path, value, shape=(192, 168)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full(shape, value, np.uint8)).save(path, "PPM")


def fake_yale(home, people=("yaleB01", "yaleB02"), lights=((0, 0), (50, -40))):
    """A folder with the right names, and the junk that the real one has."""
    root = home / "CroppedYale"
    for i, person in enumerate(people):
        for j, (azimuth, elevation) in enumerate(lights):
            write_photo(root / person / f"{person}_P00A{azimuth:+04d}E{elevation:+03d}.pgm", (10 * i + j) % 256)
        write_photo(root / person / f"{person}_P00_Ambient.pgm", 0, (480, 640))
        (root / person / f"{person}_P00A+095E+00.pgm.bad").write_bytes(b"spoiled")
        (root / person / f"{person}_P00.info").write_text("list")
        (root / person / "DEADJOE").write_text("stray")
    (root / "WS_FTP.LOG").write_text("stray")
    (root / "notes").mkdir()
    return root


def test_photos_are_read_in_order_with_their_lights(tmp_path):
    fake_yale(tmp_path)
    faces = load_yale_b(tmp_path, complete=False)
    assert faces.images.shape == (4, 192, 168)
    assert faces.labels.tolist() == ["yaleB01", "yaleB01", "yaleB02", "yaleB02"]
    assert faces.azimuths.tolist() == [0, 50, 0, 50]
    assert faces.elevations.tolist() == [0, -40, 0, -40]
    assert faces.images[:, 0, 0].tolist() == [0, 1, 10, 11]
    assert faces.files[1] == "yaleB01/yaleB01_P00A+050E-40.pgm"
    assert faces.shots[:2] == ("A+000E+00", "A+050E-40")


def test_what_is_skipped_is_said(tmp_path):
    root = fake_yale(tmp_path, people=["yaleB01"])
    assert load_yale_b(root, complete=False).skipped == (
        "WS_FTP.LOG: not a person's folder",
        "notes: not a person's folder",
        "yaleB01/DEADJOE: not a photo of this person",
        "yaleB01/yaleB01_P00.info: not a photo of this person",
        "yaleB01/yaleB01_P00A+095E+00.pgm.bad: marked bad by its makers",
        "yaleB01/yaleB01_P00_Ambient.pgm: with ambient light only",
    )


def test_a_photo_in_another_persons_folder_is_skipped(tmp_path):
    root = fake_yale(tmp_path)
    (root / "yaleB01" / "yaleB01_P00A+000E+00.pgm").rename(root / "yaleB02" / "yaleB01_P00A+000E+00.pgm")
    faces = load_yale_b(root, complete=False)
    assert len(faces) == 3
    assert "yaleB02/yaleB01_P00A+000E+00.pgm: not a photo of this person" in faces.skipped


@pytest.fixture
def whole_yale(tmp_path):
    root = fake_yale(tmp_path, PEOPLE, YALE_LIGHTS)
    for person, lights in BAD.items():
        for light in lights:
            photo = root / person / f"{person}_P00{light}.pgm"
            photo.rename(photo.with_name(photo.name + ".bad"))
    return root


def test_an_incomplete_folder_says_what_is_missing(tmp_path):
    fake_yale(tmp_path)
    expected = (
        r"CroppedYale must be all of the CroppedYale folder of the Extended Yale Face Database B .*; "
        r"got 2/0/2/0/0 photos in the training set and subsets 1-4 instead of 415/380/677/452/490; "
        r"2410 missing: yaleB01/yaleB01_P00A\+000E\+20\.pgm, .* and 2404 more\.$"
    )
    with pytest.raises(DatasetMissing, match=expected):
        load_yale_b(tmp_path)


def test_one_missing_photo_is_named(whole_yale):
    (whole_yale / "yaleB27" / "yaleB27_P00A-070E+45.pgm").unlink()
    expected = r"415/380/677/451/490 .*; 1 missing: yaleB27/yaleB27_P00A-070E\+45\.pgm\.$"
    with pytest.raises(DatasetMissing, match=expected):
        load_yale_b(whole_yale)


def test_photos_that_should_not_be_there_are_named(tmp_path):
    root = fake_yale(tmp_path, PEOPLE, YALE_LIGHTS)
    expected = r"18 too many: yaleB11/yaleB11_P00A\+050E-40\.pgm, .* and 12 more\.$"
    with pytest.raises(DatasetMissing, match=expected) as seen:
        load_yale_b(root)
    assert "missing" not in str(seen.value)


def test_the_bad_list_and_the_lights_make_the_official_counts():
    assert len(YALE_LIGHTS) * len(PEOPLE) - sum(map(len, BAD.values())) == sum(SUBSET_COUNTS) == 2414


@pytest.mark.parametrize("make", ["nothing", "empty", "other"])
def test_a_folder_that_is_not_yale_is_refused(tmp_path, make):
    folder = tmp_path / "folder"
    got = "no such folder"
    if make != "nothing":
        folder.mkdir()
        got = "no photo of that name"
    if make == "other":
        write_photo(folder / "Ann" / "smile.pgm", 7)
    with pytest.raises(DatasetMissing, match=rf"folder must be the CroppedYale folder .*; got {got}\.$"):
        load_yale_b(folder)


def test_in_a_complete_folder_a_truncated_photo_is_named(whole_yale):
    photo = whole_yale / "yaleB02" / "yaleB02_P00A+000E+00.pgm"
    photo.write_bytes(photo.read_bytes()[:100])
    with pytest.raises(BadImage, match=r"yaleB02_P00A\+000E\+00\.pgm must be a readable image file; got .+\.$"):
        load_yale_b(whole_yale)


def test_in_an_incomplete_folder_a_truncated_photo_is_skipped_and_said(tmp_path):
    root = fake_yale(tmp_path)
    photo = root / "yaleB01" / "yaleB01_P00A+050E-40.pgm"
    photo.write_bytes(photo.read_bytes()[:100])
    faces = load_yale_b(root, complete=False)
    assert faces.labels.tolist() == ["yaleB01", "yaleB02", "yaleB02"]
    assert faces.azimuths.tolist() == [0, 0, 50]
    assert faces.images[:, 0, 0].tolist() == [0, 10, 11]
    assert faces.shots == ("A+000E+00", "A+000E+00", "A+050E-40")
    assert len(faces.files) == 3
    assert faces.skipped[-1] == "yaleB01/yaleB01_P00A+050E-40.pgm: not a readable picture"


def test_nothing_but_photos_that_cannot_be_read_is_refused(tmp_path):
    photo = tmp_path / "yaleB01" / "yaleB01_P00A+000E+00.pgm"
    photo.parent.mkdir()
    photo.write_bytes(b"junk")
    expected = r"got no photo that can be read; 1 left out: yaleB01/.*\.pgm: not a readable picture\.$"
    with pytest.raises(DatasetMissing, match=expected):
        load_yale_b(tmp_path, complete=False)


def test_a_photo_of_another_size_is_named(tmp_path):
    root = fake_yale(tmp_path)
    write_photo(root / "yaleB02" / "yaleB02_P00A+000E+00.pgm", 7, (480, 640))
    with pytest.raises(DatasetMissing, match=r"A\+000E\+00\.pgm must be 192 x 168 pixels .*; got 480 x 640\.$"):
        load_yale_b(root, complete=False)


@pytest.mark.data
def test_the_real_set_has_the_official_counts(yale):
    assert yale.images.shape == (2414, 192, 168)
    assert len(set(yale.labels)) == 38
    reasons = [line.split(": ")[1] for line in yale.skipped]
    assert reasons.count("marked bad by its makers") == 18
    assert reasons.count("with ambient light only") == 38
