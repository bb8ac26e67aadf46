"""``lightproof evaluate``: a folder or a gallery in, a report and rows out, one sentence where it cannot be."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

from lightproof import cli
from lightproof.datasets import make_relit_faces
from lightproof.gallery import Gallery

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four rendered people with three photos each; nobody writes in here."""
    folder = tmp_path_factory.mktemp("people")
    faces = make_relit_faces(4, [(0, 0), (10, 0), (-60, 10)], size=(72, 63))
    for i, image in enumerate(faces.images):
        person = folder / str(faces.labels[i])
        person.mkdir(exist_ok=True)
        Image.fromarray(image).save(person / f"{i}.png")
    return folder


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run the command line in this process and folder; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["lightproof", "evaluate", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main()
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return run


def test_a_folder_gets_tables_a_report_and_rows(call, folder, tmp_path):
    code, out, err = call(folder, "--cropped", "--preset", "fast", "--draws", 2, "--json", "rows.json")
    assert code == 0, err
    assert "12 photos of 4 people; enrolled: 1 photo a person, preset fast, drawn 2 times." in out
    assert "2 people enrolled, 2 people left out" in out
    for title in ("Everybody is enrolled", "Among strangers, 1 % of whom may pass", "0.1 % of whom may pass"):
        assert title in out
    assert "folder: 12 photos; left out: nothing" in err
    report = tmp_path / "lightproof-evaluate" / "report.html"
    assert f"<h1>Evaluation of {folder.name}</h1>" in report.read_text()
    assert json.loads((tmp_path / "rows.json").read_text())[0]["measure"] == "rank-1"


def test_rows_on_stdout_stand_alone(call, folder, tmp_path):
    common = (folder, "--cropped", "--preset", "fast", "--draws", 1, "--photos", 2, "--out", "there")
    code, out, _ = call(*common, "--json", "-")
    assert code == 0
    rows = json.loads(out)
    assert {row["row"] for row in rows} <= {"figure", "mistake"}
    assert rows[0]["measure"] == "rank-1"
    assert rows[0]["photos"] == 4, "two of three are enrolled, one is asked about"
    assert (tmp_path / "there" / "report.html").exists()


def test_a_gallery_is_asked_instead(call, folder, tmp_path):
    with Gallery.open(tmp_path / "some.gallery", preset="fast") as gallery:
        for person in ("person-00", "person-01"):
            photo = sorted((folder / person).iterdir())[0]
            gallery.enroll(person, [photo], cropped=True)
        gallery.calibrate(0.05)
    code, out, err = call(folder, "--cropped", "--gallery", "some.gallery")
    assert code == 0, err
    # What it was calibrated for comes first.
    assert "Meant to let in 5 % of strangers, a gallery lets in" in out
    assert [out.index(f"Among strangers, {share} % of whom may pass") for share in ("5", "1", "0.1")] == sorted(
        out.index(f"Among strangers, {share} % of whom may pass") for share in ("5", "1", "0.1")
    )
    assert "enrolled: a gallery of 2 people. Among strangers: 2 people enrolled, 2 people left out." in out


@pytest.fixture
def asked(folder, tmp_path):
    """A gallery of two people, a front photo of each."""
    with Gallery.open(tmp_path / "some.gallery", preset="fast") as gallery:
        for person in ("person-00", "person-01"):
            gallery.enroll(person, [sorted((folder / person).iterdir())[0]], cropped=True)
    return tmp_path / "some.gallery"


@pytest.mark.parametrize("person", ["person-01", "person-02"])
@pytest.mark.parametrize("photos", [1, 2])
def test_a_gallery_is_asked_about_one_person_known_or_not(call, folder, asked, tmp_path, person, photos):
    (tmp_path / "new" / person).mkdir(parents=True)
    for photo in sorted((folder / person).iterdir())[1 : 1 + photos]:
        shutil.copy(photo, tmp_path / "new" / person)
    code, out, err = call("new", "--cropped", "--gallery", asked, "--json", "rows.json")
    assert code == 0, err
    said = " ".join(out.split())
    known = person == "person-01"
    assert f"of 1 person; enrolled: a gallery of 2 people. There are {'no' if known else 'only'} strangers" in said
    assert "A dash: not available, since there was nothing to ask." in said
    measured = {row["measure"] for row in json.loads(Path("rows.json").read_text()) if row["row"] == "figure"}
    assert measured == ({"rank-1", "equal error", "found", "misnamed"} if known else {"strangers accepted"})
    page = Path("lightproof-evaluate/report.html").read_text()
    assert "Among strangers, 1 % of whom may pass" in page
    # Where only one picture of somebody is at hand, no other one can be shown.
    for card in page.split("asked about")[1:]:
        assert card.count("<img") <= photos


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    """A gallery of all photos; nobody writes in it."""
    place = tmp_path_factory.mktemp("whole") / "all.gallery"
    with Gallery.open(place, preset="fast", keep_photos=True) as gallery:
        for person in sorted(folder.iterdir()):
            gallery.enroll(person.name, sorted(person.iterdir()), cropped=True)
        gallery.calibrate(0.05)
    return place


def test_a_gallery_alone_is_asked_about_its_own_photos(call, whole, tmp_path):
    code, out, err = call("--gallery", whole, "--json", "rows.json")
    assert (code, err) == (0, "")
    assert out.startswith("12 photos of 4 people were each left out and asked about; ")
    assert "Own photos, each left out in turn" in out
    assert "meant to let in 5 % of strangers" in " ".join(out.split())
    for light in ("all photos", "front (up to 25°)", "hard (beyond 60°)"):
        assert light in out
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {row["row"] for row in rows} == {"figure"}
    asked = {row["measure"]: row for row in rows if row["light"] == "all"}
    assert {measure: row["photos"] for measure, row in asked.items()} == {
        "rank-1": 12,
        "found": 12,
        "strangers accepted": 12,
    }
    assert asked["found"]["far"] == 0.05
    # There is no page to write.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.json"]


def test_rows_about_own_photos_stand_alone_on_stdout(call, whole):
    code, out, err = call("--gallery", whole, "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out)[0]["measure"] == "rank-1"


def test_own_photos_of_nobody_are_an_answer(call, tmp_path):
    Gallery.open(tmp_path / "none.gallery", preset="fast").close()
    code, out, err = call("--gallery", "none.gallery")
    assert (code, err) == (0, "")
    assert out.startswith("Nobody is enrolled: there is nothing to ask.")
    code, out, _ = call("--gallery", "none.gallery", "--json", "-")
    assert (code, json.loads(out)) == (0, [])


@pytest.mark.parametrize("words", [(), ("--cropped",), ("--preset", "fast")])
def test_neither_a_folder_nor_a_gallery_is_a_wrong_call(call, asked, monkeypatch, words):
    # Not even where the other commands would find one.
    monkeypatch.setenv("LIGHTPROOF_GALLERY", str(asked))
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert "`DIR` of evaluate must be a folder with a folder of photos for each person, unless --gallery is" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("--cropped",), ("--out", "there"), ("--draws", "3")])
def test_what_is_about_a_folder_is_a_wrong_call_without_one(call, whole, tmp_path, words):
    code, out, err = call("--gallery", whole, *words)
    assert (code, out) == (2, "")
    assert f"`{words[0][2:]}` of evaluate must be given with" in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_a_gallery_is_asked_about_its_own_photos(call, whole, monkeypatch):
    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("lightproof.evaluation.evaluate_within", stopped)
    code, _, err = call("--gallery", whole)
    assert code == 130
    assert "Stopped. Nothing was written." in err


def test_a_folder_without_a_photo_is_one_sentence(call, asked, tmp_path):
    (tmp_path / "new" / "person-01").mkdir(parents=True)
    (tmp_path / "new" / "person-01" / "a.png").write_bytes(b"no picture")
    code, out, err = call("new", "--cropped", "--gallery", asked)
    assert (code, out) == (1, "")
    assert "must be a folder with a folder of pictures for each person (name/photo.jpg); got 0 people" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("--preset", "fast"), ("--photos", "2"), ("--draws", "3")])
def test_how_to_enroll_is_a_wrong_call_with_a_gallery(call, folder, asked, words):
    code, out, err = call(folder, "--cropped", "--gallery", asked, *words)
    assert (code, out) == (2, "")
    assert f"`{words[0][2:]}` of evaluate must be given without --gallery; got " in err


def test_the_variable_of_the_other_commands_does_not_change_what_is_evaluated(call, folder, asked, monkeypatch):
    monkeypatch.setenv("LIGHTPROOF_GALLERY", str(asked))
    code, out, _ = call(folder, "--cropped", "--preset", "fast", "--draws", 1)
    assert code == 0
    assert "enrolled: 1 photo a person, preset fast." in out


def test_names_that_are_no_text_or_move_the_cursor_are_made_harmless(call, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "album")
    for name in ("\udcff\udcfe", "\x1b[31mred\n"):
        shutil.copytree(folder / "person-00", tmp_path / "album" / name)
    (tmp_path / "album" / "person-01" / "a\x1b[2Jb.png").write_bytes(b"no picture")
    code, out, err = call("album", "--cropped", "--preset", "fast", "--draws", 1, "--json", "rows.json")
    assert code == 0
    assert "\x1b" not in out + err
    assert Path("lightproof-evaluate/report.html").exists()


@pytest.mark.parametrize("alone", [False, True])
def test_a_gallery_that_is_not_there_is_not_made(call, folder, tmp_path, alone):
    code, out, err = call(*([] if alone else [folder, "--cropped"]), "--gallery", "none.gallery")
    assert (code, out) == (1, "")
    assert err.startswith("lightproof: ")
    assert "none.gallery" in err
    assert not (tmp_path / "none.gallery").exists()


def test_too_few_people_are_one_sentence(call, folder, tmp_path):
    alone = tmp_path / "alone"
    shutil.copytree(folder / "person-00", alone / "person-00")
    code, out, err = call(alone, "--cropped")
    assert (code, out) == (1, "")
    assert "two or more people, at least one of them with two photos" in err
    assert "got 1 person with 3 photos altogether" in err
    assert err.count("\n") == 1


def test_an_interrupt_is_a_sentence_and_exit_code_130(call, folder, monkeypatch):
    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("lightproof.evaluation.evaluate", stopped)
    code, _, err = call(folder, "--cropped")
    assert code == 130
    assert "Stopped. Nothing was written." in err


def test_a_place_that_takes_no_report_is_refused_before_the_work(call, folder, tmp_path):
    (tmp_path / "file").write_text("x")
    code, _, err = call(folder, "--cropped", "--out", "file")
    assert code == 1
    assert "file must be a place that can be written" in err


def test_help_shows_an_example(call):
    code, out, _ = call("--help")
    assert code == 0
    assert "Example: lightproof evaluate photos --photos 2" in out
    assert "Example: lightproof evaluate --gallery people.gallery" in out
    assert "LIGHTPROOF_GALLERY is not used" in " ".join(out.replace("│", " ").split())
