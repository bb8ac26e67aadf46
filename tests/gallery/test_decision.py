"""Matches, and the words of answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.gallery import extract_face
from lightproof.gallery.decision import Answer, Candidate, Verification, counted, match_of
from lightproof.imaging.detection import AlignedFace
from lightproof.matching.calibration import ImpostorModel
from lightproof.plots import png_of
from tests.gallery.people import face, new
from tests.scenes import compose, seat

USUAL = ImpostorModel.default(10)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1"), (1.04, "1"), (1.25, "1.2"), (9.94, "9.9"), (10, "10"), (12.4, "12"), (99.6, "100"), (100, "100"),
     (123, "120"), (996, "1,000"), (1000, "1,000"), (1349, "1,300"), (1e6, "1,000,000")],
)  # fmt: skip
def test_two_digits_count(number, text):
    assert counted(number) == text


@given(st.floats(1, 1e6))
def test_what_is_written_is_within_five_percent(number):
    assert float(counted(number).replace(",", "")) == pytest.approx(number, rel=0.051)


@given(st.floats(-30, 60), st.floats(0, 5), st.integers(1, 1000))
def test_marks_grow_with_the_lead(lead, more, among):
    low, high = (match_of(ahead, 0.5, USUAL.for_claim(among)) for ahead in (lead, lead + more))
    assert 0 <= low.score <= high.score <= 1
    assert 1 <= low.one_in <= high.one_in <= 1e6
    assert not np.signbit(low.score)
    assert low.one_in == pytest.approx(10 ** (6 * low.score))
    assert (low.lead, low.distance) == (lead, 0.5)


@given(st.floats(1e-6, 0.99))
def test_the_lead_at_a_rate_is_where_matches_begin_to_be_accepted(far):
    at = USUAL.lead_at(far)
    assert match_of(at + 1e-6, 0, USUAL).one_in * far >= 1
    # At one in a million all scores end.
    assert far < 1.01e-6 or match_of(at - 1e-6, 0, USUAL).one_in * far < 1


def answer(name, one_in, candidates=1):
    best = Candidate(0.5, one_in, 3.0, 0.4, "Ada")
    return Answer(name, 0.5, one_in, 0.5, 0.001, (best,) * candidates, False)


def test_answers_in_words():
    assert answer("Ada", 2345.0).sentence == (
        "Ada: about 1 in 2,300 strangers would score this well; 1 in 1,000 is asked for."
    )
    assert answer(None, 3.21).sentence == (
        "Unknown: the nearest is Ada, but about 1 in 3.2 strangers would score this well; 1 in 1,000 is asked for."
    )
    assert answer(None, 1.0, candidates=0).sentence == "Unknown: nobody is enrolled."
    assert [answer(name, 1.0).known for name in ("Ada", None)] == [True, False]


def test_verifications_in_words():
    assert Verification(0.6, 4000.0, 3.0, 0.4, True, 0.5, 0.001).sentence == (
        "The same person: about 1 in 4,000 other people would score this well; 1 in 1,000 is asked for."
    )
    assert Verification(0.1, 4.0, 1.0, 0.8, False, 0.33, 0.01).sentence == (
        "Not known to be the same person: about 1 in 4 other people would score this well; 1 in 100 is asked for."
    )


@pytest.fixture
def gallery(tmp_path):
    """Ada without a mesh, Ben with the mesh that there is, and Cleo with both."""
    with new(tmp_path / "people.gallery") as opened:
        ada, ben, cleo = (extract_face(face(name)) for name in ("Ada", "Ben", "Cleo"))
        opened.enroll_faces("Ada", [bare(ada)])
        opened.enroll_faces("Ben", [ben])
        opened.enroll_faces("Cleo", [cleo, bare(extract_face(face("Cleo", 1)))])
        yield opened


def bare(extracted):
    return extracted._replace(aligned=AlignedFace(extracted.image))


@pytest.mark.slow
def test_an_answer_says_whether_the_face_has_a_mesh(photos_extra, gallery):
    photo = png_of(compose(seat(1)[0]).photo)
    crop = extract_face(face("Ben", 1))
    assert gallery.identify(photo).with_mesh
    assert gallery.identify(face("Ada", 1)).with_mesh
    assert gallery.explain(face("Ada", 1)).with_mesh
    assert not gallery.identify_face(bare(crop)).with_mesh
    assert not gallery.explain_face(bare(crop)).with_mesh


@pytest.mark.slow
def test_two_faces_are_compared_in_the_common_shape_if_all_their_photos_have_a_mesh(photos_extra, gallery):
    crop = extract_face(face("Ben", 1))
    named = {name: gallery.verify_faces(crop, person=name).with_mesh for name in ("Ada", "Ben", "Cleo")}
    assert named == {"Ada": False, "Ben": True, "Cleo": False}
    assert not gallery.verify_faces(bare(crop), person="Ben").with_mesh
    assert gallery.verify(face("Ben"), face("Ben", 1)).with_mesh
    assert not gallery.verify_faces(crop, bare(crop)).with_mesh
    assert not gallery.verify_faces(bare(crop), crop).with_mesh


@pytest.mark.slow
def test_without_the_extra_no_answer_has_a_mesh(no_extra, gallery):
    assert not gallery.identify(face("Ben", 1)).with_mesh
    assert not gallery.explain(face("Ben", 1)).with_mesh
    assert not gallery.verify(face("Ben", 1), person="Ben").with_mesh
    assert not gallery.verify(face("Ben"), face("Ben", 1)).with_mesh
