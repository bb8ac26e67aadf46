"""AR on folders written here: the set itself may not be passed on."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from lightproof.cli.console import count_reasons
from lightproof.datasets import load_ar
from lightproof.datasets.protocols import ar_test
from lightproof.errors import DatasetMissing
from lightproof.imaging.detection import align_by_eyes

SHOTS = (1, 5, 6, 7, 14, 18, 19, 20)
EYES = (350, 240, 430, 244)


def encoded(image, kind, **options):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind, **options)
    return buffer.getvalue()


def warped_people(folder, men=50, women=50, shots=SHOTS, letter="W"):
    """The warped set: one picture of noise a person, in color, the same for all shots."""
    rng = np.random.default_rng(5)
    folder.mkdir(parents=True)
    for sex, number in (("M", men), (letter, women)):
        for i in range(1, number + 1):
            photo = encoded(rng.integers(0, 256, (165, 120, 3), np.uint8), "BMP")
            for shot in shots:
                (folder / f"{sex}-{i:03d}-{shot:02d}.bmp").write_bytes(photo)


@pytest.fixture(scope="module")
def warped(tmp_path_factory):
    root = tmp_path_factory.mktemp("ar") / "AR_warp_zip"
    warped_people(root / "test2", shots=(*SHOTS, 2, 26))
    (root / "Thumbs.db").write_bytes(b"junk")
    (root / "test2" / ".DS_Store").write_bytes(b"junk")
    (root / "test2" / "M-001-27.bmp").write_bytes(b"no such shot")
    return root


@pytest.fixture
def photo(rng):
    """A color photo of the size of the originals, smooth like a photo."""
    rows, columns = np.mgrid[:576, :768]
    waves = [130 + 90 * np.sin(columns / 31 + c) * np.cos(rows / 23 + c) for c in (0, 0.3, 0.7)]
    return np.rint(np.stack(waves, axis=2)).astype(np.uint8)


def test_the_warped_set_has_the_counts_of_the_paper(warped):
    faces = load_ar(warped.parent)
    split = ar_test().split(faces)
    assert len(split.gallery) == 200
    assert {subset: len(probes) for subset, probes in split.probes.items()} == {1: 400, 2: 200}
    shots = np.array(faces.shots)
    assert set(shots[split.gallery]) == {"1", "14"}
    assert set(shots[split.probes[1]]) == {"5", "6", "18", "19"}
    assert set(shots[split.probes[2]]) == {"7", "20"}


def test_the_warped_set_is_taken_as_it_is(warped):
    faces = load_ar(warped)
    assert (faces.name, faces.images.shape) == ("ar", (800, 165, 120))
    assert faces.labels[[0, 399, 400, 799]].tolist() == ["m-001", "m-050", "w-001", "w-050"]
    assert faces.files[7] == "test2/M-001-20.bmp"
    assert faces.shots[:8] == tuple(map(str, SHOTS))
    assert np.isnan(faces.azimuths).all()
    assert np.isnan(faces.elevations).all()
    with Image.open(warped / "test2" / "W-050-20.bmp") as last:
        assert_array_equal(faces.images[799], np.asarray(last.convert("L")))
    assert faces.skipped == (
        "Thumbs.db: not named like a photo of AR",
        "test2/.DS_Store: not named like a photo of AR",
        "test2/M-001-27.bmp: not named like a photo of AR",
    )


def test_progress_sees_every_photo(warped):
    seen = []
    load_ar(warped, progress=lambda loop: (seen.append(i) or i for i in loop))
    assert seen == list(range(800))


def test_a_warped_set_without_one_photo_is_refused_with_counts(tmp_path):
    warped_people(tmp_path / "ar", men=2, women=1)
    (tmp_path / "ar" / "M-002-07.bmp").unlink()
    expected = (
        r"ar must be the AR Face Database: either the warped set .*Aleix Martinez, Ohio State University; "
        r"got 23 photos of 3 people, 2 of them with all of shots 1, 5, 6, 7, 14, 18, 19, 20; "
        r"1 left out: m-002, no shot 7: without all eight shots\.$"
    )
    with pytest.raises(DatasetMissing, match=expected):
        load_ar(tmp_path / "ar")
    faces = load_ar(tmp_path / "ar", complete=False)
    assert set(faces.labels) == {"m-001", "w-001"}
    assert faces.skipped == ("m-002, no shot 7: without all eight shots",)
    (tmp_path / "ar" / "M-002-20.bmp").unlink()
    skipped = load_ar(tmp_path / "ar", complete=False).skipped
    assert skipped == ("m-002, no shots 7, 20: without all eight shots",)
    assert count_reasons(skipped) == "1 without all eight shots"


def test_women_are_w_or_f_and_no_men(tmp_path):
    warped_people(tmp_path / "f", men=1, women=1, letter="F")
    warped_people(tmp_path / "w", men=1, women=1, letter="w")
    found = [load_ar(tmp_path / letter, complete=False).labels for letter in "fw"]
    assert_array_equal(*found)
    assert set(found[0]) == {"m-001", "w-001"}


def test_an_unreadable_photo_is_counted_and_its_person_left_out(tmp_path):
    warped_people(tmp_path / "ar", men=3, women=0)
    broken = tmp_path / "ar" / "M-003-18.bmp"
    broken.write_bytes(broken.read_bytes()[:500])
    faces = load_ar(tmp_path / "ar", complete=False)
    assert set(faces.labels) == {"m-001", "m-002"}
    assert faces.skipped == ("M-003-18.bmp: not a readable picture", "m-003, no shot 18: without all eight shots")


def write_eyes(path, eyes=EYES):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(" ".join(map(str, eyes)) + "\n")


VARIANTS = {
    "planar.raw": ("M-{i:02d}-{shot:02d}.raw", lambda p: p.transpose(2, 0, 1).tobytes()),
    "interleaved.raw": ("F-{i:02d}-{shot}.raw", lambda p: p.tobytes()),
    "raw.jpg": ("M-{i:02d}-{shot:02d}.raw.jpg", lambda p: encoded(p, "JPEG", quality=100)),
    "idiap": ("m-{i:03d}-{shot:02d}.ppm", lambda p: encoded(p, "PPM")),
    "idiap-women": ("w-{i:03d}-{shot:02d}.PPM", lambda p: encoded(p, "PPM")),
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("where", ["beside", "apart"])
def test_every_form_of_the_originals_is_cropped_by_its_eyes(tmp_path, photo, variant, where):
    pattern, encode = VARIANTS[variant]
    content = encode(photo)
    (tmp_path / "images").mkdir()
    for i in (1, 2):
        for shot in SHOTS:
            name = pattern.format(i=i, shot=shot)
            (tmp_path / "images" / name).write_bytes(content)
            place = tmp_path / ("images" if where == "beside" else "annotations/a")
            write_eyes(place / f"{name.split('.')[0]}.pos")
    faces = load_ar(tmp_path)
    sex = "m" if pattern[0] in "mM" else "w"
    assert faces.images.shape == (16, 192, 168)
    assert faces.labels.tolist() == [f"{sex}-001"] * 8 + [f"{sex}-002"] * 8
    assert faces.shots == tuple(map(str, SHOTS)) * 2
    assert faces.skipped == ()
    grey = np.asarray(Image.fromarray(photo).convert("L"))
    wanted = align_by_eyes(grey, EYES[:2], EYES[2:]).astype(int)
    assert np.abs(faces.images[0] - wanted).max() <= (3 if variant == "raw.jpg" else 0)


@pytest.fixture
def idiap(tmp_path, photo):
    """Two people in one flat folder."""
    small = encoded(photo[::2, ::2], "PPM")
    for name in ("m-001", "m-002", "w-001"):
        for shot in SHOTS:
            (tmp_path / f"{name}-{shot:02d}.ppm").write_bytes(small)
            write_eyes(tmp_path / f"{name}-{shot:02d}.pos", (170, 120, 215, 120))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, ": without a .pos file for the eyes"),
        ("1 2 3", ": with a .pos file that is not one line 're_x re_y le_x le_y'"),
        ("right left up down", ": with a .pos file that is not one line 're_x re_y le_x le_y'"),
        ("\0\x01\x02\xff", ": with a .pos file that is not one line 're_x re_y le_x le_y'"),
        ("215 120 170 120", ", 215 120 170 120 in 288 x 384 pixels: with impossible eyes"),
        ("170 120 500 120", ", 170 120 500 120 in 288 x 384 pixels: with impossible eyes"),
    ],
)
def test_a_photo_without_eyes_is_left_out_with_the_reason(idiap, content, reason):
    (idiap / "m-002-05.pos").unlink()
    if content:
        (idiap / "m-002-05.pos").write_text(content)
    faces = load_ar(idiap)
    assert set(faces.labels) == {"m-001", "w-001"}
    assert faces.skipped == (f"m-002-05.ppm{reason}", "m-002, no shot 5: without all eight shots")


def test_a_folder_named_like_the_eyes_is_no_eyes(idiap):
    (idiap / "m-002-05.pos").unlink()
    (idiap / "m-002-05.pos").mkdir()
    assert load_ar(idiap).skipped[0] == "m-002-05.ppm: without a .pos file for the eyes"


def test_eyes_that_may_not_be_read_are_told(idiap, monkeypatch):
    read_text = Path.read_text

    def refuse(path, *args, **options):
        if path.name == "m-002-05.pos":
            raise PermissionError(13, "Permission denied")
        return read_text(path, *args, **options)

    monkeypatch.setattr(Path, "read_text", refuse)
    assert load_ar(idiap).skipped[0] == "m-002-05.ppm: with a .pos file that cannot be read"


def test_the_eyes_beside_a_photo_count_before_others(idiap):
    before = load_ar(idiap).images
    write_eyes(idiap / "annotations" / "m-001-01.pos", (100, 100, 200, 100))
    assert_array_equal(load_ar(idiap).images, before)


def test_no_eyes_at_all_is_said(idiap):
    for path in idiap.glob("*.pos"):
        path.unlink()
    expected = (
        r"got 24 photos of 3 people, 0 of them with all of shots .*; "
        r"24 left out: m-001-01\.ppm: without a \.pos file for the eyes, .* and 21 more\.$"
    )
    with pytest.raises(DatasetMissing, match=expected):
        load_ar(idiap)


def test_the_same_shot_twice_is_read_once_and_a_good_copy_replaces_a_broken_one(idiap):
    (idiap / "m-001-01.raw").write_bytes(b"too short")
    (idiap / "copy").mkdir()
    (idiap / "copy" / "m-001-05.ppm").write_bytes((idiap / "m-001-05.ppm").read_bytes())
    (idiap / "m-001-01.ppm").rename(idiap / "m-001-01.tiff")
    faces = load_ar(idiap)
    assert len(faces) == 24
    assert faces.files[0] == "m-001-01.tiff"
    assert faces.skipped == (
        "m-001-01.raw: not a readable picture",
        "m-001-05.ppm, shot 5 of m-001: a second file of the same shot",
    )


def test_warped_and_original_photos_are_not_mixed(idiap):
    warped_people(idiap / "warped", men=4, women=0)
    expected = (
        r"must be one form of the AR Face Database: .*; "
        r"got both: warped/M-003-01\.bmp is warped, m-001-01\.ppm is not\.$"
    )
    with pytest.raises(DatasetMissing, match=expected):
        load_ar(idiap)


@pytest.mark.parametrize("make", ["nothing", "file", "empty", "other"])
def test_a_folder_that_is_not_ar_says_what_to_put_where_and_who_gives_it(tmp_path, make):
    folder = tmp_path / "folder"
    got = {"nothing": "no such folder", "file": "a file"}.get(make, "no photo of that name")
    if make == "file":
        folder.write_text("no folder")
    elif make != "nothing":
        folder.mkdir()
    if make == "other":
        (folder / "smile.jpg").write_bytes(b"junk")
    parts = (
        "folder must be the AR Face Database: ",
        "AR_warp_zip/test2/M-001-05.bmp, 120 wide and 165 high",
        "M-01-05.raw, M-01-05.raw.jpg or m-001-05.ppm, 768 wide and 576 high",
        "M-01-05.pos with the line 're_x re_y le_x le_y'",
        "given out for research on request by Aleix Martinez, Ohio State University; ",
        f"got {got}.",
    )
    with pytest.raises(DatasetMissing, match=".*".join(map(re.escape, parts)) + "$"):
        load_ar(folder)
