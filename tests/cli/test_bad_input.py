"""Bad input to every command of the gallery: one sentence, exit code 1, and the gallery is as it was."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lightproof.errors import CannotWrite
from lightproof.gallery import Gallery
from lightproof.gallery.store import Change, Store, schema, sqlite
from tests.cli.conftest import complaints, people_in, state

pytestmark = pytest.mark.slow

PHOTO, OTHER, STRANGER = "photo.png", "other.png", "new.png"

READERS = {
    "identify": ["identify", PHOTO, "--cropped"],
    "verify": ["verify", PHOTO, "--person", "Ada", "--cropped"],
    "people": ["people"],
    "person": ["people", "Ada"],
    "explain": ["explain", PHOTO, "--cropped", "--out", "why.png"],
    "export": ["export", "copy.gallery"],
    # Where nothing was forgotten there is nothing to overwrite.
    "compact": ["compact"],
}
WRITERS = {
    "enroll": ["enroll", "Eve", STRANGER, "--cropped"],
    "folder": ["enroll", "--folder", "album", "--cropped", "--jobs", "1"],
    "rename": ["rename", "Ada", "Ada Lovelace"],
    "forget": ["forget", "Ada", "--yes"],
    "sync": ["sync", "album", "--cropped", "--jobs", "1", "--yes"],
    "calibrate": ["calibrate"],
    "rebuild": ["rebuild"],
    "import": ["import", "others.gallery"],
}
EVERY = READERS | WRITERS
# These make a gallery where there is none.
MAKERS = {"enroll", "folder", "import"}


@pytest.fixture(scope="session")
def others_gallery(tmp_path_factory, shots):
    """A gallery of somebody else, with the same parameters."""
    file = tmp_path_factory.mktemp("others") / "others.gallery"
    with Gallery.open(file, preset="fast", keep_photos=True) as gallery:
        gallery.enroll("Eve", [shots / "Eve" / "left.png"], cropped=True)
    return file


@pytest.fixture
def desk(gallery, shots, others_gallery, here):
    """The gallery, and all that the commands need."""
    for name, photo in {PHOTO: "Ada/front.png", OTHER: "Ada/left.png", STRANGER: "Eve/front.png"}.items():
        shutil.copy(shots / photo, name)
    (here / "album" / "Eve").mkdir(parents=True)
    shutil.copy(shots / "Eve" / "right.png", here / "album" / "Eve")
    shutil.copy(others_gallery, here / "others.gallery")
    return gallery


def refused(call, here, arguments, got):
    before = state(here)
    code, out, err = call(*arguments)
    assert (code, out) == (1, ""), err
    (line,) = complaints(err)
    assert got in line
    assert state(here) == before


@pytest.mark.parametrize("name", EVERY)
def test_every_command_does_what_it_should_on_a_sound_gallery(desk, call, name):
    code, _, err = call(*EVERY[name])
    assert (code, err) == (0, "")


@pytest.mark.parametrize("name", sorted(set(EVERY) - MAKERS))
def test_a_gallery_that_is_not_there_is_not_made(desk, call, here, name):
    desk.unlink()
    refused(call, here, EVERY[name], "people.gallery must be a gallery written by lightproof; got no such file.")


@pytest.mark.parametrize("name", EVERY)
def test_a_file_that_is_no_gallery_is_refused(desk, call, here, name):
    desk.write_bytes(b"hello, I am a letter")
    refused(
        call, here, EVERY[name], "people.gallery must be a gallery written by lightproof; got a file of another kind."
    )


@pytest.mark.parametrize("name", EVERY)
def test_a_database_of_another_program_is_refused(desk, call, here, name):
    desk.unlink()
    with sqlite3.connect(desk) as other:
        other.execute("CREATE TABLE people (id INTEGER)")
    other.close()
    refused(call, here, EVERY[name], "got a database of another program.")


@pytest.mark.parametrize("name", EVERY)
def test_a_gallery_of_a_later_version_is_refused(desk, call, here, name, monkeypatch):
    monkeypatch.setattr(schema, "SCHEMA", schema.SCHEMA - 1)
    refused(
        call, here, EVERY[name], "people.gallery must be a gallery written by lightproof; got one of a newer version"
    )


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"rebuild"}))
def test_templates_of_another_version_are_never_compared(desk, call, here, name):
    with Store.open(desk) as store, store.writing() as change:
        change.set_fact("parameters", "those of last year")
    refused(call, here, EVERY[name], "got templates of another version (see: lightproof rebuild).")


def test_templates_of_another_version_are_made_anew_on_request(desk, call):
    with Store.open(desk) as store, store.writing() as change:
        change.set_fact("parameters", "those of last year")
    assert call("rebuild")[0] == 0
    assert call("identify", PHOTO, "--cropped")[0] == 0


@pytest.mark.parametrize("name", ["identify", "verify", "explain", "calibrate"])
def test_a_damaged_template_is_one_sentence(desk, call, here, name):
    with Store.open(desk) as store, store.writing() as change:
        change.set_span("Ada", b"\0" * 99)
    refused(call, here, EVERY[name], "must be a gallery written by lightproof; got a damaged template of 99 bytes.")


@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_gallery_takes_no_change(desk, call, here, name, monkeypatch):
    monkeypatch.setattr(sqlite.os, "access", lambda *_: False)
    refused(call, here, WRITERS[name], "people.gallery must be a place that can be written; got: a read-only file")


@pytest.mark.parametrize("name", sorted(set(READERS) - {"export"}))
def test_a_read_only_gallery_is_read(desk, call, name, monkeypatch):
    monkeypatch.setattr(sqlite.os, "access", lambda *_: False)
    code, _, err = call(*READERS[name])
    assert (code, err) == (0, "")


@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_is_full_at_the_last_moment_leaves_the_gallery_as_it_was(desk, call, here, name, monkeypatch):
    def finish(change):
        raise CannotWrite("people.gallery", OSError("the disk is full"))

    monkeypatch.setattr(Change, "finish", finish)
    refused(call, here, WRITERS[name], "people.gallery must be a place that can be written; got: the disk is full.")


@pytest.mark.parametrize("name", ["enroll", "folder", "sync", "import"])
def test_a_full_disk_takes_nobody(desk, call, here, name, monkeypatch):
    with sqlite3.connect(desk) as raw:
        pages = raw.execute("PRAGMA page_count").fetchone()[0]
    raw.close()
    monkeypatch.setattr(sqlite, "PRAGMAS", [*sqlite.PRAGMAS, f"max_page_count={pages}"])
    before = people_in(desk)
    refused(call, here, WRITERS[name], "people.gallery must be a place that can be written; got: the disk is full.")
    assert people_in(desk) == before


def test_a_copy_that_does_not_fit_leaves_nothing(desk, call, here, monkeypatch):
    monkeypatch.setattr(sqlite, "PRAGMAS", [*sqlite.PRAGMAS, "max_page_count=20"])
    refused(
        call,
        here,
        ["export", "copy.gallery"],
        "copy.gallery must be a place that can be written; got: the disk is full.",
    )


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_who_waits_in_vain_says_so(desk, call, here, name):
    with Store.open(desk) as other, other.writing():
        code, out, err = call(*WRITERS[name], "--wait", "0.1")
    assert (code, out) == (1, "")
    busy = "lightproof: people.gallery must be free for writing within 0.1 seconds; got another writer."
    assert complaints(err) == [busy]
    assert people_in(desk) == {"Ada": 2, "Ben": 2, "Cleo": 2, "Dan": 2}


@pytest.mark.parametrize("name", READERS)
def test_readers_do_not_wait_for_a_writer(desk, call, name):
    with Store.open(desk) as other, other.writing() as change:
        change.forget("Ada")
        assert call(*READERS[name])[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["people", "Adda"],
        ["rename", "Adda", "Eve"],
        ["forget", "Adda", "--yes"],
        ["verify", PHOTO, "--person", "Adda", "--cropped"],
        ["explain", PHOTO, "--person", "Adda", "--cropped", "--out", "why.png"],
    ],
)
def test_unknown_people_are_told_and_the_nearest_name_is_offered(desk, call, here, arguments):
    before = state(here)
    code, out, err = call(*arguments)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert "must be one of the 4 enrolled people ('Ada', 'Ben', 'Cleo', 'Dan'); got 'Adda'. Did you mean 'Ada'?" in err
    assert state(here) == before


def test_a_name_that_somebody_has_is_refused(desk, call, here):
    refused(
        call, here, ["rename", "Ada", "Ben"], "The new name must be one that nobody has; got 'Ben', who is enrolled."
    )
    refused(call, here, ["rename", "Ada", " "], "must be a str of 1 to 200 visible letters")


def test_people_of_two_galleries_with_one_photo_are_not_mixed(desk, call, here):
    with Gallery.open("others.gallery") as others:
        others.enroll("Zoe", [here / PHOTO], cropped=True)
    refused(call, here, ["import", "others.gallery"], "got one that is enrolled as 'Ada'.")


def test_a_gallery_of_another_preset_is_not_taken_in(desk, call, here, shots):
    with Gallery.open("slow.gallery", preset="robust") as others:
        others.enroll("Zoe", [shots / "Eve" / "front.png"], cropped=True)
    refused(
        call, here, ["import", "slow.gallery"], "got templates made with other parameters than those of people.gallery."
    )


def test_a_place_for_the_rows_is_checked_before_the_work(desk, call, here):
    for arguments in EVERY.values():
        refused(call, here, [*arguments, "--json", "nowhere/rows.json"], "got: no such folder.")


@pytest.mark.parametrize("place", ["mysql://u:secret@h/d", "postgresql://u:secret@h", ""])
def test_a_place_that_is_none_is_refused_and_no_password_shown(desk, call, here, place):
    for arguments in EVERY.values():
        code, out, err = call(*arguments, "--gallery", place)
        assert (code, out) == (2, "")
        assert "`place` of a gallery must be a file name, sqlite:///FILE or postgresql://" in complaints(err)[0]
        assert "secret" not in err


def test_a_name_may_hold_signs_of_a_formula(desk, call):
    assert call("rename", "Ada", r"$\frac{A}$ [b]da[/b]")[0] == 0
    assert call("rename", "Ben", "100 $")[0] == 0
    code, _, err = call("explain", PHOTO, "--cropped", "--against", "100 $", "--out", "why.png")
    assert (code, err) == (0, "")


# --------------------------------------------------------------------------------------------------------- interrupts


def test_ctrl_c_at_the_last_moment_leaves_the_gallery_as_it_was(desk, call, here, monkeypatch):
    def finish(change):
        raise KeyboardInterrupt

    monkeypatch.setattr(Change, "finish", finish)
    before = state(here)
    for name, arguments in WRITERS.items():
        code, out, err = call(*arguments)
        assert (code, out) == (130, ""), name
        assert err.startswith("Stopped. ")
        assert err.endswith(("whole; the same command goes on from there.\n", "or not at all.\n"))
        assert state(here) == before, name


def test_ctrl_c_while_photos_are_read_makes_nothing(desk, call, here, monkeypatch):
    from lightproof.gallery import enrollment

    def interrupted(*arguments, **named):
        raise KeyboardInterrupt

    for read in ("read_grey", "read_portrait"):
        monkeypatch.setattr(enrollment, read, interrupted)
    before = state(here)
    for name in ("enroll", "folder", "identify", "verify", "explain", "sync"):
        code, out, err = call(*EVERY[name])
        assert (code, out) == (130, ""), name
        assert err.startswith("Stopped. ")
        assert state(here) == before, name


UNHURRIED = """
import time
from lightproof.cli import main
from lightproof.gallery.folders import FolderWriter, commit
commit.BATCHES_PER_CHANGE = 1
write = FolderWriter.write
FolderWriter.write = lambda self, results: (write(self, results), time.sleep(1))
main()
"""
"""The command line, but each piece is written at once, and there is time for an interrupt before the next."""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals are another thing there")
def test_after_a_real_ctrl_c_the_gallery_is_whole_and_the_same_command_goes_on(here, call):
    rng = np.random.default_rng(1)
    for i in range(240):
        (here / "many" / f"person {i:03d}").mkdir(parents=True)
        Image.fromarray(rng.integers(0, 256, (96, 84), dtype=np.uint8)).save(
            here / "many" / f"person {i:03d}" / "a.png"
        )
    arguments = ["enroll", "--folder", "many", "--cropped", "--preset", "fast", "--jobs", "2"]
    child = subprocess.Popen(
        [sys.executable, "-c", UNHURRIED, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job may ignore it
    )
    end = time.monotonic() + 60
    while not _some_enrolled(here / "people.gallery") and child.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, "")
    assert err == "Stopped. What is enrolled is whole; the same command goes on from there.\n"
    kept = len(people_in(here / "people.gallery"))
    assert 0 < kept < 240
    code, out, _ = call(*arguments[:-1], 1)
    assert code == 0
    assert f"enrolled before  {kept} photos" in out
    assert len(people_in(here / "people.gallery")) == 240


def _some_enrolled(file: Path) -> bool:
    if not file.exists() or not file.stat().st_size:
        return False
    try:
        with Store.open(file, create=False) as store:
            return store.counts().people > 0
    except ValueError:  # it is being made
        return False
