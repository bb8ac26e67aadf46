from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.errors import BadImage, BadParameter
from lightproof.imaging.detection import EYE_COLUMN, EYE_ROW, align_by_eyes, eye_alignment, jitter_by_eyes
from tests.examples import examples

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


@pytest.mark.slow
@given(
    x=st.floats(60, 120), y=st.floats(60, 120), distance=st.floats(30, 100), degrees=st.floats(-60, 60)
)  # fmt: skip
def test_eyes_come_to_the_same_places_wherever_they_were(x, y, distance, degrees):
    turned = distance * np.exp(1j * np.radians(degrees))
    right, left = (x, y + 60), (x + turned.real, y + 60 + turned.imag)
    # Wide enough for all of a blur: where the border cut one, its middle would be elsewhere.
    photo = two_dots((340, 300), right, left, sharp=distance / 12)
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


def test_beyond_the_photo_it_is_reflected(rng):
    photo = rng.integers(0, 256, (70, 70)).astype(np.uint8)
    around = np.pad(photo, 15, mode="reflect")
    # As far apart as in the crop, so that the crop is the photo and 15 pixels beyond it on every side.
    right, left = ((x - 15, y - 15) for x, y in (RIGHT, LEFT))
    assert_array_equal(align_by_eyes(photo, right, left, SIZE), around)


def test_fine_stripes_become_grey_and_no_coarse_stripes():
    photo = np.zeros((800, 800), np.uint8)
    photo[:, ::2] = 255
    # A little more than five photo pixels make one of the face: sampled bare, the stripes would beat.
    face = align_by_eyes(photo, (200, 200), (200 + 58 * 5.1, 200), SIZE)
    assert face.std() < 1
    assert face.mean() == pytest.approx(127.5, abs=1)


NOISE = np.random.default_rng(1).integers(0, 256, (240, 260)).astype(np.uint8)


@given(
    x=st.floats(20, 200), y=st.floats(20, 200), distance=st.floats(8, 150), degrees=st.floats(-80, 80)
)  # fmt: skip
@examples(60)
def test_a_crop_is_the_same_whether_all_of_the_photo_is_smoothed_or_only_what_it_needs(x, y, distance, degrees):
    turned = distance * np.exp(1j * np.radians(degrees))
    right, left = (x, y), (min(max(x + turned.real, 0), 259), min(max(y + turned.imag, 0), 239))
    if left[0] <= right[0] or np.hypot(left[0] - right[0], left[1] - right[1]) < 4:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eye_alignment, "_needed", lambda image, *anything, **more: (0j, image))
        whole = align_by_eyes(NOISE, right, left, (32, 28))
    # Only a value that lies between two whole numbers may be rounded the other way.
    off = np.abs(align_by_eyes(NOISE, right, left, (32, 28)).astype(int) - whole)
    assert off.max() <= 1
    assert (off > 0).mean() < 0.01


def test_a_face_in_a_huge_photo_costs_no_more_than_the_face():
    photo = np.zeros((5000, 5000), np.uint8)
    photo[2000:2400, 2000:2400] = two_dots((400, 400), (100, 150), (300, 150), sharp=20)
    tracemalloc.start()
    face = align_by_eyes(photo, (2100, 2150), (2300, 2150), SIZE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(middles(face), [RIGHT, LEFT], atol=0.7)
    assert peak < 10 * 2**20 < photo.size


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


def crops_with_eyes(n, shape=SIZE):
    places = [(column * shape[1] - 0.5, EYE_ROW * shape[0] - 0.5) for column in (EYE_COLUMN, 1 - EYE_COLUMN)]
    return np.repeat(two_dots(shape, *places)[None], n, axis=0), np.array(places)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_eyes_that_are_not_off_leave_the_crop_as_it_is(rng, dtype):
    crops = rng.integers(0, 256, (3, 40, 34)).astype(dtype)
    jittered = jitter_by_eyes(crops, share=0)
    assert_array_equal(jittered, crops)
    assert jittered.dtype == dtype


def test_the_face_moves_by_the_share_of_the_eye_distance_in_each_direction_and_eye():
    """A crop cut by eyes that are off shows the true eyes off by as much the other way."""
    crops, places = crops_with_eyes(500)
    off = np.array([middles(face) for face in jitter_by_eyes(crops)]) - places
    assert off.shape == (500, 2, 2)
    assert_allclose(off.std(axis=0), 0.04 * 58, rtol=0.1)
    assert_allclose(off.mean(axis=0), 0, atol=4 * 0.04 * 58 / np.sqrt(500))
    # Neither the two eyes nor the two directions know of each other.
    assert_allclose(np.corrcoef(off.reshape(500, 4).T) - np.eye(4), 0, atol=0.2)


def test_the_share_is_of_the_eye_distance_whatever_the_size():
    found = {}
    for size in ((100, 100), (192, 168)):
        crops, places = crops_with_eyes(60, size)
        found[size] = (np.array([middles(face) for face in jitter_by_eyes(crops, seed=3)]) - places) / (0.58 * size[1])
    # The same draws, so the same moves in units of the eye distance.
    assert_allclose(found[100, 100], found[192, 168], atol=0.012)


def test_a_jittered_crop_is_the_crop_aligned_by_the_moved_eyes(rng):
    smooth = two_dots(SIZE, (40, 50), (70, 30), sharp=9.0)
    right, left = (complex(*place) for place in (RIGHT, LEFT))
    offs = np.random.default_rng(5).normal(0, 0.04 * 58, (3, 2, 2)) @ [1, 1j]
    for face, (right_off, left_off) in zip(jitter_by_eyes(np.repeat(smooth[None], 3, 0), seed=5), offs, strict=True):
        eyes = [(eye.real, eye.imag) for eye in (right + right_off, left + left_off)]
        # The one smooths what it shrinks, by so little that the last digit may differ; beyond the crop both reflect.
        assert_allclose(face.astype(int), align_by_eyes(smooth, *eyes, SIZE), atol=1)


def test_the_move_of_a_crop_depends_on_its_place_and_the_seed_alone(rng):
    crops = rng.integers(0, 256, (5, 40, 34)).astype(np.uint8)
    jittered = jitter_by_eyes(crops, seed=7)
    assert_array_equal(jitter_by_eyes(crops[:2], seed=7), jittered[:2])
    others = crops.copy()
    others[[0, 1, 2, 4]] = 0
    assert_array_equal(jitter_by_eyes(others, seed=7)[3], jittered[3])
    assert (jitter_by_eyes(crops, seed=8) != jittered).any(axis=(1, 2)).all()
    same = jitter_by_eyes(np.repeat(crops[:1], 5, axis=0), seed=7)
    assert len({face.tobytes() for face in same}) == 5


def test_beyond_the_crop_its_pixels_are_reflected():
    # Distance from the nearest of the outermost rows and columns, so what is reflected is never darker than the rim.
    rows, columns = np.mgrid[:60, :60]
    pit = np.minimum(np.minimum(rows, 59 - rows), np.minimum(columns, 59 - columns)).astype(float)
    jittered = jitter_by_eyes(np.repeat(pit[None], 40, axis=0), share=0.1)
    # Repeated, the rim would be 0 all along a side that lies beyond the crop; reflected, it rises again.
    sides = np.concatenate([jittered[:, 0], jittered[:, -1], jittered[:, :, 0], jittered[:, :, -1]])
    assert (sides.mean(axis=1) > 0.2).all()


def test_jittering_changes_no_crop_in_place(rng):
    crops = rng.integers(0, 256, (2, 40, 34)).astype(np.uint8)
    before = crops.copy()
    jitter_by_eyes(crops)
    assert_array_equal(crops, before)


@pytest.mark.parametrize(
    ("crops", "got"),
    [
        (np.zeros((40, 34), np.uint8), r"uint8 of shape \(40, 34\)"),
        (np.zeros((2, 40, 15), np.uint8), r"uint8 of shape \(2, 40, 15\)"),
        (np.zeros((2, 40, 34), np.int64), r"int64 of shape \(2, 40, 34\)"),
        ([[1, 2]], "list"),
    ],
)
def test_what_are_no_crops_is_refused(crops, got):
    legal = r"crops of shape \(n, h, w\), uint8 or float, of at least 16 x 16 pixels"
    with pytest.raises(BadImage, match=rf"^`images` of jitter_by_eyes must be {legal}; got {got}\.$"):
        jitter_by_eyes(crops)


@pytest.mark.parametrize("share", [-0.01, 0.16, float("nan"), "0.04", True, None])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(BadParameter, match=r"^`share` of jitter_by_eyes must be a number from 0 to 0\.15; got .*\.$"):
        jitter_by_eyes(np.zeros((1, 40, 34), np.uint8), share)


@pytest.mark.parametrize("seed", [-1, 1.0, None, True])
def test_a_seed_that_is_none_is_refused(seed):
    expected = r"^`seed` of jitter_by_eyes must be a whole number of at least 0; got .*\.$"
    with pytest.raises(BadParameter, match=expected):
        jitter_by_eyes(np.zeros((1, 40, 34), np.uint8), seed=seed)
