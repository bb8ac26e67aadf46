"""A photo as bits, and how many of them differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lightproof.matching.binary_codes import (
    BITS_PER_WORD,
    CODES_PER_BLOCK,
    FIRST_BITS,
    MAX_BITS,
    hamming_distances,
    in_blocks,
    lanes_of,
    least_distances,
    refined_distances,
    split_codes,
)
from lightproof.matching.matcher import matcher_for
from lightproof.method.presets import ENGINES
from tests.matching.pictures import found, mixed


@pytest.fixture(scope="module", params=ENGINES)
def matcher(request):
    return matcher_for(ENGINES[request.param])


def words(rng, n, count):
    return rng.integers(0, 2**64, (n, count), np.uint64, endpoint=False)


def slow_count(one, other):
    return bin(int.from_bytes((one ^ other).tobytes())).count("1")


def apart_of(codes, asked):
    return hamming_distances(in_blocks(codes), asked, len(codes))[0]


@given(st.integers(1, 3 * CODES_PER_BLOCK), st.integers(1, 9), st.integers(0, 10**6))
def test_bits_are_counted_one_by_one(n, count, seed):
    rng = np.random.default_rng(seed)
    codes, asked = words(rng, n, count), words(rng, 1, count)[0]
    apart, counts = hamming_distances(in_blocks(codes), asked, n)
    assert apart.tolist() == [slow_count(code, asked) for code in codes]
    assert counts.tolist() == np.bincount(apart, minlength=BITS_PER_WORD * len(asked) + 1).tolist()


@given(st.integers(1, 20), st.integers(1, 7), st.integers(0, 4), st.integers(0, 10**6))
def test_spread_codes_differ_in_as_many_bits(n, n_first, more, seed):
    rng = np.random.default_rng(seed)
    codes, asked = words(rng, n, n_first + more), words(rng, 1, n_first + more)[0]
    whole, own = (np.concatenate(split_codes(some, n_first), axis=-1) for some in (codes, asked))
    assert apart_of(whole, own).tolist() == apart_of(codes, asked).tolist()
    looked_at = 2 * split_codes(asked, n_first)[0].size
    first = apart_of(codes[:, :n_first], asked[:n_first])
    assert apart_of(whole[:, :looked_at], own[:looked_at]).tolist() == first.tolist()


@given(st.integers(1, 3 * CODES_PER_BLOCK), st.integers(1, 5), st.integers(0, 10**6))
def test_what_is_laid_out_in_blocks_is_found_where_it_lies(n, count, seed):
    rng = np.random.default_rng(seed)
    codes, rows = words(rng, n, count), rng.permutation(n)[: n // 2]
    blocks = in_blocks(codes)
    assert_array_equal(blocks[lanes_of(rows)], codes[rows])
    blocks[lanes_of(rows)] = 0
    left = np.setdiff1d(np.arange(n), rows)
    assert_array_equal(blocks[lanes_of(left)], codes[left])
    assert not blocks[lanes_of(rows)].any()


def test_codes_beyond_those_there_are_do_not_count(rng):
    codes = words(rng, CODES_PER_BLOCK, 2)
    apart, counts = hamming_distances(in_blocks(codes), codes[0], 10)
    assert apart.tolist() == apart_of(codes, codes[0])[:10].tolist()
    assert counts.sum() == 10


def test_a_glance_falls_on_every_other_bit():
    bits = np.arange(2 * BITS_PER_WORD)
    codes = np.packbits(np.eye(2 * BITS_PER_WORD, dtype=np.uint8), axis=1, bitorder="little").view(np.uint64)
    coarse_scan, rest = split_codes(codes, 2)
    assert (coarse_scan != 0).any(axis=1).tolist() == (bits % 2 == 0).tolist()
    assert (rest != 0).any(axis=1).tolist() == (bits % 2 == 1).tolist()


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 3), st.integers(0, 150), st.integers(0, 10**6))
def test_more_bits_are_counted_only_of_those_near_so_far(n, count, more, limit, seed):
    rng = np.random.default_rng(seed)
    codes, asked, seen = words(rng, n, count + more), words(rng, 1, count)[0], rng.integers(0, 150, n, np.uint16)
    rows, apart = refined_distances(codes, asked, seen, limit)
    assert rows.tolist() == np.flatnonzero(seen <= limit).tolist()
    assert apart.tolist() == [seen[row] + slow_count(codes[row, :count], asked) for row in rows]


@given(
    st.integers(1, 2 * CODES_PER_BLOCK), st.integers(1, 4), st.integers(0, 4), st.integers(1, 9), st.integers(0, 10**6)
)
def test_of_several_views_the_nearest_counts(n, head, tail, views, seed):
    rng = np.random.default_rng(seed)
    codes, asked = words(rng, n, head + tail), words(rng, views, head + tail)
    rows = rng.permutation(n)[: max(1, n // 2)]
    expected = [min(slow_count(codes[row], other) for other in asked) for row in rows]
    assert least_distances(in_blocks(codes[:, :head]), codes[:, head:].copy(), rows, asked).tolist() == expected


def test_a_code_is_as_long_as_its_parts_say(matcher, frontal):
    encoder = matcher.encoder
    codes = encoder.encode_templates(matcher.templates(frontal.images[:3]))
    assert codes.shape == (3, encoder.n_words)
    assert codes.dtype == np.uint64
    first, every = (
        sum(view.n_patches * bits[view.settings.shape] for view in matcher.views) for bits in (FIRST_BITS, MAX_BITS)
    )
    assert encoder.n_first == -(-first // BITS_PER_WORD)
    assert encoder.n_words == encoder.n_first - (-(every - first) // BITS_PER_WORD)
    # What fills up the last words of both parts is 0 for everybody.
    bits = np.unpackbits(codes.view(np.uint8), axis=1, bitorder="little")
    assert not bits[:, first : BITS_PER_WORD * encoder.n_first].any()
    assert not bits[:, BITS_PER_WORD * encoder.n_first + every - first :].any()


def test_a_bit_says_whether_a_number_exceeds_its_mean_over_the_cohort(matcher, frontal):
    """By a plain loop, for a face without a mesh and one with; the views by the eyes have no bits."""
    for face, cohort in ((frontal.images[0], matcher.cohorts.without), (found(frontal.images[0]), matcher.cohort)):
        probes = matcher.probes([face], warps=False)
        lists = {"first": [], "later": []}
        for i, view in enumerate(matcher.views):
            first, every = FIRST_BITS[view.settings.shape], min(MAX_BITS[view.settings.shape], view.settings.numbers)
            vectors = probes.vectors[i][0]
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            mean = np.mean([own.spans[i].directions[:, 0] for own in cohort.templates.values()], axis=0)
            above = (vectors > mean).T
            lists["first"].append(above[:first])
            lists["later"].append(above[first:every])
        code = np.unpackbits(matcher.encoder.encode_probes(probes).view(np.uint8), bitorder="little")
        start = 0
        for part in lists.values():
            expected = np.concatenate([own.ravel() for own in part])
            # Numbers as near to the mean as the last bit may be rounded either way.
            assert (code[start : start + len(expected)] == expected).mean() > 0.999
            start = BITS_PER_WORD * matcher.encoder.n_first


def test_the_code_of_a_template_is_near_that_of_its_photo(matcher, frontal):
    encoder, faces = matcher.encoder, mixed(frontal.images)
    stored = encoder.encode_templates(matcher.templates(faces))
    asked = encoder.encode_probes(matcher.probes(faces))
    assert asked.shape == (len(faces), 1, encoder.n_words)
    n_bits = BITS_PER_WORD * encoder.n_words
    for i, (code,) in enumerate(asked):
        apart = apart_of(stored, code)
        assert apart.argmin() == i
        assert apart[i] < 0.1 * n_bits


def test_a_code_depends_on_nothing_but_its_photo(matcher, frontal):
    faces = mixed(frontal.images)
    templates = matcher.templates(faces)
    together = matcher.encoder.encode_templates(templates)
    asked = matcher.encoder.encode_probes(matcher.probes(faces))
    for i, (face, template) in enumerate(zip(faces, templates, strict=True)):
        assert_array_equal(matcher.encoder.encode_templates([template])[0], together[i])
        assert_array_equal(matcher.encoder.encode_probes(matcher.probes([face]))[0], asked[i])


def test_light_that_changes_evenly_over_the_face_leaves_the_code_nearly_as_it_was(matcher, frontal):
    """Measured: 4 % of the bits at most, because the pictures are rounded to whole grey values."""
    bright, dim = (
        matcher.encoder.encode_probes(matcher.probes(mixed(images)))[:, 0]
        for images in (frontal.images, (frontal.images * 0.6).astype(np.uint8))
    )
    for one, other in zip(bright, dim, strict=True):
        assert apart_of(one[None], other)[0] < 0.06 * BITS_PER_WORD * len(one)
