"""Finished work on disk: kept under everything that decides its figures, and believed only if all of it still holds."""

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
    """A folder with one JSON file for each finished piece of work.

    Parameters
    ----------
    folder : Path
        Made when the first piece is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, facts: dict[str, Any], read: Callable[[Any], T]) -> T | None:
        """Return what was kept under just these facts; None if there is nothing, or nothing to be trusted.

        Parameters
        ----------
        facts : dict
            Everything that decides what was kept.
        read : callable
            Turns plain values back into what they were; an error of it means that they cannot be trusted.
        """
        try:
            kept = json.loads(self._place(facts).read_text(encoding="utf-8"))
            # The name of the file is only a hash of the facts: a file that says otherwise is not ours.
            return read(kept["content"]) if kept["facts"] == _plain(facts) else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, facts: dict[str, Any], content: Any) -> None:
        """Write plain values under their facts: all of them, or nothing."""
        place = self._place(facts)
        text = json.dumps({"facts": facts, "content": content}, indent=1)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise CannotWrite(self.folder, problem) from None
        with whole_file(place) as file:
            file.write(text.encode())

    def _place(self, facts: dict[str, Any]) -> Path:
        text = json.dumps(facts, sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def digest_of_faces(faces: FaceSet) -> str:
    """Hash the photos and their labels."""
    found = hashlib.sha256(np.ascontiguousarray(faces.images).data)
    found.update(json.dumps([faces.images.shape, faces.labels.tolist(), faces.found.tolist()]).encode())
    return found.hexdigest()


def digest_of_lights(faces: FaceSet) -> str:
    """Hash the directions of the light, known or not."""
    return hashlib.sha256(np.stack([faces.azimuths, faces.elevations]).astype(float).tobytes()).hexdigest()


def digest_of_splits(splits: Iterable[Split]) -> str:
    """Hash who is enrolled with which photo and what is asked."""
    plain = [[s.gallery.tolist(), {str(k): v.tolist() for k, v in s.probes.items()}] for s in splits]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


@cache
def digest_of_code(modules: tuple[str, ...]) -> str:
    """Hash the source of some modules of this package and of all they import from it."""
    found = hashlib.sha256()
    for name, source in sorted(_sources(modules).items()):
        found.update(f"{name}\n{source}\n".encode())
    return found.hexdigest()


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
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        place = _place_of(name) if name not in found else None
        if place is not None:
            found[name] = place.read_text(encoding="utf-8")
            waiting += _imported(found[name])
    return found


def _place_of(name: str) -> Path | None:
    """Find the file of a module of this package; None for a name that is no module."""
    stem = Path(__file__).parents[1].joinpath(*name.split(".")[1:])
    places = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((place for place in places if place.is_file()), None)


def _imported(source: str) -> Iterable[str]:
    """Names of this package that a source imports, anywhere in it; the front door only passes names on."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("lightproof."):
            names = [f"{node.module}.{name.name}" for name in node.names]
            yield from names if node.module == "lightproof" else [str(node.module), *names]
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("lightproof."))


def _plain(facts: dict[str, Any]) -> Any:
    """What the facts look like after a walk through JSON: tuples are lists, keys are strings."""
    return json.loads(json.dumps(facts))
