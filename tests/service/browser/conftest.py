"""People, a service that knows some of them, and a browser to look at its page with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from lightproof.datasets import make_relit_faces
from lightproof.gallery import Gallery
from tests.service.browser.seeing import Visits, launched
from tests.service.running import Running

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida"]
ENROLLED = NAMES[:4]
LIGHTS = {"front": (0, 0), "right": (50, 0), "left": (-50, 10)}


@pytest.fixture(scope="session")
def album(tmp_path_factory) -> Path:
    """Faces that are cropped already: Ada/front.png and so on. Eve stays a stranger, the last four are newcomers."""
    folder = tmp_path_factory.mktemp("album")
    images = iter(make_relit_faces(len(NAMES), list(LIGHTS.values()), seed=3).images)
    for name in NAMES:
        (folder / name).mkdir()
        for light in LIGHTS:
            Image.fromarray(next(images)).save(folder / name / f"{light}.png")
    return folder


@pytest.fixture(scope="session")
def known(tmp_path_factory, album) -> Path:
    """A gallery of Ada, Ben, Cleo and Dan, with their faces."""
    file = tmp_path_factory.mktemp("known") / "people.gallery"
    with Gallery.open(file, preset="fast", keep_photos=True) as gallery:
        for name in ENROLLED:
            gallery.enroll(name, [album / name / "front.png", album / name / "left.png"], cropped=True)
    return file


@pytest.fixture(scope="module")
def service(tmp_path_factory, browser, known):
    """A service on its own copy of the gallery. Needs the browser, so that nothing is started in vain."""
    copy = shutil.copy(known, tmp_path_factory.mktemp("served") / "people.gallery")
    with Running(Path(copy), "--workers", 1) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def contexts(browser) -> dict[str, object]:
    return {}


@pytest.fixture
def visit(browser, contexts, service):
    """Open the page; after the test it must have asked nobody else, and complained of nothing."""
    visits = Visits(browser, contexts, service.url)
    yield visits
    visits.close()
    visits.check()
