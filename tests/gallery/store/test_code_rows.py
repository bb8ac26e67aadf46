"""Codes beside the photos, people drawn by lot, and who is gone."""

from __future__ import annotations

import pytest

from lightproof.core.labels import sampling_key
from lightproof.gallery.store import NewPhoto, Store

NAMES = ["Ada", "Ben", "Cleo", "Dan"]


@pytest.fixture
def store(store_place):
    with Store.open(store_place) as store:
        with store.writing() as change:
            change.add_all({name: [photo(name)] for name in NAMES})
            change.add_photos("Ada", [photo("Ada too")])
        yield store


def photo(name: str) -> NewPhoto:
    return NewPhoto(name, "p", b"template", code=name.encode())


def codes_of(store: Store, since: int = -1, numbers: range | None = None) -> dict[bytes, int]:
    with store.reading() as view:
        return {
            code: person
            for people, codes in view.codes(since, numbers)
            for person, code in zip(people, codes, strict=True)
        }


def numbers_of(store: Store) -> dict[str, int]:
    with store.reading() as view:
        return view.ids_of(NAMES)


def test_every_photo_has_its_code(store):
    ids = numbers_of(store)
    expected = {name.encode(): ids[name] for name in NAMES} | {b"Ada too": ids["Ada"]}
    assert codes_of(store) == expected
    assert [kept.code for _, photos, _ in store.templates() for kept in photos] == [
        *(b"Ada", b"Ada too"), *(name.encode() for name in NAMES[1:])
    ]  # fmt: skip


def test_codes_are_read_of_those_who_changed_and_of_some_numbers(store):
    since = store.revision()
    with store.writing() as change:
        change.add_photos("Ben", [photo("Ben too")])
        change.rename("Cleo", "Cleopatra")
    assert codes_of(store, since).keys() == {b"Ben", b"Ben too", b"Cleo"}
    first, *_, last = sorted(numbers_of(store).values())
    assert codes_of(store, numbers=range(first, last)).keys() == codes_of(store).keys() - {b"Dan"}


def test_a_code_goes_with_its_photo_and_who_followed_hears_of_it(store):
    since, ids = store.revision(), numbers_of(store)
    with store.writing() as change:
        change.remove_photos(["Ada too", "Ben"])
        change.forget("Dan")
    assert codes_of(store).keys() == {b"Ada", b"Cleo"}
    with store.reading() as view:
        changed, gone = view.changed(since)
        assert changed == [ids["Ada"]]
        assert sorted(gone) == sorted([ids["Ben"], ids["Dan"]])
        assert view.changed(store.revision()) == ([], [])


def test_new_templates_bring_new_codes(store):
    with store.writing() as change:
        change.replace_templates("Ben", [NewPhoto("Ben", "q", b"other", code=b"new")])
        change.replace_templates("Dan", [NewPhoto("Dan", "q", b"other")])
    assert codes_of(store).keys() == {b"Ada", b"Ada too", b"Cleo", b"new"}


def test_lots_are_drawn_by_the_name_alone(store):
    order = sorted(NAMES, key=sampling_key)
    with store.writing() as change:
        change.add_person("without a photo")
    with store.reading() as view:
        names = view.names_of(view.reference_sample(3))
        assert [names[number] for number in view.reference_sample(3)] == order[:3]
    with store.writing() as change:
        change.rename(order[0], "somebody")
    again = sorted([*order[1:], "somebody"], key=sampling_key)
    with store.reading() as view:
        names = view.names_of(view.reference_sample(10))
        assert [names[number] for number in view.reference_sample(10)] == again


def test_whether_there_are_many_is_told_without_counting(store):
    with store.reading() as view:
        assert view.is_larger(3)
        assert not view.is_larger(4)
        assert view.largest_id() == max(numbers_of(store).values())


def test_people_are_read_by_their_numbers_in_the_order_of_their_names(store):
    ids = numbers_of(store)
    with store.reading() as view:
        found = list(view.templates_of_people([ids["Dan"], ids["Ada"], 10**9]))
    assert [(person.name, len(photos)) for person, photos, _ in found] == [("Ada", 2), ("Dan", 1)]
