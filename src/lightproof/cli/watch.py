"""``lightproof watch``."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lightproof.cli.camera import Frame, frames
from lightproof.cli.console import STDOUT, check_rows_place, printable, say, write_rows
from lightproof.cli.gallery import DEFAULT, Cropped, Far, Place, Rows, check_share, opened, shown
from lightproof.cli.photos import check_finding
from lightproof.errors import BadImage, BadParameter, DatasetMissing

if TYPE_CHECKING:
    from lightproof.gallery import Answer, Gallery
    from lightproof.types import Array

EXIT_CODES: Final = (
    "Exit codes: 0 the watch has ended, by Ctrl-C, after --seconds, or with the film; 1 there is no camera, or nothing "
    "could be done, with a sentence on stderr; 2 a wrong call."
)

MEMORY: Final = 1.0
"""Seconds over which frames vote."""

FEWEST: Final = 3
"""Frames that vote at least: one alone may err."""

Vote = tuple[str, str | None]
"""What a frame says: ``("person", name)``, ``("stranger", None)`` or ``("nobody", None)``."""

NOBODY: Final[Vote] = ("nobody", None)


class Votes:
    """The last second of frames, and what most of them say."""

    def __init__(self) -> None:
        self._votes: deque[tuple[float, Vote]] = deque()

    def add(self, second: float, vote: Vote) -> Vote | None:
        """Count one more frame; return what more than half of the last ones say, or None if they do not agree."""
        self._votes.append((second, vote))
        while len(self._votes) > FEWEST and self._votes[0][0] <= second - MEMORY:
            self._votes.popleft()
        [(most, count)] = Counter(vote for _, vote in self._votes).most_common(1)
        return most if len(self._votes) >= FEWEST and 2 * count > len(self._votes) else None


def watch(
    camera: Annotated[str, typer.Option(metavar="NUMBER|FILE", help="A camera, or a film.")] = "0",
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="End after so many; with Ctrl-C, or with the film, if not given.")
    ] = None,
    gallery: Place = DEFAULT,
    cropped: Cropped = False,
    far: Far = None,
    json_file: Rows = None,
) -> None:
    """Watch a camera, and say who is there whenever that changes.

    The frames of about one second vote. Nothing is kept of them. Needs OpenCV: pip install 'lightproof[camera]'.

    Example: lightproof watch --seconds 60
    """
    check_rows_place(json_file)
    if seconds is not None and not 0 < seconds < math.inf:
        raise BadParameter("watch", "seconds", "more than 0", seconds)
    check_share("watch", far)
    rows: list[dict[str, Any]] = []
    try:
        with opened(gallery) as register:
            register.follow()
            check_finding(cropped)
            for row in _changes(register, _enough(frames(camera), camera), cropped, seconds, far):
                rows.append(row)
                if json_file != STDOUT:
                    say.print(_line(row), soft_wrap=True)
    except KeyboardInterrupt:
        pass  # the usual end of a watch
    write_rows(json_file, rows)


def _enough(stream: Iterator[Frame], camera: str) -> Iterator[Frame]:
    """Refuse what ends before anything could be said, such as a picture in place of a film."""
    count = 0
    for frame in stream:
        count += 1
        yield frame
    if count < FEWEST:
        raise DatasetMissing(Path(camera), f"a camera or a film of {FEWEST} or more pictures", str(count))


def _changes(
    gallery: Gallery, stream: Iterator[Frame], cropped: bool, seconds: float | None, far: float | None
) -> Iterator[dict[str, Any]]:
    """Yield a row whenever most frames say something else than before."""
    votes, said = Votes(), None
    for frame in stream:
        if seconds is not None and frame.second > seconds:
            return
        face = _face(frame.image, cropped)
        answer = None if face is None else gallery.identify_face(face, 1, far=far)
        agreed = votes.add(frame.second, _vote(answer))
        # What is said comes from a frame that says the same.
        if agreed is not None and agreed != said and agreed == _vote(answer):
            said = agreed
            picture = frame.image if face is None else face.image
            yield _row(frame.second, agreed, answer, _hint(picture, agreed))


def _face(image: Array, cropped: bool) -> Any:
    """Cut out the largest face of a frame; None where there is none."""
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
    """What the light has to do with it: where a stranger is seen, or nobody in the dark."""
    from lightproof.imaging.lighting import diagnose
    from lightproof.imaging.lighting.diagnosis import MIN_BRIGHTNESS
    from lightproof.imaging.lighting.light_direction import brightness

    if vote[0] == "person" or (vote[0] == "nobody" and brightness(image) >= MIN_BRIGHTNESS):
        return ""
    diagnosis = diagnose(image)
    return "" if diagnosis.even else diagnosis.hint


def _row(second: float, vote: Vote, answer: Answer | None, hint: str) -> dict[str, Any]:
    score = None if answer is None else answer.score
    return {"second": round(second, 2), "seen": vote[0], "name": vote[1], "score": score, "hint": hint}


def _line(row: dict[str, Any]) -> str:
    who = {"person": shown(row["name"]), "stranger": "unknown", "nobody": "nobody in sight"}[row["seen"]]
    score = "" if row["score"] is None else f" ({row['score']:.2f})"
    return f"{row['second']:8.1f} s  {who}{score}{'  ' + printable(row['hint']) if row['hint'] else ''}"
