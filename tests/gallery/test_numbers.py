"""People by their numbers, which stay whatever they are called; and people of whom there is no photo yet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.errors import NameTaken, UnknownPerson, UnknownPhoto
from lightproof.gallery import Gallery, extract_face
from tests.gallery.people import NAMES, answers, enroll, face, new


@pytest.fixture
def gallery(store_place):
    with new(store_place) as opened:
        enroll(opened, NAMES[:4], lights=(0, 1))
        yield opened


def number_of(gallery: Gallery, name: str) -> int:
    return gallery.store.person(name).id


def test_a_number_means_the_same_person_under_another_name(gallery):
    ada = number_of(gallery, "Ada")
    gallery.rename(ada, "Ada Lovelace")
    gallery.enroll("Ada", face("Eve"))
    assert gallery.enroll_faces(ada, [extract_face(face("Ada", 2))]) == 1
    assert gallery.store.person(ada).name == "Ada Lovelace"
    assert gallery.store.person(ada).photos == 3
    assert gallery.forget(ada) == 3
    assert [person.name for person in gallery.people()] == ["Ada", "Ben", "Cleo", "Dan"]
    with pytest.raises(
        UnknownPerson, match=rf"^The number of a person must be that of somebody enrolled; got {ada}\.$"
    ):
        gallery.forget(ada)


@pytest.mark.parametrize("number", [0, -1, 10**6, 2**63, 10**30])
def test_a_number_that_nobody_has_is_refused(gallery, number):
    for act in (gallery.forget, gallery.store.person, gallery.store.photos):
        with pytest.raises(UnknownPerson, match=rf"got {number}\.$"):
            act(number)
    with pytest.raises(UnknownPerson):
        gallery.enroll_faces(number, [extract_face(face("Eve"))])
    assert len(gallery.people()) == 4


@pytest.mark.slow
def test_a_photo_that_is_removed_might_never_have_been_there(gallery, tmp_path):
    before = answers(gallery)
    gallery.enroll("Ada", [face("Ada", 3), face("Ada", 4)])
    photos = {photo.hash: photo.id for photo in gallery.store.photos("Ada")}
    extra = [photos[extract_face(face("Ada", light)).hash] for light in (3, 4)]
    gallery.calibrate(0.01)
    assert gallery.remove_photos("Ada", extra).photos == 2
    assert gallery.calibration().strangers == 0  # what was found out with their help is gone
    gallery.calibrate()
    gallery.forget("Dan")
    enroll(gallery, "Dan", lights=(0, 1))
    assert answers(gallery) == before


def test_photos_are_removed_all_or_none_and_only_from_whose_they_are(gallery):
    ada, ben = (gallery.store.photos(name) for name in ("Ada", "Ben"))
    with pytest.raises(
        UnknownPhoto, match=rf"^The number of a photo must be that of a photo of 'Ada'; got {ben[0].id}\.$"
    ):
        gallery.remove_photos("Ada", [ada[0].id, ben[0].id])
    assert gallery.store.photos("Ada") == ada
    removed = gallery.remove_photos(number_of(gallery, "Ada"), [photo.id for photo in ada])
    assert (removed.photos, removed.people) == (2, ["Ada"])


@pytest.mark.slow
def test_somebody_without_a_photo_is_there_and_is_never_found(gallery, tmp_path):
    before = answers(gallery)
    zoe = gallery.add_person("Zoe")
    assert zoe.photos == 0
    assert answers(gallery) == before
    assert "Zoe" not in gallery.everybody().names
    gallery.calibrate()
    with pytest.raises(UnknownPerson):
        gallery.verify(face("Eve"), person="Zoe")
    gallery.export(tmp_path / "copy.gallery")
    with Gallery.open(tmp_path / "copy.gallery", create=False) as copy, new(tmp_path / "other.gallery") as other:
        assert copy.store.person("Zoe").photos == 0
        other.import_(tmp_path / "copy.gallery")
        assert other.store.person("Zoe").photos == 0
    assert gallery.enroll("Zoe", face("Eve")) == 1
    assert gallery.identify(face("Eve", 1)).name == "Zoe"
    assert gallery.forget("Zoe") == 1


def test_somebody_new_comes_with_all_photos_or_not_at_all(gallery):
    made = gallery.add_person("Eve", [extract_face(face("Eve")), extract_face(face("Eve", 1))])
    assert made.photos == 2
    assert gallery.identify(face("Eve", 2)).name == "Eve"
    with pytest.raises(NameTaken, match=r"^The new name must be one that nobody has; got 'Eve', who is enrolled\.$"):
        gallery.add_person("Eve", [extract_face(face("Finn"))])
    assert gallery.store.person("Eve").photos == 2


@pytest.mark.slow
@given(st.lists(st.text("abAB%_é", min_size=1, max_size=4), max_size=12, unique=True), st.text("aB%_é", max_size=2))
def test_pages_hold_everybody_once_and_in_order(tmp_path_factory, names, part):
    with new(tmp_path_factory.mktemp("pages") / "people.gallery") as gallery:
        for name in names:
            gallery.add_person(name)
        wanted = sorted(name for name in names if _lower(part) in _lower(name))
        for most in (1, 3, 100):
            found, after = [], None
            while True:
                with gallery.store.reading() as view:
                    some, total = view.some_people(after, most, part)
                assert total == len(wanted)
                if not some:
                    break
                found += [person.name for person in some]
                after = found[-1]
            assert found == wanted


def _lower(text: str) -> str:
    """As SQLite does it: ASCII only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)
