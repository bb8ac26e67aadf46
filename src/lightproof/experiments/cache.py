"""Finished work on disk, kept under all facts that decide its figures, and used only while all of them hold."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from lightproof.core.atomic import whole_file
from lightproof.datasets.face_set import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.errors import CannotWrite

T = TypeVar("T")

FORMAT: Final = 1
LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "scikit-image", "numba")


class Cache:
    """A folder with one JSON file for each finished piece of work; it is made with the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, facts: dict[str, Any], read: Callable[[Any], T]) -> T | None:
        """Return the content that was kept under these facts; None if there is none.

        ``read`` turns plain values into the content, or refuses them by an error.
        """
        try:
            kept = json.loads(self._path(facts).read_text(encoding="utf-8"))
            # The name of the file is only a hash of the facts, so the facts are compared too, as JSON writes them.
            return read(kept["content"]) if kept["facts"] == json.loads(json.dumps(facts)) else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, facts: dict[str, Any], content: Any) -> None:
        """Write plain values under their facts: all of them, or nothing."""
        text = json.dumps({"facts": facts, "content": content}, indent=1)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise CannotWrite(self.folder, problem) from None
        with whole_file(self._path(facts)) as file:
            file.write(text.encode())

    def _path(self, facts: dict[str, Any]) -> Path:
        text = json.dumps(facts, sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def digest_of_faces(faces: FaceSet) -> str:
    """Hash the photos and their labels."""
    digest = hashlib.sha256(np.ascontiguousarray(faces.images).data)
    for shaped in faces.shaped:
        digest.update(b"" if shaped is None else shaped.tobytes())
    digest.update(json.dumps([faces.images.shape, faces.labels.tolist(), faces.found.tolist()]).encode())
    return digest.hexdigest()


def digest_of_lights(faces: FaceSet) -> str:
    """Hash the directions of the light, known or not."""
    return hashlib.sha256(np.stack([faces.azimuths, faces.elevations]).astype(float).tobytes()).hexdigest()


def digest_of_splits(splits: Iterable[Split]) -> str:
    """Hash the positions of enrolled photos and probes."""
    plain = [[s.gallery.tolist(), {str(k): v.tolist() for k, v in s.probes.items()}] for s in splits]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


@cache
def digest_of_code(modules: tuple[str, ...]) -> str:
    """Hash the source of some modules of this package and of all they import from it."""
    digest = hashlib.sha256()
    for name, source in sorted(_sources(modules).items()):
        digest.update(f"{name}\n{source}\n".encode())
    return digest.hexdigest()


def library_versions(*more: str) -> dict[str, str]:
    """Return the versions of this package and of the libraries that compute."""
    return {name: _version(name) for name in ("lightproof", *LIBRARIES, *more)}


@cache
def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _sources(modules: Iterable[str]) -> dict[str, str]:
    sources: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _path_of(name) if name not in sources else None
        if path is not None:
            sources[name] = path.read_text(encoding="utf-8")
            waiting += _imported(sources[name])
    return sources


def _path_of(name: str) -> Path | None:
    """Find the file of a module of this package; None for a name that is no module."""
    stem = Path(__file__).parents[1].joinpath(*name.split(".")[1:])
    paths = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((path for path in paths if path.is_file()), None)


def _imported(source: str) -> Iterable[str]:
    """Yield the names of this package that a source imports; the package itself only passes names on."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("lightproof."):
            names = [f"{node.module}.{name.name}" for name in node.names]
            yield from names if node.module == "lightproof" else [str(node.module), *names]
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("lightproof."))
