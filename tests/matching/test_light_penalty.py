"""Agreement of lights, and the penalty for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.imaging.lighting.light_direction import HARD_LIGHT, SOFT_LIGHT
from lightproof.matching.light_penalty import (
    ANGULAR_DECAY,
    HARD_PENALTY,
    SOFT_PENALTY,
    light_agreement,
    light_penalty,
    lights_of,
    mutual_agreement,
    penalized,
)
from lightproof.matching.scores import ProbeSet, Scores
from lightproof.matching.templates import Template, TemplateSet

LIGHT = st.tuples(st.floats(-180, 180), st.floats(-90, 90))


def people(*lights, shadow=0.0) -> TemplateSet:
    """People of whom only the lights on their photos matter."""
    return TemplateSet(0, {i: Template((), shadow=shadow, lights=each) for i, each in enumerate(lights)})


def probes(*lights, shadow=0.0) -> ProbeSet:
    """Photos of which only the light matters."""
    n = len(lights)
    no = np.zeros(n, bool)
    return ProbeSet([], [], 1, np.array(lights, float), np.full(n, shadow), has_mesh=no, came_cut=no)


def agreement(lights, everybody: TemplateSet):
    return light_agreement(lights, everybody.lights, everybody.first_lights)


def evidence(n: int, count: int) -> Scores:
    return Scores(np.zeros((n, count)), np.tile([-1.0, 1.0], (n, 4)), np.full((n, count), 0.5))


def test_an_agreement_computed_by_hand():
    everybody = people(((0.0, 0.0),), ((90.0, 0.0),), ((180.0, 0.0), (0.0, 60.0)))
    found = agreement(np.array([[0.0, 0.0]]), everybody)
    np.testing.assert_allclose(found, [[1, np.exp(-ANGULAR_DECAY), np.exp(-ANGULAR_DECAY / 2)]])


@given(LIGHT, st.lists(st.lists(LIGHT, min_size=1, max_size=3), min_size=1, max_size=5))
def test_the_nearest_light_of_each_person_counts(light, lights):
    everybody = people(*map(tuple, lights))
    found = agreement(np.array([light]), everybody)[0]
    assert ((found > 0) & (found <= 1 + 1e-9)).all()
    for value, own in zip(found, lights, strict=True):
        single = [agreement(np.array([light]), people((each,)))[0, 0] for each in own]
        assert value == pytest.approx(max(single))


def test_a_photo_whose_light_is_not_known_agrees_with_nobody():
    found = agreement(np.array([[np.nan, np.nan], [0, 0]]), people(((0.0, 0.0),)))
    np.testing.assert_array_equal(found, [[0], [1]])


def test_people_whose_light_is_not_known_count_as_lit_from_the_front():
    probes = np.array([[0.0, 0], [50, 20]])
    np.testing.assert_array_equal(agreement(probes, people(())), agreement(probes, people(((0.0, 0.0),))))


def test_nobody_agrees_with_nothing():
    assert agreement(np.zeros((2, 2)), people()).shape == (2, 0)


@given(st.lists(st.lists(LIGHT, min_size=1, max_size=3), min_size=2, max_size=5))
def test_people_agree_mutually_as_two_of_them_do_on_average(lights):
    everybody = people(*map(tuple, lights))
    pairs = []
    for i, own in enumerate(lights):
        agreed = agreement(np.array(own), everybody).mean(axis=0)
        pairs += [agreed[j] for j in range(len(lights)) if j != i]
    assert mutual_agreement(everybody) == pytest.approx(np.mean(pairs))
    assert mutual_agreement(people(*(tuple(own[::-1]) for own in lights))) == pytest.approx(np.mean(pairs))


def test_some_photos_of_some_people_tell_for_all(rng):
    angles = rng.uniform(-60, 60, size=(300, 14, 2))
    whole = people(*(tuple(map(tuple, own)) for own in angles))
    fewer = people(*(tuple(map(tuple, own)) for own in angles[::4]))
    assert mutual_agreement(whole) == pytest.approx(mutual_agreement(fewer), abs=0.02)


def test_one_lamp_for_all_is_full_agreement_and_so_is_a_single_person():
    assert mutual_agreement(people(*[((20.0, 10.0),)] * 300)) == pytest.approx(1)
    assert mutual_agreement(people(((20.0, 10.0),))) == 1


@pytest.mark.parametrize(("shadow", "most"), [(SOFT_LIGHT, SOFT_PENALTY), (HARD_LIGHT, HARD_PENALTY)])
def test_the_same_light_has_the_whole_penalty_on_scores_of_the_enrolled_alone(shadow, most):
    everybody = people(((0.0, 0.0),), ((180.0, 0.0),), shadow=shadow)
    said, asked = evidence(1, 2), probes((0.0, 0.0), shadow=shadow)
    found = penalized(said, asked, everybody)
    # The rendered people spread by 1.
    np.testing.assert_allclose(found.people, [[-most, -most * np.exp(-2 * ANGULAR_DECAY)]])
    np.testing.assert_array_equal(found.cohort, said.cohort)
    np.testing.assert_array_equal(found.distances, said.distances)
    np.testing.assert_allclose(said.people - light_penalty(said, asked, everybody), found.people)


@given(st.floats(0, 1), st.floats(0, 1), LIGHT, LIGHT)
def test_the_softer_of_two_lights_decides_how_much_is_taken_off(one, other, light, enrolled):
    """Only where both throw shadows do these fall alike."""
    said = evidence(1, 1)

    def penalty(asked, known):
        return light_penalty(said, probes(light, shadow=asked), people((enrolled,), shadow=known))[0, 0]

    found, agreed = penalty(one, other), agreement(np.array([light]), people((enrolled,)))[0, 0]
    assert found == pytest.approx(penalty(other, one))
    assert found == pytest.approx(penalty(min(one, other), min(one, other)))
    assert SOFT_PENALTY * agreed - 1e-9 <= found <= HARD_PENALTY * agreed + 1e-9
    assert found <= penalty(max(one, other), max(one, other)) + 1e-9


def test_the_penalty_is_measured_in_deviations_of_the_cohort_of_each_photo():
    said = Scores(np.zeros((2, 1)), np.array([[-1.0, 1.0] * 4, [-3.0, 3.0] * 4]))
    found = light_penalty(said, probes((0.0, 0.0), (0.0, 0.0)), people(((0.0, 0.0),)))
    np.testing.assert_allclose(found, [[SOFT_PENALTY], [3 * SOFT_PENALTY]])


def test_a_photo_whose_light_is_not_known_has_no_penalty():
    said = evidence(1, 2)
    found = penalized(said, probes((np.nan, np.nan), shadow=1.0), people(((0.0, 0.0),), (), shadow=1.0))
    np.testing.assert_array_equal(found.people, said.people)


def test_lights_are_read_from_faces_of_any_size_and_kind(lit):
    whole = lights_of(lit.images[:2])
    as_floats = lights_of([image / 255 for image in lit.images[:2]])
    np.testing.assert_allclose(as_floats, whole, atol=3)
    assert np.isnan(lights_of([np.zeros((32, 28), np.uint8)])).all()
