from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.errors import BadImage, BadParameter
from lightproof.faces import EYE_COLUMN, EYE_ROW, align_by_eyes

SIZE = (100, 100)
RIGHT, LEFT = (20.5, 23.5), (78.5, 23.5)  # 0.21, 0.79 and 0.24 of 100, less half a pixel


def two_dots(shape, right, left, sharp=3.0):
    """A dark photo with a bright blur at each eye."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    blurs = [np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / (2 * sharp**2)) for x, y in (right, left)]
    return np.rint(10 + 200 * np.maximum(*blurs)).astype(np.uint8)


def middles(face):
    """Centers of the bright spots in the left and the right half, as (x, y)."""
    weight = np.clip(face.astype(float) - 40, 0, None)
    rows, columns = np.mgrid[: face.shape[0], : face.shape[1]]
    found = []
    for half in (columns < face.shape[1] / 2, columns >= face.shape[1] / 2):
        share = weight * half / (weight * half).sum()
        found.append(((share * columns).sum(), (share * rows).sum()))
    return found


def test_a_photo_whose_eyes_are_in_place_stays_as_it_is(rng):
    photo = rng.integers(0, 256, SIZE).astype(np.uint8)
    assert_array_equal(align_by_eyes(photo, RIGHT, LEFT, SIZE), photo)


@given(
    x=st.floats(60, 120), y=st.floats(60, 120), distance=st.floats(30, 100), degrees=st.floats(-60, 60)
)  # fmt: skip
def test_eyes_come_to_the_same_places_wherever_they_were(x, y, distance, degrees):
    turned = distance * np.exp(1j * np.radians(degrees))
    right, left = (x, y + 60), (x + turned.real, y + 60 + turned.imag)
    photo = two_dots((340, 240), right, left, sharp=distance / 12)
    assert_allclose(middles(align_by_eyes(photo, right, left, SIZE)), [RIGHT, LEFT], atol=0.7)


def test_the_places_are_those_of_extended_yale_b_at_its_size():
    photo = two_dots((192, 168), (34.78, 45.58), (132.22, 45.58))
    assert pytest.approx((34.78, 45.58)) == (EYE_COLUMN * 168 - 0.5, EYE_ROW * 192 - 0.5)
    assert_array_equal(align_by_eyes(photo, (34.78, 45.58), (132.22, 45.58)), photo)


@pytest.mark.data
def test_the_eyes_of_the_mean_yale_face_are_where_the_crop_puts_them(yale):
    mean = yale.images[(yale.azimuths == 0) & (yale.elevations == 0)].mean(axis=0)
    for column in (EYE_COLUMN, 1 - EYE_COLUMN):
        x, y = round(column * 168), round(EYE_ROW * 192)
        eye, cheek = mean[y - 4 : y + 5, x - 4 : x + 5].mean(), mean[y + 30 : y + 39, x - 4 : x + 5].mean()
        assert eye < 0.75 * cheek
        around = mean[y - 8 : y + 9, x - 8 : x + 9]
        darkest = np.unravel_index(around.argmin(), around.shape)
        assert_allclose(darkest, 8, atol=4)


def test_beyond_the_photo_its_edge_is_repeated():
    photo = np.full((40, 60), 77, np.uint8)
    photo[0], photo[-1] = 10, 200
    face = align_by_eyes(photo, (10, 3), (50, 3), (200, 100))
    assert (face[0] == 10).all()
    assert (face[-1] == 200).all()


def test_fine_stripes_become_grey_and_no_coarse_stripes():
    photo = np.zeros((800, 800), np.uint8)
    photo[:, ::2] = 255
    # A little more than five photo pixels make one of the face: sampled bare, the stripes would beat.
    face = align_by_eyes(photo, (200, 200), (200 + 58 * 5.1, 200), SIZE)
    assert face.std() < 1
    assert face.mean() == pytest.approx(127.5, abs=1)


@pytest.mark.parametrize(
    ("right", "left", "expected"),
    [
        ((20, 30), (20, 30), r"`left_eye` .* right of the right eye .* 4 pixels from it at \(20\.0, 30\.0\); got"),
        ((60, 30), (20, 30), r"`left_eye` of align_by_eyes must be right of the right eye in the picture"),
        ((20, 30), (22, 30), r"at least 4 pixels from it at \(20\.0, 30\.0\); got \(22\.0, 30\.0\)\.$"),
        ((20, 30), (100, 30), r"^`left_eye` of align_by_eyes must be \(x, y\) inside the photo of 80 x 100 pixels"),
        ((-1, 30), (60, 30), r"^`right_eye` .* inside the photo of 80 x 100 pixels; got \(-1, 30\)\.$"),
        ((20, 80), (60, 30), r"^`right_eye` "),
        ((20, float("nan")), (60, 30), r"^`right_eye` "),
        ((20,), (60, 30), r"^`right_eye` "),
        (("a", "b"), (60, 30), r"^`right_eye` "),
        (None, (60, 30), r"^`right_eye` .*; got None\.$"),
        ((20, 30), 7, r"^`left_eye` .*; got 7\.$"),
    ],
)
def test_what_cannot_be_eyes_is_refused(right, left, expected):
    with pytest.raises(BadParameter, match=expected):
        align_by_eyes(np.zeros((80, 100), np.uint8), right, left)


@pytest.mark.parametrize("size", [(15, 20), (20, 15), (20,), 20, (20.0, 20), None])
def test_a_size_that_is_none_is_refused(size):
    expected = r"^`size` of align_by_eyes must be \(height, width\), two whole numbers of at least 16; got .*\.$"
    with pytest.raises(BadParameter, match=expected):
        align_by_eyes(np.zeros((80, 100), np.uint8), (20, 30), (60, 30), size)


@pytest.mark.parametrize(
    ("image", "got"),
    [
        (np.zeros((80, 100, 3), np.uint8), r"uint8 of shape \(80, 100, 3\)"),
        (np.zeros((80, 100)), r"float64 of shape \(80, 100\)"),
        ("photo.jpg", "str"),
    ],
)
def test_what_is_no_grey_photo_is_refused(image, got):
    expected = rf"^`image` of align_by_eyes must be a grey photo of shape \(h, w\), uint8; got {got}\.$"
    with pytest.raises(BadImage, match=expected):
        align_by_eyes(image, (20, 30), (60, 30))
