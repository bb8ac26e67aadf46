"""The worst mistakes, with the faces that were mistaken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from lightproof.evaluation.trials import Answers, Trials
from lightproof.matching.calibration import ImpostorModel, score_of
from lightproof.types import Array, Ints

MAX_MISTAKES: Final = 12
"""Mistakes shown."""

KINDS: Final = {
    "stranger accepted": "not enrolled, yet taken for somebody",
    "taken for another": "enrolled, and taken for somebody else",
    "not recognized": "enrolled, and taken for a stranger",
}


@dataclass(frozen=True, eq=False)
class Mistake:
    """A wrong answer; ``kind`` is one of `KINDS`, ``score`` is that of the best match.

    ``nearest_face`` and ``true_face`` are photos of both people other than the probe: enrolled ones, or with a gallery
    those of the folder. They are None for a stranger, or if there is no other photo.
    """

    kind: str
    file: str
    truth: str
    nearest: str
    score: float
    lead: float
    face: Array
    nearest_face: Array | None
    true_face: Array | None

    def as_dict(self) -> dict[str, Any]:
        """Return it as a row for machines, without the pictures."""
        names = ("kind", "file", "truth", "nearest", "score", "lead")
        return {"row": "mistake", **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, eq=False)
class Album:
    """The photos and names that show a mistake.

    ``other`` takes draw, person and probe, and returns the position of another photo of the person, or None.
    """

    images: Array
    files: Sequence[str]
    people: Ints
    names: Sequence[str]
    other: Callable[[int, int, int], int | None]

    def face(self, draw: int, person: int, probe: int) -> Array | None:
        """Return a face of a person other than the probe, if there is one."""
        photo = self.other(draw, person, probe)
        return None if photo is None else self.images[photo]


def worst_mistakes(trials: Trials, impostors: ImpostorModel, far: float, album: Album) -> list[Mistake]:
    """Pick the worst mistakes of each kind in turn, every photo once a kind, at the threshold that a gallery uses."""
    threshold = impostors.lead_at(far)
    known, strangers = trials.known, trials.strangers
    accepted, wrong = known.lead > threshold, known.named != album.people[known.photo]
    worst = {
        "stranger accepted": _worst(strangers, strangers.lead > threshold, descending=True),
        "taken for another": _worst(known, accepted & wrong, descending=True),
        "not recognized": _worst(known, ~accepted, descending=False),
    }
    # In turn, so that each kind gets its share; they are shown by kind all the same.
    columns = ([(kind, answers, i) for i in range(len(answers))] for kind, answers in worst.items())
    turns = [pick for row in zip_longest(*columns) for pick in row if pick]
    chosen = sorted(turns[:MAX_MISTAKES], key=lambda pick: list(KINDS).index(pick[0]))
    return [_mistake(kind, answers, i, impostors, album) for kind, answers, i in chosen]


def _worst(answers: Answers, chosen: Array, descending: bool) -> Answers:
    """Return the worst answers, each photo once, the worst first."""
    some = answers.take(chosen)
    some = some.take(np.argsort(-some.lead if descending else some.lead, kind="stable"))
    _, first = np.unique(some.photo, return_index=True)
    return some.take(np.sort(first)[:MAX_MISTAKES])


def _mistake(kind: str, answers: Answers, i: int, impostors: ImpostorModel, album: Album) -> Mistake:
    photo, draw, named = int(answers.photo[i]), int(answers.draw[i]), int(answers.named[i])
    truth = int(album.people[photo])
    return Mistake(
        kind=kind,
        file=album.files[photo],
        truth=album.names[truth],
        nearest=album.names[named],
        score=float(score_of(impostors.chance(answers.lead[i]))),
        lead=float(answers.lead[i]),
        face=album.images[photo],
        nearest_face=album.face(draw, named, photo),
        true_face=None if kind == "stranger accepted" else album.face(draw, truth, photo),
    )
