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

SHOWN: Final = 12
"""Mistakes shown, at most."""

KINDS: Final = {
    "stranger accepted": "not enrolled, yet taken for somebody",
    "taken for another": "enrolled, and taken for somebody else",
    "not recognized": "enrolled, and taken for a stranger",
}


@dataclass(frozen=True, eq=False)
class Mistake:
    """A wrong answer.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    file : str
        The photo asked about.
    truth, nearest : str
        Who it shows, and who was the best match.
    score : float
        Of the best match, 0 to 1.
    lead : float
    face : ndarray of shape (h, w), uint8
    nearest_face, true_face : ndarray of shape (h, w), uint8, or None
        Photos of both people, other ones than the photo asked about: enrolled ones, or with a gallery those of the
        folder. None for a stranger, or where there is none at hand.
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
        said = {"kind": self.kind, "file": self.file, "truth": self.truth, "nearest": self.nearest}
        return {"row": "mistake", **said, "score": self.score, "lead": self.lead}


@dataclass(frozen=True, eq=False)
class Album:
    """What a mistake is told with.

    Attributes
    ----------
    images : ndarray of shape (n, h, w), uint8
    files : sequence of str
    people : ndarray of shape (n,)
    names : sequence of str
    other : callable
        Draw, person and photo asked about -> position of another photo that shows who is meant, or None.
    """

    images: Array
    files: Sequence[str]
    people: Ints
    names: Sequence[str]
    other: Callable[[int, int, int], int | None]

    def face(self, draw: int, person: int, asked: int) -> Array | None:
        """Return a face of a person, if there is another one than that asked about."""
        photo = self.other(draw, person, asked)
        return None if photo is None else self.images[photo]


def worst_mistakes(trials: Trials, usual: ImpostorModel, far: float, album: Album) -> list[Mistake]:
    """Pick the worst mistakes of each kind in turn, every photo once a kind, at the threshold that a gallery uses."""
    threshold = usual.lead_at(far)
    known, strangers = trials.known, trials.strangers
    passed, wrong = known.lead > threshold, known.named != album.people[known.photo]
    found = {
        "stranger accepted": _first(strangers, strangers.lead > threshold, descending=True),
        "taken for another": _first(known, passed & wrong, descending=True),
        "not recognized": _first(known, ~passed, descending=False),
    }
    # In turn, so that each kind gets its share; they are shown by kind all the same.
    turns = [
        pick for row in zip_longest(*(_each(kind, picks) for kind, picks in found.items())) for pick in row if pick
    ]
    chosen = sorted(turns[:SHOWN], key=lambda pick: list(KINDS).index(pick[0]))
    return [_told(kind, answers, i, usual, album) for kind, answers, i in chosen]


def _each(kind: str, picks: Answers) -> list[tuple[str, Answers, int]]:
    return [(kind, picks, i) for i in range(len(picks))]


def _first(answers: Answers, chosen: Array, descending: bool) -> Answers:
    """Return the worst answers, each photo once, the worst first."""
    some = answers.take(chosen)
    some = some.take(np.argsort(-some.lead if descending else some.lead, kind="stable"))
    _, first = np.unique(some.photo, return_index=True)
    return some.take(np.sort(first)[:SHOWN])


def _told(kind: str, answers: Answers, i: int, usual: ImpostorModel, album: Album) -> Mistake:
    photo, draw, named = int(answers.photo[i]), int(answers.draw[i]), int(answers.named[i])
    truth = int(album.people[photo])
    true_face = None if kind == "stranger accepted" else album.face(draw, truth, photo)
    return Mistake(
        kind=kind,
        file=album.files[photo],
        truth=album.names[truth],
        nearest=album.names[named],
        score=float(score_of(usual.chance(answers.lead[i]))),
        lead=float(answers.lead[i]),
        face=album.images[photo],
        nearest_face=album.face(draw, named, photo),
        true_face=true_face,
    )
