"""Faces that many tests share, and the door to the real data."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from lightproof.datasets import FaceSet, load_yale_b, make_relit_faces
from lightproof.errors import MissingExtra
from lightproof.imaging.detection import face_networks
from tests.gallery.store import server

ROOT = Path(__file__).parents[1]

# Machines may be slow and busy: no example has a time limit. Where it must not surprise, the examples are fixed.
# `make test` tries few examples; `make test-long` tries all, with --hypothesis-profile full.
settings.register_profile("full", deadline=None, max_examples=100, derandomize="CI" in os.environ)
settings.register_profile("quick", settings.get_profile("full"), max_examples=20)
settings.load_profile("quick")


# Fixtures that start something or read real data: what they cost decides which of `make check`, `make test` and
# `make test-long` runs a test.
COSTS = {
    "yale_data": "data",
    "orl_data": "data",
    "lfw_data": "data",
    "postgres_server": "slow",
    "postgres_place": "slow",
}

LONGEST = (
    "service/test_faults.py",
    "gallery/test_together.py",
    "experiments/test_yale_figures.py",
    "service/test_bad_uploads.py",
    "cli/test_hostile.py",
    "service/test_contract.py",
    "cli/test_research.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they start, and begin with the files that take minutes.

    Begun last, they would leave all other processes without work.
    """
    for item in items:
        for fixture in set(getattr(item, "fixturenames", ())) & COSTS.keys():
            item.add_marker(COSTS[fixture])
    long = {Path(__file__).parent / name for name in LONGEST}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def faces() -> FaceSet:
    """Five people under seven lights, small; the first two lights are frontal enough to enroll."""
    lights = [(0, 0), (-5, 10), (20, 10), (50, 0), (-70, 0), (70, 45), (110, 40)]
    return make_relit_faces(5, lights, size=(64, 56))


@pytest.fixture(scope="session")
def frontal(faces: FaceSet) -> FaceSet:
    return faces.take(np.abs(faces.azimuths) <= 10)


@pytest.fixture(scope="session")
def lit(faces: FaceSet) -> FaceSet:
    return faces.take(np.abs(faces.azimuths) > 10)


@pytest.fixture(scope="session")
def photos_extra() -> None:
    """Skip what looks for faces where the extra ``photos`` is not installed."""
    pytest.importorskip("ai_edge_litert", reason="needs ai-edge-litert: pip install 'lightproof[photos]'")
    try:
        face_networks.find_weights()
    except MissingExtra as missing:
        pytest.skip(str(missing))


@pytest.fixture
def no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the extra ``photos``, whether it is installed or not."""
    find = metadata.distribution
    hidden = {"ai-edge-litert", *(package for package, _ in face_networks.CARRIERS)}

    def hiding(name: str) -> metadata.Distribution:
        if name in hidden:
            raise metadata.PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(metadata, "distribution", hiding)
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    forget_networks(monkeypatch)


def forget_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the networks be looked for again."""
    monkeypatch.setattr(face_networks, "_OWN", threading.local())
    monkeypatch.setattr(face_networks, "find_weights", face_networks.find_weights.__wrapped__)


def data_folder(*names: str) -> Path | None:
    """Return the folder of real data if it holds one of these folders."""
    given = os.environ.get("LIGHTPROOF_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    return folder if any((folder / name).is_dir() for name in names) else None


@pytest.fixture(scope="session")
def yale_data() -> Path:
    absent = "Extended Yale B is not here: set LIGHTPROOF_DATA to the folder that holds CroppedYale"
    return data_folder("CroppedYale", "yaleB01") or pytest.skip(absent)


@pytest.fixture(scope="session")
def orl_data() -> Path:
    return data_folder("ORL") or pytest.skip("ORL is not here: set LIGHTPROOF_DATA to the folder that holds ORL")


@pytest.fixture(scope="session")
def lfw_data() -> Path:
    return data_folder("LFW") or pytest.skip("LFW is not here: set LIGHTPROOF_DATA to the folder that holds LFW")


@pytest.fixture(scope="session")
def yale(yale_data: Path) -> FaceSet:
    return load_yale_b(yale_data)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[server.Server]:
    """A real PostgreSQL server: the one that LIGHTPROOF_POSTGRES names, or a private one for this run."""
    named, programs = server.named_server(), server.find_programs()
    # Before anything lands, nothing may be left out.
    leave_out = pytest.fail if "LIGHTPROOF_CI" in os.environ else pytest.skip
    if importlib.util.find_spec("psycopg") is None:
        leave_out("psycopg is not here: pip install 'lightproof[postgres]'")
    elif named is not None:
        yield named
    elif programs is not None:
        with server.private_server(programs) as private:
            yield private
    else:
        leave_out(f"PostgreSQL is not here: install it, or set {server.NAMED} to the URL of a server")


@pytest.fixture
def postgres_place(postgres_server: server.Server) -> Iterator[str]:
    """The URL of a place without tables."""
    with postgres_server.place() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def store_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a new gallery, on each database."""
    if request.param == "sqlite":
        return str(tmp_path / "people.gallery")
    return str(request.getfixturevalue("postgres_place"))
