"""Every broken file of the corpus through some of the commands, and every command with a third of them.

One sentence, exit code 1, and the gallery is as it was.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lightproof.gallery import enrollment
from tests.cli.conftest import complaints, people_in, state
from tests.hostile import write_hostile_files

pytestmark = pytest.mark.long

PHOTO = "photo.png"

OF_A_PHOTO: dict[str, Callable[[Path], list[object]]] = {
    "enroll": lambda bad: ["enroll", "Eve", bad],
    "verify": lambda bad: ["verify", bad, PHOTO],
    "verify-other": lambda bad: ["verify", PHOTO, bad],
    "verify-person": lambda bad: ["verify", bad, "--person", "Ada"],
    "explain": lambda bad: ["explain", bad, "--out", "why.png"],
}

OF_A_GALLERY: dict[str, Callable[[Path], list[object]]] = {
    "identify": lambda bad: ["identify", PHOTO, "--cropped", "--gallery", bad],
    "verify": lambda bad: ["verify", PHOTO, "--person", "Ada", "--cropped", "--gallery", bad],
    "people": lambda bad: ["people", "--gallery", bad],
    "person": lambda bad: ["people", "Ada", "--gallery", bad],
    "explain": lambda bad: ["explain", PHOTO, "--cropped", "--out", "why.png", "--gallery", bad],
    "evaluate": lambda bad: ["evaluate", "album", "--cropped", "--out", ".", "--gallery", bad],
    "watch": lambda bad: ["watch", "--cropped", "--gallery", bad],
    "enroll": lambda bad: ["enroll", "Eve", PHOTO, "--cropped", "--gallery", bad],
    "folder": lambda bad: ["enroll", "--folder", "album", "--cropped", "--jobs", "1", "--gallery", bad],
    "rename": lambda bad: ["rename", "Ada", "Ben", "--gallery", bad],
    "forget": lambda bad: ["forget", "Ada", "--yes", "--gallery", bad],
    "sync": lambda bad: ["sync", "album", "--cropped", "--jobs", "1", "--yes", "--gallery", bad],
    "calibrate": lambda bad: ["calibrate", "--gallery", bad],
    "rebuild": lambda bad: ["rebuild", "--gallery", bad],
    "compact": lambda bad: ["compact", "--gallery", bad],
    "export": lambda bad: ["export", "copy.gallery", "--gallery", bad],
    "export-to": lambda bad: ["export", bad],
    "import": lambda bad: ["import", bad],
    "import-to": lambda bad: ["import", "people.gallery", "--gallery", bad],
}

MAKERS = {"enroll", "folder", "export-to", "import-to"}
"""They make a gallery where there is none, and where a file is empty."""

NOTHING_THERE = {"nothing-named.jpg", "nowhere.jpg", "never-written.jpg"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    files = write_hostile_files(tmp_path_factory.mktemp("hostile"))
    assert len(files) >= 300
    return files


@pytest.fixture
def desk(gallery, shots, here):
    shutil.copy(shots / "Ada" / "front.png", PHOTO)
    shutil.copytree(shots / "Eve", here / "album" / "Eve")
    return gallery


@pytest.fixture(params=[True, False], ids=["cropped", "photos"])
def cropped(request):
    if not request.param:
        request.getfixturevalue("photos_extra")
    return request.param


def contents(folder: Path) -> dict[str, object]:
    """What lies in a folder, pipes and links too."""

    def content(path: Path) -> object:
        if path.is_symlink():
            return os.readlink(path)
        return (path.stat().st_size, path.stat().st_mtime_ns) if path.is_file() else None

    return {path.name: content(path) for path in folder.iterdir()}


def all_refused(call, here, files, command):
    before, lying = state(here), contents(files[0].parent)
    for path in files:
        code, out, err = call(*command(path))
        assert (code, out) == (1, ""), (path.name, err)
        (line,) = complaints(err)
        assert " must be " in line, path.name
    assert state(here) == before
    assert contents(files[0].parent) == lying


def a_third(files, i):
    """Every command has the same door, so each tries a third of the files; all commands together try them all."""
    return files[i % 3 :: 3]


@pytest.mark.parametrize("name", OF_A_PHOTO)
def test_as_a_photo(desk, hostile, call, here, cropped, name, monkeypatch):
    found, read = [], enrollment.read_portrait

    def read_once(contents, *, where, **how):
        """Find the face in the sound photo only once; that takes longer than anything else here."""
        if where != PHOTO:
            return read(contents, where=where, **how)
        found.extend([] if found else [read(contents, where=where, **how)])
        return found[0]

    monkeypatch.setattr(enrollment, "read_portrait", read_once)
    files = a_third(hostile, list(OF_A_PHOTO).index(name))
    all_refused(call, here, files, lambda bad: [*OF_A_PHOTO[name](bad), *["--cropped"] * cropped])


def test_all_at_once_are_one_sentence_each(desk, hostile, call, here, cropped):
    before = state(here)
    code, out, err = call("identify", *hostile, *["--cropped"] * cropped)
    assert (code, out) == (1, "")
    assert len(complaints(err)) == len(hostile)
    assert state(here) == before


@pytest.mark.parametrize("name", OF_A_GALLERY)
def test_as_a_gallery(desk, hostile, call, here, name):
    files = [path for path in hostile if name not in MAKERS or path.name not in NOTHING_THERE]
    all_refused(call, here, a_third(files, list(OF_A_GALLERY).index(name)), OF_A_GALLERY[name])


@pytest.mark.parametrize("words", [["enroll", "--folder", "bad"], ["sync", "bad", "--yes"]], ids=["folder", "sync"])
def test_in_a_folder(desk, shots, call, here, cropped, words):
    hostile = write_hostile_files(here / "bad" / "Eve")
    listed = [path for path in hostile if os.path.lexists(path) and not path.is_dir()]
    pictures = [path for path in listed if path.suffix not in (".mpo", ".pfm")]
    before = people_in(desk)
    words = [*words, "--jobs", "1", *["--cropped"] * cropped]
    code, out, err = call(*words)
    assert code == 1
    assert "enrolled         0 photos" in out
    assert len(complaints(err)) == len(pictures) > 600
    assert people_in(desk) == before
    # They are known now, and do not keep a sound photo out.
    shutil.copy(shots / "Eve" / "front.png", here / "bad" / "Eve" / "sound.png")
    code, out, err = call(*words)
    assert code in (0, 1)  # what is no file that can be read has nothing it could be known by
    assert "enrolled         1 photo of 1 person" in out
    assert len([line for line in err.splitlines() if line.startswith("lightproof: ")]) < 20
    assert people_in(desk) == before | {"Eve": 1}


@pytest.mark.parametrize("gallery_too", [False, True])
def test_in_a_folder_to_evaluate(desk, shots, call, here, cropped, gallery_too):
    write_hostile_files(here / "bad" / "Eve")
    before = state(here / "bad"), desk.read_bytes()
    more = ["--gallery", "people.gallery"] if gallery_too else ["--preset", "fast", "--draws", "1"]
    words = ["evaluate", "bad", *more, *["--cropped"] * cropped]
    code, out, err = call(*words)
    assert (code, out) == (1, "")
    (line,) = complaints(err)
    assert "bad must be a folder with a folder of pictures for each person" in line
    assert "got 0 people with 0 photos altogether; " in line
    for person in ("Ada", "Eve"):
        shutil.copytree(shots / person, here / "bad" / person, dirs_exist_ok=True)
    code, out, err = call(*words)
    assert code == 0
    assert out.startswith("6 photos of 2 people; ")
    (line,) = err.splitlines()
    assert line.startswith("folder: 6 photos; left out: ")
    assert line.endswith(" not a readable picture")
    assert desk.read_bytes() == before[1]


def test_as_a_film(desk, hostile, call, here):
    pytest.importorskip("cv2", reason="needs OpenCV: pip install 'lightproof[camera]'")
    all_refused(call, here, hostile, lambda bad: ["watch", "--cropped", "--camera", bad])
