"""What a gallery is asked: ``identify``, ``verify``, ``people``, ``explain``, ``calibrate``; and how it is kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lightproof.cli import console
from lightproof.gallery import Gallery
from lightproof.gallery.store import sqlite
from tests.cli.conftest import complaints, people_in, state

pytestmark = pytest.mark.slow

CANDIDATE_KEYS = ["score", "one_in", "lead", "distance", "name"]
ANSWER_KEYS = ["name", "score", "one_in", "threshold", "far", "candidates", "calibrated", "with_mesh", "sentence"]


def told(gallery: Path, photo: Path, **how: object):
    with Gallery.open(gallery, create=False) as opened:
        return opened.identify(photo, cropped=True, **how)


# ----------------------------------------------------------------------------------------------------------- identify


def test_people_are_named_and_a_stranger_is_an_answer(gallery, shots, call, here):
    photos = [shots / "Ada" / "front.png", shots / "Eve" / "front.png"]
    before = state(here)
    code, out, err = call("identify", *photos, "--cropped")
    assert (code, err) == (0, "")
    head, known, stranger = (line.split() for line in out.splitlines() if "who" in line or "front.png" in line)
    assert head == ["photo", "who", "score", "1", "in", "next", "best"]
    assert known[1:4] == ["Ada", "1.00", "1,000,000"]
    answer = told(gallery, photos[1])
    best = answer.candidates[0]
    # Of a stranger the next best is the best of all.
    assert stranger[1:3] == ["unknown", f"{answer.score:.2f}"]
    assert stranger[4:] == [best.name, f"{best.score:.2f}"]
    assert "Somebody is named from 0.50 on, 1 in 1,000." in out
    assert "lightproof calibrate asks the gallery itself" in out
    assert state(here) == before


def test_rows_for_machines_are_the_answers_of_the_library(gallery, shots, call):
    photos = [shots / "Ada" / "right.png", shots / "Eve" / "front.png"]
    code, out, err = call("identify", *photos, "--cropped", "--json", "-", "--top", "2")
    assert (code, err) == (0, "")
    rows = json.loads(out)
    for row, photo in zip(rows, photos, strict=True):
        answer = told(gallery, photo, top=2)
        assert list(row) == ["photo", *ANSWER_KEYS]
        assert row["photo"] == str(photo)
        assert (row["name"], row["score"], row["one_in"]) == (answer.name, answer.score, answer.one_in)
        assert [list(candidate) for candidate in row["candidates"]] == [CANDIDATE_KEYS] * 2
        assert row["sentence"] == answer.sentence
    assert rows[1]["name"] is None


def test_each_photo_says_whether_a_mesh_lies_on_it(photos_extra, gallery, shots, call, here):
    photo = shots / "Ada" / "front.png"
    with Image.open(photo) as face:
        face.crop((0, 110, 168, 192)).save("chin.png")
    code, out, _ = call("identify", photo, "chin.png", "--cropped", "--json", "rows.json")
    assert (code, [row["with_mesh"] for row in json.loads(Path("rows.json").read_text())]) == (0, [True, False])
    assert "Compared as it came: no mesh lies on the face (chin.png)." in out
    assert "as it came" not in call("identify", photo, "--cropped")[1]
    assert "Compared as it came: no mesh lies on the face." in call("identify", "chin.png", "--cropped")[1]
    assert "as they came" not in call("verify", photo, photo, "--cropped")[1]
    assert "Compared as they came: not every face has a mesh." in call("verify", photo, "chin.png", "--cropped")[1]


def test_without_the_extra_every_answer_says_what_a_mesh_needs(no_extra, gallery, shots, call):
    photo = shots / "Ada" / "front.png"
    for arguments in (["identify", photo], ["verify", photo, photo], ["explain", photo, "--out", "why.png"]):
        code, out, err = call(*arguments, "--cropped", "--json", "rows.json")
        assert (code, err, json.loads(Path("rows.json").read_text())[0]["with_mesh"]) == (0, "", False)
        assert "came: a mesh needs the extra photos (pip install 'lightproof[photos]')." in out


def test_the_share_of_strangers_moves_the_threshold(gallery, shots, call):
    code, out, _ = call("identify", shots / "Eve" / "front.png", "--cropped", "--far", "0.999", "--json", "-")
    (row,) = json.loads(out)
    assert (code, row["far"]) == (0, 0.999)
    assert row["threshold"] == pytest.approx(-np.log10(0.999) / 6)
    for far in ("0", "1", "-3", "nan"):
        code, out, err = call("identify", shots / "Eve" / "front.png", "--cropped", "--far", far)
        assert (code, out) == (2, "")
        assert complaints(err)[0].startswith("lightproof: `far` of identify must be a share from 1e-06 to below 1")


def test_the_best_are_listed_on_request(gallery, shots, call):
    _, out, _ = call("identify", shots / "Ada" / "front.png", "--cropped", "--top", "3")
    answer = told(gallery, shots / "Ada" / "front.png", top=3)
    listed = ", ".join(f"{candidate.name} {candidate.score:.2f}" for candidate in answer.candidates)
    assert out.splitlines()[-1].split("  ")[-1].strip() == listed
    assert call("identify", shots / "Ada" / "front.png", "--top", "0")[0] == 2


def test_a_refused_photo_does_not_keep_the_others_from_being_answered(gallery, shots, call, here):
    (here / "broken.jpg").write_bytes(b"not a picture")
    code, out, err = call("identify", "broken.jpg", shots / "Ada" / "front.png", "missing.png", "--cropped")
    assert code == 1
    assert [line.split()[1] for line in complaints(err)] == ["broken.jpg", "missing.png"]
    assert "Ada" in out
    code, out, _ = call("identify", "broken.jpg", "--cropped")
    assert (code, out) == (1, "")


def test_in_an_empty_gallery_everybody_is_unknown(here, shots, call):
    Gallery.open("people.gallery", preset="fast").close()
    code, out, err = call("identify", shots / "Ada" / "front.png", "--cropped")
    assert (code, err) == (0, "")
    assert next(line for line in out.splitlines() if "front.png" in line).split()[1:] == [
        "unknown", "0.00", "1", "nobody"
    ]  # fmt: skip
    code, out, _ = call("people")
    assert (code, out) == (0, "Nobody is enrolled in people.gallery.\n")


def test_reasons_are_drawn_and_not_written_over(gallery, shots, call, here):
    photos = [shots / "Ada" / "front.png", shots / "Eve" / "front.png"]
    code, out, _ = call("identify", *photos, "--cropped", "--explain", "why", "--json", "rows.json")
    assert code == 0
    assert out.splitlines()[-1] == "The pictures are in why."
    assert sorted(path.name for path in (here / "why").iterdir()) == ["front-2-why.png", "front-why.png"]
    with Image.open(here / "why" / "front-why.png") as picture:
        assert picture.format == "PNG"
    rows = json.loads((here / "rows.json").read_text())
    assert [row["picture"] for row in rows] == ["why/front-why.png", "why/front-2-why.png"]
    code, _, err = call("identify", photos[0], "--cropped", "--explain", "why")
    assert code == 1
    assert "got: a file that is there already (--force writes over it)." in complaints(err)[0]
    assert call("identify", photos[0], "--cropped", "--explain", "why", "--force")[0] == 0


def test_a_terminal_of_80_letters_is_not_exceeded(gallery, shots, call, monkeypatch, here):
    long = "a-photo-with-quite-a-long-name-from-2026-05-04.png"
    shutil.copy(shots / "Eve" / "front.png", long)
    with Gallery.open(gallery) as opened:
        opened.rename("Ada", "Ada Augusta King, Countess of Lovelace")
        opened.rename("Ben", "[red]Benjamin[/red] der Zwölfte")
    monkeypatch.setattr(console.stdout, "_force_terminal", True)
    monkeypatch.setattr(console.stdout, "width", 80)
    commands = [
        ["identify", long, shots / "Ada" / "front.png", "--cropped", "--top", "4"],
        ["verify", long, long, "--cropped"],
        ["people"],
        ["people", "Ada Augusta King, Countess of Lovelace"],
        ["calibrate"],
        ["explain", long, "--cropped", "--out", "why.png"],
        ["enroll", "Ada Augusta King, Countess of Lovelace", shots / "Ada" / "right.png", "--cropped"],
    ]
    for arguments in commands:
        code, out, _ = call(*arguments)
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80, out
        assert "…" not in out
        assert arguments[0] != "identify" or {"1.00", "1,000,000", "Ada", "Lovelace", "front.png"} <= set(out.split())
    assert "[red]Benjamin[/red]" in call("people")[1]


def test_names_that_move_the_cursor_are_made_harmless(gallery, shots, call, here):
    strange = here / "a\n\x1b[31m.png"
    shutil.copy(shots / "Eve" / "front.png", strange)
    for arguments in (["identify", strange], ["verify", strange, strange], ["enroll", "Eve", strange]):
        code, out, err = call(*arguments, "--cropped")
        assert (code, err) == (0, "")
        assert "\x1b" not in out
    code, out, _ = call("people", "Eve")
    assert code == 0
    assert "a??[31m.png" in out
    code, _, err = call("people", "E\x1b[31mve\n")
    assert code == 1
    assert "\x1b" not in err
    assert len(err.splitlines()) == 1


# ------------------------------------------------------------------------------------------------------------- verify


def test_two_photos_are_compared_and_both_answers_are_exit_code_0(gallery, shots, call):
    ada, eve = shots / "Ada" / "front.png", shots / "Eve" / "front.png"
    code, out, err = call("verify", ada, ada, "--cropped")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "front.png and front.png"
    assert "The same person: about 1 in " in out
    code, out, _ = call("verify", ada, eve, "--cropped", "--json", "-")
    assert code == 0
    (row,) = json.loads(out)
    assert list(row) == [
        "photo", "other", "score", "one_in", "lead", "distance", "same", "threshold", "far", "with_mesh",
        "sentence",
    ]  # fmt: skip
    assert row["same"] is False
    with Gallery.open(gallery) as opened:
        assert row["score"] == opened.verify(ada, eve, cropped=True).score


def test_a_photo_is_compared_with_somebody_enrolled(gallery, shots, call):
    code, out, _ = call("verify", shots / "Ada" / "front.png", "--person", "Ada", "--cropped")
    assert code == 0
    assert out.splitlines()[0] == "front.png and Ada"
    assert "The same person: " in out
    code, out, _ = call("verify", shots / "Ada" / "front.png", "--person", "Ben", "--cropped", "--json", "-")
    assert (code, json.loads(out)[0]["same"], json.loads(out)[0]["person"]) == (0, False, "Ben")


def test_two_photos_need_no_gallery_and_make_none(here, shots, call):
    photo = shots / "Ada" / "front.png"
    code, out, _ = call("verify", photo, photo, "--cropped")
    assert code == 0
    assert "The same person: " in out
    for more in ([photo, "--gallery", "x.gallery"], ["--person", "Ada"]):
        code, _, err = call("verify", photo, *more, "--cropped")
        assert code == 1
        assert complaints(err)[0].endswith("gallery must be a gallery written by lightproof; got no such file.")
    assert state(here) == {}


def test_one_thing_to_compare_with_must_be_named(gallery, call):
    for arguments in (["a.png"], ["a.png", "b.png", "--person", "Ada"]):
        code, _, err = call("verify", *arguments)
        assert code == 2
        assert "OTHER or --person NAME must be given" in err


# ------------------------------------------------------------------------------------------------ people and rename


def test_people_are_listed(gallery, call):
    code, out, err = call("people")
    assert (code, err) == (0, "")
    lines = [line.split()[:2] for line in out.splitlines() if "-" in line]
    assert lines == [[name, "2"] for name in ("Ada", "Ben", "Cleo", "Dan")]
    assert "4 people, 8 photos in people.gallery." in out
    rows = json.loads(call("people", "--json", "-")[1])
    assert [list(row) for row in rows] == [["name", "photos", "since"]] * 4


def test_of_one_person_the_photos_their_light_and_advice_are_told(gallery, call):
    code, out, _ = call("people", "Ada")
    assert code == 0
    lines = {line.split()[0]: line.split()[1] for line in out.splitlines() if ".png" in line}
    assert lines == {"front.png": "front", "left.png": "left"}
    with Gallery.open(gallery) as opened:
        advice = opened.advice("Ada")
    assert out.splitlines()[-1] == advice.next
    (row,) = json.loads(call("people", "Ada", "--json", "-")[1])
    assert list(row) == ["name", "photos", "since", "pictures", "has", "lacks", "advice", "gain"]
    assert row["lacks"] == list(advice.lacks)
    lights = {picture["photo"]: picture["azimuth"] for picture in row["pictures"]}
    assert lights["Ada/left.png"] == pytest.approx(-50, abs=25)
    assert [picture["kept"] for picture in row["pictures"]] == [True, True]


def test_a_photo_whose_light_cannot_be_read_is_told_so(gallery, call, here):
    dark = np.random.default_rng(0).integers(0, 3, (192, 168), dtype=np.uint8)
    Image.fromarray(dark).save("dark.png")
    assert call("enroll", "Eve", "dark.png", "--cropped")[0] == 0
    code, out, _ = call("people", "Eve")
    assert code == 0
    assert "dark.png  cannot be read" in out


def test_somebody_is_renamed(gallery, call):
    code, out, _ = call("rename", "Ada", "Ada Lovelace")
    assert (code, out) == (0, "Ada is now called Ada Lovelace.\n")
    assert "Ada Lovelace" in people_in(gallery)


# ------------------------------------------------------------------------------- calibrate, rebuild, export and import


def test_calibration_is_kept_and_told(gallery, shots, call):
    code, out, err = call("calibrate", "--far", "0.01", "--json", "rows.json")
    assert (code, err) == (0, "")
    assert "4 photos and 16 relit copies were taken for strangers among 4 people." in out
    assert out.splitlines()[-1] == "From now on 1 in 100 strangers may be taken for somebody: a score of 0.33."
    (row,) = json.loads(Path("rows.json").read_text())
    assert list(row) == ["far", "shift", "people", "strangers", "relit", "threshold"]
    assert row["threshold"] == pytest.approx(1 / 3)
    answer = told(gallery, shots / "Ada" / "front.png")
    assert (answer.far, answer.calibrated) == (0.01, True)
    assert "lightproof calibrate" not in call("identify", shots / "Ada" / "front.png", "--cropped")[1]


def test_one_person_cannot_be_asked(here, shots, call):
    call("enroll", "Ada", shots / "Ada" / "front.png", "--cropped", "--preset", "fast")
    code, out, _ = call("calibrate")
    assert code == 0
    assert out.startswith("With fewer than two people there is nobody to ask")


@pytest.mark.parametrize("far", ["0", "1", "2", "nan"])
def test_a_share_that_is_none_is_refused(gallery, call, here, far):
    before = state(here)
    code, _, err = call("calibrate", "--far", far)
    assert code == 2
    assert complaints(err)[0].startswith("lightproof: `far` of calibrate must be a share from 1e-06 to below 1")
    assert state(here) == before


def test_a_gallery_that_keeps_faces_is_made_anew(gallery, shots, call, here):
    code, out, _ = call("rebuild", "--preset", "fast")
    assert (code, out) == (0, "8 templates were made anew in people.gallery.\n")
    assert told(gallery, shots / "Ada" / "front.png").name == "Ada"


def test_a_large_gallery_is_packed_when_asked_for(gallery, call, monkeypatch):
    monkeypatch.setattr(sqlite, "LARGE_BYTES", 0)
    code, _, err = call("forget", "Ada", "--yes")
    assert (code, " ".join(err.split()).endswith("packed anew only by lightproof compact.")) == (0, True)
    assert call("compact", "--json", "-")[1].count('"overwritten": true') == 1
    assert call("compact") == (0, "Nothing is left of what was forgotten.\n", "")


def test_a_gallery_without_faces_cannot_be_made_anew(here, shots, call):
    call("enroll", "Ada", shots / "Ada" / "front.png", "--cropped", "--preset", "fast")
    before = state(here)
    code, _, err = call("rebuild")
    assert code == 1
    assert complaints(err)[0].endswith(
        "got one where the faces of 1 photos were not kept; enroll them again, in a new one."
    )
    assert state(here) == before


def test_a_gallery_is_carried_away_and_taken_in(gallery, shots, call, here):
    code, out, _ = call("export", "b.gallery")
    assert (code, out) == (0, "Copied 4 people to b.gallery.\n")
    assert sorted(state(here)) == ["b.gallery", "people.gallery"]
    call("forget", "Ada", "--yes")
    code, out, _ = call("import", "b.gallery")
    assert (code, out) == (0, "Copied 4 people from b.gallery to people.gallery.\n")
    assert told(gallery, shots / "Ada" / "front.png") == told(here / "b.gallery", shots / "Ada" / "front.png")
    # A gallery that is not there becomes a copy, whatever the preset of the other one.
    code, out, _ = call("import", "b.gallery", "--gallery", "c.gallery", "--json", "-")
    assert json.loads(out) == [{"from": "b.gallery", "to": "c.gallery", "people": 4}]
    assert people_in(here / "c.gallery") == people_in(gallery)


def test_a_copy_is_never_written_over_anything(gallery, call, here):
    (here / "photo.png").write_bytes(b"mine")
    before = state(here)
    for place, got in {
        "people.gallery": "one that is there already; a copy needs a new place",
        "photo.png": "a file of another kind",
        ".": "a folder",
    }.items():
        code, out, err = call("export", place)
        assert (code, out) == (1, "")
        assert complaints(err) == [f"lightproof: {place} must be a gallery written by lightproof; got {got}."]
    code, _, err = call("export", "nowhere/b.gallery")
    assert (code, complaints(err)[0].endswith("got: no such folder.")) == (1, True)
    assert state(here) == before


def test_a_gallery_on_a_server_is_used_by_its_url(postgres_place, shots, call, here, monkeypatch):
    monkeypatch.setenv("LIGHTPROOF_GALLERY", postgres_place)
    photos = [shots / "Ada" / "front.png", shots / "Ada" / "left.png"]
    assert call("enroll", "Ada", *photos, "--cropped", "--preset", "fast")[0] == 0
    assert call("rename", "Ada", "Ada Lovelace")[0] == 0
    code, out, err = call("identify", photos[0], "--cropped", "--json", "-")
    assert (code, err, json.loads(out)[0]["name"]) == (0, "", "Ada Lovelace")
    assert call("export", "copy.gallery")[0] == 0
    assert people_in(here / "copy.gallery") == {"Ada Lovelace": 2}
    assert call("forget", "Ada Lovelace", "--yes")[0] == 0
    assert call("people")[1].startswith("Nobody is enrolled in postgresql://")
    assert call("import", "copy.gallery")[0] == 0


# ------------------------------------------------------------------------------------------------------------ explain


def test_the_reasons_for_a_name_are_drawn_and_add_up(gallery, shots, call, here):
    photo = shots / "Ada" / "right.png"
    files = ["--out", "why.png", "--arrays", "why.npz"]
    code, out, err = call(
        "explain", photo, "--cropped", "--person", "Ada", "--against", "Ben", *files, "--json", "rows.json"
    )
    assert (code, err) == (0, "")
    assert "The picture is why.png." in out
    (row,) = json.loads((here / "rows.json").read_text())
    with np.load(here / "why.npz") as arrays:
        assert arrays["patches"].sum() == pytest.approx(row["lead"])
        assert arrays["difference"].sum() == pytest.approx(row["lead"] - row["rival_lead"])
    assert (row["person"], row["against"], row["picture"], row["arrays"]) == ("Ada", "Ben", "why.png", "why.npz")
    assert row["sentence"] in out
    assert len(row["patches"]) == 5
    with Image.open(here / "why.png") as picture:
        assert picture.format == "PNG"
    code, _, err = call("explain", photo, "--cropped", "--out", "why.png")
    assert code == 1
    assert complaints(err)[0].endswith("got: a file that is there already (--force writes over it).")
    assert call("explain", photo, "--cropped", "--out", "why.png", "--force")[0] == 0


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--out", "why.jpg"], 2, "`--out` of explain must be a file whose name ends with .png; got 'why.jpg'."),
        (["--out", "photo.png", "--force"], 1, "photo.png must be a place that can be written; got: the photo itself."),
        (["--out", "no/why.png"], 1, "no/why.png must be a place that can be written; got: no such folder."),
        (["--out", "a.png", "--person", "Eve"], 1, "got 'Eve'."),
        (["--out", "a.png", "--against", "Eve"], 1, "got 'Eve'."),
        (["--out", "a.png", "--person", "Ada", "--against", "Ada"], 2, "must be somebody else; got 'Ada'."),
        # Only the photo tells that she is the best match.
        (["--out", "a.png", "--against", "Ada"], 1, "must be somebody else; got 'Ada'."),
    ],
)
def test_what_cannot_be_explained_is_told_and_nothing_is_written(gallery, shots, call, here, more, code, said):
    shutil.copy(shots / "Ada" / "front.png", "photo.png")
    before = state(here)
    left, out, err = call("explain", "photo.png", "--cropped", *more)
    assert (left, out) == (code, "")
    assert said in complaints(err)[0]
    assert state(here) == before
