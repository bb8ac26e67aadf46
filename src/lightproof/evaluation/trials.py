"""Every question that was asked, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from lightproof.evaluation.comparisons import pair_leads
from lightproof.evaluation.splits import Draw
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.scores import Scores
from lightproof.metrics import rank_of
from lightproof.types import Array, Floats, Ints

OTHERS: Final = 200
"""People that a photo is compared with one against one, at most, beside its own: pairs grow with the square."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Who is on these photos? Each array has one entry a question; a photo may be asked about in several draws.

    Attributes
    ----------
    photo, draw : ndarray of int
    named : ndarray of int
        The best match, as the number of a person.
    lead : ndarray of float
        How far the best match is ahead.
    rank : ndarray of int
        Place of the right person, 1 for the best match; 0 for a stranger.
    """

    photo: Ints
    draw: Ints
    named: Ints
    lead: Floats
    rank: Ints

    def __len__(self) -> int:
        return len(self.photo)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the best match is the right person."""
        return np.asarray(self.rank == 1)

    def take(self, chosen: Array) -> Self:
        """Return some of the questions."""
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Do this photo and this template show the same person? One entry a pair.

    Attributes
    ----------
    photo : ndarray of int
    lead : ndarray of float32
    same : ndarray of bool
    """

    photo: Ints
    lead: Floats
    same: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trials:
    """All the questions.

    Attributes
    ----------
    closed : Answers
        Everybody is enrolled.
    known, strangers : Answers
        Some people are not: photos of those who are, and of those who are not.
    pairs : Pairs
    n_enrolled : int
        People enrolled where strangers are asked about.
    """

    closed: Answers
    known: Answers
    strangers: Answers
    pairs: Pairs
    n_enrolled: int


def trials_of_draws(
    evidence: Scores, columns: dict[tuple[int, ...], int], draws: Sequence[Draw], people: Ints
) -> Trials:
    """Ask about all photos that are not enrolled, in every draw.

    Parameters
    ----------
    evidence : Scores
        Of all photos for all templates.
    columns : dict of tuple of int to int
        The column of the template made of these photos.
    draws : sequence of Draw
    people : ndarray of shape (n,)
        Number of the person on each photo.
    """
    closed, known, strangers, pairs = [], [], [], []
    for i, draw in enumerate(draws):
        everybody = np.array([columns[photos] for photos in draw.enrolled])
        asked, out = np.flatnonzero(draw.asked(len(people))), draw.strangers[people]
        closed.append(_ask(evidence, asked, everybody, np.arange(len(everybody)), people, i))
        stay = np.flatnonzero(~draw.strangers)
        known.append(_ask(evidence, asked[~out[asked]], everybody[stay], stay, people, i))
        # None of a stranger's photos is enrolled, so all can be asked about.
        strangers.append(_ask(evidence, np.flatnonzero(out), everybody[stay], stay, people, i))
        pairs.append(_pair(evidence, asked, everybody, np.arange(len(everybody)), people))
    return Trials(_joined(closed), _joined(known), _joined(strangers), _joined_pairs(pairs), len(stay))


def trials_of_gallery(evidence: Scores, people: Ints, n_enrolled: int) -> Trials:
    """Ask about all photos; people are numbered from 0 in the order of the gallery, strangers after them."""
    columns, known = np.arange(n_enrolled), people < n_enrolled
    of_known = _ask(evidence, np.flatnonzero(known), columns, columns, people, 0)
    strangers = _ask(evidence, np.flatnonzero(~known), columns, columns, people, 0)
    pairs = _pair(evidence, np.arange(len(people)), columns, columns, people)
    return Trials(of_known, of_known, strangers, pairs, n_enrolled)


def _some(evidence: Scores, photos: Ints, columns: Ints) -> Scores:
    sampling_keys = None if evidence.sampling_keys is None else evidence.sampling_keys[columns]
    return Scores(evidence.people[np.ix_(photos, columns)], evidence.cohort[photos], sampling_keys=sampling_keys)


def _ask(evidence: Scores, photos: Ints, columns: Ints, names: Ints, people: Ints, draw: int) -> Answers:
    if not len(photos):
        none = np.zeros(0, np.intp)
        return Answers(none, none, none, np.zeros(0), none)
    ahead = normalized_scores(_some(evidence, photos, columns))
    best = ahead.argmax(axis=1)
    hers = names == people[photos][:, None]
    rank = np.where(hers.any(axis=1), rank_of(ahead, hers.argmax(axis=1)), 0)
    lead = ahead.max(axis=1).astype(np.float64)
    return Answers(photos, np.full(len(photos), draw), names[best], lead, rank)


def _pair(evidence: Scores, photos: Ints, columns: Ints, names: Ints, people: Ints) -> Pairs:
    own = dict(zip(names.tolist(), columns.tolist(), strict=True))
    hers = np.array([photo for photo in photos.tolist() if people[photo] in own], dtype=np.intp)
    said = evidence.people[hers, [own[person] for person in people[hers].tolist()]][:, None]
    genuine = pair_leads(Scores(said, evidence.cohort[hers])).ravel()
    some = np.linspace(0, len(columns) - 1, min(len(columns), OTHERS)).astype(int)
    different = people[photos][:, None] != names[some]
    impostor = pair_leads(_some(evidence, photos, columns[some]))[different]
    asked = np.concatenate([hers, np.repeat(photos, different.sum(axis=1))])
    return Pairs(asked, np.concatenate([genuine, impostor]), np.arange(len(asked)) < len(hers))


def _joined(parts: Sequence[Answers]) -> Answers:
    return Answers(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Answers)))


def _joined_pairs(parts: Sequence[Pairs]) -> Pairs:
    return Pairs(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Pairs)))
