"""A scheduler and two workers, real processes on this machine, and photos for them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gallery.people import face

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'lightproof[cluster]'")

import dask  # noqa: E402

DEATHS = 2
"""Workers that may die over a task in these tests; Dask's own number is 4."""


@pytest.fixture(scope="session")
def workers() -> Iterator[distributed.Client]:
    """Two workers of one thread; whoever dies is started again."""
    options = {
        "distributed.scheduler.allowed-failures": DEATHS - 1,
        "distributed.nanny.pre-spawn-environ.PYTHONPATH": ":".join(sys.path),
    }
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=60
        ) as on,
        distributed.Client(on, set_as_default=False) as client,
    ):
        yield client


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
    from lightproof import worker
    from lightproof.gallery import reading, taking

    modules = (worker, reading, taking)
    worker.before = [(module, dict(vars(module))) for module in modules]


def _restore() -> None:
    from lightproof import worker

    for module, names in getattr(worker, "before", []):
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
    folder: Path, threads: int
) -> Iterator[tuple[str, subprocess.Popen[bytes], subprocess.Popen[bytes] | None]]:
    """Start a scheduler and, if it is to have threads, a worker, as one does by hand; yield address and processes."""
    note = folder / "scheduler.json"
    local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(note), *local)
    worker = None
    try:
        while not note.exists() or not note.read_text():
            assert scheduler.poll() is None
            time.sleep(0.05)
        address = json.loads(note.read_text())["address"]
        if threads:
            worker = start("worker", address, "--no-nanny", "--nthreads", str(threads), *local)
        yield address, scheduler, worker
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.kill()
                process.wait()


def start(what: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments], stderr=subprocess.DEVNULL
    )
