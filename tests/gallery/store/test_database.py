"""Where a gallery can be, and what is refused there."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from pathlib import Path

import pytest

from lightproof.errors import BadGallery, BadParameter, CannotWrite, MissingExtra, UserError
from lightproof.gallery.store import NewPhoto, Store
from lightproof.gallery.store.schema import APPLICATION, SCHEMA


@pytest.fixture
def gallery(tmp_path) -> Path:
    """A small gallery, closed."""
    file = tmp_path / "people.gallery"
    with Store.open(file) as store, store.writing() as change:
        change.add_all(
            {f"person {i}": [NewPhoto(f"hash {i} {k}", "p", bytes(999)) for k in range(3)] for i in range(9)}
        )
    return file


@pytest.mark.parametrize("form", [str, Path, lambda file: f"sqlite:///{file}"])
def test_a_file_is_named_by_its_path_or_by_a_url(gallery, form):
    with Store.open(form(gallery), create=False) as store:
        assert store.counts().people == 9
        assert store.place == str(gallery)


def test_a_relative_name_stays_the_same_file_wherever_one_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store.open("a.gallery") as store:
        (tmp_path / "below").mkdir()
        monkeypatch.chdir(tmp_path / "below")
        with store.writing() as change:
            change.add_person("Ada")
        assert store.place == "a.gallery"
    assert os.listdir(tmp_path) == ["below", "a.gallery"] or os.listdir(tmp_path) == ["a.gallery", "below"]
    assert not os.listdir(tmp_path / "below")


@pytest.mark.parametrize(
    "name", ["with space.gallery", "per%20cent?#&=.gallery", "ä山.gallery", "caf\udce9.gallery", "a:b"]
)
def test_any_file_name_will_do(tmp_path, name):
    with Store.open(tmp_path / name) as store:
        assert os.listdir(tmp_path)[0].startswith(name)
        assert store.revision() == 0
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    ("place", "got"),
    [
        ("mysql://root:geheim@host/db", "mysql://..."),
        ("http://x", "http://..."),
        ("postgresql+asyncpg://u:geheim@h/d", "postgresql+asyncpg://..."),
        ("postgresql://u:geheim@h:port/d", "postgresql://..."),
        ("postgresql://u:geheim@h", "a URL without a database"),
        ("sqlite://", "''"),
        ("sqlite:///", "''"),
        ("sqlite:///:memory:", "':memory:'"),
        ("sqlite:///a?mode=memory", "sqlite:// with more than a file name"),
        ("://", "://..."),
        ("", "''"),
        (":memory:", "':memory:'"),
        ("a\0b", r"'a\x00b'"),
        (None, "a NoneType"),
        (b"a", "a bytes"),
    ],
)
def test_other_places_are_refused_and_no_password_is_shown(place, got, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadParameter) as caught:
        Store.open(place)
    legal = "a file name, sqlite:///FILE or postgresql://USER@HOST/DATABASE"
    assert str(caught.value) == f"`place` of a gallery must be {legal}; got {got}."
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "long"])
def test_the_timeout_is_a_number_of_seconds(tmp_path, timeout):
    with pytest.raises(BadParameter, match="`timeout` of a gallery must be a number of seconds; got"):
        Store.open(tmp_path / "a", timeout=timeout)


def test_without_its_driver_postgresql_asks_for_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"A gallery in PostgreSQL needs .* pip install 'lightproof\[postgres\]'"):
        Store.open("postgresql://u@h/d")


def refused(file: Path, got: str, *, create: bool = True) -> None:
    """What is refused is told in one sentence, and nothing there is touched."""
    before = {it: it.read_bytes() if it.is_file() else None for it in file.parent.iterdir()}
    with pytest.raises(BadGallery) as caught:
        Store.open(file, create=create)
    assert str(caught.value) == f"{file} must be a gallery written by lightproof; got {got}."
    assert {it: it.read_bytes() if it.is_file() else None for it in file.parent.iterdir()} == before


def test_a_missing_file_is_not_made_unless_it_is_asked_for(tmp_path):
    refused(tmp_path / "none", "no such file", create=False)
    with pytest.raises(CannotWrite, match=r"none/none must be a place that can be written; got: no such folder\.$"):
        Store.open(tmp_path / "none" / "none")


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("content", [b"hello", b"\x89PNG\r\n\x1a\n" + bytes(9999), bytes(4096), b"SQLite format 3"])
def test_a_file_of_another_kind_is_refused(tmp_path, content, create):
    (tmp_path / "a").write_bytes(content)
    refused(tmp_path / "a", "a file of another kind", create=create)


def test_an_empty_file_becomes_a_gallery_only_where_one_may_be_made(tmp_path):
    (tmp_path / "a").touch()
    refused(tmp_path / "a", "an empty file", create=False)
    with Store.open(tmp_path / "a") as store:
        assert store.people() == []


def test_folders_and_pipes_are_refused_at_once(tmp_path):
    (tmp_path / "folder").mkdir()
    refused(tmp_path / "folder", "a folder")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "no plain file")
    refused(tmp_path / ("x" * 300), "a file that cannot be read (File name too long)")


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path, journal):
    with sqlite3.connect(tmp_path / "a") as other:
        other.execute(f"PRAGMA journal_mode={journal}")
        other.execute("CREATE TABLE people(id)")
    other.close()
    refused(tmp_path / "a", "a database of another program")


def change_file(file: Path, *statements: str) -> None:
    raw = sqlite3.connect(file)
    with raw:
        for statement in statements:
            raw.execute(statement)
    raw.close()


@pytest.mark.parametrize(
    ("statement", "got"),
    [
        (
            "UPDATE facts SET value='7' WHERE key='schema'",
            f"one of a newer version (schema 7; this version knows 1 to {SCHEMA})",
        ),
        ("UPDATE facts SET value='x' WHERE key='schema'", "a damaged one"),
        ("UPDATE facts SET value='0' WHERE key='schema'", "a damaged one"),
        ("DELETE FROM facts WHERE key='schema'", "a damaged one"),
        ("UPDATE facts SET value='x' WHERE key='revision'", "a damaged one"),
        ("DELETE FROM facts WHERE key='revision'", "a damaged one"),
        ("UPDATE facts SET value='-1' WHERE key='revision'", "a damaged one"),
        ("UPDATE facts SET value='x' WHERE key='kind'", "a database with other tables"),
        ("ALTER TABLE photos RENAME TO other", "a database with other tables"),
        ("CREATE TRIGGER evil AFTER INSERT ON people BEGIN DELETE FROM photos; END", "a database with other tables"),
        ("CREATE VIEW evil AS SELECT 1", "a database with other tables"),
        ("ALTER TABLE facts RENAME COLUMN value TO worth", "a damaged one"),
        (f"PRAGMA application_id={APPLICATION + 1}", "a database of another program"),
    ],
)
def test_a_gallery_that_is_none_of_ours_is_refused(gallery, statement, got):
    change_file(gallery, statement)
    refused(gallery, got)


def read_all(file: Path) -> None:
    with Store.open(file, create=False) as store:
        for person, photos, _ in store.templates(faces=True):
            assert person.photos >= 0
            assert all(isinstance(photo.template, bytes) for photo in photos)
        store.photos(), store.refusals(), store.facts(), store.counts()
        with store.writing() as change:
            change.add_photos("New", [NewPhoto("new", "p", b"x")])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE photos SET template=7",
        "UPDATE photos SET template='text'",
        "UPDATE photos SET hash=CAST(x'ff00' AS TEXT) WHERE id=1",
        "UPDATE people SET name=x'00' WHERE id=1",
        "UPDATE people SET revision='many'",
        "UPDATE people SET added=x'ffff'",
        "UPDATE people SET span='text'",
        "UPDATE facts SET value=x'ff' WHERE key='made'",
    ],
)
def test_what_no_gallery_can_hold_is_told(gallery, statement):
    change_file(gallery, statement)
    with pytest.raises(BadGallery, match=r"must be a gallery written by lightproof; got a damaged one\.$"):
        read_all(gallery)


def test_a_gallery_cut_short_anywhere_is_told(gallery):
    whole = gallery.read_bytes()
    for length in [*range(1, 200, 13), *range(200, len(whole), len(whole) // 60), len(whole) - 1]:
        gallery.write_bytes(whole[:length])
        with pytest.raises(BadGallery, match=r" must be a gallery .* got [^\n]*\.$"):
            read_all(gallery)


@pytest.mark.slow
def test_flipped_bits_give_an_answer_or_one_sentence(gallery):
    whole, random_places = gallery.read_bytes(), random.Random(20260101)
    told = []
    for _ in range(100):
        broken = bytearray(whole)
        for _ in range(random_places.choice([1, 8, 200])):
            # Most bits lie in templates; the heads of the pages are where it hurts.
            at = (
                random_places.randrange(len(broken))
                if random_places.random() < 0.3
                else random_places.randrange(12) * 8192
            )
            at = min(at + random_places.randrange(120), len(broken) - 1)
            broken[at] ^= 1 << random_places.randrange(8)
        gallery.write_bytes(broken)
        try:
            read_all(gallery)
        except UserError as problem:
            told.append(str(problem))
        for ending in ("-wal", "-shm"):
            Path(f"{gallery}{ending}").unlink(missing_ok=True)
    assert 10 < len(told) < 100
    assert all(said.startswith(str(gallery)) and said.count("\n") == 0 for said in told)


def test_random_bytes_are_refused(tmp_path):
    noise = random.Random(20260101)
    for size in (1, 99, 100, 512, 8192, 50000):
        for head in (b"", b"SQLite format 3\0", b"SQLite format 3\0" + bytes(52) + APPLICATION.to_bytes(4)):
            (tmp_path / "a").write_bytes(head + noise.randbytes(size))
            with pytest.raises(BadGallery, match=r"got a (file|database) of another|got a damaged one"):
                Store.open(tmp_path / "a")
