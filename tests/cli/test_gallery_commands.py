"""What the commands say and ask when people leave, and what they leave alone."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from lightproof.gallery import Gallery
from lightproof.gallery.store import Refusal, Store, sqlite
from tests.gallery.folders.test_folders import put
from tests.gallery.people import NAMES, enroll, new, png
from tests.gallery.store.test_making import is_there

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def office(here):
    with new(here / "office.gallery") as gallery:
        enroll(gallery, NAMES[:3])
    return here / "office.gallery"


@pytest.fixture
def album(here):
    for name in NAMES[:3]:
        put(here / "album", f"{name}/0.png", png(name))
    return here / "album"


def follow(call, *more):
    return call("sync", "album", "--cropped", "--jobs", "1", "--gallery", "office.gallery", *more)


def names(place):
    with Gallery.open(place, create=False) as gallery:
        return [person.name for person in gallery.people()]


def test_who_is_forgotten_while_somebody_reads_is_not_said_to_be_overwritten(office, call, monkeypatch):
    monkeypatch.setattr(sqlite, "SWEEP_WAIT_MS", 10)
    with Store.open(office) as other, other.reading() as view:
        view.people()
        code, out, err = call("forget", "Ada", "--yes", "--gallery", office, "--json", "rows.json")
        said = "The rows are gone, but office.gallery may still hold bytes of them, because somebody else is reading it"
        assert (code, out) == (0, "Forgotten: Ada.\n")
        assert err.replace(str(office), office.name).startswith(said)
        assert b"Ada" in office.read_bytes()
        assert json.loads(Path("rows.json").read_text()) == [
            {"name": "Ada", "photos": 1, "refusals": 0, "overwritten": False}
        ]
    assert call("forget", "Ben", "--yes", "--gallery", office, "--json", "-")[2] == ""
    assert not any(name in office.read_bytes() for name in (b"Ada", b"Ben"))


def test_that_a_server_does_not_overwrite_is_said_by_forget(postgres_place, call):
    with new(postgres_place) as gallery:
        enroll(gallery, "Ada")
    code, out, err = call("forget", "Ada", "--yes", "--gallery", postgres_place, "--json", "-")
    assert (code, json.loads(out)[0]["overwritten"]) == (0, False)
    assert err.startswith("The rows are gone, but PostgreSQL frees deleted rows without overwriting them: ")


def test_somebody_whose_photos_were_all_refused_is_forgotten(store_place, call, types):
    with new(store_place) as gallery:
        enroll(gallery, NAMES[:3])
        gallery.calibrate(0.01)
        with gallery.store.writing() as change:
            change.remember_refusals([Refusal("x", "Xaver Unmistakable", "x/1.png", None, "cropped", "no picture")])
        known = gallery.calibration()
        types("y\n")
        code, out, err = call("forget", "Xaver Unmistakable", "--gallery", store_place)
        assert (code, out) == (0, "Forgotten: Xaver Unmistakable.\n")
        assert err.startswith("Forget Xaver Unmistakable, 0 photos and 1 refused? [y/N]")
        assert gallery.store.refusals() == {}
        # Nothing was found out with the help of photos that were never enrolled.
        assert gallery.calibration() == known
        assert gallery.people() != []


def test_people_who_would_be_gone_are_asked_about_although_no_photo_is_removed(album, office, call, types, here):
    office.unlink()
    with new(office) as gallery:
        gallery.enroll_folder(album, cropped=True, jobs=1)
    (album / "Ada").rename(album / "Anna")
    question = "Remove Ada, whose photos are all in other people's folders now?"
    code, out, err = follow(call)
    assert (code, out) == (1, "")
    assert err == f"lightproof: {question} must be answered in a terminal, or with --yes; got neither.\n"
    types("n\n")
    assert follow(call)[2] == f"{question} [y/N] Nothing was changed.\n"
    assert names(office) == NAMES[:3]
    assert "would leave" in (told := follow(call, "--dry-run")[1])
    assert "Ada, of whom no photo is left" in told
    types("y\n")
    code, out, _ = follow(call)
    assert code == 0
    assert "Ada, of whom no photo is left" in out
    assert names(office) == ["Anna", "Ben", "Cleo"]


def test_a_rename_is_no_question_for_sync(album, office, call):
    office.unlink()
    with new(office) as gallery:
        gallery.enroll_folder(album, cropped=True, jobs=1)
        gallery.rename("Ada", "Eve")
    code, _, err = follow(call)
    assert (code, err) == (0, "")
    assert names(office) == ["Ben", "Cleo", "Eve"]


def test_photos_that_sync_removed_while_somebody_reads_are_told_of(album, office, call, monkeypatch):
    office.unlink()
    monkeypatch.setattr(sqlite, "SWEEP_WAIT_MS", 10)
    with new(office) as gallery:
        gallery.enroll_folder(album, cropped=True, jobs=1)
    (album / "Ada/0.png").unlink()
    with Store.open(office) as other, other.reading() as view:
        view.people()
        assert "may still hold bytes of them" in follow(call, "--yes")[2]
    put(album, "Dan/0.png", png("Dan"))
    assert follow(call, "--yes")[2] == ""


def test_what_a_move_or_a_rename_leaves_while_somebody_reads_is_told_of(album, office, call, monkeypatch):
    office.unlink()
    monkeypatch.setattr(sqlite, "SWEEP_WAIT_MS", 10)
    with new(office) as gallery:
        gallery.enroll_folder(album, cropped=True, jobs=1)
    (album / "Ada/0.png").rename(album / "Ben/a.png")
    with Store.open(office) as other, other.reading() as view:
        view.people()
        assert "may still hold bytes of them" in follow(call, "--yes")[2]
        assert "may still hold bytes of them" in call("rename", "Ben", "Bob", "--gallery", office)[2]
    assert call("rename", "Bob", "Ben", "--gallery", office)[2] == ""


def test_rows_are_not_written_where_the_command_itself_writes(office, album, call, here):
    before = office.read_bytes()
    said = "must be a place that can be written; got: where something else is to be written."
    photo = ["Zoe", album / "Ada/0.png", "--cropped"]
    for words in (
        ["enroll", *photo, "--gallery", "new.gallery", "--json", "new.gallery"],
        ["enroll", *photo, "--gallery", "sqlite:///new.gallery", "--json", "./new.gallery"],
        ["export", "new.gallery", "--gallery", office, "--json", "new.gallery"],
        ["import", office, "--gallery", "new.gallery", "--json", "new.gallery"],
        ["explain", album / "Ada/0.png", "--cropped", "--out", "a.png", "--gallery", office, "--json", "a.png"],
    ):
        code, out, err = call(*words)
        assert (code, out) == (1, "")
        assert err.endswith(f"{said}\n")
        assert err.count("\n") == 1
    assert sorted(path.name for path in here.iterdir()) == ["album", "office.gallery"]
    assert office.read_bytes() == before


def test_a_refused_command_leaves_a_link_to_where_nothing_is_yet(office, call, here):
    (here / "rows.json").symlink_to(here / "target.json")
    assert call("people", "--gallery", office, "--json", "rows.json")[0] == 0
    assert len(json.loads((here / "rows.json").read_text())) == 3
    (here / "other.json").symlink_to(here / "target.json")
    assert call("people", "Nobody", "--gallery", office, "--json", "other.json")[0] == 1
    assert (here / "other.json").is_symlink()
    assert not (here / "target.json").exists()


def test_a_dry_run_makes_no_gallery(store_place, album, call):
    arguments = [
        "enroll",
        "--folder",
        "album",
        "--cropped",
        "--jobs",
        "1",
        "--preset",
        "fast",
        "--gallery",
        store_place,
    ]
    code, out, err = call(*arguments, "--dry-run")
    assert (code, err) == (0, "")
    assert "would be enrolled  3 photos of 3 people" in out
    assert not is_there(store_place)
    assert call(*arguments)[0] == 0
    assert names(store_place) == NAMES[:3]


def test_a_dry_run_leaves_what_is_not_finished_as_it_is(here, album, call):
    Store.open("bare.gallery").close()
    (here / "empty.gallery").touch()
    before = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
    for place in ("bare.gallery", "empty.gallery"):
        arguments = ["--folder", "album", "--cropped", "--jobs", "1", "--preset", "fast", "--gallery", place]
        assert call("enroll", *arguments, "--dry-run")[0] == 0
    assert {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


def test_no_gallery_is_made_for_a_photo_that_is_refused(store_place, here, call):
    (here / "bad.png").write_bytes(b"no picture")
    assert call("enroll", "Ada", "bad.png", "--cropped", "--gallery", store_place)[0] == 1
    assert not is_there(store_place)


def test_a_gallery_that_nobody_has_finished_is_not_finished_by_asking(here, call):
    Store.open("bare.gallery").close()
    before = (here / "bare.gallery").read_bytes()
    code, _, err = call("people", "--gallery", "bare.gallery")
    assert code == 1
    assert err.endswith("got one that nobody has finished making.\n")
    assert (here / "bare.gallery").read_bytes() == before


def test_an_import_into_a_place_without_a_gallery_that_fails_leaves_nothing(office, store_place, call):
    with sqlite3.connect(office) as raw:
        raw.execute("UPDATE people SET added = x'00'")
    raw.close()
    code, _, err = call("import", office, "--gallery", store_place)
    assert (code, err.endswith("got a damaged one.\n")) == (1, True)
    assert not is_there(store_place)
