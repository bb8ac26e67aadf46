"""CAS-PEAL-R1 on folders written here: the set itself may not be passed on."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from lightproof.cli.console import count_reasons
from lightproof.datasets import cas_peal, load_cas_peal
from lightproof.datasets.protocols import cas_peal_test
from lightproof.errors import BadParameter, DatasetMissing
from lightproof.imaging.detection import align_by_eyes

# Three lights at azimuth 0, four at 45, two at 90; two of the nine are incandescent.
LIGHTS = ("IFM+00", "IFU+00", "IFD-00", "IFM+45", "IFM-45", "IFU+45", "ILD-45", "IFM+90", "ILM-90")
EYES = (141, 222, 217, 220)


def photo_name(person, light="IEU+00", session=0, privacy="R1", kind="MY"):
    return f"{kind}_{person:06d}_{light}_PM+00_EN_A0_D0_T{session}_BB_M0_{privacy}_S0"


class Tree:
    """A CAS-PEAL-R1 to be: one picture of noise a person, the same under all lights."""

    def __init__(self, home, people=3, lights=LIGHTS, lone=2):
        self.root = home / "CAS-PEAL-R1"
        self.frontal = self.root / "FRONTAL"
        self.image = {}
        for person in range(1, people + lone + 1):
            self.image[person] = np.random.default_rng(person).integers(0, 256, (480, 360), np.uint8)
            self.add("Normal", person)
            for light in lights if person <= people else ():
                self.add("Lighting", person, light)
        (self.root / "POSE" / "000001").mkdir(parents=True)
        (self.root / "Documents").mkdir()

    def add(self, folder, person, light="IEU+00", ending="tif", eyes=EYES, **fields):
        place = self.frontal / folder
        place.mkdir(parents=True, exist_ok=True)
        name = photo_name(person, light, **fields)
        buffer = io.BytesIO()
        Image.fromarray(self.image[person]).save(buffer, {"tif": "TIFF", "jpg": "JPEG", "bmp": "BMP"}[ending])
        (place / f"{name}.{ending}").write_bytes(buffer.getvalue())
        if eyes:
            with (place / "FaceFP_2.txt").open("a", newline="") as file:
                file.write(f"{name}\t {' '.join(map(str, eyes))}\r\n")
        return place / f"{name}.{ending}"

    def write_list(self, path, folder, names):
        place = self.root / "Evaluation Prototype" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(f"FRONTAL\\{folder}\\{name}\r\n" for name in names), newline="")

    def write_lists(self):
        normal, lit = (sorted(p.stem for p in (self.frontal / f).glob("*.tif")) for f in ("Normal", "Lighting"))
        self.write_list("Gallery/Gallery.txt", "Normal", normal)
        self.write_list("Probe Sets/Probe Set_Lighting.txt", "Lighting", lit)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def load_some(tree, **options):
    return load_cas_peal(tree.root, complete=False, **options)


def test_people_with_a_normal_and_a_lit_photo_are_read_with_their_lights(tree):
    faces = load_some(tree)
    assert (faces.name, faces.images.shape) == ("cas-peal", (30, 192, 168))
    assert faces.labels.tolist() == ["000001"] * 10 + ["000002"] * 10 + ["000003"] * 10
    assert faces.shots[0] == "IEU+00"
    assert faces.files[0] == f"FRONTAL/Normal/{photo_name(1)}.tif"
    lights = dict(zip(faces.shots, zip(faces.azimuths, faces.elevations, strict=True), strict=True))
    assert lights["IFM+45"] == (45, 0)
    assert lights["ILD-45"] == (-45, -45)
    assert lights["IFU+00"] == (0, 45)
    assert not np.signbit(faces.azimuths[faces.shots.index("IFD-00")])
    assert_array_equal(faces.images[0], align_by_eyes(tree.image[1], EYES[:2], EYES[2:]))
    assert faces.skipped == ()


def test_the_subsets_are_counted_by_azimuth(tree):
    split = cas_peal_test().split(load_some(tree))
    assert split.gallery.tolist() == [0, 10, 20]
    assert {subset: len(probes) for subset, probes in split.probes.items()} == {1: 9, 2: 12, 3: 6}


@pytest.mark.parametrize(("sources", "counts"), [("F", (9, 9, 3)), (["L"], (0, 3, 3)), ({"F", "L"}, (9, 12, 6))])
def test_the_lamps_can_be_chosen(tree, sources, counts):
    faces = load_some(tree, sources=sources)
    split = cas_peal_test().split(faces)
    assert tuple(len(split.probes[subset]) for subset in (1, 2, 3)) == counts
    assert {shot[1] for shot in faces.shots} == {"E", *sources}


@pytest.mark.parametrize("sources", ["", "E", ["F", "X"], None, ("FL",)])
def test_unknown_lamps_are_refused(tree, sources):
    expected = r"^`sources` of load_cas_peal must be 'F' \(fluorescent\), 'L' \(incandescent\) or both; got .*\.$"
    with pytest.raises(BadParameter, match=expected):
        load_some(tree, sources=sources)


@pytest.mark.parametrize("given", ["CAS-PEAL-R1", "CAS-PEAL-R1/FRONTAL", "."])
def test_the_folder_may_be_the_set_its_frontal_part_or_where_it_lies(tmp_path, given):
    Tree(tmp_path)
    faces = load_cas_peal(tmp_path / given, complete=False)
    assert len(faces) == 30
    assert faces.files[0].startswith("FRONTAL/Normal/")


def test_junk_is_skipped_with_the_reason(tree):
    (tree.frontal / "Lighting" / "Thumbs.db").write_bytes(b"junk")
    (tree.frontal / "Normal" / ".DS_Store").write_bytes(b"junk")
    tree.add("Lighting", 1, "IEU+00")
    tree.image[1] = tree.image[1].copy()
    turned = tree.add("Lighting", 1, "IFM+45")
    turned.rename(turned.with_name(turned.name.replace("PM+00", "PM+30")))
    assert load_some(tree).skipped == (
        "FRONTAL/Normal/.DS_Store: not named like a photo of Normal",
        f"FRONTAL/Lighting/{photo_name(1)}.tif: not named like a photo of Lighting",
        f"FRONTAL/Lighting/{photo_name(1, 'IFM+45').replace('PM+00', 'PM+30')}.tif: not named like a photo of Lighting",
        "FRONTAL/Lighting/Thumbs.db: not named like a photo of Lighting",
    )


def test_a_photo_that_cannot_be_read_is_skipped_and_its_person_stays(tree):
    broken = tree.frontal / "Lighting" / f"{photo_name(2, 'IFM+00')}.tif"
    broken.write_bytes(broken.read_bytes()[:900])
    faces = load_some(tree)
    assert len(faces) == 29
    assert faces.skipped == (f"FRONTAL/Lighting/{broken.name}: not a readable picture",)


def test_without_a_readable_normal_photo_a_person_is_left_out(tree):
    broken = tree.frontal / "Normal" / f"{photo_name(2)}.tif"
    broken.write_bytes(b"junk")
    faces = load_some(tree)
    assert set(faces.labels) == {"000001", "000003"}
    assert faces.skipped[-1] == "000002: without a normal photo that can be used"


def test_without_a_readable_lit_photo_a_person_is_left_out(tree):
    for light in LIGHTS:
        (tree.frontal / "Lighting" / f"{photo_name(2, light)}.tif").write_bytes(b"junk")
    faces = load_some(tree)
    assert set(faces.labels) == {"000001", "000003"}
    assert faces.skipped[-1] == "000002: without a lit photo that can be used"


def edit_eyes(tree, old, new):
    path = tree.frontal / "Lighting" / "FaceFP_2.txt"
    text = path.read_bytes()
    assert old.encode() in text
    path.write_bytes(text.replace(old.encode(), new.encode()))


def test_a_photo_without_a_line_of_eyes_is_skipped(tree):
    name = photo_name(2, "IFM+45")
    edit_eyes(tree, f"{name}\t 141 222 217 220\r\n", "")
    faces = load_some(tree)
    assert len(faces) == 29
    assert faces.skipped == (f"FRONTAL/Lighting/{name}.tif: without eyes in FaceFP_2.txt",)


def test_a_spoiled_line_of_eyes_is_told_and_counts_as_none(tree):
    name = photo_name(1, "IFM+00")
    edit_eyes(tree, f"{name}\t 141 222 217 220", f"{name}\t 141 222")
    assert load_some(tree).skipped == (
        "FRONTAL/Lighting/FaceFP_2.txt, line 1: not the name of a photo and four numbers",
        f"FRONTAL/Lighting/{name}.tif: without eyes in FaceFP_2.txt",
    )


def test_eyes_that_are_none_are_told(tree):
    name = photo_name(1, "IFM+00")
    edit_eyes(tree, f"{name}\t 141 222 217 220", f"{name} 217\t220  141 222")
    faces = load_some(tree)
    assert faces.skipped == (f"FRONTAL/Lighting/{name}.tif, 217 220 141 222 in 480 x 360 pixels: with impossible eyes",)


def test_d_in_place_of_r_is_the_same_photo_for_eyes_and_lists(tree):
    tree.write_lists()
    lit = tree.frontal / "Lighting" / f"{photo_name(3, 'IFM+90')}.tif"
    lit.rename(lit.with_name(lit.name.replace("_R1_", "_D1_")))
    faces = load_some(tree)
    assert len(faces) == 30
    assert any("_D1_" in file for file in faces.files)
    assert faces.skipped == ()


def test_copies_in_another_format_are_read(tmp_path):
    tree = Tree(tmp_path, lone=0)
    for folder in ("Normal", "Lighting"):
        (tree.frontal / folder).rename(tree.frontal / f"{folder}JPG")
        for path in (tree.frontal / f"{folder}JPG").glob("*.tif"):
            Image.open(path).save(path.with_suffix(".jpg"), quality=95)
            path.unlink()
    faces = load_some(tree)
    assert len(faces) == 30
    assert faces.files[0] == f"FRONTAL/NormalJPG/{photo_name(1)}.jpg"


def test_a_second_copy_of_the_photos_is_not_read_twice(tree):
    for person in (1, 2, 3):
        tree.add("NormalBMP", person, ending="bmp", eyes=None)
    tree.add("Lighting", 1, LIGHTS[0], ending="bmp", eyes=None)
    faces = load_some(tree)
    assert len(faces) == 30
    assert faces.skipped == (
        "FRONTAL/NormalBMP: a second folder of the same photos",
        f"FRONTAL/Lighting/{photo_name(1, LIGHTS[0])}.tif: a second file of the same photo",
    )


def test_a_copy_in_a_folder_below_is_not_read_twice(tree):
    for light in LIGHTS:
        tree.add("Lighting/backup", 1, light)
    faces = load_some(tree)
    assert len(faces) == 30
    assert count_reasons(faces.skipped) == "9 a second file of the same photo"


def test_a_copy_without_eyes_takes_those_of_its_original(tree):
    for path in (tree.frontal / "Normal").glob("*.tif"):
        path.unlink()
    for person in (1, 2, 3):
        tree.add("NormalBMP", person, ending="bmp", eyes=None)
    faces = load_some(tree)
    assert len(faces) == 30
    assert faces.files[0] == f"FRONTAL/NormalBMP/{photo_name(1)}.bmp"


def test_of_several_normal_photos_the_earliest_session_counts(tree):
    tree.image[2] = 255 - tree.image[2]
    later = [tree.add("Normal", 2, session=session, kind="FY") for session in (1, 2)]
    faces = load_some(tree)
    assert faces.files[10] == f"FRONTAL/Normal/{photo_name(2)}.tif"
    assert faces.skipped == tuple(
        f"FRONTAL/Normal/{path.name}: another normal photo of the same person" for path in later
    )


def test_the_official_lists_say_which_photos_are_meant(tree):
    tree.write_lists()
    extra = [tree.add("Lighting", 1, "IFD+90"), tree.add("Normal", 1, session=2)]
    faces = load_some(tree)
    assert len(faces) == 30
    assert faces.skipped == (
        f"FRONTAL/Normal/{extra[1].name}: not in the official list",
        f"FRONTAL/Lighting/{extra[0].name}: not in the official list",
    )


def test_photos_in_a_list_that_are_not_there_are_counted(tree):
    tree.write_lists()
    for light in LIGHTS[:2]:
        (tree.frontal / "Lighting" / f"{photo_name(1, light)}.tif").unlink()
    faces = load_some(tree)
    assert len(faces) == 28
    assert faces.skipped == tuple(
        f"Evaluation Prototype/Probe Sets/Probe Set_Lighting.txt, {photo_name(1, light)}: "
        "in the official list but not there"
        for light in sorted(LIGHTS[:2])
    )
    assert count_reasons(faces.skipped) == "2 in the official list but not there"


def spoil_as_folder(path):
    path.unlink()
    path.mkdir()


def test_a_file_of_eyes_that_cannot_be_read_is_told(tree):
    spoil_as_folder(tree.frontal / "Lighting" / "FaceFP_2.txt")
    tree.add("Lighting again", 1, LIGHTS[0])
    for person in (1, 2):
        tree.add("Lighting again", person, LIGHTS[1])
    faces = load_some(tree)
    assert set(faces.labels) == {"000001", "000002"}
    assert faces.skipped[1] == "FRONTAL/Lighting/FaceFP_2.txt: a file of eyes that cannot be read"


def test_a_file_of_eyes_that_is_not_text_counts_as_none(tree):
    (tree.frontal / "Lighting" / "FaceFP_2.txt").write_bytes(bytes(range(256)))
    with pytest.raises(DatasetMissing, match=r"FaceFP_2\.txt, line 1: not the name of a photo and four numbers"):
        load_some(tree)


def test_an_official_list_that_cannot_be_read_is_refused(tree):
    tree.write_lists()
    spoil_as_folder(tree.root / cas_peal.LISTS["Lighting"])
    expected = (
        r"Probe Set_Lighting\.txt must be a text file with the name of a photo in each line, or not there; "
        r"got a file that cannot be read \(.+\)\.$"
    )
    with pytest.raises(DatasetMissing, match=expected):
        load_some(tree)


@pytest.mark.parametrize("content", [b"", bytes(range(256)), "FRONTAL\\Normal\\a".encode("utf-16")])
def test_an_official_list_without_a_name_is_refused(tree, content):
    tree.write_lists()
    (tree.root / cas_peal.LISTS["Normal"]).write_bytes(content)
    with pytest.raises(DatasetMissing, match=r"Gallery\.txt must be a text file .*; got no such name\.$"):
        load_some(tree)


def test_an_incomplete_set_is_refused_with_its_counts(tree):
    (tree.frontal / "Lighting" / "Thumbs.db").write_bytes(b"junk")
    expected = (
        r"CAS-PEAL-R1 must be the CAS-PEAL-R1 face database: .*; got 3 people of 233 with a normal and a lit photo, "
        r"27 lit photos of 2243 \(9/12/6 at azimuths 0/45/90\); "
        r"1 left out: FRONTAL/Lighting/Thumbs\.db: not named like a photo of Lighting\.$"
    )
    with pytest.raises(DatasetMissing, match=expected):
        load_cas_peal(tree.root)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lists", "people", "photos", "fine"),
    [(True, 3, 27, True), (True, 9, 27, True), (True, 3, 26, False), (True, 3, 28, False),
     (False, 3, 27, True), (False, 3, 20, True), (False, 3, 28, False), (False, 4, 27, False)],
)  # fmt: skip
def test_complete_is_the_whole_list_or_else_everybody_with_as_many_photos(
    tree, monkeypatch, lists, people, photos, fine
):
    monkeypatch.setattr(cas_peal, "PEOPLE", people)
    monkeypatch.setattr(cas_peal, "LIT_PHOTOS", photos)
    if lists:
        tree.write_lists()
    if fine:
        assert len(load_cas_peal(tree.root)) == 30
    else:
        with pytest.raises(DatasetMissing, match=rf"got 3 people of {people} .* 27 lit photos of {photos} "):
            load_cas_peal(tree.root)
    assert len(load_cas_peal(tree.root, sources="F")) == 24


def test_one_person_is_too_few(tmp_path):
    with pytest.raises(DatasetMissing, match=r"got 1 person of 233 .*, 9 lit photos of 2243 \(3/4/2 at"):
        load_some(Tree(tmp_path, people=1))


def test_nobody_left_after_reading_is_said(tree):
    (tree.frontal / "Normal" / "FaceFP_2.txt").unlink()
    with pytest.raises(
        DatasetMissing, match=r"got 0 people .*; 6 left out: FRONTAL/Normal/.*: without eyes in FaceFP_2\.txt, "
    ):
        load_some(tree)


@pytest.mark.parametrize("make", ["nothing", "empty", "no lighting"])
def test_a_folder_that_is_not_cas_peal_says_what_to_put_where_and_who_gives_it(tmp_path, make):
    folder = tmp_path / "folder"
    got = "no such folder" if make == "nothing" else "no FRONTAL/Normal or no FRONTAL/Lighting"
    if make != "nothing":
        folder.mkdir()
    if make == "no lighting":
        (folder / "FRONTAL" / "Normal").mkdir(parents=True)
    parts = (
        "folder must be the CAS-PEAL-R1 face database: FRONTAL/Normal and FRONTAL/Lighting",
        "FY_000001_IFM+45_PM+00_EN_A0_D0_T0_BB_M0_R1_S0.tif and the eyes in FaceFP_2.txt",
        "on a signed agreement by the ICT-ISVISION Joint R&D Laboratory for Face Recognition, Chinese Academy of",
        f"got {got}.",
    )
    with pytest.raises(DatasetMissing, match=".*".join(map(re.escape, parts)) + "$"):
        load_cas_peal(folder)
