"""Kills, slow clients, clients that hang up: nothing is lost, and nobody else pays for it."""

from __future__ import annotations

import io
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx2 as httpx
import numpy as np
import pytest
from PIL import Image

from lightproof.gallery import Gallery
from tests.service.conftest import png
from tests.service.in_process import files
from tests.service.running import Running, wait_until

pytestmark = pytest.mark.long

TOGETHER = 184
"""Kills of a service that does its work in one process."""
WORKERS = 12
"""Kills of the processes that work for a service, which goes on."""
WHOLE = 4
"""Kills of a service with all its processes."""
# 200 in all.

CROPPED = {"cropped": "true"}


def new_photo(chance: random.Random) -> bytes:
    """A photo that nobody has sent before."""
    rng = np.random.default_rng(chance.getrandbits(64))
    return png(rng.integers(0, 255, (32, 28)).astype(np.uint8))


class Enroller(threading.Thread):
    """Enrolls photos as fast as it can, and remembers which the service said are there."""

    def __init__(self, url: str, seed: int, kept: dict[str, str]) -> None:
        super().__init__()
        self._url, self._chance, self.kept = url, random.Random(seed), kept
        self.unsure = 0
        self._enough = threading.Event()

    def run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=30, trust_env=False) as client:
            while not self._enough.is_set():
                try:
                    self._enroll(client)
                except httpx.HTTPError:
                    self.unsure += 1
                    if not self._alive(client):
                        return

    def _enroll(self, client: httpx.Client) -> None:
        photos = [new_photo(self._chance) for _ in range(self._chance.randint(1, 4))]
        name = f"person {self._chance.getrandbits(40)}"
        answer = client.post("/v1/people", data={"name": name, **CROPPED}, files=files(*photos))
        if answer.status_code == 201:
            assert len(answer.json()["added"]) == len(photos)
            self.kept.update({photo["sha256"]: name for photo in answer.json()["added"]})
        else:
            assert answer.status_code == 503, answer.text
            self.unsure += 1

    def _alive(self, client: httpx.Client) -> bool:
        try:
            return client.get("/v1/health").status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self) -> None:
        self._enough.set()
        self.join(60)
        assert not self.is_alive()


def check(place: Path, kept: dict[str, str], thorough: bool = True) -> None:
    """The gallery opens, holds every photo that was acknowledged, and no half photo or person."""
    with Gallery.open(place, create=False) as gallery:
        photos = gallery.store.photos()
        people = gallery.people()
        assert kept.items() <= {photo.hash: photo.person for photo in photos}.items()
        assert len(photos) == sum(person.photos for person in people)
        assert all(person.photos for person in people)
        # Every template is whole, and so is the one of several photos.
        assert not thorough or len(gallery.everybody()) == len(people)


def test_killed_at_any_moment_of_an_enroll_the_gallery_holds_what_was_acknowledged(empty):
    chance, kept = random.Random(7), {}
    command = [sys.executable, "-m", "tests.service.nursery", str(empty)]
    nursery = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with nursery:
        try:
            assert nursery.stdout.readline() == "ready\n"
            interrupted = 0
            for i in range(TOGETHER):
                nursery.stdin.write("\n")
                nursery.stdin.flush()
                child, port = map(int, nursery.stdout.readline().split())
                enroller = Enroller(f"http://127.0.0.1:{port}", i, kept)
                before = len(kept)
                enroller.start()
                if i % 5 == 0:
                    wait_until(lambda before=before: len(kept) > before, what="the first enroll")
                time.sleep(chance.uniform(0.05, 0.3))
                os.kill(child, signal.SIGKILL)
                enroller.join(60)
                interrupted += enroller.unsure
                assert nursery.stdout.readline() == "dead\n"
                check(empty, kept, thorough=i % 8 == 7)  # 184 kills: also after the last
            assert len(kept) >= TOGETHER / 5  # every fifth kill waits for one; a busy machine may add no other
            assert interrupted >= TOGETHER / 3  # most kills fell into the middle of something
        finally:
            nursery.kill()


def test_when_those_who_work_are_killed_the_service_goes_on_and_nothing_acknowledged_is_lost(empty):
    chance, kept = random.Random(8), {}
    with Running(empty, "--rate", 0, "--workers", 2) as service:
        enroller = Enroller(service.url, 8, kept)
        enroller.start()
        for _ in range(WORKERS):
            before = len(kept)
            wait_until(lambda before=before: len(kept) > before, 60, "an enroll after the kill")
            time.sleep(chance.uniform(0, 0.1))
            for worker in service.workers():
                os.kill(worker, signal.SIGKILL)
        enroller.stop()
        assert service.process.poll() is None
        assert service.mistakes() == []
    check(empty, kept)


def test_a_service_that_is_killed_whole_starts_again_with_everything_acknowledged(empty):
    chance, kept = random.Random(9), {}
    for i in range(WHOLE):
        with Running(empty, "--rate", 0, "--workers", 1) as service:
            enroller = Enroller(service.url, 100 + i, kept)
            before = len(kept)
            enroller.start()
            wait_until(lambda before=before: len(kept) > before, 60, "the first enroll")
            time.sleep(chance.uniform(0, 0.3))
            service.kill()
            enroller.join(60)
        check(empty, kept)


# ---------------------------------------------------------------------------------------------------- sharing a service


@pytest.fixture(scope="module")
def service(tmp_path_factory, made_gallery):
    place = tmp_path_factory.mktemp("shared") / "people.gallery"
    place.write_bytes(made_gallery.read_bytes())
    with Running(place, "--rate", 0, "--workers", 1) as running:
        yield running


def named(service: Running, photo: bytes) -> str | None:
    answer = service.client.post("/v1/identify", data=CROPPED, files=files(photo, field="photo"))
    assert answer.status_code == 200, answer.text
    return answer.json()["name"]


def figure(service: Running, name: str) -> float:
    return float(re.search(rf"^{name} (\S+)$", service.client.get("/metrics").text, re.MULTILINE).group(1))


def half_sent(service: Running, length: int = 100_000, sent: int = 50_000) -> socket.socket:
    """A client that stops in the middle of an upload."""
    client = socket.create_connection(("127.0.0.1", service.port))
    head = f"POST /v1/identify HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n"
    client.sendall(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n".encode())
    client.sendall(b"--x\r\nContent-Disposition: form-data; name=photo; filename=a\r\n\r\n" + bytes(sent))
    return client


def test_an_enroll_through_one_service_is_found_by_another_within_a_second(service, shots, tmp_path):
    with Running(Path(service.process.args[5]), "--rate", 0, "--workers", 2) as other:
        assert named(other, shots["Eve"]["left"]) is None
        form = {"data": {"name": "Eve", **CROPPED}, "files": files(shots["Eve"]["front"])}
        made = service.client.post("/v1/people", **form)
        began = time.monotonic()
        assert made.status_code == 201
        # Whichever process of the other service is asked.
        assert {named(other, shots["Eve"]["left"]) for _ in range(8)} == {"Eve"}
        assert time.monotonic() - began < 30
        other.client.delete(f"/v1/people/{made.json()['person']['id']}")
        assert named(service, shots["Eve"]["left"]) is None


def test_slow_clients_and_half_sent_uploads_cost_nobody_else(service, shots):
    """They are let go of after ten seconds; meanwhile everybody else is answered."""
    lazy = [half_sent(service) for _ in range(60)]
    crawling = socket.create_connection(("127.0.0.1", service.port))
    crawling.sendall(b"GET /v1/health HTTP/1.1\r\nHost: local")
    silent = socket.create_connection(("127.0.0.1", service.port))
    assert named(service, shots["Ada"]["right"]) == "Ada"
    wait_until(lambda: figure(service, "lightproof_held_bytes") >= 60 * 50_000, what="the half-sent uploads")
    for client in lazy:
        client.settimeout(30)
        answer = b""
        while not answer.endswith(b"}"):
            answer += client.recv(20_000)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"code":"too_slow"' in answer
        client.close()
    for client in (crawling, silent):
        client.settimeout(30)
        with pytest.raises((ConnectionError, AssertionError)):
            assert client.recv(1000), "closed without a word"
        client.close()
    assert figure(service, "lightproof_held_bytes") == 0
    assert named(service, shots["Ada"]["right"]) == "Ada"


def test_clients_that_hang_up_cost_nobody_else(service, shots):
    for _ in range(80):
        half_sent(service).close()
    body = b'{"photo": "AAAA", "cropped": true}'
    head = b"POST /v1/identify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for _ in range(80):
        client = socket.create_connection(("127.0.0.1", service.port))
        client.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        client.close()
    assert named(service, shots["Ada"]["right"]) == "Ada"
    wait_until(lambda: figure(service, "lightproof_held_bytes") == 0, what="the end of all uploads")
    wait_until(lambda: figure(service, "lightproof_jobs_waiting") == 0, what="the end of all work")
    assert service.mistakes() == []


def test_headers_without_end_are_not_listened_to(service, shots):
    client = socket.create_connection(("127.0.0.1", service.port))
    client.settimeout(30)
    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    with pytest.raises(ConnectionError):  # noqa: PT012
        for i in range(100_000):
            client.sendall(b"X-%d: %s\r\n" % (i, b"y" * 500))
    client.close()
    assert named(service, shots["Ada"]["right"]) == "Ada"


def test_one_header_without_end_is_answered_at_once(service, shots):
    """The parser keeps an unfinished header to itself; somebody else must count."""
    client = socket.create_connection(("127.0.0.1", service.port))
    client.settimeout(30)
    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
    with suppress(ConnectionError):
        for _ in range(400):
            client.sendall(b"y" * 2**18)
    client.close()
    assert named(service, shots["Ada"]["right"]) == "Ada"


def test_what_is_no_http_is_told_so(service):
    for sent, code in ((b"\x16\x03\x01 hello\r\n\r\n", b"bad_request"), (b"GET / HTTP/1.1\r\n", b"headers_too_large")):
        client = socket.create_connection(("127.0.0.1", service.port))
        client.settimeout(30)
        client.sendall(sent)
        if code == b"headers_too_large":
            client.sendall(b"X: " + b"y" * 50_000)
            time.sleep(0.3)
            client.sendall(b"y")
        answer = b""
        while piece := client.recv(10_000):
            answer += piece
        assert b"content-type: application/problem+json" in answer
        assert b'"code": "%s"' % code in answer
        client.close()


def test_a_connection_on_which_nothing_is_asked_is_not_held_for_ever(service):
    """Neither by a line that begins nothing, nor after a request that was refused before its end."""
    health = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    lines = socket.create_connection(("127.0.0.1", service.port))
    lines.sendall(health)
    assert lines.recv(5000).startswith(b"HTTP/1.1 200")
    lines.sendall(b"\r\n")
    refused = socket.create_connection(("127.0.0.1", service.port))
    refused.sendall(b"POST /v1/identify HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n")
    assert refused.recv(5000).startswith(b"HTTP/1.1 403")
    refused.sendall(b"x" * 9)
    for client in (lines, refused):
        client.settimeout(25)
        with suppress(ConnectionError):
            while client.recv(5000):
                pass
        client.close()


def test_a_body_without_end_is_answered_and_not_kept(service):
    def endless():
        yield b"--x\r\nContent-Disposition: form-data; name=photo; filename=a\r\n\r\n"
        while True:
            yield bytes(2**20)

    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    before = service.memory()
    with httpx.Client(base_url=service.url, timeout=60, trust_env=False) as client:
        try:
            answer = client.post("/v1/identify", content=endless(), headers=kind)
            assert answer.status_code == 413
        except httpx.TransportError:
            pass  # it was hung up on while it still sent
    assert service.memory() < before + 80 * 2**20
    assert service.client.get("/v1/health").status_code == 200


def test_told_to_stop_it_answers_who_is_there_and_leaves_nothing_running(gallery, photos_extra):
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (900, 1200)).astype(np.uint8))
    out = io.BytesIO()
    noise.save(out, "JPEG")
    with Running(gallery, "--rate", 0, "--workers", 1) as service:
        answers = []

        def ask():
            answers.append(service.client.post("/v1/identify", files=files(out.getvalue(), field="photo")))

        asking = threading.Thread(target=ask)
        asking.start()
        with httpx.Client(base_url=service.url, trust_env=False) as other:
            wait_until(lambda: "lightproof_jobs_waiting 1.0" in other.get("/metrics").text, what="the work")
        family = service.family()
        assert service.stop() == 0
        asking.join()
        assert answers[0].json()["code"] == "no_face"
        wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in family), what="the end of all processes")


def test_when_the_one_who_serves_is_killed_those_who_work_for_it_end(gallery):
    with Running(gallery, "--workers", 2) as service:
        family = service.family()
        assert len(service.workers()) == 2
        os.kill(service.process.pid, signal.SIGKILL)
        service.process.wait()
        wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in family), what="the end of all processes")
