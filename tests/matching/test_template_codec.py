"""A template as bytes: what comes back, and what is refused."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lightproof.imaging.detection import AlignedFace
from lightproof.matching.matcher import matcher_for
from lightproof.matching.template_codec import (
    FACTS,
    FACTS_BYTES,
    HEAD_BYTES,
    decode_templates,
    encode_template,
    parameters_of,
)
from lightproof.method.presets import ENGINES
from tests.matching.pictures import crop_with_mesh, found


@pytest.fixture(scope="module", params=ENGINES)
def matcher(request):
    return matcher_for(ENGINES[request.param])


@pytest.fixture(scope="module")
def templates(matcher, frontal):
    """Templates of every kind, by what they are."""
    made = {"plain": AlignedFace, "found": found, "crop with mesh": crop_with_mesh}
    kinds = {kind: matcher.templates([make(image) for image in frontal.images[:2]]) for kind, make in made.items()}
    joined = {f"{kind}, joined": matcher.joined(own) for kind, own in kinds.items()}
    joined["mixed, joined"] = matcher.joined([kinds["plain"][0], kinds["crop with mesh"][1]])
    return {kind: own[0] for kind, own in kinds.items()} | joined


def decoded(matcher, *encoded):
    return decode_templates(encoded, matcher.views)


def same(one, other):
    assert len(one.spans) == len(other.spans)
    for own, back in zip(one.spans, other.spans, strict=True):
        assert_array_equal(own.own, back.own)
        assert own.own.dtype == back.own.dtype
        assert_array_equal(own.coordinates, back.coordinates)
    # What is written in single precision comes back as that.
    assert np.float32(one.levels).tolist() == list(other.levels)
    assert np.float32(one.shadow) == other.shadow
    assert (one.has_mesh, one.repeats_last) == (other.has_mesh, other.repeats_last)


def test_every_kind_of_template_comes_back(matcher, templates):
    for kind, template in templates.items():
        (back,) = decoded(matcher, encode_template(template))
        same(template, back)
        assert encode_template(back) == encode_template(template)
        # Of several photos the lights are kept elsewhere.
        assert back.lights == (() if "joined" in kind else template.lights)
        assert len(template.lights) == (2 if "joined" in kind else 1)


def test_only_a_crop_with_a_mesh_writes_its_last_view(matcher, templates):
    """Found faces lie by their eyes, so the view as they came is the one before; so it is without a mesh."""
    repeats = {kind: template.repeats_last for kind, template in templates.items()}
    assert repeats == {kind: kind.split(",")[0] in ("plain", "found") for kind in templates}
    for kind, other in (("found", "crop with mesh"), ("found, joined", "crop with mesh, joined")):
        longer = len(encode_template(templates[other])) - len(encode_template(templates[kind]))
        last = templates[other].spans[-1].own
        assert longer == HEAD_BYTES + last.size + 2 * last.shape[0] * last.shape[1]
    (back,) = decoded(matcher, encode_template(templates["found"]))
    assert back.spans[-1] is back.spans[-2]


def test_templates_of_all_kinds_are_read_together_in_their_order(matcher, templates):
    many = [*templates.values(), *reversed(templates.values())]
    together = decoded(matcher, *map(encode_template, many))
    assert list(map(encode_template, together)) == list(map(encode_template, many))
    assert decoded(matcher) == []


def test_every_way_to_cut_a_template_off_is_refused(matcher, templates):
    for kind in ("plain", "crop with mesh"):
        encoded = encode_template(templates[kind])
        step = 1 if matcher.settings == ENGINES["fast"] else 97
        for end in [*range(200), *range(200, len(encoded), step), len(encoded) - 1]:
            with pytest.raises(ValueError, match="a damaged template"):
                decoded(matcher, encoded[:end])


@given(st.binary(min_size=1, max_size=40))
def test_whatever_follows_a_template_is_refused(matcher, templates, more):
    for template in templates.values():
        with pytest.raises(ValueError, match="a damaged template"):
            decoded(matcher, encode_template(template) + more)


def test_a_damaged_template_among_whole_ones_is_refused(matcher, templates):
    whole = encode_template(templates["plain"])
    with pytest.raises(ValueError, match="a damaged template"):
        decoded(matcher, whole, whole[:-1], whole)


@given(st.data())
def test_a_changed_byte_is_refused_or_makes_another_template_and_never_anything_else(matcher, templates, data):
    encoded = bytearray(encode_template(data.draw(st.sampled_from(list(templates.values())))))
    place = data.draw(st.one_of(st.integers(0, FACTS_BYTES + HEAD_BYTES - 1), st.integers(0, len(encoded) - 1)))
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        (back,) = decoded(matcher, bytes(encoded))
    except ValueError:
        with pytest.raises(ValueError, match="a damaged template"):
            decoded(matcher, bytes(encoded))
    else:
        for view, spans in zip(matcher.views, back.spans, strict=True):
            assert (len(spans.own), spans.own.shape[2]) == (view.n_patches, view.n_numbers)
            assert np.isfinite(spans.coordinates).all()


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(matcher, templates, wrong):
    encoded = encode_template(templates["plain"])
    for place in range(4):  # the three levels, and the share of the face in deep shadow
        spoiled = bytearray(encoded)
        struct.pack_into("<f", spoiled, 4 * place, wrong)
        with pytest.raises(ValueError, match="not finite"):
            decoded(matcher, bytes(spoiled))
    K, r, D = templates["plain"].spans[0].own.shape
    first = FACTS_BYTES + HEAD_BYTES + K * r * D
    for place in (first, first + 2 * K * r - 2, len(encoded) - 2):
        spoiled = bytearray(encoded)
        struct.pack_into("<e", spoiled, place, wrong)
        with pytest.raises(ValueError, match="not finite"):
            decoded(matcher, encoded, bytes(spoiled))


def test_a_light_that_is_not_known_is_written_as_no_number(matcher, templates):
    encoded = encode_template(templates["plain"])
    facts = list(struct.unpack_from(FACTS, encoded))
    facts[4:6] = math.nan, math.nan
    (back,) = decoded(matcher, struct.pack(FACTS, *facts) + encoded[FACTS_BYTES:])
    assert back.lights == ()


def test_more_directions_than_the_view_keeps_are_refused(matcher, templates):
    """They would fit into the file, but nobody makes them."""
    encoded = encode_template(templates["plain"])
    K, r, D = templates["plain"].spans[0].own.shape
    end = FACTS_BYTES + HEAD_BYTES + K * r * (D + 2)
    for count in (0, r + 1):
        other = struct.pack("<3I", K, count, D) + bytes(K * count * (D + 2))
        with pytest.raises(ValueError, match="a damaged template"):
            decoded(matcher, encoded[:FACTS_BYTES] + other + encoded[end:])


def test_templates_of_one_preset_are_not_read_under_another(templates, matcher):
    (other,) = (each for each in ENGINES.values() if each != matcher.settings)
    for template in templates.values():
        with pytest.raises(ValueError, match="a damaged template"):
            decode_templates([encode_template(template)], matcher_for(other).views)
    assert parameters_of(other) != parameters_of(matcher.settings)
