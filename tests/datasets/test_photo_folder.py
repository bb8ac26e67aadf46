from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from skimage.transform import resize

from lightproof.cli.console import count_reasons
from lightproof.core.images import bring_to_size
from lightproof.datasets import load_folder
from lightproof.datasets.protocols import folder_test
from lightproof.errors import BadParameter, DatasetMissing, MissingExtra
from lightproof.imaging.detection import read_portrait
from tests.scenes import as_photo, clutter, compose, seat

LEGAL = (
    r"must be a folder with a folder of pictures for each person \(name/photo\.jpg\), two or more people, at least one"
)


load_crops = partial(load_folder, cropped=True)
"""Most of what a folder is does not depend on whether its pictures are faces already."""


def picture(path, seed=0, shape=(40, 30), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, shape, np.uint8)).save(path, **options)


@pytest.fixture
def album(tmp_path):
    picture(tmp_path / "Ann" / "b.png", 1)
    picture(tmp_path / "Ann" / "a.jpg", 2)
    picture(tmp_path / "Bob Ö" / "2024" / "c.PNG", 3)
    return tmp_path


def test_every_picture_below_a_persons_folder_is_theirs(album):
    faces = load_crops(album)
    assert faces.name == "folder"
    assert faces.labels.tolist() == ["Ann", "Ann", "Bob Ö"]
    assert faces.files == ("Ann/a.jpg", "Ann/b.png", "Bob Ö/2024/c.PNG")
    assert faces.shots == ("a", "b", "c")
    assert faces.images.shape == (3, 192, 168)
    assert faces.images.dtype == np.uint8
    assert np.isnan([faces.azimuths, faces.elevations]).all()
    assert faces.skipped == ()


@pytest.mark.parametrize("ending", ["jpg", "jpeg", "png", "bmp", "pgm", "ppm", "tif", "tiff", "webp", "JPG"])
def test_the_usual_formats_are_read(album, ending):
    picture(album / "Cy" / f"x.{ending}", 4)
    assert load_crops(album).files[-1] == f"Cy/x.{ending}"


def test_pictures_of_the_right_size_are_kept_to_the_last_bit(album):
    faces = load_crops(album, size=(40, 30))
    assert_array_equal(faces.images[1], np.random.default_rng(1).integers(0, 256, (40, 30), np.uint8))


def test_other_sizes_are_resized_as_by_scikit_image(album):
    picture(album / "Cy" / "big.png", 4, (91, 77))
    with Image.open(album / "Cy" / "big.png") as big:
        wanted = 255 * resize(np.asarray(big) / 255, (40, 30), anti_aliasing=True)
    assert_allclose(load_crops(album, size=(40, 30)).images[-1], wanted, atol=0.51)


def test_color_and_held_sideways_come_out_grey_and_upright(album):
    rng = np.random.default_rng(9)
    upright = rng.integers(0, 256, (40, 30, 3), np.uint8)
    note = Image.Exif()
    note[274] = 6
    Image.fromarray(np.ascontiguousarray(np.rot90(upright))).save(album / "Ann" / "z.png", exif=note)
    grey = np.asarray(Image.fromarray(upright).convert("L"))
    assert_array_equal(load_crops(album, size=(40, 30)).images[2], grey)


def test_what_is_left_out_is_said(album):
    picture(album / "stray.jpg")
    picture(album / ".trash" / "old.jpg")
    picture(album / "Ann" / "._a.jpg")
    (album / "Ann" / "Thumbs.db").write_bytes(b"junk")
    (album / "Ann" / "notes").write_bytes(b"junk")
    Image.fromarray(np.full((20, 20), 9, np.uint8)).save(album / "Ann" / "lid.png")
    (album / "Ann" / "cut.png").write_bytes((album / "Ann" / "b.png").read_bytes()[:200])
    (album / "nobody").mkdir()
    faces = load_crops(album)
    assert len(faces) == 3
    assert set(faces.skipped) == {
        "stray.jpg: not in a person's folder",
        ".trash/old.jpg: hidden",
        "Ann/._a.jpg: hidden",
        "Ann/Thumbs.db: not a picture",
        "Ann/notes: not a picture",
        "Ann/lid.png: one even grey",
        "Ann/cut.png: not a readable picture",
    }
    assert len(faces.skipped) == 7


def test_a_person_does_not_have_the_same_picture_twice(album):
    original = (album / "Ann" / "b.png").read_bytes()
    for copy in ("Ann/copy.png", "Ann/old/b.png", "Bob Ö/b.png"):
        (album / copy).parent.mkdir(exist_ok=True)
        (album / copy).write_bytes(original)
    picture(album / "Ann" / "other format.bmp", 1)
    faces = load_crops(album)
    # The same picture of somebody else is not for the reader to judge.
    assert faces.files == ("Ann/a.jpg", "Ann/b.png", "Bob Ö/2024/c.PNG", "Bob Ö/b.png")
    assert set(faces.skipped) == {
        "Ann/copy.png: the same picture as another of this person",
        "Ann/old/b.png: the same picture as another of this person",
        "Ann/other format.bmp: the same picture as another of this person",
    }
    assert count_reasons(faces.skipped) == "3 the same picture as another of this person"


def test_pictures_that_only_shrink_to_the_same_are_not_copies(album):
    Image.fromarray(np.tile(np.uint8([[0, 200]]), (16, 8))).save(album / "Ann" / "small.png")
    Image.fromarray(np.tile(np.uint8([[0, 200]]), (32, 8))).save(album / "Ann" / "tall.png")
    faces = load_crops(album, size=(16, 16))
    assert_array_equal(faces.images[2], faces.images[3])
    assert faces.skipped == ()


@pytest.mark.parametrize(("shape", "kept"), [((15, 40), False), ((40, 15), False), ((1, 1), False), ((16, 16), True)])
def test_a_side_under_16_pixels_is_too_short(album, shape, kept):
    picture(album / "Ann" / "icon.png", 7, shape)
    faces = load_crops(album)
    assert ("Ann/icon.png" in faces.files) is kept
    assert faces.skipped == (() if kept else ("Ann/icon.png: under 16 pixels",))


def test_floats_with_white_1_are_a_picture(album):
    values = np.random.default_rng(8).integers(0, 256, (40, 30), np.uint8)
    Image.fromarray(values.astype(np.float32) / 255).save(album / "Ann" / "z.tif")
    faces = load_crops(album, size=(40, 30))
    assert_array_equal(faces.images[2], values)
    assert faces.skipped == ()


def test_one_photo_is_enrolled_and_the_others_asked_about(album):
    picture(album / "Ann" / "c.png", 5)
    faces = load_crops(album)
    for pick, gallery, probes in ((0, [0, 3], [1, 2]), (3, [0, 3], [1, 2]), (4, [1, 3], [0, 2]), (5, [2, 3], [0, 1])):
        protocol = folder_test(pick)
        split = protocol.split(faces)
        assert (protocol.name, protocol.gallery) == ("One photo", f"photo {pick}")
        assert split.gallery.tolist() == gallery
        assert split.probes[1].tolist() == probes


def test_one_person_is_too_few(album):
    (album / "Bob Ö" / "2024" / "c.PNG").unlink()
    with pytest.raises(
        DatasetMissing, match=rf"{LEGAL} of them with two photos; got 1 person with 2 photos altogether\.$"
    ):
        load_crops(album)


def test_one_photo_a_person_is_too_few(album):
    (album / "Ann" / "a.jpg").write_bytes(b"junk")
    got = r"got 2 people with 2 photos altogether; 1 left out: Ann/a\.jpg: not a readable picture\.$"
    with pytest.raises(DatasetMissing, match=rf"{LEGAL} .*; {got}"):
        load_crops(album)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DatasetMissing, match=rf"{LEGAL} .*; got 0 people with 0 photos altogether\.$"):
        load_crops(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DatasetMissing, match=rf"none {LEGAL} .*; got no such folder\.$"):
        load_crops(tmp_path / "none")


def test_a_bad_size_is_refused(album):
    with pytest.raises(BadParameter, match=r"^`size` of load_folder must be \(height, width\), .*; got \(8, 8\)\.$"):
        load_crops(album, size=(8, 8))


def test_progress_sees_every_picture(album):
    seen = []
    load_crops(album, progress=lambda loop: (seen.append(i) or i for i in loop))
    assert seen == [0, 1, 2]


# -------------------------------------------------------------------------------------------------------- photographs


@pytest.fixture(scope="module")
def photos():
    """Photographs of two people; on one of them there are both, and on one nobody."""
    ann, bob = seat(2)
    both = compose(ann, (280, 500), 50, middle=120 + 100j)
    return {
        "Ann/1.png": compose(ann, seed=1).photo,
        "Ann/2.png": compose(ann, roll=10, seed=2).photo,
        "Bob/1.png": compose(bob, seed=3).photo,
        "Bob/both.png": compose(bob, eye_distance=70, middle=340 + 110j, before=both).photo,
        "Bob/wall.png": as_photo(clutter(160, 200, 4)),
    }


@pytest.fixture
def photo_album(tmp_path, photos):
    for name, photo in photos.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.fromarray(photo).save(tmp_path / name)
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_in_photographs_the_faces_are_found_and_cut_out(photo_album, photos):
    faces = load_folder(photo_album)
    assert faces.files == ("Ann/1.png", "Ann/2.png", "Bob/1.png", "Bob/both.png")
    assert faces.labels.tolist() == ["Ann", "Ann", "Bob", "Bob"]
    assert faces.found.all()
    for name, image in zip(faces.files, faces.images, strict=True):
        assert_array_equal(image, read_portrait(photos[name]).image)


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_a_photo_without_a_face_is_left_out_and_said(photo_album):
    faces = load_folder(photo_album)
    assert faces.skipped == ("Bob/wall.png: without a face that is found",)
    assert count_reasons(faces.skipped) == "1 without a face that is found"


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_of_several_faces_the_largest_is_the_persons(photo_album, photos):
    inside = np.s_[30:160, 25:143]
    found = load_folder(photo_album).images[3][inside].ravel()
    bob, ann = (read_portrait(photos[name]).image[inside].ravel() for name in ("Bob/1.png", "Ann/1.png"))
    assert np.corrcoef(found, bob)[0, 1] > 0.85 > np.corrcoef(found, ann)[0, 1]


@pytest.mark.usefixtures("photos_extra")
def test_faces_of_photographs_are_brought_to_the_size_asked_for(photo_album, photos):
    faces = load_folder(photo_album, size=(48, 42))
    wanted = 255 * bring_to_size([read_portrait(photos["Ann/2.png"]).image], (48, 42), np.float64)[0]
    assert faces.images.shape == (4, 48, 42)
    assert_allclose(faces.images[1], wanted, atol=0.51)


@pytest.mark.usefixtures("photos_extra")
def test_a_folder_in_which_too_few_faces_are_found_is_refused(photo_album):
    for name in ("Bob/1.png", "Bob/both.png"):
        (photo_album / name).unlink()
    got = r"got 1 person with 2 photos altogether; 1 left out: Bob/wall\.png: without a face that is found\.$"
    with pytest.raises(DatasetMissing, match=rf"{LEGAL} .*; {got}"):
        load_folder(photo_album)


def test_pictures_that_are_faces_already_are_not_searched(no_extra, photo_album, photos):
    faces = load_folder(photo_album, size=(40, 34), cropped=True)
    assert faces.skipped == ()
    wanted = 255 * bring_to_size([photos["Bob/wall.png"]], (40, 34), np.float64)[0]
    assert_allclose(faces.images[-1], wanted, atol=0.51)


def test_without_the_extra_one_sentence_says_what_to_install(no_extra, photo_album):
    expected = (
        r"^To find faces in photographs lightproof needs .* install them with: pip install 'lightproof\[photos\]'\.$"
    )
    with pytest.raises(MissingExtra, match=expected):
        load_folder(photo_album)
