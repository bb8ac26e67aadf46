"""A fitted recognizer on disk: one file of plain arrays and a JSON header, no pickle.

The file is an uncompressed ``.npz``. Its member ``header`` holds JSON in UTF-8: the format number, the version that
wrote it, the facts of the recognizer and the labels. ``own_i`` and ``coordinates_i`` are the spans of the i-th label.
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

FORMAT: Final = 2
"""To be raised whenever this version would misread an older file."""

_KIND: Final = "lightproof.FaceRecognizer"

Spans: TypeAlias = tuple[Array, Array]
"""Own directions and coordinates of one person."""


def write(path: Path, facts: dict[str, Any], people: dict[Hashable, Spans]) -> None:
    """Write a recognizer, whole or not at all."""
    for label in people:
        if type(label) not in (str, int, float, bool):
            raise BadLabels(f"Label {label!r}", "a str, int, float or bool to be saved", f"a {type(label).__name__}")
    header = {"kind": _KIND, "format": FORMAT, "version": version("lightproof"), "labels": list(people), **facts}
    arrays: dict[str, Array] = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
    for i, (own, coordinates) in enumerate(people.values()):
        arrays[f"own_{i}"], arrays[f"coordinates_{i}"] = own, coordinates
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read(path: Path) -> tuple[dict[str, Any], dict[Hashable, Spans]]:
    """Read a recognizer; a file that cannot be read raises :class:`~lightproof.errors.BadModelFile`."""
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            _refuse_bomb(archive, path)
            header = _read_header(archive, path)
            labels = header["labels"]
            spans = [_read_spans(archive, path, i) for i in range(len(labels))]
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
    facts = {name: header.get(name) for name in ("params", "settings", "shape")}
    for holder in (facts["params"], facts["settings"]):
        # JSON has no tuples.
        if isinstance(holder, dict) and isinstance(holder.get("size"), list):
            holder["size"] = tuple(holder["size"])
    return facts, dict(zip(labels, spans, strict=True))


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
    labels = header.get("labels")
    if not isinstance(labels, list) or not all(type(x) in (str, int, float, bool) for x in labels):
        raise BadModelFile(path, "labels that are not a list of str, int, float or bool")
    if len(set(labels)) != len(labels) or not labels:
        raise BadModelFile(path, "no labels, or the same label twice")
    return header


def _read_spans(archive: zipfile.ZipFile, path: Path, i: int) -> Spans:
    own, coordinates = _read_array(archive, f"own_{i}"), _read_array(archive, f"coordinates_{i}")
    fits = own.ndim == coordinates.ndim == 3 and own.shape[0] == coordinates.shape[0]
    # Whole numbers go with half precision, floats with double.
    dtype = np.float16 if own.dtype == np.int8 else np.float64 if own.dtype.kind == "f" else None
    if not fits or own.shape[1] > coordinates.shape[2] or coordinates.dtype != dtype:
        raise BadModelFile(path, f"arrays {own.shape} and {coordinates.shape} that do not fit each other")
    if not (np.isfinite(own).all() and np.isfinite(coordinates).all()):
        raise BadModelFile(path, "numbers that are not finite")
    return own, coordinates
