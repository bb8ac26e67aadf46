"""A scheduler and two workers, real processes on this machine, and photos for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gallery.people import face

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'lightproof[cluster]'")

DEATHS = 2
"""Workers that may die over a task in these tests; Dask's own number is 4."""


@pytest.fixture(scope="session")
def workers(tmp_path_factory) -> Iterator[distributed.Client]:
    """Two workers of one thread; whoever dies is started again."""
    over = threading.Event()
    about = {
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(DEATHS - 1),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (
        started(tmp_path_factory.mktemp("scheduler"), threads=0, about=about) as (address, *_),
        distributed.Client(address, set_as_default=False) as client,
    ):
        keepers = [threading.Thread(target=_keep, args=(over, address, about)) for _ in range(2)]
        for keeper in keepers:
            keeper.start()
        try:
            yield client
        finally:
            over.set()
            for keeper in keepers:
                keeper.join()


def _keep(over: threading.Event, address: str, about: Mapping[str, str]) -> None:
    """Have a worker there until it is over. Dask's own nanny may miss that one has died while it was starting."""
    while not over.is_set():
        worker = start("worker", address, "--no-nanny", "--nthreads", "1", about=about)
        while worker.poll() is None and not over.wait(0.05):
            pass
        worker.kill()
        worker.wait()


@pytest.fixture
def address(workers) -> str:
    """Where the scheduler of both workers is, when both are there."""
    workers.wait_for_workers(2, timeout=180)
    return str(workers.scheduler.address)


@pytest.fixture
def on_workers(workers, address):
    """Change something on the workers till the end of a test; one that is started again is not changed."""
    workers.run(_remember)
    yield workers.run
    workers.wait_for_workers(2, timeout=180)
    workers.run(_restore)


def _remember() -> None:
    from lightproof.core import dask_cluster
    from lightproof.gallery import enrollment
    from lightproof.gallery.folders import scan

    modules = (dask_cluster, scan, enrollment)
    dask_cluster.before = [(module, dict(vars(module))) for module in modules]


def _restore() -> None:
    from lightproof.core import dask_cluster

    for module, names in getattr(dask_cluster, "before", []):
        vars(module).update(names)


@pytest.fixture(scope="session")
def album(tmp_path_factory) -> Path:
    """Forty people of one to three photos, one photo twice, two that are no good, and one that cannot be read."""
    top = tmp_path_factory.mktemp("album")
    for i in range(80):
        relit = (face(i % 10, i % 5) * (0.5 + i / 160)).astype("uint8")
        put(top, f"{i // 2 if i < 60 else i // 3:03d}/{i}.pgm", b"P5 84 96 255\n" + relit.tobytes())
    put(top, "007/bad.png", b"no picture")
    put(top, "012/grey.pgm", b"P5 84 96 255\n" + bytes(84 * 96))
    put(top, "020/copy.pgm", (top / "000" / "0.pgm").read_bytes())
    (top / "005" / "broken.png").symlink_to(top / "gone.png")
    return top


def put(top: Path, name: str, contents: bytes) -> None:
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_bytes(contents)


@contextmanager
def started(
    folder: Path, threads: int, about: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes], subprocess.Popen[bytes] | None]]:
    """Start a scheduler and, if it is to have threads, a worker, as one does by hand; yield address and processes."""
    note = folder / "scheduler.json"
    scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(note), about=about)
    worker = None
    try:
        while not note.exists() or not note.read_text():
            assert scheduler.poll() is None
            time.sleep(0.05)
        address = json.loads(note.read_text())["address"]
        if threads:
            worker = start("worker", address, "--no-nanny", "--nthreads", str(threads), about=about)
        yield address, scheduler, worker
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.kill()
                process.wait()


def start(what: str, *arguments: str, about: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a part of a cluster on this machine, with some variables in its environment."""
    local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments, *local]
    return subprocess.Popen(command, env={**os.environ, **(about or {})}, stderr=subprocess.DEVNULL)
