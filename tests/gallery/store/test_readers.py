"""Many people read at a time, by several readers."""

from __future__ import annotations

import pytest

from lightproof.errors import BadGallery, UserError
from lightproof.gallery.store import NewPhoto, Store


@pytest.fixture
def crowded(store_place, monkeypatch):
    """Twenty people of two photos each, and readers who are worth it for three of them."""
    monkeypatch.setattr("lightproof.gallery.store.PEOPLE_PER_READER", 3)
    photos = {f"person {i:02d}": [photo(f"{i} {light}") for light in "ab"] for i in range(20)}
    with Store.open(store_place) as store:
        with store.writing() as change:
            change.add_all(photos)
        yield store


def photo(key: str) -> NewPhoto:
    return NewPhoto(f"hash-{key}", "robust", f"template-{key}".encode())


def test_many_people_are_read_side_by_side_and_none_is_missed_or_told_twice(crowded):
    ids = [person.id for person in crowded.people()]
    for count in (0, 1, 5, 7, 20):
        some = ids[:count]
        with crowded.reading() as view:
            alone = view.comparison_data(some)
        assert len(alone) == count
        found = crowded.comparison_data({*some, 10**6})
        assert sorted(found, key=lambda one: one[0].name) == alone


def test_readers_who_saw_different_states_are_not_put_together(crowded, monkeypatch):
    ids = [person.id for person in crowded.people()]
    read, asked = crowded._read_compared, []

    def read_with_a_change_after_the_first(numbers):
        asked.append(numbers)
        found = read(numbers)
        if len(asked) == 1:
            with crowded.writing() as change:
                change.forget("person 00")
        return found

    monkeypatch.setattr("lightproof.gallery.store.by_readers", lambda do, things: [do(thing) for thing in things])
    monkeypatch.setattr(crowded, "_read_compared", read_with_a_change_after_the_first)
    found = {person.name for person, _, _ in crowded.comparison_data(ids)}
    several = crowded._database.n_readers > 1
    # One reader alone has read everybody before anybody was forgotten.
    assert ("person 00" in found) != several
    assert len(found) == len(ids) - several
    assert len(asked) == (crowded._database.n_readers + 1 if several else 1)


def test_a_mistake_of_one_reader_is_told(crowded, monkeypatch):
    ids = [person.id for person in crowded.people()]
    read = crowded._read_compared

    def stumble(numbers):
        if ids[-1] in numbers:
            raise BadGallery("here", "a damaged row")
        return read(numbers)

    monkeypatch.setattr(crowded, "_read_compared", stumble)
    with pytest.raises(BadGallery, match="a damaged row"):
        crowded.comparison_data(ids)


def test_a_closed_store_says_so_to_all_who_read(crowded):
    ids = [person.id for person in crowded.people()]
    crowded.close()
    with pytest.raises(UserError, match=r"must be open to be used; got a gallery that was closed\.$"):
        crowded.comparison_data([*ids, *ids])


def test_who_is_asked_for_twice_is_told_once(crowded):
    ids = [person.id for person in crowded.people()]
    assert all(len(crowded.comparison_data([one, *ids])) == len(ids) for one in ids)
