from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image

from lightproof import cli
from lightproof.cli import console
from lightproof.cli.photo_loop import own_names, short_names
from lightproof.datasets import make_relit_faces
from lightproof.imaging.decode import read_grey
from lightproof.imaging.detection import face_networks, find_faces
from lightproof.imaging.detection.detector import cut
from tests.cli.conftest import complaints
from tests.hostile import write_hostile_files

pytestmark = pytest.mark.slow

DIAGNOSIS_KEYS = [
    "azimuth", "elevation", "side", "height", "balance", "brightness", "shadow_share", "clipped_share", "black_share",
    "sharpness", "eye_distance", "yaw", "pitch", "roll", "mouth_open", "eyes_open", "hint",
]  # fmt: skip
FACE = ("PNG", "L", (168, 192))
FINDING_KEYS = ["look", "score", "right_eye", "left_eye", "faces"]


@pytest.fixture(scope="module")
def detection():
    """One person under light from the front and from the left of the picture, and another from the front."""
    made = make_relit_faces(2, [(0, 0), (60, 0)])
    return {"front": made.images[0], "left": made.images[1], "other": made.images[2]}


def framed(*crops):
    """Set crops side by side into a dark photo."""
    photo = np.full((320, 320 * len(crops)), 12, dtype=np.uint8)
    for i, crop in enumerate(crops):
        photo[64:256, 320 * i + 76 : 320 * i + 244] = crop
    return photo


@pytest.fixture(scope="module")
def album(tmp_path_factory, detection):
    """Photos, a crop, and things that are none; nobody writes in here."""
    folder = tmp_path_factory.mktemp("album")
    (folder / "other").mkdir()
    pictures = {
        "front.png": framed(detection["front"]),
        "left.jpg": framed(detection["left"]),
        "other/front.png": framed(detection["other"]),
        "two.png": framed(detection["other"], detection["front"]),
        "crop.png": detection["left"],
        "wall.png": np.full((30, 30), 90, dtype=np.uint8),
        "tiny.png": np.arange(64, dtype=np.uint8).reshape(8, 8),
    }
    for name, picture in pictures.items():
        Image.fromarray(picture).save(folder / name)
    (folder / "broken.jpg").write_bytes(b"not a picture")
    return folder


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command line in this process; return exit code, stdout and stderr."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["lightproof", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main()
        said = capsys.readouterr()
        return left.value.code, said.out, said.err

    return run


def kind_of(path):
    with Image.open(path) as image:
        return image.format, image.mode, image.size


# ---------------------------------------------------------------------------------------------------------- light


def test_the_light_is_told_in_a_table_and_a_hint(photos_extra, album, call):
    code, out, err = call("light", album / "front.png", album / "left.jpg")
    assert (code, err) == (0, "")
    head, front, left = (
        next(line for line in out.splitlines() if name in line) for name in ("shadow", "front", "left.")
    )
    assert head.split() == [
        "photo",
        "light",
        "from",
        "balance",
        "shadow",
        "white",
        "black",
        "sharp",
        "head",
        "eyes",
        "look",
    ]
    assert front.split()[:2] == ["front.png", "front"]
    assert front.split()[-1] == "gamma"
    assert left.split()[:2] == ["left.jpg", "left"]
    assert "left.jpg   The right half of the picture, your left side, is in shadow: turn to your right" in out


def test_a_terminal_of_80_letters_is_not_exceeded(photos_extra, album, call, monkeypatch, tmp_path):
    long = tmp_path / "a-photo-with-quite-a-long-name-from-2026-05-04.png"
    long.write_bytes((album / "two.png").read_bytes())
    monkeypatch.setattr(console.stdout, "_force_terminal", True)
    monkeypatch.setattr(console.stdout, "width", 80)
    _, out, _ = call("light", long, album / "left.jpg")
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    assert "2 faces, this is the largest." in out


def test_rows_for_machines_hold_all_that_is_known(photos_extra, album, call, tmp_path):
    code, out, _ = call("light", album / "left.jpg", "--json", tmp_path / "rows.json")
    assert code == 0
    assert "left.jpg" in out
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert list(row) == ["photo", *DIAGNOSIS_KEYS, *FINDING_KEYS]
    assert row["photo"] == str(album / "left.jpg")
    assert (row["side"], row["look"], row["faces"]) == ("left", "gamma", 1)
    assert row["azimuth"] == pytest.approx(60, abs=20)
    # The crop lies 76 pixels from the left and 64 from the top; its eyes are at row 46 and columns 35 and 132.
    assert row["right_eye"] == pytest.approx([111, 110], abs=10)
    assert row["left_eye"] == pytest.approx([208, 110], abs=10)
    assert max(abs(row[angle]) for angle in ("yaw", "pitch", "roll")) < 12
    assert row["mouth_open"] < 0.1 < 0.5 < row["eyes_open"]
    assert row["eye_distance"] == pytest.approx(np.hypot(*np.subtract(row["left_eye"], row["right_eye"])))


def test_a_dash_means_rows_on_stdout_and_nothing_else(photos_extra, album, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("light", album / "broken.jpg", album / "front.png", "--json", "-")
    assert code == 1
    bad, good = json.loads(out)
    assert list(bad) == ["photo", "error"]
    assert bad["photo"] == str(album / "broken.jpg")
    assert complaints(err) == [f"lightproof: {bad['error']}"]
    assert good["photo"] == str(album / "front.png")
    assert list(tmp_path.iterdir()) == []


def test_every_photo_is_read_even_if_others_are_bad(photos_extra, album, call):
    names = ["broken.jpg", "front.png", "missing.jpg", "other", "*.gif", "wall.png", "left.jpg"]
    code, out, err = call("light", *(album / name for name in names))
    assert code == 1
    assert [line.split()[0] for line in out.splitlines() if "gamma" in line] == ["front.png", "left.jpg"]
    said = complaints(err)
    assert len(said) == 5
    for line, name, got in zip(
        said,
        ["broken.jpg", "missing.jpg", "other", "*.gif", "wall.png"],
        ["something else", "No such file or directory", "a folder", "No such file or directory", "none in any look"],
        strict=True,
    ):
        assert line.startswith(f"lightproof: {album / name} must be ")
        assert f"; got {got}" in line


def test_only_bad_photos_give_no_table(album, call):
    code, out, err = call("light", "--cropped", album / "broken.jpg")
    assert (code, out, len(complaints(err))) == (1, "", 1)


def test_several_faces_are_said_or_refused(photos_extra, album, call):
    code, out, err = call("light", album / "two.png")
    assert (code, err) == (0, "")
    assert "two.png  2 faces, this is the largest." in out
    code, out, err = call("light", album / "two.png", "--several", "refuse")
    assert (code, out) == (1, "")
    assert complaints(err) == [f"lightproof: {album / 'two.png'} must be a photo of one face; got 2 faces."]


def test_crops_are_read_as_they_are_without_the_extra(no_extra, album, call, detection):
    from lightproof.imaging.lighting import diagnose

    code, out, err = call("light", "--cropped", album / "crop.png", "--json", "-")
    assert (code, err) == (0, "")
    (row,) = json.loads(out)
    told = diagnose(detection["left"])
    assert [row[key] for key in DIAGNOSIS_KEYS] == [getattr(told, key) for key in DIAGNOSIS_KEYS]
    assert [row[key] for key in FINDING_KEYS] == [None] * 5
    code, out, _ = call("light", "--cropped", album / "crop.png")
    assert "eyes" not in out
    assert "look" not in out


def test_a_crop_that_is_too_small_is_named(album, call):
    _, _, err = call("light", "--cropped", album / "tiny.png")
    (line,) = complaints(err)
    assert line.startswith(f"lightproof: {album / 'tiny.png'}: `face` of diagnose must be a grey face")


def test_without_the_extra_one_sentence_says_what_to_do(no_extra, album, call, tmp_path):
    code, out, err = call("light", album / "front.png", album / "left.jpg", "--picture", tmp_path / "new")
    assert (code, out) == (1, "")
    (line,) = complaints(err)
    assert line.startswith("lightproof: To find faces in photographs lightproof needs ")
    assert line.endswith("pip install 'lightproof[photos]', or give --cropped where the pictures are faces already.")
    code, out, err = call("crop", album / "front.png", "--out", tmp_path / "new")
    assert (code, out) == (1, "")
    assert complaints(err)[0].endswith("install them with: pip install 'lightproof[photos]'.")
    assert list(tmp_path.iterdir()) == []


def test_a_network_that_does_not_run_is_one_sentence(album, call, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("the weights are spoiled\nand so on")

    monkeypatch.setattr(face_networks, "_run", fail)
    code, _, err = call("light", album / "front.png")
    assert code == 1
    said = "The networks that find faces must run; got: the weights are spoiled (see: lightproof doctor)."
    assert complaints(err) == [f"lightproof: {said}"]


def test_names_with_signs_that_move_the_cursor_are_made_harmless(album, call, tmp_path):
    strange = tmp_path / "a\n\x1b[31m\u202e:cat: [red].png"
    strange.write_bytes((album / "crop.png").read_bytes())
    spoiled = tmp_path / "b\n\x1b[31m.png"
    spoiled.write_bytes((album / "tiny.png").read_bytes())
    code, out, err = call("light", "--cropped", strange, spoiled)
    assert code == 1
    assert "a??[31m?:cat: [red].png" in out
    assert len(complaints(err)) == 1
    assert "b??[31m.png: " in err
    assert "\x1b" not in out + err


# -------------------------------------------------------------------------------------------------- light --picture


def test_pictures_of_the_light_are_drawn_and_not_written_over(album, call, tmp_path):
    out = tmp_path / "drawn"
    code, said, _ = call("light", "--cropped", album / "crop.png", "--picture", out, "--json", tmp_path / "rows.json")
    assert code == 0
    assert f"The pictures are in {out}." in said
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert row["picture"] == str(out / "crop-light.png")
    assert kind_of(out / "crop-light.png")[0] == "PNG"
    assert [path.name for path in out.iterdir()] == ["crop-light.png"]
    (out / "crop-light.png").write_text("mine")
    code, _, err = call("light", "--cropped", album / "crop.png", "--picture", out)
    assert code == 1
    assert complaints(err) == [
        f"lightproof: {album / 'crop.png'}: {out / 'crop-light.png'} must be a place that can be written; got: a file "
        "that is there already (--force writes over it)."
    ]
    assert (out / "crop-light.png").read_text() == "mine"
    assert call("light", "--cropped", album / "crop.png", "--picture", out, "--force")[0] == 0
    assert kind_of(out / "crop-light.png")[0] == "PNG"


# ------------------------------------------------------------------------------------------------------------- crop


def test_faces_are_cut_as_the_library_cuts_them(photos_extra, album, call, tmp_path):
    out = tmp_path / "new" / "faces"
    code, said, err = call("crop", album / "left.jpg", album / "front.png", "--out", out, "--json", tmp_path / "rows")
    assert (code, err) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == ["front.png", "left.png"]
    photo = read_grey(album / "front.png")
    (face,) = find_faces(photo)
    cropped = read_grey(out / "front.png")
    assert cropped.shape == (192, 168)
    assert np.array_equal(cropped, cut(photo, face))
    line = next(line for line in said.splitlines() if "front" in line)
    assert line.split()[:3] == ["front.png", "front.png", face.look]
    assert f"2 faces are in {out}." in said
    rows = json.loads((tmp_path / "rows").read_text())
    assert [list(row) for row in rows] == [["photo", "face", "file", "eye_distance", *FINDING_KEYS]] * 2
    assert rows[1]["file"] == str(out / "front.png")
    assert rows[1]["right_eye"] == list(face.right_eye)


def test_photos_of_one_name_get_numbers(photos_extra, album, call, tmp_path):
    code, _, _ = call("crop", album / "front.png", album / "other" / "front.png", "--out", tmp_path)
    assert code == 0
    first, second = (read_grey(tmp_path / name) for name in ("front.png", "front-2.png"))
    assert not np.array_equal(first, second)


def test_every_face_is_cut_on_request(photos_extra, album, call, tmp_path):
    code, said, _ = call("crop", album / "two.png", album / "front.png", "--all", "--out", tmp_path)
    assert code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["front-1.png", "two-1.png", "two-2.png"]
    assert "1 of 2" in said
    assert "2 of 2" in said
    code, said, _ = call("crop", album / "two.png", "--out", tmp_path, "--json", "-")
    (row,) = json.loads(said)
    assert (code, row["face"], row["faces"]) == (0, 1, 2)
    assert (tmp_path / "two.png").read_bytes() == (tmp_path / "two-1.png").read_bytes()


def test_several_faces_are_refused_on_request(photos_extra, album, call, tmp_path):
    code, _, err = call("crop", album / "two.png", "--several", "refuse", "--out", tmp_path)
    assert (code, len(complaints(err)), list(tmp_path.iterdir())) == (1, 1, [])
    code, _, err = call("crop", album / "two.png", "--several", "refuse", "--all", "--out", tmp_path)
    assert code == 2
    assert complaints(err) == ["lightproof: `several` of crop must be given without --all; got 'refuse'."]


def test_a_face_is_never_written_over_unless_forced(photos_extra, album, call, tmp_path):
    (tmp_path / "front.png").write_text("mine")
    code, _, err = call("crop", album / "front.png", album / "left.jpg", "--out", tmp_path)
    assert code == 1
    assert "front.png must be a place that can be written; got: a file that is there already (--force" in err
    assert (tmp_path / "front.png").read_text() == "mine"
    assert kind_of(tmp_path / "left.png") == FACE
    assert call("crop", album / "front.png", "--out", tmp_path, "--force")[0] == 0
    assert kind_of(tmp_path / "front.png") == FACE


def test_of_several_faces_none_is_written_where_one_has_no_place(photos_extra, album, call, tmp_path):
    (tmp_path / "two-2.png").write_text("mine")
    assert call("crop", album / "two.png", "--all", "--out", tmp_path)[0] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["two-2.png"]


def test_no_force_writes_over_the_photos_themselves(photos_extra, album, call, tmp_path):
    photo = tmp_path / "front.png"
    photo.write_bytes((album / "front.png").read_bytes())
    code, _, err = call("crop", photo, "--out", tmp_path, "--force")
    assert code == 1
    assert "front.png must be a place that can be written; got: one of the photos themselves." in err
    assert photo.read_bytes() == (album / "front.png").read_bytes()


def test_bad_photos_are_refused_and_the_others_cut(photos_extra, album, call, tmp_path):
    code, out, err = call("crop", album / "broken.jpg", album / "wall.png", album / "left.jpg", "--out", tmp_path)
    assert code == 1
    assert len(complaints(err)) == 2
    assert "wall.png must be a photo" in err
    assert "1 face is in" in out
    assert [path.name for path in tmp_path.iterdir()] == ["left.png"]


@pytest.mark.parametrize(
    ("photos", "names"),
    [
        (["a.jpg", "b.jpg"], ["a", "b"]),
        (["a.jpg", "x/a.png", "y/a.jpg"], ["a", "a-2", "a-3"]),
        (["a.jpg", "x/a.jpg", "a-2.jpg"], ["a", "a-2", "a-2-2"]),
        (["a-2.jpg", "a.jpg", "x/a.jpg"], ["a-2", "a", "a-3"]),
        (["a.jpg", "A.jpg"], ["a", "A-2"]),
        ([".hidden", "a.tar.gz"], [".hidden", "a.tar"]),
    ],
)
def test_own_names_are_never_the_same(photos, names):
    assert own_names(map(Path, photos)) == names


def test_tables_call_a_photo_by_the_shortest_name_that_tells_it():
    rows = [{"photo": path} for path in ("x/a.jpg", "y/a.jpg", "x/b.jpg", "x/b.jpg")]
    assert short_names(rows) == {"x/a.jpg": "x/a.jpg", "y/a.jpg": "y/a.jpg", "x/b.jpg": "b.jpg"}


# ------------------------------------------------------------------------------------- places, interrupts and pipes


@pytest.mark.parametrize("command", ["light --cropped", "crop --out faces", "doctor"])
def test_a_place_for_the_rows_is_checked_before_the_work(album, call, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    portraits = [] if command == "doctor" else [album / "crop.png"]
    code, out, err = call(*command.split(), *portraits, "--json", "nowhere/rows.json")
    assert (code, out) == (1, "")
    place = Path("nowhere/rows.json")
    assert complaints(err) == [f"lightproof: {place} must be a place that can be written; got: no such folder."]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_device_is_written_to_and_not_replaced(album, call):
    code, _, err = call("light", "--cropped", album / "crop.png", "--json", "/dev/full")
    assert code == 1
    assert "/dev/full must be a place that can be written; got: No space left on device." in err
    assert not Path("/dev/full").is_file()


def test_a_folder_that_takes_no_file_is_refused_at_once(photos_extra, album, call, tmp_path):
    (tmp_path / "taken").write_text("")
    for command in (["crop", "--out"], ["light", "--picture"]):
        code, _, err = call(*command, tmp_path / "taken", album / "front.png")
        assert code == 1
        assert complaints(err) == [
            f"lightproof: {tmp_path / 'taken'} must be a place that can be written; got: File exists."
        ]


@pytest.mark.parametrize(
    "arguments", [["light"], ["crop", "a.jpg"], ["light", "a.jpg", "--several", "two"], ["doctor", "a"]]
)
def test_a_wrong_call_is_exit_code_2(call, arguments):
    assert call(*arguments)[0] == 2


@pytest.mark.parametrize("command", ["light", "crop", "doctor"])
def test_help_tells_the_exit_codes(call, command):
    code, out, _ = call(command, "--help")
    assert code == 0
    said = " ".join(out.split())
    for words in ("Exit codes: 0 ", "; 1 ", "; 2 a wrong call; 130 stopped by Ctrl-C."):
        assert words in said


def interrupted(function, after):
    """Interrupt a function at the call after so many."""
    left = [after]

    def wrapped(*arguments, **named):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return function(*arguments, **named)

    return wrapped


def test_ctrl_c_leaves_whole_faces_and_no_rows(photos_extra, album, call, tmp_path, monkeypatch):
    from lightproof.imaging.detection import portraits

    monkeypatch.setattr(portraits, "read_grey", interrupted(portraits.read_grey, 1))
    out = tmp_path / "out"
    call_it = ["crop", album / "front.png", album / "left.jpg", "--out", out, "--json", tmp_path / "rows.json"]
    code, said, err = call(*call_it)
    assert (code, said) == (130, "")
    assert err.strip() == f"Stopped. The faces that are in {out} are complete."
    assert kind_of(out / "front.png") == FACE
    assert list(tmp_path.rglob("*.*")) == [out / "front.png"]


def test_ctrl_c_while_a_file_is_written_leaves_nothing_of_it(album, call, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", interrupted(os.replace, 0))
    code, _, err = call("light", "--cropped", album / "crop.png", "--picture", tmp_path)
    assert (code, err.strip()) == (130, "Stopped. What is drawn stays.")
    assert list(tmp_path.iterdir()) == []
    code, _, err = call("light", "--cropped", album / "crop.png", "--json", tmp_path / "rows.json")
    assert (code, err.strip()) == (130, "Stopped. Nothing was written.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="pipes are another thing there")
def test_a_closed_pipe_is_no_traceback_and_costs_no_file(album, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "lightproof", "light", "--cropped", album / "crop.png"]
    result = subprocess.run(
        [*command, "--json", tmp_path / "rows.json"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, "")
    assert len(json.loads((tmp_path / "rows.json").read_text())) == 1


def test_the_way_in_loads_nothing_that_only_some_commands_need():
    code = """
import sys, lightproof.cli
sys.exit(", ".join({"ai_edge_litert", "matplotlib", "torch", "lightproof.imaging.lighting"} & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""


# -------------------------------------------------------------------------------------------------- hostile photos


def test_rows_never_take_the_place_of_a_photo(album, tmp_path, call):
    """Where the name of the file is forgotten, the shell's next word is a photo."""
    photo, rows = tmp_path / "photo.png", tmp_path / "rows.json"
    photo.write_bytes((album / "crop.png").read_bytes())
    for place in (photo, album / "crop.png"):
        before = place.read_bytes()
        code, out, err = call("light", "--cropped", album / "crop.png", "--json", place)
        assert (code, out) == (1, "")
        assert err.strip() == (
            f"lightproof: {place} must be a place that can be written; got: a file that holds something else than rows."
        )
        assert place.read_bytes() == before
    for _ in range(2):  # rows may take the place of rows
        assert call("light", "--cropped", album / "crop.png", "--json", rows)[0] == 0


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return write_hostile_files(tmp_path_factory.mktemp("hostile"))


def test_every_hostile_file_is_one_sentence_and_exit_code_1(hostile, capsys):
    assert len(hostile) >= 300
    # Made once: typer builds all commands anew at every call of the app.
    command = typer.main.get_command(cli.app)
    for path in hostile:
        with pytest.raises(SystemExit) as left:
            command(["light", "--cropped", str(path)])
        said = capsys.readouterr()
        assert (left.value.code, said.out, len(complaints(said.err))) == (1, "", 1), path.name
        assert " must be " in said.err, path.name


@pytest.mark.parametrize("command", ["light", "crop"])
def test_all_hostile_files_at_once_are_one_sentence_each(photos_extra, hostile, album, call, tmp_path, command):
    place = ["--out", tmp_path] if command == "crop" else []
    code, out, err = call(command, *hostile, album / "front.png", *place, "--json", "-")
    assert code == 1
    rows = json.loads(out)
    assert [row["photo"] for row in rows] == [*map(str, hostile), str(album / "front.png")]
    assert ["error" in row for row in rows] == [True] * len(hostile) + [False]
    assert complaints(err) == [f"lightproof: {row['error']}" for row in rows[:-1]]
    assert [path.name for path in tmp_path.iterdir()] == (["front.png"] if command == "crop" else [])
