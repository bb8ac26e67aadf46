"""A fitted recognizer on disk: one file of plain arrays and a JSON header, no pickle.

The file is an uncompressed ``.npz``. Its member ``header`` holds JSON in UTF-8: the format number, the version that
wrote it, the facts of the recognizer, the labels, and the names of the arrays that each person has: of the paper's
estimator ``own`` and ``coordinates``, of the engine ``templates``, bytes as galleries keep them, and their ``lengths``.
``own_i`` is that array of the i-th label.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Hashable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from lightproof.core.atomic import whole_file
from lightproof.errors import BadLabels, BadModelFile
from lightproof.types import Array

FORMAT: Final = 3
"""To be raised whenever this version would misread an older file."""

_KIND: Final = "lightproof.FaceRecognizer"

Arrays: TypeAlias = dict[str, Array]
"""The arrays of one person, by name."""

KINDS: Final = (("own", "coordinates"), ("templates", "lengths"))
"""Names of the arrays of a person: of the paper's estimator, and of the engine."""


def write(path: Path, facts: dict[str, Any], people: dict[Hashable, Arrays]) -> None:
    """Write a recognizer, whole or not at all."""
    for label in people:
        if type(label) not in (str, int, float, bool):
            raise BadLabels(f"Label {label!r}", "a str, int, float or bool to be saved", f"a {type(label).__name__}")
    names = list(next(iter(people.values())))
    header = {"kind": _KIND, "format": FORMAT, "version": version("lightproof"), "labels": list(people), **facts}
    header["arrays"] = names
    arrays: dict[str, Array] = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
    for i, own in enumerate(people.values()):
        arrays |= {f"{name}_{i}": own[name] for name in names}
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read(path: Path) -> tuple[dict[str, Any], dict[Hashable, Arrays]]:
    """Read a recognizer; a file that cannot be read raises :class:`~lightproof.errors.BadModelFile`."""
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            _refuse_bomb(archive, path)
            header = _read_header(archive, path)
            labels = header["labels"]
            names = header["arrays"]
            people = [{name: _read_array(archive, f"{name}_{i}") for name in names} for i in range(len(labels))]
    except BadModelFile:
        raise
    except FileNotFoundError:
        raise BadModelFile(path, "no such file") from None
    except OSError as problem:
        raise BadModelFile(path, f"a file that cannot be read ({problem.strerror})") from None
    except zipfile.BadZipFile:
        raise BadModelFile(path, "a foreign or truncated file") from None
    except (KeyError, ValueError, EOFError, TypeError, RuntimeError, MemoryError) as problem:
        raise BadModelFile(path, f"a damaged file ({problem})") from None
    facts = {name: header.get(name) for name in ("params", "settings", "shape", "parameters")}
    for holder in (facts["params"], facts["settings"]):
        # JSON has no tuples.
        if isinstance(holder, dict) and isinstance(holder.get("size"), list):
            holder["size"] = tuple(holder["size"])
    return facts, dict(zip(labels, people, strict=True))


def _refuse_bomb(archive: zipfile.ZipFile, path: Path) -> None:
    """Only stored members are ours; a compressed one could unpack to any size."""
    if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise BadModelFile(path, "a compressed archive")


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(f"{name}.npy") as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    if "header.npy" not in archive.namelist():
        raise BadModelFile(path, "an archive without a header")
    header = json.loads(_read_array(archive, "header").tobytes().decode())
    if not isinstance(header, dict) or header.get("kind") != _KIND:
        raise BadModelFile(path, "an archive of another kind")
    if header.get("format") != FORMAT:
        raise BadModelFile(path, f"format {header.get('format')!r}, where this version reads format {FORMAT}")
    if tuple(header.get("arrays") or ()) not in KINDS:
        raise BadModelFile(path, "arrays of another kind")
    labels = header.get("labels")
    if not isinstance(labels, list) or not all(type(x) in (str, int, float, bool) for x in labels):
        raise BadModelFile(path, "labels that are not a list of str, int, float or bool")
    if len(set(labels)) != len(labels) or not labels:
        raise BadModelFile(path, "no labels, or the same label twice")
    return header
