"""The plan holds every figure of the paper, and names are checked before anything is read."""

from __future__ import annotations

import numpy as np
import pytest

from lightproof.errors import UnknownName
from lightproof.experiments.explanations import EXPLANATIONS, GUESSES
from lightproof.experiments.methods import METHODS, check_name, choose_methods
from lightproof.experiments.paper import CAS_PEAL_ENLARGED, PUBLISHED, YALE_OVERLAPS, YALE_PROJECTIONS, published
from lightproof.experiments.plan import make_plan

ALL = list(METHODS.values())


def plan_of(dataset, people, methods=ALL, frames=("full", "interior", "outer")):
    return make_plan(dataset, people, methods, frames)


@pytest.mark.parametrize("dataset", ["yale", "ar", "cas-peal"])
def test_every_published_figure_of_the_main_tables_stands_in_the_plan_once(people, dataset):
    main = [e for e in plan_of(dataset, people) if e.table == "main" and e.published]
    found = {(e.test, e.method.name): tuple(e.published.values()) for e in main}
    assert len(found) == len(main)
    expected = {
        (test, name): figures for (d, test), by in PUBLISHED.items() if d == dataset for name, figures in by.items()
    }
    assert found == expected


def test_every_published_parameter_stands_in_the_plan_plain_and_in_8_bits(people):
    cells = [e for e in plan_of("yale", people) if e.table == "parameters"]
    smoothed = [e.published[4] for e in cells if e.method.smoothing == "8-bit"]
    plain = [e.published[4] for e in cells if e.method.smoothing == "float"]
    figures = [v for by in YALE_PROJECTIONS.values() for v in by.values()]
    figures += [v for by in YALE_OVERLAPS.values() for overlap, v in by.items() if overlap]
    assert plain == smoothed == figures


def test_the_enlarged_galleries_of_the_discussion_stand_in_the_plan(people):
    enlarged = [e for e in plan_of("cas-peal", people) if e.table == "enlarged" and e.method.name == "rcdt"]
    assert [e.published[3] for e in enlarged] == list(CAS_PEAL_ENLARGED.values()) == [49.7, 70.17, 82.51]


def test_no_experiment_stands_in_the_plan_twice(people):
    plan = plan_of("yale", people)
    keys = [(e.table, e.test, e.method.title, e.gallery, e.frame) for e in plan]
    assert len(set(keys)) == len(keys)


def test_each_main_row_is_run_in_every_frame(people):
    main = [e for e in plan_of("yale", people) if e.table == "main"]
    by_frame = {frame: [e for e in main if e.frame == frame] for frame in ("full", "interior", "outer")}
    assert len({len(found) for found in by_frame.values()}) == 1
    assert len(by_frame["full"]) == 2 * len(METHODS)


def test_the_number_of_components_is_validated_in_test_1_only(people):
    ours = [e for e in plan_of("yale", people) if e.table == "main" and e.method.kind == "ours"]
    for e in ours:
        assert e.method.settings.get("components") == ("validate" if e.test == "Test 1" else None)


def test_test_2_is_the_mean_over_all_gallery_lights_but_for_networks(people):
    for e in plan_of("yale", people, frames=("full",)):
        if e.table == "main" and e.test == "Test 2":
            assert len(e.protocols) == (1 if e.method.kind == "network" else 11)


def test_own_lights_are_other_lights_for_other_people(people):
    own = [e for e in plan_of("yale", people) if e.table == "own lights"]
    assert {e.method.name for e in own} == {m.name for m in ALL if m.kind != "network"}
    for protocol in own[0].protocols:
        gallery = protocol.split(people).gallery
        assert len(gallery) == len(set(people.labels))
    lights = [
        {(people.azimuths[i], people.elevations[i]) for i in protocol.split(people).gallery}
        for protocol in own[0].protocols
    ]
    assert sum(len(found) > 1 for found in lights) >= 9


def test_every_method_of_the_paper_has_a_guess():
    assert set(GUESSES) == set(PUBLISHED["yale", "Test 1"])
    assert all(guess.startswith("A guess, not tested: ") for guess in GUESSES.values())


def test_every_explanation_changes_something_and_can_be_built(people):
    for explanation in EXPLANATIONS:
        method = METHODS[explanation.method]
        changed = method.changed(explanation.title, **explanation.change)
        assert changed.title != method.title
        assert changed.build(size=changed.size, **changed.settings) is not None


def test_methods_that_were_not_asked_for_are_not_run(people):
    assert {e.method.name for e in plan_of("yale", people, [METHODS["hog"]])} == {"hog"}


def test_networks_are_run_on_request_only():
    assert not any(m.kind == "network" for m in choose_methods([]))
    assert sum(m.kind == "network" for m in choose_methods([], deep=True)) == 6
    assert [m.name for m in choose_methods(["rcdt", "weberface"])] == ["weberface", "rcdt"]


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(
        UnknownName, match=r"The method must be one of weberface, .*; got 'weberfase'. Did you mean 'web"
    ):
        choose_methods(["weberfase"])
    with pytest.raises(UnknownName, match=r"The table must be one of yale, ar; got 'Yale'. Did you mean 'yale'\?"):
        check_name("table", "Yale", ["yale", "ar"])
    with pytest.raises(UnknownName, match=r"got 'qqqq'\.$"):
        check_name("table", "qqqq", ["yale", "ar"])


def test_where_the_paper_has_no_figure_there_is_none():
    assert published("yale", "Test 1", "lbp") == {}
    assert published("rendered", "Test 1", "rcdt") == {}
    assert published("ar", "Test", "hog") == {1: 99.7, 2: 83.5}


def test_the_published_figures_are_those_of_the_paper():
    assert PUBLISHED["yale", "Test 1"]["log-rcdt"] == (100.0, 98.9, 96.6, 95.7)
    assert PUBLISHED["yale", "Test 2"]["log-rcdt"] == (98.9, 95.5, 95.5, 96.3)
    assert PUBLISHED["yale", "Test 2"]["resnet50-relit"] == (91.0, 49.3, 23.8, 14.4)
    assert PUBLISHED["cas-peal", "Test"]["mslde"] == (18.0, 17.9, 40.0)
    # A checksum over all that were typed in: their sum and number.
    figures = [f for by in PUBLISHED.values() for row in by.values() for f in row]
    assert (len(figures), round(float(np.sum(figures)), 1)) == (182, 9530.6)
