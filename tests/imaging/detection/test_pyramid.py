"""A square of a photo shows what is there, wherever it lies, however large and turned it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.imaging.detection.detector import Pyramid, Window

RNG = np.random.default_rng(3)


def middles_of(pixels):
    """Places of the middles of all pixels of a square."""
    middles = np.arange(pixels) + 0.5
    return middles[None, :] + 1j * middles[:, None]


@pytest.mark.parametrize(
    ("window", "place", "expected"),
    [
        (Window(10 + 20j, 8), 2 + 2j, 10 + 20j),  # the middle
        (Window(10 + 20j, 8), 0 + 0j, 6 + 16j),  # 4 photo pixels up and to the left
        (Window(10 + 20j, 8), 3 + 2j, 12 + 20j),  # a pixel of the square is two of the photo
        (Window(10 + 20j, 8, np.pi / 2), 3 + 2j, 10 + 22j),  # turned clockwise, right is down
        (Window(10 + 20j, 8, 0, True), 3 + 2j, 8 + 20j),  # in the mirror, right is left
        (Window(10 + 20j, 8, np.pi / 2, True), 3 + 2j, 10 + 18j),
    ],
)
def test_places_in_a_square_are_places_in_the_photo(window, place, expected):
    (found,) = window.to_photo(np.array([place]), 4)
    assert found == pytest.approx(expected)


@given(
    middle=st.complex_numbers(max_magnitude=500, allow_nan=False),
    side=st.floats(1, 1000), turn=st.floats(-np.pi, np.pi), mirrored=st.booleans(), pixels=st.integers(1, 300),
)  # fmt: skip
def test_a_square_keeps_angles_and_lengths_but_for_its_scale(middle, side, turn, mirrored, pixels):
    corners = np.array([0, 1, 1j]) * pixels
    start, right, down = Window(middle, side, turn, mirrored).to_photo(corners, pixels)
    assert abs(right - start) == pytest.approx(side)
    assert abs(down - start) == pytest.approx(side)
    assert (start + right + down + (right + down - start)) / 4 == pytest.approx(middle, abs=1e-6)
    # Seen in the mirror, down is on the other side of right.
    assert (down - start) / (right - start) == pytest.approx(-1j if mirrored else 1j)


def test_a_square_that_is_the_photo_shows_every_pixel_as_it_is():
    photo = RNG.integers(0, 256, (48, 48)).astype(np.uint8)
    square = Pyramid(photo).square(Window(23.5 + 23.5j, 48), 48)
    assert_allclose(255 * square, photo, atol=1e-4)


@pytest.mark.parametrize("times", [2, 4, 8])
def test_a_square_of_fewer_pixels_shows_their_means(times):
    photo = RNG.integers(0, 256, (64, 96)).astype(np.uint8)
    square = Pyramid(photo).square(Window(31.5 + 31.5j, 64), 64 // times)
    means = photo[:, :64].reshape(64 // times, times, 64 // times, times).mean(axis=(1, 3))
    assert_allclose(255 * square, means, atol=1e-3)


@given(
    height=st.integers(90, 125), width=st.integers(90, 125), share=st.floats(0.02, 0.55), turn=st.floats(-np.pi, np.pi),
    mirrored=st.booleans(), pixels=st.integers(16, 64),
)  # fmt: skip
def test_a_slope_is_drawn_where_it_is_at_every_size_and_turn(height, width, share, turn, mirrored, pixels):
    """Means and bilinear weights keep a slope, so what is seen is the place that was looked at, to the last digit."""
    rows, columns = np.mgrid[:height, :width]
    photo = Pyramid((rows + columns).astype(np.uint8))
    window = Window(complex(width - 1, height - 1) / 2, share * min(height, width), turn, mirrored)
    places = window.to_photo(middles_of(pixels), pixels)
    assert_allclose(255 * photo.square(window, pixels), places.real + places.imag, atol=0.01)


@pytest.mark.parametrize("middle", [-200 + 30j, 300 + 30j, 30 - 200j, 30 + 300j])
def test_beyond_the_photo_it_is_black(middle):
    photo = Pyramid(np.full((60, 60), 200, np.uint8))
    assert not photo.square(Window(middle, 100), 32).any()


def test_a_square_that_holds_the_photo_shows_it_in_a_black_frame():
    photo = RNG.integers(1, 256, (32, 48)).astype(np.uint8)
    square = 255 * Pyramid(photo).square(Window(23.5 + 15.5j, 64), 64)
    assert_allclose(square[16:48, 8:56], photo, atol=1e-4)
    framed = np.ones((64, 64), bool)
    framed[16:48, 8:56] = False
    assert not square[framed].any()


@pytest.mark.parametrize("turn", [0, 0.4, -2.0])
def test_the_mirror_shows_the_square_the_other_way_round(turn):
    photo = Pyramid(RNG.integers(0, 256, (90, 120)).astype(np.uint8))
    plain, mirrored = (photo.square(Window(50 + 40j, 70, turn, mirror), 32) for mirror in (False, True))
    assert_allclose(mirrored, plain[:, ::-1], atol=1e-5)


def test_fine_stripes_become_grey_and_no_coarse_stripes():
    photo = np.zeros((900, 900), np.uint8)
    photo[:, ::2] = 255
    # More than five photo pixels make one of the square: sampled bare, the stripes would beat.
    square = Pyramid(photo).square(Window(449.5 + 449.5j, 660), 128)
    assert square.std() < 0.005
    assert square.mean() == pytest.approx(0.5, abs=0.005)


def test_what_was_drawn_before_changes_nothing():
    photo = RNG.integers(0, 256, (200, 200)).astype(np.uint8)
    used = Pyramid(photo)
    for side in (200, 20, 90):
        window = Window(100 + 100j, side, 0.2)
        assert_array_equal(used.square(window, 16), Pyramid(photo).square(window, 16))
