"""``lightproof watch``, and the grey frames of a camera or a film: the one door to OpenCV."""

from __future__ import annotations

import math
import os
import time
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from lightproof.cli.command import Output, check_share, command, opened
from lightproof.cli.console import STDOUT, harmless, printable, stdout
from lightproof.cli.options import DEFAULT, Cropped, Far, JsonFile, Place
from lightproof.cli.photo_loop import check_finding
from lightproof.errors import BadImage, BadParameter, DatasetMissing, MissingExtra
from lightproof.types import Array

if TYPE_CHECKING:
    from lightproof.gallery import Answer, Gallery

EXIT_CODES: Final = (
    "0 the watch has ended, by Ctrl-C, after --seconds, or with the film; 1 there is no camera, or nothing could be "
    "done, with a sentence on stderr"
)

VOTE_SECONDS: Final = 1.0
"""Frames of so many seconds vote."""

MIN_VOTES: Final = 3
"""Frames that vote at least: one alone may err."""

DEFAULT_RATE: Final = 25.0
"""Frames a second of a film that does not say."""

# OpenCV and the libraries below it write to stderr on their own; lightproof says what is wrong in one sentence.
_SILENCE: Final = {"OPENCV_LOG_LEVEL": "SILENT", "OPENCV_FFMPEG_LOGLEVEL": "-8"}

Vote = tuple[str, str | None]
"""The vote of a frame: ``("person", name)``, ``("stranger", None)`` or ``("nobody", None)``."""

NOBODY: Final[Vote] = ("nobody", None)


class Votes:
    """The votes of the last second, and their majority."""

    def __init__(self) -> None:
        self._votes: deque[tuple[float, Vote]] = deque()

    def add(self, second: float, vote: Vote) -> Vote | None:
        """Add the vote of a frame; return the vote of more than half of the last ones, None if there is none."""
        self._votes.append((second, vote))
        while len(self._votes) > MIN_VOTES and self._votes[0][0] <= second - VOTE_SECONDS:
            self._votes.popleft()
        [(most, count)] = Counter(vote for _, vote in self._votes).most_common(1)
        return most if len(self._votes) >= MIN_VOTES and 2 * count > len(self._votes) else None


@command()
def watch(
    camera: Annotated[str, typer.Option(metavar="NUMBER|FILE", help="A camera, or a film.")] = "0",
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="End after so many; with Ctrl-C, or with the film, if not given.")
    ] = None,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    far: Far = None,
    json_file: JsonFile = None,
) -> Output:
    """Watch a camera, and say who is there whenever that changes.

    The frames of about one second vote. Nothing is kept of them. Needs OpenCV: pip install 'lightproof[camera]'.

    Example: lightproof watch --seconds 60
    """
    if seconds is not None and not 0 < seconds < math.inf:
        raise BadParameter("watch", "seconds", "more than 0", seconds)
    check_share("watch", far)
    rows: list[dict[str, Any]] = []
    try:
        with opened(gallery) as people:
            people.follow()
            check_finding(cropped)
            for row in _changes(people, _enough(frames(camera), camera), cropped, seconds, far):
                rows.append(row)
                if json_file != STDOUT:
                    stdout.print(_line(row), soft_wrap=True)
    except KeyboardInterrupt:
        pass  # the usual end of a watch
    return Output(rows)


def _enough(stream: Iterator[Frame], camera: str) -> Iterator[Frame]:
    """Refuse a film that ends before enough frames could vote, such as a picture."""
    count = 0
    for frame in stream:
        count += 1
        yield frame
    if count < MIN_VOTES:
        raise DatasetMissing(Path(camera), f"a camera or a film of {MIN_VOTES} or more pictures", str(count))


def _changes(
    gallery: Gallery, stream: Iterator[Frame], cropped: bool, seconds: float | None, far: float | None
) -> Iterator[dict[str, Any]]:
    """Yield a row whenever the majority of the frames changes."""
    votes, current = Votes(), None
    for frame in stream:
        if seconds is not None and frame.second > seconds:
            return
        face = _face(frame.image, cropped)
        answer = None if face is None else gallery.identify_face(face, 1, far=far)
        majority = votes.add(frame.second, _vote(answer))
        # The row is about a frame that votes with the majority.
        if majority is not None and majority != current and majority == _vote(answer):
            current = majority
            hint = _hint(frame.image if face is None else face.image, majority)
            score = None if answer is None else answer.score
            seen, name = majority
            yield {"second": round(frame.second, 2), "seen": seen, "name": name, "score": score, "hint": hint}


def _face(image: Array, cropped: bool) -> Any:
    """Cut out the largest face of a frame, if there is one."""
    from lightproof.gallery import extract_face
    from lightproof.imaging.detection import read_portrait

    try:
        return extract_face(read_portrait(image, cropped=cropped, where="the frame").image, where="the frame")
    except BadImage:
        return None


def _vote(answer: Answer | None) -> Vote:
    if answer is None:
        return NOBODY
    return ("stranger", None) if answer.name is None else ("person", answer.name)


def _hint(image: Array, vote: Vote) -> str:
    """Say what light and pose do if a stranger is seen, or nobody in the dark."""
    from lightproof.imaging.detection import Portrait
    from lightproof.imaging.lighting import diagnose
    from lightproof.imaging.lighting.diagnosis import MIN_BRIGHTNESS
    from lightproof.imaging.lighting.light_direction import brightness

    if vote[0] == "person" or (vote[0] == "nobody" and brightness(image) >= MIN_BRIGHTNESS):
        return ""
    diagnosis = diagnose(image, pose=Portrait(image, None, 1).pose if vote[0] == "stranger" else None)
    return "" if diagnosis.even else diagnosis.hint


def _line(row: dict[str, Any]) -> str:
    who = {"person": harmless(row["name"]), "stranger": "unknown", "nobody": "nobody in sight"}[row["seen"]]
    score = "" if row["score"] is None else f" ({row['score']:.2f})"
    return f"{row['second']:8.1f} s  {who}{score}{'  ' + printable(row['hint']) if row['hint'] else ''}"


class Frame(NamedTuple):
    """A picture, and when: seconds since the start of the watch, or of the film."""

    second: float
    image: Array


def frames(camera: str) -> Iterator[Frame]:
    """Yield the frames of a film, or of a camera given by its number; addresses in a network are not opened."""
    cv2: Any = _opencv()
    number = int(camera) if camera.isascii() and camera.isdigit() else None
    if number is None and not Path(camera).is_file():
        got = "a folder" if Path(camera).is_dir() else "no such file"
        raise DatasetMissing(Path(camera), "the number of a camera, or a film", got)
    source = cv2.VideoCapture(str(Path(camera).absolute()) if number is None else min(number, 2**31 - 1))
    try:
        # Buffered frames would be old.
        source.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        rate = source.get(cv2.CAP_PROP_FPS) or DEFAULT_RATE
        is_read, frame = source.read()
        if not is_read:
            legal = "a camera that can be used" if number is not None else "a film that can be read"
            raise DatasetMissing(Path(f"Camera {number}" if number is not None else camera), legal, "no picture")
        start, count = time.monotonic(), 0
        while is_read:
            second = count / rate if number is None else time.monotonic() - start
            yield Frame(second, cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) if frame.ndim == 3 else frame)
            is_read, frame = source.read()
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
