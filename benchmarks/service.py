"""How much of the library's speed a service passes on: clients on loopback against the bare call, in one run.

``python -m benchmarks.service``: a gallery of rendered people, a service on it, eight clients that ask one question
after the other for a minute. Before and after, the same photos are given to ``Gallery.identify`` in as many processes
as the service has. Clients and service share the cores.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from threadpoolctl import threadpool_limits

from lightproof.core.report_parts import TextTable
from lightproof.datasets import make_relit_faces
from lightproof.experiments.reproduction_report import markdown
from lightproof.gallery import Gallery
from lightproof.types import Array

LIGHTS = ((0, 0), (35, 10), (-60, 10), (70, 20))
BOUNDARY = "lightproof"


class Load(NamedTuple):
    """What came of a while of asking: answers a second, how many named the right person, seconds of each."""

    rate: float
    right: int
    wrong: int
    seconds: list[float]

    def slow(self, share: float) -> float:
        """Milliseconds that so large a share of the answers took at most."""
        return 1000 * float(np.quantile(self.seconds, share))


class Photo(NamedTuple):
    """A photo to ask about, and who is on it."""

    name: str
    contents: bytes


def encoded(image: Array, kind: str) -> bytes:
    """Write a picture as a file."""
    out = io.BytesIO()
    Image.fromarray(image).save(out, kind, quality=90)
    return out.getvalue()


def framed(face: Array, rng: np.random.Generator) -> Array:
    """Set a face into a photograph of 640 x 480 pixels."""
    photo = rng.normal(90, 12, (480, 640)).clip(0, 255).astype(np.uint8)
    photo[140:332, 240:408] = face
    return photo


def make_photos(people: int) -> dict[str, list[Photo]]:
    """Photograph rendered people under some lights, as photographs and as cropped faces; the first light is even."""
    made = make_relit_faces(people, list(LIGHTS)).images
    rng = np.random.default_rng(0)
    names = [f"person {i // len(LIGHTS):03}" for i in range(len(made))]
    faces = list(zip(names, made, strict=True))
    return {
        "photographs, 640 x 480": [Photo(name, encoded(framed(image, rng), "JPEG")) for name, image in faces],
        "cropped faces": [Photo(name, encoded(image, "PNG")) for name, image in faces],
    }


def enroll(place: Path, photos: Sequence[Photo], preset: str, cropped: bool) -> list[Photo]:
    """Enroll the first photo of everybody; return the others."""
    with Gallery.open(place, preset=preset) as gallery:
        for photo in photos[:: len(LIGHTS)]:
            gallery.enroll(photo.name, [photo.contents], cropped=cropped)
    return [photo for i, photo in enumerate(photos) if i % len(LIGHTS)]


def ask_library(place: str, photos: Sequence[Photo], cropped: bool, seconds: float, out: Queue[Load]) -> None:
    """Ask the library itself, one photo after the other."""
    threadpool_limits(1)
    with Gallery.open(place, create=False) as gallery:
        for photo in photos[:8]:
            gallery.identify(photo.contents, cropped=cropped)
        out.put(_asked(lambda photo: gallery.identify(photo.contents, cropped=cropped).name, photos, seconds, 0))


def _asked(ask: Any, photos: Sequence[Photo], seconds: float, start: int) -> Load:
    taken, right, i = [], 0, start
    began = time.perf_counter()
    while time.perf_counter() < began + seconds:
        photo = photos[i % len(photos)]
        first = time.perf_counter()
        right += ask(photo) == photo.name
        taken.append(time.perf_counter() - first)
        i += 1
    return Load(len(taken) / (time.perf_counter() - began), right, len(taken) - right, taken)


def together(loads: Sequence[Load]) -> Load:
    """Add up those who asked at the same time."""
    every = [one for load in loads for one in load.seconds]
    return Load(sum(load.rate for load in loads), sum(o.right for o in loads), sum(o.wrong for o in loads), every)


def bare(place: Path, photos: Sequence[Photo], cropped: bool, seconds: float, workers: int) -> Load:
    """Ask the library in several processes at once."""
    context = get_context("spawn")
    out: Queue[Load] = context.Queue()
    arguments = (str(place), photos, cropped, seconds, out)
    processes = [context.Process(target=ask_library, args=arguments) for _ in range(workers)]
    for process in processes:
        process.start()
    found = [out.get() for _ in processes]
    for process in processes:
        process.join()
    return together(found)


class Service:
    """``lightproof serve``, in processes of its own."""

    def __init__(self, place: Path, workers: int) -> None:
        command = [sys.executable, "-m", "lightproof", "serve", "--gallery", str(place), "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--workers", str(workers), "--rate", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline().rpartition(":")[2])

    def memory(self) -> int:
        """Bytes of all its processes; what several share is counted once."""
        own = [one for one in os.listdir("/proc") if one.isdecimal() and _session(one) == self._process.pid]
        return sum(_pss(one) for one in own)

    def stop(self) -> None:
        """Tell it to stop."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(60) == 0


def _session(process: str) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return -1


def _pss(process: str) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


class Client:
    """Asks a service over one connection; whatever is no answer is an error."""

    def __init__(self, port: int, cropped: bool) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="cropped"\r\n\r\n{str(cropped).lower()}\r\n'
        self._head += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\n'

    def __call__(self, photo: Photo) -> str | None:
        """Ask who is on a photo."""
        body = self._head.encode() + photo.contents + f"\r\n--{BOUNDARY}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        self._connection.request("POST", "/v1/identify", body, headers)
        answer = self._connection.getresponse()
        told = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{answer.status}: {told}")
        name: str | None = told["name"]
        return name


def served(port: int, photos: Sequence[Photo], cropped: bool, seconds: float, clients: int) -> Load:
    """Let several clients ask a service at once."""
    found: list[Load] = []

    def ask(start: int) -> None:
        found.append(_asked(Client(port, cropped), photos, seconds, start))

    threads = [threading.Thread(target=ask, args=(i * len(photos) // clients,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(found) != clients:
        raise SystemExit("a client ended with an error")
    return together(found)


def measure(folder: Path, everything: Sequence[Photo], kind: str, options: argparse.Namespace) -> list[str]:
    """Measure one kind of photos; return a line of the table."""
    cropped, quarter, place = kind.startswith("cropped"), options.seconds / 4, folder / f"{kind[:7]}.gallery"
    photos = enroll(place, everything, options.preset, cropped)
    before = bare(place, photos, cropped, quarter, options.workers)
    service = Service(place, options.workers)
    try:
        served(service.port, photos, cropped, min(options.seconds, 10), options.clients)
        early = service.memory()
        load = served(service.port, photos, cropped, options.seconds, options.clients)
        late = service.memory()
    finally:
        service.stop()
    after = bare(place, photos, cropped, quarter, options.workers)
    library = together([before, after])
    rate = library.rate / 2
    return [
        kind,
        f"{rate:.0f}",
        f"{load.rate:.0f}",
        f"{100 * load.rate / rate:.0f} %",
        f"{library.slow(0.5):.1f} / {library.slow(0.99):.1f}",
        f"{load.slow(0.5):.1f} / {load.slow(0.99):.1f}",
        f"{load.slow(0.99) / library.slow(0.99):.1f}",
        f"{100 * load.right / (load.right + load.wrong):.1f} %",
        f"{early / 2**20:.0f}, {late / 2**20:.0f} ({100 * (late / early - 1):+.1f} %)",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--preset", default="robust")
    options = parser.parse_args(arguments)
    head = [
        "identify", "library, photos a second", "service", "share", "library: median / p99, ms",
        "service: median / p99, ms", "p99, times the library's", "named", "memory, MiB: before, after",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        sets = make_photos(options.people)
        lines = [measure(Path(folder), photos, kind, options) for kind, photos in sets.items()]
    print(markdown(TextTable("Identify over HTTP", head, lines)))


if __name__ == "__main__":
    main()
