"""What runs on a worker of a cluster, and whether it would do the same as the machine that asks."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from lightproof.errors import BadCluster

LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "scikit-image", "numba", "pillow", "ai-edge-litert", "torch")
"""Packages that decide what comes of a photo."""


class Opaque:
    """Things that go as they are: Dask looks into lists for promises, and a list of photos is long."""

    def __init__(self, *things: Any) -> None:
        self.things = things


def on_worker(how: Opaque, piece: Any) -> Any:
    """Do a piece on a worker, which may have come later than all checks."""
    from distributed import get_worker

    do, ours = how.things
    check_facts(get_worker().address, facts(), ours)
    _settle_down()
    return do(piece.things[0] if isinstance(piece, Opaque) else piece)


@cache
def _settle_down() -> None:
    """Let a matrix product take one thread: the workers are as many as there are cores."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


@cache
def facts() -> dict[str, str]:
    """Tell what decides the results of this machine: versions, and the code of this package."""
    code = hashlib.sha256()
    top = Path(__file__).parents[1]
    for file in sorted(top.rglob("*.py")):
        code.update(str(file.relative_to(top)).encode() + file.read_bytes())
    found = {"Python": ".".join(map(str, sys.version_info[:2]))}
    found["lightproof"] = f"{_version('lightproof')} (code {code.hexdigest()[:8]})"
    return found | {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def check_facts(worker: str, theirs: dict[str, str], ours: dict[str, str]) -> None:
    """Refuse a worker that would make something else of the same photos."""
    for name, wanted in ours.items():
        if theirs.get(name) != wanted:
            raise BadCluster(f"Worker {worker}", f"one with {name} {wanted}, as here", f"{name} {theirs.get(name)}")
