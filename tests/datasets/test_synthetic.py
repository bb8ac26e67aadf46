"""Laws of the made-up faces: repeatable, lit as the light says, different people."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.random import mtrand
from numpy.typing import NDArray

from lightproof.datasets import synthetic
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.rendering.surface import Surface, make_surface
from lightproof.datasets.synthetic import YALE_LIGHTS, YALE_LIGHTS_DEFAULT, Light, make_relit_faces
from lightproof.errors import BadParameter

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
        surface = make_surface(np.random.default_rng([0, 1]), (192, 168))
        cast = synthetic._radiance(surface, (50, 0))
        bare = synthetic._radiance(surface, (50, 0), cast_shadows=False)
        hidden = (cast < 0.3 * bare) & (bare > 0.1)
        beside_nose, other_side = hidden[60:105, 95:130], hidden[60:105, 38:73]
        assert beside_nose.mean() > 0.15
        assert other_side.mean() < 0.02

    def test_a_frontal_lamp_throws_no_shadow(self) -> None:
        surface = make_surface(np.random.default_rng([0, 0]), SMALL)
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
        surfaces = [make_surface(np.random.default_rng([0, i]), SMALL) for i in range(3)]
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


LIGHTS_LEGAL = "a non-empty sequence of (azimuth, elevation) in degrees, within -180..180 and -90..90, or None"
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
    ],
)
def test_bad_input_is_named_with_what_is_legal_and_what_came(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter) as caught:
        make_relit_faces(**bad)
    assert str(caught.value) == message
