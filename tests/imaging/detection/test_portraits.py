"""Files, contents of files and arrays go through one door, and no picture without a face comes out of it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from lightproof.errors import BadImage, BadParameter, MissingExtra, NoFace, SeveralFaces
from lightproof.imaging.detection import LOOKS, Portrait, cut, find_faces, pictures_of, read_portrait, read_portraits
from tests.scenes import as_photo, clutter, compose

NONE_FOUND = (
    r"must be a photo of a face with at least 20 pixels between the eyes; got none in any look "
    rf"\({', '.join(LOOKS)}\)\.$"
)


def png(photo):
    file = io.BytesIO()
    Image.fromarray(photo).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def one(sitters):
    return compose(sitters[0]).photo


@pytest.fixture(scope="module")
def two(sitters):
    """Two people; the second is the larger one."""
    scene = compose(sitters[0], (300, 560), 55, middle=140 + 110j)
    return compose(sitters[1], eye_distance=80, middle=390 + 120j, before=scene).photo


@pytest.fixture(scope="module")
def wall():
    return as_photo(clutter(120, 150, 0))


@pytest.fixture
def folder(tmp_path, one, two, wall):
    for name, photo in (("one", one), ("two", two), ("wall", wall)):
        (tmp_path / f"{name}.png").write_bytes(png(photo))
    return tmp_path


# ------------------------------------------------------------------------------------------------------ read_portrait


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_a_photo_gives_the_same_face_however_it_comes(folder, one):
    (face,) = find_faces(one)
    for source in (folder / "one.png", str(folder / "one.png"), png(one), one):
        portrait = read_portrait(source)
        assert isinstance(portrait, Portrait)
        assert (portrait.face, portrait.n_faces) == (face, 1)
        assert_array_equal(portrait.image, cut(one, face))
        assert portrait.image.shape == (192, 168)
        assert portrait.image.dtype == np.uint8


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_of_several_faces_the_largest_is_taken_and_their_number_told(folder, two):
    largest, _ = find_faces(two)
    portrait = read_portrait(folder / "two.png")
    assert (portrait.face, portrait.n_faces) == (largest, 2)
    assert_array_equal(portrait.image, cut(two, largest))


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_several_faces_are_refused_on_request(folder, two, one):
    path = folder / "two.png"
    with pytest.raises(SeveralFaces, match=rf"^{path} must be a photo of one face; got 2 faces\.$"):
        read_portrait(path, several="refuse")
    with pytest.raises(SeveralFaces, match=r"^the picture must be a photo of one face; got 2 faces\.$"):
        read_portrait(two, several="refuse")
    assert read_portrait(one, several="refuse").n_faces == 1


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_every_face_of_a_photo_is_cut_out_the_largest_first(folder, two):
    portraits = list(read_portraits(folder / "two.png"))
    assert [portrait.face for portrait in portraits] == find_faces(two)
    assert [portrait.n_faces for portrait in portraits] == [2, 2]
    for portrait in portraits:
        assert_array_equal(portrait.image, cut(two, portrait.face))


@pytest.mark.usefixtures("photos_extra")
def test_a_photo_without_a_face_is_refused_by_its_name(folder, wall):
    path = folder / "wall.png"
    for ask, named in (
        (lambda: read_portrait(path), path),
        (lambda: read_portrait(str(path)), path),
        (lambda: read_portrait(path, where="Ann's photo"), "Ann's photo"),
        (lambda: read_portrait(wall), "the picture"),
        (lambda: next(read_portraits(path)), path),
    ):
        with pytest.raises(NoFace, match=rf"^{named} {NONE_FOUND}"):
            ask()
    assert issubclass(NoFace, BadImage)


def test_a_picture_that_is_a_face_already_stays_as_it_is_and_needs_no_networks(no_extra, folder, wall, one):
    for source in (folder / "wall.png", png(wall), wall):
        portrait = read_portrait(source, cropped=True, several="refuse")
        assert (portrait.face, portrait.n_faces) == (None, 1)
        assert_array_equal(portrait.image, wall)
    with pytest.raises(MissingExtra, match=r"pip install 'lightproof\[photos\]'\.$"):
        read_portrait(one)


@pytest.mark.parametrize("cropped", [True, False])
def test_what_is_no_picture_is_refused_by_its_name(tmp_path, cropped):
    (tmp_path / "notes.png").write_text("no picture")
    with pytest.raises(BadImage, match=rf"^{tmp_path / 'notes.png'} must be "):
        read_portrait(tmp_path / "notes.png", cropped=cropped)
    with pytest.raises(BadImage, match=r"^Ann's photo must be "):
        read_portrait(b"no picture", cropped=cropped, where="Ann's photo")
    with pytest.raises(BadImage, match=rf"^{tmp_path / 'none.png'} must be "):
        read_portrait(tmp_path / "none.png", cropped=cropped)


@pytest.mark.parametrize("several", ["smallest", None, True])
def test_another_way_with_several_faces_is_refused(several):
    expected = rf"^`several` of read_portrait must be one of 'largest', 'refuse'; got {several!r}\.$"
    with pytest.raises(BadParameter, match=expected):
        read_portrait(np.zeros((64, 64), np.uint8), several=several)


# -------------------------------------------------------------------------------------------------------- pictures_of


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((2, 40, 34), np.uint8),
        np.zeros((2, 40, 34)),
        [np.zeros((40, 34), np.uint8)],
        (np.zeros((40, 34)), np.zeros((20, 17))),
        [],
        None,
        7,
        {"a": 1},
        np.zeros(0, object),
        (picture for picture in ["photo.jpg"]),
    ],
    ids=lambda X: type(X).__name__,
)
def test_what_holds_no_file_comes_back_as_it_is(no_extra, X):
    assert pictures_of(X) is X


def test_files_that_are_faces_take_their_places_among_arrays(no_extra, folder, wall, one):
    crop = np.zeros((40, 34))
    pictures = pictures_of([folder / "wall.png", crop, str(folder / "one.png"), png(wall)], cropped=True)
    assert len(pictures) == 4
    assert pictures[1] is crop
    for found, expected in zip(pictures[::2], (wall, one), strict=True):
        assert_array_equal(found, expected)
    assert_array_equal(pictures[3], wall)


@pytest.mark.parametrize("dtype", [np.str_, object])
def test_an_array_of_paths_is_a_list_of_files(no_extra, folder, wall, one, dtype):
    paths = np.array([str(folder / "wall.png"), str(folder / "one.png")], dtype=dtype)
    for found, expected in zip(pictures_of(paths, cropped=True), (wall, one), strict=True):
        assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_photographs_become_the_faces_in_them(folder, one, two):
    found = pictures_of([folder / "two.png", png(one)])
    assert_array_equal(found[0], read_portrait(two).image)
    assert_array_equal(found[1], read_portrait(one).image)


@pytest.mark.usefixtures("photos_extra")
def test_one_photo_without_a_face_refuses_the_list_and_says_which_it_is(folder, one, wall):
    with pytest.raises(NoFace, match=rf"^{folder / 'wall.png'} {NONE_FOUND}"):
        pictures_of([folder / "one.png", folder / "wall.png"])
    with pytest.raises(NoFace, match=rf"^X\[1\] {NONE_FOUND}"):
        pictures_of([png(one), png(wall)])


def test_contents_that_are_no_picture_are_called_by_their_place(no_extra, wall):
    with pytest.raises(BadImage, match=r"^X\[1\] must be "):
        pictures_of([png(wall), b"no picture"], cropped=True)


@pytest.mark.parametrize(("X", "kind"), [("photo.jpg", "str"), (b"\x89PNG", "bytes"), (np.str_("a.png"), "str_")])
def test_one_file_is_no_list(X, kind):
    expected = rf"^X must be a list of pictures, even of one: \['photo\.jpg'\]; got a {kind}\.$"
    with pytest.raises(BadImage, match=expected):
        pictures_of(X)
