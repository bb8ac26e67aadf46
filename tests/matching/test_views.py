"""Views of faces: vectors of patches, and the few numbers of them that tell people apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.matching.views import (
    RIDGE,
    FaceView,
    _project,
    _scale_parts,
    discriminants,
    fisher_discriminants,
    name_of,
    view_of,
)
from lightproof.method.presets import ENGINES, ViewSettings
from tests.examples import examples

VIEWS = list(dict.fromkeys(view for settings in ENGINES.values() for view in settings.views))
PLACED = ViewSettings("eyes", (24, 18), numbers=5, components=2)
BOTH = replace(PLACED, sorted_detail=4)
SEEDS = st.integers(0, 2**32 - 1)


def small_view(settings, seed=None):
    """A view with matrices drawn at random, or without any."""
    raw = FaceView(settings, None)
    if seed is None:
        return raw
    shape = raw.n_patches, raw.n_numbers, settings.numbers
    return FaceView(settings, np.random.default_rng(seed).normal(size=shape))


def some_pictures(seed, n=2):
    return np.random.default_rng(seed).normal(size=(n, *PLACED.size)).astype(np.float32)


# ------------------------------------------------------------------------------------------------------------- vectors


@given(SEEDS)
def test_the_vector_of_a_patch_is_its_raw_one_times_the_matrix_of_that_patch(seed):
    for settings in (PLACED, BOTH):
        view, pictures = small_view(settings, seed), some_pictures(seed)
        matrix = np.random.default_rng(seed).normal(size=(view.n_patches, small_view(settings).n_numbers, 5))
        expected = np.einsum("nkd,kde->nke", small_view(settings).vectors(pictures).astype(float), matrix)
        assert_allclose(view.vectors(pictures), expected, rtol=1e-4, atol=1e-4)


@given(SEEDS, st.floats(-3, 3), st.floats(-3, 3))
def test_where_gradients_lie_is_linear_in_the_picture(seed, one, other):
    view, (first, second) = small_view(PLACED, seed), some_pictures(seed)
    together = view.vectors((one * first + other * second)[None])[0]
    a, b = view.vectors(np.stack([first, second])).astype(float)
    assert_allclose(together, one * a + other * b, atol=2e-4)


@given(SEEDS, st.floats(0.2, 5), st.floats(-3, 3))
def test_a_stretched_and_raised_picture_has_vectors_of_the_same_direction(seed, stretch, shift):
    pictures = some_pictures(seed)
    changed = (stretch * pictures + shift).astype(np.float32)
    placed, both = small_view(PLACED, seed), small_view(BOTH, seed)
    assert_allclose(placed.vectors(changed), stretch * placed.vectors(pictures), atol=1e-3)
    # Both parts are scaled to length 1 before they are multiplied, so there even the length stays.
    assert_allclose(both.vectors(changed), both.vectors(pictures), atol=1e-3)


def test_a_picture_is_described_alike_whatever_stands_beside_it():
    for settings in (PLACED, BOTH):
        view, pictures = small_view(settings, 0), some_pictures(0, 5)
        assert_array_equal(view.vectors(pictures)[3], view.vectors(pictures[3:4])[0])


def test_samples_are_the_vectors_with_patches_last():
    view, pictures = small_view(BOTH, 0), some_pictures(0, 6)
    samples = view.samples(pictures.reshape(2, 3, *PLACED.size))
    assert samples.shape == (2, 3, 5, view.n_patches)
    assert_array_equal(samples.reshape(6, 5, -1).swapaxes(1, 2), view.vectors(pictures))


@given(st.integers(1, 4), st.integers(1, 12), st.integers(1, 6), st.integers(1, 9), SEEDS)
def test_projecting_is_an_einsum(n, D, numbers, K, seed):
    rng = np.random.default_rng(seed)
    raw, matrix = (rng.normal(size=shape).astype(np.float32) for shape in ((n, D, K), (D, numbers, K)))
    found = np.full((n, numbers, K), np.nan, np.float32)
    _project(raw, matrix, found)
    assert_allclose(found, np.einsum("ndk,dek->nek", raw.astype(float), matrix), atol=1e-5)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(1, 6), SEEDS)
def test_each_part_of_a_vector_gets_length_1_and_nothing_stays_nothing(lengths, K, seed):
    rng, edges = np.random.default_rng(seed), np.cumsum([0, *lengths])
    raw = rng.normal(size=(2, edges[-1], K)).astype(np.float32)
    raw[0, :, 0] = 0
    scaled = raw.copy()
    _scale_parts(scaled, edges)
    for start, end in pairwise(edges):
        length = np.linalg.norm(raw[:, start:end], axis=1, keepdims=True)
        assert_allclose(scaled[:, start:end] * length, raw[:, start:end], atol=1e-5)
        assert_allclose(np.linalg.norm(scaled[:, start:end], axis=1), (length[:, 0] > 0).astype(float), atol=1e-5)


# -------------------------------------------------------------------------------------------------------- discriminants


@st.composite
def photos_of_people(draw):
    """Vectors (n, K, D) of a few people with a few photos each, people's numbers with gaps, in any order."""
    rng = np.random.default_rng(draw(SEEDS))
    people = rng.permutation(np.repeat(3 * np.arange(draw(st.integers(2, 6))), draw(st.integers(2, 5))))
    K, D = draw(st.integers(1, 3)), draw(st.integers(2, 6))
    # Some numbers tell more than others.
    own = rng.normal(size=(people.max() + 1, K, D)) * rng.uniform(0.2, 2, D)
    return own[people] + rng.normal(size=(len(people), K, D)), people


def scatters(vectors, people):
    """Covariances within people and in all, by a plain loop over patches: pairs of (D, D)."""
    for patch in range(vectors.shape[1]):
        units = [x / np.linalg.norm(x) for x in vectors[:, patch]]
        photos = list(zip(units, people, strict=True))
        means = {who: np.mean([x for x, own in photos if own == who], axis=0) for who in people}
        apart = [x - means[who] for x, who in photos]
        yield (sum(np.outer(x, x) for x in apart) / len(units), np.cov(np.array(units).T, bias=True))


@given(photos_of_people())
@examples(50)
def test_discriminants_whiten_what_differs_within_a_person(some):
    vectors, people = some
    D = vectors.shape[2]
    for P, (within, _) in zip(fisher_discriminants(vectors, people, D), scatters(vectors, people), strict=True):
        ridge = RIDGE * np.trace(within) / D * np.eye(D)
        assert_allclose(P.T @ (within + ridge) @ P, np.eye(D), atol=1e-8)


@given(photos_of_people())
@examples(50)
def test_discriminants_come_by_how_far_people_differ_along_them_and_each_tells_something_of_its_own(some):
    vectors, people = some
    D = vectors.shape[2]
    for P, (_, total) in zip(fisher_discriminants(vectors, people, D), scatters(vectors, people), strict=True):
        along = P.T @ total @ P
        assert (np.diff(np.diag(along)) <= 1e-8).all()
        assert_allclose(along, np.diag(np.diag(along)), atol=1e-7)


@given(photos_of_people(), st.integers(1, 5))
@examples(20)
def test_fewer_discriminants_are_the_first_of_more(some, numbers):
    vectors, people = some
    every, fewer = (fisher_discriminants(vectors, people, n) for n in (vectors.shape[2], numbers))
    assert_allclose(fewer, every[:, :, :numbers], rtol=1e-12)


def test_discriminants_do_not_depend_on_the_length_of_vectors_nor_on_the_order_of_photos(rng):
    vectors, people = rng.normal(size=(12, 2, 4)), np.repeat(np.arange(4), 3)
    found = fisher_discriminants(vectors, people, 4)
    order = rng.permutation(12)
    other = fisher_discriminants((vectors * rng.uniform(0.1, 9, (12, 2, 1)))[order], people[order], 4)
    sign = np.sign((found * other).sum(axis=1, keepdims=True))
    assert_allclose(sign * other, found, atol=1e-6)


def test_what_tells_two_people_apart_comes_first():
    """They differ along the first axis, their photos along the second."""
    vectors = np.array([[[0.5, 0.1 * i, 1.0]] for i in (-1, 1)] + [[[-0.5, 0.1 * i, 1.0]] for i in (-1, 1)])
    P = fisher_discriminants(vectors, np.array([0, 0, 1, 1]), 1)[0, :, 0]
    assert np.abs(P).argmax() == 0
    assert abs(P[1]) < 1e-6 * abs(P[0])


@pytest.mark.parametrize("settings", VIEWS, ids=lambda view: f"{view.shape}-{view.size[0]}-{view.numbers}")
def test_every_view_of_every_preset_has_its_discriminants(settings):
    raw, kept = FaceView(settings, None), discriminants()[name_of(settings)]
    assert kept.shape[:2] == (raw.n_patches, raw.n_numbers)
    assert kept.shape[2] >= settings.numbers
    assert np.isfinite(kept).all()
    # No patch is left out, and no direction is nothing.
    assert (np.abs(kept).max(axis=1) > 0).all()
    assert view_of(settings).n_numbers == settings.numbers


def test_the_file_holds_the_discriminants_of_the_presets_and_no_others():
    assert set(discriminants()) == {name_of(view) for view in VIEWS}


@pytest.mark.parametrize("settings", VIEWS[:2], ids=name_of)
def test_a_view_with_fewer_numbers_has_the_first_ones(settings, frontal):
    whole, part = view_of(settings), view_of(replace(settings, numbers=5))
    pictures = whole.unlit(frontal.images[:2])
    assert_array_equal(part.vectors(pictures), whole.vectors(pictures)[:, :, :5])


def test_views_by_the_eyes_and_as_it_came_are_alike():
    for settings in ENGINES.values():
        *_, eyes, crop = settings.views
        assert (eyes.shape, crop.shape) == ("eyes", "crop")
        assert replace(eyes, shape="crop") == crop
        assert name_of(eyes) == name_of(crop)
