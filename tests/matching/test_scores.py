"""What patches say for people, beyond what they would say for anybody."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lightproof.matching.kernels import FLOOR
from lightproof.matching.matcher import Matcher
from lightproof.matching.scores import (
    PROBES_PER_BLOCK,
    Scores,
    cohort_closeness,
    mean_scores,
    patch_scores,
    probe_scores,
)
from lightproof.matching.templates import TemplateSet
from lightproof.method.presets import ENGINES


@pytest.fixture(scope="module")
def matcher():
    return Matcher(ENGINES["fast"] | {"size": (32, 28)})


@pytest.fixture(scope="module")
def few(matcher):
    """The rendered people, but only eight of them."""
    return replace(matcher.cohort, templates=dict(list(matcher.cohort.templates.items())[:8]))


@pytest.fixture(scope="module")
def enrolled(matcher, frontal):
    names = ["Ada", "Ben", "Cleo", "Dan", "Eve"]
    return matcher.template_set(dict(zip(names, matcher.templates(frontal.images[::2]), strict=True)))


@pytest.fixture(scope="module")
def vectors(matcher, lit):
    return matcher.vectors(lit.images[:20])


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


def slow_evidence(vectors, everybody: TemplateSet, rendered: TemplateSet):
    """What each patch says for everybody and for the rendered people, and distances: both views together."""
    views = []
    for i, vector in enumerate(vectors):
        people, cohort = spans_in(i, everybody), spans_in(i, rendered)
        anybody = slow_closeness(vector, cohort)
        usual = anybody.mean(axis=1, keepdims=True)
        known = slow_closeness(vector, people)
        views.append(
            (
                np.log(known / usual + FLOOR) * slow_weights(people),
                np.log(anybody / usual + FLOOR) * slow_weights(cohort),
                1 - (known * slow_weights(people)).mean(axis=0),
            )
        )
    (known, made_up, apart), (known_too, made_up_too, apart_too) = views
    return known + known_too, made_up + made_up_too, (apart + apart_too) / 2


def some(vectors, which):
    """Some of the photos, in every view."""
    return [view[which] for view in vectors]


def test_the_evidence_is_that_of_a_plain_loop(vectors, enrolled, few):
    found = probe_scores(some(vectors, slice(2)), enrolled, few)
    for i in range(2):
        known, made_up, distances = slow_evidence(some(vectors, i), enrolled, few)
        np.testing.assert_allclose(found.people[i], known.mean(axis=0), atol=2e-5)
        np.testing.assert_allclose(found.cohort[i], made_up.mean(axis=0), atol=2e-5)
        np.testing.assert_allclose(found.distances[i], distances, atol=2e-5)


def test_the_map_is_that_of_a_plain_loop_and_its_mean_is_the_evidence(vectors, enrolled, few):
    found, total = patch_scores(some(vectors, 0), enrolled, few), probe_scores(some(vectors, slice(1)), enrolled, few)
    known, made_up, _ = slow_evidence(some(vectors, 0), enrolled, few)
    np.testing.assert_allclose(found.people, known, atol=5e-4)
    np.testing.assert_allclose(found.cohort, made_up, atol=5e-4)
    np.testing.assert_allclose(found.people.mean(axis=0), total.people[0], atol=1e-6)
    np.testing.assert_allclose(found.cohort.mean(axis=0), total.cohort[0], atol=1e-6)


def test_photos_are_judged_one_by_one_however_many_come_together(vectors, enrolled, few):
    vectors = [np.concatenate([view] * (PROBES_PER_BLOCK // len(view) + 1)) for view in vectors]
    count = len(vectors[0])
    assert count > PROBES_PER_BLOCK
    together = probe_scores(vectors, enrolled, few)
    for i in (0, 1, PROBES_PER_BLOCK - 1, PROBES_PER_BLOCK, count - 1):
        alone = probe_scores(some(vectors, slice(i, i + 1)), enrolled, few)
        for part in ("people", "cohort", "distances"):
            np.testing.assert_allclose(getattr(alone, part)[0], getattr(together, part)[i], atol=1e-6)


def test_the_evidence_for_a_person_depends_on_nobody_else_who_is_enrolled(vectors, enrolled, few, matcher):
    everybody = probe_scores(vectors, enrolled, few)
    for c, (name, template) in enumerate(enrolled.templates.items()):
        alone = probe_scores(vectors, matcher.template_set({name: template}), few)
        np.testing.assert_allclose(alone.people[:, 0], everybody.people[:, c], atol=1e-6)
        np.testing.assert_allclose(alone.distances[:, 0], everybody.distances[:, c], atol=1e-6)
        np.testing.assert_allclose(alone.cohort, everybody.cohort, atol=1e-6)


def test_the_right_person_has_the_most_evidence(vectors, enrolled, few, lit):
    truth = [sorted(set(lit.labels)).index(label) for label in lit.labels[:20]]
    found = probe_scores(vectors, enrolled, few)
    assert np.mean(found.people.argmax(axis=1) == truth) >= 0.8
    own = found.people[np.arange(20), truth]
    assert own.mean() > found.cohort.mean() + 2 * found.cohort.std(axis=1).mean()


def test_the_enrolled_photo_itself_is_much_nearer_than_anybody_else(matcher, frontal, enrolled, few):
    found = probe_scores(matcher.vectors(frontal.images[::2]), enrolled, few)
    # Not 0: what is kept spans the photo and its copies with fewer directions than they are.
    assert (np.diagonal(found.distances) < 0.25).all()
    others = found.distances[~np.eye(5, dtype=bool)]
    assert (others > 0.5).all()
    assert (found.distances <= 1).all()


def test_a_patch_that_matches_nobody_says_at_least_the_floor(vectors, enrolled, few):
    found = patch_scores(some(vectors, 0), enrolled, few)
    floor = math.log(FLOOR) * sum(slow_weights(spans_in(i, enrolled)) for i in range(2))
    assert (found.people >= floor - 1e-4).all()


def test_the_level_of_a_template_lowers_the_evidence_and_nothing_else(vectors, enrolled, few):
    lifted = {name: replace(own, level=0.25 * i) for i, (name, own) in enumerate(enrolled.templates.items())}
    raised = replace(enrolled, templates=lifted)
    plain, lowered = probe_scores(vectors, enrolled, few), probe_scores(vectors, raised, few)
    mapped = patch_scores(some(vectors, 0), raised, few)
    np.testing.assert_allclose(mapped.people.mean(axis=0), lowered.people[0], atol=1e-5)
    np.testing.assert_allclose(plain.people - lowered.people, np.tile([0, 0.25, 0.5, 0.75, 1], (20, 1)), atol=1e-5)
    np.testing.assert_array_equal(plain.cohort, lowered.cohort)
    np.testing.assert_array_equal(plain.distances, lowered.distances)


def test_nobody_enrolled_is_an_answer_too(vectors, matcher, few):
    found = probe_scores(some(vectors, slice(3)), matcher.template_set({}), few)
    assert found.people.shape == found.distances.shape == (3, 0)
    assert found.cohort.shape == (3, 8)
    assert patch_scores(some(vectors, 0), matcher.template_set({}), few).people.shape == (vectors[0].shape[1], 0)


def test_a_photo_all_in_shadow_is_equally_far_from_everybody(matcher, enrolled, few):
    nothing = [np.zeros((1, matcher.extractor.grid_.n_patches, view.n_numbers), np.float32) for view in matcher.views]
    found = probe_scores(nothing, enrolled, few)
    assert isinstance(found, Scores)
    np.testing.assert_allclose(found.people, 2 * math.log(1 + FLOOR), atol=1e-5)
    np.testing.assert_allclose(found.distances, 1 - math.exp(-6), atol=1e-5)


def test_the_mean_evidence_is_the_mean_of_the_evidence(vectors, enrolled, few):
    lifted = {name: replace(own, level=0.1) for name, own in enrolled.templates.items()}
    for people in (enrolled, replace(enrolled, templates=lifted)):
        found = mean_scores(vectors, people, cohort_closeness(vectors, few))
        np.testing.assert_allclose(found, probe_scores(vectors, people, few).people.mean(axis=0), atol=1e-5)
