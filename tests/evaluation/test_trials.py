"""Draws and questions: nobody is asked about with a photo that is enrolled, and strangers are not enrolled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.errors import BadLabels
from lightproof.evaluation import comparisons, trials
from lightproof.evaluation.comparisons import compare_drawn, compare_enrolled, pair_leads
from lightproof.evaluation.trials import Draw, make_draws, trials_of_draws, trials_of_gallery
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.matcher import matcher_for, preset_settings
from lightproof.matching.scores import Scores


@pytest.fixture(scope="module")
def matcher():
    return matcher_for(preset_settings("fast"))


@given(
    counts=st.lists(st.integers(1, 6), min_size=2, max_size=8).filter(lambda counts: max(counts) > 1),
    photos=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_everybody_is_enrolled_with_a_photo_of_their_own_and_keeps_one_to_ask_about(counts, photos, seed):
    people = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    for draw in make_draws(people, photos, 3, seed):
        for person, enrolled in enumerate(draw.enrolled):
            assert (people[list(enrolled)] == person).all()
            assert len(set(enrolled)) == len(enrolled) == max(1, min(photos, counts[person] - 1))
        asked = draw.probes(len(people))
        assert asked.sum() == len(people) - sum(map(len, draw.enrolled))
        assert draw.strangers.sum() == max(1, len(counts) // 2)
        assert (asked & ~draw.strangers[people]).any(), "somebody can be found"


def test_draws_differ_and_come_back_with_the_seed():
    people = np.repeat(np.arange(5), 6)
    first, again, other = (make_draws(people, 1, 4, seed) for seed in (0, 0, 1))
    assert [draw.enrolled for draw in first] == [draw.enrolled for draw in again]
    assert [draw.enrolled for draw in first] != [draw.enrolled for draw in other]
    assert len({draw.enrolled for draw in first}) > 1


@pytest.mark.parametrize(
    ("people", "got"), [([0, 0, 0], "1 person with 3 photos altogether"), ([0, 1], "2 people with 2 photos altogether")]
)
def test_too_few_people_or_photos_are_refused_in_one_sentence(people, got):
    legal = "of two or more people, at least one of them with two photos"
    with pytest.raises(BadLabels, match=f"^The faces to evaluate must be {legal}; got {got}\\.$"):
        make_draws(np.array(people), 1, 1, 0)


def test_a_pair_is_a_gallery_of_one(rng):
    evidence = Scores(rng.normal(size=(7, 5)), rng.normal(size=(7, 60)))
    alone = [normalized_scores(Scores(evidence.people[:, [i]], evidence.cohort))[:, 0] for i in range(5)]
    np.testing.assert_allclose(pair_leads(evidence), np.transpose(alone), rtol=1e-5, atol=1e-5)


def test_blocks_of_photos_and_templates_change_nothing(people, matcher, monkeypatch):
    enrolled = [(0,), (5, 6), (10,), (1, 2, 3)]
    whole = compare_drawn(matcher, people.images[:12], enrolled, iter)
    monkeypatch.setattr(comparisons, "PHOTOS_PER_BLOCK", 5)
    monkeypatch.setattr(comparisons, "TEMPLATES_PER_BLOCK", 3)
    parts = compare_drawn(matcher, people.images[:12], enrolled, iter)
    np.testing.assert_allclose(parts.people, whole.people, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(parts.cohort, whole.cohort, rtol=1e-5, atol=1e-6)
    templates = matcher.templates(people.images[:12])
    kept = {i: matcher.joined([templates[photo] for photo in photos]) for i, photos in enumerate(enrolled)}
    same = compare_enrolled(matcher, people.images[:12], matcher.template_set(kept), iter)
    np.testing.assert_allclose(same.people, whole.people, rtol=1e-5, atol=1e-6)


def toy() -> tuple[Scores, np.ndarray]:
    """Two photos each of three people; each photo says most for its own person, photo 5 for person 0."""
    people = np.array([0, 0, 1, 1, 2, 2])
    said = np.zeros((6, 3))
    said[np.arange(6), people] = [3, 3, 2, 2, 3, 1]
    said[5, 0] = 4
    cohort = np.tile(np.linspace(-1, 1, 60), (6, 1))
    return Scores(said, cohort), people


def test_questions_by_hand():
    """The first photo of each is enrolled, person 2 is the stranger."""
    evidence, people = toy()
    draw = Draw(((0,), (2,), (4,)), np.array([False, False, True]))
    found = trials_of_draws(evidence, {(0,): 0, (2,): 1, (4,): 2}, [draw, draw], people)
    np.testing.assert_array_equal(found.closed.photo, [1, 3, 5, 1, 3, 5])
    np.testing.assert_array_equal(found.closed.draw, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(found.closed.rank[:3], [1, 1, 2])
    np.testing.assert_array_equal(found.closed.named[:3], [0, 1, 0])
    np.testing.assert_array_equal(found.known.photo[:2], [1, 3])
    np.testing.assert_array_equal(found.strangers.photo[:2], [4, 5])
    np.testing.assert_array_equal(found.strangers.rank, 0)
    assert not found.strangers.right.any()
    assert set(found.strangers.named) <= {0, 1}
    assert found.n_enrolled == 2
    assert len(found.pairs.lead) == 2 * 3 * 3
    assert found.pairs.same.sum() == 2 * 3
    few = Scores(evidence.people[[4, 5]][:, :2], evidence.cohort[[4, 5]])
    np.testing.assert_allclose(found.strangers.lead[:2], normalized_scores(few).max(axis=1))


def test_pairs_hold_each_photo_with_its_own_person_and_with_at_most_so_many_others(monkeypatch):
    evidence, people = toy()
    draw = Draw(((0,), (2,), (4,)), np.array([False, False, True]))
    columns = {(0,): 0, (2,): 1, (4,): 2}
    every = pair_leads(evidence)
    whole = trials_of_draws(evidence, columns, [draw], people).pairs
    np.testing.assert_array_equal(whole.photo, [1, 3, 5, 1, 1, 3, 3, 5, 5])
    np.testing.assert_allclose(whole.lead[:3], every[[1, 3, 5], [0, 1, 2]], rtol=1e-6)
    np.testing.assert_allclose(whole.lead[3:], every[[1, 1, 3, 3, 5, 5], [1, 2, 0, 2, 0, 1]], rtol=1e-6)
    monkeypatch.setattr(trials, "MAX_PEOPLE_PER_PROBE", 2)
    few = trials_of_draws(evidence, columns, [draw], people).pairs
    np.testing.assert_array_equal(few.photo, [1, 3, 5, 1, 3, 3, 5])
    np.testing.assert_array_equal(few.same, [True] * 3 + [False] * 4)


def test_of_a_gallery_whose_name_it_does_not_have_is_a_stranger():
    evidence, people = toy()
    few = Scores(evidence.people[:, :2], evidence.cohort)
    found = trials_of_gallery(few, people, 2)
    np.testing.assert_array_equal(found.known.photo, [0, 1, 2, 3])
    np.testing.assert_array_equal(found.strangers.photo, [4, 5])
    assert found.known.right.all()
    assert found.pairs.same.sum() == 4
    assert len(found.pairs.same) == 12
