"""Grey frames from a camera or a film; the one door to OpenCV."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from lightproof.errors import DatasetMissing, MissingExtra
from lightproof.types import Array

USUAL_RATE: Final = 25.0
"""Frames a second of a film that does not say."""

# OpenCV and the libraries below it talk to stderr on their own; what is wrong is said here, in one sentence.
_SILENCE: Final = {"OPENCV_LOG_LEVEL": "SILENT", "OPENCV_FFMPEG_LOGLEVEL": "-8"}


class Frame(NamedTuple):
    """A picture, and when: seconds since the start of the watch, or of the film."""

    second: float
    image: Array


def frames(camera: str) -> Iterator[Frame]:
    """Yield the frames of a camera, given by its number, or of a film.

    Parameters
    ----------
    camera : str
        "0" is the first camera. Anything that is no number is a file; addresses in a network are not opened.

    Raises
    ------
    MissingExtra
        If OpenCV is not there.
    DatasetMissing
        If the camera or the film does not show anything.
    """
    cv2: Any = _opencv()
    number = int(camera) if camera.isascii() and camera.isdigit() else None
    if number is None and not Path(camera).is_file():
        got = "a folder" if Path(camera).is_dir() else "no such file"
        raise DatasetMissing(Path(camera), "the number of a camera, or a film", got)
    source = cv2.VideoCapture(str(Path(camera).absolute()) if number is None else min(number, 2**31 - 1))
    try:
        # Frames that wait would be old ones.
        source.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        rate = source.get(cv2.CAP_PROP_FPS) or USUAL_RATE
        found, frame = source.read()
        if not found:
            legal = "a camera that can be used" if number is not None else "a film that can be read"
            raise DatasetMissing(Path(f"Camera {number}" if number is not None else camera), legal, "no picture")
        start, count = time.monotonic(), 0
        while found:
            second = count / rate if number is None else time.monotonic() - start
            yield Frame(second, cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) if frame.ndim == 3 else frame)
            found, frame = source.read()
            count += 1
    finally:
        source.release()


def _opencv() -> Any:
    for name, value in _SILENCE.items():
        os.environ.setdefault(name, value)
    try:
        import cv2
    except ImportError:
        raise MissingExtra("To watch a camera lightproof needs the packages of OpenCV", "camera") from None
    if hasattr(cv2, "setLogLevel"):
        cv2.setLogLevel(0)
    return cv2
