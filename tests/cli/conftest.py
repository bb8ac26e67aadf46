"""A small gallery, photos for it, and the command line in this process."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from PIL import Image

from lightproof import cli
from lightproof.datasets import make_relit_faces
from lightproof.gallery import Gallery

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve"]
ENROLLED = NAMES[:4]
LIGHTS = {"front": (0, 0), "right": (50, 0), "left": (-50, 10)}

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def shots(tmp_path_factory) -> Path:
    """Faces that are cropped already, NAME/LIGHT.png; of Eve, who is not enrolled, too. Nobody writes in here."""
    folder = tmp_path_factory.mktemp("shots")
    made = make_relit_faces(len(NAMES), list(LIGHTS.values()))
    images = iter(made.images)
    for name in NAMES:
        (folder / name).mkdir()
        for light in LIGHTS:
            Image.fromarray(next(images)).save(folder / name / f"{light}.png")
    return folder


@pytest.fixture(scope="session")
def album(tmp_path_factory, shots) -> Path:
    """A folder as one enrolls it: two photos of everybody but Eve."""
    folder = tmp_path_factory.mktemp("album")
    for name in ENROLLED:
        (folder / name).mkdir()
        for light in ("front", "left"):
            shutil.copy(shots / name / f"{light}.png", folder / name)
    return folder


@pytest.fixture(scope="session")
def made_gallery(tmp_path_factory, album) -> Path:
    file = tmp_path_factory.mktemp("made") / "people.gallery"
    with Gallery.open(file, preset="fast", keep_photos=True) as gallery:
        gallery.enroll_folder(album, cropped=True, jobs=1)
    return file


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LIGHTPROOF_GALLERY", raising=False)
    return tmp_path


@pytest.fixture
def gallery(here, made_gallery) -> Path:
    """The default gallery of the working folder: Ada, Ben, Cleo and Dan, two photos each."""
    return Path(shutil.copy(made_gallery, here / "people.gallery"))


@pytest.fixture(scope="session")
def command():
    """All commands, made once: typer would build them anew at every call."""
    return typer.main.get_command(cli.app)


@pytest.fixture
def call(monkeypatch, capsys, command) -> Call:
    """Run the command line in this process; return exit code, stdout and stderr."""
    monkeypatch.setattr(sys.modules["lightproof.cli.main"], "app", command)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lightproof", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main()
        said = capsys.readouterr()
        return int(left.value.code or 0), said.out, said.err

    return run


class Terminal:
    """A standard input at which somebody types one line."""

    def __init__(self, line: str) -> None:
        self._line = line

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self._line


@pytest.fixture
def types(monkeypatch) -> Callable[[str], None]:
    """Let somebody at a terminal answer."""
    return lambda line: monkeypatch.setattr(sys, "stdin", Terminal(line))


def complaints(err: str) -> list[str]:
    """Sentences on stderr; nothing else may be there."""
    lines = err.strip().splitlines()
    assert all(line.startswith("lightproof: ") and line.endswith(".") for line in lines), err
    return lines


def people_in(file: Path) -> dict[str, int]:
    with Gallery.open(file, create=False) as gallery:
        return {person.name: person.photos for person in gallery.people()}


def state(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, to compare before and after."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
