"""Faces to send, and services to send them to."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from PIL import Image

from lightproof.datasets import make_relit_faces
from lightproof.gallery import Gallery
from lightproof.service.settings import Limits, Settings
from tests.service.in_process import serving

LIGHTS = {"front": (0, 0), "right": (50, 0), "left": (-50, 10)}
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve"]

FREE = Limits(rate=0)
"""Tests ask more often than people do."""


def png(image) -> bytes:
    out = io.BytesIO()
    Image.fromarray(image).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="session")
def shots() -> dict[str, dict[str, bytes]]:
    """Faces that are cropped already, by name and light."""
    images = iter(make_relit_faces(len(NAMES), list(LIGHTS.values())).images)
    return {name: {light: png(next(images)) for light in LIGHTS} for name in NAMES}


@pytest.fixture(scope="session")
def made_gallery(tmp_path_factory, shots) -> Path:
    """Ada, Ben, Cleo and Dan, two photos each, with their faces."""
    file = tmp_path_factory.mktemp("made") / "people.gallery"
    with Gallery.open(file, preset="fast", keep_photos=True) as gallery:
        for name in NAMES[:4]:
            gallery.enroll(name, [shots[name]["front"], shots[name]["left"]], cropped=True)
    return file


@pytest.fixture
def gallery(tmp_path, made_gallery) -> Path:
    return Path(shutil.copy(made_gallery, tmp_path / "people.gallery"))


@pytest.fixture
def empty(tmp_path) -> Path:
    file = tmp_path / "empty.gallery"
    Gallery.open(file, preset="fast").close()
    return file


@pytest.fixture
def client(gallery):
    """Ask a service on the gallery of four people."""
    with serving(Settings(str(gallery), limits=FREE)) as client:
        yield client


@pytest.fixture
def newcomer(empty):
    """Ask a service on an empty gallery that keeps no faces."""
    with serving(Settings(str(empty), limits=FREE)) as client:
        yield client
