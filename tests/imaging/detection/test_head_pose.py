"""Turning, scaling and moving a mesh gives what was turned; opening its mouth and eyes gives what was opened."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from benchmarks.neutral_mesh import mean_of
from lightproof.imaging.detection import HeadPose, Portrait, find_faces, mesh_of_crop, pose_of, read_portrait
from lightproof.imaging.detection.face_networks import PUPILS, mirror_order
from lightproof.imaging.detection.head_pose import LIDS, LIPS, neutral_mesh
from tests.scenes import compose

ANGLES = st.tuples(*(st.floats(-80, 80) for _ in range(3)))


def turned(mesh, yaw, pitch, roll):
    """Pitch comes first, then yaw, then roll; axes are right, down and away from the camera."""
    return Rotation.from_euler("ZYX", [roll, yaw, -pitch], degrees=True).apply(mesh.copy())


def angles_of(pose):
    return [pose.yaw, pose.pitch, pose.roll]


def mirrored(mesh, width=0.0):
    return mesh[mirror_order()] * (-1, 1, 1) + (width, 0, 0)


def bumpy(seed):
    """Somebody's mesh: no two people, and no two sides of a face, are the same."""
    return neutral_mesh() + np.random.default_rng(seed).normal(0, 0.03, (478, 3))


def opened(mesh, pairs, by):
    """Move the lower point of each pair away from the upper one."""
    mesh = mesh.copy()
    for upper, lower in pairs:
        mesh[lower] = mesh[upper] + (0, by, 0)
    return mesh


@given(ANGLES)
def test_a_turned_mesh_tells_the_angles(angles):
    assert_allclose(angles_of(pose_of(turned(neutral_mesh(), *angles))), angles, atol=1e-6)


@given(ANGLES, st.floats(0.01, 1000), st.tuples(*(st.floats(-1000, 1000) for _ in range(3))), st.integers(0, 99))
def test_size_and_place_do_not_matter(angles, scale, move, seed):
    mesh = turned(bumpy(seed), *angles)
    here, there = pose_of(mesh), pose_of(scale * mesh + move)
    assert_allclose(angles_of(there), angles_of(here), atol=1e-5)
    assert_allclose([there.mouth_open, there.eyes_open], [here.mouth_open, here.eyes_open], atol=1e-5)


@given(ANGLES, st.integers(0, 99))
def test_the_mirror_turns_yaw_and_roll_around_and_keeps_the_rest(angles, seed):
    mesh = turned(bumpy(seed), *angles)
    here, there = pose_of(mesh), pose_of(mirrored(mesh, width=640))
    assert_allclose(angles_of(there), [-here.yaw, here.pitch, -here.roll], atol=1e-6)
    assert_allclose([there.mouth_open, there.eyes_open], [here.mouth_open, here.eyes_open], atol=1e-9)


@given(ANGLES, st.floats(0, 0.6))
def test_the_mouth_opens_without_turning_the_head_and_in_every_pose_alike(angles, by):
    plain = pose_of(opened(neutral_mesh(), LIPS, by))
    seen = pose_of(turned(opened(neutral_mesh(), LIPS, by), *angles))
    assert_allclose(angles_of(plain), 0, atol=1e-6)
    assert seen.mouth_open == pytest.approx(plain.mouth_open, abs=1e-6)
    assert seen.eyes_open == pytest.approx(plain.eyes_open, abs=1e-6)
    assert plain.mouth_open == pytest.approx(np.clip((by - 0.01) / 0.54, 0, 1), abs=1e-6)


@pytest.mark.parametrize(("pairs", "part"), [(LIPS, "mouth_open"), (LIDS, "eyes_open")])
def test_openness_grows_from_0_to_1_and_stays_there(pairs, part):
    values = [getattr(pose_of(opened(neutral_mesh(), pairs, by)), part) for by in np.linspace(-0.1, 0.8, 91)]
    assert (np.diff(values) >= 0).all()
    assert (values[0], values[-1]) == (0, 1)


def test_who_looks_to_the_left_has_the_tip_of_the_nose_there():
    """The convention, in words of the picture: columns grow to the right, rows down."""
    eyes = list(PUPILS)
    for yaw, pitch, axis in ((30, 0, 0), (0, 30, 1)):
        straight, aside = neutral_mesh(), turned(neutral_mesh(), yaw, pitch, 0)
        nose = [mesh[4, axis] - mesh[eyes, axis].mean() for mesh in (straight, aside)]
        assert nose[1] < nose[0] - 0.2
    clockwise = turned(neutral_mesh(), 0, 0, 30)
    assert clockwise[eyes[1], 1] > clockwise[eyes[0], 1]


def test_the_neutral_mesh_is_symmetric_and_one_eye_distance_wide():
    mesh = neutral_mesh()
    assert mesh.shape == (478, 3)
    assert_allclose(mirrored(mesh), mesh, atol=1e-4)
    assert_allclose(mesh[list(PUPILS)], [[-0.5, 0, 0], [0.5, 0, 0]], atol=1e-3)
    assert not mesh.flags.writeable


def test_the_mean_of_one_face_at_many_places_is_that_face_and_symmetric():
    rng = np.random.default_rng(3)
    assert_allclose(mean_of([rng.uniform(20, 200) * neutral_mesh() + 100 for _ in range(5)]), neutral_mesh(), atol=1e-3)
    lopsided = mean_of([bumpy(seed) for seed in range(3)])
    assert_allclose(mirrored(lopsided), lopsided, atol=1e-12)


# ------------------------------------------------------------------------------------------------------ rendered people


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
@pytest.mark.parametrize("roll", [-25, 0, 20])
def test_rendered_people_look_into_the_camera(sitters, roll):
    for i, sitter in enumerate(sitters):
        (face,) = find_faces(compose(sitter, roll=roll, seed=i).photo)
        assert face.pose.roll == pytest.approx(face.roll, abs=4)
        assert abs(face.pose.yaw) < 6
        assert abs(face.pose.pitch) < 12
        assert face.pose.mouth_open < 0.1
        assert face.pose.eyes_open > 0.5


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_a_crop_has_the_pose_of_its_photo(sitters):
    for i, sitter in enumerate(sitters):
        portrait = read_portrait(compose(sitter, seed=i).photo)
        crop = read_portrait(portrait.image, cropped=True)
        assert portrait.pose == portrait.face.pose
        assert crop.pose == mesh_of_crop(portrait.image).pose
        # A crop is cut with its eyes level.
        assert_allclose(angles_of(crop.pose)[:2], angles_of(portrait.pose)[:2], atol=8)


@pytest.mark.slow
@pytest.mark.usefixtures("photos_extra")
def test_a_crop_that_shows_no_face_has_no_pose():
    assert Portrait(np.zeros((64, 56), np.uint8), None, 1).pose is None


def test_a_crop_without_the_extra_has_no_pose(no_extra):
    assert Portrait(np.zeros((64, 56), np.uint8), None, 1).pose is None


def test_a_pose_is_plain():
    pose = pose_of(neutral_mesh())
    assert {type(value) for value in vars(pose).values()} == {float}
    assert pose == HeadPose(**vars(pose))
