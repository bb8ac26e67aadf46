"""The codes of many people, searched from end to end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lightproof import index
from lightproof.index import CodeIndex, Found, limit_of, nearest

FIRST, WORDS = 2, 3


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(index, "ROWS", 16)


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
    return list(zip(found.apart.tolist(), found.people.tolist(), strict=True))


class Following(RuleBasedStateMachine):
    """People come and go; what is found is what a list would find."""

    def __init__(self):
        super().__init__()
        self.rng = np.random.default_rng(0)
        self.codes, self.held = CodeIndex(FIRST, WORDS), []

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


# Few codes are all looked at twice: so nothing is lost here.
TestFollowing = Following.TestCase
TestFollowing.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)


def test_what_was_removed_is_not_in_memory_any_more(rng):
    codes, own = CodeIndex(FIRST, WORDS), words(rng, 40)
    codes.add(range(40), own)
    codes.remove([7])
    for segment in codes._segments:
        for held in (segment.first, segment.rest):
            rows = {row.tobytes() for row in held[: segment.used]}
            assert own[7, :FIRST].tobytes() not in rows
            assert own[7, FIRST:].tobytes() not in rows


def test_room_is_given_back_once_half_of_it_holds_nobody(rng):
    codes, own = CodeIndex(FIRST, WORDS), words(rng, 100)
    codes.add(range(100), own)
    before = codes.n_bytes
    codes.remove(range(70))
    assert codes.n_bytes < before / 2
    assert found_by(codes, own[80:81], 1) == [(0, 80)]


def test_only_the_better_part_of_the_first_look_is_looked_at_again(rng, monkeypatch):
    monkeypatch.setattr(index, "FEWEST", 4)
    codes, own = CodeIndex(FIRST, WORDS), words(rng, 200)
    codes.add(range(200), own)
    asked = own[3:4].copy()
    counts, looks = codes.first_look(asked[0])
    limit = limit_of(counts, len(codes))
    kept = sum(int((look <= limit).sum()) for look in looks)
    assert 4 <= kept < 40
    assert counts.sum() == 200
    assert found_by(codes, asked, 1) == [(0, 3)]


def test_pieces_find_together_what_one_index_finds(rng, monkeypatch):
    monkeypatch.setattr(index, "FEWEST", 10)
    own, people = words(rng, 300), rng.permutation(300) // 2
    whole, parts = CodeIndex(FIRST, WORDS), [CodeIndex(FIRST, WORDS) for _ in range(3)]
    whole.add(people, own)
    for i, part in enumerate(parts):
        part.add(people[people % 3 == i], own[people % 3 == i])
    for asked in words(rng, 20).reshape(10, 2, WORDS):
        looks = [part.first_look(asked[0]) for part in parts]
        limit = limit_of(sum(counts for counts, _ in looks), sum(map(len, parts)))
        found = [part.second_look(asked, look, limit, 7) for part, (_, look) in zip(parts, looks, strict=True)]
        together = Found(*(np.concatenate(column) for column in zip(*found, strict=True)))
        expected = whole.search(asked, 7)
        np.testing.assert_array_equal(nearest(together, 7).people, expected.people)
        np.testing.assert_array_equal(nearest(together, 7).apart, expected.apart)


def test_nobody_is_found_among_nobody(rng):
    assert found_by(CodeIndex(FIRST, WORDS), words(rng, 2), 5) == []
