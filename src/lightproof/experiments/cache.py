"""Finished work on disk: kept under everything that decides its figures, and believed only if all of it still holds."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from lightproof.datasets.base import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.errors import CannotWrite

T = TypeVar("T")

FORMAT: Final = 1

LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "scikit-image")


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
            half = place.with_name(f".{place.name}.{os.getpid()}")
            half.write_text(text, encoding="utf-8")
            half.replace(place)
        except OSError as problem:
            raise CannotWrite(place, problem) from None

    def _place(self, facts: dict[str, Any]) -> Path:
        text = json.dumps(facts, sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def digest_of_faces(faces: FaceSet) -> str:
    """Hash the photos and their labels."""
    found = hashlib.sha256(np.ascontiguousarray(faces.images).data)
    found.update(json.dumps([faces.images.shape, faces.labels.tolist()]).encode())
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
        spec = importlib.util.find_spec(name) if name not in found else None
        if spec is not None and spec.origin is not None:
            found[name] = Path(spec.origin).read_text(encoding="utf-8")
            waiting += _imported(found[name])
    return found


def _imported(source: str) -> Iterable[str]:
    """Names of this package's modules that a source imports, anywhere in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lightproof."):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("lightproof."))


def _plain(facts: dict[str, Any]) -> Any:
    """What the facts look like after a walk through JSON: tuples are lists, keys are strings."""
    return json.loads(json.dumps(facts))
