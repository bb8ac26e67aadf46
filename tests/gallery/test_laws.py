"""What holds of a gallery, on every database."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lightproof.errors import (
    BadGallery,
    BadImage,
    BadLabels,
    BadParameter,
    DuplicatePhoto,
    NameTaken,
    UnknownPerson,
    UserError,
)
from lightproof.gallery import Gallery
from lightproof.gallery.store import Refusal, Store
from lightproof.matching.calibration import score_of
from tests.gallery.people import NAMES, STRANGERS, answers, enroll, face, new, png, rendered
from tests.gallery.store.test_making import is_there

pytestmark = pytest.mark.slow


@pytest.fixture
def gallery(store_place):
    with new(store_place) as opened:
        yield opened


@pytest.fixture
def full(gallery):
    enroll(gallery, NAMES)
    return gallery


def names(gallery):
    return [(person.name, person.photos) for person in gallery.people()]


def test_a_gallery_is_made_once_and_opened_again(store_place):
    with new(store_place) as gallery:
        enroll(gallery, ["Ben", "Ada"])
        said = answers(gallery)
    with Gallery.open(store_place, create=False) as again:
        assert again.preset == "fast"
        assert not again.keeps_photos
        assert names(again) == [("Ada", 1), ("Ben", 1)]
        assert answers(again) == said


def test_a_gallery_is_not_opened_as_what_it_is_not(store_place):
    new(store_place).close()
    with pytest.raises(BadGallery, match=r"got one made with 'fast', not 'robust' \(see: lightproof rebuild\)"):
        Gallery.open(store_place, preset="robust")
    with pytest.raises(BadGallery, match="got one that does not keep photos"):
        Gallery.open(store_place, keep_photos=True)
    with pytest.raises(BadParameter, match="`preset` of Gallery must be one of 'robust', 'fast'; got 'authors'"):
        Gallery.open(store_place, preset="authors")
    Gallery.open(store_place, preset="fast", keep_photos=False).close()


def test_no_gallery_is_made_where_none_was_asked_for(tmp_path):
    with pytest.raises(BadGallery, match=r"nowhere\.gallery must be a gallery written by lightproof; got no such file"):
        Gallery.open(tmp_path / "nowhere.gallery", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_preset_that_does_not_exist_leaves_no_file(tmp_path):
    with pytest.raises(BadParameter, match="got 'nonsense'"):
        Gallery.open(tmp_path / "people.gallery", preset="nonsense")
    assert list(tmp_path.iterdir()) == []


def test_one_bad_photo_and_nothing_is_enrolled(gallery, tmp_path):
    enroll(gallery, "Ada")
    said = answers(gallery)
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n")
    blank, tiny = np.full((96, 84), 9, np.uint8), np.eye(8, dtype=np.uint8)
    for bad, match in [(broken, "broken.png must be"), (blank, "photo 2 must be a picture of something; got one even")]:
        with pytest.raises(BadImage, match=match):
            gallery.enroll("Ben", [face("Ben"), bad], cropped=True)
    with pytest.raises(BadImage, match="photo 1 must be a face of 16 x 16 pixels or more; got 8 x 8"):
        gallery.enroll("Ben", [tiny, face("Ben")])
    with pytest.raises(BadImage, match=r"missing\.png must be"):
        gallery.enroll("Ada", [face("Ada", 1), tmp_path / "missing.png"], cropped=True)
    assert names(gallery) == [("Ada", 1)]
    assert answers(gallery) == said


def test_nobody_is_enrolled_without_a_photo_or_under_a_bad_name(gallery):
    with pytest.raises(BadLabels, match="Person 'Ada' must be enrolled with at least one photo; got none"):
        gallery.enroll("Ada", [])
    with pytest.raises(BadLabels, match="The name of a person must be a str"):
        gallery.enroll(" Ada", [face("Ada")])
    assert gallery.people() == []


def test_one_photo_needs_no_list_and_a_stack_is_a_list(gallery):
    assert gallery.enroll("Ada", face("Ada")) == 1
    assert gallery.enroll("Ben", png("Ben"), cropped=True) == 1
    assert gallery.enroll("Cleo", rendered()[2, :2]) == 2
    assert names(gallery) == [("Ada", 1), ("Ben", 1), ("Cleo", 2)]


def test_the_same_photo_is_enrolled_once(gallery):
    assert gallery.enroll("Ada", [face("Ada"), face("Ada")]) == 1
    said, revision = answers(gallery), gallery.store.revision()
    assert gallery.enroll("Ada", [face("Ada")]) == 0
    assert names(gallery) == [("Ada", 1)]
    assert gallery.store.revision() == revision
    assert gallery.enroll("Ada", [face("Ada"), face("Ada", 1)]) == 1
    assert names(gallery) == [("Ada", 2)]
    assert answers(gallery) != said


def test_the_photo_of_another_name_is_refused_with_all_that_came_beside_it(full):
    with pytest.raises(
        DuplicatePhoto, match="Photo photo 2 must be new, or of 'Ben'; got one that is enrolled as 'Ada'"
    ):
        full.enroll("Ben", [face("Ben", 1), face("Ada")])
    assert names(full) == [(name, 1) for name in NAMES]


def test_the_order_of_enrolling_does_not_matter_to_the_last_bit(tmp_path, store_place):
    expected = None
    for number, order in enumerate(itertools.permutations(range(3))):
        with new(tmp_path / f"{number}.gallery" if number else store_place) as gallery:
            if number == 1:
                gallery.enroll("Ada", [face("Ada", light) for light in order])
                gallery.enroll("Ben", [face("Ben")])
            else:
                for light in order:
                    gallery.enroll("Ada", [face("Ada", light)])
                    gallery.enroll("Ben", [face("Ben")])
            said = answers(gallery)
        expected = expected or said
        assert said == expected


def test_the_right_person_is_named_and_strangers_are_unknown(full):
    for who, light in itertools.product(range(len(NAMES)), (1, 2)):
        answer = full.identify(rendered()[who, light])
        assert answer.name == NAMES[who]
        assert answer.known
        assert answer.sentence.startswith(f"{NAMES[who]}: about 1 in ")
    for who, light in itertools.product(STRANGERS, range(5)):
        answer = full.identify(rendered()[who, light])
        assert answer.name is None
        assert answer.sentence.startswith(f"Unknown: the nearest is {answer.candidates[0].name}, but about 1 in ")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_gallery_of_few_people_still_says_unknown(gallery, count):
    enroll(gallery, NAMES[:count])
    for who, light in itertools.product(range(count, 10), (0, 1, 3)):
        assert gallery.identify(rendered()[who, light]).name is None
    for name in NAMES[:count]:
        assert gallery.identify(face(name, 1)).name == name
        assert gallery.identify(face(name, 2)).name == name


def test_nobody_enrolled_is_an_answer(gallery):
    answer = gallery.identify(face("Ada"))
    assert (answer.name, answer.score, answer.one_in, answer.candidates) == (None, 0.0, 1.0, ())
    assert answer.sentence == "Unknown: nobody is enrolled."


def test_answers_are_consistent(full):
    for far in (0.5, 0.01, 0.001, 1e-6):
        for who, light in itertools.product(range(10), (0, 1, 4)):
            answer = full.identify(rendered()[who, light], top=10, far=far)
            assert answer.far == far
            assert answer.threshold == score_of(np.asarray(far))
            assert len(answer.candidates) == len(NAMES)
            best = answer.candidates[0]
            assert (answer.score, answer.one_in) == (best.score, best.one_in)
            assert answer.known == (answer.one_in * far >= 1)
            assert answer.name in (None, best.name)
            marks = [(one.lead, one.score, one.one_in) for one in answer.candidates]
            assert marks == sorted(marks, reverse=True)
            assert all(0 <= one.score <= 1 for one in answer.candidates)
            assert all(str(one.score)[0] != "-" for one in answer.candidates)
            assert all(one.one_in == pytest.approx(10 ** (6 * one.score)) for one in answer.candidates)
            # One and the same decision, whether chances or scores are compared.
            if abs(answer.score - answer.threshold) > 1e-9:
                assert answer.known == (answer.score > answer.threshold)


def test_no_more_candidates_are_named_than_asked_for(full):
    everybody = full.identify(face("Ada", 1), top=100).candidates
    for top in (1, 3):
        assert full.identify(face("Ada", 1), top=top).candidates == everybody[:top]
    for wrong in (0, 1.5, True, "5"):
        with pytest.raises(BadParameter, match="`top` of identify must be a whole number of at least 1"):
            full.identify(face("Ada"), top=wrong)
    with pytest.raises(BadParameter, match="`far` of identify must be a share"):
        full.identify(face("Ada"), far=0)


def test_files_bytes_and_arrays_are_the_same_face(full, tmp_path):
    (tmp_path / "ada.png").write_bytes(png("Ada", 1))
    expected = full.identify(face("Ada", 1))
    assert full.identify(png("Ada", 1), cropped=True).name == expected.name
    assert full.identify(tmp_path / "ada.png", cropped=True) == full.identify(str(tmp_path / "ada.png"), cropped=True)


def test_two_photos_are_verified_whoever_is_enrolled(gallery):
    before = gallery.verify(face("Ada"), face("Ada", 1))
    assert before.same
    assert before.sentence.startswith("The same person: about 1 in ")
    enroll(gallery, NAMES)
    assert gallery.verify(face("Ada"), face("Ada", 1)) == before
    apart = gallery.verify(face("Ada"), face("Ben", 1))
    assert not apart.same
    assert apart.sentence.startswith("Not known to be the same person: about 1 in ")
    assert apart.distance > before.distance
    assert apart.score < apart.threshold < before.score


def test_a_photo_is_verified_against_somebody_enrolled(full):
    right, wrong = full.verify(face("Ada", 1), person="Ada"), full.verify(face("Ada", 1), person="Ben")
    assert right.same
    assert not wrong.same
    candidates = {one.name: one for one in full.identify(face("Ada", 1), top=10).candidates}
    assert (right.lead, right.distance) == (candidates["Ada"].lead, candidates["Ada"].distance)
    # Who was named beforehand is not the best of six: as good a lead says more, and a bad one still says nothing.
    assert right.one_in >= candidates["Ada"].one_in
    assert wrong.one_in == pytest.approx(1, abs=0.2)
    assert full.verify(face("Ada", 1), person="Ada", far=0.5).threshold < right.threshold


def test_nobody_is_verified_as_somebody_else_however_lax_the_rate(full):
    for name in NAMES[1:]:
        assert not full.verify(face("Ada", 1), person=name, far=0.5).same


def test_verify_takes_another_photo_or_a_person_and_one_of_them(full):
    for other, person in [(None, None), (face("Ada"), "Ada")]:
        with pytest.raises(BadParameter, match="`other` of verify must be given unless `person` is"):
            full.verify(face("Ada"), other, person=person)
    with pytest.raises(UnknownPerson, match=r"The name must be .*Did you mean 'Ada'\?"):
        full.verify(face("Ada"), person="Adda")


def test_a_name_is_found_however_its_letters_are_composed(gallery):
    gallery.enroll("Zoe\u0308", [face("Ada")])
    gallery.enroll("Ben", [face("Ben")])
    assert gallery.verify(face("Ada", 1), person="Zoe\u0308") == gallery.verify(face("Ada", 1), person="Zo\u00eb")
    shown = gallery.explain(face("Ada", 1), "Zoe\u0308", "Ben")
    assert shown.person == "Zo\u00eb"


def test_a_renamed_person_answers_as_before(full):
    before = answers(full)
    full.rename("Ben", "Ben B.")
    assert [name for name, _ in names(full)] == ["Ada", "Ben B.", "Cleo", "Dan", "Eve", "Finn"]
    for old, now in zip(before, answers(full), strict=True):
        assert now.name == ("Ben B." if old.name == "Ben" else old.name)
        assert {one.name.removesuffix(" B."): vars(one) | {"name": ""} for one in now.candidates} == {
            one.name: vars(one) | {"name": ""} for one in old.candidates
        }


def test_a_name_that_is_taken_or_unknown_is_not_renamed(full):
    with pytest.raises(NameTaken, match="The new name must be one that nobody has; got 'Ada', who is enrolled"):
        full.rename("Ben", "Ada")
    with pytest.raises(UnknownPerson, match=r"got 'Bem'\. Did you mean 'Ben'\?"):
        full.rename("Bem", "Bob")
    assert [name for name, _ in names(full)] == NAMES


def test_a_gallery_that_forgot_answers_as_if_the_person_had_never_been_there(full, tmp_path):
    before = answers(full)
    full.enroll("Cleo", [face("Cleo", 1)])
    assert full.forget("Cleo") == 2
    with new(tmp_path / "never.gallery") as never:
        enroll(never, [name for name in NAMES if name != "Cleo"])
        assert answers(full) == answers(never)
    for old, now in zip(before, answers(full), strict=True):
        expected = {one.name: one.distance for one in old.candidates if one.name != "Cleo"}
        assert {one.name: one.distance for one in now.candidates} == pytest.approx(expected, abs=1e-6)
    with pytest.raises(UnknownPerson, match="got 'Cleo'"):
        full.forget("Cleo")


def test_a_name_of_which_only_refusals_are_kept_is_forgotten(full):
    with full.store.writing() as change:
        change.remember_refusals([Refusal("x", "Xaver", "Xaver/1.png", None, "cropped", "no picture")])
    assert full.forget("Xaver") == 0
    assert full.store.refusals() == {}
    assert names(full) == [(name, 1) for name in NAMES]
    with pytest.raises(UnknownPerson, match="got 'Xaver'"):
        full.forget("Ada", "Xaver")
    assert names(full) == [(name, 1) for name in NAMES]


def test_what_may_be_left_of_the_forgotten_is_said(full):
    full.forget("Ada")
    if "postgres" in full.place:
        assert full.leftover().startswith("The rows are gone, but PostgreSQL frees deleted rows without overwriting")
    else:
        assert full.leftover() is None


def test_to_look_whether_a_gallery_is_there_makes_none(store_place):
    assert not Gallery.exists(store_place)
    assert not is_there(store_place)
    Store.open(store_place).close()
    assert not Gallery.exists(store_place)
    with pytest.raises(BadGallery, match="got one that nobody has finished making"):
        Gallery.open(store_place, create=False)
    new(store_place).close()
    assert Gallery.exists(store_place)


def test_who_was_forgotten_can_be_enrolled_again(full):
    before = answers(full)
    full.forget("Ada")
    full.enroll("Ada", [face("Ada")])
    assert answers(full) == before


def test_two_gallery_objects_see_each_others_changes_at_once(store_place):
    with new(store_place) as one, Gallery.open(store_place) as two:
        assert two.identify(face("Ada", 1)).name is None
        enroll(one, ["Ada", "Ben"])
        assert two.identify(face("Ada", 1)).name == "Ada"
        two.rename("Ada", "Anna")
        assert one.identify(face("Ada", 1)).name == "Anna"
        two.enroll("Anna", [face("Ada", 3)])
        assert answers(one) == answers(two)
        one.forget("Anna")
        assert [one.name for one in two.identify(face("Ada", 1)).candidates] == ["Ben"]
        one.calibrate(0.01)
        assert two.identify(face("Ben", 1)).far == 0.01


def test_what_is_explained_adds_up_to_what_is_answered(full):
    best = full.identify(face("Ada", 1)).candidates[0]
    shown = full.explain(face("Ada", 1))
    assert shown.person == best.name == "Ada"
    assert shown.patches.sum() == pytest.approx(best.lead, rel=1e-4)
    with pytest.raises(UnknownPerson, match="got 'Nobody'"):
        full.explain(face("Ada", 1), against="Nobody")


def test_nobody_can_be_explained_where_nobody_is(gallery):
    with pytest.raises(UnknownPerson, match=r"The person must be .*\(there is nobody\); got None"):
        gallery.explain(face("Ada"))


def test_lights_and_advice_are_of_the_persons_own_photos(gallery):
    gallery.enroll("Ada", [face("Ada", 0), face("Ada", 3)])
    lights = sorted(light for light in gallery.lights("Ada") if light)
    assert len(lights) == 2
    assert abs(lights[0][0]) < 25 < lights[1][0]
    advice = gallery.advice("Ada")
    assert "front" in advice.has
    assert set(advice.has).isdisjoint(advice.lacks)
    with pytest.raises(UnknownPerson, match="got 'Bob'"):
        gallery.advice("Bob")


def test_a_closed_gallery_says_so(gallery):
    gallery.close()
    with pytest.raises(UserError, match="must be open to be used; got a gallery that was closed"):
        gallery.identify(face("Ada"))
