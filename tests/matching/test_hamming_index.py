"""The codes of many people, scanned from end to end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lightproof.matching import hamming_index
from lightproof.matching.binary_codes import lanes_of, split_codes
from lightproof.matching.hamming_index import HammingIndex, merged, nearest, prefilter_limit, scan_limit
from tests.examples import examples

FIRST, WORDS = 3, 5


FEW, SOME = 16, 150
"""Rows of a segment: less than a block of codes, and more than two."""

both_sizes = pytest.mark.parametrize("rows", [FEW, SOME], indirect=True)


@pytest.fixture(autouse=True)
def rows(request, monkeypatch):
    count = getattr(request, "param", getattr(request.cls, "rows", FEW))
    monkeypatch.setattr(hamming_index, "CODES_PER_SEGMENT", count)
    return count


def words(rng, n):
    return rng.integers(0, 2**64, (n, WORDS), np.uint64, endpoint=False)


def slow_search(held, asked, most):
    """The nearest people by all bits of their nearest code, over all codes."""
    apart = {}
    for person, code in held:
        bits = min(bin(int.from_bytes((code ^ other).tobytes())).count("1") for other in asked)
        apart[person] = min(apart.get(person, bits), bits)
    return sorted((bits, person) for person, bits in apart.items())[:most]


def found_by(codes, asked, most):
    found = codes.search(asked, most)
    return list(zip(found.distances.tolist(), found.people.tolist(), strict=True))


class Following(RuleBasedStateMachine):
    """People come and go; what is found is what a list would find."""

    def __init__(self):
        super().__init__()
        self.rng = np.random.default_rng(0)
        self.codes, self.held = HammingIndex(FIRST), []

    @rule(people=st.lists(st.integers(1, 30), max_size=25))
    def add(self, people):
        codes = words(self.rng, len(people))
        self.codes.add(people, codes)
        self.held += zip(people, codes, strict=True)

    @rule(people=st.lists(st.integers(1, 30), max_size=12))
    def remove(self, people):
        self.codes.remove(people)
        self.held = [(person, code) for person, code in self.held if person not in people]

    @invariant()
    def finds_what_a_list_finds(self):
        asked = words(self.rng, 2)
        assert found_by(self.codes, asked, 5) == slow_search(self.held, asked, 5)
        assert len(self.codes) == len(self.held)
        assert self.codes.n_people == len({person for person, _ in self.held})


# Few codes are all looked at to the end: so nothing is lost here.
TestFollowing = Following.TestCase
TestFollowing.settings = examples(30, stateful_step_count=12)


class TestFollowingInBlocks(TestFollowing):
    """The same with segments of several blocks."""

    rows = SOME


@both_sizes
def test_what_was_removed_is_not_in_memory_any_more(rng):
    codes, own = HammingIndex(FIRST), words(rng, 40)
    codes.add(range(40), own)
    codes.remove([7])
    for segment in codes._segments:
        coarse = segment.coarse[lanes_of(np.arange(segment.used))]
        for held, part in zip((coarse, segment.rest[: segment.used]), split_codes(own, FIRST), strict=True):
            rows = {row.tobytes() for row in held}
            assert part[7].tobytes() not in rows
            assert segment is not codes._segments[0] or part[6].tobytes() in rows


@both_sizes
def test_room_is_given_back_once_half_of_it_holds_nobody(rng, rows):
    codes, own = HammingIndex(FIRST), words(rng, 7 * rows)
    codes.add(range(7 * rows), own)
    assert len(codes._segments) == 7
    codes.remove(range(5 * rows))
    assert len(codes._segments) == 2
    last = 7 * rows - 1
    assert found_by(codes, own[last:], 1) == [(0, last)]


@both_sizes
def test_only_the_better_part_of_each_look_is_looked_at_again(rng, monkeypatch):
    monkeypatch.setattr(hamming_index, "MIN_RERANKED", 4)
    monkeypatch.setattr(hamming_index, "PREFILTERED_PER_RERANKED", 5)
    codes, own = HammingIndex(FIRST), words(rng, 200)
    codes.add(range(200), own)
    asked = own[3:4].copy()
    counts, seen = codes.coarse_scan(asked[0])
    assert counts.sum() == 200
    counts, left = codes.prefilter(asked[0], seen, scan_limit(counts))
    assert 20 <= counts.sum() == sum(len(part.rows) for part in left) < 80
    limit = prefilter_limit(counts, len(codes))
    assert 4 <= sum(int((part.distances <= limit).sum()) for part in left) < 20
    assert found_by(codes, asked, 1) == [(0, 3)]


def test_one_in_so_many_is_looked_at_again_when_there_are_many(monkeypatch):
    monkeypatch.setattr(hamming_index, "MIN_RERANKED", 4)
    counts = np.full(1000, 8)
    # 8,000 codes: one in 256 is 31, within the first 4 of these counts; and 8 for each of them at a glance.
    assert prefilter_limit(counts, 8000) == 3
    assert scan_limit(counts) == 30


@both_sizes
def test_pieces_find_together_what_one_index_finds(rng, monkeypatch):
    monkeypatch.setattr(hamming_index, "MIN_RERANKED", 10)
    monkeypatch.setattr(hamming_index, "PREFILTERED_PER_RERANKED", 3)
    own, people = words(rng, 300), rng.permutation(300) // 2
    whole, parts = HammingIndex(FIRST), [HammingIndex(FIRST) for _ in range(3)]
    # Of few bits: holes, which have none, would be the best matches. The parts never had any.
    questions = np.bitwise_and.reduce(words(rng, 80).reshape(4, 10, 2, WORDS))
    whole.add(people, own)
    whole.add(range(1000, 1060), questions[:, 0].repeat(6, axis=0))
    whole.remove(range(1000, 1060))
    for i, part in enumerate(parts):
        part.add(people[people % 3 == i], own[people % 3 == i])
    for asked in questions:
        glances = [part.coarse_scan(asked[0]) for part in parts]
        limit = scan_limit(sum(counts for counts, _ in glances))
        looks = [part.prefilter(asked[0], seen, limit) for part, (_, seen) in zip(parts, glances, strict=True)]
        limit = prefilter_limit(sum(counts for counts, _ in looks), sum(map(len, parts)))
        found = [part.rerank(asked, left, limit, 7) for part, (_, left) in zip(parts, looks, strict=True)]
        expected = whole.search(asked, 7)
        np.testing.assert_array_equal(nearest(merged(found), 7).people, expected.people)
        np.testing.assert_array_equal(nearest(merged(found), 7).distances, expected.distances)


def test_nobody_is_found_among_nobody(rng):
    assert found_by(HammingIndex(FIRST), words(rng, 2), 5) == []
