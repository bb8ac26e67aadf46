"""A gallery that is made and filled at once, and looking without making."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import inspect

from lightproof.errors import BadGallery, CannotWrite
from lightproof.gallery.store import NewPhoto, Store, _database_at, sqlite

ADA = NewPhoto("a", "p", b"x" * 9000)


def is_there(place: str) -> bool:
    """Whether a file is there, or any table, as somebody else sees it."""
    if "://" not in place:
        return Path(place).exists()
    database = _database_at(place, 30)
    with database.engine.connect() as connection:
        found = inspect(connection).get_table_names()
    database.close()
    return found != []


def fill(place: str, problem: BaseException | None = None) -> None:
    with Store.making(place) as change:
        change.add_photos("Ada", [ADA])
        if problem is not None:
            raise problem


def test_what_is_made_and_filled_in_one_change_is_a_gallery(store_place):
    fill(store_place)
    with Store.open(store_place, create=False) as store:
        assert store.counts() == (1, 1, 0)
        assert store.revision() == 1


@pytest.mark.parametrize("problem", [BadGallery("x", "y"), KeyboardInterrupt()])
def test_where_the_filling_fails_nothing_is_made(store_place, problem):
    with pytest.raises(type(problem)):
        fill(store_place, problem)
    assert not is_there(store_place)
    fill(store_place)
    with Store.open(store_place, create=False) as store:
        assert store.counts().people == 1


def test_where_the_filling_of_a_gallery_that_is_there_fails_it_stays_as_it_was(store_place):
    with Store.open(store_place) as store, store.writing() as change:
        change.add_photos("Bob", [NewPhoto("b", "p", b"y")])
    with pytest.raises(KeyboardInterrupt):
        fill(store_place, KeyboardInterrupt())
    with Store.open(store_place, create=False) as store:
        assert [person.name for person in store.people()] == ["Bob"]


@pytest.mark.parametrize("make", [fill, lambda place: Store.open(place)])
def test_a_disk_without_room_is_left_as_it_was(tmp_path, monkeypatch, make):
    monkeypatch.setattr(sqlite, "PRAGMAS", [*sqlite.PRAGMAS, "max_page_count=3"])
    with pytest.raises(CannotWrite, match="got: the disk is full"):
        make(str(tmp_path / "a.gallery"))
    assert os.listdir(tmp_path) == []
    (tmp_path / "empty").touch()
    with pytest.raises(CannotWrite, match="got: the disk is full"):
        make(str(tmp_path / "empty"))
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"empty": 0}


def test_a_file_that_somebody_else_puts_there_meanwhile_stays(tmp_path):
    file = tmp_path / "a.gallery"

    def fails():
        with Store.making(file) as change:
            change.add_photos("Ada", [ADA])
            file.unlink()
            file.write_bytes(b"mine")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert file.read_bytes() == b"mine"


def test_a_place_where_nothing_can_be_made_is_told(tmp_path):
    with pytest.raises(CannotWrite, match="got: no such folder"):
        fill(str(tmp_path / "nowhere" / "a.gallery"))
    (tmp_path / "photo.png").write_bytes(b"mine")
    with pytest.raises(BadGallery, match="got a file of another kind"):
        fill(str(tmp_path / "photo.png"))
    assert (tmp_path / "photo.png").read_bytes() == b"mine"


def test_to_look_whether_a_gallery_is_there_makes_none(store_place):
    assert not Store.exists(store_place)
    assert not is_there(store_place)
    Store.open(store_place).close()
    assert Store.exists(store_place)


def test_an_empty_file_is_no_gallery_and_stays_empty(tmp_path):
    (tmp_path / "a.gallery").touch()
    assert not Store.exists(tmp_path / "a.gallery")
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"a.gallery": 0}
