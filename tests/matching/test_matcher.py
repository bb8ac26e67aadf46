"""Faces to templates, faces to scores."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lightproof.errors import BadImage, BadParameter
from lightproof.imaging.detection import AlignedFace
from lightproof.imaging.lighting import shadow_shares
from lightproof.matching import scores
from lightproof.matching.cohort import cohort_faces
from lightproof.matching.light_penalty import light_penalty, lights_of
from lightproof.matching.matcher import (
    FACES_PER_BLOCK,
    MAX_LEVEL_PHOTOS,
    N_LEVEL_PROBES,
    PROBE_WARPS,
    PROBES_PER_BLOCK,
    matcher_for,
    preset_settings,
)
from lightproof.matching.scores import SHAPES, cohort_stats, mean_scores, shape_scores
from lightproof.matching.template_codec import decode_templates, encode_template, parameters_of, settings_json
from lightproof.matching.templates import Template
from lightproof.method.presets import ENGINES, EngineSettings, ViewSettings
from lightproof.method.spans import span_alike, span_people
from lightproof.method.warps import warp, with_copies
from tests.matching.pictures import crop_with_mesh, found, mixed


@pytest.fixture(scope="module")
def matcher():
    return matcher_for(ENGINES["fast"])


@pytest.fixture(scope="module")
def robust():
    return matcher_for(ENGINES["robust"])


def raw(matcher, shape, probes, people):
    """Scores in one shape, not normalized yet."""
    return shape_scores(shape, people, probes, cohort_stats(probes, matcher.cohorts))


def equal(one, other):
    for part in ("people", "cohort", "distances"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


# ------------------------------------------------------------------------------------------------------------ templates


@pytest.mark.parametrize("preset", ENGINES)
def test_a_template_depends_on_nothing_but_its_face(preset, frontal):
    matcher, faces = matcher_for(ENGINES[preset]), mixed(frontal.images)
    together = matcher.templates(faces)
    backwards = matcher.templates(faces[::-1])[::-1]
    for i, face in enumerate(faces):
        (alone,) = matcher.templates([face])
        assert encode_template(alone) == encode_template(together[i]) == encode_template(backwards[i])


def test_one_photo_joined_is_itself(matcher, frontal):
    (template,) = matcher.templates(frontal.images[:1])
    assert matcher.joined([template]) is template


@pytest.mark.parametrize("preset", ENGINES)
def test_photos_joined_are_near_to_photos_spanned_together(preset, frontal, lit):
    matcher = matcher_for(ENGINES[preset])
    photos = np.concatenate([frontal.images[:2], lit.images[:1]])
    joined = matcher.joined(matcher.templates(photos))
    spans = []
    for view in matcher.views:
        samples = view.samples(with_copies(view.unlit(photos), view.settings.method.copies))
        n, L, D, K = samples.shape
        side_by_side = samples.transpose(3, 0, 1, 2).reshape(K, n * L, D)
        spans += span_people([n * L], lambda i, own=side_by_side: own, view.shared, view.settings.method)
    known, expected = (
        matcher.compare(lit.images[1:9], matcher.template_set({"": each})).distances
        for each in (joined, Template(tuple(spans)))
    )
    np.testing.assert_allclose(known, expected, atol=0.04)


@pytest.mark.parametrize("preset", ENGINES)
def test_a_photo_keeps_what_it_and_its_copies_span(preset, faces):
    matcher = matcher_for(ENGINES[preset])
    images = faces.images[: FACES_PER_BLOCK + 1]
    templates = matcher.templates(images)
    for i, view in enumerate(matcher.views):
        samples = view.samples(with_copies(view.unlit(images), view.settings.method.copies))
        for own, template in zip(samples, templates, strict=True):
            (expected,) = span_alike([own.transpose(2, 0, 1)], view.shared, view.settings.method)
            np.testing.assert_array_equal(template.spans[i].own, expected.own)
            np.testing.assert_array_equal(template.spans[i].coordinates, expected.coordinates)


@pytest.mark.parametrize(
    ("preset", "kept"),
    [
        ("robust", [(224, 3, 16), (56, 4, 24), (224, 3, 16), (224, 3, 16)]),
        ("fast", [(56, 3, 24), (224, 2, 10), (224, 2, 10)]),
    ],
)
def test_a_template_holds_as_many_directions_as_its_settings_say(preset, kept, faces):
    matcher = matcher_for(ENGINES[preset])
    (template,) = matcher.templates(faces.images[:1])
    assert [spans.own.shape for spans in template.spans] == kept
    # So it stays however many photos are joined.
    assert [spans.own.shape for spans in matcher.joined(matcher.templates(faces.images[:7])).spans] == kept


def test_a_view_shows_the_face_in_its_shape(robust, frontal):
    """A crop with a mesh is three pictures; a found face is two, and one without a mesh is the same in all shapes."""
    image = frontal.images[0]
    crop = crop_with_mesh(image)
    (own,) = robust.templates([crop])
    pictures = {"mesh": crop.shaped, "eyes": crop.eyes, "crop": crop.image}
    for i, view in enumerate(robust.views):
        (alone,) = robust.templates([AlignedFace(pictures[view.settings.shape])])
        np.testing.assert_array_equal(own.spans[i].own, alone.spans[i].own)
    faces = [AlignedFace(image), found(image), crop]
    assert [template.repeats_last for template in robust.templates(faces)] == [True, True, False]
    assert [template.has_mesh for template in robust.templates(faces)] == [False, True, True]


def test_photos_of_different_sizes_are_taken_together(matcher, faces):
    images = [faces.images[0], faces.images[1][:-4, :-4]]
    for image, template in zip(images, matcher.templates(images), strict=True):
        assert encode_template(template) == encode_template(matcher.templates([image])[0])


@pytest.mark.parametrize("preset", ENGINES)
@pytest.mark.parametrize("kind", [AlignedFace, found, crop_with_mesh])
def test_strangers_find_a_person_of_several_photos_no_likelier(preset, kind, faces):
    """On average, rendered people score as high in each shape against several photos joined as against one alone."""
    matcher = matcher_for(ENGINES[preset])
    templates = matcher.templates([kind(image) for image in faces.images[:4]])
    joined = matcher.joined(templates)
    assert {template.levels for template in templates} == {(0.0, 0.0, 0.0)}
    assert len(templates) == MAX_LEVEL_PHOTOS
    assert min(map(abs, joined.levels)) > 1e-3
    strangers = [face if joined.has_mesh else AlignedFace(face.image) for face in cohort_faces()[:N_LEVEL_PROBES]]
    probes = matcher.probes(strangers, warps=False)
    everybody = matcher.template_set(dict(enumerate([joined, *templates])))
    means = mean_scores(everybody, probes, cohort_stats(probes, matcher.cohorts))
    np.testing.assert_allclose(means[:, 0], means[:, 1:].mean(axis=1), atol=1e-5)


def test_people_joined_together_are_those_joined_one_by_one(matcher, frontal, lit):
    templates = matcher.templates(mixed(np.concatenate([frontal.images[:4], lit.images[:5]])))
    people = [templates[:2], templates[2:3], templates[3:6], templates[6:8], templates[8:]]
    for own, joined in zip(people, matcher.joined_people(people), strict=True):
        assert encode_template(joined) == encode_template(matcher.joined(own))


def test_several_photos_keep_all_lights_the_least_shadow_and_a_mesh_if_all_have_one(matcher, lit):
    templates = matcher.templates([found(image) for image in lit.images[:4]])
    joined = matcher.joined(templates)
    assert joined.has_mesh
    assert joined.lights == tuple(template.lights[0] for template in templates)
    assert joined.shadow == min(template.shadow for template in templates) < templates[2].shadow
    assert joined.repeats_last
    one_without = matcher.joined([*templates[:2], *matcher.templates(lit.images[2:3])])
    assert not one_without.has_mesh
    assert one_without.repeats_last
    assert not matcher.joined([templates[0], *matcher.templates([crop_with_mesh(lit.images[1])])]).repeats_last


def test_everybody_stands_in_the_order_given(matcher, frontal):
    one, two = matcher.templates(frontal.images[:2])
    assert matcher.template_set({"Zoe": one, "Ada": two}).names == ["Zoe", "Ada"]


def test_blank_faces_are_refused(matcher):
    blank = np.full((64, 56), 7, np.uint8)
    for take in (matcher.templates, matcher.probes):
        for face in (blank, AlignedFace(blank)):
            with pytest.raises(BadImage, match=r"got .*(even|flat|blank|7)"):
                take([face])


def test_templates_and_probes_know_the_light_and_the_shadow_of_their_photos(matcher, lit):
    faces = mixed(lit.images[:3])
    templates, probes = matcher.templates(faces), matcher.probes(faces)
    lights, shadows = lights_of(lit.images[:3]), shadow_shares(lit.images[:3])
    np.testing.assert_allclose([template.lights[0] for template in templates], lights, atol=0.05)
    np.testing.assert_allclose(probes.lights, lights, atol=3)
    for known in ([template.shadow for template in templates], probes.shadows):
        np.testing.assert_allclose(known, shadows, atol=0.03)
    assert probes.has_mesh.tolist() == [template.has_mesh for template in templates] == [False, True, True]


def back(matcher, templates):
    """Templates as they come back when they were written."""
    return decode_templates([encode_template(template) for template in templates], matcher.views)


@pytest.mark.parametrize("preset", ENGINES)
def test_of_a_photo_only_a_crop_with_a_mesh_came_cut(preset, frontal):
    """A found face was cut by its eyes; a face without a mesh is the same picture in all shapes."""
    matcher, faces = matcher_for(ENGINES[preset]), mixed(frontal.images[:6])
    templates, plain = matcher.templates(faces), matcher.templates(frontal.images[:6])
    unknown = np.full((6, 2), np.nan)
    for each in (
        matcher.probes(faces),
        *(matcher.probes_of_templates(some, unknown) for some in (templates, back(matcher, templates))),
        *(matcher.template_set(dict(enumerate(some))) for some in (templates, back(matcher, templates))),
    ):
        assert each.came_cut.dtype == bool
        assert each.came_cut.tolist() == [False, False, True] * 2
    for each in (matcher.probes(frontal.images[:6]), matcher.template_set(dict(enumerate(plain)))):
        assert not each.came_cut.any()


@pytest.mark.parametrize("preset", ENGINES)
def test_a_person_of_several_photos_came_cut_if_one_of_them_did(preset, frontal):
    matcher, kinds = matcher_for(ENGINES[preset]), (AlignedFace, found, crop_with_mesh)
    pairs = [*product(kinds, repeat=2), (found, found, found), (found, crop_with_mesh, found)]
    joined = matcher.joined_people(
        [matcher.templates([kind(image) for kind, image in zip(pair, frontal.images, strict=False)]) for pair in pairs]
    )
    for people in (joined, back(matcher, joined)):
        known = matcher.template_set(dict(enumerate(people)))
        assert known.came_cut.tolist() == [crop_with_mesh in pair for pair in pairs]
        assert known.has_mesh.tolist() == [AlignedFace not in pair for pair in pairs]


# ------------------------------------------------------------------------------------------------------------- settings


def test_a_preset_that_a_gallery_cannot_use_is_refused():
    assert set(ENGINES) == {"robust", "fast"}
    assert preset_settings("fast") == ENGINES["fast"]
    for wrong in ("authors", "nonsense"):
        with pytest.raises(BadParameter, match=rf"`preset` of Gallery must be one of 'robust', 'fast'; got '{wrong}'"):
            preset_settings(wrong)


def test_the_same_settings_give_the_same_matcher_again():
    for settings in ENGINES.values():
        kept = json.loads(settings_json(settings))
        views = tuple(ViewSettings(**view | {"size": tuple(view["size"])}) for view in kept.pop("views"))
        again = EngineSettings(views, **kept)
        assert again == settings
        assert matcher_for(again) is matcher_for(settings)
        assert parameters_of(again) == parameters_of(settings)
        other = replace(settings, warps=not settings.warps)
        assert parameters_of(other) != parameters_of(settings)


# ----------------------------------------------------------------------------------------------------------- comparison


@pytest.mark.parametrize("shape", ["eyes", "crop"])
def test_a_face_is_compared_as_it_lies_and_after_small_moves_whichever_scores_highest(robust, frontal, shape):
    people = robust.template_set(dict(enumerate(robust.templates(mixed(frontal.images[:3])))))
    faces = mixed(frontal.images[4:10])
    probes = robust.probes(faces)
    assert probes.n_warps == len(robust.warps) == len(PROBE_WARPS) == 9
    (i,) = (i for i, view in enumerate(robust.views) if view.settings.shape == shape)
    pictures = robust.views[i].unlit([face.picture(shape) for face in faces])
    each = []
    for move in PROBE_WARPS:
        moved = warp(pictures, np.tile(move, (len(faces), 1))) if any(move) else pictures
        vectors = [robust.views[i].vectors(moved) if view == i else own[:: probes.warps_of(view)]
                   for view, own in enumerate(probes.vectors)]  # fmt: skip
        each.append(raw(robust, shape, replace(probes, vectors=vectors, n_warps=1), people))
    best = raw(robust, shape, probes, people)
    people_scores, distances = (np.stack([getattr(one, part) for one in each]) for part in ("people", "distances"))
    np.testing.assert_allclose(best.people, people_scores.max(axis=0), atol=1e-5)
    np.testing.assert_allclose(best.cohort, np.max([one.cohort for one in each], axis=0), atol=1e-5)
    chosen = np.take_along_axis(distances, people_scores.argmax(axis=0)[None], axis=0)[0]
    np.testing.assert_allclose(best.distances, chosen, atol=1e-4)
    equal(raw(robust, shape, robust.probes(faces, warps=False), people), each[0])


def test_in_the_common_shape_nothing_is_moved(robust, frontal):
    people = robust.template_set(dict(enumerate(robust.templates(mixed(frontal.images[:3])))))
    faces = mixed(frontal.images[4:8])
    moved, still = (raw(robust, "mesh", robust.probes(faces, warps=warps), people) for warps in (True, False))
    equal(moved, still)


def test_a_face_that_was_cut_askew_scores_higher_after_a_move(robust, frontal):
    people = robust.template_set(dict(enumerate(robust.templates(frontal.images[:3]))))
    askew = np.roll(frontal.images[:3], 1, axis=2)
    moved, still = (raw(robust, "crop", robust.probes(askew, warps=warps), people) for warps in (True, False))
    assert (np.diagonal(moved.people) > 1.05 * np.diagonal(still.people)).all()


def test_the_light_that_a_photo_shares_with_a_person_is_taken_off_the_score(matcher, frontal, lit):
    people = matcher.template_set(dict(enumerate(matcher.templates(mixed(frontal.images[:3])))))
    probes = matcher.probes(mixed(lit.images[:4]))
    plain = scores.scores_against(people, probes, cohort_stats(probes, matcher.cohorts))
    known = matcher.score_probes(probes, people)
    np.testing.assert_array_equal(known.people, plain.people - light_penalty(plain, probes, people))
    assert (known.people <= plain.people).all()
    equal(matcher.compare(mixed(lit.images[:4]), people), known)


@pytest.mark.parametrize("preset", ENGINES)
def test_scores_of_a_photo_do_not_depend_on_the_photos_beside_it(preset, frontal, lit):
    """To the last bit, however many there are, and whether these have a mesh or not."""
    matcher = matcher_for(ENGINES[preset])
    people = matcher.template_set(dict(enumerate(matcher.templates(mixed(frontal.images[:5])))))
    faces = mixed(np.concatenate([lit.images[:7], frontal.images[:2]]))
    assert len(faces) > PROBES_PER_BLOCK
    together, backwards = matcher.compare(faces, people), matcher.compare(faces[::-1], people)
    alike = matcher.compare([face for face in faces if face.has_mesh], people)
    for i, face in enumerate(faces):
        alone = matcher.compare([face], people)
        for part in ("people", "cohort", "distances"):
            own = getattr(alone, part)[0]
            np.testing.assert_array_equal(own, getattr(together, part)[i])
            np.testing.assert_array_equal(own, getattr(backwards, part)[len(faces) - 1 - i])
            if face.has_mesh:
                place = sum(each.has_mesh for each in faces[:i])
                np.testing.assert_array_equal(own, getattr(alike, part)[place])


@pytest.mark.parametrize("preset", ENGINES)
def test_scores_of_a_person_do_not_depend_on_the_other_people(preset, frontal, lit):
    """To the last bit, whether these have a mesh or not, and several photos or one."""
    matcher = matcher_for(ENGINES[preset])
    own = matcher.templates(mixed(frontal.images[:6]))
    templates = dict(enumerate([*own, matcher.joined(own[:2]), matcher.joined(own[1:3])]))
    faces = mixed(lit.images[:6])
    together = matcher.compare(faces, matcher.template_set(templates))
    for i, template in templates.items():
        alone = matcher.compare(faces, matcher.template_set({i: template}))
        np.testing.assert_array_equal(alone.people[:, 0], together.people[:, i])
        np.testing.assert_array_equal(alone.distances[:, 0], together.distances[:, i])
        np.testing.assert_array_equal(alone.cohort, together.cohort)


def test_only_the_new_people_of_an_extended_set_are_scored(matcher, frontal, lit, monkeypatch):
    templates = dict(enumerate(matcher.templates(mixed(frontal.images[::2]))))
    people = matcher.template_set({name: templates[name] for name in (0, 1)})
    compared, plain = [], scores.scores_against

    def noted(some, *others):
        compared.append(some)
        return plain(some, *others)

    monkeypatch.setattr("lightproof.matching.matcher.scores_against", noted)
    faces = mixed(lit.images[:3])
    asked = matcher.probes(faces)
    for name in (2, 3, 4):
        new = matcher.template_set({name: templates[name]})
        people = people.extended(new)
        said = matcher.score_probes(asked, people)
        assert compared.pop() is (people if name == 2 else new)
        assert matcher.score_probes(asked, people) is said
        assert not compared
        once = matcher.score_probes(matcher.probes(faces), matcher.template_set(people.templates))
        compared.clear()
        equal(said, once)
        np.testing.assert_array_equal(said.sampling_keys, once.sampling_keys)
    # Somebody else is asked about in the usual way.
    others = matcher.template_set({5: templates[0]})
    assert matcher.score_probes(asked, others).people.shape == (3, 1)
    assert compared == [others]


@pytest.mark.parametrize("preset", ENGINES)
def test_templates_stand_in_for_photos_that_were_not_kept(preset, frontal, lit):
    """Their strongest directions are nearly the photos as they lie.

    Measured: scores of people are off by 0.4 deviations of the cohort on average, on one photo in hard light by 0.8;
    those of rendered people by 0.2.
    """
    matcher = matcher_for(ENGINES[preset])
    people = matcher.template_set(dict(enumerate(matcher.templates(mixed(frontal.images[:3])))))
    faces = mixed(lit.images[:6])
    probes, templates = matcher.probes(faces, warps=False), matcher.templates(faces)
    stand_ins = matcher.probes_of_templates(templates, probes.lights)
    assert stand_ins.n_warps == 1
    np.testing.assert_array_equal(stand_ins.has_mesh, probes.has_mesh)
    np.testing.assert_array_equal(stand_ins.came_cut, probes.came_cut)
    np.testing.assert_allclose(stand_ins.shadows, probes.shadows)
    stood_in, own = matcher.score_probes(stand_ins, people), matcher.score_probes(probes, people)
    known, rendered = np.abs(stood_in.people - own.people), np.abs(stood_in.cohort - own.cohort)
    assert known.mean() < 0.5
    assert known.mean(axis=1).max() < 1.1
    assert rendered.mean(axis=1).max() < 0.25
    assert np.corrcoef(stood_in.people.ravel(), own.people.ravel())[0, 1] > 0.998


def test_the_views_of_a_shape_are_scored_together(robust):
    assert [view.settings.shape for view in robust.views] == ["mesh", "mesh", "eyes", "crop"]
    assert robust.grid == robust.views[0].extractor.grid_
    assert {view.settings.shape for view in robust.views} == set(SHAPES)
