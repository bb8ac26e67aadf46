"""Who comes in: ``enroll``, ``sync``, and who leaves: ``forget``."""

from __future__ import annotations

import json
import shutil

import pytest

from lightproof.gallery import Gallery
from tests.cli.conftest import ENROLLED, complaints, people_in, state

pytestmark = pytest.mark.slow

EVERYBODY = dict.fromkeys(ENROLLED, 2)


# ------------------------------------------------------------------------------------------------- enroll NAME PHOTO


def test_somebody_is_enrolled_with_advice_and_the_gallery_is_made(here, shots, call):
    photos = [shots / "Ada" / "front.png", shots / "Ada" / "left.png"]
    code, out, err = call("enroll", "Ada", *photos, "--cropped", "--preset", "fast", "--json", "rows.json")
    assert (code, err) == (0, "")
    first, advice = out.splitlines()
    assert first == "Ada: 2 photos enrolled, 2 photos altogether in people.gallery."
    (row,) = json.loads((here / "rows.json").read_text())
    assert list(row) == ["name", "photos", "has", "lacks", "advice", "gain", "new"]
    assert advice == row["advice"]
    assert (row["name"], row["photos"], row["new"], row["has"]) == ("Ada", 2, 2, ["front", "left"])
    with Gallery.open("people.gallery", create=False) as gallery:
        assert (gallery.preset, gallery.keeps_photos) == ("fast", False)
        assert {photo.source for photo in gallery.store.photos("Ada")} == set(map(str, photos))


def test_the_gallery_is_named_by_option_or_environment(here, shots, call, monkeypatch):
    monkeypatch.setenv("LIGHTPROOF_GALLERY", "office.gallery")
    assert call("enroll", "Ada", shots / "Ada" / "front.png", "--cropped", "--preset", "fast")[0] == 0
    assert [path.name for path in here.iterdir()] == ["office.gallery"]
    call("enroll", "Ada", shots / "Ada" / "front.png", "--cropped", "--gallery", "sqlite:///other.gallery")
    assert people_in(here / "other.gallery") == {"Ada": 1}


def test_one_bad_photo_and_nothing_is_enrolled(gallery, shots, call, here):
    (here / "broken.jpg").write_bytes(b"not a picture")
    before = state(here)
    code, out, err = call("enroll", "Eve", shots / "Eve" / "front.png", "broken.jpg", "--cropped")
    assert (code, out) == (1, "")
    assert complaints(err)[0].startswith("lightproof: broken.jpg must be ")
    assert state(here) == before


@pytest.mark.parametrize("name", ["", " Ada", "Ada\n", "a" * 201])
def test_what_nobody_can_be_called_is_refused_before_a_gallery_is_made(here, shots, call, name):
    code, _, err = call("enroll", name, shots / "Ada" / "front.png", "--cropped")
    assert code == 1
    assert complaints(err)[0].startswith("lightproof: The name of a person must be a str of 1 to 200 visible letters")
    assert state(here) == {}


def test_no_gallery_is_made_for_photos_that_are_refused(here, call):
    (here / "broken.jpg").write_bytes(b"not a picture")
    assert call("enroll", "Eve", "broken.jpg", "--cropped")[0] == 1
    assert list(state(here)) == ["broken.jpg"]


def test_a_photo_that_is_there_is_nothing_new_and_one_of_somebody_else_is_refused(gallery, shots, call, here):
    photo = shots / "Ada" / "front.png"
    code, out, _ = call("enroll", "Ada", photo, photo, "--cropped")
    assert (code, out.splitlines()[0]) == (0, "Ada: nothing new, 2 photos altogether in people.gallery.")
    before = state(here)
    code, out, err = call("enroll", "Eve", shots / "Eve" / "front.png", photo, "--cropped")
    assert (code, out) == (1, "")
    assert complaints(err) == [
        f"lightproof: Photo {photo} must be new, or of 'Eve'; got one that is enrolled as 'Ada'."
    ]
    assert state(here) == before


def test_what_a_gallery_is_made_with_cannot_be_changed_by_enrolling(gallery, shots, call, here):
    before = state(here)
    code, _, err = call("enroll", "Eve", shots / "Eve" / "front.png", "--cropped", "--preset", "robust")
    assert code == 1
    assert "got one made with 'fast', not 'robust' (see: lightproof rebuild)." in complaints(err)[0]
    assert state(here) == before


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["enroll"], 2, "NAME and at least one PHOTO must be given, or --folder DIR."),
        (["enroll", "Ada"], 2, "NAME and at least one PHOTO must be given, or --folder DIR."),
        (["enroll", "Ada", "a.png", "--folder", "."], 2, "`folder` of enroll must be given without a name and photos"),
        (["enroll", "Ada", "a.png", "--retry"], 2, "`retry` of enroll must be given together with --folder"),
        (["enroll", "Ada", "a.png", "--dry-run"], 2, "`dry-run` of enroll must be given together with --folder"),
        (["enroll", "--folder", ".", "--jobs", "0"], 2, "`jobs` of enroll must be a number of processes"),
        (["enroll", "Ada", "a.png", "--preset", "paper"], 2, "'paper' is not one of 'robust', 'fast'"),
        (["sync"], 2, "Missing argument 'DIR'"),
        (["forget"], 2, "Missing argument 'NAME"),
        (["rename", "Ada"], 2, "Missing argument 'NEW'"),
    ],
)
def test_a_wrong_call_is_told_and_makes_nothing(here, call, arguments, code, said):
    left, out, err = call(*arguments)
    assert (left, out) == (code, "")
    assert said in " ".join(err.replace("│", " ").split())
    assert state(here) == {}


def test_photographs_are_searched_for_the_face(photos_extra, here, shots, call):
    from lightproof.imaging.decode import read_grey
    from lightproof.plots import png_of
    from tests.cli.test_light_and_crop import framed

    for light in ("front", "right"):
        (here / f"{light}.png").write_bytes(png_of(framed(read_grey(shots / "Ada" / f"{light}.png"))))
    assert call("enroll", "Ada", "front.png", "--preset", "fast")[0] == 0
    code, out, err = call("identify", "right.png", "--json", "-")
    assert (code, err) == (0, "")
    (row,) = json.loads(out)
    assert row["candidates"][0]["name"] == "Ada"


def test_without_the_extra_one_sentence_says_what_to_do(no_extra, gallery, shots, call, here):
    before = state(here)
    photo = shots / "Eve" / "front.png"
    for arguments in (["enroll", "Eve", photo], ["identify", photo], ["verify", photo, photo], ["sync", shots]):
        code, out, err = call(*arguments)
        assert (code, out) == (1, "")
        (line,) = complaints(err)
        assert line.endswith(
            "pip install 'lightproof[photos]', or give --cropped where the pictures are faces already."
        )
    assert state(here) == before


# ---------------------------------------------------------------------------------------------------- enroll --folder


@pytest.fixture
def mixed(here, album):
    """A folder of people with two files that are no photos, and one that is broken."""
    folder = here / "mixed"
    shutil.copytree(album, folder)
    (folder / "Ada" / "broken.png").write_bytes(b"not a picture")
    (folder / "Ada" / "notes.txt").write_text("hello")
    shutil.copy(album / "Ada" / "front.png", folder / "loose.png")
    return folder


def test_a_folder_is_enrolled_and_what_was_left_out_is_told(mixed, here, call):
    arguments = ["enroll", "--folder", "mixed", "--cropped", "--preset", "fast", "--jobs", "1"]
    code, out, err = call(*arguments, "--json", "rows.json")
    assert code == 1
    refused, *left_out = err.splitlines()
    assert complaints(refused)[0].startswith("lightproof: Ada/broken.png must be ")
    assert left_out == [
        "left out: Ada/notes.txt: not a picture",
        "left out: loose.png: not in a person's folder",
    ]
    assert [line.strip() for line in out.splitlines()] == [
        "enrolled         8 photos of 4 people",
        "enrolled before  0 photos",
        "refused          1 photo, see above",
        "left out         1 not a picture, 1 not in a person's folder",
    ]
    (row,) = json.loads((here / "rows.json").read_text())
    assert (row["folder"], row["enrolled"], row["people"], row["known"]) == ("mixed", 8, 4, 0)
    assert [file["photo"] for file in row["refused"]] == ["Ada/broken.png"]
    assert people_in(here / "people.gallery") == EVERYBODY
    # The second time nothing is new, the broken one is remembered, and all is well.
    code, out, err = call(*arguments)
    assert code == 0
    assert "lightproof: " not in err
    assert "enrolled before  8 photos" in out
    assert "refused before   1 photo, not tried again (--retry does)" in out
    code, _, err = call(*arguments, "--retry")
    assert code == 1
    assert "lightproof: Ada/broken.png must be " in err


def test_a_dry_run_changes_nothing_and_makes_no_gallery(mixed, here, call, gallery):
    gallery.unlink()
    before = state(here)
    arguments = ["enroll", "--folder", "mixed", "--cropped", "--preset", "fast", "--jobs", "1", "--dry-run"]
    code, out, err = call(*arguments)
    assert code == 1
    assert "lightproof: Ada/broken.png must be " in err
    assert "would be enrolled  8 photos of 4 people" in out
    assert out.splitlines()[-1] == "This was a dry run: nothing was changed."
    assert state(here) == before


@pytest.mark.parametrize("folder", ["nowhere", "empty", "file"])
def test_a_folder_without_photos_is_refused_and_no_gallery_made(here, call, folder):
    (here / "empty").mkdir()
    (here / "file").write_text("")
    code, out, err = call("enroll", "--folder", folder, "--cropped")
    assert (code, out) == (1, "")
    assert complaints(err)[0].startswith(
        f"lightproof: {folder} must be a folder with a folder of photos for each person (name/photo.jpg); got "
    )
    assert not (here / "people.gallery").exists()


# --------------------------------------------------------------------------------------------------------------- sync


@pytest.fixture
def followed(here, album, call):
    """A folder, and the gallery that was made from it."""
    shutil.copytree(album, here / "album")
    assert call("enroll", "--folder", "album", "--cropped", "--preset", "fast", "--jobs", "1")[0] == 0
    return here / "album"


def test_what_is_new_is_enrolled_without_a_question(followed, shots, call, here):
    (followed / "Eve").mkdir()
    shutil.copy(shots / "Eve" / "front.png", followed / "Eve")
    code, out, err = call("sync", "album", "--cropped", "--jobs", "1", "--json", "rows.json")
    assert (code, err) == (0, "")
    assert "enrolled         1 photo of 1 person" in out
    assert people_in(here / "people.gallery") == EVERYBODY | {"Eve": 1}
    assert json.loads((here / "rows.json").read_text())[0]["enrolled"] == 1


def test_photos_are_removed_after_a_question(followed, call, here, types):
    shutil.rmtree(followed / "Ben")
    (followed / "Ada" / "left.png").unlink()
    before = people_in(here / "people.gallery")
    code, out, err = call("sync", "album", "--cropped", "--jobs", "1", "--dry-run")
    assert code == 0
    assert err.splitlines() == [
        f"no longer there: {name}" for name in ("Ada/left.png", "Ben/front.png", "Ben/left.png")
    ]
    assert "would leave        Ben, of whom no photo is left" in out
    code, out, err = call("sync", "album", "--cropped", "--jobs", "1")
    assert (code, out) == (1, "")
    asked = "Remove 3 photos and with them Ben?"
    assert err.splitlines()[-1] == f"lightproof: {asked} must be answered in a terminal, or with --yes; got neither."
    types("n\n")
    code, out, err = call("sync", "album", "--cropped", "--jobs", "1")
    assert (code, out) == (1, "")
    assert err.endswith(f"{asked} [y/N] Nothing was changed.\n")
    assert people_in(here / "people.gallery") == before
    types("y\n")
    code, out, _ = call("sync", "album", "--cropped", "--jobs", "1")
    assert code == 0
    assert "left             Ben, of whom no photo is left" in out
    assert people_in(here / "people.gallery") == {"Ada": 1, "Cleo": 2, "Dan": 2}


def test_yes_needs_no_terminal(followed, call, here):
    (followed / "Ada" / "left.png").unlink()
    assert call("sync", "album", "--cropped", "--jobs", "1", "--yes")[0] == 0
    assert people_in(here / "people.gallery") == EVERYBODY | {"Ada": 1}


def test_an_empty_folder_does_not_empty_a_gallery(followed, call, here):
    shutil.rmtree(followed)
    followed.mkdir()
    before = state(here)
    code, _, err = call("sync", "album", "--cropped", "--yes")
    assert code == 1
    assert complaints(err)[0].endswith("got no photo in it.")
    assert state(here) == before


# ------------------------------------------------------------------------------------------------------------- forget


def test_forget_asks_first(gallery, call, types, here):
    before = state(here)
    code, out, err = call("forget", "Ada")
    assert (code, out) == (1, "")
    question = "Forget Ada, 2 photos?"
    assert complaints(err) == [f"lightproof: {question} must be answered in a terminal, or with --yes; got neither."]
    for answer in ("n\n", "\n", "", "maybe\n"):
        types(answer)
        code, out, err = call("forget", "Ada")
        assert (code, out) == (1, "")
        assert err.split("[y/N]")[0].strip() == question
        assert err.endswith("Nothing was changed.\n")
    assert state(here) == before
    types("y\n")
    code, out, _ = call("forget", "Ada")
    assert (code, out) == (0, "Forgotten: Ada.\n")
    assert people_in(gallery) == {"Ben": 2, "Cleo": 2, "Dan": 2}
    assert b"Ada" not in gallery.read_bytes()


def test_several_are_forgotten_together_or_not_at_all(gallery, call, here):
    before = state(here)
    code, _, err = call("forget", "Ada", "Bem", "--yes")
    assert code == 1
    assert err.strip().endswith("; got 'Bem'. Did you mean 'Ben'?")
    assert state(here) == before
    code, out, _ = call("forget", "Ada", "Ben", "Ada", "--yes", "--json", "-")
    assert code == 0
    assert json.loads(out) == [
        {"name": name, "photos": 2, "refusals": 0, "overwritten": True} for name in ("Ada", "Ben")
    ]
    assert people_in(gallery) == {"Cleo": 2, "Dan": 2}
