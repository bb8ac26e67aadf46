"""Folders of photos into a gallery, and a gallery that follows a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from lightproof.errors import BadParameter, DatasetMissing
from lightproof.gallery import Calibration, FolderReport, Refused
from lightproof.gallery.enrollment import BatchResult
from lightproof.gallery.folders import FolderWriter, commit, diff
from lightproof.gallery.store import Refusal
from lightproof.plots import png_of
from tests.gallery.people import NAMES, answers, enroll, face, new, png

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path):
    """Ada with three photos, Ben with two, Cleo with one."""
    top = tmp_path / "photos"
    for name, lights in {"Ada": (0, 1, 2), "Ben": (0, 1), "Cleo": (0,)}.items():
        for light in lights:
            put(top, f"{name}/{light}.png", png(name, light))
    return top


def put(top, name, contents):
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_bytes(contents)


@pytest.fixture
def gallery(store_place):
    with new(store_place) as opened:
        yield opened


def enroll_cropped(gallery, folder, **more):
    return gallery.enroll_folder(folder, cropped=True, jobs=1, **more)


def sync_cropped(gallery, folder, **more):
    return gallery.sync(folder, cropped=True, jobs=1, **more)


def kept(gallery):
    """Everybody's photos by name."""
    found = {}
    for photo in gallery.store.photos():
        found.setdefault(photo.person, []).append(photo.source)
    return {name: sorted(sources) for name, sources in found.items()}


def templates(gallery):
    return [(person.name, photos, span) for person, photos, span in gallery.store.templates()]


ALL = {"Ada": ["Ada/0.png", "Ada/1.png", "Ada/2.png"], "Ben": ["Ben/0.png", "Ben/1.png"], "Cleo": ["Cleo/0.png"]}


def test_a_folder_is_enrolled_as_if_by_hand_to_the_last_bit(gallery, folder, tmp_path):
    assert enroll_cropped(gallery, folder) == FolderReport(enrolled=6, people=3)
    assert kept(gallery) == ALL
    assert {photo.folder for photo in gallery.store.photos()} == {str(folder)}
    with new(tmp_path / "by hand.gallery") as by_hand:
        for name, sources in reversed(ALL.items()):
            for source in reversed(sources):
                by_hand.enroll(name, [folder / source], cropped=True)
        assert answers(by_hand) == answers(gallery)


def test_a_second_time_nothing_is_new(gallery, folder):
    enroll_cropped(gallery, folder)
    revision = gallery.store.revision()
    assert enroll_cropped(gallery, folder) == FolderReport(known=6)
    shutil.copy(folder / "Ada/0.png", folder / "Ada/copy.png")
    assert enroll_cropped(gallery, folder) == FolderReport(known=7)
    assert gallery.store.revision() == revision


def test_only_what_is_new_is_added_and_the_joint_template_is_of_all(gallery, folder, tmp_path):
    (tmp_path / "first").mkdir()
    shutil.copytree(folder / "Ada", tmp_path / "first" / "Ada")
    (tmp_path / "first" / "Ada" / "2.png").unlink()
    enroll_cropped(gallery, tmp_path / "first")
    assert enroll_cropped(gallery, folder) == FolderReport(enrolled=4, people=3, known=2)
    with new(tmp_path / "at once.gallery") as at_once:
        enroll_cropped(at_once, folder)
        assert answers(at_once) == answers(gallery)


def test_a_dry_run_says_the_same_and_changes_nothing(gallery, folder):
    put(folder, "Dan/bad.png", b"no picture")
    before = gallery.store.revision()
    dry = enroll_cropped(gallery, folder, dry_run=True)
    assert (gallery.store.revision(), gallery.people(), gallery.store.refusals()) == (before, [], {})
    wet = enroll_cropped(gallery, folder)
    assert dry.dry_run
    assert (dry.enrolled, dry.people, dry.refused) == (wet.enrolled, wet.people, wet.refused) != (0, 0, [])


def test_what_is_no_photo_of_a_person_is_left_out_and_said(gallery, folder):
    put(folder, "Ada/notes.txt", b"")
    put(folder, "loose.png", png("Dan"))
    put(folder, " Dan/0.png", png("Dan"))
    put(folder, ".thumbnails/0.png", png("Eve"))
    put(folder, "Ada/.hidden.png", png("Eve"))
    put(folder, "Ben/holiday/far/2.png", png("Ben", 2))
    report = enroll_cropped(gallery, folder)
    assert (report.enrolled, report.people, report.refused) == (7, 3, [])
    assert [ignored.photo for ignored in report.ignored] == [" Dan/0.png", "Ada/notes.txt", "loose.png"]
    assert report.ignored[0].reason.startswith("The name of a person must be a str of 1 to ")
    assert [ignored.reason for ignored in report.ignored[1:]] == ["not a picture", "not in a person's folder"]
    assert kept(gallery)["Ben"] == ["Ben/0.png", "Ben/1.png", "Ben/holiday/far/2.png"]


def test_a_folder_without_a_photo_is_refused(gallery, tmp_path):
    take_no = r"must be a folder with a folder of photos for each person \(name/photo\.jpg\); got "
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.png").write_bytes(png("Ada"))
    put(tmp_path / "flat", "0.png", png("Ada"))
    for act in (enroll_cropped, sync_cropped):
        for name, got in [
            ("empty", "no photo"),
            ("flat", "no photo"),
            ("file.png", "a file"),
            ("none", "no such folder"),
        ]:
            with pytest.raises(DatasetMissing, match=take_no + got):
                act(gallery, tmp_path / name)


def test_the_number_of_processes_must_be_one(gallery, folder):
    for wrong in (0, -2, 1.5, True):
        with pytest.raises(BadParameter, match="`jobs` of enroll_folder must be a whole number of at least 1, or -1"):
            gallery.enroll_folder(folder, cropped=True, jobs=wrong)


def test_refused_photos_are_remembered_and_tried_again_only_on_request(gallery, folder):
    put(folder, "Ada/bad.png", b"no picture")
    put(folder, "Ada/grey.pgm", b"P5 96 84 255\n" + bytes(96 * 84))
    first = enroll_cropped(gallery, folder)
    assert (first.enrolled, [refused.photo for refused in first.refused]) == (6, ["Ada/bad.png", "Ada/grey.pgm"])
    assert first.refused[1].reason == "Ada/grey.pgm must be a picture of something; got one even grey, every pixel 0."
    again = enroll_cropped(gallery, folder)
    assert (again.known, again.refused, again.refused_before) == (6, [], first.refused)
    retried = enroll_cropped(gallery, folder, retry=True)
    assert (retried.known, retried.refused, retried.refused_before) == (6, first.refused, [])
    assert [refusal.person for refusal in gallery.store.refusals().values()] == ["Ada", "Ada"]
    put(folder, "Ada/bad.png", png("Ada", 3))
    assert enroll_cropped(gallery, folder).enrolled == 1


def test_another_way_of_looking_is_worth_another_try(gallery, folder, monkeypatch):
    put(folder, "Ada/bad.png", b"no picture")
    enroll_cropped(gallery, folder)
    monkeypatch.setattr(diff.EnrollmentConfig, "detector", "a better way")
    again = enroll_cropped(gallery, folder)
    assert (len(again.refused), again.refused_before) == (1, [])


def test_forgetting_a_person_forgets_their_refused_photos(gallery, folder):
    put(folder, "Ada/bad.png", b"no picture")
    enroll_cropped(gallery, folder)
    gallery.forget("Ada")
    assert gallery.store.refusals() == {}


@pytest.mark.parametrize("grey", [128, 255])
def test_a_picture_of_nearly_nothing_keeps_nobody_else_out(gallery, folder, grey):
    blank = np.full((192, 168), grey, np.uint8)
    blank[0, 0] -= 5
    put(folder, "Dot/0.png", png_of(blank))
    assert enroll_cropped(gallery, folder).enrolled == 7
    assert [person.name for person in gallery.people()] == ["Ada", "Ben", "Cleo", "Dot"]
    assert gallery.identify(face("Ada", 3)).candidates[0].name == "Ada"


def test_a_photo_of_two_people_stays_with_the_first(gallery, folder):
    put(folder, "Ben/ada.png", png("Ada"))
    said = "Photo Ben/ada.png must be new, or of 'Ben'; got one that is enrolled as 'Ada'."
    for _ in range(2):
        report = enroll_cropped(gallery, folder)
        assert report.refused == [Refused("Ben/ada.png", said)]
        assert kept(gallery) == ALL


def test_a_photo_stays_with_whom_it_was_enrolled_as(gallery, folder):
    enroll_cropped(gallery, folder)
    put(folder, "Aaron/ada.png", png("Ada"))
    for _ in range(2):
        report = enroll_cropped(gallery, folder)
        said = "Photo Aaron/ada.png must be new, or of 'Aaron'; got one that is enrolled as 'Ada'."
        assert (report.known, report.refused) == (6, [Refused("Aaron/ada.png", said)])


def test_what_was_enrolled_by_hand_is_known_wherever_it_lies(gallery, folder):
    gallery.enroll("Ada", [png("Ada")], cropped=True)
    gallery.enroll("Dan", [png("Ben")], cropped=True)
    report = enroll_cropped(gallery, folder)
    assert (report.enrolled, report.known) == (4, 1)
    assert [refused.photo for refused in report.refused] == ["Ben/0.png"]


def test_a_file_that_cannot_be_read_is_said_and_not_remembered(gallery, folder):
    os.symlink(folder / "gone.png", folder / "Ada" / "broken.png")
    os.mkfifo(folder / "Ada" / "pipe.png")
    report = enroll_cropped(gallery, folder)
    assert [refused.photo for refused in report.refused] == ["Ada/broken.png", "Ada/pipe.png"]
    assert report.enrolled == 6
    assert gallery.store.refusals() == {}


def test_a_photo_that_somebody_else_enrolls_meanwhile_stays_theirs(gallery, folder):
    def progress(pieces, total):
        for piece in pieces:
            gallery.enroll("Zoe", [folder / "Ben/0.png"], cropped=True)
            yield piece

    report = enroll_cropped(gallery, folder, progress=progress)
    assert (report.enrolled, report.people) == (5, 3)
    assert [refused.reason for refused in report.refused] == [
        "Photo Ben/0.png must be new, or of 'Ben'; got one that is enrolled as 'Zoe'."
    ]
    assert kept(gallery)["Ben"] == ["Ben/1.png"]
    enrolled = {person.name: span for person, _, span in gallery.store.templates()}
    assert enrolled["Ben"] is None


def test_what_somebody_else_enrolls_meanwhile_in_another_way_is_known_and_not_refused(gallery, folder):
    gallery.enroll("Zoe", [folder / "Ben/0.png"], cropped=True)
    [photo], parameters = gallery.store.photos("Zoe"), gallery.config.parameters
    seen = [
        Refusal(hash, "Ben", f"Ben/{name}.png", str(folder), parameters, "Ben must be a face; got none.")
        for hash, name in ((photo.hash, 0), ("f" * 64, 1))
    ]
    report = FolderReport()
    FolderWriter(gallery.store, gallery.config, report, {}, set()).write([BatchResult({}, {}, seen, [])])
    assert (report.known, [refused.photo for refused in report.refused]) == (1, ["Ben/1.png"])
    assert list(gallery.store.refusals()) == ["f" * 64]


def test_a_copy_of_a_refused_file_is_refused_for_the_same_reason(gallery, folder):
    for name in ("Ada/bad.png", "Ada/copy.png", "Ben/bad.png"):
        put(folder, name, b"no picture")
    first = enroll_cropped(gallery, folder)
    said = [f"{name} must be " for name in ("Ada/bad.png", "Ada/copy.png", "Ben/bad.png")]
    assert [refused.photo for refused in first.refused] == ["Ada/bad.png", "Ada/copy.png", "Ben/bad.png"]
    assert all(refused.reason.startswith(begin) for refused, begin in zip(first.refused, said, strict=True))
    assert len({refused.reason.partition(" ")[2] for refused in first.refused}) == 1
    assert (first.known, first.enrolled) == (0, 6)
    again = enroll_cropped(gallery, folder)
    assert (again.known, again.refused, again.refused_before) == (6, [], first.refused)
    retried = enroll_cropped(gallery, folder, retry=True)
    assert (retried.known, retried.refused, retried.refused_before) == (6, first.refused, [])


@pytest.mark.parametrize("looked_up", [0, 1, 480])
def test_a_copy_is_told_of_alike_however_many_files_are_looked_up_at_once(gallery, folder, monkeypatch, looked_up):
    if looked_up:  # where the gallery knows nothing, nothing is looked up
        gallery.enroll("Dora", [np.random.default_rng(0).integers(0, 256, (96, 84)).astype(np.uint8)])
    monkeypatch.setattr(diff, "FILES_PER_QUERY", looked_up or 1)
    monkeypatch.setattr(diff, "FACES_PER_BATCH", 1)
    monkeypatch.setattr(commit, "BATCHES_PER_CHANGE", 1)
    for name in ("Ada/bad.png", "Cleo/bad.png"):
        put(folder, name, b"no picture")
    put(folder, "Cleo/ada.png", png("Ada"))
    put(folder, "Ada/copy.png", png("Ada"))
    report = enroll_cropped(gallery, folder)
    assert (report.enrolled, report.known, report.refused_before) == (6, 1, [])
    assert {refused.photo: refused.reason.partition("; ")[2] for refused in report.refused} == {
        "Ada/bad.png": "got something else.",
        "Cleo/ada.png": "got one that is enrolled as 'Ada'.",
        "Cleo/bad.png": "got something else.",
    }


def test_only_what_this_call_added_counts_as_enrolled(gallery, folder):
    def progress(pieces, total):
        for piece in pieces:
            gallery.enroll("Ben", [folder / "Ben/0.png"], cropped=True)
            gallery.enroll("Cleo", [folder / "Cleo/0.png"], cropped=True)
            yield piece

    report = enroll_cropped(gallery, folder, progress=progress)
    assert (report.enrolled, report.people, report.known, report.refused) == (4, 2, 2, [])
    assert gallery.store.counts().photos == 6


def test_the_bar_counts_every_photo(gallery, folder):
    put(folder, "Ada/bad.png", b"no picture")
    put(folder, "Ben/ada.png", png("Ada"))
    for _ in range(2):
        totals, steps = [], []

        def progress(pieces, total, totals=totals, steps=steps):
            totals.append(total)
            for piece in pieces:
                steps.append(piece)
                yield piece

        enroll_cropped(gallery, folder, progress=progress)
        assert (totals, len(steps)) == ([8], 8)


def many(top, count):
    """As many different photos, three a person."""
    for i in range(count):
        relit = (face(i % 10, i % 5) * (0.5 + i / 2 / count)).astype("uint8")
        put(top, f"{i // 3:03d}/{i}.pgm", b"P5 84 96 255\n" + relit.tobytes())


def test_an_interrupted_folder_goes_on_where_it_stopped(gallery, tmp_path, monkeypatch):
    monkeypatch.setattr(diff, "FACES_PER_BATCH", 4)
    monkeypatch.setattr(commit, "BATCHES_PER_CHANGE", 2)
    many(tmp_path / "many", 30)

    def interrupt(pieces, total):
        for i, piece in enumerate(pieces):
            if i == 20:
                raise KeyboardInterrupt
            yield piece

    with pytest.raises(KeyboardInterrupt):
        enroll_cropped(gallery, tmp_path / "many", progress=interrupt)
    there = gallery.store.counts().photos
    assert 0 < there < 20
    report = enroll_cropped(gallery, tmp_path / "many")
    assert (report.known, report.enrolled) == (there, 30 - there)
    with new(tmp_path / "at once.gallery") as at_once:
        monkeypatch.undo()
        enroll_cropped(at_once, tmp_path / "many")
        assert answers(at_once) == answers(gallery)


def test_several_processes_enroll_what_one_does(tmp_path):
    many(tmp_path / "many", 120)
    put(tmp_path / "many", "007/bad.png", b"no picture")
    with new(tmp_path / "one.gallery") as one, new(tmp_path / "two.gallery") as two:
        alone = enroll_cropped(one, tmp_path / "many")
        together = two.enroll_folder(tmp_path / "many", cropped=True, jobs=2)
        assert alone == together
        assert (alone.enrolled, alone.people, len(alone.refused)) == (120, 40, 1)
        assert kept(one) == kept(two)
        assert templates(one) == templates(two)


def test_a_gallery_that_follows_a_folder_is_as_if_enrolled_anew(gallery, folder, tmp_path):
    sync_cropped(gallery, folder)
    (folder / "Ada/1.png").unlink()
    shutil.rmtree(folder / "Cleo")
    put(folder, "Ben/2.png", png("Ben", 2))
    put(folder, "Dan/0.png", png("Dan"))
    dry = sync_cropped(gallery, folder, dry_run=True)
    report = sync_cropped(gallery, folder)
    assert (report.enrolled, report.people, report.known) == (2, 2, 4)
    assert (report.removed, report.gone) == (["Ada/1.png", "Cleo/0.png"], ["Cleo"])
    assert (dry.enrolled, dry.known, dry.removed, dry.gone) == (2, 4, report.removed, report.gone)
    with new(tmp_path / "anew.gallery") as anew:
        enroll_cropped(anew, folder)
        assert kept(anew) == kept(gallery)
        assert answers(anew) == answers(gallery)


def test_a_dry_run_of_sync_changes_nothing(gallery, folder):
    sync_cropped(gallery, folder)
    shutil.rmtree(folder / "Cleo")
    (folder / "Ada").rename(folder / "Anna")
    before = gallery.store.revision(), kept(gallery)
    report = sync_cropped(gallery, folder, dry_run=True)
    assert (report.gone, report.removed) == (["Ada", "Cleo"], ["Cleo/0.png"])
    assert (gallery.store.revision(), kept(gallery)) == before


def test_people_move_with_a_renamed_folder(gallery, folder, tmp_path):
    sync_cropped(gallery, folder)
    (folder / "Ada").rename(folder / "Anna")
    report = sync_cropped(gallery, folder)
    assert (report.enrolled, report.known, report.removed, report.gone) == (3, 3, [], ["Ada"])
    assert kept(gallery) == {"Anna": ["Anna/0.png", "Anna/1.png", "Anna/2.png"], "Ben": ALL["Ben"], "Cleo": ALL["Cleo"]}
    assert sync_cropped(gallery, folder) == FolderReport(known=6)
    with new(tmp_path / "anew.gallery") as anew:
        enroll_cropped(anew, folder)
        assert answers(anew) == answers(gallery)


def test_a_photo_moves_with_its_file_and_both_are_joined_anew(gallery, folder, tmp_path):
    sync_cropped(gallery, folder)
    (folder / "Ada/2.png").rename(folder / "Ben/2.png")
    report = sync_cropped(gallery, folder)
    assert (report.enrolled, report.known, report.removed, report.gone) == (1, 5, [], [])
    with new(tmp_path / "anew.gallery") as anew:
        enroll_cropped(anew, folder)
        assert kept(anew) == kept(gallery)
        assert answers(anew) == answers(gallery)


def test_only_what_came_from_the_folder_is_removed(gallery, folder, tmp_path):
    other = tmp_path / "other"
    put(other, "Ben/x.png", png("Ben", 3))
    put(other, "Eve/0.png", png("Eve"))
    enroll_cropped(gallery, other)
    enroll(gallery, "Dan")
    gallery.enroll("Ada", [face("Ada", 4)])
    sync_cropped(gallery, folder)
    shutil.rmtree(folder / "Ada")
    shutil.rmtree(folder / "Ben")
    report = sync_cropped(gallery, folder)
    assert (len(report.removed), report.gone) == (5, [])
    assert kept(gallery) == {
        "Ada": ["photo 1"], "Ben": ["Ben/x.png"], "Cleo": ["Cleo/0.png"], "Dan": ["photo 1"], "Eve": ["Eve/0.png"]
    }  # fmt: skip


def test_a_photo_enrolled_by_hand_does_not_move_to_another_name(gallery, folder):
    gallery.enroll("Dan", [folder / "Cleo/0.png"], cropped=True)
    report = sync_cropped(gallery, folder)
    assert [refused.photo for refused in report.refused] == ["Cleo/0.png"]
    assert sorted(kept(gallery)) == ["Ada", "Ben", "Dan"]


def test_a_file_that_cannot_be_read_now_is_no_reason_to_remove_its_photo(gallery, folder):
    sync_cropped(gallery, folder)
    (folder / "Cleo/0.png").unlink()
    os.symlink(folder / "a disk that is not there", folder / "Cleo/0.png")
    report = sync_cropped(gallery, folder)
    assert [refused.photo for refused in report.refused] == ["Cleo/0.png"]
    assert (report.removed, report.gone) == ([], [])
    assert kept(gallery) == ALL


def test_a_folder_that_cannot_be_listed_is_refused_and_nothing_removed(gallery, folder, monkeypatch):
    sync_cropped(gallery, folder)
    listed = os.scandir

    def refuse(path):
        if str(path).endswith("Cleo"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DatasetMissing, match=r"Cleo must be a folder that can be listed; got Permission denied"):
        sync_cropped(gallery, folder)
    assert kept(gallery) == ALL


def test_what_was_kept_of_a_folder_is_all_that_a_second_sync_needs(gallery, folder):
    put(folder, "Ada/bad.png", b"no picture")
    sync_cropped(gallery, folder)
    again = sync_cropped(gallery, folder)
    assert (again.known, again.enrolled, again.removed, len(again.refused_before)) == (6, 0, [], 1)


def test_names_of_people_stand_sorted(gallery, folder):
    enroll_cropped(gallery, folder)
    assert [person.name for person in gallery.people()] == NAMES[:3]


def test_a_folder_that_is_a_link_is_followed(gallery, folder, tmp_path):
    shutil.move(folder / "Ada", tmp_path / "elsewhere")
    (folder / "Ada").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    enroll_cropped(gallery, folder)
    assert kept(gallery) == ALL
    assert sync_cropped(gallery, folder).removed == []


def test_links_in_a_circle_end(gallery, folder):
    (folder / "Ada" / "again").symlink_to(folder, target_is_directory=True)
    enroll_cropped(gallery, folder)
    assert kept(gallery) == ALL


def test_of_somebody_who_left_with_the_folder_no_refusal_is_kept(gallery, folder):
    put(folder, "Ada/bad.png", b"no picture")
    sync_cropped(gallery, folder)
    assert [refusal.person for refusal in gallery.store.refusals().values()] == ["Ada"]
    shutil.rmtree(folder / "Ada")
    assert sync_cropped(gallery, folder).gone == ["Ada"]
    assert gallery.store.refusals() == {}


def test_what_calibration_learned_from_somebody_leaves_with_them(gallery, folder):
    sync_cropped(gallery, folder)
    gallery.calibrate(0.02)
    shutil.rmtree(folder / "Ada")
    sync_cropped(gallery, folder)
    assert gallery.calibration() == Calibration(0.02)


def test_what_calibration_learned_from_somebody_whose_photos_moved_leaves_with_them(gallery, folder):
    sync_cropped(gallery, folder)
    gallery.calibrate(0.02)
    (folder / "Cleo/0.png").rename(folder / "Ben/c.png")
    assert sync_cropped(gallery, folder).gone == ["Cleo"]
    assert gallery.calibration() == Calibration(0.02)


def test_a_refusal_goes_with_its_file(gallery, folder):
    put(folder, "Zoe/bad.png", b"no picture")
    put(folder, "Ada/bad.png", b"no picture either")
    sync_cropped(gallery, folder)
    shutil.rmtree(folder / "Zoe")
    sync_cropped(gallery, folder, dry_run=True)
    assert [refusal.person for refusal in gallery.store.refusals().values()] == ["Ada", "Zoe"]
    sync_cropped(gallery, folder)
    assert [refusal.person for refusal in gallery.store.refusals().values()] == ["Ada"]


def test_a_folder_that_is_a_link_to_nothing_is_refused_by_sync_and_nothing_removed(gallery, folder, tmp_path):
    (folder / "Cleo").rename(tmp_path / "Cleo")
    (folder / "Cleo").symlink_to(tmp_path / "Cleo", target_is_directory=True)
    sync_cropped(gallery, folder)
    before = templates(gallery)
    (tmp_path / "Cleo").rename(tmp_path / "gone")
    with pytest.raises(DatasetMissing, match=r"Cleo must be a link to something; got a link to nothing\."):
        sync_cropped(gallery, folder)
    assert templates(gallery) == before
    # Enrolling takes nothing away: the others are enrolled, and this is said.
    assert enroll_cropped(gallery, folder).ignored == [Refused("Cleo", "a link to nothing")]


def test_to_enroll_cropped_faces_nothing_is_loaded_that_compares_methods(folder, tmp_path):
    """Every process that helps would wait for it."""
    code = f"""
import sys
from lightproof.gallery import Gallery
with Gallery.open({str(tmp_path / "new.gallery")!r}, preset="fast") as gallery:
    assert gallery.enroll_folder({str(folder)!r}, cropped=True, jobs=1).enrolled == 6
heavy = {{"sklearn", "matplotlib", "lightproof.datasets"}}
sys.exit(", ".join(heavy & set(sys.modules)) or 0)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
