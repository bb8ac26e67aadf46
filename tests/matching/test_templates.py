"""Everybody who is enrolled, laid out for answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lightproof.matching.matcher import Matcher
from lightproof.matching.templates import Template, TemplateSet
from lightproof.method.presets import GALLERIES
from lightproof.method.subspace_bank import length_weights


@pytest.fixture(scope="module")
def matcher():
    return Matcher(GALLERIES["fast"])


@pytest.fixture(scope="module")
def templates(matcher, frontal):
    return dict(zip("abc", matcher.templates(frontal.images[:3]), strict=True))


def test_every_view_has_everybody_in_the_order_they_come(matcher, templates):
    people = matcher.template_set(templates)
    assert people.names == ["a", "b", "c"]
    assert len(people) == 3
    assert len(people.views) == len(matcher.views) == 2
    for i, view in enumerate(people.views):
        assert len(view.blocks.places) == 3
        for lane, name in enumerate("abc"):
            own = templates[name].spans[i].own
            laid = view.blocks.codes[0][:, :, : own.shape[2], lane]
            np.testing.assert_array_equal(laid, own)
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
        [],
        {
            "a": Template(spans, lights=((10.0, 5.0), (-40.0, 0.0))),
            "b": Template(spans),
            "c": Template(spans, level=0.25, lights=((70.0, 20.0),)),
        },
    )
    assert_array_equal(people.lights, [(10, 5), (-40, 0), (0, 0), (70, 20)])
    assert_array_equal(people.first_lights, [0, 2, 3])
    assert_array_equal(people.levels, np.array([0, 0, 0.25], np.float32))


def test_nobody_enrolled_is_nobody(matcher):
    people = matcher.template_set({})
    assert len(people) == 0
    assert people.names == []
    assert people.levels.shape == (0,)
