from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks import textbook
from lightproof import PatchRCDT
from lightproof.errors import BadImage, BadParameter
from lightproof.estimators.sklearn_contract import NotFitted
from lightproof.method.patches import PatchGrid
from lightproof.method.transform import cosines, discrete_rcdt, flatten
from tests.examples import examples


def as_is(**overrides):
    return PatchRCDT(size="as-is", dtype="float64", **overrides)


def test_batched_features_equal_the_textbook_loop(rng):
    images = rng.random((20, 31, 25))
    found = as_is(cell=5, overlap=2).fit(images).patch_vectors(images)
    expected = [textbook.features(image, cell=5, overlap=2) for image in images]
    assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@examples(25)
@given(st.integers(1, 5), st.integers(0, 4), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_features_equal_the_rcdt_of_each_patch_of_gradients(cell, overlap, m, seed):
    overlap = min(overlap, cell - 1)
    image = np.random.default_rng(seed).random((1, 9, 12))
    found = as_is(cell=cell, overlap=overlap, n_angles=m, angle_scheme="uniform", gradient="central").fit(image)
    right, down = np.gradient(image[0], axis=1), np.gradient(image[0], axis=0)
    clouds = PatchGrid(9, 12, cell, overlap).gather(np.stack([right, down])[None])[0].transpose(0, 2, 1)
    expected = flatten(discrete_rcdt(clouds, found.angles_))
    assert_allclose(found.patch_vectors(image)[0], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("gain", [0.25, 3.0])
@pytest.mark.parametrize("brightness", [-0.2, 0.0, 0.5])
def test_gain_of_light_scales_features_and_brightness_is_gone(faces, gain, brightness):
    images = faces.images[:4] / 255.0
    extractor = as_is().fit(images)
    assert_allclose(
        extractor.transform(gain * images + brightness), gain * extractor.transform(images), rtol=1e-9, atol=1e-11
    )


def ramp(shape, right, down):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return right * columns + down * rows


@pytest.mark.parametrize("gradient", ["sobel", "central"])
def test_a_ramp_of_light_adds_translation_vectors_away_from_the_border(faces, gradient):
    images = faces.images[:2] / 255.0
    extractor = as_is(gradient=gradient).fit(images)
    slope = 8.0 if gradient == "sobel" else 1.0
    before, after = (extractor.patch_vectors(i) for i in (images, images + ramp(images.shape[1:], 0.01, -0.02)))
    expected = before + slope * (0.01 * extractor.translation_[0] - 0.02 * extractor.translation_[1])
    inside = extractor.grid_.as_map(np.arange(extractor.grid_.n_patches))[1:-1, 1:-1].ravel()
    assert_allclose(after[:, inside], expected[:, inside], rtol=1e-9, atol=1e-11)


def test_a_ramp_of_light_breaks_the_model_in_border_patches_of_sobel_but_not_of_central_differences(faces):
    images = faces.images[:2] / 255.0
    added = ramp(images.shape[1:], 0.01, 0.0)
    for gradient, slope, holds in (("sobel", 8.0, False), ("central", 1.0, True)):
        extractor = as_is(gradient=gradient).fit(images)
        before, after = extractor.patch_vectors(images), extractor.patch_vectors(images + added)
        corner_holds = np.allclose(after[:, 0], before[:, 0] + slope * 0.01 * extractor.translation_[0], atol=1e-9)
        assert corner_holds is holds


def test_transform_is_one_row_an_image(faces):
    extractor = PatchRCDT().fit(faces.images)
    rows = extractor.transform(faces.images[:3])
    assert rows.shape == (3, 441 * 64)
    assert rows.dtype == np.float32
    assert_array_equal(rows.reshape(3, 441, 64), extractor.patch_vectors(faces.images[:3]))


def test_an_image_alone_has_the_same_features_as_in_a_stack(faces):
    extractor = PatchRCDT(dtype="float64").fit(faces.images)
    together = extractor.transform(faces.images[:20])
    alone = np.concatenate([extractor.transform(faces.images[[i]]) for i in range(20)])
    assert_allclose(together, alone, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "value", "legal"),
    [
        ("cell", 0, r"an int of 1 or more"),
        ("cell", 2.0, r"an int of 1 or more"),
        ("overlap", -1, r"an int of 0 or more"),
        ("overlap", 9, r"an int from 0 to cell - 1 = 3"),
        ("n_angles", 0, r"an int of 1 or more"),
        ("angle_scheme", "even", r"one of 'uniform', 'authors'"),
        ("light", "dark", r"one of 'none', 'log', 'tan-triggs'"),
        ("gradient", "scharr", r"one of 'sobel', 'central'"),
        ("smoothing", "none", r"one of 'float', '8-bit'"),
        ("dtype", "int8", r"one of 'float32', 'float64'"),
        ("size", (64,), r"\(rows, columns\) of 2 or more each, or 'as-is'"),
        ("size", (64, 0), r"\(rows, columns\) of 2 or more each, or 'as-is'"),
    ],
)
def test_a_bad_parameter_is_refused_in_fit(faces, name, value, legal):
    with pytest.raises(BadParameter, match=rf"^`{name}` of PatchRCDT must be {legal}; got "):
        PatchRCDT(**{name: value}).fit(faces.images)


def test_transform_before_fit_is_refused(faces):
    with pytest.raises(NotFitted, match=r"^PatchRCDT\.transform must come after fit; got no fit\.$"):
        PatchRCDT().transform(faces.images)


def test_another_size_at_transform_is_refused_when_sizes_are_kept(faces):
    extractor = PatchRCDT(size="as-is").fit(faces.images)
    expected = r"^X\[0\] must be of the size seen in fit, 64 x 56, because size='as-is'; got 64 x 55\.$"
    with pytest.raises(BadImage, match=expected):
        extractor.transform(faces.images[:, :, :55])
    with pytest.raises(BadImage, match=r"^X\[1\] must be of the size seen in fit"):
        extractor.transform([faces.images[0], faces.images[1, :60]])


def test_a_size_smaller_than_the_cell_is_refused(faces):
    with pytest.raises(
        BadParameter, match=r"^`size` of PatchRCDT must be at least 16 x 16 for cell=16; got \(8, 20\)\.$"
    ):
        PatchRCDT(size=(8, 20), cell=16).fit(faces.images)


def test_parameters_set_after_fit_wait_for_the_next_fit(faces):
    extractor = PatchRCDT().fit(faces.images)
    before = extractor.transform(faces.images[:2])
    extractor.set_params(n_angles=8, light="log", cell=8, dtype="float64")
    assert_array_equal(extractor.transform(faces.images[:2]), before)
    assert extractor.fit(faces.images).transform(faces.images[:2]).shape != before.shape


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("cell", "overlap"), [(6, 3), (4, 1), (8, 0), (9, 6)])
def test_cosines_are_those_of_the_sorted_points_however_they_are_sorted(faces, cell, overlap, dtype):
    """Small patches are sorted all at once, large ones one by one; by the direct road the points are kept."""
    images = faces.images[:3]
    common = {"size": (32, 28), "cell": cell, "overlap": overlap, "dtype": dtype}
    points = PatchRCDT(**common).fit(images).patch_vectors(images)
    found = PatchRCDT(detail=5, **common).fit(images).patch_vectors(images)
    expected = points.reshape(*points.shape[:2], 4, cell**2) @ cosines(cell**2, 5).T
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    assert_allclose(found, expected.reshape(found.shape), atol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("patches", [{"detail": 5}, {"detail": "all"}, {"detail": 5, "cell": 9, "overlap": 6}])
@pytest.mark.parametrize("deformations", ["none", "all"])
def test_what_is_enrolled_together_is_what_is_enrolled_alone(faces, patches, deformations):
    images = faces.images[:5]
    extractor = PatchRCDT(size=(32, 28), **{"cell": 6, "overlap": 3} | patches).fit(images)
    whole = extractor.enrolled_vectors(images, "cross", deformations)
    alone = [extractor.enrolled_vectors(images[i : i + 1], "cross", deformations) for i in range(5)]
    assert_array_equal(np.concatenate(alone), whole)
    assert_allclose(whole[:, 0], extractor.patch_vectors(images), atol=1e-6)


@pytest.mark.parametrize("patches", [{"detail": 5}, {"detail": "all"}])
def test_copies_of_pictures_are_described_as_any_picture_with_the_patches_last(rng, patches):
    extractor = PatchRCDT(size=(32, 28), cell=6, overlap=3, **patches).fit(rng.random((1, 32, 28)))
    copied = rng.random((4, 5, 32, 28)).astype(np.float32)
    found = extractor.samples(extractor.gradients_(copied))
    assert found.shape == (4, 5, extractor.n_numbers, extractor.grid_.n_patches)
    for i, j in ((0, 0), (3, 4)):
        assert_allclose(found[i, j].T, extractor.describe(copied[i, j][None])[0], atol=1e-5)
