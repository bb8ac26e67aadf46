"""Faces to templates, faces to evidence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lightproof.errors import BadImage, BadParameter
from lightproof.estimators.subspace_model import People
from lightproof.gallery.codec import encode_template, settings_json
from lightproof.matching import scores
from lightproof.matching.cohort import cohort_faces
from lightproof.matching.light_penalty import light_penalty, lights_of
from lightproof.matching.matcher import PROBE_WARPS, PROBES_PER_BLOCK, Matcher, matcher_for, preset_settings
from lightproof.matching.templates import Template
from lightproof.method.presets import ENGINES, PRESETS, EngineSettings
from lightproof.method.warps import warp, with_copies


@pytest.fixture(scope="module")
def matcher():
    return Matcher(ENGINES["fast"])


def still(matcher, vectors, people):
    """What faces say that are not moved and whose light is not known."""
    return matcher.compare_vectors(vectors, np.full((len(vectors[0]), 2), np.nan), people)


@pytest.mark.parametrize("preset", ENGINES)
def test_a_template_depends_on_nothing_but_its_face(preset, frontal):
    matcher = Matcher(ENGINES[preset])
    together = matcher.templates(frontal.images)
    backwards = matcher.templates(frontal.images[::-1])[::-1]
    for i, face in enumerate(frontal.images):
        (alone,) = matcher.templates([face])
        assert encode_template(alone) == encode_template(together[i]) == encode_template(backwards[i])


def test_one_photo_joined_is_itself(matcher, frontal):
    (template,) = matcher.templates(frontal.images[:1])
    assert matcher.joined([template]) is template


@pytest.mark.parametrize("preset", ENGINES)
def test_photos_joined_are_near_to_photos_spanned_together(preset, frontal, lit):
    matcher = Matcher(ENGINES[preset])
    photos = np.concatenate([frontal.images[:2], lit.images[:1]])
    joined = matcher.joined(matcher.templates(photos))
    copied = with_copies(matcher.extractor.unlit(photos), matcher.settings["copies"])
    fields = matcher.extractor.gradients_(copied)
    together = Template(
        tuple(
            People(*layout, {}).adding("", view.samples(fields).swapaxes(2, 3)).spans[""]
            for view, layout in zip(matcher.views, matcher.view_specs, strict=True)
        )
    )
    probes = matcher.vectors(lit.images[1:9])
    found, expected = (
        still(matcher, probes, matcher.template_set({"": each})).distances for each in (joined, together)
    )
    np.testing.assert_allclose(found, expected, atol=0.04)


@pytest.mark.parametrize("preset", ENGINES)
def test_a_photo_keeps_what_a_person_of_that_photo_and_its_copies_spans(preset, faces):
    matcher = Matcher(ENGINES[preset])
    images = faces.images[: matcher.faces_per_block + 1]
    assert len(images) > matcher.faces_per_block
    fields = matcher.extractor.gradients_(with_copies(matcher.extractor.unlit(images), matcher.settings["copies"]))
    for i, template in enumerate(matcher.templates(images)):
        for view, layout, spans in zip(matcher.views, matcher.view_specs, template.spans, strict=True):
            vectors = view.samples(fields)[i : i + 1].swapaxes(2, 3)
            expected = People.of(vectors, [""], layout.shared, layout.settings).spans[""]
            np.testing.assert_array_equal(spans.own, expected.own)
            np.testing.assert_array_equal(spans.coordinates, expected.coordinates)


@pytest.mark.parametrize(
    ("preset", "kept"), [("robust", [(224, 3, 20), (224, 4, 30)]), ("fast", [(270, 2, 9), (270, 2, 16)])]
)
def test_a_template_holds_as_many_directions_as_its_settings_say(preset, kept, faces):
    (template,) = Matcher(ENGINES[preset]).templates(faces.images[:1])
    assert [spans.own.shape for spans in template.spans] == kept


def test_photos_of_different_sizes_are_taken_together(matcher, faces):
    images = [faces.images[0], faces.images[1][:-4, :-4]]
    for image, template in zip(images, matcher.templates(images), strict=True):
        assert encode_template(template) == encode_template(matcher.templates([image])[0])


def test_strangers_find_a_person_of_several_photos_no_likelier(matcher, faces):
    """On average, rendered people have as much evidence for several photos joined as for one alone."""
    templates = matcher.templates(faces.images[:3])
    joined = matcher.joined(templates)
    assert joined.level > 0
    assert [template.level for template in templates] == [0, 0, 0]
    strangers = matcher.vectors(cohort_faces()[:20])
    everybody = matcher.template_set(dict(enumerate([joined, *templates])))
    scores = still(matcher, strangers, everybody).people.mean(axis=0)
    assert scores[0] == pytest.approx(scores[1:].mean(), abs=1e-3)


def test_everybody_stands_in_the_order_given(matcher, frontal):
    one, two = matcher.templates(frontal.images[:2])
    assert matcher.template_set({"Zoe": one, "Ada": two}).names == ["Zoe", "Ada"]


def test_blank_faces_are_refused(matcher):
    blank = np.full((64, 56), 7, np.uint8)
    for take in (matcher.templates, matcher.vectors):
        with pytest.raises(BadImage, match=r"got .*(even|flat|blank|7)"):
            take([blank])


def test_a_preset_that_a_gallery_cannot_use_is_refused():
    assert set(ENGINES) == {"robust", "fast"}
    assert preset_settings("fast") == ENGINES["fast"]
    for wrong in ("authors", "nonsense"):
        with pytest.raises(BadParameter, match=rf"`preset` of Gallery must be one of 'robust', 'fast'; got '{wrong}'"):
            preset_settings(wrong)


def test_settings_that_no_gallery_can_have_are_refused():
    for preset in ("authors", "robust"):
        with pytest.raises(BadParameter, match=r"`settings` of Matcher must be a dict of .*, placed_detail, placed_"):
            Matcher(PRESETS[preset])
    for name, value, legal in (
        ("aggregate", "sum", "bounded"),
        ("storage", "float", "int8"),
        ("deformations", "all", "none"),
    ):
        with pytest.raises(BadParameter, match=rf"`{name}` of Matcher must be '{legal}'; got '{value}'"):
            Matcher(ENGINES["fast"] | {name: value})
    with pytest.raises(BadParameter, match=r"`placed_detail` of Matcher must be an int from 1 to cell - 1 = 3; got 4"):
        Matcher(ENGINES["fast"] | {"placed_detail": 4})


def test_the_same_settings_give_the_same_matcher_again():
    again = EngineSettings(**json.loads(settings_json(ENGINES["fast"])) | {"size": (72, 63)})
    assert matcher_for(again) is matcher_for(ENGINES["fast"])
    assert matcher_for(again).settings == Matcher(ENGINES["fast"]).settings
    assert matcher_for(again).settings.shape == (72, 63)


def test_a_face_is_compared_as_it_lies_and_after_small_moves_whichever_says_most(matcher, frontal):
    people = matcher.template_set(dict(enumerate(matcher.templates(frontal.images[:3]))))
    said = matcher.compare(frontal.images, people)
    as_it_lies = still(matcher, matcher.vectors(frontal.images), people)
    untaxed = said.people + light_penalty(said, lights_of(frontal.images), people)
    assert (untaxed >= as_it_lies.people - 1e-5).all()
    assert (said.cohort >= as_it_lies.cohort - 1e-5).all()
    pictures = matcher.extractor.unlit(frontal.images)
    moved = [warp(pictures, np.tile(move, (len(frontal.images), 1))) for move in PROBE_WARPS[1:]]
    vectors = [[view.describe(each) for view in matcher.views] for each in moved]
    every = np.stack([as_it_lies.people, *(still(matcher, each, people).people for each in vectors)])
    np.testing.assert_allclose(untaxed, every.max(axis=0), atol=1e-5)


def test_a_face_that_was_cut_askew_says_more_after_a_move(matcher, frontal):
    people = matcher.template_set(dict(enumerate(matcher.templates(frontal.images[:3]))))
    askew = np.roll(frontal.images, 2, axis=2)
    said = matcher.compare(askew, people)
    as_it_lies = matcher.compare_vectors(matcher.vectors(askew), lights_of(askew), people)
    own = np.arange(3)
    assert (said.people[own, own] > as_it_lies.people[own, own]).all()


def test_the_maps_of_a_comparison_add_up_to_it(matcher, frontal):
    people = matcher.template_set(dict(enumerate(matcher.templates(frontal.images[:3]))))
    said, maps = matcher.compare_map(frontal.images[1], people)
    np.testing.assert_allclose(maps.people.mean(axis=0), said.people[0], atol=1e-5)
    np.testing.assert_allclose(maps.cohort.mean(axis=0), said.cohort[0], atol=1e-5)


def test_faces_compared_in_blocks_say_the_same_as_one_by_one(matcher, frontal):
    people = matcher.template_set(dict(enumerate(matcher.templates(frontal.images[:3]))))
    many = np.concatenate([frontal.images] * (PROBES_PER_BLOCK // len(frontal.images) + 1))
    together = matcher.compare(many, people)
    alone = matcher.compare(many[-1:], people)
    np.testing.assert_allclose(together.people[-1], alone.people[0], atol=1e-5)
    np.testing.assert_allclose(together.distances[-1], alone.distances[0], atol=1e-5)


def test_templates_know_the_light_of_their_photos(matcher, lit):
    templates = matcher.templates(lit.images[:3])
    np.testing.assert_allclose([template.lights[0] for template in templates], lights_of(lit.images[:3]))
    assert matcher.joined(templates).lights == tuple(template.lights[0] for template in templates)


def test_only_the_new_people_of_an_extended_set_are_scored(matcher, frontal, lit, monkeypatch):
    templates = dict(enumerate(matcher.templates(frontal.images[::2])))
    people = matcher.template_set({name: templates[name] for name in (0, 1)})
    compared, plain = [], scores.scores_against

    def noted(some, usual):
        compared.append(some)
        return plain(some, usual)

    monkeypatch.setattr("lightproof.matching.matcher.scores_against", noted)
    asked = matcher.probes(lit.images[:3])
    for name in (2, 3, 4):
        new = matcher.template_set({name: templates[name]})
        people = people.extended(new)
        said = matcher.score_probes(asked, people)
        assert compared.pop() is (people if name == 2 else new)
        assert matcher.score_probes(asked, people) is said
        assert not compared
        once = matcher.score_probes(matcher.probes(lit.images[:3]), matcher.template_set(people.templates))
        compared.clear()
        for part in ("people", "cohort", "distances", "sampling_keys"):
            np.testing.assert_array_equal(getattr(said, part), getattr(once, part))
    # Somebody else is asked about in the usual way.
    others = matcher.template_set({5: templates[0]})
    assert matcher.score_probes(asked, others).people.shape == (3, 1)
    assert compared == [others]
