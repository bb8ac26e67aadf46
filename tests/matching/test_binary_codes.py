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
    hamming_distances,
    in_blocks,
    lanes_of,
    least_distances,
    refined_distances,
    split_codes,
)
from lightproof.matching.matcher import Matcher
from lightproof.method.presets import GALLERIES


@pytest.fixture(scope="module", params=GALLERIES)
def matcher(request):
    return Matcher(GALLERIES[request.param])


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
    K = matcher.extractor.grid_.n_patches
    n_bits = K * (matcher.settings["n_angles"] + 2)
    assert encoder.n_first == -(-n_bits // BITS_PER_WORD)
    assert encoder.n_words == 2 * encoder.n_first
    # What fills up the last words is the same for everybody.
    assert (apart_of(codes, codes[0]) <= 2 * n_bits).all()


def test_the_code_of_a_template_is_near_that_of_its_photo(matcher, frontal):
    encoder = matcher.encoder
    stored = encoder.encode_templates(matcher.templates(frontal.images))
    asked = encoder.encode_vectors(matcher.vectors(frontal.images))
    n_bits = BITS_PER_WORD * encoder.n_words
    for i, code in enumerate(asked):
        apart = apart_of(stored, code)
        assert apart.argmin() == i
        assert apart[i] < 0.15 * n_bits


def test_a_code_depends_on_nothing_but_its_photo(matcher, frontal):
    templates = matcher.templates(frontal.images)
    together = matcher.encoder.encode_templates(templates)
    for template, code in zip(templates, together, strict=True):
        assert_array_equal(matcher.encoder.encode_templates([template])[0], code)


def test_light_that_changes_evenly_over_the_face_leaves_the_code_nearly_as_it_was(matcher, frontal):
    codes = matcher.encoder.encode_vectors(matcher.vectors(frontal.images))
    dim = matcher.encoder.encode_vectors(matcher.vectors((frontal.images * 0.6).astype(np.uint8)))
    for one, other in zip(codes, dim, strict=True):
        assert apart_of(one[None], other)[0] < 0.1 * BITS_PER_WORD * len(one)
