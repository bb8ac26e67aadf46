"""Spans in whole numbers, found fast, against those found by LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.method import quantization
from lightproof.method.quantization import compact_spans
from lightproof.method.subspaces import SharedSpan, span_photos
from tests.examples import examples


def nothing(D):
    return SharedSpan.of(np.zeros((0, D)))


def copies(rng, b=2, L=5, D=20, K=30, apart=0.3):
    """Samples that differ a little, as a photo and its copies do, (b, L, D, K)."""
    return (rng.normal(size=(b, 1, D, K)) + apart * rng.normal(size=(b, L, D, K))).astype(np.float32)


def exact(samples, most):
    """Span each person the slow way."""
    return [span_photos(each.transpose(2, 0, 1), nothing(each.shape[1])).compact(most) for each in samples]


def far_apart(first, second):
    """Sine of the angle between first and first direction, second and second, (K, r)."""
    cosine = np.sum(first.directions.astype(float) * second.directions, axis=-1)
    return np.sqrt(np.maximum(0, 1 - cosine**2))


def count_asked(monkeypatch):
    """Count the patches that LAPACK is asked about."""
    asked = []

    def ask(samples):
        asked.append(len(samples))
        return principal(samples)

    principal = quantization.principal_directions
    monkeypatch.setattr(quantization, "principal_directions", ask)
    return asked


@pytest.mark.slow
@pytest.mark.parametrize("L", [2, 5, 10])
@pytest.mark.parametrize("most", [1, 3])
@examples(15)
@given(seed=st.integers(0, 2**32 - 1))
def test_fast_directions_are_lapacks_within_whole_numbers(L, most, seed):
    samples = copies(np.random.default_rng(seed), L=L)
    for found, expected in zip(compact_spans(samples, most, nothing(20)), exact(samples, most), strict=True):
        assert found.own.shape == expected.own.shape
        assert (found.own.dtype, found.coordinates.dtype) == (np.int8, np.float16)
        assert found.own.flags.c_contiguous
        assert_allclose(found.own_variance, expected.own_variance, rtol=5e-3)
        # Half a code in each of 20 numbers of both. The first is clear: it is what all samples have in common.
        assert (far_apart(found, expected)[:, 0] < 0.03).all()


def test_what_is_kept_spans_what_lapack_keeps(rng):
    samples = copies(rng, K=400) * np.array([4, 2, 1, 0.2, 0.1], np.float32)[:, None, None]
    for found, expected in zip(compact_spans(samples, 3, nothing(20)), exact(samples, 3), strict=True):
        onto = found.directions.astype(float) @ expected.directions.swapaxes(1, 2)
        kept = np.linalg.svd(onto, compute_uv=False)
        assert np.quantile(kept.min(axis=1), 0.05) > 0.99


@pytest.mark.parametrize("L", [1, 5, 8])
def test_nobodys_span_depends_on_the_others(rng, L):
    samples = copies(rng, b=7, L=L)
    together = compact_spans(samples, 3, nothing(20))
    for i, found in enumerate(together):
        alone = compact_spans(samples[i : i + 1], 3, nothing(20))[0]
        assert_array_equal(found.own, alone.own)
        assert_array_equal(found.coordinates, alone.coordinates)


def test_lapack_is_hardly_asked_about_clear_patches(rng, monkeypatch):
    asked = count_asked(monkeypatch)
    compact_spans(copies(rng, b=4, K=500), 3, nothing(20))
    assert sum(asked) < 0.05 * 4 * 500


@pytest.mark.parametrize("L", [8, 10, 12])
def test_lapack_is_hardly_asked_about_the_photos_of_many_either(rng, monkeypatch, L):
    asked = count_asked(monkeypatch)
    compact_spans(copies(rng, b=4, L=L, K=300), 3, nothing(20))
    assert sum(asked) < 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "n_asked"),
    [
        (lambda samples: samples.astype(np.float64), 60),
        (lambda samples: samples[:, :1], 60),
        (lambda samples: samples.repeat(3, axis=1), 60),
        (lambda samples: samples[:, :1].repeat(5, axis=1), 60),
        (lambda samples: samples * np.float32(1e-12), 60),
        (lambda samples: samples * np.float32(0), 0),
    ],
    ids=["double precision", "one photo", "many photos", "the same photo", "faint", "black"],
)
def test_lapack_is_asked_where_the_fast_way_is_not_sure(rng, monkeypatch, make, n_asked):
    samples = make(copies(rng))
    expected = exact(samples, 3)
    asked = count_asked(monkeypatch)
    found = compact_spans(samples, 3, nothing(20))
    assert sum(asked) == n_asked
    for one, other, photos in zip(found, expected, samples, strict=True):
        along = np.einsum("dk,kd->k", photos[0], other.own[:, 0].astype(float))
        assert_array_equal(one.own[:, 0], np.where(along < 0, -1, 1)[:, None] * other.own[:, 0])
        assert_array_equal(one.own[:, 1:], other.own[:, 1:])
        assert_array_equal(one.coordinates, other.coordinates)


def test_the_first_direction_points_to_where_the_photo_does(rng):
    samples = copies(rng, b=3, K=40)
    for found, photos in zip(compact_spans(samples, 3, nothing(20)), samples, strict=True):
        assert (np.einsum("dk,kd->k", photos[0], found.directions[:, 0]) > 0).all()


def test_a_direction_too_weak_for_single_precision_is_still_found(rng):
    """The third is a ten-thousandth of the first: its square is lost beside the first's."""
    axes = np.linalg.qr(rng.normal(size=(20, 20)))[0][:5]
    mix = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    samples = (mix * [1, 1e-2, 1e-4, 0, 0] @ axes).astype(np.float32)
    found = compact_spans(samples[None, :, :, None], 3, nothing(20))[0]
    closeness = np.abs(np.sum(found.directions[0] * axes[:3], axis=1))
    assert_allclose(closeness, 1, atol=1e-3)


def test_black_patches_span_nothing_beside_others(rng):
    samples = copies(rng, K=6)
    samples[1, :, :, 2] = 0
    found = compact_spans(samples, 3, nothing(20))
    assert_array_equal(found[1].rank, [3, 3, 0, 3, 3, 3])
    assert not found[1].own[2].any()
    assert not found[1].coordinates[2].any()
