"""What holds for a gallery in one file."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

from lightproof.errors import BadGallery, CannotWrite, GalleryBusy
from lightproof.gallery.store import NewPhoto, Refusal, Store, sqlite
from lightproof.gallery.store.change import traces_of
from lightproof.gallery.store.sqlite import has_residue
from tests.gallery.store.writer import PROCESSES, try_as_nobody


def photo(key: str, size: int = 5000) -> NewPhoto:
    template = random.Random(key).randbytes(size)
    return NewPhoto(sha256(key.encode()).hexdigest(), "p", template, f"/photos/{key}.jpg", face=b"PNG" + template[::-1])


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "people.gallery"


def test_changes_are_written_ahead_and_acknowledged_only_when_they_are_on_the_disk(file):
    with Store.open(file) as store, store._database.engine.connect() as connection:
        told = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "trusted_schema")
        }
    assert told == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1, "trusted_schema": 0}


def test_a_closed_gallery_is_one_file(file):
    with Store.open(file) as store, store.writing() as change:
        change.add_photos("Ada", [photo("a")])
    assert os.listdir(file.parent) == [file.name]


def test_a_file_that_went_away_is_not_made_again(file):
    with Store.open(file) as store:
        store._database.engine.dispose()
        file.unlink()
        with pytest.raises(BadGallery, match="got a file that cannot be read"):
            store.people()
    assert not file.exists()


# -- read-only --------------------------------------------------------------------------


@pytest.fixture
def locked_folder():
    """A folder that others can read and nobody but its owner can write; root would write anywhere."""
    with tempfile.TemporaryDirectory(prefix="lp-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def as_nobody(place: Path, create: bool = False) -> list[object]:
    place.parent.chmod(0o555)
    ours, theirs = PROCESSES.Pipe(duplex=False)
    with ours, theirs:
        process = PROCESSES.Process(target=try_as_nobody, args=(str(place), create, theirs))
        process.start()
        said = ours.recv() if ours.poll(60) else []
        process.join()
    place.parent.chmod(0o755)
    return said


def test_a_read_only_gallery_is_read_and_takes_no_change(locked_folder):
    place = locked_folder / "a.gallery"
    with Store.open(place) as store, store.writing() as change:
        change.add_photos("Ada", [photo("a")])
    place.chmod(0o444)
    refused = f"CannotWrite {place} must be a place that can be written; got: a read-only file or folder."
    assert as_nobody(place) == [(["Ada"], 1), refused]
    assert os.listdir(locked_folder) == ["a.gallery"]


def test_who_may_only_read_sees_what_the_writer_has_written_so_far(locked_folder):
    place = locked_folder / "a.gallery"
    with Store.open(place) as store:
        with store.writing() as change:
            change.add_photos("Ada", [photo("a")])
        said = as_nobody(place)
    assert said[0] == (["Ada"], 1)
    assert said[1].startswith("CannotWrite")


def test_changes_that_nobody_can_finish_are_told(locked_folder):
    place = locked_folder / "a.gallery"
    with Store.open(place) as store:
        with store.writing() as change:
            change.add_photos("Ada", [photo("a")])
        ahead = Path(f"{place}-wal").read_bytes()
    Path(f"{place}-wal").write_bytes(ahead)
    (said,) = as_nobody(place)
    assert said.startswith(f"BadGallery {place} must be a gallery")
    assert said.endswith("got one with unfinished changes in a folder that cannot be written.")


def test_no_gallery_is_made_where_nothing_can_be_written(locked_folder):
    place = locked_folder / "a.gallery"
    said = f"CannotWrite {place} must be a place that can be written; got: a folder that cannot be written."
    assert as_nobody(place, create=True) == [said]


def test_a_file_that_changes_while_it_is_read_as_it_lies_is_told(file, monkeypatch):
    with Store.open(file) as store, store.writing() as change:
        change.add_photos("Ada", [photo("a")])
    with monkeypatch.context() as hidden:
        hidden.setattr(sqlite.os, "access", lambda *_: False)
        reader = Store.open(file, create=False)
    with reader:
        said = r"must be left alone while it is read; got a change; read it again\.$"

        def read_meanwhile():
            with reader.reading() as view:
                assert view.counts().people == 1
                with Store.open(file) as store, store.writing() as change:
                    change.add_photos("Bob", [photo("b")])

        with pytest.raises(GalleryBusy, match=said):
            read_meanwhile()
        assert reader.counts().people == 2


# -- a full disk ------------------------------------------------------------------------


def fill(store: Store) -> None:
    for i in range(1000):
        with store.writing() as change:
            change.add_photos(f"person {i}", [photo(f"{i} {k}", 50000) for k in range(3)])


def test_a_full_disk_is_told_and_leaves_whole_changes_only(file, monkeypatch):
    monkeypatch.setattr(sqlite, "PRAGMAS", [*sqlite.PRAGMAS, "max_page_count=200"])
    with Store.open(file) as store:
        with pytest.raises(CannotWrite, match=r"must be a place that can be written; got: the disk is full\.$"):
            fill(store)
        people, photos, _ = store.counts()
        assert people > 1
        assert photos == 3 * people
        assert store.revision() == people

        def go_on():
            with store.writing() as change:
                change.add_person("Ada")
                with pytest.raises(CannotWrite):
                    change.add_photos("Bob", [photo("b", 10**6)])
                with pytest.raises(CannotWrite):
                    change.add_person("Cy")

        # Whoever goes on after such an error does not commit the rest.
        with pytest.raises(CannotWrite, match="the disk is full"):
            go_on()
        assert store.counts() == (people, photos, 0)
        with store.writing() as change:
            change.forget("person 0")
    monkeypatch.undo()
    with Store.open(file) as store, store.writing() as change:
        change.add_photos("Bob", [photo("b", 10**6)])


def test_a_disk_that_refuses_is_told_and_leaves_whole_changes_only(file):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store.open(file) as store:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))
            with pytest.raises(
                CannotWrite, match=r"must be a place that can be written; got: the disk (refuses|is full)"
            ):
                fill(store)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        people, photos, _ = store.counts()
        assert photos == 3 * people
        fill_once = photo("afterwards")
        with store.writing() as change:
            change.add_photos("Ada", [fill_once])
        assert store.owners_of([fill_once.hash]) == {fill_once.hash: "Ada"}


def test_a_gallery_that_cannot_be_made_is_told(file, monkeypatch):
    monkeypatch.setattr(sqlite, "PRAGMAS", [*sqlite.PRAGMAS, "max_page_count=2"])
    with pytest.raises(CannotWrite, match="the disk is full"):
        Store.open(file)
    monkeypatch.undo()
    with Store.open(file) as store:
        assert store.people() == []


# -- nothing is left --------------------------------------------------------------------


def left(file: Path, name: str, photos: list[NewPhoto]) -> set[str]:
    """What can still be found of a person in the files."""
    files = b"".join(it.read_bytes() for it in sorted(file.parent.iterdir()))
    pieces = {"name": name.encode()}
    for it in photos:
        pieces |= {"hash": it.hash.encode(), "source": it.source.encode()}
        pieces |= {f"template {i}": it.template[i : i + 32] for i in range(0, len(it.template), 500)}
        pieces |= {f"face {i}": it.face[i : i + 32] for i in range(0, len(it.face), 500)}
    return {piece for piece, content in pieces.items() if content in files}


ADA = [photo("Ada-1", 60000), photo("Ada-2")]


def enroll_ada(store: Store) -> None:
    with store.writing() as change:
        change.add_photos("Ada Lovelace", ADA)
        change.add_photos("Bob", [photo("Bob-1")])
        change.remember_refusals([Refusal("refused-Ada", "Ada Lovelace", "dark-Ada.jpg", None, "p", "no face")])
    assert {"name", "hash", "source", "template 0"} <= left(store._database.file, "Ada Lovelace", ADA)


@pytest.mark.slow
@pytest.mark.parametrize("act", ["forget", "remove_photos"])
def test_nothing_of_a_forgotten_person_is_left_in_the_files(file, act):
    with Store.open(file) as store:
        enroll_ada(store)
        with store.writing() as change:
            if act == "forget":
                change.forget("Ada Lovelace")
            else:
                change.remove_photos([it.hash for it in ADA])
                change.forget_refusals(["refused-Ada"])
        for _ in range(2):
            assert left(file, "Ada Lovelace", ADA) == set()
            assert left(file, "dark-Ada", []) == set()
            assert left(file, "refused-Ada", []) == set()
            assert left(file, "Bob", [photo("Bob-1")]) != set()
            store.close()


def test_a_name_that_was_changed_is_not_left_in_the_files(file):
    with Store.open(file) as store:
        enroll_ada(store)
        with store.writing() as change:
            change.rename("Ada Lovelace", "Countess")
        assert left(file, "Ada Lovelace", []) == set()
        assert store.person("Countess").photos == 2


def test_a_reader_in_the_way_delays_the_overwriting_only(file, monkeypatch):
    monkeypatch.setattr(sqlite, "SWEEP_WAIT_MS", 10)
    with Store.open(file) as store:
        enroll_ada(store)
        with Store.open(file) as other, other.reading() as view:
            with store.writing() as change:
                change.forget("Ada Lovelace")
            assert [person.name for person in store.people()] == ["Bob"]
            assert [person.name for person in view.people()] == ["Ada Lovelace", "Bob"]
            assert "unswept" in store.facts()
        with store.writing() as change:
            change.add_photos("Cy", [photo("Cy-1")])
        assert left(file, "Ada Lovelace", ADA) == set()
        assert "unswept" not in store.facts()


def test_whether_bytes_are_left_and_until_when_is_said_until_none_are(file, monkeypatch):
    monkeypatch.setattr(sqlite, "SWEEP_WAIT_MS", 10)
    with Store.open(file) as store:
        enroll_ada(store)
        assert (store.unswept, store.leftover()) == (False, None)
        with Store.open(file) as other, other.reading():
            with store.writing() as change:
                change.forget("Ada Lovelace")
            assert left(file, "Ada Lovelace", ADA) != set()
            assert store.unswept
            said = (
                f"The rows are gone, but {file} may still hold bytes of them, because somebody else is reading it or "
                "the disk has no room; they are overwritten after the next change, or when it is opened again."
            )
            assert (store.leftover(), other.leftover()) == (said, said)
        with Store.open(file) as third:
            assert (third.unswept, third.leftover()) == (False, None)
        assert left(file, "Ada Lovelace", ADA) == set()
        assert not store.unswept


def forget_without_sweeping(store, monkeypatch):
    """Enroll and forget somebody of whom nothing can be overwritten."""
    enroll_ada(store)
    with monkeypatch.context() as blocked:
        blocked.setattr(sqlite.SqliteFile, "sweep", lambda *_: False)
        with store.writing() as change:
            change.forget("Ada Lovelace")


def test_a_change_by_somebody_else_finishes_what_could_not_be_overwritten(file, monkeypatch):
    with Store.open(file) as store, Store.open(file) as other:
        forget_without_sweeping(store, monkeypatch)
        assert other.unswept
        with other.writing() as change:
            change.add_photos("Cy", [photo("Cy-1")])
        assert not store.unswept
        assert left(file, "Ada Lovelace", ADA) == set()


def test_who_forgets_next_looks_for_more_than_the_traces_of_his_own(file, monkeypatch):
    """The mark of the first change is taken by the second one; what it stands for must not be lost with it."""
    swept = []
    with Store.open(file) as store, Store.open(file) as other:
        forget_without_sweeping(store, monkeypatch)
        with monkeypatch.context() as watched:
            watched.setattr(sqlite.SqliteFile, "sweep", lambda _, traces, patient: swept.append(traces) or True)
            with other.writing() as change:
                change.forget("Bob")
    assert swept == [None]


def test_only_who_deletes_waits_for_readers(file, monkeypatch):
    waited = []
    with Store.open(file) as store:
        enroll_ada(store)
        with monkeypatch.context() as blocked:
            blocked.setattr(sqlite.SqliteFile, "sweep", lambda _, traces, patient: waited.append(patient))
            with store.writing() as change:
                change.forget("Ada Lovelace")
            with store.writing() as change:
                change.add_photos("Cy", [photo("Cy-1")])
    assert waited == [True, False]


def test_of_a_name_that_only_refusals_have_nothing_is_left_in_the_files(file):
    with Store.open(file) as store:
        with store.writing() as change:
            change.remember_refusals(
                [Refusal(f"refused-Ada-{i}", "Ada Lovelace", f"dark-Ada-{i}.jpg", None, "p", "no face") for i in "123"]
            )
        assert left(file, "Ada Lovelace", []) == {"name"}
        with store.writing() as change:
            change.forget("Ada Lovelace")
        for text in ("Ada Lovelace", "dark-Ada", "refused-Ada"):
            assert left(file, text, []) == set()


@pytest.mark.slow
@pytest.mark.parametrize("when", ["close", "open"])
def test_what_could_not_be_overwritten_is_when_the_gallery_is_closed_or_opened_again(file, monkeypatch, when):
    store = Store.open(file)
    enroll_ada(store)
    with monkeypatch.context() as killed:
        killed.setattr(sqlite.SqliteFile, "sweep", lambda *_: False)
        with store.writing() as change:
            change.forget("Ada Lovelace")
        if when == "open":
            store.close()
    if when == "open":
        with Store.open(file):
            pass
    else:
        store.close()
    assert left(file, "Ada Lovelace", ADA) == set()
    with Store.open(file) as again:
        assert "unswept" not in again.facts()


def test_a_sweep_does_not_take_the_mark_of_a_later_change(file, monkeypatch):
    def sweep_while_another_forgets(*_):
        monkeypatch.setattr(sqlite.SqliteFile, "sweep", lambda *_: False)
        with Store.open(file) as other, other.writing() as change:
            change.forget("Bob")
        return True

    with Store.open(file) as store:
        enroll_ada(store)
        monkeypatch.setattr(sqlite.SqliteFile, "sweep", sweep_while_another_forgets)
        with store.writing() as change:
            change.forget("Ada Lovelace")
        assert store.facts()["unswept"] == "3"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_copies_that_sqlite_leaves_behind_are_found_and_overwritten(file, seed):
    chance = random.Random(seed)
    names = [f"N{chance.randbytes(chance.randint(6, 20)).hex()}" for _ in range(250)]
    photos = {
        name: [photo(f"{name}-{k}", chance.choice([100, 900, 7000])) for k in range(chance.randint(1, 3))]
        for name in names
    }
    with Store.open(file) as store:
        for start in range(0, 250, 25):
            with store.writing() as change:
                change.add_all({name: photos[name] for name in names[start : start + 25]})
                change.set_spans(
                    {name: chance.randbytes(chance.choice([50, 3000])) for name in names[start : start + 25 : 4]}
                )
        gone = chance.sample(names, 60)
        for start in range(0, 60, 6):
            with store.writing() as change:
                for name in gone[start : start + 6]:
                    change.forget(name)
        files = file.read_bytes() + Path(f"{file}-wal").read_bytes()
        for name in gone:
            assert name.encode() not in files
            for it in photos[name]:
                assert it.hash.encode() not in files
                assert it.template[:32] not in files
        assert all(name.encode() in files for name in set(names) - set(gone))


def test_residue_is_looked_for_between_the_cells_of_a_page_and_nowhere_else(tmp_path):
    def page(kind: int, unused: bytes, cell: bytes) -> bytes:
        content = 512 - len(cell)
        head = bytes([kind, 0, 0, 0, 1]) + content.to_bytes(2) + b"\0" + content.to_bytes(2)
        return head + unused.ljust(content - len(head), b"\0") + cell

    first = b"SQLite format 3\0" + (512).to_bytes(2) + bytes(512 - 18)
    wanted = traces_of("Ada")
    for second, found in [
        (page(13, b"..Ada..", b"Bob"), True),
        (page(10, b"..Ada", b"Bob"), True),
        (page(13, b"..Ad..", b"Bob"), False),
        (page(13, b"", b"Ada"), False),
        (page(0, b"Ada", b"Bob"), False),
    ]:
        (tmp_path / "a").write_bytes(first + second)
        assert has_residue(tmp_path / "a", wanted) is found


def test_traces_are_texts_and_samples_of_bytes():
    assert traces_of("Ada", None, bytes(range(1, 21)), bytes(600)) == [b"Ada", bytes(range(1, 17))]
    assert len(traces_of(b"\1" * 60000)) == 16


def test_many_photos_at_once_are_overwritten_without_looking_for_each(file):
    with Store.open(file) as store:
        many = [photo(f"Ada-{i}", 300) for i in range(60)]
        with store.writing() as change:
            change.add_photos("Ada Lovelace", many)
        with store.writing() as change:
            change.forget("Ada Lovelace")
            assert change.traces is None
        assert left(file, "Ada Lovelace", many) == set()


# -- processes --------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_after_a_fork_each_process_has_its_own_connections(file):
    with Store.open(file) as store:
        with store.writing() as change:
            change.add_photos("Ada", [photo("a")])
        child = os.fork()
        if child == 0:
            try:
                with store.writing() as change:
                    change.add_photos("Bob", [photo("b")])
                os._exit(len(store.people()))
            finally:
                os._exit(99)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        with store.writing() as change:
            change.add_photos("Cy", [photo("c")])
        assert [person.name for person in store.people()] == ["Ada", "Bob", "Cy"]
    raw = sqlite3.connect(file)
    assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()
