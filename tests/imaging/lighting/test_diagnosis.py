"""What the light does to a face: laws, toy pictures, rendered faces, and the labels of Extended Yale B."""

from __future__ import annotations

import dataclasses
import io
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import gaussian_filter

from benchmarks.diagnosis import errors, groups, row
from lightproof.datasets import FaceSet, make_relit_faces
from lightproof.datasets.protocols import has_even_number
from lightproof.errors import BadImage, BadParameter
from lightproof.imaging.detection import HeadPose
from lightproof.imaging.lighting import Diagnosis, diagnose, light_direction, light_directions
from lightproof.imaging.lighting.diagnosis import problem_for
from lightproof.imaging.lighting.light_direction import brightness
from lightproof.plots import draw_light
from tests.examples import examples

LIGHTS = [(0, 0), (15, 20), (-35, 15), (50, 0), (-70, 0), (85, 20), (110, 40), (-120, 0), (0, 45), (0, -35)]


@pytest.fixture(scope="module")
def lit() -> FaceSet:
    """Other people than those the direction is read off."""
    return make_relit_faces(6, LIGHTS, size=(96, 84), seed=5)


def even(grey: int, size: tuple[int, int] = (32, 28)) -> np.ndarray:
    return np.full(size, grey, np.uint8)


def halves(left: int, right: int) -> np.ndarray:
    return np.hstack([even(left), even(right)])


# --- the direction -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rendered_faces_give_their_light(lit):
    wrong = errors(lit, [diagnose(image) for image in lit.images])
    assert wrong.answered.all()
    assert np.nanmedian(wrong.azimuth) < 6
    assert np.nanpercentile(wrong.azimuth, 90) < 20
    assert np.nanmean(wrong.side) == 1
    assert np.median(wrong.elevation) < 10


def test_a_positive_azimuth_is_the_left_of_the_picture():
    face = make_relit_faces(1, [(60, 0)], seed=5).images[0]
    found = diagnose(face)
    assert face[:, :84].mean() > 2 * face[:, 84:].mean()
    assert found.azimuth > 40
    assert found.balance > 0.3
    assert found.side == "left"


@pytest.mark.slow
@pytest.mark.parametrize(("elevation", "height"), [(-35, "below"), (0, "level"), (45, "above")])
def test_the_height_is_named(lit, elevation, height):
    images = lit.images[(lit.azimuths == 0) & (lit.elevations == elevation)]
    named = [diagnose(image).height for image in images]
    assert named.count(height) >= 5


def test_a_mirrored_face_has_the_mirrored_light(lit):
    other = {"left": "right", "right": "left", "front": "front"}
    for image in lit.images[:20]:
        here, there = diagnose(image), diagnose(np.ascontiguousarray(image[:, ::-1]))
        assert there.azimuth == pytest.approx(-here.azimuth, abs=1e-3)
        assert there.elevation == pytest.approx(here.elevation, abs=1e-3)
        assert there.balance == pytest.approx(-here.balance)
        assert there.side == other[here.side]
        assert (there.shadow_share, there.clipped_share) == (here.shadow_share, here.clipped_share)


def test_a_face_is_as_far_from_renderings_and_their_mirror_images_as_they_are_written_out(rng):
    asked, rendered = rng.normal(size=(3, 16, 14)), rng.normal(size=(5, 16, 14))
    faces, halves_of = light_direction._halves(asked), light_direction._halves(rendered)
    far = light_direction._squared_distances(faces, halves_of)

    def weighed(light):
        light = light / np.linalg.norm(light, axis=(1, 2), keepdims=True)
        same, other = (light + light[:, :, ::-1]) / 2, (light - light[:, :, ::-1]) / 2
        return other + light_direction.SYMMETRIC * same

    both = weighed(np.concatenate([rendered, rendered[:, :, ::-1]]))
    np.testing.assert_allclose(far, np.square(weighed(asked)[:, None] - both).sum(axis=(2, 3)), rtol=1e-12)


def test_the_gain_of_the_camera_does_not_move_the_light(lit):
    for image in lit.images[:10]:
        dim = image // 2
        here, there = diagnose(dim), diagnose(2 * dim)
        assert there.azimuth == pytest.approx(here.azimuth, abs=1e-6)
        assert there.elevation == pytest.approx(here.elevation, abs=1e-6)
        assert there.sharpness == pytest.approx(here.sharpness)
        assert there.balance == pytest.approx(here.balance)


@pytest.mark.parametrize(
    "change",
    [lambda x: x ** (1 / 2.2), lambda x: 0.85 * x + 0.1, lambda x: 0.8 * x + 0.2 * x.mean(axis=(1, 2), keepdims=True)],
    ids=["gamma", "raised black", "light from all around"],
)
def test_the_curve_of_the_camera_moves_the_light_little(lit, change):
    curved = np.rint(255 * change(lit.images / 255.0)).astype(np.uint8)
    wrong = errors(lit, [diagnose(image) for image in curved])
    assert np.nanmedian(wrong.azimuth) < 10
    assert np.nanmean(wrong.side) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("size", [(16, 16), (48, 42), (192, 168), (201, 99)])
def test_any_size_gives_the_side(size):
    left, right = make_relit_faces(1, [(60, 0), (-60, 0)], size=size, seed=5).images
    assert (diagnose(left).side, diagnose(right).side) == ("left", "right")


def test_a_black_picture_has_no_direction():
    found = diagnose(even(0))
    assert (found.azimuth, found.elevation, found.side, found.height) == (None, None, None, None)
    assert found.hint.startswith("Too dark")
    assert (found.balance, found.sharpness, found.black_share) == (0, 0, 1)


def test_an_even_picture_has_no_direction(rng):
    noisy = rng.normal(128, 6, (96, 84)).round().astype(np.uint8)
    for face in (even(128), noisy):
        found = diagnose(face)
        assert (found.azimuth, found.side) == (None, None)
        assert found.hint == "The light cannot be read: the picture is even, or shows no upright face."


def test_a_picture_unlike_any_face_has_no_direction(rng):
    blocks = np.kron(rng.integers(0, 2, (16, 14)), np.ones((6, 6))).astype(np.uint8) * 200
    assert diagnose(blocks).azimuth is None


def test_a_white_picture_is_too_bright():
    assert diagnose(even(255)).hint.startswith("Too bright")


def told_one_by_one(images) -> np.ndarray:
    answers = [diagnose(image) for image in images]
    return np.array([[answer.azimuth, answer.elevation] for answer in answers], float)  # None becomes nan


def test_many_faces_in_one_go_have_the_directions_of_each_alone(lit, rng):
    noise = rng.integers(0, 256, (1, 96, 84)).astype(np.uint8)
    nothing = np.stack([even(0, (96, 84)), even(128, (96, 84))])
    images = np.concatenate([lit.images, nothing, noise, lit.images[:3] // 60])
    together = light_directions(images)
    assert together.shape == (len(images), 2)
    np.testing.assert_allclose(together, told_one_by_one(images), atol=1e-8)
    np.testing.assert_array_equal(np.isnan(together).all(axis=1), np.arange(len(images)) >= len(lit))
    # In blocks and out of order it is the same.
    np.testing.assert_allclose(light_directions(images[::-1]), together[::-1], atol=1e-8)


def test_no_faces_have_no_directions():
    assert light_directions(np.zeros((0, 32, 28), np.uint8)).shape == (0, 2)


def test_the_direction_is_told_as_long_as_the_brightness_exceeds_noise():
    dimmed = np.stack([make_one(0) // by for by in range(10, 80)])
    told = ~np.isnan(light_directions(dimmed)[:, 0])
    np.testing.assert_array_equal(told, [brightness(face) > 4 for face in dimmed])
    assert told.any()
    assert not told.all()


@given(st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_the_brightness_read_off_the_histogram_is_the_quantile(size, seed):
    face = np.random.default_rng(seed).integers(0, 256, (size, 1)).astype(np.uint8)
    assert brightness(face) == pytest.approx(float(np.quantile(face, 0.95)), abs=1e-9)


# --- the figures, by hand ------------------------------------------------------------------------------------------


def test_shares_count_pixels():
    face = even(100, (20, 20))
    face[0, :10] = 255  # 12 of 400 are brighter than 100, fewer than 5 %
    face[1, :10] = 5
    face[2, :4] = 24
    face[2, 4:8] = 25  # a quarter of 100 is no shadow yet
    face[2, 8:10] = 249
    face[3, 0] = 6
    found = diagnose(face)
    assert found.brightness == 100
    assert found.clipped_share == 10 / 400
    assert found.black_share == 10 / 400
    assert found.shadow_share == (10 + 4 + 1) / 400


def test_brightness_is_what_95_percent_of_the_pixels_do_not_exceed():
    face = np.tile(np.arange(21, dtype=np.uint8), (21, 1))  # 0 to 20, each as often as the others
    assert diagnose(face).brightness == 19


def test_balance_compares_the_halves():
    assert diagnose(halves(150, 50)).balance == pytest.approx(0.5)
    assert diagnose(halves(0, 50)).balance == -1


def test_the_middle_column_of_an_odd_width_belongs_to_no_half():
    face = np.hstack([even(90, (16, 8)), even(255, (16, 1)), even(30, (16, 8))])
    assert diagnose(face).balance == pytest.approx(0.5)


@examples(25)
@given(st.floats(1.0, 6.0), st.integers(0, 9))
def test_sharpness_falls_with_blur(blur, which):
    face = make_one(which)
    blurred = gaussian_filter(face.astype(float), blur).round().astype(np.uint8)
    more = gaussian_filter(face.astype(float), 1.5 * blur).round().astype(np.uint8)
    values = [diagnose(picture).sharpness for picture in (face, blurred, more)]
    assert 1 > values[0] > values[1] > values[2] > 0


@cache
def ten_faces() -> np.ndarray:
    return make_relit_faces(2, [(0, 0), (30, 10), (-60, 0), (0, 45), (90, 20)], seed=5).images


def make_one(which: int) -> np.ndarray:
    return ten_faces()[which]


# --- the hint ------------------------------------------------------------------------------------------------------

LOOKING = HeadPose(yaw=3.0, pitch=-8.0, roll=30.0, mouth_open=0.1, eyes_open=0.7)


def looking(**changes: float) -> dict[str, HeadPose]:
    return {"pose": dataclasses.replace(LOOKING, **changes)}


FINE = {
    "azimuth": 0.0,
    "elevation": 0.0,
    "balance": 0.0,
    "brightness": 180.0,
    "clipped": 0.0,
    "sharpness": 0.25,
    "eye_distance": None,
}
PROBLEMS = [
    ({"brightness": 20.0}, "Too dark"),
    ({"clipped": 0.3}, "Too bright"),
    ({"azimuth": None, "elevation": None}, "The light cannot be read"),
    (looking(yaw=31.6), "Your head is turned 32 degrees to your right (left in the picture): look at the camera."),
    ({"eye_distance": 25.4}, "The face is small, 25 pixels from eye to eye: come closer"),
    ({"sharpness": 0.05}, "The face is blurred: hold still"),
    ({"balance": 0.5}, "The right half of the picture, your left side, is in shadow: turn to your right"),
    (looking(pitch=-35.0), "Your head is turned 35 degrees down: look at the camera."),
    (looking(eyes_open=0.02), "Your eyes are closed"),
    (looking(mouth_open=0.8), "Your mouth is wide open"),
    ({"elevation": 60.0}, "The light comes steeply from above"),
    ({"azimuth": 120.0}, "The light is behind you, on your right (left in the picture)"),
    ({"elevation": -40.0}, "The light comes from below"),
]


@pytest.mark.parametrize(("change", "start"), PROBLEMS)
def test_each_problem_has_its_sentence(change, start):
    hint = problem_for(**{**FINE, **change})
    assert hint.startswith(start)
    assert hint.endswith(".")
    assert hint.count(". ") == 0


def test_the_more_important_problem_comes_first():
    merged = dict(FINE)
    for change, start in reversed(PROBLEMS[:7]):
        merged.update(change)
        assert problem_for(**merged).startswith(start)


def test_high_up_a_light_behind_is_called_high():
    assert problem_for(**{**FINE, "azimuth": 120.0, "elevation": 60.0}).startswith("The light comes steeply from above")
    assert problem_for(**{**FINE, "azimuth": 120.0, "elevation": -40.0}).startswith("The light is behind you")


def test_even_light_needs_nothing():
    assert problem_for(**FINE) is None
    assert problem_for(**{**FINE, "eye_distance": 90.0}) is None


def test_the_other_side_swaps_every_word():
    swapped = "The left half of the picture, your right side, is in shadow: turn to your left, toward the light."
    assert problem_for(**{**FINE, "balance": -0.5}) == swapped
    turned = "Your head is turned 32 degrees to your left (right in the picture): look at the camera."
    assert problem_for(**FINE, **looking(yaw=-31.6)) == turned
    assert problem_for(**FINE, **looking(pitch=35.0)) == "Your head is turned 35 degrees up: look at the camera."
    behind = "The light is behind you, on your left (right in the picture): turn around toward it."
    assert problem_for(**{**FINE, "azimuth": -120.0}) == behind


def test_a_head_that_is_turned_a_little_or_lies_on_its_side_needs_nothing():
    """A crop is cut upright, whatever the roll."""
    for yaw in (-15.0, 0.0, 15.0):
        for roll in (-50.0, 50.0):
            assert problem_for(**FINE, **looking(yaw=yaw, pitch=-15.0, roll=roll)) is None


def test_the_expression_is_said_last():
    wide = looking(eyes_open=0.0, mouth_open=1.0)
    assert problem_for(**{**FINE, "elevation": -40.0}, **wide).startswith("The light comes from below")
    assert problem_for(**FINE, **wide).startswith("Your eyes are closed")


def test_a_diagnosis_tells_the_pose_where_it_is_known(lit):
    told = ("yaw", "pitch", "roll", "mouth_open", "eyes_open")
    assert [getattr(diagnose(lit.images[0]), name) for name in told] == [None] * 5
    assert [getattr(diagnose(lit.images[0], pose=LOOKING), name) for name in told] == list(vars(LOOKING).values())
    with pytest.raises(BadParameter, match="`pose` of diagnose must be a HeadPose, or None; got 30"):
        diagnose(lit.images[0], pose=30)


def test_rendered_faces_get_the_hint_of_their_light():
    front, left, right = make_relit_faces(1, [(0, 5), (60, 0), (-60, 0)], seed=5).images
    assert diagnose(front).hint == "The light is even: nothing to do."
    assert [diagnose(face).even for face in (front, left, right)] == [True, False, False]
    assert diagnose(left).hint.startswith("The right half of the picture, your left side, is in shadow")
    assert diagnose(right).hint.startswith("The left half of the picture, your right side, is in shadow")
    blurred = gaussian_filter(front.astype(float), 5).round().astype(np.uint8)
    assert diagnose(blurred).hint.startswith("The face is blurred")
    assert diagnose(front, eye_distance=20).hint.startswith("The face is small, 20 pixels")
    assert diagnose(front // 8).hint.startswith("Too dark")


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("face", "got"),
    [
        ("face.png", "got str"),
        (np.zeros((20, 20)), r"got float64 of shape \(20, 20\)"),
        (np.zeros((20, 20, 3), np.uint8), r"got uint8 of shape \(20, 20, 3\)"),
        (np.zeros((15, 20), np.uint8), r"got uint8 of shape \(15, 20\)"),
    ],
)
def test_what_is_no_face_is_refused(face, got):
    legal = r"`face` of diagnose must be a grey face of shape \(h, w\), uint8, of at least 16 x 16 pixels; "
    with pytest.raises(BadImage, match=legal + got):
        diagnose(face)


@pytest.mark.parametrize(
    ("faces", "got"),
    [
        ([np.zeros((20, 20), np.uint8)], "got list"),
        (np.zeros((1, 20, 20)), r"got float64 of shape \(1, 20, 20\)"),
        (np.zeros((20, 20), np.uint8), r"got uint8 of shape \(20, 20\)"),
        (np.zeros((1, 15, 20), np.uint8), r"got uint8 of shape \(1, 15, 20\)"),
    ],
)
def test_what_are_no_faces_is_refused(faces, got):
    legal = r"`faces` of light_directions must be grey faces of shape \(n, h, w\), uint8, of at least 16 x 16 pixels; "
    with pytest.raises(BadImage, match=legal + got):
        light_directions(faces)


@pytest.mark.parametrize("distance", [0, -3.0, np.nan, np.inf, "90", True])
def test_what_is_no_distance_is_refused(distance):
    with pytest.raises(BadParameter, match="`eye_distance` of diagnose must be a positive number of pixels, or None"):
        diagnose(even(100), distance)


def test_a_diagnosis_is_plain_and_cannot_be_changed(lit):
    found = diagnose(lit.images[3], np.float32(50), LOOKING)
    assert {type(value) for value in dataclasses.asdict(found).values()} == {float, bool, str}
    assert found.eye_distance == 50
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.azimuth = 0.0


def test_the_face_is_not_touched(lit):
    face = lit.images[0].copy()
    face.flags.writeable = False
    diagnose(face)
    np.testing.assert_array_equal(face, lit.images[0])


# --- the picture ---------------------------------------------------------------------------------------------------


def lamp_pixels(png: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the lamp's color in the left half, where the face stands."""
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    assert pixels.shape == (500, 860, 3)
    return np.nonzero(np.abs(pixels[:, :440] - (230, 159, 0)).max(axis=2) < 12)


def seen_from(azimuth: float | None, elevation: float | None) -> Diagnosis:
    found = diagnose(make_one(0))
    return dataclasses.replace(found, azimuth=azimuth, elevation=elevation, side="left", height="level")


@pytest.mark.slow
def test_the_lamp_stands_on_the_side_of_the_light():
    columns = {azimuth: lamp_pixels(draw_light(make_one(0), seen_from(azimuth, 0)))[1] for azimuth in (60, -60)}
    assert columns[60].max() < 220 < columns[-60].min()
    rows = {elevation: lamp_pixels(draw_light(make_one(0), seen_from(0, elevation)))[0] for elevation in (50, -50)}
    assert rows[50].max() < 270 < rows[-50].min()


@pytest.mark.slow
def test_a_light_at_the_camera_is_a_ring_and_one_behind_is_hollow():
    ring = lamp_pixels(draw_light(make_one(0), seen_from(3, -2)))[1]
    assert ring.max() - ring.min() > 250
    before, behind = (len(lamp_pixels(draw_light(make_one(0), seen_from(a, 0)))[0]) for a in (60, 120))
    assert 50 < behind < before


def test_no_light_gives_no_lamp():
    assert len(lamp_pixels(draw_light(even(128), diagnose(even(128))))[0]) == 0


# --- Extended Yale B -----------------------------------------------------------------------------------------------


@pytest.mark.data
def test_the_light_of_extended_yale_b_is_found(yale):
    every_third = yale.take(np.arange(len(yale)) % 3 == 0)
    wrong = errors(every_third, [diagnose(image) for image in every_third.images])
    for who in (np.ones(len(every_third), bool), np.array([has_even_number(name) for name in every_third.labels])):
        assert np.nanmedian(wrong.azimuth[who]) <= 8
        assert np.nanpercentile(wrong.azimuth[who], 90) <= 20
        assert np.nanmean(wrong.side[who]) >= 0.95
        assert np.median(wrong.elevation[who]) <= 12


# --- the table of the benchmark ------------------------------------------------------------------------------------


def test_an_answer_is_judged_as_the_benchmark_says():
    faces = make_relit_faces(1, [(120, 0), (30, 10), (-30, 0), (0, 90)], size=(16, 16))
    known = diagnose(make_one(0))
    found = [
        dataclasses.replace(known, azimuth=-170.0, elevation=5.0, side="right"),
        dataclasses.replace(known, azimuth=12.0, elevation=10.0, side="front"),
        dataclasses.replace(known, azimuth=None, elevation=None, side=None),
        dataclasses.replace(known, azimuth=77.0, elevation=80.0, side="front"),
    ]
    wrong = errors(faces, found)
    np.testing.assert_array_equal(wrong.azimuth, [70, 18, 180, np.nan])
    np.testing.assert_array_equal(wrong.elevation, [5, 0, 90, 10])
    np.testing.assert_array_equal(wrong.side, [0, 0, 0, np.nan])
    assert row("all", wrong, np.ones(4, bool)) == ["all", "4", "70.0", "158.0", "0.0", "7.5", "66.0", "1"]


def test_the_groups_of_the_benchmark_cover_every_photo_once():
    faces = make_relit_faces(2, None, size=(16, 16))
    chosen = groups(faces)
    for prefix in ("azimuth", ("subset", "training"), ("odd", "even")):
        counts = np.sum([mask for name, mask in chosen.items() if name.startswith(prefix)], axis=0)
        assert (counts == 1).all()
