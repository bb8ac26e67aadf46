"""Similarities: where pixels come from, and what a picture becomes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.method.warps import COPIES, COPY_STEP, moved, warp, with_copies

DTYPES = [np.float32, np.float64]

small = st.floats(-0.2, 0.2)
similarities = st.tuples(small, small, small, small).map(np.array)


def places(rows, columns):
    """Return every pixel as column + i row from the middle, in heights."""
    row, column = np.mgrid[:rows, :columns]
    return ((column - (columns - 1) / 2) + 1j * (row - (rows - 1) / 2)) / rows


def waves(z):
    return np.sin(5 * z.real + 1) + np.cos(4 * z.imag - 2 * z.real) + z.real * z.imag


def inverse(similarity):
    """Undo z -> move + turn * z, by hand: z -> -move / turn + z / turn."""
    turn = np.exp(similarity[2] + 1j * similarity[3])
    back = -(similarity[0] + 1j * similarity[1]) / turn
    return np.array([back.real, back.imag, -similarity[2], -similarity[3]])


@pytest.mark.parametrize(
    ("similarity", "point", "expected"),
    [
        ((0, 0, 0, 0), 0.3 + 0.1j, 0.3 + 0.1j),
        ((0.25, 0, 0, 0), 0.1j, 0.25 + 0.1j),
        ((0, 0.25, 0, 0), 0.1, 0.1 + 0.25j),
        ((0, 0, np.log(2), 0), 0.1 + 0.2j, 0.2 + 0.4j),
        ((0, 0, 0, np.pi / 2), 0.1, 0.1j),
        ((0.5, 0.25, np.log(2), np.pi), 0.1 + 0.1j, 0.3 + 0.05j),
    ],
)
def test_a_similarity_moves_scales_and_turns_by_hand(similarity, point, expected):
    assert_allclose(moved(np.array([point]), np.array(similarity, float)), [expected], atol=1e-15)


@given(similarities)
def test_the_inverse_brings_points_back(similarity):
    points = np.array([0, 0.3, -0.2j, 0.4 + 0.4j])
    assert_allclose(moved(moved(points, similarity), inverse(similarity)), points, atol=1e-12)


@given(similarities)
def test_a_similarity_scales_every_distance_alike(similarity):
    points = np.array([0, 0.3, -0.2j, 0.4 + 0.4j])
    apart = np.abs(points[:, None] - points)
    found = moved(points, similarity)
    assert_allclose(np.abs(found[:, None] - found), np.exp(similarity[2]) * apart, atol=1e-12)


def test_many_similarities_at_once_are_each_one_alone(rng):
    points, many = rng.normal(size=5) + 1j * rng.normal(size=5), rng.normal(size=(2, 3, 4))
    found = moved(points, many)
    assert found.shape == (2, 3, 5)
    for place in np.ndindex(2, 3):
        assert_allclose(found[place], moved(points, many[place]), atol=1e-15)


@pytest.mark.parametrize("shape", [(96, 84), (40, 60), (33, 21)])
@given(similarity=st.tuples(*[st.floats(-0.05, 0.05)] * 2, *[st.floats(-0.2, 0.2)] * 2).map(np.array))
def test_a_warped_function_is_the_function_at_the_moved_points(shape, similarity):
    z = places(*shape)
    source = moved(z.ravel(), similarity).reshape(shape)
    rows, columns = shape
    inside = (np.abs(source.imag) < (rows - 2) / 2 / rows) & (np.abs(source.real) < (columns - 2) / 2 / rows)
    found = warp(waves(z)[None], similarity[None])[0]
    # Bilinear weights miss a curve by an eighth of its second derivative: less than 50 per height squared.
    assert_allclose(found[inside], waves(source)[inside], atol=50 / 8 / rows**2)


@given(similarities)
def test_a_slope_is_warped_without_error(similarity):
    """Bilinear weights are exact on a plane."""
    z = places(30, 24)
    source = moved(z.ravel(), similarity).reshape(z.shape)
    inside = (np.abs(source.imag) <= 14 / 30) & (np.abs(source.real) <= 11 / 30)
    found = warp((3 * z.real - 2 * z.imag)[None], similarity[None])[0]
    assert_allclose(found[inside], (3 * source.real - 2 * source.imag)[inside], atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(96, 84), (31, 20), (2, 3)])
def test_no_move_is_the_identity_to_the_last_bit(rng, shape, dtype):
    pictures = rng.normal(size=(3, *shape)).astype(dtype)
    before = pictures.copy()
    found = warp(pictures, np.zeros((3, 4)))
    assert found.dtype == dtype
    assert found is not pictures
    assert_array_equal(found, before)
    assert_array_equal(pictures, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("right", "down"), [(1, 0), (-1, 0), (0, 2), (0, -3), (2, -1)])
def test_whole_pixels_are_exact_shifts_away_from_the_border(rng, right, down, dtype):
    picture = rng.normal(size=(1, 32, 24)).astype(dtype)
    found = warp(picture, np.array([[right / 32, down / 32, 0, 0]]))[0]
    expected = np.roll(picture[0], (-down, -right), axis=(0, 1))
    assert_array_equal(found[4:-4, 4:-4], expected[4:-4, 4:-4])


def test_beyond_the_border_the_picture_is_mirrored(rng):
    picture = rng.normal(size=(1, 16, 12))
    found = warp(picture, np.array([[2 / 16, 0, 0, 0]]))[0]
    assert_allclose(found, np.pad(picture[0], ((0, 0), (0, 2)), mode="reflect")[:, 2:], atol=1e-12)


def test_a_quarter_turn_of_a_square_turns_it(rng):
    picture = rng.normal(size=(1, 9, 9))
    found = warp(picture, np.array([[0, 0, 0, np.pi / 2]]))[0]
    # The right of the result comes from below.
    assert_allclose(found[4, 8], picture[0, 8, 4], atol=1e-9)
    assert_allclose(found, np.rot90(picture[0]), atol=1e-9)


@given(st.tuples(*[st.floats(-0.03, 0.03)] * 2, *[st.floats(-0.1, 0.1)] * 2).map(np.array))
def test_a_warp_and_its_inverse_bring_a_smooth_picture_back(similarity):
    picture = waves(places(64, 56))[None]
    back = warp(warp(picture, similarity[None]), inverse(similarity)[None])
    assert_allclose(back[0, 14:-14, 14:-14], picture[0, 14:-14, 14:-14], atol=2 * 50 / 8 / 64**2)


def test_every_picture_has_a_similarity_of_its_own(rng):
    pictures, each = rng.normal(size=(3, 20, 16)), rng.uniform(-0.1, 0.1, (3, 4))
    found = warp(pictures, each)
    for i in range(3):
        assert_array_equal(found[i], warp(pictures[i : i + 1], each[i : i + 1])[0])
    with pytest.raises(ValueError, match="shorter"):
        warp(pictures, each[:2])


@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_picture_itself_comes_before_its_copies(rng, copies, dtype):
    pictures = rng.normal(size=(2, 24, 21)).astype(dtype)
    found = with_copies(pictures, copies)
    assert found.shape == (2, 1 + len(COPIES[copies]), 24, 21)
    assert found.dtype == dtype
    assert_array_equal(found[:, 0], pictures)


def test_copies_are_none_four_or_eight_and_all_different():
    assert [len(COPIES[name]) for name in ("none", "cross", "square")] == [0, 4, 8]
    assert all(len(set(made)) == len(made) and (0, 0, 0, 0) not in made for made in COPIES.values())
    assert set(COPIES["cross"]) < set(COPIES["square"])


def test_a_copy_of_96_rows_is_moved_by_one_pixel_in_its_direction(rng):
    pictures = rng.normal(size=(1, 96, 84))
    found = with_copies(pictures, "square")[0, 1:]
    for copy, (right, down, growth, angle) in zip(found, COPIES["square"], strict=True):
        assert growth == angle == 0
        expected = np.roll(pictures[0], (-down, -right), axis=(0, 1))
        assert_allclose(copy[2:-2, 2:-2], expected[2:-2, 2:-2], atol=1e-12)


def test_copies_are_moved_by_a_share_of_the_height(rng):
    pictures = rng.normal(size=(1, 192, 50))
    copy = with_copies(pictures, "cross")[0, 1]
    assert COPY_STEP * 192 == 2
    assert_allclose(copy[:, :-2], pictures[0, :, 2:], atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(96, 84), (72, 63), (40, 60), (130, 7), (2, 3)])
def test_copies_are_the_pictures_warped(rng, shape, dtype):
    """By whole pixels to the last bit, by parts of a pixel within the rounding of scikit-image's places."""
    pictures = rng.normal(size=(2, *shape)).astype(dtype)
    found = with_copies(pictures, "square")[:, 1:]
    for place, (right, down, growth, angle) in enumerate(COPIES["square"]):
        expected = warp(pictures, np.tile([right * COPY_STEP, down * COPY_STEP, growth, angle], (2, 1)))
        assert_allclose(found[:, place], expected, atol=5e-5 if dtype == np.float32 else 1e-12)
        if shape == (96, 84):
            assert_array_equal(found[:, place], expected)


def test_a_copy_that_is_turned_is_warped(rng, monkeypatch):
    turn = (1, 0, 0, 0.02)
    monkeypatch.setitem(COPIES, "turned", (turn,))
    pictures = rng.normal(size=(2, 24, 21))
    assert_array_equal(with_copies(pictures, "turned")[:, 1], warp(pictures, np.tile([COPY_STEP, 0, 0, 0.02], (2, 1))))
