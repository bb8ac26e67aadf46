"""``lightproof evaluate``: a folder in, a report and rows out, one sentence where it cannot be."""

from __future__ import annotations

import json
import shutil
import sys

import pytest
from PIL import Image

from lightproof import cli
from lightproof.datasets import make_relit_faces
from lightproof.gallery import Gallery


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
    code, out, err = call(folder, "--cropped", "--gallery", "some.gallery")
    assert code == 0, err
    assert "enrolled: a gallery of 2 people. Among strangers: 2 people enrolled, 2 people left out." in out


def test_a_gallery_that_is_not_there_is_not_made(call, folder, tmp_path):
    code, out, err = call(folder, "--cropped", "--gallery", "none.gallery")
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
