"""What to photograph next: lights have names, and the photo that was measured to help most is asked for."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import advice as benchmark
from benchmarks.advice import choices, fitted, found, measure, mirrored
from lightproof.datasets import make_relit_faces
from lightproof.errors import BadParameter
from lightproof.gallery import advice
from lightproof.gallery.advice import (
    ADVISED_LIGHTS,
    DESCRIPTIONS,
    FOUND_PER_1000,
    MIN_GAIN,
    advise,
    light_names,
    photo_gains,
    share_found,
)
from lightproof.imaging.lighting import light_directions
from lightproof.matching.matcher import Matcher, preset_settings
from lightproof.matching.scores import Scores

NAMES = list(ADVISED_LIGHTS)

# --- names of lights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("azimuth", "elevation", "name"),
    [
        (0, 0, "front"),
        (12, 25, "front"),
        (40, 0, "right"),  # a positive azimuth is the right of the person
        (-40, 0, "left"),
        (85, 20, "hard right"),
        (-130, 0, "hard left"),
        (0, 90, "above"),
        (20, 50, "above"),
        (0, -35, "below"),
    ],
)
def test_a_light_has_the_name_of_the_nearest(azimuth, elevation, name):
    assert light_names([(azimuth, elevation)]) == [name]


def test_every_named_light_has_its_own_name_and_words():
    assert light_names(list(ADVISED_LIGHTS.values())) == NAMES == list(DESCRIPTIONS)
    assert all(words.startswith("light ") for words in DESCRIPTIONS.values())


@given(st.floats(-180, 180), st.floats(-90, 90))
def test_a_mirrored_light_has_the_mirrored_name(azimuth, elevation):
    other = {"left": "right", "right": "left", "hard left": "hard right", "hard right": "hard left"}
    here, there = light_names([(azimuth, elevation), (-azimuth, elevation)])
    # On the border between the sides, both are the nearest.
    sideways = abs(math.sin(math.radians(azimuth)) * math.cos(math.radians(elevation)))
    assert there == other.get(here, here) or sideways < 1e-9


def test_a_light_that_is_not_known_has_no_name():
    assert light_names([(None, None), (0, 0), (np.nan, np.nan)]) == [None, "front", None]
    assert light_names(np.zeros((0, 2))) == []


def test_rendered_faces_have_the_names_of_their_lights():
    faces = make_relit_faces(3, list(ADVISED_LIGHTS.values()), size=(96, 84), seed=5)
    named = light_names(light_directions(faces.images))
    assert np.mean([name == NAMES[i % len(NAMES)] for i, name in enumerate(named)]) > 0.8


# --- the advice ----------------------------------------------------------------------------------------------------


def table(shares: dict[frozenset[str], int], otherwise: int) -> tuple[int, ...]:
    sets = [frozenset(name for name, marked in zip(NAMES, chosen, strict=True) if marked) for chosen in choices()]
    return tuple(shares.get(names, otherwise) for names in sets)


def test_the_missing_light_with_the_largest_gain_comes_next(monkeypatch):
    shares = {frozenset({"front"}): 600, frozenset({"front", "above"}): 750, frozenset({"front", "below"}): 700}
    monkeypatch.setattr(advice, "FOUND_PER_1000", table(shares, otherwise=610))
    found = advise("Anna", [(0, 0), (5, 5), (None, None)])
    assert found.person == "Anna"
    assert found.has == ("front",)
    assert found.lacks == tuple(NAMES[1:])
    assert found.gain == pytest.approx(0.15)
    words = "light from above, such as a lamp on the ceiling"
    assert found.next == (
        f"Add a photo with {words}: on rendered people it raises the share found under all lights from 60% to 75%."
    )


def test_a_small_gain_is_no_gain(monkeypatch):
    shares = {frozenset({"front"}): 980, frozenset({"front", "left"}): 999}
    monkeypatch.setattr(advice, "FOUND_PER_1000", table(shares, otherwise=970))
    found = advise("Anna", [(0, 0)])
    assert found.next == "Nothing to gain: with photos under these lights, 98% of rendered faces are found."
    assert found.gain == pytest.approx(0.019)
    assert found.lacks


def test_with_every_light_there_is_nothing_to_gain():
    found = advise("Anna", list(ADVISED_LIGHTS.values()))
    assert found.lacks == ()
    assert found.gain == 0
    assert found.next.startswith("Nothing to gain")


def test_a_first_photo_is_lit_from_the_front():
    found = advise("Anna", [])
    assert found.has == ()
    assert found.next.startswith("Add a photo with light from the front, such as a window that you face")
    assert found.gain == share_found({"front"})


def test_photos_whose_light_is_not_known_get_no_figure():
    found = advise("Anna", [(None, None)])
    assert (found.has, found.gain) == ((), None)
    assert found.next.startswith("The light of the photos cannot be read: add one with light from the front")


@pytest.mark.parametrize("lights", [5, [(1, 2, 3)], ["front"], [(0, math.inf)]])
def test_what_are_no_lights_is_refused(lights):
    with pytest.raises(BadParameter, match="`lights` of advise must be azimuth and elevation of each photo in degrees"):
        advise("Anna", lights)


def test_advice_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        advise("Anna", []).gain = 1.0


# --- the table -----------------------------------------------------------------------------------------------------


def test_the_table_has_a_figure_for_every_choice():
    assert len(FOUND_PER_1000) == 2 ** len(ADVISED_LIGHTS)
    assert FOUND_PER_1000[0] == 0
    assert all(0 < share <= 1000 for share in FOUND_PER_1000[1:])


def test_a_choice_and_its_mirror_image_have_one_figure():
    assert [FOUND_PER_1000[place] for place in mirrored()] == list(FOUND_PER_1000)
    assert mirrored()[0b0001010] == 0b0010100  # left and hard left, right and hard right


def test_one_photo_is_best_lit_from_the_front_and_another_light_helps_it():
    single = {name: share_found({name}) for name in NAMES}
    assert max(single, key=single.get) == "front"
    assert advise("Anna", [(0, 0)]).gain > MIN_GAIN


def test_following_the_advice_ends_where_nothing_is_to_gain():
    lights: list[tuple[float, float]] = []
    for _ in range(len(ADVISED_LIGHTS) + 1):
        found = advise("Anna", lights)
        if found.next.startswith("Nothing to gain"):
            break
        lights.append(next(ADVISED_LIGHTS[name] for name in NAMES if DESCRIPTIONS[name] in found.next))
    assert 2 <= len(lights) < len(ADVISED_LIGHTS)
    assert share_found(found.has) > share_found({"front"}) + 0.05


def test_choices_count_in_the_order_of_the_table():
    for place, chosen in enumerate(choices()):
        assert sum(2**i for i, marked in enumerate(chosen) if marked) == place


def test_found_means_best_and_further_ahead_than_strangers_get():
    # Two people and 8 stand-ins; with a standard deviation of 1, a lead is a plain difference.
    cohort = np.tile([-1.0, 1.0], (8, 30))
    known = [[20.0, 0.0], [0.0, 20.0], [2.0, 0.0], [0.0, 20.0]]
    strangers = [[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 2.0]]
    evidence = Scores(np.array(known + strangers), cohort)
    # The first person is found once, taken for the other once; of the second one photo is no better than strangers.
    np.testing.assert_array_equal(found(evidence, np.array([0, 0, 1, 1])), [0.5, 0.5])


def test_a_fit_gives_back_what_was_drawn(rng):
    drawn = fitted(rng.gumbel(1.3, 0.4, 20000))
    assert drawn.location == pytest.approx(1.3, abs=0.02)
    assert drawn.scale == pytest.approx(0.4, abs=0.02)


@pytest.mark.slow
def test_the_benchmark_measures_every_choice(monkeypatch):
    monkeypatch.setattr(
        benchmark, "ADVISED_LIGHTS", {name: ADVISED_LIGHTS[name] for name in ("front", "hard left", "hard right")}
    )
    shares = measure("fast", 2, 2, [(0.0, 0.0), (70.0, 0.0)])
    assert shares.shape == (2**3, 2)
    assert (shares[0] == 0).all()
    assert set(np.unique(shares)) <= {0, 0.5, 1}
    assert shares[1].mean() > shares[2].mean()  # one photo from the front finds more than one from the side


# --- one's own photos ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(preset_settings("fast"))


@pytest.mark.slow
def test_the_photo_whose_light_no_other_has_helps_most(matcher):
    faces = make_relit_faces(4, [(0, 0), (60, 0), (70, 10), (80, 0)], size=(72, 63), seed=9)
    people = matcher.template_set(dict(enumerate(matcher.templates(faces.images[::4]))))
    gains = photo_gains(matcher, people, 0, faces.images[[1, 2, 3, 0]])
    assert gains.shape == (4,)
    # Those from 60, 70 and 80 degrees stand in for each other; for the front none can. Measured: 1.9, 4.2, 4.7, 10.6.
    assert gains.min() > 0
    assert gains[3] > 1.5 * gains[:3].max()


def test_photos_that_are_the_same_can_replace_each_other(matcher):
    faces = make_relit_faces(2, [(0, 0), (50, 0)], size=(72, 63), seed=9)
    people = matcher.template_set({"other": matcher.templates(faces.images[2:3])[0]})
    front, side = faces.images[:2]
    twins = photo_gains(matcher, people, "Anna", [front, side, side])
    assert twins[1] == pytest.approx(twins[2], abs=1e-3)
    assert twins[1] > twins[0]  # each is the other's best help


@pytest.mark.slow
def test_the_persons_own_template_is_not_used(matcher):
    faces = make_relit_faces(3, [(0, 0), (40, 0), (-40, 0)], size=(72, 63), seed=9)
    spans = matcher.templates(faces.images[::3])
    others = {"Ben": spans[1], "Cleo": spans[2]}
    with_her = photo_gains(matcher, matcher.template_set(others | {"Anna": spans[0]}), "Anna", faces.images[:3])
    without = photo_gains(matcher, matcher.template_set(others), "Anna", faces.images[:3])
    np.testing.assert_array_equal(with_her, without)


def test_two_photos_are_too_few_to_leave_one_out(matcher):
    two = make_relit_faces(1, [(0, 0), (40, 0)], size=(72, 63)).images
    with pytest.raises(BadParameter, match="`faces` of photo_gains must be at least three photos of one person; got 2"):
        photo_gains(matcher, matcher.template_set({}), "Anna", two)
