"""The plan holds every figure of the paper, and names are checked before anything is read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lightproof.errors import UnknownName
from lightproof.experiments import JITTERED_SETS
from lightproof.experiments.methods import METHODS, PAPER_PRESETS, check_name, choose_methods, methods_of_preset
from lightproof.experiments.plan import CHOSEN_ON_ODD, make_plan, plan_photos
from lightproof.experiments.published_accuracies import (
    CAS_PEAL_ENLARGED,
    GUESSES,
    METHOD_CHANGES,
    PUBLISHED,
    YALE_OVERLAPS,
    YALE_PROJECTIONS,
    published_figures,
)
from lightproof.imaging.detection import FACE_SIZE
from lightproof.method.presets import ENGINES, PRESETS

ALL = list(METHODS.values())
CHOSEN = [replace(METHODS["rcdt"], name=name, plain_title=name, settings={"preset": name}) for name in CHOSEN_ON_ODD]
"""Methods as they are in the plan, whether or not their presets are there to be run."""


def plan_of(dataset, people, methods=ALL, crops=("full", "interior", "outer")):
    return make_plan(dataset, people, methods, crops)


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
    # Galleries alone tell them apart: who looks for a figure need not know of tables and alignments.
    keys = [(e.table == "parameters", e.test, e.method.title, e.gallery, e.crop) for e in plan]
    assert len(set(keys)) == len(keys)


def test_each_main_row_is_run_in_every_frame(people):
    main = [e for e in plan_of("yale", people) if e.table == "main"]
    by_crop = {crop: [e for e in main if e.crop == crop] for crop in ("full", "interior", "outer")}
    assert len({len(found) for found in by_crop.values()}) == 1
    assert len(by_crop["full"]) == 2 * len(METHODS)


def test_the_number_of_components_is_validated_in_test_1_only_and_in_the_presets_of_the_paper_only(people):
    ours = [e for e in plan_of("yale", people, [*ALL, *CHOSEN]) if e.table == "main" and e.method.kind == "ours"]
    assert {e.method.preset for e in ours} >= {*PAPER_PRESETS, *CHOSEN_ON_ODD}
    for e in ours:
        validated = e.test == "Test 1" and e.method.preset in ("authors", "paper")
        assert e.method.settings.get("components") == ("validate" if validated else None)


@pytest.mark.parametrize("dataset", ["yale", "rendered"])
def test_every_classical_method_is_run_jittered_as_in_test_2(people, dataset):
    plan = plan_of(dataset, people)
    jittered = [e for e in plan if e.alignment == "jittered"]
    assert [e for e in plan if e.table == "jittered"] == jittered
    assert [e.method for e in jittered] == [m for m in ALL if m.kind != "network"]
    for e in jittered:
        main = [other for other in plan if (other.table, other.test, other.crop) == ("main", "Test 2", "full")]
        (same,) = [other for other in main if other.method == e.method]
        assert (e.protocols, e.crop, e.published) == (same.protocols, "full", {})
        assert same.alignment == "by hand"


@pytest.mark.parametrize("dataset", ["ar", "cas-peal", "folder"])
def test_crops_whose_eyes_are_not_known_to_be_in_place_are_not_jittered(people, dataset):
    assert dataset not in JITTERED_SETS
    assert {e.alignment for e in plan_of(dataset, people)} == {"by hand"}


def test_presets_chosen_on_half_of_the_people_are_also_judged_on_each_half_alone(people):
    numbered = replace(people, labels=np.char.replace(people.labels, "person-", "yaleB"))
    plan = plan_of("yale", numbered, [METHODS["rcdt"], METHODS["hog"], *CHOSEN])
    for table, who in (("held-out people", {"yaleB00", "yaleB02"}), ("people chosen on", {"yaleB01"})):
        judged = [e for e in plan if e.table == table]
        assert [e.method.name for e in judged] == list(CHOSEN_ON_ODD)
        for e in judged:
            assert (e.test, e.crop, e.alignment, len(e.protocols)) == ("Test 2", "full", "by hand", 11)
            split = e.protocols[7].split(numbered)
            asked = np.concatenate(list(split.probes.values()))
            assert set(numbered.labels[split.gallery]) == set(numbered.labels[asked]) == who


def test_only_on_yale_people_are_parted(people):
    assert not {"held-out people", "people chosen on"} & {e.table for e in plan_of("rendered", people, CHOSEN)}


def test_on_photos_every_classical_method_is_run_on_everybody_and_on_both_halves_of_the_people(people):
    orl = replace(
        people.take(np.arange(22 * 3)),
        name="orl",
        labels=np.repeat([f"s{i}" for i in range(1, 23)], 3),
        found=np.ones(66, bool),
    )
    yaws = np.tile([0.0, 5, 30], 22)
    plan = plan_photos("orl", orl, yaws, ALL)
    classical = [method.name for method in ALL if method.kind != "network"]
    first, last = {f"s{i}" for i in range(1, 21)}, {"s21", "s22"}
    halves = {"main": first | last, "photos, people chosen on": first, "photos, people held out": last}
    assert [(e.table, e.method.name) for e in plan] == [(table, name) for table in halves for name in classical]
    for e in plan:
        assert (e.test, e.crop, e.alignment, len(e.protocols)) == ("One photo", "full", "found", 1)
        split = e.protocols[0].split(orl)
        assert {k: len(probes) for k, probes in split.probes.items()} == dict.fromkeys((1, 3), len(halves[e.table]))
        for photos in (split.gallery, *split.probes.values()):
            assert set(orl.labels[photos]) == halves[e.table]


def test_every_preset_is_run_by_methods_of_our_own():
    for preset in PRESETS:
        found = methods_of_preset(preset)
        assert found == [m for m in ALL if m.settings.get("preset") == preset and m.kind == "ours"]
        assert found
        for method in found:
            if preset in ENGINES:  # faces come as they are compared, and the engine brings them to its sizes
                assert method.takes_aligned
                assert (method.size, method.smoothing) == (FACE_SIZE, "float")
            else:
                assert not method.takes_aligned
                assert (method.size, method.smoothing) == (PRESETS[preset]["size"], PRESETS[preset]["smoothing"])
    assert [m.name for m in methods_of_preset("authors")] == ["rcdt", "log-rcdt"]
    assert [m.name for m in methods_of_preset("paper")] == ["rcdt-text", "log-rcdt-text"]


def test_a_preset_that_is_not_of_the_paper_is_a_method_of_its_own_name():
    for preset in set(PRESETS) - set(PAPER_PRESETS):
        assert [(m.name, m.title, dict(m.settings)) for m in methods_of_preset(preset)] == [
            (preset, preset, {"preset": preset})
        ]


def test_an_unknown_preset_is_answered_with_the_nearest():
    with pytest.raises(
        UnknownName, match=r"^The preset must be one of .*, authors, .*; got 'autors'\. Did you mean 'auth"
    ):
        methods_of_preset("autors")


def test_test_2_is_the_mean_over_all_gallery_lights_but_for_networks(people):
    for e in plan_of("yale", people, crops=("full",)):
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
    for change in METHOD_CHANGES:
        method = METHODS[change.method]
        changed = method.changed(change.title, **change.settings)
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
    assert published_figures("yale", "Test 1", "lbp") == {}
    assert published_figures("rendered", "Test 1", "rcdt") == {}
    assert published_figures("ar", "Test", "hog") == {1: 99.7, 2: 83.5}


def test_the_published_figures_are_those_of_the_paper():
    assert PUBLISHED["yale", "Test 1"]["log-rcdt"] == (100.0, 98.9, 96.6, 95.7)
    assert PUBLISHED["yale", "Test 2"]["log-rcdt"] == (98.9, 95.5, 95.5, 96.3)
    assert PUBLISHED["yale", "Test 2"]["resnet50-relit"] == (91.0, 49.3, 23.8, 14.4)
    assert PUBLISHED["cas-peal", "Test"]["mslde"] == (18.0, 17.9, 40.0)
    # A checksum over all that were typed in: their sum and number.
    figures = [f for by in PUBLISHED.values() for row in by.values() for f in row]
    assert (len(figures), round(float(np.sum(figures)), 1)) == (182, 9530.6)
