"""Everybody who is enrolled, laid out for answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lightproof.matching.matcher import matcher_for
from lightproof.matching.templates import Template, TemplateSet
from lightproof.method.presets import ENGINES
from lightproof.method.subspace_bank import length_weights
from lightproof.method.subspaces import PatchSpans
from tests.matching.pictures import mixed


@pytest.fixture(scope="module")
def matcher():
    return matcher_for(ENGINES["fast"])


@pytest.fixture(scope="module")
def templates(matcher, frontal):
    return dict(zip("abc", matcher.templates(mixed(frontal.images[:3])), strict=True))


def test_every_view_has_everybody_in_the_order_they_come(matcher, templates):
    people = matcher.template_set(templates)
    assert people.names == ["a", "b", "c"]
    assert len(people) == 3
    assert len(people.views) == len(matcher.views) == 3
    for i, view in enumerate(people.views):
        assert len(view.blocks.places) == 3
        for lane, name in enumerate("abc"):
            own = templates[name].spans[i].own
            np.testing.assert_array_equal(view.blocks.codes[0][:, :, : own.shape[2], lane], own)
        np.testing.assert_array_equal(view.weights, length_weights([templates[name].spans[i] for name in "abc"]))


def test_removing_somebody_leaves_the_others_and_the_first_as_it_was(matcher, templates):
    people = matcher.template_set(templates)
    fewer = people.removing("b")
    assert fewer.names == ["a", "c"]
    assert people.names == ["a", "b", "c"]
    assert fewer.templates["c"] is templates["c"]


def test_lights_stand_person_by_person_and_who_tells_none_is_lit_from_the_front():
    spans = ()
    people = TemplateSet(
        0,
        {
            "a": Template(spans, lights=((10.0, 5.0), (-40.0, 0.0))),
            "b": Template(spans),
            "c": Template(spans, levels=(0.25, 0.5, -1.0), shadow=0.75, has_mesh=True, lights=((70.0, 20.0),)),
        },
    )
    assert_array_equal(people.lights, [(10, 5), (-40, 0), (0, 0), (70, 20)])
    assert_array_equal(people.first_lights, [0, 2, 3])
    assert_array_equal(people.levels, np.array([[0, 0, 0.25], [0, 0, 0.5], [0, 0, -1]], np.float32))
    assert_array_equal(people.shadows, [0, 0, 0.75])
    assert_array_equal(people.has_mesh, [False, False, True])


def test_nobody_enrolled_is_nobody(matcher):
    people = matcher.template_set({})
    assert len(people) == 0
    assert people.names == []
    assert people.levels.shape == (3, 0)
    assert people.shadows.shape == people.has_mesh.shape == people.came_cut.shape == (0,)
    assert people.has_mesh.dtype == people.came_cut.dtype == bool


def test_a_set_put_together_is_laid_out_as_one_of_all_its_people(matcher, templates):
    whole = matcher.template_set(templates)
    first, second = matcher.template_set({"a": templates["a"]}), matcher.template_set({n: templates[n] for n in "bc"})
    both = matcher.template_set({}).extended(first).extended(second)
    assert both.names == whole.names
    assert_array_equal(both.sampling_keys, whole.sampling_keys)
    for name in ("levels", "shadows", "has_mesh", "came_cut", "lights", "first_lights"):
        assert_array_equal(getattr(both, name), getattr(whole, name))
    for view, known in zip(both.views, whole.views, strict=True):
        assert_array_equal(view.weights, known.weights)
        lanes = [np.concatenate(each.blocks.codes, axis=-1)[..., each.blocks.places] for each in (view, known)]
        assert_array_equal(*lanes)


def test_templates_of_fewer_directions_are_filled_up_with_nothing(matcher, frontal):
    """A person of a picture whose copies are all alike would have fewer: cut one down, and it compares as before."""
    (template,) = matcher.templates(frontal.images[:1])
    cut = Template(tuple(PatchSpans(own.own[:, :1], own.coordinates[:, :1, :1], own.shared) for own in template.spans))
    alone, beside = matcher.template_set({"cut": cut}), matcher.template_set({"whole": template, "cut": cut})
    faces = frontal.images[:3]
    assert_array_equal(matcher.compare(faces, alone).people[:, 0], matcher.compare(faces, beside).people[:, 1])
