"""The way from an older schema to the present one."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from lightproof.core.labels import sampling_key
from lightproof.errors import BadGallery
from lightproof.gallery.store import NewPhoto, Store, schema, sqlite


@pytest.fixture
def old(store_place) -> str:
    """A gallery of the present schema, before the schema of the future is known."""
    with Store.open(store_place) as store, store.writing() as change:
        change.add_photos("Ada", [NewPhoto("a", "p", b"template")])
    return store_place


@pytest.fixture
def future(old, monkeypatch):
    """Two steps ahead: a column, then a value in it."""
    calls = []

    def add_column(connection):
        calls.append(schema.SCHEMA - 1)
        connection.execute(text("ALTER TABLE people ADD COLUMN shoe_size INTEGER"))

    def fill_column(connection):
        calls.append(schema.SCHEMA)
        connection.execute(text("UPDATE people SET shoe_size = 42"))

    monkeypatch.setattr(schema, "SCHEMA", schema.SCHEMA + 2)
    monkeypatch.setitem(schema.MIGRATIONS, schema.SCHEMA - 1, add_column)
    monkeypatch.setitem(schema.MIGRATIONS, schema.SCHEMA, fill_column)
    return calls


def shoe_sizes(store: Store) -> list[int]:
    with store._database.reading() as connection:
        return list(connection.execute(text("SELECT shoe_size FROM people")).scalars())


def test_every_schema_after_the_first_has_its_step():
    assert schema.MIGRATIONS.keys() == set(range(2, schema.SCHEMA + 1))


def test_an_older_gallery_is_led_step_by_step_to_the_present_and_only_once(old, future):
    steps = [schema.SCHEMA - 1, schema.SCHEMA]
    for _ in range(2):
        with Store.open(old, create=False) as store:
            assert future == steps
            assert store.facts()["schema"] == str(schema.SCHEMA)
            assert shoe_sizes(store) == [42]
            assert [photo.hash for photo in store.photos("Ada")] == ["a"]


def test_a_step_that_fails_leaves_the_older_gallery_as_it_was(old, future, monkeypatch):
    number = schema.SCHEMA

    def fails(connection):
        connection.execute(text("UPDATE people SET shoe_size = 43"))
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setitem(schema.MIGRATIONS, number, fails)
        with pytest.raises(KeyboardInterrupt):
            Store.open(old)
    with monkeypatch.context() as before:
        before.setattr(schema, "SCHEMA", number - 2)
        with Store.open(old) as store:
            assert store.facts()["schema"] == str(number - 2)
    with Store.open(old) as store:
        assert shoe_sizes(store) == [42]


def test_a_gallery_of_the_future_is_told_and_left_alone(old, future, monkeypatch):
    Store.open(old).close()
    monkeypatch.undo()
    said = rf"got one of a newer version \(schema {schema.SCHEMA + 2}; this version knows 1 to {schema.SCHEMA}\)\.$"
    with pytest.raises(BadGallery, match=said):
        Store.open(old)


def test_an_older_gallery_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    file = tmp_path / "a.gallery"
    Store.open(file).close()
    monkeypatch.setattr(schema, "SCHEMA", schema.SCHEMA + 1)
    monkeypatch.setattr(sqlite.os, "access", lambda *_: False)
    with pytest.raises(BadGallery, match=r"got one of an older version \(schema \d\) that cannot be written\.$"):
        Store.open(file)


def test_a_gallery_of_the_first_schema_gets_lots_and_room_for_codes(old):
    with Store.open(old) as store, store.writing() as change:
        change.add_photos("Ben", [NewPhoto("b", "p", b"template", code=b"code")])
        for step in (
            "DROP TABLE codes",
            "DROP TABLE gone",
            "DROP INDEX people_by_lot",
            "DROP INDEX people_by_revision",
            "ALTER TABLE people DROP COLUMN lot",
            "UPDATE facts SET value = '1' WHERE key = 'schema'",
        ):
            change._connection.execute(text(step))
    with Store.open(old, create=False) as store:
        assert store.facts()["schema"] == str(schema.SCHEMA)
        with store.reading() as view:
            drawn = view.names_of(view.reference_sample(10))
            assert [drawn[number] for number in view.reference_sample(10)] == sorted(["Ada", "Ben"], key=sampling_key)
            assert list(view.codes()) == []
        with store.writing() as change:
            change.add_photos("Cleo", [NewPhoto("c", "p", b"template", code=b"code")])
            change.forget("Ada")
        with store.reading() as view:
            assert [codes for _, codes in view.codes()] == [[b"code"]]
            changed, gone = view.changed(store.revision() - 1)
            assert (len(changed), len(gone)) == (1, 1)
