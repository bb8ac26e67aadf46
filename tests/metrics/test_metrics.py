from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from lightproof.errors import BadParameter
from lightproof.metrics import (
    bootstrap_by_person,
    cmc,
    compare_by_person,
    equal_error_by_person,
    equal_error_rate,
    mcnemar,
    open_set,
    open_set_at,
    open_set_curve,
    rank_of,
    roc,
    share_by_person,
    wilson_interval,
)

# Few different values, so that ties are common.
SCORES = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30).map(np.array)


def test_wilson_is_the_formula():
    """Center and half width as Wilson (1927) has them, with z = 1.959964."""
    right, n, z = 7, 20, 1.959963984540054
    share = right / n
    center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    np.testing.assert_allclose(wilson_interval(right, n), [center - half, center + half])


@given(n=st.integers(1, 500), data=st.data())
def test_for_whole_numbers_wilson_is_that_of_scipy(n, data):
    right = data.draw(st.integers(0, n))
    expected = binomtest(right, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson_interval(right, n), (expected.low, expected.high), atol=1e-9)


def test_between_two_whole_numbers_the_interval_lies_between_theirs():
    ends = np.array([wilson_interval(right, 20) for right in (18, 18.5, 19)])
    assert (np.diff(ends, axis=0) > 0).all()


@given(n=st.integers(1, 500), data=st.data())
def test_the_interval_holds_the_share_and_stays_within_0_and_1(n, data):
    right = data.draw(st.integers(0, n))
    low, high = wilson_interval(right, n)
    assert 0 <= low <= right / n + 1e-12
    assert right / n - 1e-12 <= high <= 1


def test_more_photos_narrow_the_interval():
    few, many = wilson_interval(8, 10), wilson_interval(800, 1000)
    assert many[1] - many[0] < (few[1] - few[0]) / 5


def test_mcnemar_counts_only_photos_on_which_the_methods_differ():
    first = np.array([True] * 50 + [True] * 9 + [False] + [False] * 40)
    second = np.array([True] * 50 + [False] * 9 + [True] + [False] * 40)
    found = mcnemar(first, second)
    assert found[:2] == (9, 1)
    # Twice the chance of 9 or more heads in 10 throws: 2 * (10 + 1) / 1024.
    assert found.p == pytest.approx(22 / 1024)


def test_mcnemar_turned_around_swaps_the_counts_and_keeps_p(rng):
    first, second = rng.random((2, 3, 60)) < 0.7
    there, back = mcnemar(first, second), mcnemar(second, first)
    assert (there.first_only, there.second_only, there.p) == (back.second_only, back.first_only, back.p)


def test_the_same_answers_cannot_be_told_apart():
    answers = np.array([True, False, True])
    assert mcnemar(answers, answers) == (0, 0, 1.0)


def test_with_several_galleries_a_photo_counts_once():
    first = np.array([[True, True], [True, False], [True, True]])
    second = np.array([[False, True], [False, True], [True, True]])
    assert mcnemar(first, second)[:2] == (1, 1)


def test_by_person_many_photos_of_one_person_weigh_no_more_than_one():
    people = np.array(["a"] * 30 + ["b", "c"])
    first = np.array([True] * 30 + [False, False])
    second = np.array([False] * 30 + [True, True])
    assert mcnemar(first, second)[:2] == (30, 2)
    assert compare_by_person(first, second, people)[:2] == (1, 2)


def test_by_person_galleries_count_one_by_one():
    """Photo 1 of a is won 3 : 0, photos 2 and 3 are lost 0 : 1: a is ahead for the first method, 3 to 2."""
    people = np.array(["a", "a", "a"])
    first = np.array([[True, False, False], [True, False, False], [True, False, False]])
    second = np.array([[False, True, True], [False, False, False], [False, False, False]])
    assert compare_by_person(first, second, people)[:2] == (1, 0)
    assert mcnemar(first, second)[:2] == (1, 2)


def test_cmc_by_hand():
    """Ranks 1, 1, 3, and one who is not enrolled."""
    np.testing.assert_allclose(cmc(np.array([1, 1, 3, np.inf]), 4), [0.5, 0.5, 0.75, 0.75])
    np.testing.assert_allclose(cmc(np.array([1, 1, 3]), 2), [2 / 3, 2 / 3])


@given(ranks=st.lists(st.integers(1, 12), min_size=1, max_size=40).map(np.array))
def test_cmc_rises_to_one_and_begins_with_the_share_of_first_places(ranks):
    curve = cmc(ranks)
    assert len(curve) == ranks.max()
    assert (np.diff(curve) >= 0).all()
    assert curve[0] == np.mean(ranks == 1)
    assert curve[-1] == 1
    np.testing.assert_array_equal(cmc(ranks, 3), [np.mean(ranks <= k) for k in (1, 2, 3)])


@pytest.mark.parametrize("ranks", [[], [0, 1], [np.nan]])
def test_cmc_refuses_what_is_no_rank(ranks):
    with pytest.raises(BadParameter, match=r"`ranks` of cmc must be one or more ranks from 1 on; got"):
        cmc(np.array(ranks))


def test_ties_stand_before_the_right_person():
    scores = np.array([[3.0, 2.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    np.testing.assert_array_equal(rank_of(scores, np.array([0, 0, 2])), [1, 2, 3])


def test_roc_by_hand_accepts_strictly_above_the_threshold():
    found = roc(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(found.thresholds, [-np.inf, 0, 1, 2, 3, 4])
    np.testing.assert_array_equal(found.far, [1, 0.5, 0, 0, 0, 0])
    np.testing.assert_array_equal(found.frr, [0, 0, 0.25, 0.5, 0.75, 1])


@given(genuine=SCORES, impostor=SCORES)
def test_roc_is_the_count_at_every_threshold_and_runs_from_everything_to_nothing(genuine, impostor):
    thresholds, far, frr = roc(genuine, impostor)
    np.testing.assert_allclose(far, [np.mean(impostor > t) for t in thresholds], atol=1e-12)
    np.testing.assert_allclose(frr, [np.mean(genuine <= t) for t in thresholds], atol=1e-12)
    assert (far[0], frr[0], far[-1], frr[-1]) == (1, 0, 0, 1)
    assert (np.diff(far) <= 0).all()
    assert (np.diff(frr) >= 0).all()


@given(genuine=SCORES, impostor=SCORES)
def test_rates_depend_on_the_order_of_the_scores_alone(genuine, impostor):
    plain, bent = roc(genuine, impostor), roc(np.exp(genuine), np.exp(impostor))
    np.testing.assert_array_equal(plain.far, bent.far)
    np.testing.assert_array_equal(plain.frr, bent.frr)
    assert equal_error_rate(genuine, impostor) == equal_error_rate(np.arctan(genuine), np.arctan(impostor))


@pytest.mark.parametrize(
    ("genuine", "impostor", "expected"),
    [
        ([3, 4], [1, 2], 0.0),  # apart
        ([1, 2], [3, 4], 1.0),  # all wrong
        ([1, 2, 3, 4], [1, 2, 3, 4], 0.5),  # the same
        ([1, 1], [1, 1], 0.5),  # one score for all: between accepting everything and nothing
        ([2, 3, 5, 6], [0, 1, 1.5, 4], 0.25),  # at 2: 1 of 4 impostors, 1 of 4 genuine
        # From (far 1/2, frr 0) to (far 0, frr 1/3): the line far = 1/2 - 3/2 frr meets the diagonal at 1/5.
        ([1, 2, 3], [0, 1], 0.2),
    ],
)
def test_equal_error_rate_by_hand(genuine, impostor, expected):
    assert equal_error_rate(np.array(genuine), np.array(impostor)) == pytest.approx(expected)


@given(genuine=SCORES, impostor=SCORES)
def test_the_equal_error_rate_lies_where_the_curves_cross(genuine, impostor):
    error = equal_error_rate(genuine, impostor)
    _, far, frr = roc(genuine, impostor)
    after = int(np.argmax(frr >= far))
    assert frr[after - 1] - 1e-12 <= error <= frr[after] + 1e-12
    assert far[after] - 1e-12 <= error <= far[after - 1] + 1e-12


@given(genuine=SCORES, impostor=SCORES)
def test_the_equal_error_rate_is_the_same_with_both_sides_turned_around(genuine, impostor):
    assert equal_error_rate(genuine, impostor) == pytest.approx(equal_error_rate(-impostor, -genuine))
    assert equal_error_rate(genuine, impostor) == pytest.approx(1 - equal_error_rate(impostor, genuine))


def test_scores_that_are_missing_are_refused():
    with pytest.raises(BadParameter, match=r"`impostor` of roc must be one or more finite numbers; got 'none'"):
        roc(np.ones(3), np.zeros(0))
    with pytest.raises(BadParameter, match=r"`genuine` of roc must be one or more finite numbers; got '1 of 2 that"):
        roc(np.array([1.0, np.nan]), np.zeros(2))


def test_open_set_by_hand():
    """Of ten strangers one may pass: the threshold is the second best of them, 8."""
    best, right = np.array([9.5, 9.5, 8.0, 8.5]), np.array([True, False, True, True])
    found = open_set(best, right, np.arange(10.0), 0.1)
    assert found == (0.5, 0.1, 8.0)
    # None may pass: strictly above 9, and the wrong name never counts.
    assert open_set(best, right, np.arange(10.0), 0.0) == (0.25, 0.0, 9.0)
    assert open_set(best, right, np.arange(10.0), 1.0) == (0.75, 1.0, -math.inf)


def test_tied_strangers_pass_together_or_not_at_all():
    strangers = np.array([5.0, 5.0, 1.0, 0.0])
    assert open_set(np.array([5.0]), np.array([True]), strangers, 0.25) == (0.0, 0.0, 5.0)
    assert open_set(np.array([5.0]), np.array([True]), strangers, 0.5) == (1.0, 0.5, 1.0)


@pytest.mark.parametrize("hundredths", range(101))
def test_a_whole_number_of_strangers_may_pass_however_the_share_is_rounded(hundredths):
    assert open_set(np.ones(1), np.ones(1), np.arange(100.0), hundredths / 100).far == pytest.approx(hundredths / 100)


@given(best=SCORES, strangers=SCORES, far=st.floats(0, 1), data=st.data())
def test_open_set_keeps_to_the_rate_and_could_not_be_lower(best, strangers, far, data):
    right = np.array(data.draw(st.lists(st.booleans(), min_size=len(best), max_size=len(best))))
    found = open_set(best, right, strangers, far)
    assert found.far <= far + 1e-9
    assert found.found <= np.mean(right)
    assert found == open_set_at(best, right, strangers, found.threshold)
    below = strangers[strangers <= found.threshold]
    assert not len(below) or np.mean(strangers > np.nextafter(below.max(), -np.inf)) > far - 1e-9
    bent = open_set(np.exp(best), right, np.exp(strangers), far)
    assert (bent.found, bent.far) == (found.found, found.far)


@given(best=SCORES, strangers=SCORES, data=st.data())
def test_the_curve_is_the_open_set_at_every_threshold(best, strangers, data):
    right = np.array(data.draw(st.lists(st.booleans(), min_size=len(best), max_size=len(best))))
    for threshold, far, missed in zip(*open_set_curve(best, right, strangers), strict=True):
        at = open_set_at(best, right, strangers, threshold)
        assert (at.found, at.far) == (pytest.approx(1 - missed), pytest.approx(far))


def test_open_set_refuses_what_is_no_share():
    with pytest.raises(BadParameter, match=r"`far` of open_set must be a share from 0 to 1; got 1.5"):
        open_set(np.ones(1), np.ones(1), np.ones(1), 1.5)


def test_people_are_drawn_and_not_photos():
    """Two people, one always right: a resample has the share 0, 1/2 or 1, however many photos they have."""
    people = np.repeat(["a", "b"], 500)
    right = people == "a"
    low, high = bootstrap_by_person(lambda photos: float(right[photos].mean()), people)
    assert (low, high) == (0, 1)
    seen = set()
    bootstrap_by_person(lambda photos: seen.add(float(right[photos].mean())) or 0.0, people, n=50)
    assert seen == {0, 0.5, 1}


def test_the_quick_interval_of_a_share_is_the_bootstrap(rng):
    people = rng.integers(0, 12, 200)
    right = rng.random(200) < people / 12
    slow = bootstrap_by_person(lambda photos: float(right[photos].mean()), people, n=300, seed=3)
    np.testing.assert_allclose(share_by_person(right, people, n=300, seed=3), slow)


def test_the_quick_interval_of_the_equal_error_rate_is_the_bootstrap(rng):
    people = rng.integers(0, 10, 120)
    genuine, impostor = rng.normal(1, 1, 120) + people / 10, rng.normal(0, 1, (120, 4))
    slow = bootstrap_by_person(lambda i: equal_error_rate(genuine[i], impostor[i]), people, n=100, seed=1)
    whose = np.repeat(people, 4)
    quick = equal_error_by_person(genuine, people, impostor.ravel(), whose, n=100, seed=1)
    np.testing.assert_allclose(quick, slow, atol=1e-12)


def test_more_people_narrow_the_interval_and_more_photos_of_them_do_not(rng):
    share = rng.random(100)
    few, many = (np.diff(share_by_person(share[:n], np.arange(n)))[0] for n in (10, 100))
    again = np.diff(share_by_person(np.repeat(share[:10], 50), np.repeat(np.arange(10), 50)))[0]
    assert many < few / 2
    assert again == pytest.approx(few)


def test_one_person_says_nothing_about_others():
    one = np.zeros(5, int)
    assert np.isnan(share_by_person(np.ones(5), one)).all()
    assert np.isnan(bootstrap_by_person(len, one)).all()
    assert np.isnan(equal_error_by_person(np.ones(5), one, np.zeros(5), one)).all()


def test_where_nobody_fails_it_is_wilsons_interval_of_the_people():
    people = np.repeat(np.arange(8), 3)
    assert share_by_person(np.ones(24), people) == wilson_interval(8, 8)
    assert equal_error_by_person(np.ones(24), people, np.zeros(24), people) == wilson_interval(0, 8)


def test_the_interval_is_the_same_for_the_same_seed_and_needs_somebody(rng):
    share, people = rng.random(60), np.repeat(np.arange(20), 3)
    assert share_by_person(share, people, seed=4) == share_by_person(share, people, seed=4)
    assert share_by_person(share, people, seed=4) != share_by_person(share, people, seed=5)
    with pytest.raises(BadParameter, match=r"`people` of the interval must be one or more; got 'none'"):
        share_by_person(np.ones(0), np.ones(0))
