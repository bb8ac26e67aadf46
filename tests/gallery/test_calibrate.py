"""How well strangers do here: found out, written down, used."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.core.labels import sampling_key
from lightproof.errors import BadGallery, BadParameter
from lightproof.gallery import FAR, Calibration, Gallery
from lightproof.gallery.calibrate import N_RELIT_COPIES, calibrated, impostor_leads, relit_copies
from lightproof.imaging.detection import AlignedFace, align_crop
from lightproof.matching.calibration import ImpostorModel, normalized_scores, score_of
from lightproof.matching.light_penalty import mutual_agreement
from tests.conftest import ROOT
from tests.gallery.people import NAMES, enroll, face, new, place_of


@pytest.fixture
def gallery(store_place):
    with new(store_place) as opened:
        enroll(opened, NAMES)
        yield opened


def alike(gallery):
    return mutual_agreement(gallery.everybody())


@pytest.mark.slow
def test_without_calibration_all_is_as_usual(gallery):
    assert gallery.calibration() == Calibration(FAR) == Calibration(0.001)
    answer = gallery.identify(face("Ada", 1))
    assert (answer.far, answer.calibrated) == (0.001, False)
    second = answer.candidates[1]
    assert second.one_in == pytest.approx(1 / ImpostorModel.default(6, alike(gallery)).chance(np.asarray(second.lead)))


def test_of_a_calibration_by_another_version_only_the_rate_stays(gallery):
    with gallery.store.writing() as change:
        change.set_fact("calibration", json.dumps({"far": 0.05, "shift": 0.4, "stretch": 1.2, "people": 6}))
    assert gallery.calibration() == Calibration(0.05)


def test_the_rate_asked_for_is_kept_and_decides(gallery):
    found = gallery.calibrate(0.02)
    assert (found.far, found.people, found.strangers, found.relit) == (0.02, 6, 6, 0)
    assert gallery.calibration() == found
    answer = gallery.identify(face("Ada", 1))
    assert (answer.far, answer.calibrated) == (0.02, True)
    assert answer.threshold == score_of(np.asarray(0.02))
    second = answer.candidates[1]
    assert second.one_in == pytest.approx(1 / found.impostor_model(6, alike(gallery)).chance(np.asarray(second.lead)))
    assert gallery.identify(face("Ada", 1), far=0.5).far == 0.5
    assert gallery.verify(face("Ada"), face("Ada", 1)).far == 0.02


@pytest.mark.slow
def test_the_next_process_uses_it(tmp_path):
    with new(tmp_path / "people.gallery") as gallery:
        enroll(gallery, NAMES[:3])
        found = gallery.calibrate(0.02)
    code = (
        "import sys; from lightproof.gallery import Gallery; print(Gallery.open(sys.argv[1]).calibration().written())"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "people.gallery"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert Calibration(**json.loads(said.stdout)) == found


def test_everybody_is_a_stranger_to_all_others(gallery):
    people, matcher = gallery.everybody(), gallery.matcher
    best = list(impostor_leads(gallery.shortlist, matcher, gallery.store))
    assert [len(own) for own in best] == [1] * 6
    for name, (own,) in zip(NAMES, best, strict=True):
        # The same as asking a gallery that does not know the person about the enrolled photo.
        scores = matcher.compare([align_crop(face(name))], people.removing(name))
        assert own == pytest.approx(normalized_scores(scores).max(), abs=0.5)
        assert own < ImpostorModel.default(5).lead_at(0.001)
    expected = calibrated(best, 0.01, 5, alike(gallery))
    assert gallery.calibrate(0.01) == expected


@pytest.mark.slow
def test_kept_faces_are_put_under_other_lights(store_place):
    with new(store_place, keep_photos=True) as gallery:
        enroll(gallery, NAMES)
        found = gallery.calibrate()
        assert (found.strangers, found.relit) == (6, 6 * N_RELIT_COPIES)
        # The same photos, the same lights: the same answer.
        assert gallery.calibrate() == found
        for name in NAMES:
            assert gallery.identify(face(name, 1)).name == name


@pytest.mark.parametrize("count", [0, 1])
def test_where_nobody_can_be_a_stranger_only_the_rate_is_kept(store_place, count):
    with new(store_place) as gallery:
        enroll(gallery, NAMES[:count])
        assert gallery.calibrate(0.01) == Calibration(0.01)
        answer = gallery.identify(face("Ada", 1))
        assert (answer.far, answer.calibrated) == (0.01, False)


def test_two_people_are_enough(store_place):
    with new(store_place) as gallery:
        enroll(gallery, NAMES[:2])
        assert gallery.calibrate(0.01).strangers == 2
        assert [gallery.identify(face(who, 1)).name for who in (0, 1, 2, 3)] == ["Ada", "Ben", None, None]


def test_what_is_no_rate_is_refused_and_nothing_kept(gallery):
    with pytest.raises(BadParameter, match="`far` of calibrate must be a share from 1e-06 to below 1"):
        gallery.calibrate(0)
    assert gallery.calibration() == Calibration(FAR)


def test_people_who_come_later_are_judged_by_what_was_found(gallery):
    found = gallery.calibrate(0.01)
    enroll(gallery, ["Ada"], lights=(2,))
    gallery.enroll("New", [face(8)])
    assert gallery.calibration() == found
    assert gallery.identify(face(8, 1)).name == "New"


@given(st.integers(1, 500), st.floats(-1, 1), st.integers(1, 500), st.floats(0, 1))
def test_what_was_found_shifts_what_is_usual(people, shift, now, agreed):
    usual = ImpostorModel.default(now, agreed)
    assert Calibration(0.01, shift, people).impostor_model(now, agreed) == usual.shifted(shift)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=30), st.integers(1, 50), st.floats(0, 1))
def test_what_was_found_among_as_many_people_is_what_was_seen(best, n_people, agreed):
    seen = ImpostorModel.default(n_people, agreed).estimated_shift(np.array(best), len(best))
    found = calibrated([np.array([lead]) for lead in best], 0.01, n_people, agreed)
    assert found == Calibration(0.01, seen, n_people + 1, len(best), 0)


def test_what_was_written_is_read():
    found = Calibration(0.01, 0.1, 30, 30, 120)
    assert Calibration.read(found.written(), FAR, "here") == found
    assert Calibration.read(None, 0.25, "here") == Calibration(0.25)


def test_relit_copies_are_other_pictures_of_the_same_face():
    one = AlignedFace.found(face("Ada"), face("Ben"))
    copies = relit_copies(one, np.random.default_rng(0))
    again = relit_copies(one, np.random.default_rng(0))
    for shape in ("crop", "eyes", "mesh"):
        pictures = [copy.picture(shape) for copy in copies]
        assert {(picture.shape, picture.dtype.name) for picture in pictures} == {((96, 84), "uint8")}
        assert len({picture.tobytes() for picture in pictures}) == N_RELIT_COPIES
        np.testing.assert_array_equal(pictures, [copy.picture(shape) for copy in again])
    assert not any(copy.has_mesh for copy in relit_copies(AlignedFace(face("Ada")), np.random.default_rng(0)))


def test_of_very_many_people_some_are_drawn_by_lot(gallery):
    few = list(impostor_leads(gallery.shortlist, gallery.matcher, gallery.store, limit=2))
    everybody = list(impostor_leads(gallery.shortlist, gallery.matcher, gallery.store))
    drawn = sorted(NAMES.index(name) for name in sorted(NAMES, key=sampling_key)[:2])
    assert [own.tolist() for own in few] == [everybody[i].tolist() for i in drawn]


@pytest.mark.slow
def test_a_kept_face_is_compared_as_any_photo_with_its_person_left_out(store_place):
    with new(store_place, keep_photos=True) as gallery:
        enroll(gallery, NAMES)
        people, matcher = gallery.everybody(), gallery.matcher
        found = list(impostor_leads(gallery.shortlist, matcher, gallery.store))
        for place, ((own, *relit), name) in enumerate(zip(found, NAMES, strict=True)):
            others = matcher.compare([align_crop(face(name))], people).without(place)
            # Not equal: what is kept is an upright crop of another size.
            assert own == pytest.approx(normalized_scores(others).max(), abs=0.5)
            assert len(relit) == N_RELIT_COPIES


def test_a_gallery_opened_before_sees_the_new_calibration(gallery):
    with Gallery.open(place_of(gallery)) as other:
        other.calibrate(0.05)
    assert gallery.identify(face("Ada", 1)).far == 0.05


def test_what_was_learned_from_somebody_is_forgotten_with_them(gallery):
    gallery.calibrate(0.05)
    assert gallery.calibration().strangers == len(NAMES)
    gallery.forget("Ada", "Ben")
    assert gallery.calibration() == Calibration(0.05)


def test_a_gallery_rebuilt_meanwhile_takes_no_calibration_of_before(store_place):
    with new(store_place, keep_photos=True) as gallery:
        enroll(gallery, NAMES)
        Gallery.rebuild(place_of(gallery), "robust")
        with pytest.raises(BadGallery, match="other parameters"):
            gallery.calibrate()
