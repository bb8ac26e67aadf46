"""How much faster two workers of a cluster enroll than one: python -m benchmarks.cluster [FILE.json].

A scheduler and one or two workers, each a process of one thread on this machine, enroll the same folder in turns: the
faces of :mod:`benchmarks.bulk`, and photographs in which a face must be found, made by setting faces into a frame.
Beside the seconds stand those of the processors, of the client, the scheduler and the workers; then one of two workers
is killed in the middle, and every photo must be there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.bulk import RENDERED, Crowd
from lightproof.core.dask_cluster import Cluster
from lightproof.datasets import make_relit_faces
from lightproof.experiments.end_to_end import set_into_frame
from lightproof.gallery import Gallery

TURNS: Final = 3

Process = subprocess.Popen[bytes]


class Machines(NamedTuple):
    """A scheduler and its workers, all on this machine."""

    address: str
    scheduler: Process
    workers: list[Process]


@contextmanager
def machines(workers: int) -> Iterator[Machines]:
    """Start a scheduler and some workers of one thread."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder, "scheduler.json")
        scheduler = _start("scheduler", "--port", "0", "--scheduler-file", str(note))
        started = [scheduler]
        try:
            while not note.exists() or not note.read_text():
                time.sleep(0.05)
            address = json.loads(note.read_text())["address"]
            for _ in range(workers):
                started.append(_start("worker", address, "--no-nanny", "--nthreads", "1", "--local-directory", folder))
            yield Machines(address, scheduler, started[1:])
        finally:
            for process in reversed(started):
                process.kill()
                process.wait()


def _start(what: str, *arguments: str) -> Process:
    command = [
        sys.executable,
        "-m",
        f"distributed.cli.dask_{what}",
        "--host",
        "127.0.0.1",
        "--dashboard-address",
        "127.0.0.1:0",
        *arguments,
    ]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def processor_seconds(process: int) -> float:
    """Seconds of processor time that a process has had."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def enroll(
    on: Machines, cluster: Cluster, folder: Path, cropped: bool, at_half: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Enroll a folder into a new gallery, and say what it cost; something may happen in the middle."""

    def progress(pieces: Iterable[Any], total: int) -> Iterator[Any]:
        for i, piece in enumerate(pieces):
            if i == total // 2:
                at_half()
            yield piece

    everybody = [os.getpid(), on.scheduler.pid, *(worker.pid for worker in on.workers)]
    with tempfile.TemporaryDirectory() as top, Gallery.open(Path(top, "new.gallery"), preset="robust") as gallery:
        before, start = [processor_seconds(process) for process in everybody], time.perf_counter()
        report = gallery.enroll_folder(folder, cropped=cropped, cluster=cluster, progress=progress)
        seconds = time.perf_counter() - start
        cost = [processor_seconds(process) - earlier for process, earlier in zip(everybody, before, strict=True)]
        assert gallery.store.counts().photos == report.enrolled
    return {
        "workers": len(on.workers),
        "enrolled": report.enrolled,
        "refused": len(report.refused),
        "seconds": round(seconds, 2),
        "client_seconds": round(cost[0], 2),
        "scheduler_seconds": round(cost[1], 2),
        "workers_seconds": round(sum(cost[2:]), 2),
    }


def compare(folder: Path, few: Path, cropped: bool, turns: int = TURNS) -> dict[str, Any]:
    """Enroll a folder with one worker and with two, in turns; keep the best of each. A few photos come before it."""
    runs: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for _ in range(turns):
        for count in runs:
            with machines(count) as on, Cluster(on.address) as cluster:
                cluster.wait_for_workers(count)
                enroll(on, cluster, few, cropped)  # what is loaded and compiled once is not counted
                runs[count].append(enroll(on, cluster, folder, cropped))
    best = {count: min(own, key=lambda run: float(run["seconds"])) for count, own in runs.items()}
    return {
        "photos": "faces" if cropped else "photographs",
        "one": best[1],
        "two": best[2],
        "times_as_fast": round(best[1]["seconds"] / best[2]["seconds"], 2),
        "all_seconds": {count: [run["seconds"] for run in own] for count, own in runs.items()},
    }


def killed(folder: Path, cropped: bool) -> dict[str, Any]:
    """Enroll a folder with two workers, of which one is killed in the middle."""
    with machines(2) as on, Cluster(on.address) as cluster:
        cluster.wait_for_workers(2)
        left, victim = on.workers

        def kill() -> None:
            victim.kill()

        found = enroll(on._replace(workers=[left]), cluster, folder, cropped, kill)
        return found | {"workers": "2, one of them killed in the middle"}


def write_photographs(folder: Path, people: int) -> None:
    """Write photos in which the faces must be found: rendered ones, in a frame."""
    for i, face in enumerate(make_relit_faces(people, lights=[(0, 0)], seed=7).images):
        picture, _ = set_into_frame(face)
        own = folder / f"person {i:05d}"
        own.mkdir(parents=True)
        head = f"P5 {picture.shape[1]} {picture.shape[0]} 255\n"
        (own / "0.pgm").write_bytes(head.encode() + picture.tobytes())


def main() -> None:
    """Measure faces and photographs."""
    rendered = make_relit_faces(RENDERED, lights=[(0, 0)], seed=5).images
    rows = []
    with tempfile.TemporaryDirectory() as top:
        Crowd(rendered, 3000, 1).write(Path(top, "faces"))
        Crowd(rendered, 200, 1).write(Path(top, "few faces"))
        write_photographs(Path(top, "photographs"), 600)
        write_photographs(Path(top, "few photographs"), 20)
        for name, cropped in (("faces", True), ("photographs", False)):
            folder, few = Path(top, name), Path(top, f"few {name}")
            for row in (compare(folder, few, cropped), killed(folder, cropped)):
                print(json.dumps(row), flush=True)
                rows.append(row)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
