"""Leads, chances and scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gumbel_r

from lightproof.errors import BadParameter
from lightproof.matching.calibration import (
    AGREEMENT_DISCOUNT,
    LOCATION,
    LOCATION_GROWTH,
    LONE_PERSON_SHIFT,
    MAX_PEOPLE_MEASURED,
    MIN_REFERENCES,
    PRIOR_STRANGERS,
    SCALE,
    SCORE_DIGITS,
    UPPER_QUARTER_MEAN,
    ImpostorModel,
    check_far,
    normalized_score_map,
    normalized_scores,
    score_of,
    top_references,
)
from lightproof.matching.scores import Scores

SOME = st.floats(-3, 3, width=32)


@st.composite
def evidences(draw, photos=3, least=0):
    n, people, cohort = draw(st.integers(1, photos)), draw(st.integers(least, 14)), draw(st.integers(8, 20))
    # Few different values: ties must not matter.
    values = draw(st.sampled_from([SOME, st.sampled_from([-1.0, 0.0, 0.5, 1.0])]))
    known, made_up = (draw(arrays(float, (n, count), elements=values)) for count in (people, cohort))
    return Scores(known, made_up)


@st.composite
def strangers(draw):
    return ImpostorModel(draw(st.floats(-2, 5)), draw(st.floats(0.05, 3)))


def slow_lead(people: list[float], cohort: list[float], person: int) -> float:
    """The lead of one person, as the documents say it."""
    others = people[:person] + people[person + 1 :]
    missing = max(0, MIN_REFERENCES - len(others))
    ranked = sorted(cohort)
    others += [ranked[int((i + 0.5) * len(cohort) / missing)] for i in range(missing)]
    best = sorted(others, reverse=True)[: math.ceil(len(others) / 4)]
    mean = sum(cohort) / len(cohort)
    spread = math.sqrt(sum((value - mean) ** 2 for value in cohort) / len(cohort))
    return (people[person] - sum(best) / len(best)) / max(spread, 1e-6)


@given(evidences())
def test_leads_are_those_of_a_plain_loop(evidence):
    found = normalized_scores(evidence)
    assert found.shape == evidence.people.shape
    for row, people, cohort in zip(found, evidence.people.tolist(), evidence.cohort.tolist(), strict=True):
        expected = [slow_lead(people, cohort, person) for person in range(len(people))]
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=1e-6)


def test_a_lead_computed_by_hand():
    # Eight others: the upper quarter are 3 and 1, their mean is 2. The rendered people spread by 0.5.
    people = np.array([[4.0, 3, 1, 0, 0, 0, 0, 0, 0]])
    evidence = Scores(people, np.array([[-0.5, 0.5] * 4]))
    # For the second, the upper quarter is 4 and 1, their mean 2.5; for the third 4 and 3, and 3.5.
    np.testing.assert_allclose(normalized_scores(evidence)[0, :3], [4, 1, -5])


def test_a_gallery_of_one_is_measured_against_rendered_people():
    # The upper quarter of the eight stand-ins are 7 and 6; the spread of 0 ... 7 is the root of 5.25.
    evidence = Scores(np.array([[10.0]]), np.arange(8.0)[None])
    np.testing.assert_allclose(normalized_scores(evidence), [[3.5 / math.sqrt(5.25)]])
    assert sorted(top_references(evidence, 0).tolist()) == [7, 8]


@given(evidences(photos=1, least=1), st.data())
def test_the_map_adds_up_to_the_lead(evidence, data):
    person = data.draw(st.integers(0, evidence.people.shape[1] - 1))
    K = data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))

    def spread_over_patches(mean):
        noise = rng.normal(size=(K, mean.shape[1]))
        return noise - noise.mean(axis=0) + mean

    patches = Scores(spread_over_patches(evidence.people), spread_over_patches(evidence.cohort))
    found = normalized_score_map(patches, evidence, person)
    assert found.shape == (K,)
    np.testing.assert_allclose(found.sum(), normalized_scores(evidence)[0, person], rtol=1e-6, atol=1e-3)


@given(evidences(photos=1, least=1))
def test_nobody_is_a_rival_of_their_own(evidence):
    people, cohort = evidence.people.shape[1], evidence.cohort.shape[1]
    for person in range(people):
        rivals = top_references(evidence, person)
        assert person not in rivals
        assert len(set(rivals.tolist())) == len(rivals) == math.ceil(max(MIN_REFERENCES, people - 1) / 4)
        assert max(rivals) < people + cohort


@given(evidences(least=1), st.floats(-2, 2), st.floats(0.5, 4))
def test_a_lead_does_not_change_with_what_all_evidence_has_in_common(evidence, shift, stretch):
    if evidence.cohort.std(axis=1).min() < 1e-3:
        return
    other = Scores(evidence.people * stretch + shift, evidence.cohort * stretch + shift)
    np.testing.assert_allclose(normalized_scores(other), normalized_scores(evidence), rtol=1e-5, atol=1e-5)


def test_rendered_people_all_alike_do_not_divide_by_0():
    assert np.isfinite(normalized_scores(Scores(np.ones((1, 3)), np.ones((1, 8))))).all()


@given(strangers(), st.floats(-20, 40), st.floats(0.001, 5))
def test_the_chance_falls_with_the_lead(law, lead, more):
    less, greater = law.chance(np.asarray(lead + more)), law.chance(np.asarray(lead))
    assert 0 <= less <= greater <= 1
    if 1e-12 < greater < 1 - 1e-9:
        assert less < greater


@given(strangers(), st.floats(1e-6, 0.999))
def test_the_lead_at_a_rate_is_the_inverse_of_the_chance(law, far):
    assert law.chance(np.asarray(law.lead_at(far))) == pytest.approx(far, rel=1e-6)


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_usually_the_best_of_many_moves_by_their_logarithm_less_where_lights_agree(n_people, alike):
    law = ImpostorModel.default(n_people, alike)
    measured, beyond = (
        math.log(max(1, min(n_people, MAX_PEOPLE_MEASURED))),
        math.log(max(n_people, MAX_PEOPLE_MEASURED) / MAX_PEOPLE_MEASURED),
    )
    growth = LOCATION_GROWTH * ((1 - AGREEMENT_DISCOUNT * alike) * measured + beyond)
    few = LONE_PERSON_SHIFT * {0: 1, 1: 1, 2: 0.75, 3: 0.5, 4: 0.25}.get(n_people, 0)
    assert law.location == pytest.approx(LOCATION + few + growth)
    assert law.scale == SCALE
    assert law.location >= ImpostorModel.default(n_people, 1.0).location


def test_the_chance_is_that_of_the_law_of_maxima_and_the_lead_its_inverse(rng):
    law, normalized_scores = ImpostorModel(1.3, 0.4), rng.normal(size=50) * 3
    assert_allclose(law.chance(normalized_scores), gumbel_r.sf(normalized_scores, 1.3, 0.4), rtol=1e-12)
    assert_allclose(law.chance(normalized_scores.astype(np.float32)), law.chance(normalized_scores), rtol=1e-4)
    assert_array_equal(law.chance(np.array([-1e6, 1e6])), [1, 0])
    for far in (1e-6, 0.001, 0.5, 0.99):
        assert law.lead_at(far) == pytest.approx(gumbel_r.isf(far, 1.3, 0.4), rel=1e-12)


def test_the_mean_of_the_upper_quarter_is_that_of_the_distribution():
    lower = gumbel_r.ppf(0.75)
    assert pytest.approx(gumbel_r.expect(lambda x: x, lb=lower, conditional=True), abs=1e-4) == UPPER_QUARTER_MEAN


@given(st.integers(1, 1000))
def test_no_strangers_seen_leave_what_is_usual(n_people):
    assert ImpostorModel.default(n_people).estimated_shift(np.zeros(0), 0) == 0


@given(strangers(), st.floats(-1, 1), st.integers(0, 1000))
def test_very_many_strangers_outweigh_what_is_usual(law, shift, seed):
    best = law.shifted(shift).location + law.scale * np.random.default_rng(seed).gumbel(size=100_000)
    assert law.estimated_shift(best, len(best)) == pytest.approx(shift, abs=0.05 * law.scale + 1e-3)


@given(strangers(), st.lists(st.floats(-2, 6), min_size=1, max_size=40))
def test_some_strangers_shift_toward_their_better_quarter_and_not_beyond(law, leads_seen):
    best = np.array(leads_seen)
    whole = best[best >= np.quantile(best, 0.75)].mean() - (law.location + UPPER_QUARTER_MEAN * law.scale)
    shift = law.estimated_shift(best, len(best))
    assert shift == pytest.approx(whole * len(best) / (len(best) + PRIOR_STRANGERS))
    # Photos of one person are no more than one stranger.
    assert abs(law.estimated_shift(best, 1)) <= abs(shift) + 1e-12


@given(strangers(), st.floats(-3, 3), st.floats(0.001, 0.5))
def test_a_shift_moves_every_lead_by_itself(law, shift, far):
    assert law.shifted(shift).lead_at(far) == pytest.approx(law.lead_at(far) + shift)


@given(arrays(float, 5, elements=st.floats(0, 1)))
def test_scores_lie_from_0_to_1_and_grow_as_the_chance_falls(chances):
    scores = score_of(np.sort(chances))
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert (np.diff(scores) <= 0).all()
    assert not np.signbit(scores).any()


def test_scores_computed_by_hand():
    chances = np.array([1, 0.1, 0.01, 0.001, 1e-6, 1e-9, 0])
    np.testing.assert_allclose(score_of(chances), [0, 1 / 6, 1 / 3, 0.5, 1, 1, 1])


@given(st.floats(10.0**-SCORE_DIGITS, 1, exclude_max=True))
def test_a_rate_is_given_back(far):
    assert check_far("calibrate", far) == far


@pytest.mark.parametrize("far", [0, 1, 1.5, -0.1, 9e-7, math.nan, math.inf, True, "0.01", None])
def test_what_is_no_rate_is_refused(far):
    said = r"`far` of calibrate must be a share from 1e-06 to below 1, such as 0\.001; got "
    with pytest.raises(BadParameter, match=said):
        check_far("calibrate", far)


@given(st.integers(1, MAX_PEOPLE_MEASURED), st.floats(-5, 15))
def test_the_best_of_many_is_the_maximum_of_single_ones(n_people, lead):
    """Somebody named beforehand is reached by the n-th root of the law of the best."""
    law = ImpostorModel.default(10)
    best, one = (1 - float(each.chance(np.asarray(lead))) for each in (law, law.for_claim(n_people)))
    assert one**n_people == pytest.approx(best, abs=1e-6)


@given(st.integers(MAX_PEOPLE_MEASURED, 10**6), st.floats(0, 1))
def test_somebody_named_beforehand_is_not_easier_to_be_taken_for_among_more_people_than_were_measured(n_people, alike):
    named, measured = (ImpostorModel.default(n, alike).for_claim(n).location for n in (n_people, MAX_PEOPLE_MEASURED))
    assert named == pytest.approx(measured)


def test_the_best_of_more_people_leads_by_more_once_they_are_enough():
    """Ten times as many people: by 0.23, and up to the number that was measured by half of that in one light."""
    for alike in (0, 1):
        places = [ImpostorModel.default(n, alike).lead_at(0.01) for n in (5, 50, 500, 5000)]
        assert np.all(np.diff(places) > 0.1)
        assert np.all(np.diff(places) < 0.25)
