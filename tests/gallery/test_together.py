"""Many at once, and writers that are killed."""

from __future__ import annotations

import copy
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from lightproof.gallery import Gallery
from tests.conftest import ROOT
from tests.gallery.people import NAMES, answers, enroll, face, new, rendered

pytestmark = pytest.mark.long


def test_threads_of_one_gallery_enroll_and_ask_at_once(store_place, tmp_path):
    rendered()
    with new(store_place) as gallery:

        def work(number):
            name = NAMES[number % len(NAMES)]
            gallery.enroll(name, [face(name, number // len(NAMES))])
            answer = gallery.identify(face(name, number // len(NAMES)))
            return answer.candidates[0].name

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(work, range(18))) == NAMES * 3
        with new(tmp_path / "one by one.gallery") as one_by_one:
            enroll(one_by_one, NAMES, lights=(0, 1, 2))
            assert answers(one_by_one) == answers(gallery)


def test_a_thread_that_reads_sees_whole_people_only(tmp_path):
    with new(tmp_path / "people.gallery") as gallery:
        enroll(gallery, "Ada")

        def ask(_):
            return [person.photos for person in gallery.people()], gallery.everybody().names

        def write(_):
            enroll(gallery, NAMES[1:], lights=(0, 1))
            for name in NAMES[1:]:
                gallery.forget(name)

        with ThreadPoolExecutor(3) as pool:
            writing = pool.submit(write, 0)
            seen = []
            while not writing.done():
                seen += pool.map(ask, range(4))
            writing.result()
        assert all(counts[0] == 1 and set(counts[1:]) <= {2} for counts, _ in seen)
        assert all("Ada" in names and set(names) <= set(NAMES) for _, names in seen)
        assert gallery.everybody().names == ["Ada"]


class Nursery:
    """Starts children that change a gallery, and kills them; knows what must be in the gallery."""

    def __init__(self, place: str, chance: random.Random) -> None:
        self.place, self.chance = place, chance
        self.people: dict[str, set[str]] = {}
        self.changes: Counter[str] = Counter()
        self.in_flight: Counter[str] = Counter()

    def __enter__(self) -> Nursery:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.gallery.nursery", self.place],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        assert self.hear() == ["ready"]
        return self

    def __exit__(self, *problem: object) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def hear(self) -> list:
        line = self.process.stdout.readline()
        assert line, "the nursery has ended"
        return json.loads(line)

    def kill_at_a_random_moment(self) -> None:
        """Let a child make some changes, kill it, and look whether the gallery is what it must be."""
        print(self.chance.getrandbits(40), file=self.process.stdin, flush=True)
        wait, doing, child, words = self.chance.randint(0, 7), None, None, 0
        while True:
            match self.hear():
                case ["child", number]:
                    child = number
                case ["failed", problem]:
                    pytest.fail(problem)
                case ["doing", *what]:
                    doing = what
                case ["done"]:
                    self.people = applied(self.people, *doing)
                    self.changes[doing[0]] += 1
                    doing = None
                case ["dead"]:
                    break
            words += 1
            if child and words > wait and wait >= 0:
                time.sleep(self.chance.uniform(0, 0.012))
                os.kill(child, signal.SIGKILL)
                wait = 10**9
        self.check(doing)

    def check(self, doing: list | None) -> None:
        with Gallery.open(self.place, create=False) as gallery:
            # A server may still be busy with what a dead client has asked for: whoever writes waits for it.
            with gallery.store.writing() as change:
                found: dict[str, set[str]] = {person.name: set() for person in change.people()}
                for photo in change.photos():
                    found[photo.person].add(photo.hash)
                for person, photos, span in change.templates():
                    assert person.photos == len(photos)
                    assert (span is None) == (len(photos) == 1)
            # Every template can be read.
            assert set(gallery.everybody().names) == set(found)
        possible = [self.people] + ([applied(self.people, *doing)] if doing else [])
        assert found in possible
        if doing:
            self.in_flight["made" if found == possible[1] else "not made"] += 1
        self.people = found


def applied(people: dict[str, set[str]], act: str, name: str, more: list[str]) -> dict[str, set[str]]:
    """What a change makes of a gallery."""
    people = copy.deepcopy(people)
    if act == "enroll":
        people.setdefault(name, set()).update(more)
    elif act == "forget":
        del people[name]
    else:
        people[more[0]] = people.pop(name)
    return people


def kill_often(place: str, times: int, seed: int) -> Nursery:
    new(place).close()
    with Nursery(place, random.Random(seed)) as nursery:
        for _ in range(times):
            nursery.kill_at_a_random_moment()
    return nursery


def test_a_file_outlives_two_hundred_kills_with_every_acknowledged_change_and_no_half_change(tmp_path):
    nursery = kill_often(str(tmp_path / "people.gallery"), 200, 20260101)
    # The kills did hit changes, before and after they were made, of every kind.
    assert sum(nursery.in_flight.values()) > 60
    assert min(nursery.changes[act] for act in ("enroll", "forget", "rename")) > 10
    assert nursery.in_flight["not made"] > 20


def test_a_server_outlives_killed_clients_with_every_acknowledged_change_and_no_half_change(postgres_place):
    nursery = kill_often(postgres_place, 15, 20260102)
    assert sum(nursery.in_flight.values()) > 3
