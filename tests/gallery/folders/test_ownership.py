"""Whose the photos of a folder are when people are renamed and files moved."""

from __future__ import annotations

import shutil

import pytest

from lightproof.gallery import FolderReport, Gallery
from lightproof.gallery.folders import commit, diff
from tests.gallery.folders.test_folders import ALL, enroll_cropped, kept, put, sync_cropped
from tests.gallery.people import answers, new, png


@pytest.fixture
def folder(tmp_path):
    """Ada with three photos, Ben with two, Cleo with one."""
    top = tmp_path / "photos"
    for name, sources in ALL.items():
        for light, source in enumerate(sources):
            put(top, source, png(name, light))
    return top


@pytest.fixture
def gallery(store_place, folder):
    with new(store_place) as opened:
        enroll_cropped(opened, folder)
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("act", [enroll_cropped, sync_cropped])
def test_a_renamed_person_keeps_the_photos_of_the_old_folder(gallery, folder, act):
    gallery.rename("Ada", "Eve")
    before = kept(gallery), gallery.store.revision()
    for _ in range(2):
        assert act(gallery, folder) == FolderReport(known=6)
        assert (kept(gallery), gallery.store.revision()) == before
    assert sorted(before[0]) == ["Ben", "Cleo", "Eve"]


@pytest.mark.parametrize("act", [enroll_cropped, sync_cropped])
def test_new_photos_in_the_folder_of_a_renamed_person_are_theirs(gallery, folder, act):
    gallery.rename("Ada", "Eve")
    put(folder, "Ada/3.png", png("Ada", 3))
    put(folder, "Ada/bad.png", b"no picture")
    report = act(gallery, folder)
    assert (report.enrolled, report.people, report.known, report.gone) == (1, 1, 6, [])
    assert [refused.photo for refused in report.refused] == ["Ada/bad.png"]
    assert kept(gallery) == {"Ben": ALL["Ben"], "Cleo": ALL["Cleo"], "Eve": [*ALL["Ada"], "Ada/3.png"]}
    assert [refusal.person for refusal in gallery.store.refusals().values()] == ["Eve"]


def test_a_renamed_person_whose_photos_were_all_replaced_is_still_that_person(gallery, folder):
    gallery.rename("Ada", "Eve")
    for source in ALL["Ada"]:
        (folder / source).unlink()
    put(folder, "Ada/new.png", png("Ada", 3))
    report = sync_cropped(gallery, folder)
    assert (report.enrolled, len(report.removed), report.gone) == (1, 3, [])
    assert kept(gallery)["Eve"] == ["Ada/new.png"]
    assert "Ada" not in kept(gallery)


def test_two_people_who_changed_names_keep_their_folders(gallery, folder):
    for old, name in [("Ada", "x"), ("Ben", "Ada"), ("x", "Ben")]:
        gallery.rename(old, name)
    put(folder, "Ada/3.png", png("Ada", 3))
    assert sync_cropped(gallery, folder).enrolled == 1
    assert kept(gallery) == {"Ada": ALL["Ben"], "Ben": [*ALL["Ada"], "Ada/3.png"], "Cleo": ALL["Cleo"]}


@pytest.mark.parametrize("act", [enroll_cropped, sync_cropped])
def test_a_folder_that_is_renamed_like_the_person_leaves_its_old_name_free(gallery, folder, act):
    """Also where the files of the new folder are called like the old ones, and both come at once."""
    gallery.rename("Ada", "Eve")
    (folder / "Ada").rename(folder / "Eve")
    put(folder, "Ada/0.png", png("Finn", 0))
    report = act(gallery, folder)
    assert (report.enrolled, report.known, report.refused, report.removed, report.gone) == (1, 6, [], [], [])
    now = {"Ada": ["Ada/0.png"], "Eve": ["Eve/0.png", "Eve/1.png", "Eve/2.png"]}
    assert kept(gallery) == now | {name: ALL[name] for name in ("Ben", "Cleo")}
    assert act(gallery, folder) == FolderReport(known=7)


def test_another_folder_of_the_same_name_in_another_place_is_of_another_person(gallery, tmp_path):
    gallery.rename("Ada", "Ada from school")
    put(tmp_path / "work", "Ada/0.png", png("Finn", 0))
    sync_cropped(gallery, tmp_path / "work")
    assert kept(gallery)["Ada"] == ["Ada/0.png"]


@pytest.mark.slow
def test_a_file_that_goes_to_another_folder_moves_its_photo_from_a_renamed_person_too(gallery, folder, tmp_path):
    gallery.rename("Ada", "Eve")
    gallery.rename("Ben", "Bob")
    (folder / "Ada/2.png").rename(folder / "Ben/2.png")
    report = sync_cropped(gallery, folder)
    assert (report.enrolled, report.known, report.removed, report.gone) == (1, 5, [], [])
    assert kept(gallery) == {"Eve": ALL["Ada"][:2], "Bob": [*ALL["Ben"], "Ben/2.png"], "Cleo": ALL["Cleo"]}
    with new(tmp_path / "anew.gallery") as anew:
        enroll_cropped(anew, folder)
        anew.rename("Ada", "Eve")
        anew.rename("Ben", "Bob")
        assert answers(anew) == answers(gallery)


def test_a_copy_in_another_folder_does_not_move_what_stays_where_it_was(gallery, folder):
    put(folder, "Aaron/0.png", png("Ada", 0))
    for _ in range(2):
        report = sync_cropped(gallery, folder)
        assert (report.known, report.gone) == (6, [])
        assert [refused.reason for refused in report.refused] == [
            "Photo Aaron/0.png must be new, or of 'Aaron'; got one that is enrolled as 'Ada'."
        ]
    assert kept(gallery) == ALL


@pytest.mark.parametrize("other", ["Aaron", "Zoe"])
def test_a_copy_in_another_folder_does_not_move_what_is_only_called_otherwise(gallery, folder, other):
    put(folder, f"{other}/0.png", png("Cleo", 0))
    (folder / "Cleo/0.png").rename(folder / "Cleo/renamed.png")
    report = sync_cropped(gallery, folder)
    assert (report.known, report.gone, report.removed) == (6, [], [])
    said = f"Photo {other}/0.png must be new, or of '{other}'; got one that is enrolled as 'Cleo'."
    assert [refused.reason for refused in report.refused] == [said]
    assert kept(gallery) == ALL | {"Cleo": ["Cleo/renamed.png"]}


def test_a_file_that_moves_within_the_folder_of_a_person_is_noted(gallery, folder):
    (folder / "Ada/old").mkdir()
    (folder / "Ada/0.png").rename(folder / "Ada/old/0.png")
    assert sync_cropped(gallery, folder, dry_run=True) == FolderReport(known=6, dry_run=True)
    assert kept(gallery) == ALL
    assert sync_cropped(gallery, folder) == FolderReport(known=6)
    assert kept(gallery)["Ada"] == ["Ada/1.png", "Ada/2.png", "Ada/old/0.png"]


@pytest.mark.slow
def test_who_is_renamed_while_a_folder_is_enrolled_does_not_become_two(tmp_path, store_place, monkeypatch):
    monkeypatch.setattr(diff, "FACES_PER_BATCH", 1)
    monkeypatch.setattr(commit, "BATCHES_PER_CHANGE", 1)
    top = tmp_path / "photos"
    for light in range(5):
        put(top, f"Ada/{light}.png", png("Ada", light))
    put(top, "Ada/bad.png", b"no picture")

    def progress(pieces, total):
        for i, piece in enumerate(pieces):
            if i == 2:
                other.rename("Ada", "Eve")
            yield piece

    with new(store_place) as gallery, Gallery.open(store_place) as other:
        report = enroll_cropped(gallery, top, progress=progress)
        assert (report.enrolled, len(report.refused)) == (5, 1)
        assert kept(gallery) == {"Eve": [f"Ada/{light}.png" for light in range(5)]}
        assert [refusal.person for refusal in gallery.store.refusals().values()] == ["Eve"]
        with new(tmp_path / "at once.gallery") as at_once:
            monkeypatch.undo()
            enroll_cropped(at_once, top)
            at_once.rename("Ada", "Eve")
            assert answers(at_once) == answers(gallery)


def test_what_somebody_else_adds_to_the_folder_meanwhile_is_not_removed(gallery, folder):
    def progress(pieces, total):
        for piece in pieces:
            if not (folder / "Dan").exists():
                put(folder, "Dan/0.png", png("Dan"))
                enroll_cropped(gallery, folder)
            yield piece

    report = sync_cropped(gallery, folder, progress=progress)
    assert (report.removed, report.gone) == ([], [])
    assert kept(gallery) == ALL | {"Dan": ["Dan/0.png"]}


def test_a_name_that_is_no_text_on_this_system_is_not_taken_for_missing(gallery, folder):
    odd = "Ben/caf\udce9.png"
    put(folder, odd, png("Ben", 3))
    sync_cropped(gallery, folder)
    assert "Ben/caf\\udce9.png" in kept(gallery)["Ben"]
    gallery.rename("Ben", "Bob")
    assert sync_cropped(gallery, folder) == FolderReport(known=7)
    (folder / odd).unlink()
    (folder / odd).symlink_to(folder / "a disk that is not there")
    report = sync_cropped(gallery, folder)
    assert (len(report.refused), report.removed) == (1, [])


def test_a_tree_that_is_moved_as_a_whole_is_known(gallery, folder, tmp_path):
    shutil.move(folder, tmp_path / "elsewhere")
    assert enroll_cropped(gallery, tmp_path / "elsewhere") == FolderReport(known=6)
