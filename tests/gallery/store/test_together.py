"""Several writers and readers at once, and writers that are killed."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from lightproof.errors import GalleryBusy
from lightproof.gallery.store import NewPhoto, Store
from tests.gallery.store.writer import PROCESSES, enroll_many, enroll_many_elsewhere, write_until_killed

pytestmark = pytest.mark.long


def photos(name: str, count: int = 2) -> list[NewPhoto]:
    return [NewPhoto(f"{name}:{k}", "p", name.encode() * 100) for k in range(count)]


def check_all_there(store: Store, writers: int, count: int) -> None:
    assert [person.name for person in store.people()] == sorted(
        f"{w} {i}" for w in range(writers) for i in range(count)
    )
    assert store.counts() == (writers * count, 2 * writers * count, 0)
    assert store.revision() == writers * count
    assert {person.revision for person in store.people()} == set(range(1, writers * count + 1))
    assert all(store.facts()[f"count {w}"] == str(count) for w in range(writers))


def test_threads_that_write_at_once_lose_nothing(store_place):
    with Store.open(store_place) as store:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda who: enroll_many(store, who, 8), range(8)))
        check_all_there(store, 8, 8)


def test_processes_that_open_and_write_at_once_lose_nothing(store_place):
    processes = [PROCESSES.Process(target=enroll_many_elsewhere, args=(store_place, who, 15)) for who in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with Store.open(store_place, create=False) as store:
        check_all_there(store, 3, 15)


def test_a_reader_sees_no_half_change_and_is_not_kept_waiting(store_place):
    seen, done = [], threading.Event()

    def look(store: Store) -> None:
        while not done.is_set():
            with store.reading() as view:
                people, kept, _ = view.counts()
                read = [(person.photos, len(theirs), span) for person, theirs, span in view.templates()]
                seen.append((people, kept, view.revision(), len(view.photos()), read))

    with Store.open(store_place, timeout=20) as store:
        reader = threading.Thread(target=look, args=(store,))
        reader.start()
        for i in range(12):
            with store.writing() as change:
                change.add_photos(f"{i}", photos(f"{i}", 1))
                before = len(seen)
                end = time.monotonic() + 10
                # The writer is in the middle of its change; the reader reads on.
                while len(seen) < before + 2 and time.monotonic() < end:
                    time.sleep(0.001)
                assert len(seen) >= before + 2
                change.add_photos(f"{i}", photos(f"{i}", 3))
                change.set_span(f"{i}", b"joint")
        done.set()
        reader.join()
    for people, kept, revision, listed, read in seen:
        assert people == revision == len(read)
        assert kept == listed == 3 * people
        assert set(read) <= {(3, 3, b"joint")}
    assert len({people for people, *_ in seen}) > 6


def test_a_second_writer_waits_and_then_says_who_is_in_the_way(store_place):
    with Store.open(store_place) as store, Store.open(store_place, timeout=0.2) as hasty:
        with store.writing() as change:
            change.add_person("Ada")
            start = time.monotonic()
            said = r" must be free for writing within 0\.2 seconds; got another writer\.$"
            with pytest.raises(GalleryBusy, match=said) as caught, hasty.writing():
                pytest.fail("two writers at once")
            assert 0.15 < time.monotonic() - start < 5
            assert "geheim" not in str(caught.value)
            assert hasty.people() == []
        with hasty.writing() as change:
            change.add_person("Bob")
        assert [person.name for person in store.people()] == ["Ada", "Bob"]


def test_a_gallery_opens_while_somebody_writes(store_place):
    with Store.open(store_place) as store, store.writing() as change:
        change.add_person("Ada")
        with Store.open(store_place, timeout=0.1, create=False) as other:
            assert other.people() == []


def kill_at_a_random_moment(place: str, chance: random.Random) -> list[tuple[str, str, int]]:
    """Let a writer say some words, and kill it at some moment after; return all that it said."""
    said = []
    ours, theirs = PROCESSES.Pipe(duplex=False)
    with ours:
        with theirs:
            process = PROCESSES.Process(target=write_until_killed, args=(place, chance.randrange(10**6), theirs))
            process.start()
        said += [ours.recv() for _ in range(chance.randrange(1, 8))]
        time.sleep(chance.uniform(0, 0.03))
        process.kill()
        process.join()
        # What was cut short in the middle was not acknowledged.
        with suppress(EOFError, OSError):
            while True:
                said.append(ours.recv())
    return said


def test_a_killed_writer_leaves_every_acknowledged_change_and_no_half_change(store_place):
    chance = random.Random(20260101)
    expected: dict[str, int] = {}
    unsure: set[str] = set()
    changes = 0
    for _ in range(20):
        for act, name, count in kill_at_a_random_moment(store_place, chance):
            if act == "enrolled":
                expected[name] = count
            elif act == "forgetting":
                # Acknowledged or not, it may have happened.
                unsure = {name}
            elif act == "forgot":
                del expected[name]
                unsure.clear()
            changes += act in ("enrolled", "forgot")
        with Store.open(store_place) as store:
            found = {}
            for person, theirs, span in store.templates():
                assert person.photos == len(theirs) == int(span or b"0")
                assert all(len(photo.template) == 30000 for photo in theirs)
                found[person.name] = len(theirs)
            missing = expected.keys() - found.keys()
            assert missing <= unsure
            assert {name: found[name] for name in expected.keys() - missing}.items() <= expected.items()
            # What the writer had committed but not yet told.
            assert len(found.keys() - expected.keys()) <= 1
            expected = found
            assert "unswept" not in store.facts()
    assert changes > 15  # a busy machine writes less between two kills
