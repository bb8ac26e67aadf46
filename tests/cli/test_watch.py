"""``watch``: the frames of a second vote, and only a change is said."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from lightproof.cli.watch import NOBODY, Frame, Votes, frames
from lightproof.imaging.decode import read_grey
from tests.cli.conftest import complaints, state

pytestmark = pytest.mark.slow

ADA, BEN, STRANGER = ("person", "Ada"), ("person", "Ben"), ("stranger", None)
RATE = 10
watching = sys.modules["lightproof.cli.watch"]


@pytest.fixture
def shows(monkeypatch):
    """Let the camera show these pictures, ten a second."""

    def put(pictures):
        frames = [Frame(i / RATE, picture) for i, picture in enumerate(pictures)]
        monkeypatch.setattr(watching, "frames", lambda camera: iter(frames))

    return put


@pytest.fixture(scope="module")
def pictures(shots):
    found = {name: read_grey(shots / name / "front.png") for name in ("Ada", "Ben", "Eve")}
    dark = np.random.default_rng(0).integers(0, 3, (192, 168), dtype=np.uint8)
    return found | {
        "nobody": np.full((192, 168), 90, np.uint8),
        "night": np.full((192, 168), 3, np.uint8),
        "dark": dark,
    }


def told_by(votes, *frames):
    return [votes.add(second, vote) for second, vote in frames]


def test_one_frame_says_nothing_and_three_that_agree_do():
    assert told_by(Votes(), (0.0, ADA), (0.1, ADA), (0.2, ADA)) == [None, None, ADA]


def test_more_than_half_of_the_last_second_decides():
    votes = Votes()
    assert told_by(votes, (0.0, ADA), (0.1, ADA), (0.2, STRANGER), (0.3, STRANGER)) == [None, None, ADA, None]
    assert votes.add(0.4, STRANGER) == STRANGER
    # One second after them the first frames are forgotten.
    assert told_by(votes, (1.15, ADA), (1.25, ADA), (1.35, ADA)) == [STRANGER, None, ADA]


def test_a_slow_camera_still_needs_three_frames():
    assert told_by(Votes(), (0.0, ADA), (5.0, BEN), (10.0, BEN), (15.0, NOBODY)) == [None, None, BEN, BEN]


def test_who_is_there_is_said_once_whenever_it_changes(gallery, pictures, shows, call, here):
    film = ["Ada"] * 15 + ["Eve"] * 15 + ["nobody"] * 15 + ["Ben"] * 15
    shows([pictures[name] for name in film])
    before = state(here)
    code, out, err = call("watch", "--cropped")
    assert (code, err) == (0, "")
    assert [line.split()[2] for line in out.splitlines()] == ["Ada", "unknown", "nobody", "Ben"]
    assert state(here) == before
    code, out, _ = call("watch", "--cropped", "--json", "-")
    rows = json.loads(out)
    assert [list(row) for row in rows] == [["second", "seen", "name", "score", "hint"]] * 4
    assert [(row["seen"], row["name"]) for row in rows] == [ADA, STRANGER, NOBODY, BEN]
    assert [row["hint"] for row in rows] == [""] * 4  # the light is even: nothing to be said
    assert rows[0]["second"] == 0.2
    # More than half of the frames of the last second are of somebody else.
    assert [row["second"] for row in rows[1:]] == pytest.approx([2.0, 3.5, 5.0], abs=0.11)


def test_one_wrong_frame_changes_nothing(gallery, pictures, shows, call):
    shows([pictures[name] for name in ["Ada"] * 8 + ["Ben", "nobody"] + ["Ada"] * 8])
    _, out, _ = call("watch", "--cropped")
    assert [line.split()[2] for line in out.splitlines()] == ["Ada"]


def test_in_the_dark_the_light_is_spoken_of(gallery, pictures, shows, call):
    hint = "Too dark: turn on a light in front of you, or turn toward the window."
    shows([pictures["night"]] * 5 + [pictures["dark"]] * 15 + [pictures["nobody"]] * 20)
    _, out, _ = call("watch", "--cropped", "--json", "-")
    night, stranger, light = json.loads(out)
    assert (night["seen"], night["hint"]) == ("nobody", hint)
    assert (stranger["seen"], stranger["hint"]) == ("stranger", hint)
    assert (light["seen"], light["hint"]) == ("nobody", "")


def test_a_watch_ends_after_some_seconds_or_with_ctrl_c(gallery, pictures, call, monkeypatch):
    def endless(camera):
        for i in range(50):
            yield Frame(i / RATE, pictures["Ada"] if i < 20 else pictures["Ben"])
        raise KeyboardInterrupt

    monkeypatch.setattr(watching, "frames", endless)
    code, out, _ = call("watch", "--cropped", "--seconds", "1.5")
    assert (code, [line.split()[2] for line in out.splitlines()]) == (0, ["Ada"])
    code, out, err = call("watch", "--cropped", "--json", "rows.json")
    assert (code, err) == (0, "")
    assert [line.split()[2] for line in out.splitlines()] == ["Ada", "Ben"]
    assert len(json.loads(Path("rows.json").read_text())) == 2


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_watch_of_no_time_is_refused(gallery, call, seconds):
    code, _, err = call("watch", "--seconds", seconds)
    assert code == 2
    assert complaints(err)[0].startswith("lightproof: `seconds` of watch must be more than 0; got ")


def test_without_opencv_the_extra_is_named(gallery, call, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    code, out, err = call("watch", "--cropped")
    assert (code, out) == (1, "")
    assert complaints(err) == [
        "lightproof: To watch a camera lightproof needs the packages of OpenCV; install them with: pip install "
        "'lightproof[camera]'."
    ]


# ------------------------------------------------------------------------------------------------------- with OpenCV


@pytest.fixture
def cv2():
    return pytest.importorskip("cv2", reason="needs OpenCV: pip install 'lightproof[camera]'")


@pytest.fixture
def raw_stderr():
    """What is written to stderr past Python."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        yield file
        os.dup2(kept, 2)
    os.close(kept)


@pytest.fixture
def film(cv2, pictures, here):
    """A film in colors: Ada for 1.5 seconds, then Eve."""
    writer = cv2.VideoWriter("film.avi", cv2.VideoWriter_fourcc(*"MJPG"), RATE, (168, 192))
    if not writer.isOpened():
        pytest.skip("this OpenCV writes no films")
    for name in ["Ada"] * 15 + ["Eve"] * 15:
        writer.write(cv2.cvtColor(pictures[name], cv2.COLOR_GRAY2BGR))
    writer.release()
    return here / "film.avi"


def test_the_frames_of_a_film_are_grey_and_tell_their_time(film, pictures):
    read = list(frames("film.avi"))
    assert [frame.second for frame in read] == pytest.approx(np.arange(30) / RATE)
    assert {(frame.image.shape, frame.image.dtype.str) for frame in read} == {((192, 168), "|u1")}
    assert np.abs(read[0].image.astype(float) - pictures["Ada"]).mean() < 5


def test_a_film_is_watched_to_its_end(film, gallery, call):
    code, out, err = call("watch", "--camera", "film.avi", "--cropped")
    assert (code, err) == (0, "")
    assert [line.split()[2] for line in out.splitlines()] == ["Ada", "unknown"]


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("rest", [b"", bytes(50_000), b"\xff" * 50_000], ids=["cut", "zeros", "ones"])
def test_a_broken_film_is_watched_as_far_as_it_goes_or_refused(film, gallery, call, here, raw_stderr, share, rest):
    whole = film.read_bytes()
    film.write_bytes(whole[: int(share * len(whole))] + rest)
    before = state(here)
    code, _, err = call("watch", "--camera", "film.avi", "--cropped")
    said = complaints(err)
    assert (code, len(said)) in ((0, 0), (1, 1))
    assert all("film.avi must be a " in line for line in said)
    raw_stderr.seek(0)
    assert raw_stderr.read() == b""
    assert state(here) == before


def test_a_picture_is_no_film(cv2, gallery, shots, call):
    code, out, err = call("watch", "--camera", shots / "Ada" / "front.png", "--cropped")
    assert (code, out) == (1, "")
    assert complaints(err)[0].endswith("front.png must be a camera or a film of 3 or more pictures; got 1.")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("9999", "Camera 9999 must be a camera that can be used; got no picture."),
        ("nowhere.avi", "nowhere.avi must be the number of a camera, or a film; got no such file."),
        (".", "must be the number of a camera, or a film; got a folder."),
        ("people.gallery", "people.gallery must be a film that can be read; got no picture."),
        ("http://localhost/film.avi", "must be the number of a camera, or a film; got no such file."),
    ],
)
def test_where_there_is_nothing_to_see_one_sentence_says_so(cv2, gallery, call, raw_stderr, here, place, said):
    before = state(here)
    code, out, err = call("watch", "--camera", place, "--cropped")
    assert (code, out) == (1, "")
    assert complaints(err)[0].endswith(said)
    raw_stderr.seek(0)
    assert raw_stderr.read() == b""  # nor do the libraries below speak
    assert state(here) == before
