"""Scores of photos, in each shape and together."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from lightproof.imaging.lighting.light_direction import HARD_LIGHT, SOFT_LIGHT
from lightproof.matching.kernels import FLOOR
from lightproof.matching.matcher import matcher_for
from lightproof.matching.scores import (
    MAX_EYES_WEIGHT,
    PROBES_PER_BLOCK,
    SHAPES,
    WEIGHT_AS_CUT,
    WEIGHT_WITHOUT_MESHES,
    Cohorts,
    ProbeSet,
    ShapeScores,
    best_over_warps,
    cohort_stats,
    mean_scores,
    scores_against,
    shape_scores,
    shape_weights,
)
from lightproof.matching.templates import Template, TemplateSet
from lightproof.method.presets import ENGINES
from tests.matching.pictures import crop_with_mesh, found, mixed

PARTS = ("people", "cohort", "distances")
SHADOWS = st.floats(0, 1)


@pytest.fixture(scope="module")
def matcher():
    return matcher_for(ENGINES["fast"])


@pytest.fixture(scope="module")
def few(matcher):
    """The rendered people, but only eight of them."""
    return Cohorts(*(replace(each, templates=dict(list(each.templates.items())[:8])) for each in matcher.cohorts))


@pytest.fixture(scope="module")
def enrolled(matcher, frontal):
    """Five people: without a mesh, found, cut again, and so on."""
    names = ["Ada", "Ben", "Cleo", "Dan", "Eve"]
    return matcher.template_set(dict(zip(names, matcher.templates(mixed(frontal.images[::2])), strict=True)))


@pytest.fixture(scope="module")
def probes(matcher, lit):
    """Photos in hard and soft light, of all kinds."""
    return matcher.probes(mixed(lit.images[:20]))


def judged(probes, people, cohorts):
    return scores_against(people, probes, cohort_stats(probes, cohorts))


def in_shape(shape, probes, people, cohorts):
    return shape_scores(shape, people, probes, cohort_stats(probes, cohorts))


def some(probes, which):
    """Some of the photos; those of this preset have no warps."""
    assert probes.n_warps == 1
    return ProbeSet(
        [view[which] for view in probes.vectors],
        probes.shapes,
        1,
        probes.lights[which],
        probes.shadows[which],
        probes.has_mesh[which],
        probes.came_cut[which],
    )


def spans_in(view, everybody: TemplateSet):
    """Everybody's spans in one view."""
    return [template.spans[view] for template in everybody.templates.values()]


def slow_closeness(vector, spans):
    """exp(-6 s) in each patch for each person, in double precision, shape (K, C)."""
    close = np.zeros((len(vector), len(spans)))
    for c, span in enumerate(spans):
        for k, x in enumerate(vector.astype(float)):
            length = math.sqrt(sum(x * x))
            rest = length**2
            for code in span.own[k].astype(float):
                if code.any():
                    rest -= (code @ x) ** 2 / (code @ code)
            close[k, c] = math.exp(-6 * math.sqrt(max(rest, 0)) / length) if length else math.exp(-6)
    return close


def slow_weights(spans):
    """Weight l / (l + median of l) of each patch of each person, scaled to a mean of 1."""
    weights = []
    for span in spans:
        lengths = np.sqrt([np.square(own.astype(float)).sum() for own in span.coordinates])
        say = lengths / (lengths + np.median(lengths))
        weights.append(say / say.mean())
    return np.array(weights).T


def slow_shape(shape, probe, everybody: TemplateSet, rendered: TemplateSet):
    """Scores of one photo in one shape against people and cohort, and distances: its views together."""
    people_scores, cohort_scores, distances = [], [], []
    for i, (own_shape, vectors) in enumerate(zip(probe.shapes, probe.vectors, strict=True)):
        if own_shape != shape:
            continue
        people, cohort = spans_in(i, everybody), spans_in(i, rendered)
        anybody, known = slow_closeness(vectors[0], cohort), slow_closeness(vectors[0], people)
        usual = anybody.mean(axis=1, keepdims=True)
        people_scores.append((np.log(known / usual + FLOOR) * slow_weights(people)).mean(axis=0))
        cohort_scores.append((np.log(anybody / usual + FLOOR) * slow_weights(cohort)).mean(axis=0))
        distances.append(1 - (known * slow_weights(people)).mean(axis=0))
    return sum(people_scores), sum(cohort_scores), np.mean(distances, axis=0)


class Kind(NamedTuple):
    """What decides the weights of the shapes, of a photo or a person."""

    shadow: float
    has_mesh: bool
    came_cut: bool


def slow_share(shape, one: Kind, other: Kind):
    """The weight of a shape for one photo and person, as the documents say it."""
    if not (one.has_mesh or other.has_mesh):
        return {"mesh": 1 - WEIGHT_WITHOUT_MESHES, "eyes": 0, "crop": WEIGHT_WITHOUT_MESHES}[shape]
    if not (one.has_mesh and other.has_mesh):
        return {"mesh": 0, "eyes": 0, "crop": 1}[shape]
    as_cut = WEIGHT_AS_CUT if one.came_cut and other.came_cut else 0
    if shape == "crop":
        return as_cut
    hard = min(max((max(one.shadow, other.shadow) - SOFT_LIGHT) / (HARD_LIGHT - SOFT_LIGHT), 0), 1)
    return (1 - as_cut) * {"mesh": 1 - MAX_EYES_WEIGHT * hard, "eyes": MAX_EYES_WEIGHT * hard}[shape]


# -------------------------------------------------------------------------------------------------- against plain loops


KINDS = [(False, False), (True, False), (True, True)]
"""Whether they have a mesh, and came cut: faces without a mesh, found ones, and cut ones, in turn."""


@pytest.mark.parametrize("i", [0, 1, 8])
def test_scores_are_those_of_a_plain_loop(probes, enrolled, few, i):
    probe = some(probes, slice(i, i + 1))
    asked = Kind(float(probe.shadows[0]), *KINDS[i % 3])
    known_as = [Kind(own.shadow, *KINDS[c % 3]) for c, own in enumerate(enrolled.templates.values())]
    cohort = few.with_mesh if asked.has_mesh else few.without
    people, rendered, distances = 0, 0, 0
    for shape in SHAPES:
        known, made_up, apart = slow_shape(shape, probe, enrolled, cohort)
        each = in_shape(shape, probe, enrolled, few)
        for part, expected in zip(PARTS, (known, made_up, apart), strict=True):
            assert_allclose(getattr(each, part)[0], expected, atol=2e-5)
        # The mean of the upper quarter, two of eight, becomes 0, and the deviation 1.
        center, deviation = np.sort(made_up)[-2:].mean(), np.sqrt(((made_up - made_up.mean()) ** 2).mean())
        shares = np.array([slow_share(shape, asked, kind) for kind in known_as])
        people = people + shares * (known - center) / deviation
        distances = distances + shares * apart
        rendered = rendered + slow_share(shape, asked, asked._replace(shadow=0)) * (made_up - center) / deviation
    together = judged(probe, enrolled, few)
    assert_allclose(together.people[0], people, atol=1e-3)
    assert_allclose(together.cohort[0], rendered, atol=1e-3)
    assert_allclose(together.distances[0], distances, atol=1e-4)
    assert_array_equal(together.sampling_keys, enrolled.sampling_keys)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 4), st.integers(1, 5), st.data())
def test_of_all_warps_the_best_counts_for_each_person_and_its_distance(n, warps, people, cohort, data):
    values = st.floats(-3, 3, width=32)
    known, made_up = (
        data.draw(arrays(np.float32, (n * warps, count), elements=values, unique=True)) for count in (people, cohort)
    )
    best = best_over_warps(ShapeScores(known, made_up, -known), warps)
    for i in range(n):
        rows = slice(i * warps, (i + 1) * warps)
        assert best.people[i].tolist() == [max(known[rows, c]) for c in range(people)]
        assert best.cohort[i].tolist() == [max(made_up[rows, z]) for z in range(cohort)]
        assert_array_equal(best.distances[i], -best.people[i])


# ------------------------------------------------------------------------------------------------ weights of the shapes


def photos_of(kinds):
    """Photos of which nothing is known but their kinds."""
    shadows, meshes, cut = (np.array(each) for each in zip(*kinds, strict=True))
    return ProbeSet([], SHAPES, 1, np.full((len(kinds), 2), np.nan), shadows, meshes, cut)


def people_of(kinds):
    """People of whom nothing is known but their kinds: the last view repeats the one before, or they came cut."""
    eyes, as_cut = object(), object()
    return TemplateSet(3, {
        i: Template((eyes, as_cut if kind.came_cut else eyes), shadow=kind.shadow, has_mesh=kind.has_mesh)
        for i, kind in enumerate(kinds)
    })  # fmt: skip


def weights_of(one: Kind, other: Kind):
    """Weights of the three shapes for one photo and person."""
    return shape_weights(photos_of([one]), people_of([other]))[:, 0, 0]


FACES = st.lists(st.builds(Kind, SHADOWS, st.booleans(), st.booleans()), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Kind(0, True, True), Kind(0, True, True), [0.7, 0, 0.3]),
        (Kind(1, True, True), Kind(0, True, True), [0.21, 0.49, 0.3]),
        (Kind(0, True, True), Kind(0, True, False), [1, 0, 0]),
        (Kind(0, True, False), Kind(1, True, True), [0.3, 0.7, 0]),
        (Kind(1, True, False), Kind(1, True, False), [0.3, 0.7, 0]),
        (Kind(1, False, False), Kind(1, False, False), [0.5, 0, 0.5]),
        (Kind(1, True, True), Kind(1, False, True), [0, 0, 1]),
    ],
)
def test_weights_computed_by_hand(one, other, expected):
    for pair in ((one, other), (other, one)):
        assert_allclose(weights_of(*pair), expected, atol=1e-6)


@given(FACES, FACES)
def test_weights_of_the_shapes_add_up_to_1_and_are_those_of_each_pair(photos, people):
    found = shape_weights(photos_of(photos), people_of(people))
    assert found.shape == (3, len(photos), len(people))
    assert_allclose(found.sum(axis=0), 1, rtol=1e-6)
    assert (found >= 0).all()
    for i, photo in enumerate(photos):
        for c, person in enumerate(people):
            assert_allclose(found[:, i, c], [slow_share(shape, photo, person) for shape in SHAPES], atol=1e-6)


@given(FACES)
def test_to_every_photo_the_rendered_people_are_like_itself_and_lit_softly(photos):
    found = shape_weights(photos_of(photos))
    assert_allclose(found.sum(axis=0), 1, rtol=1e-6)
    for i, kind in enumerate(photos):
        assert_array_equal(found[:, i, 0], weights_of(kind, kind._replace(shadow=0.0)))


@given(SHADOWS, SHADOWS, st.booleans(), st.booleans())
def test_where_one_face_alone_has_a_mesh_both_are_compared_as_they_came_only(shadow, other, cut, other_cut):
    for has_mesh in (True, False):
        weights = weights_of(Kind(shadow, has_mesh, cut), Kind(other, not has_mesh, other_cut))
        assert weights.tolist() == [0, 0, 1]


@given(SHADOWS, SHADOWS)
def test_where_both_faces_came_cut_the_other_shapes_share_what_the_one_as_it_came_leaves(shadow, other):
    found = weights_of(Kind(shadow, True, False), Kind(other, True, False))
    cut = weights_of(Kind(shadow, True, True), Kind(other, True, True))
    assert cut[2] == pytest.approx(WEIGHT_AS_CUT)
    assert_allclose(cut[:2], (1 - WEIGHT_AS_CUT) * found[:2], rtol=1e-6)


@given(SHADOWS, SHADOWS)
def test_where_one_of_two_faces_was_found_in_a_photo_how_the_other_came_counts_for_nothing(shadow, other):
    both = weights_of(Kind(shadow, True, False), Kind(other, True, False))
    assert both[2] == 0
    assert_array_equal(weights_of(Kind(shadow, True, True), Kind(other, True, False)), both)
    assert_array_equal(weights_of(Kind(shadow, True, False), Kind(other, True, True)), both)


@given(SHADOWS, SHADOWS, st.booleans(), st.booleans())
def test_without_meshes_it_does_not_matter_who_came_cut(shadow, other, cut, other_cut):
    weights = weights_of(Kind(shadow, False, cut), Kind(other, False, other_cut))
    assert_array_equal(weights, weights_of(Kind(shadow, False, False), Kind(other, False, False)))


def test_a_cut_face_is_scored_against_a_cut_one_in_all_shapes_and_against_a_found_one_not_as_it_came(
    matcher, few, frontal, lit
):
    templates = [matcher.templates([kind(frontal.images[0])])[0] for kind in (crop_with_mesh, found)]
    probes = matcher.probes([crop_with_mesh(image) for image in lit.images[:3]])
    people = matcher.template_set(dict(enumerate(templates)))
    each = [in_shape(shape, probes, people, few) for shape in SHAPES]
    mesh, eyes, crop = ((own.people - own.centers) / own.deviations for own in each)
    others = shape_weights(replace(probes, came_cut=np.zeros(3, bool)), people)
    expected = others[0] * mesh + others[1] * eyes
    expected[:, 0] = (1 - WEIGHT_AS_CUT) * expected[:, 0] + WEIGHT_AS_CUT * crop[:, 0]
    assert_allclose(judged(probes, people, few).people, expected, rtol=1e-5)


def test_a_face_without_a_mesh_is_scored_against_one_with_a_mesh_by_the_view_as_it_came(matcher, few, frontal, lit):
    """Whatever the other views show."""
    people = matcher.template_set({"": matcher.templates([found(frontal.images[0])])[0]})
    probes = matcher.probes(lit.images[:3])
    one = judged(probes, people, few)
    crop = in_shape("crop", probes, people, few)
    assert_allclose(one.people, (crop.people - crop.centers) / crop.deviations, rtol=1e-5)
    assert_array_equal(one.distances, crop.distances)
    # And the other way round.
    people = matcher.template_set({"": matcher.templates(frontal.images[:1])[0]})
    probes = matcher.probes([found(image) for image in lit.images[:3]])
    one = judged(probes, people, few)
    crop = in_shape("crop", probes, people, few)
    assert_allclose(one.people, (crop.people - crop.centers) / crop.deviations, rtol=1e-5)


def test_hard_light_gives_weight_to_the_eyes_and_never_all(probes, enrolled):
    soft = replace(probes, shadows=np.zeros_like(probes.shadows))
    hard = replace(probes, shadows=np.ones_like(probes.shadows))
    both = probes.has_mesh[:, None] & enrolled.has_mesh
    most = MAX_EYES_WEIGHT * np.where(probes.came_cut[:, None] & enrolled.came_cut, 1 - WEIGHT_AS_CUT, 1)
    dim = replace(enrolled, templates={n: replace(t, shadow=0.0) for n, t in enrolled.templates.items()})
    assert_array_equal(shape_weights(soft, dim)[1], np.zeros_like(both, float))
    assert_allclose(shape_weights(hard, dim)[1], np.where(both, most, 0), rtol=1e-6)


# ----------------------------------------------------------------------------------------------------------- one by one


def test_photos_are_judged_one_by_one_however_many_come_together(probes, enrolled, few):
    count = PROBES_PER_BLOCK + 8
    many = some(probes, np.arange(count) % len(probes.has_mesh))
    together = judged(many, enrolled, few)
    for i in (0, 1, PROBES_PER_BLOCK - 1, PROBES_PER_BLOCK, count - 1):
        alone = judged(some(many, slice(i, i + 1)), enrolled, few)
        for part in PARTS:
            assert_array_equal(getattr(alone, part)[0], getattr(together, part)[i])


def test_the_score_of_a_person_depends_on_nobody_else_who_is_enrolled(probes, enrolled, few, matcher):
    everybody = judged(probes, enrolled, few)
    for c, (name, template) in enumerate(enrolled.templates.items()):
        alone = judged(probes, matcher.template_set({name: template}), few)
        assert_array_equal(alone.people[:, 0], everybody.people[:, c])
        assert_array_equal(alone.distances[:, 0], everybody.distances[:, c])
        assert_array_equal(alone.cohort, everybody.cohort)


# ----------------------------------------------------------------------------------------------------------- what it is


@pytest.mark.parametrize("kind", [lambda image: image, found])
def test_the_right_person_has_the_highest_score(matcher, few, frontal, lit, kind):
    """Measured: everybody, by 13 deviations of the cohort."""
    people = matcher.template_set(dict(enumerate(matcher.templates([kind(image) for image in frontal.images[::2]]))))
    truth = [sorted(set(lit.labels)).index(label) for label in lit.labels]
    known = judged(matcher.probes([kind(image) for image in lit.images]), people, few)
    assert known.people.argmax(axis=1).tolist() == truth
    own = known.people[np.arange(len(truth)), truth]
    assert own.mean() > known.cohort.mean() + 8 * known.cohort.std(axis=1).mean()


def test_the_enrolled_photo_itself_is_much_nearer_than_anybody_else(matcher, frontal, enrolled, few):
    known = judged(matcher.probes(mixed(frontal.images[::2])), enrolled, few)
    # Not 0: what is kept spans the photo and its copies with fewer directions than they are.
    assert (np.diagonal(known.distances) < 0.6).all()
    others = known.distances[~np.eye(5, dtype=bool)]
    assert (others > 0.9).all()
    assert (known.distances <= 1).all()


def test_the_levels_of_a_template_lower_its_scores_and_nothing_else(probes, enrolled, few):
    lifted = {
        name: replace(own, levels=(0.25 * i, 0.5 * i, -i)) for i, (name, own) in enumerate(enrolled.templates.items())
    }
    raised = replace(enrolled, templates=lifted)
    for shape, factor in zip(SHAPES, (0.25, 0.5, -1), strict=True):
        plain, lowered = (in_shape(shape, probes, people, few) for people in (enrolled, raised))
        assert_allclose(plain.people - lowered.people, np.tile(factor * np.arange(5), (20, 1)), atol=1e-5)
        assert_array_equal(plain.cohort, lowered.cohort)
        assert_array_equal(plain.distances, lowered.distances)


def test_nobody_enrolled_is_an_answer_too(probes, matcher, few):
    known = judged(some(probes, slice(3)), matcher.template_set({}), few)
    assert known.people.shape == known.distances.shape == (3, 0)
    assert known.cohort.shape == (3, 8)
    assert_array_equal(known.cohort, judged(some(probes, slice(3)), few.without, few).cohort)


def test_the_upper_quarter_of_the_cohort_scores_0_on_average_with_deviation_1(probes, enrolled, few):
    """In each shape alone; a mean over the shapes has less."""
    for shape in SHAPES:
        each = in_shape(shape, probes, enrolled, few)
        normalized = (each.cohort - each.centers) / each.deviations
        assert_allclose(np.sort(normalized, axis=1)[:, -2:].mean(axis=1), 0, atol=1e-5)
        assert_allclose(normalized.std(axis=1), 1, atol=1e-4)
    known = judged(probes, enrolled, few).cohort
    assert (known.std(axis=1) <= 1 + 1e-4).all()


def test_a_photo_all_in_shadow_is_equally_far_from_everybody(probes, enrolled, few):
    nothing = replace(some(probes, slice(2)), vectors=[np.zeros_like(view[:2]) for view in probes.vectors])
    for shape in SHAPES:
        each = in_shape(shape, nothing, enrolled, few)
        assert_allclose(each.people, math.log(1 + FLOOR), atol=1e-5)
        assert_allclose(each.distances, 1 - math.exp(-6), atol=1e-5)
    known = judged(nothing, enrolled, few)
    assert all(np.isfinite(getattr(known, part)).all() for part in PARTS)


def test_the_mean_score_is_the_mean_of_the_scores_in_each_shape(probes, enrolled, few):
    lifted = {name: replace(own, levels=(0.1, 0.2, 0.3)) for name, own in enrolled.templates.items()}
    for people in (enrolled, replace(enrolled, templates=lifted)):
        known = mean_scores(people, probes, cohort_stats(probes, few))
        expected = [in_shape(shape, probes, people, few).people.mean(axis=0) for shape in SHAPES]
        assert_allclose(known, expected, atol=1e-5)
