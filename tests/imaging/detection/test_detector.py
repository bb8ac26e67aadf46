"""Faces are found in photos that the tests compose, at every size, turn and light; and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from skimage import data
from sklearn.datasets import load_sample_image

from lightproof.errors import BadImage, MissingExtra
from lightproof.imaging.detection import (
    LOOKS,
    Face,
    align_by_eyes,
    cut,
    detector,
    face_networks,
    find_faces,
    mesh_of_crop,
)
from lightproof.imaging.detection.detector import Pyramid
from lightproof.imaging.detection.eye_alignment import eye_places
from tests.scenes import as_photo, clutter, compose, darkened, seat

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("photos_extra")]

NEAR = 0.04
"""Share of the eye distance; on the frontal scenes below the worst is 0.03."""


def the_face(photo):
    """The only face in a photo."""
    (face,) = find_faces(photo)
    return face


def grey(picture):
    return as_photo(picture[..., :3].mean(axis=2) / 255) if picture.ndim == 3 else as_photo(picture / picture.max())


# ------------------------------------------------------------------------------------------------------------- scenes


@pytest.mark.parametrize("eye_distance", [30, 45, 70, 110, 150])
def test_faces_of_every_size_are_found(sitters, eye_distance):
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, eye_distance=eye_distance, seed=i)
        face = the_face(scene.photo)
        assert scene.eye_error(face) < NEAR
        assert face.eye_distance == pytest.approx(eye_distance, rel=0.06)


@pytest.mark.parametrize("roll", [-20, -10, 10, 20])
def test_rolled_faces_are_found_and_the_roll_is_told(sitters, roll):
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, roll=roll, seed=i)
        face = the_face(scene.photo)
        assert scene.eye_error(face) < NEAR
        assert face.roll == pytest.approx(roll, abs=3)


@pytest.mark.parametrize("brightness", [0.3, 0.1, 0.03])
def test_faces_in_the_dark_are_found(sitters, brightness):
    """At 0.03 white is 8 of 255, and the noise of the camera is 1."""
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, seed=i)
        assert scene.eye_error(the_face(darkened(scene.photo, brightness))) < NEAR


@pytest.mark.parametrize(("azimuth", "brightness"), [(50.0, 1), (-70.0, 1), (100.0, 1), (50.0, 0.1)])
def test_faces_lit_from_the_side_are_found(sitters, azimuth, brightness):
    """Where half of the face is black, an eye may be off by more than in even light."""
    scenes = [compose(sitter, azimuth=azimuth, seed=i) for i, sitter in enumerate(sitters)]
    errors = [scene.eye_error(the_face(darkened(scene.photo, brightness))) for scene in scenes]
    assert np.median(errors) < 0.06
    assert max(errors) < 0.1


@pytest.mark.parametrize("middle", [55 + 150j, 425 + 150j, 240 + 20j, 240 + 300j, 55 + 25j])
def test_faces_that_the_border_cuts_are_found(sitters, middle):
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, middle=middle, seed=i)
        assert scene.eye_error(the_face(scene.photo)) < NEAR


def test_eyes_beyond_the_border_are_no_face(sitters):
    """What cannot be seen is not made up: an eye would be outside the photo."""
    for i, sitter in enumerate(sitters[:2]):
        assert find_faces(compose(sitter, middle=35 + 150j, seed=i).photo) == []


def test_a_head_on_its_side_is_no_face_to_cut(sitters):
    """Whichever way the detector takes it: never eyes that the crop then refuses."""
    for i, sitter in enumerate(sitters):
        for turns in (1, 2, 3):
            lying = np.rot90(compose(sitter, seed=i).photo, turns)
            assert all(abs(face.roll) <= detector.MAX_ROLL_DEGREES for face in find_faces(np.ascontiguousarray(lying)))


@pytest.mark.parametrize("eye_distance", [24, 40])
def test_of_a_group_nobody_is_missed(sitters, eye_distance):
    """Twelve alike in size, some of them just large enough for the squares in which others are missed."""
    places = [complex(x, y) for y in (150, 400, 650) for x in (150, 450, 750, 1050)]
    scene = compose(sitters[0], (800, 1200), eye_distance, middle=places[0], seed=3)
    for i, place in enumerate(places[1:], start=1):
        scene = compose(sitters[i % len(sitters)], eye_distance=eye_distance, middle=place, before=scene)
    assert len(find_faces(scene.photo)) == len(places)


@pytest.mark.parametrize("seed", [0, 1])
def test_of_several_faces_all_are_found_once_and_the_largest_comes_first(sitters, seed):
    scene = compose(sitters[0], (420, 700), 55, middle=130 + 110j, seed=seed)
    scene = compose(sitters[1], eye_distance=90, middle=370 + 180j, before=scene)
    scene = compose(sitters[2], eye_distance=70, middle=580 + 250j, roll=10, before=scene)
    faces = find_faces(scene.photo)
    assert len(faces) == 3
    for face, person in zip(faces, (1, 2, 0), strict=True):
        assert scene.eye_error(face, person) < NEAR


def test_a_small_face_in_a_large_photo_is_found(sitters):
    """Each group of smaller squares is tried where the ones before show nothing."""
    for depths, eye_distance in ((1, 60), (2, 30)):
        scene = compose(sitters[0], (640, 960), eye_distance, middle=700 + 420j, seed=5)
        assert scene.eye_error(the_face(scene.photo)) < NEAR, depths


def test_a_tall_photo_is_searched_as_a_wide_one(sitters):
    for size in ((800, 260), (260, 800)):
        middle = complex(130, 650) if size[0] > size[1] else complex(650, 110)
        scene = compose(sitters[1], size, 60, middle=middle, seed=2)
        assert scene.eye_error(the_face(scene.photo)) < NEAR


def test_eyes_that_are_too_near_are_no_face_to_compare(sitters):
    assert not find_faces(compose(sitters[0], (200, 260), eye_distance=17).photo)
    assert len(find_faces(compose(sitters[0], (200, 260), eye_distance=24).photo)) == 1


@pytest.mark.parametrize("brightness", [1, 0.1, 0.03])
def test_the_pupils_of_a_real_face_are_found_to_the_pixel(brightness):
    """Marked by eye in scikit-image's portrait of an astronaut."""
    face = the_face(darkened(grey(data.astronaut()), brightness))
    assert_allclose([*face.right_eye, *face.left_eye], [203.5, 101, 246, 103], atol=1.2)


# ---------------------------------------------------------------------------------------------------- nobody is there


@pytest.mark.parametrize(("seed", "brightness"), [(0, 1), (2, 0.1), (3, 0.03)])
def test_clutter_is_no_face(seed, brightness):
    assert find_faces(darkened(as_photo(clutter(240, 320, seed)), brightness)) == []


@pytest.mark.parametrize("name", ["brick", "coffee", "page"])
def test_pictures_of_things_show_no_face(name):
    """A wall, a cup and a page."""
    assert find_faces(grey(getattr(data, name)().astype(float))) == []


@pytest.mark.parametrize("name", ["china.jpg", "flower.jpg"])
def test_a_temple_and_a_flower_show_no_face(name):
    assert find_faces(grey(load_sample_image(name))[::2, ::2]) == []


@pytest.mark.parametrize("kind", ["black", "white", "noise", "dark noise", "slope"])
def test_where_there_is_nothing_there_is_no_face(rng, kind):
    photo = {
        "black": np.zeros((160, 200)),
        "white": np.full((160, 200), 255),
        "noise": rng.integers(0, 256, (160, 200)),
        "dark noise": rng.poisson(2, (160, 200)),
        "slope": np.tile(np.linspace(0, 255, 200), (160, 1)),
    }[kind]
    assert find_faces(photo.astype(np.uint8)) == []


@pytest.mark.parametrize("shape", [(1, 1), (39, 500), (500, 39), (0, 0)])
def test_a_photo_with_room_for_no_face_shows_none(shape):
    assert find_faces(np.zeros(shape, np.uint8)) == []


# --------------------------------------------------------------------------------------------------- how it is decided


def test_the_look_that_found_the_face_is_told(sitters, monkeypatch):
    scene = compose(sitters[0])
    assert the_face(scene.photo).look == "gamma" == next(iter(LOOKS))
    monkeypatch.setattr(detector, "LOOKS", {"nothing": np.zeros_like, "bright": np.sqrt, "plain": LOOKS["plain"]})
    face = the_face(scene.photo)
    assert face.look == "bright"
    assert scene.eye_error(face) < NEAR


@pytest.mark.parametrize("look", LOOKS)
def test_a_well_lit_face_is_found_in_every_look(sitters, monkeypatch, look):
    monkeypatch.setattr(detector, "LOOKS", {look: LOOKS[look]})
    scene = compose(sitters[0])
    face = the_face(scene.photo)
    assert face.look == look
    assert scene.eye_error(face) < NEAR


@pytest.mark.parametrize("look", LOOKS)
def test_every_look_keeps_black_black_and_white_white_and_the_order_between(look):
    greys = LOOKS[look](np.repeat(np.linspace(0, 1, 256)[:, None], 8, axis=1))
    assert_allclose([greys.min(), greys.max()], [0, 1], atol=0.2 if look == "smooth" else 1e-6)
    assert (np.diff(greys, axis=0) >= 0).all()


def test_without_another_light_dark_faces_are_lost(sitters, monkeypatch):
    """Why the plain look is not the first one, and not the only one."""
    dark = [darkened(compose(sitter, seed=i).photo, 0.03) for i, sitter in enumerate(sitters)]
    monkeypatch.setattr(detector, "LOOKS", {"plain": LOOKS["plain"]})
    assert sum(len(find_faces(photo)) for photo in dark) < len(dark)


@pytest.mark.parametrize(("apart", "found"), [(0.02, 1), (0.2, 0)])
def test_a_face_on_which_the_mesh_and_its_mirror_disagree_is_none(sitters, monkeypatch, apart, found):
    scene = compose(sitters[0])
    true_mesh, calls = detector.lay_mesh, []

    def moved(square):
        presence, points = true_mesh(square)
        calls.append(square)
        # Every second mesh is the one in the mirror. The eyes are some 75 pixels apart in its square.
        return presence, points + (len(calls) % 2) * apart * np.array([0, 75, 0])

    monkeypatch.setattr(detector, "MAX_DEPTH", 1)
    monkeypatch.setattr(detector, "LOOKS", {"gamma": LOOKS["gamma"]})
    monkeypatch.setattr(detector, "lay_mesh", moved)
    assert len(find_faces(scene.photo)) == found


@pytest.mark.parametrize(("sure", "found"), [(0.96, 1), (0.94, 0)])
def test_a_face_that_the_mesh_doubts_is_none(sitters, monkeypatch, sure, found):
    scene, true_mesh = compose(sitters[0]), detector.lay_mesh

    def doubting(square):
        presence, points = true_mesh(square)
        return min(presence, sure), points

    monkeypatch.setattr(detector, "MAX_DEPTH", 1)
    monkeypatch.setattr(detector, "LOOKS", {"gamma": LOOKS["gamma"]})
    monkeypatch.setattr(detector, "lay_mesh", doubting)
    faces = find_faces(scene.photo)
    assert [face.score for face in faces] == [sure] * found


@pytest.mark.parametrize(("off", "closer_looks"), [(0.02, 1), (0.25, 2)])
def test_eyes_that_a_closer_look_moves_far_are_looked_at_once_more(sitters, monkeypatch, off, closer_looks):
    scene, true_mesh, meshes = compose(sitters[0]), detector.lay_mesh, []
    monkeypatch.setattr(detector, "lay_mesh", lambda square: meshes.append(square) or true_mesh(square))
    face = detector._look_closer(Pyramid(scene.photo), np.array(scene.eyes[0]) + off * 80j, "gamma")
    assert scene.eye_error(face) < NEAR
    assert face.score > 0.99
    assert len(meshes) == 2 * closer_looks  # upright and in the mirror


@pytest.mark.parametrize(("eye_distance", "squares"), [(110, 1), (60, 1 + 9)])
def test_a_face_that_fills_the_photo_is_found_in_one_square(sitters, monkeypatch, eye_distance, squares):
    """Where there is room for others, nine squares of half its side are looked at too."""
    scene, true_guess, seen = compose(sitters[0], (480, 480), eye_distance), detector.guess_faces, []
    monkeypatch.setattr(detector, "guess_faces", lambda square: seen.append(square) or true_guess(square))
    assert scene.eye_error(the_face(scene.photo)) < NEAR
    assert len(seen) == squares


def test_the_same_photo_gives_the_same_faces_to_the_last_bit(sitters):
    scene = compose(sitters[0])
    first = find_faces(scene.photo)
    find_faces(compose(sitters[1], seed=1).photo)
    assert find_faces(scene.photo) == first


def test_a_mirrored_photo_shows_the_mirrored_face(sitters):
    scene = compose(sitters[0], middle=200 + 130j, roll=8)
    face, other = the_face(scene.photo), the_face(np.ascontiguousarray(scene.photo[:, ::-1]))
    width = scene.photo.shape[1]
    assert_allclose(width - 1 - other.left_eye[0], face.right_eye[0], atol=NEAR * 80)
    assert other.roll == pytest.approx(-face.roll, abs=2)


def test_a_photo_is_not_changed(sitters):
    photo = compose(sitters[0]).photo
    before = photo.copy()
    find_faces(photo)
    assert_array_equal(photo, before)


def test_a_photo_that_may_not_be_written_and_is_not_in_rows_is_searched(sitters):
    photo = compose(sitters[0]).photo
    strange = np.asfortranarray(photo)
    strange.flags.writeable = False
    face, expected = the_face(strange), the_face(photo)
    # Sums in another order: not to the last bit.
    assert_allclose([*face.right_eye, *face.left_eye], [*expected.right_eye, *expected.left_eye], atol=0.01)


# ------------------------------------------------------------------------------------------------------ face and crop


def test_distance_and_roll_are_those_of_the_eyes():
    face = Face((10.0, 20.0), (13.0, 24.0), 1.0, "gamma")
    assert face.eye_distance == 5
    assert face.roll == pytest.approx(np.degrees(np.arctan2(4, 3)))


def test_a_face_is_cut_by_its_eyes(sitters):
    scene = compose(sitters[0], roll=15)
    face = the_face(scene.photo)
    crop = cut(scene.photo, face)
    assert crop.shape == (192, 168)
    assert_array_equal(crop, align_by_eyes(scene.photo, face.right_eye, face.left_eye))
    assert cut(scene.photo, face, (64, 56)).shape == (64, 56)


def test_the_crop_of_a_found_face_is_the_face_that_was_set_in(sitters):
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, eye_distance=97, roll=-12, seed=i)
        crop = cut(scene.photo, the_face(scene.photo))
        right, left = ((eye.real, eye.imag) for eye in sitter.pupils)
        inside = np.s_[30:160, 25:143]
        wanted = align_by_eyes(sitter.front, right, left)[inside]
        # Another person's face is at 0.6 to 0.74.
        assert np.corrcoef(crop[inside].ravel(), wanted.ravel())[0, 1] > 0.9


@pytest.mark.parametrize(
    ("image", "got"),
    [
        (np.zeros((80, 100, 3), np.uint8), r"uint8 of shape \(80, 100, 3\)"),
        (np.zeros((80, 100)), r"float64 of shape \(80, 100\)"),
        ("photo.jpg", "str"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_grey_photo_is_refused(image, got):
    expected = rf"^`image` of find_faces must be a grey photo of shape \(h, w\), uint8; got {got}\.$"
    with pytest.raises(BadImage, match=expected):
        find_faces(image)


# --------------------------------------------------------------------------------------------------------------- mesh


PUPILS = list(face_networks.PUPILS)


def on_crop(face, size):
    """The mesh of a face in a photo, moved to where its points lie in the crop."""
    right, left = eye_places(*size)
    step = (complex(*face.left_eye) - complex(*face.right_eye)) / (left - right)
    points = (face.mesh[:, 0] + 1j * face.mesh[:, 1] - complex(*face.right_eye)) / step + right
    return np.column_stack([points.real, points.imag, face.mesh[:, 2] / abs(step)])


@pytest.mark.parametrize("roll", [0, 15])
def test_a_face_keeps_its_mesh_in_pixels_of_the_photo(sitters, roll):
    scene = compose(sitters[0], roll=roll)
    face = the_face(scene.photo)
    assert face.mesh.shape == (478, 3)
    assert_allclose(face.mesh[PUPILS, :2], [face.right_eye, face.left_eye], atol=1e-9)
    assert 0 < face.mesh_gap < 0.1
    # The tip of the nose is nearer to the camera than the eyes by some tens of pixels, the ears are farther away.
    nose, ear = face.mesh[4, 2] - face.mesh[PUPILS, 2].mean(), face.mesh[234, 2] - face.mesh[PUPILS, 2].mean()
    assert -1.5 * 80 < nose < -0.2 * 80 < 0.2 * 80 < ear < 1.5 * 80


def test_a_mesh_cannot_be_written_and_leaves_equality_and_hash_to_the_eyes(sitters):
    face = the_face(compose(sitters[0]).photo)
    with pytest.raises(ValueError, match="read-only"):
        face.mesh[0, 0] = 1
    bare = Face(face.right_eye, face.left_eye, face.score, face.look)
    assert face == bare
    assert hash(face) == hash(bare)
    assert bare.mesh is bare.mesh_gap is None


def test_a_photo_of_twice_the_size_has_a_mesh_of_twice_the_size(sitters):
    small, large = (the_face(compose(sitters[0], (r * 360, r * 480), r * 80).photo) for r in (1, 2))
    assert_allclose(large.mesh_gap, small.mesh_gap, atol=0.02)
    shapes = [(face.mesh - face.mesh.mean(axis=0)) / face.eye_distance for face in (small, large)]
    assert np.linalg.norm(shapes[1] - shapes[0], axis=1).mean() < 0.05


@pytest.mark.parametrize("size", [(192, 168), (96, 84), (64, 56)])
def test_a_crop_gets_the_mesh_that_its_photo_gave(sitters, size):
    for i, sitter in enumerate(sitters):
        scene = compose(sitter, eye_distance=97, seed=i)
        face = the_face(scene.photo)
        found = mesh_of_crop(cut(scene.photo, face, size))
        expected = on_crop(face, size)
        inside = ((expected[:, :2] >= 0) & (expected[:, :2] < size[::-1])).all(axis=1)
        off = np.hypot(*(found.mesh - expected)[inside, :2].T).mean()
        assert off < 0.06 * 0.58 * size[1]
        assert not found.mesh.flags.writeable


def test_a_crop_lit_from_the_side_gets_a_mesh(sitters):
    """The border drawn on alone is not enough for all of them."""
    for sitter in sitters:
        for azimuth in (50.0, -70.0):
            assert mesh_of_crop(sitter.lit[azimuth]) is not None


def test_a_crop_is_looked_at_in_another_light_where_the_first_shows_no_face(sitters, monkeypatch):
    crop = sitters[0].front
    assert mesh_of_crop(crop).look == "gamma"
    monkeypatch.setattr(detector, "LOOKS", {"nothing": np.zeros_like, "plain": LOOKS["plain"]})
    assert mesh_of_crop(crop).look == "plain"


@pytest.mark.parametrize("kind", ["black", "clutter", "upside down", "tiny"])
def test_a_crop_that_shows_no_face_gets_no_mesh(sitters, kind):
    crop = {
        "black": np.zeros((192, 168), np.uint8),
        "clutter": as_photo(clutter(192, 168, 1)),
        "upside down": np.ascontiguousarray(sitters[0].front[::-1]),
        "tiny": np.zeros((15, 40), np.uint8),
    }[kind]
    assert mesh_of_crop(crop) is None


def test_a_crop_without_the_extra_says_what_to_install(no_extra):
    with pytest.raises(MissingExtra, match="photos"):
        mesh_of_crop(np.zeros((64, 56), np.uint8))


def test_a_crop_that_is_no_grey_picture_is_refused():
    with pytest.raises(BadImage, match=r"^`image` of mesh_of_crop must be a grey photo"):
        mesh_of_crop(np.zeros((64, 56)))


def test_a_quick_look_finds_the_same_large_face_and_leaves_out_the_small():
    large = compose(seat(1)[0], eye_distance=80)
    [thorough], [quick] = find_faces(large.photo), find_faces(large.photo, quick=True)
    assert quick == thorough
    small = compose(seat(1)[0], size=(720, 960), eye_distance=24)
    assert find_faces(small.photo)
    assert find_faces(small.photo, quick=True) == []
