"""Laws of the made-up faces: repeatable, lit as the light says, different people."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import mtrand
from numpy.typing import NDArray

from lightproof.datasets import synthetic
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.rendering import Canvas
from lightproof.datasets.rendering.expression import JAW_DROP, moved_face
from lightproof.datasets.rendering.person import TRAIT_RANGES, Plane, warped_plane
from lightproof.datasets.rendering.surface import Surface, make_surface
from lightproof.datasets.rendering.turned_head import make_head, rotation, view_of
from lightproof.datasets.synthetic import YALE_LIGHTS, YALE_LIGHTS_DEFAULT, Light, make_relit_faces
from lightproof.errors import BadParameter
from lightproof.imaging.detection import find_faces
from lightproof.imaging.detection.face_networks import mirror_order
from tests.examples import examples
from tests.scenes import pupils_of

Gray = NDArray[np.float64]
SMALL = (64, 56)
FRONT = (0, 0)


def faces(*lights: Light, n_subjects: int = 1, seed: int = 0, size: tuple[int, int] = SMALL) -> FaceSet:
    return make_relit_faces(n_subjects, lights, size, seed)


def mean_gray(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    return np.asarray(images.mean(axis=(1, 2)), dtype=np.float64)


@pytest.fixture(scope="module")
def crowd() -> FaceSet:
    """Three people under the 16 default lights."""
    return make_relit_faces(3, size=SMALL)


class TestRepeatability:
    @pytest.mark.slow
    def test_same_seed_gives_same_bits(self, crowd: FaceSet) -> None:
        again = make_relit_faces(3, size=SMALL)
        np.testing.assert_array_equal(again.images, crowd.images)

    @pytest.mark.slow
    def test_other_seed_gives_other_people(self, crowd: FaceSet) -> None:
        other = faces(FRONT, n_subjects=2, seed=1)
        for stranger in other.images.astype(float):
            assert min(np.abs(stranger - known).mean() for known in crowd.images[::16]) > 8

    def test_the_global_random_state_is_left_alone(self) -> None:
        before = mtrand.get_state(legacy=False)
        faces(FRONT, size=(16, 16))
        after = mtrand.get_state(legacy=False)
        np.testing.assert_array_equal(before["state"]["key"], after["state"]["key"])
        assert before["state"]["pos"] == after["state"]["pos"]

    def test_a_person_does_not_depend_on_how_many_are_asked_for(self, crowd: FaceSet) -> None:
        first = make_relit_faces(1, size=SMALL)
        np.testing.assert_array_equal(first.images, crowd.images[:16])

    def test_a_photo_does_not_depend_on_the_other_lights(self, crowd: FaceSet) -> None:
        light = YALE_LIGHTS_DEFAULT[9]
        alone = faces(light)
        np.testing.assert_array_equal(alone.images[0], crowd.images[9])

    def test_noise_differs_from_light_to_light_and_person_to_person(self) -> None:
        draws = [synthetic._sensor_rng(0, i, light).random() for i in range(3) for light in YALE_LIGHTS]
        assert len(set(draws)) == 3 * 64

    @pytest.mark.slow
    def test_a_person_stays_the_same_at_another_size(self) -> None:
        large = faces((-20, 10), n_subjects=3, size=(192, 168)).images.astype(float)
        small = faces((-20, 10), n_subjects=3, size=(96, 84)).images.astype(float)
        shrunk = large.reshape(3, 96, 2, 84, 2).mean(axis=(2, 4))
        distance = np.abs(shrunk[:, None] - small[None]).mean(axis=(2, 3))
        assert distance.diagonal().max() < 4
        assert distance[~np.eye(3, dtype=bool)].min() > 2 * distance.diagonal().max()


class TestLight:
    def test_positive_azimuth_lights_the_left_of_the_picture(self) -> None:
        azimuths = (25, -25, 50, -50, 70, -70, 110, -110)
        half = SMALL[1] // 2
        for azimuth, image in zip(azimuths, faces(*((a, 0) for a in azimuths)).images.astype(float), strict=True):
            left, right = image[:, :half].mean(), image[:, half:].mean()
            assert (left - right) * np.sign(azimuth) > 0.15 * min(left, right)

    @pytest.mark.slow
    def test_light_from_above_leaves_the_underside_of_the_nose_dark(self) -> None:
        above, below = faces((0, 45), (0, -35), n_subjects=2, size=(192, 168)).images.reshape(2, 2, 192, 168).mean(0)
        underside = (slice(104, 114), slice(76, 92))
        assert below[underside].mean() > 1.5 * above[underside].mean()

    def test_harder_light_is_darker_and_has_more_shadow(self) -> None:
        lights = ((0, 0), (50, 0), (85, 20), (130, 20))
        images = faces(*lights, n_subjects=2).images.reshape(2, 4, *SMALL)
        for person in images:
            assert (np.diff(mean_gray(person)) < 0).all()
            assert (np.diff((person < 12).mean(axis=(1, 2))) > 0).all()

    def test_the_hardest_light_still_shows_something(self) -> None:
        images = faces((130, 20), (-110, -20), (0, 90), n_subjects=2).images
        assert (np.percentile(images, 99, axis=(1, 2)) > 25).all()
        assert (np.percentile(images, 10, axis=(1, 2)) < 12).all()

    def test_the_nose_throws_a_shadow_that_lambert_alone_does_not_give(self) -> None:
        surface = make_surface(Canvas(np.random.default_rng([0, 1])), (192, 168))
        cast = synthetic._radiance(surface, (50, 0))
        bare = synthetic._radiance(surface, (50, 0), cast_shadows=False)
        hidden = (cast < 0.3 * bare) & (bare > 0.1)
        beside_nose, other_side = hidden[60:105, 95:130], hidden[60:105, 38:73]
        assert beside_nose.mean() > 0.15
        assert other_side.mean() < 0.02

    def test_a_frontal_lamp_throws_no_shadow(self) -> None:
        surface = make_surface(Canvas(np.random.default_rng([0, 0])), SMALL)
        np.testing.assert_array_equal(
            synthetic._radiance(surface, FRONT), synthetic._radiance(surface, FRONT, cast_shadows=False)
        )

    @pytest.mark.parametrize("degrees", [0, 30, 45, 77, 90, 135, 200, 270, 333])
    def test_the_horizon_of_a_tilted_plane_is_its_slope(self, degrees: int) -> None:
        flat = np.zeros(SMALL)
        rows, columns = np.indices((SMALL[0] + 22, SMALL[1] + 20))
        tilted = 0.3 * columns * 0.03 - 0.2 * rows * 0.04
        plane = Surface(relief=tilted, detail=flat, albedo=flat, gloss=flat, margin=(11, 10), pitch=(0.04, 0.03))
        direction = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
        slope = synthetic._horizon_slope(plane, direction)
        np.testing.assert_allclose(slope, 0.3 * direction[0] - 0.2 * direction[1], atol=1e-4)


class TestPeople:
    @pytest.mark.slow
    def test_people_differ_far_more_than_two_shots_of_one_person(self) -> None:
        # Thousandths of a degree change the noise and nothing else.
        first, second = (faces((-20 + tiny, 10), n_subjects=3).images.astype(float) for tiny in (0.0, 0.001))
        between = np.abs(first[:, None] - first[None]).mean(axis=(2, 3))[~np.eye(3, dtype=bool)]
        within = np.abs(first - second).mean(axis=(1, 2))
        assert within.min() > 0
        assert between.min() > 4 * within.max()

    @pytest.mark.slow
    def test_shape_alone_tells_people_apart(self) -> None:
        surfaces = [make_surface(Canvas(np.random.default_rng([0, i])), SMALL) for i in range(3)]
        reliefs = np.stack([surface.relief - surface.relief.mean() for surface in surfaces])
        apart = reliefs[:, None] - reliefs[None]
        assert np.sqrt((apart**2).mean(axis=(2, 3)))[~np.eye(3, dtype=bool)].min() > 0.02

    @pytest.mark.slow
    def test_raw_pixels_match_under_soft_light_and_fail_under_hard_light(self) -> None:
        lights = (FRONT, (10, 0), (-5, 10), (85, -20), (-95, 0))
        pixels = faces(*lights, n_subjects=6).images.reshape(6, 5, -1).astype(float)
        gallery = pixels[:, 0]
        nearest = np.linalg.norm(pixels[:, 1:, None] - gallery, axis=-1).argmin(axis=-1)
        right = (nearest == np.arange(6)[:, None]).mean(axis=0)
        assert (right[:2] == 1).all()
        assert (right[2:] < 0.5).all()


class TestFaceSet:
    def test_photos_come_person_by_person_with_lights_in_the_given_order(self) -> None:
        made = faces((50, -20), (-110, 40), (0, 90), n_subjects=2, size=(32, 40))
        assert made.images.shape == (6, 32, 40)
        assert made.images.dtype == np.uint8
        assert made.labels.tolist() == ["person-00"] * 3 + ["person-01"] * 3
        assert made.azimuths.dtype == made.elevations.dtype == np.float64
        assert made.azimuths.tolist() == [50, -110, 0] * 2
        assert made.elevations.tolist() == [-20, 40, 90] * 2
        assert made.files[:4] == (
            "person-00/A+050E-20",
            "person-00/A-110E+40",
            "person-00/A+000E+90",
            "person-01/A+050E-20",
        )
        assert made.skipped == ()

    def test_none_means_all_64_lights(self) -> None:
        made = make_relit_faces(1, None, (16, 16))
        assert list(zip(made.azimuths, made.elevations, strict=True)) == list(YALE_LIGHTS)

    def test_yale_lights_are_64_sorted_and_mirrored(self) -> None:
        assert len(set(YALE_LIGHTS)) == len(YALE_LIGHTS) == 64
        assert sorted(YALE_LIGHTS) == list(YALE_LIGHTS)
        assert {(-azimuth, elevation) for azimuth, elevation in YALE_LIGHTS} == set(YALE_LIGHTS)

    def test_default_lights_are_from_yale_and_start_frontal(self) -> None:
        assert set(YALE_LIGHTS_DEFAULT) <= set(YALE_LIGHTS)
        assert YALE_LIGHTS_DEFAULT[0] == FRONT

    def test_exposure_uses_the_range_without_burning_out(self, crowd: FaceSet) -> None:
        frontal = crowd.images[(crowd.azimuths == 0) & (crowd.elevations == 0)]
        assert mean_gray(frontal).min() > 50
        assert mean_gray(frontal).max() < 190
        assert (crowd.images == 255).mean() < 0.01

    @pytest.mark.slow
    def test_poses_multiply_with_lights_and_name_the_photos(self) -> None:
        made = make_relit_faces(2, [(0, 0), (50, -20)], (16, 16), yaw=[0, -20, 12.5], smile=[0, 0, 0.5])
        assert len(made) == 12
        assert made.yaws.tolist() == [0, 0, -20, -20, 12.5, 12.5] * 2
        assert made.smiles.tolist() == [0, 0, 0, 0, 0.5, 0.5] * 2
        assert made.pitches.tolist() == made.mouth_opens.tolist() == [0] * 12
        assert made.azimuths.tolist() == [0, 50] * 6
        assert made.files[1:5] == (
            "person-00/A+050E-20",
            "person-00/A+000E+00Y-20P+00M0S0",
            "person-00/A+050E-20Y-20P+00M0S0",
            "person-00/A+000E+00Y+12.5P+00M0S0.5",
        )
        assert len(set(made.files)) == 12


def turned(n_subjects: int = 1, light: Light = (15, 10), size: tuple[int, int] = SMALL, **pose: Any) -> Gray:
    """Render people in some poses, shape (people, poses, h, w)."""
    images = make_relit_faces(n_subjects, [light], size, **pose).images.astype(float)
    return images.reshape(n_subjects, -1, *images.shape[1:])


class TestPose:
    @pytest.mark.slow
    def test_a_pose_at_rest_gives_the_bits_of_no_pose(self) -> None:
        rest = turned(2, yaw=[0, 20], pitch=0.0, mouth_open=0, smile=[0, 0], glasses=0)
        np.testing.assert_array_equal(rest[:, 0], faces((15, 10), n_subjects=2).images)

    @pytest.mark.slow
    def test_a_photo_does_not_depend_on_the_other_poses(self) -> None:
        several = turned(2, yaw=[-30, 20, 20], smile=[0, 0.5, 1])
        np.testing.assert_array_equal(turned(1, yaw=20, smile=0.5)[0, 0], several[0, 1])

    @pytest.mark.slow
    def test_a_head_that_hardly_moves_hardly_changes(self) -> None:
        rest, *moved = turned(1, size=(192, 168), yaw=[0, 0.01, 0, 0, 0, 0], pitch=[0, 0, 0.01, 0, 0, 0],
                              mouth_open=[0, 0, 0, 0.001, 0, 0], smile=[0, 0, 0, 0, 0.001, 0],
                              glasses=[0, 0, 0, 0, 0, 0.001])[0]  # fmt: skip
        # Only the noise of the camera, and what is lost where a surface is drawn into a photo.
        assert max(np.abs(each - rest)[4:-4, 4:-4].mean() for each in moved) < 4

    @given(yaw=st.floats(-45, 45), pitch=st.floats(-30, 30))
    @examples(50)
    def test_a_face_that_is_turned_like_a_light_looks_into_it(self, yaw: float, pitch: float) -> None:
        turn = rotation(yaw, pitch)
        np.testing.assert_allclose(turn @ [0, 0, 1], synthetic._toward((yaw, pitch)), atol=1e-12)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(turn) > 0

    @pytest.mark.slow
    def test_every_legal_pose_can_be_rendered(self) -> None:
        yaws, pitches, mouths = np.meshgrid([-45, 0, 45], [-30, 0, 30], [0, 1])
        poses = {"yaw": yaws.ravel(), "pitch": pitches.ravel(), "mouth_open": mouths.ravel(), "smile": 1}
        images = turned(1, FRONT, (24, 21), surround=1.0, **poses)
        assert images.shape == (1, 18, 72, 63)
        assert (images[0, :, 24:48, 21:42].mean(axis=(1, 2)) > 30).all()

    def test_lights_stay_with_the_camera(self) -> None:
        half = SMALL[1] // 2
        for light in ((60, 0), (-60, 0)):
            for image in turned(2, light, yaw=[-30, 0, 30]).reshape(-1, *SMALL):
                left, right = image[:, :half].mean(), image[:, half:].mean()
                assert (left - right) * np.sign(light[0]) > 0.1 * min(left, right)
        toward, away = turned(2, (50, 0), yaw=[40, -40]).mean(axis=(0, 2, 3))
        assert toward > 1.2 * away

    @pytest.mark.parametrize(("yaw", "pitch"), [(25, 0), (-40, 15), (10, -30)])
    def test_a_mirrored_person_turned_the_other_way_is_the_mirror_image(self, yaw: float, pitch: float) -> None:
        head = make_head(np.random.default_rng([0, 3]), SMALL, 0.3, 0.5)
        assert head.across is not None
        fields = {name: getattr(head, name)[:, ::-1] for name in ("relief", "detail", "albedo", "gloss")}
        pupils = tuple(-pupil.conjugate() for pupil in reversed(head.pupils))
        mirrored = replace(head, across=-head.across[:, ::-1], pupils=pupils, **fields)
        photo, mirror = (
            view.photo(synthetic._radiance(view.surface, light, turn=view.turn), synthetic._toward(light), 0.035)
            for view, light in (
                (view_of(head, SMALL, yaw, pitch), (40, 10)),
                (view_of(mirrored, SMALL, -yaw, pitch), (-40, 10)),
            )
        )
        assert np.abs(photo - mirror[:, ::-1]).mean() < 0.004

    @pytest.mark.parametrize("yaw", [-35, 35])
    def test_a_turned_head_hides_its_far_side(self, yaw: float) -> None:
        head = make_head(np.random.default_rng([0, 1]), SMALL, 0, 0)
        shown = []
        for angle in (0, yaw):
            view = view_of(head, SMALL, angle, 0, SMALL)
            height, width = view.surface.albedo.shape
            seen = np.asarray(view.weights.sum(axis=0)).reshape(height, width) > 0
            columns = np.arange(width) + view.surface.margin[1] - head.relief.shape[1] / 2
            shown.append([seen[:, columns < 0].sum(), seen[:, columns > 0].sum()])
        # A face that looks to the left of the picture shows its other side.
        far, near = (0, 1) if yaw > 0 else (1, 0)
        assert shown[1][far] < 0.8 * shown[0][far]
        assert shown[1][near] > 1.1 * shown[0][near]

    @pytest.mark.slow
    def test_glasses_are_seen_around_the_eyes_and_nowhere_else(self) -> None:
        """Each person has a pair of their own; below the nose only the noise of the camera is another."""
        bare, worn = turned(6, size=(192, 168), glasses=[0, 1]).swapaxes(0, 1)
        change = np.abs(worn - bare)
        assert (change[:, 100:].mean(axis=(1, 2)) < 4).all()
        eyes = change[:, 20:80, 20:148]
        assert (np.percentile(eyes, 95, axis=(1, 2)) > 20).all()
        frames = (worn - bare)[:, 20:80, 20:148].reshape(6, -1)
        assert np.abs(np.corrcoef(frames) - np.eye(6)).max() < 0.8

    @pytest.mark.slow
    def test_a_person_who_turns_a_little_stays_the_most_similar_one(self) -> None:
        poses = turned(6, (0, 0), yaw=[0, 6, -6, 0], mouth_open=[0, 0, 0, 0.3], smile=[0, 0, 0.3, 0])
        pixels = poses.reshape(6, 4, -1)
        nearest = np.linalg.norm(pixels[:, 1:, None] - pixels[:, 0], axis=-1).argmin(axis=-1)
        assert (nearest == np.arange(6)[:, None]).mean() > 0.9

    @pytest.mark.slow
    def test_a_larger_photo_has_the_crop_in_its_middle(self) -> None:
        crop = turned(1, yaw=20)[0, 0]
        photo = turned(1, yaw=20, surround=0.5)[0, 0]
        assert photo.shape == (128, 112)
        # The neck behind the head may be in its shadow, which a crop does not know all of.
        assert np.abs(photo[32:96, 28:84] - crop).mean() < 3
        assert make_relit_faces(1, [FRONT], SMALL, surround=0.25).images.shape == (1, 96, 84)


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
@pytest.mark.parametrize(
    "angles", [(0, 0), (-30, 0), (-15, 0), (15, 0), (30, 0), (0, -20), (0, 20), (30, 20), (-30, -20)]
)
def test_the_detector_finds_a_turned_face_and_its_mesh_turns_along(angles: tuple[float, float]) -> None:
    yaw, pitch = angles
    (photo,) = make_relit_faces(1, [(15, 10)], yaw=yaw, pitch=pitch, surround=0.33).images
    (face,) = find_faces(photo)
    assert face.mesh is not None
    right = np.flatnonzero(mirror_order() > np.arange(478))
    across = (face.mesh[mirror_order()[right]] - face.mesh[right]).mean(axis=0)
    assert math.degrees(math.atan2(-across[2], across[0])) == pytest.approx(yaw, abs=8)
    # Both pupils are where they are in a crop from the front.
    around = complex(round(0.33 * 168), round(0.33 * 192))
    for found, true in zip((face.right_eye, face.left_eye), pupils_of(0), strict=True):
        assert abs(complex(*found) - true - around) < 0.06 * face.eye_distance


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_the_mesh_sees_how_far_a_mouth_is_open() -> None:
    photos = make_relit_faces(1, [(15, 10)], mouth_open=(0, 0.5, 0.75, 1), surround=0.33).images
    gaps = []
    for photo in photos:
        (face,) = find_faces(photo)
        assert face.mesh is not None
        gaps.append(np.linalg.norm(face.mesh[13] - face.mesh[14]) / face.eye_distance)  # the middle of both lips
    assert gaps[0] < 0.05
    assert np.all(np.diff(gaps) > 0.03)


class TestExpression:
    @given(person=st.integers(0, 50), mouths=st.lists(st.floats(0.01, 1), min_size=2, max_size=2, unique=True))
    @examples(10, deadline=None)
    def test_the_more_a_mouth_is_open_the_more_shows_between_the_lips(self, person: int, mouths: list[float]) -> None:
        areas = []
        for mouth_open in sorted(mouths):
            _, mouth = moved_face(plane_of(person), mouth_open, 0)
            assert mouth is not None
            areas.append(mouth.share.sum())
        assert 0 < areas[0] < areas[1]

    @pytest.mark.slow
    def test_an_open_mouth_is_dark_inside_and_lowers_the_chin(self) -> None:
        shut, ajar, wide = turned(1, FRONT, (192, 168), mouth_open=[0, 0.5, 1])[0]
        within = (slice(130, 165), slice(60, 108))
        assert (shut[within] < 30).sum() < (ajar[within] < 30).sum() < (wide[within] < 30).sum()
        rest = plane_of(0)
        sunk, _ = moved_face(rest, 1, 0)
        assert (rest.y - sunk.y)[rest.y > 1.9] == pytest.approx(JAW_DROP, abs=0.1)

    @given(person=st.integers(0, 50), smile=st.floats(0.1, 1))
    @examples(10, deadline=None)
    def test_a_smile_widens_the_mouth_and_raises_its_corners(self, person: int, smile: float) -> None:
        rest = plane_of(person)
        plane, mouth = moved_face(rest, 0, smile)
        assert mouth is None
        corners = []
        for each in (rest, plane):
            rows, columns = np.nonzero(each.lip_area > 0.5)
            corners.append((np.ptp(columns), rows[columns == columns.min()].mean()))
        assert corners[1][0] > corners[0][0]
        assert corners[1][1] < corners[0][1]


def plane_of(person: int) -> Plane:
    """The coordinates of a person at rest."""
    canvas = Canvas(np.random.default_rng([0, person]))
    traits = {name: float(canvas.rng.uniform(low, high)) for name, (low, high) in TRAIT_RANGES.items()}
    return warped_plane(canvas, traits)


LIGHTS_LEGAL = "a non-empty sequence of (azimuth, elevation) in degrees, within -180..180 and -90..90, or None"
YAW_LEGAL = "a number from -45 to 45, or a non-empty sequence of them"
MOUTH_LEGAL = "a number from 0 to 1, or a non-empty sequence of them"
SIZE_LEGAL = "(height, width), two whole numbers of at least 16"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_subjects": 0}, "`n_subjects` of make_relit_faces must be a whole number of at least 1; got 0."),
        ({"n_subjects": 2.0}, "`n_subjects` of make_relit_faces must be a whole number of at least 1; got 2.0."),
        ({"n_subjects": True}, "`n_subjects` of make_relit_faces must be a whole number of at least 1; got True."),
        ({"seed": -1}, "`seed` of make_relit_faces must be a whole number of at least 0; got -1."),
        ({"seed": None}, "`seed` of make_relit_faces must be a whole number of at least 0; got None."),
        ({"size": (15, 64)}, f"`size` of make_relit_faces must be {SIZE_LEGAL}; got (15, 64)."),
        ({"size": (64, 56.0)}, f"`size` of make_relit_faces must be {SIZE_LEGAL}; got (64, 56.0)."),
        ({"size": 64}, f"`size` of make_relit_faces must be {SIZE_LEGAL}; got 64."),
        ({"size": (64, 64, 3)}, f"`size` of make_relit_faces must be {SIZE_LEGAL}; got (64, 64, 3)."),
        ({"lights": []}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got []."),
        ({"lights": [(0, 91)]}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got [(0, 91)]."),
        ({"lights": [(-181, 0)]}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got [(-181, 0)]."),
        ({"lights": [(0, math.nan)]}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got [(0, nan)]."),
        ({"lights": (50, 0)}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got (50, 0)."),
        ({"lights": [(1, 2, 3)]}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got [(1, 2, 3)]."),
        ({"lights": [(1, 2), (3,)]}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got [(1, 2), (3,)]."),
        ({"lights": "front"}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got 'front'."),
        ({"lights": 3}, f"`lights` of make_relit_faces must be {LIGHTS_LEGAL}; got 3."),
        ({"yaw": 46}, f"`yaw` of make_relit_faces must be {YAW_LEGAL}; got 46."),
        ({"yaw": [0, math.nan]}, f"`yaw` of make_relit_faces must be {YAW_LEGAL}; got [0, nan]."),
        ({"yaw": []}, f"`yaw` of make_relit_faces must be {YAW_LEGAL}; got []."),
        ({"yaw": "left"}, f"`yaw` of make_relit_faces must be {YAW_LEGAL}; got 'left'."),
        (
            {"yaw": [1, 2], "smile": [0, 1, 0]},
            "`smile` of make_relit_faces must be a number or a sequence of 2, like the arguments before it; "
            "got [0, 1, 0].",
        ),
        ({"mouth_open": -1}, f"`mouth_open` of make_relit_faces must be {MOUTH_LEGAL}; got -1."),
        ({"surround": 2}, "`surround` of make_relit_faces must be a number from 0 to 1; got 2."),
        ({"surround": True}, "`surround` of make_relit_faces must be a number from 0 to 1; got True."),
    ],
)
def test_bad_input_is_named_with_what_is_legal_and_what_came(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter) as caught:
        make_relit_faces(**bad)
    assert str(caught.value) == message
