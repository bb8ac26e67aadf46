"""Why a face was given a name: the numbers of the map add up to the lead that decides."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.datasets import FaceSet
from lightproof.errors import BadImage, BadParameter, CannotWrite, UnknownPerson
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.explanation import Explanation, explain
from lightproof.matching.matcher import Matcher, matcher_for, preset_settings
from lightproof.matching.templates import TemplateSet
from lightproof.method.patches import PatchGrid
from tests.matching.pictures import found as found_face

NAMES = ["Anna", "Ben", "Cleo", "Dan", "Eve"]


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return matcher_for(preset_settings("fast"))


@pytest.fixture(scope="module")
def people(matcher: Matcher, faces: FaceSet) -> TemplateSet:
    front = faces.images[(faces.azimuths == 0) & (faces.elevations == 0)]
    return matcher.template_set(dict(zip(NAMES, matcher.templates(front), strict=True)))


@pytest.fixture(scope="module")
def probe(faces: FaceSet) -> AlignedFace:
    """Anna, lit from the side."""
    return AlignedFace(faces.images[3])


@pytest.fixture(scope="module")
def why(matcher: Matcher, people: TemplateSet, probe: np.ndarray) -> Explanation:
    return explain(matcher, people, probe, "Anna", against="Ben")


def test_the_patches_add_up_to_the_lead_that_decides(matcher, people, faces):
    decided = normalized_scores(matcher.compare(faces.images[:7], people))
    for face, ahead in zip(faces.images, decided, strict=False):
        for place in (0, 3):
            found = explain(matcher, people, AlignedFace(face), NAMES[place])
            assert found.lead == pytest.approx(float(ahead[place]), abs=1e-4)
            assert found.patches.sum() == pytest.approx(found.lead, abs=1e-4)


def test_the_difference_adds_up_to_the_difference_of_the_leads(why):
    assert why.rival_patches.sum() == pytest.approx(why.rival_lead, abs=1e-4)
    assert why.difference.sum() == pytest.approx(why.lead - why.rival_lead, abs=1e-4)
    assert why.lead > why.rival_lead


def test_asking_the_other_way_round_turns_the_difference(matcher, people, probe, why):
    turned = explain(matcher, people, probe, "Ben", against="Anna")
    np.testing.assert_array_equal(turned.difference, -why.difference)
    assert (turned.lead, turned.rival_lead) == (why.rival_lead, why.lead)


def test_without_another_person_there_is_no_difference(matcher, people, probe, why):
    alone = explain(matcher, people, probe, "Anna")
    assert (alone.against, alone.rival_lead, alone.rival_patches, alone.difference) == (None, None, None, None)
    assert alone.lead == why.lead
    np.testing.assert_array_equal(alone.patches, why.patches)


def test_rivals_are_the_upper_quarter_of_the_others(why):
    # Four others are filled up to eight with made-up people; a quarter of eight is two.
    assert len(why.rivals) == 2
    made_up = {f"rendered {i:02d}" for i in range(60)}
    assert set(why.rivals) <= {*NAMES[1:], *made_up}


def test_one_person_alone_is_measured_against_made_up_people(matcher, people, probe):
    alone = explain(matcher, matcher.template_set({"Anna": people.templates["Anna"]}), probe, "Anna")
    assert len(alone.rivals) == 2
    assert all(name.startswith("rendered ") for name in alone.rivals)
    assert alone.patches.sum() == pytest.approx(alone.lead, abs=1e-4)


def test_the_face_is_shown_as_it_was_compared(why, matcher):
    assert why.face.shape == (matcher.grid.height, matcher.grid.width) == (96, 84)
    assert why.face.dtype == np.uint8
    assert why.face[:, :41].mean() > 1.5 * why.face[:, 42:].mean()  # the light comes from the left of the picture


def test_a_face_with_a_mesh_is_shown_in_the_common_shape_and_its_patches_add_up_too(matcher, faces):
    people = matcher.template_set(dict(zip(NAMES, matcher.templates(map(found_face, faces.images[::7])), strict=True)))
    face = found_face(faces.images[3])
    shown = explain(matcher, people, face, "Anna", against="Ben")
    lead = normalized_scores(matcher.compare([face], people))[0, 0]
    assert shown.patches.sum() == pytest.approx(shown.lead, abs=1e-4)
    assert shown.lead == pytest.approx(float(lead), abs=1e-4)
    half = face.shaped.reshape(96, 2, 84, 2).mean(axis=(1, 3))
    plain = np.kron(face.image, np.ones((3, 3)))[::2, ::2]
    near, far = (np.abs(shown.face - picture).mean() for picture in (half, plain))
    assert near < 3 < far


# --- by hand -------------------------------------------------------------------------------------------------------


def by_hand(patches, rival_patches=None, grid=None) -> Explanation:
    patches = np.array(patches, float)
    rival = None if rival_patches is None else np.array(rival_patches, float)
    grid = grid or PatchGrid(7, 10, cell=4, overlap=1)
    return Explanation(
        person="Anna",
        lead=float(patches.sum()),
        patches=patches,
        rivals=("Ben", "rendered 07"),
        against=None if rival is None else "Ben",
        rival_lead=None if rival is None else float(rival.sum()),
        rival_patches=rival,
        face=np.zeros((grid.height, grid.width), np.uint8),
        grid=grid,
    )


def test_the_patches_that_count_most_come_first_whichever_way_they_speak():
    found = by_hand([[1, -7, 2], [0, 3, -4]]).top_patches(3)
    assert found[0] == (0, 1, 3, 0, 4, 4, -7.0)  # row, column, left, top, width, height, value
    assert found[1] == (1, 2, 6, 3, 4, 4, -4.0)
    assert [share.value for share in found] == [-7, -4, 3]


def test_with_another_person_the_patches_of_the_difference_count():
    found = by_hand([[1, -7, 2], [0, 3, -4]], [[1, -7, 2], [9, 3, -4]]).top_patches(1)
    assert found == [(1, 0, 0, 3, 4, 4, -9.0)]


def test_more_patches_than_there_are_gives_all_of_them():
    assert len(by_hand(np.ones((2, 3))).top_patches(99)) == 6


def test_the_sentence_splits_the_sum():
    alone = by_hand([[5, 3.3, 0], [0, -2, -0.2]]).sentence
    assert alone == "lead 6.1 = +8.3 from patches that speak for Anna, -2.2 from patches that speak against"
    both = by_hand([[5, 0, 0], [0, 0, -1]], [[0, 0, 0], [0, 0, 2]]).sentence
    tail = "+5.0 from patches that speak for Anna, -3.0 from patches that speak against"
    assert both == f"Anna leads by 4.0, Ben by 2.0; the difference 2.0 = {tail}"


def test_two_patches_that_share_a_column_give_it_their_halves():
    found = by_hand([[3.0, 5.0]], grid=PatchGrid(2, 4, cell=2, overlap=0))
    np.testing.assert_allclose(found.on_face(found.patches), [[0.75, 0.75, 1.25, 1.25]] * 2)
    shared = by_hand([[3.0, 6.0]], grid=PatchGrid(2, 3, cell=2, overlap=1))
    # Of both rows of a patch, 2/3 lie in the column of its own and 1/3 in the shared one: 3 gives 1 and 0.5 a pixel.
    np.testing.assert_allclose(shared.on_face(shared.patches), [[1.0, 0.5 + 1.0, 2.0]] * 2)


@given(st.integers(1, 5), st.data())
def test_the_map_over_the_face_has_the_same_sum(cell, data):
    overlap = data.draw(st.integers(0, cell - 1))
    grid = PatchGrid(data.draw(st.integers(cell, 17)), data.draw(st.integers(cell, 17)), cell, overlap)
    values = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=(grid.rows, grid.columns))
    found = by_hand(values, grid=grid)
    spread = found.on_face(values)
    assert spread.shape == (grid.height, grid.width)
    assert spread.sum() == pytest.approx(values.sum(), abs=1e-9)


def test_patches_that_say_the_same_make_an_even_map_inside():
    grid = PatchGrid(22, 22, cell=4, overlap=1)
    spread = by_hand(np.ones((7, 7)), grid=grid).on_face(np.ones((7, 7)))
    np.testing.assert_allclose(spread[4:-4, 4:-4], 1 / 9)  # one patch for every 3 x 3 pixels


# --- on disk -------------------------------------------------------------------------------------------------------


def test_a_saved_explanation_is_read_without_pickle(why, tmp_path):
    why.save(tmp_path / "why.npz")
    with np.load(tmp_path / "why.npz", allow_pickle=False) as read:
        back = dict(read)
    assert (str(back["person"]), str(back["against"])) == ("Anna", "Ben")
    assert (float(back["lead"]), float(back["rival_lead"])) == (why.lead, why.rival_lead)
    for name in ("patches", "rival_patches", "difference", "face"):
        np.testing.assert_array_equal(back[name], getattr(why, name))
    assert tuple(back["rivals"].tolist()) == why.rivals
    best = why.top_patches(1)[0]
    assert tuple(back["boxes"][best.row, best.column]) == (best.left, best.top, best.width, best.height)


def test_what_was_not_asked_for_is_not_saved(tmp_path):
    by_hand(np.ones((2, 3))).save(str(tmp_path / "why.npz"))
    with np.load(tmp_path / "why.npz", allow_pickle=False) as read:
        assert sorted(read) == ["boxes", "face", "lead", "patches", "person", "rivals"]


def test_a_place_that_takes_no_file_is_named():
    with pytest.raises(CannotWrite, match=r"/nowhere/why\.npz must be a place that can be written"):
        by_hand(np.ones((2, 3))).save(Path("/nowhere/why.npz"))


# --- bad input -----------------------------------------------------------------------------------------------------


def test_only_enrolled_people_can_be_explained(matcher, people, probe):
    with pytest.raises(UnknownPerson, match=r"`person` must be one of the 5 enrolled people \(.*\); got 'Zoe'"):
        explain(matcher, people, probe, "Zoe")
    with pytest.raises(UnknownPerson, match=r"`against` must be one of the 5 enrolled people \(.*\); got 'Zoe'"):
        explain(matcher, people, probe, "Anna", against="Zoe")


def test_nobody_is_told_apart_from_themselves(matcher, people, probe):
    with pytest.raises(BadParameter, match="`against` of explain must be somebody else; got 'Anna'"):
        explain(matcher, people, probe, "Anna", against="Anna")


def test_an_even_picture_is_refused(matcher, people):
    with pytest.raises(BadImage, match="must be a picture of something; got one even grey"):
        explain(matcher, people, AlignedFace(np.full((64, 56), 9, np.uint8)), "Anna")


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_top_patches_wants_a_number(n):
    with pytest.raises(BadParameter, match="`n` of top_patches must be a whole number of at least 1"):
        by_hand(np.ones((2, 3))).top_patches(n)


def test_a_map_of_another_grid_is_refused(why):
    with pytest.raises(
        BadParameter, match=r"`values` of on_face must be of shape \(16, 14\), one number for each patch"
    ):
        why.on_face(np.ones((2, 3)))


def test_an_explanation_cannot_be_changed(why):
    with pytest.raises(dataclasses.FrozenInstanceError):
        why.lead = 99.0
