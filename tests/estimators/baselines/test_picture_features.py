from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from skimage.feature import hog, local_binary_pattern
from sklearn.base import clone

from lightproof.errors import BadImage, BadParameter
from lightproof.estimators.baselines import (
    LBP,
    MSLDE,
    GradientFace,
    HoG,
    LogDCT,
    Pixels,
    TanTriggs,
    WeberFace,
    reflectance_maps,
)
from lightproof.method.illumination import log, tan_triggs

LENGTHS = {
    Pixels: lambda h, w: h * w,
    TanTriggs: lambda h, w: h * w,
    WeberFace: lambda h, w: h * w,
    GradientFace: lambda h, w: 2 * h * w,
    MSLDE: lambda h, w: h * w,
    LogDCT: lambda h, w: h * w,
    HoG: lambda h, w: (h // 8 - 2) * (w // 8 - 2) * 81,
    LBP: lambda h, w: (h // 8) * (w // 8) * 59,
}
FEATURES = list(LENGTHS)


@pytest.mark.parametrize("size", [(64, 64), (48, 48), (32, 64), [128, 128], (192, 168)], ids=str)
@pytest.mark.parametrize("kind", FEATURES)
def test_every_size_gives_rows_of_its_length(faces, kind, size):
    rows = kind(size).fit_transform(faces.images[:2])
    assert rows.shape == (2, LENGTHS[kind](*size))
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("kind", FEATURES)
def test_a_row_depends_on_its_own_image_alone(faces, kind):
    """35 images are more than one block."""
    images = [image[: 60 + i % 2] for i, image in enumerate(faces.images)]
    features = kind((32, 32)).fit(images)
    alone = np.concatenate([features.transform([image]) for image in images])
    assert_allclose(features.transform(images), alone, atol=1e-5)


@pytest.mark.parametrize("kind", FEATURES)
def test_features_keep_the_contract_of_scikit_learn(faces, kind):
    features = kind(size=(24, 32))
    copy = clone(features)
    assert copy is not features
    assert copy.get_params() == features.get_params()
    assert copy.set_params(size=(32, 24)).size == (32, 24)
    assert_array_equal(features.transform(faces.images[:2]), features.fit(faces.images[:1]).transform(faces.images[:2]))


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (Pixels(), lambda x: x),
        (TanTriggs(), tan_triggs),
        (WeberFace(sigma=0.9, alpha=3), lambda x: reflectance_maps.weber_face(x, 0.9, 3)),
        (GradientFace(sigma=1, encoding="angle"), lambda x: reflectance_maps.gradient_face(x, 1)),
        (MSLDE(scales=2), lambda x: reflectance_maps.multiscale_log_differences(x, 2)),
        (LogDCT(discard=7), lambda x: reflectance_maps.log_dct(x, 7)),
        (WeberFace(rescale="before"), lambda x: reflectance_maps.weber_face(reflectance_maps.stretch(x))),
        (LogDCT(rescale="after"), lambda x: reflectance_maps.stretch(reflectance_maps.log_dct(x))),
        (
            MSLDE(rescale="both"),
            lambda x: reflectance_maps.stretch(
                reflectance_maps.multiscale_log_differences(reflectance_maps.stretch(x))
            ),
        ),
    ],
    ids=lambda value: str(value) if hasattr(value, "size") else "",
)
def test_rows_are_the_pixels_of_the_map(rng, features, expected):
    images = rng.random((2, 64, 64))
    assert_allclose(features.transform(images), expected(images).reshape(2, -1), rtol=1e-6, atol=1e-6)


def test_the_circle_of_a_gradient_face_is_cosine_and_sine(rng):
    images = rng.random((2, 16, 16))
    angles = reflectance_maps.gradient_face(images).reshape(2, -1)
    rows = GradientFace((16, 16)).transform(images)
    assert_allclose(rows, np.hstack([np.cos(angles), np.sin(angles)]), atol=1e-6)


@pytest.mark.parametrize("light", ["none", "log"])
def test_hog_is_that_of_scikit_image(rng, light):
    images = rng.random((3, 40, 48))
    lit = log(images) if light == "log" else images
    expected = [hog(image, 9, (8, 8), (3, 3), block_norm="L2-Hys") for image in lit]
    assert_allclose(HoG((40, 48), light=light).transform(images), expected, atol=1e-6)
    small = [hog(image, 9, (4, 4), (2, 2)) for image in lit]
    assert_allclose(HoG((40, 48), light=light, cell=4, block=2).transform(images), small, atol=1e-6)


def test_lbp_counts_the_patterns_of_each_cell(rng):
    image = rng.integers(0, 256, (16, 24), np.uint8)
    patterns = local_binary_pattern(image, 8, 1, "nri_uniform")
    cells = [patterns[r : r + 8, c : c + 8] for r in (0, 8) for c in (0, 8, 16)]
    expected = [np.sum(cell == kind) for cell in cells for kind in range(59)]
    assert_array_equal(LBP((16, 24)).transform(image[None])[0], expected)


def test_lbp_of_an_even_picture_is_one_pattern_inside(rng):
    """All neighbors are as bright: eight ones. Cells inside do not see the border."""
    row = LBP((24, 24)).transform(np.full((1, 24, 24), 100, np.uint8)).reshape(9, 59)
    assert np.flatnonzero(row[4]).size == 1
    assert row[4].max() == 64
    assert_array_equal(row.sum(axis=1), 64)


def test_lbp_gives_what_is_left_over_to_the_last_cells():
    row = LBP((20, 17)).transform(np.zeros((1, 20, 17), np.uint8)).reshape(4, 59)
    assert_array_equal(row.sum(axis=1), [64, 72, 96, 108])
    assert LBP((4, 4)).transform(np.zeros((1, 4, 4), np.uint8)).shape == (1, 59)


@given(st.integers(1, 5), st.integers(0, 50), st.integers(0, 99))
def test_lbp_does_not_change_with_gain_and_brightness(gain, brightness, seed):
    """Inside: beyond the border all is black, which brightness does not lift."""
    image = np.random.default_rng(seed).integers(0, 40, (1, 24, 24), np.uint8)
    lit = (image * gain + brightness).astype(np.uint8)
    before, after = (LBP((24, 24)).transform(x).reshape(9, 59)[4] for x in (image, lit))
    assert_array_equal(before, after)


@pytest.mark.parametrize(
    ("features", "name", "legal"),
    [
        (Pixels(64), "size", r"\(rows, columns\) of 2 or more each"),
        (LogDCT((64, 1)), "size", r"\(rows, columns\) of 2 or more each"),
        (WeberFace((64.0, 64.0)), "size", r"\(rows, columns\) of 2 or more each"),
        (WeberFace(sigma=0), "sigma", "a number above 0"),
        (WeberFace(alpha="2"), "alpha", "a number above 0"),
        (WeberFace(alpha=True), "alpha", "a number above 0"),
        (WeberFace(rescale=True), "rescale", "one of 'none', 'before', 'after', 'both'"),
        (GradientFace(sigma=float("nan")), "sigma", "a number above 0"),
        (GradientFace(encoding="raw"), "encoding", "one of 'circle', 'angle'"),
        (GradientFace(rescale="after"), "rescale", "one of 'none', 'before'"),
        (MSLDE(scales=0), "scales", "an int of 1 or more"),
        (LogDCT((8, 8), discard=64), "discard", r"an int from 0 to rows \* columns - 1 = 63"),
        (LogDCT(discard=5.0), "discard", r"an int from 0 to rows \* columns - 1 = 4095"),
        (HoG(light="bright"), "light", "one of 'none', 'log', 'tan-triggs'"),
        (HoG(cell=0), "cell", "an int of 1 or more"),
        (HoG((64, 23)), "size", "at least 24 x 24 for cell=8 and block=3"),
        (LBP(cell=0), "cell", "an int of 1 or more"),
    ],
    ids=str,
)
def test_a_bad_parameter_is_refused(faces, features, name, legal):
    owner = type(features).__name__
    for ask in (features.fit, features.transform):
        with pytest.raises(BadParameter, match=rf"^`{name}` of {owner} must be {legal}; got .*\.$"):
            ask(faces.images[:2])


@pytest.mark.parametrize("kind", FEATURES)
def test_pictures_that_are_not_in_0_to_1_are_refused(kind):
    images = np.full((40, 32, 32), 0.5)
    images[35, 0] = 1.5
    images[35, 1] = -0.25
    expected = rf"^Pixels of X\[35\] must be within \[0, 1\] for {kind.__name__}; got -0\.25 to 1\.5\.$"
    with pytest.raises(BadImage, match=expected):
        kind((32, 32)).transform(images)
    with pytest.raises(BadImage, match="got none"):
        kind().fit([])
