"""Laws of small changes of a cloud in the domain of the Discrete R-CDT."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.errors import BadParameter
from lightproof.method.deformations import DEFORMATIONS, carry, first_order, tangents
from lightproof.method.gradients import central_differences
from lightproof.method.transform import directions, discrete_rcdt, flatten, projection_angles, translation_vectors

names = st.sampled_from(list(DEFORMATIONS))
matrices = arrays(float, (2, 2), elements=st.floats(-1, 1))
gains = st.floats(0.01, 50)
shifts = arrays(float, 2, elements=st.floats(-100, 100))
angle_counts = st.integers(1, 9)
any_clouds = st.integers(1, 20).flatmap(lambda n: arrays(float, (n, 2), elements=st.floats(-100, 100)))
# No two projections are level, so that the order is the same after rounding.
clouds = st.builds(
    lambda seed, n: np.random.default_rng(seed).normal(size=(n, 2)), st.integers(0, 2**32 - 1), st.integers(2, 20)
)


def of_matrix(cloud, matrix, angles):
    return first_order(cloud, (cloud @ matrix.T)[None], angles)[0]


def overtaking(start, speed, time):
    """How far points of (m, N) are past points that were ahead of them, at worst; the points stand in their order."""
    there = start + time * speed
    past = there[:, :, None] - there[:, None, :]
    return np.triu(past, 1).max()


def first_overtaking(start, speed):
    gap = start[:, None, :] - start[:, :, None]
    closing = speed[:, :, None] - speed[:, None, :]
    later = np.triu(np.ones(gap.shape[1:], bool), 1) & (closing > 1e-12)
    return min((gap[later] / closing[later]).min(initial=np.inf), 1.0)


def test_tangents_of_a_cloud_by_hand():
    cloud = np.array([[3.0, 1.0], [1.0, 2.0]])
    at_0_and_90 = np.array([0.0, np.pi / 2])
    expected = [[[-2, -1], [3, 1]], [[1, 3], [-1, -2]], [[2, 1], [3, 1]]]
    assert_allclose(tangents(cloud, at_0_and_90), expected, atol=1e-15)
    assert list(DEFORMATIONS) == ["rotation", "stretch", "shear"]


@given(clouds, matrices, angle_counts, st.floats(0, 0.99))
def test_a_linear_map_adds_its_tangent_while_no_point_overtakes_another(cloud, matrix, m, share):
    angles = projection_angles(m)
    start, speed = discrete_rcdt(cloud, angles), of_matrix(cloud, matrix, angles)
    time = share * first_overtaking(start, speed)
    assert_allclose(discrete_rcdt(cloud @ (np.eye(2) + time * matrix).T, angles), start + time * speed, atol=1e-9)


@given(any_clouds, matrices, angle_counts, st.floats(0, 2))
def test_after_that_the_error_is_at_most_the_farthest_overtaking(cloud, matrix, m, time):
    angles = projection_angles(m)
    start, speed = discrete_rcdt(cloud, angles), of_matrix(cloud, matrix, angles)
    error = discrete_rcdt(cloud @ (np.eye(2) + time * matrix).T, angles) - start - time * speed
    assert np.abs(error).max() <= overtaking(start, speed, time) + 1e-9
    assert np.abs(error).max() <= time * np.ptp(speed, axis=1).max() + 1e-9


def test_a_tangent_is_not_exact_once_a_point_overtakes_another():
    cloud, angles = np.array([[0.0, 1.0], [1.0, -1.0]]), np.array([0.0])
    speed = tangents(cloud, angles, ["shear"])[0]
    assert_allclose(speed, [[1, -1]])
    sheared = [cloud @ (np.eye(2) + time * DEFORMATIONS["shear"]).T for time in (0.5, 0.75)]
    assert_allclose(discrete_rcdt(sheared[0], angles), [[0.5, 0.5]])
    assert_allclose(discrete_rcdt(sheared[1], angles), [[0.25, 0.75]])  # the tangent says 0.75, 0.25


@given(clouds, names, angle_counts)
def test_the_error_of_a_tangent_is_at_most_of_second_order(cloud, name, m):
    angles = projection_angles(m)
    start, speed = discrete_rcdt(cloud, angles), tangents(cloud, angles, [name])[0]
    gap = np.diff(start).min()
    # No error before the first overtaking, time >= gap / spread of the speeds, and at most time * spread after it.
    constant = np.ptp(speed, axis=1).max() ** 2 / gap
    for time in (0.3, 0.1, 0.03):
        error = discrete_rcdt(cloud @ (np.eye(2) + time * DEFORMATIONS[name]).T, angles) - start - time * speed
        assert np.abs(error).max() <= constant * time**2 + 1e-12


@given(clouds, angle_counts)
def test_the_tangent_of_contrast_is_the_transform_itself(cloud, m):
    angles = projection_angles(m)
    assert_allclose(of_matrix(cloud, np.eye(2), angles), discrete_rcdt(cloud, angles), atol=1e-12)


@given(clouds, gains, angle_counts)
def test_contrast_scales_the_tangents(cloud, gain, m):
    angles = projection_angles(m)
    assert_allclose(tangents(gain * cloud, angles), gain * tangents(cloud, angles), rtol=1e-10, atol=1e-10)


@given(clouds, names, shifts, angle_counts)
def test_a_shift_b_of_the_cloud_adds_the_translation_vectors_of_the_moved_b(cloud, name, shift, m):
    angles = projection_angles(m)
    moved = DEFORMATIONS[name] @ shift
    expected = flatten(tangents(cloud, angles, [name]))[0] + moved @ translation_vectors(angles, len(cloud))
    assert_allclose(flatten(tangents(cloud + shift, angles, [name]))[0], expected, atol=1e-9)


@given(clouds, gains, shifts, angle_counts)
def test_light_leaves_the_span_of_transform_tangents_and_translations_as_it_is(cloud, gain, shift, m):
    angles = projection_angles(m)

    def span(points):
        own = [flatten(discrete_rcdt(points, angles))[None], flatten(tangents(points, angles))]
        return np.concatenate([*own, translation_vectors(angles, len(points))])

    before, relit = span(cloud), span(gain * cloud + shift)
    left = relit - relit @ np.linalg.pinv(before, rcond=1e-10) @ before
    assert np.abs(left).max() <= 1e-7 * np.abs(relit).max()


@given(clouds, names, matrices, angle_counts)
def test_tangents_add_up_as_their_matrices_do(cloud, name, matrix, m):
    angles = projection_angles(m)
    both = of_matrix(cloud, DEFORMATIONS[name] + matrix, angles)
    assert_allclose(both, tangents(cloud, angles, [name])[0] + of_matrix(cloud, matrix, angles), atol=1e-10)


def test_contrast_and_the_deformations_span_all_linear_maps_at_right_angles():
    basis = np.stack([np.eye(2), *DEFORMATIONS.values()]).reshape(4, 4)
    assert_array_equal(basis @ basis.T, 2 * np.eye(4))


def test_stretch_then_shear_differs_from_shear_then_stretch_by_a_rotation():
    rotation, stretch, shear = DEFORMATIONS.values()
    assert_array_equal(shear @ stretch - stretch @ shear, 2 * rotation)


@given(any_clouds, matrices, st.floats(0, np.pi))
def test_a_linear_map_scales_the_projection_on_another_angle(cloud, matrix, angle):
    onto = matrix.T @ directions(np.array([angle]))[0]
    length, other = np.hypot(*onto), np.arctan2(onto[1], onto[0])
    mapped = discrete_rcdt(cloud @ matrix.T, np.array([angle]))
    assert_allclose(mapped, length * discrete_rcdt(cloud, np.array([other])), atol=1e-10)


@given(any_clouds, st.integers(1, 9), st.integers(0, 8))
def test_a_turn_by_whole_steps_of_the_angles_shifts_the_projections(cloud, m, steps):
    steps %= m
    angles = projection_angles(m)
    cos, sin = np.cos(angles[steps]), np.sin(angles[steps])
    still = discrete_rcdt(cloud, angles)
    # Beyond the half circle a projection comes back upside down.
    expected = np.concatenate([-still[m - steps :, ::-1], still[: m - steps]])
    assert_allclose(discrete_rcdt(cloud @ np.array([[cos, -sin], [sin, cos]]).T, angles), expected, atol=1e-10)


@pytest.mark.slow
@given(clouds, angle_counts)
def test_the_tangent_of_rotation_is_minus_the_rate_of_change_along_the_angle(cloud, m):
    angles, step = projection_angles(m), 1e-6
    # Where points are level the rate jumps: a step must stay on one side.
    assume(np.diff(discrete_rcdt(cloud, angles)).min() > 1e-4)
    rate = (discrete_rcdt(cloud, angles + step) - discrete_rcdt(cloud, angles - step)) / (2 * step)
    assert_allclose(tangents(cloud, angles, ["rotation"])[0], -rate, atol=1e-7)


@given(clouds, angle_counts)
def test_the_tangent_of_rotation_is_the_projection_at_right_angles_in_the_order_of_the_angle(cloud, m):
    angles = projection_angles(m)
    along, across = directions(angles) @ cloud.T, directions(angles - np.pi / 2) @ cloud.T
    expected = np.stack([a[np.argsort(p)] for p, a in zip(along, across, strict=True)])
    assert_allclose(tangents(cloud, angles, ["rotation"])[0], expected, atol=1e-12)


@given(matrices.map(lambda change: np.eye(2) + 0.4 * change), arrays(float, 5, elements=st.floats(-1, 1)))
def test_a_picture_moved_by_a_matrix_has_gradients_moved_by_its_inverse_transpose(matrix, bend):
    def picture(x, y):
        return bend[0] * x + bend[1] * y + bend[2] * x * x + bend[3] * x * y + bend[4] * y * y

    row, column = np.mgrid[-3.0:4, -3.0:4]
    x, y = np.tensordot(np.linalg.inv(matrix), np.stack([column, row]), 1)
    before = np.stack([bend[0] + 2 * bend[2] * x + bend[3] * y, bend[1] + bend[3] * x + 2 * bend[4] * y])
    after = np.tensordot(np.linalg.inv(matrix).T, before, 1)
    # Central differences are exact for a bent plane, the border left out.
    assert_allclose(central_differences(picture(x, y))[:, 1:-1, 1:-1], after[:, 1:-1, 1:-1], atol=1e-8)


def test_a_picture_turned_from_right_to_down_turns_its_gradients_by_rotation(rng):
    image = rng.random((6, 6))
    cloud = central_differences(image).reshape(2, -1).T
    turned = central_differences(np.rot90(image, -1)).reshape(2, -1).T
    angles = projection_angles(5)
    assert_allclose(discrete_rcdt(turned, angles), discrete_rcdt(cloud @ DEFORMATIONS["rotation"].T, angles))


def test_a_sheared_picture_shears_and_turns_its_gradients():
    tilt = np.array([[0.0, 1.0], [0.0, 0.0]])  # columns of the picture lean
    slope = (np.linalg.inv(np.eye(2) + 1e-7 * tilt).T - np.eye(2)) / 1e-7
    assert_allclose(slope, -(DEFORMATIONS["shear"] + DEFORMATIONS["rotation"]) / 2, atol=1e-6)


def test_a_constant_velocity_gives_the_translation_vectors(rng):
    cloud, angles = rng.normal(size=(7, 2)), projection_angles(4)
    constant = np.repeat(np.eye(2)[:, None], 7, axis=1)
    assert_allclose(flatten(first_order(cloud, constant, angles)), translation_vectors(angles, 7))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_batch_of_patches_gives_what_each_patch_gives_alone(rng, dtype):
    clouds_, angles = rng.normal(size=(3, 5, 16, 2)).astype(dtype), projection_angles(4, "authors")
    velocities = rng.normal(size=(3, 5, 2, 16, 2)).astype(dtype)
    several = tangents(clouds_, angles, ["shear", "rotation"]), first_order(clouds_, velocities, angles)
    assert several[0].shape == several[1].shape == (3, 5, 2, 4, 16)
    assert several[0].dtype == several[1].dtype == dtype
    alone = tangents(clouds_[2, 1], angles, ["shear", "rotation"]), first_order(clouds_[2, 1], velocities[2, 1], angles)
    assert_allclose(several[0][2, 1], alone[0], rtol=1e-6)
    assert_allclose(several[1][2, 1], alone[1], rtol=1e-6)


def test_level_points_keep_their_order():
    projected, moving = np.array([[1.0, 1.0, 0.0]]), np.array([[[5.0, 4.0, 3.0]]])
    assert_array_equal(carry(projected, moving), [[[3, 5, 4]]])


def test_no_names_give_no_tangents(rng):
    assert tangents(rng.normal(size=(3, 9, 2)), projection_angles(4), []).shape == (3, 0, 4, 9)


def test_an_unknown_deformation_is_named(rng):
    with pytest.raises(
        BadParameter, match=r"^`names` of tangents must be among 'rotation', 'stretch', 'shear'; got 'twist'\.$"
    ):
        tangents(rng.normal(size=(9, 2)), projection_angles(4), ["twist"])


def test_velocities_of_other_points_are_refused(rng):
    with pytest.raises(
        BadParameter, match=r"^`velocities` of first_order must be as many points as `cloud`, 9; got 8\.$"
    ):
        first_order(rng.normal(size=(9, 2)), rng.normal(size=(1, 8, 2)), projection_angles(4))
