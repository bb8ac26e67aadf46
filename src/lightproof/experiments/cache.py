"""Finished work on disk: kept under everything that decides its figures, and believed only if all of it still holds."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from lightproof.datasets.base import FaceSet
from lightproof.datasets.protocols import Split
from lightproof.errors import CannotWrite
from lightproof.experiments.measure import Outcome
from lightproof.types import Array

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

    def find(self, facts: dict[str, Any]) -> Outcome | None:
        """Return what was kept under just these facts; None if there is nothing, or nothing to be trusted."""
        try:
            kept = json.loads(self._place(facts).read_text(encoding="utf-8"))
            # The name of the file is only a hash of the facts: a file that says otherwise is not ours.
            return _outcome(kept["outcome"]) if kept["facts"] == _plain(facts) else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, facts: dict[str, Any], outcome: Outcome) -> None:
        """Write a finished piece of work: all of it, or nothing."""
        place = self._place(facts)
        text = json.dumps({"facts": facts, "outcome": _noted(outcome)}, indent=1)
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


def library_versions(more: Sequence[str] = ()) -> dict[str, str]:
    """Return the versions of the libraries that compute, and of this package."""
    return {name: importlib.metadata.version(name) for name in ("lightproof", *LIBRARIES, *more)}


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


def _noted(outcome: Outcome) -> dict[str, Any]:
    return {
        "hits": [{str(s): "".join("01"[int(h)] for h in hits) for s, hits in by.items()} for by in outcome.hits],
        "fit_seconds": outcome.fit_seconds,
        "seconds": {str(subset): value for subset, value in outcome.seconds.items()},
        "chosen": outcome.chosen,
    }


def _outcome(noted: dict[str, Any]) -> Outcome:
    return Outcome(
        hits=[{int(subset): _bits(hits) for subset, hits in by.items()} for by in noted["hits"]],
        fit_seconds=float(noted["fit_seconds"]),
        seconds={int(subset): float(value) for subset, value in noted["seconds"].items()},
        chosen=[str(choice) for choice in noted["chosen"]],
    )


def _bits(hits: str) -> Array:
    if set(hits) - {"0", "1"}:
        raise ValueError("hits are written as 0 and 1")
    return np.array([hit == "1" for hit in hits], bool)
