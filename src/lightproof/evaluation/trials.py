"""The trials of an evaluation: who is enrolled, who stays a stranger, and the answer to each probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.file_readers import count
from lightproof.errors import BadLabels
from lightproof.evaluation.comparisons import pair_leads
from lightproof.matching.calibration import normalized_scores
from lightproof.matching.scores import Scores
from lightproof.metrics import rank_of
from lightproof.types import Array, Floats, Ints

MAX_PEOPLE_PER_PROBE: Final = 200
"""People that a photo is compared with one against one, beside its own: the number of pairs grows with the square."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One way to enroll everybody: the photos of each person, rising, and who is left out in the open-set trials."""

    enrolled: tuple[tuple[int, ...], ...]
    strangers: NDArray[np.bool_]

    def probes(self, n_photos: int) -> NDArray[np.bool_]:
        """Mark the photos that are not enrolled."""
        free = np.ones(n_photos, bool)
        free[[photo for photos in self.enrolled for photo in photos]] = False
        return free


def make_draws(people: Ints, photos: int, draws: int, seed: int) -> list[Draw]:
    """Draw the photos to enroll, and half of the people to be strangers; people are numbered from 0 without gaps.

    Of a person with too few photos all but one are enrolled, so that one is left as a probe; an only photo is enrolled.
    """
    counts = np.bincount(people)
    if len(counts) < 2 or counts.max() < 2:
        got = f"{count(len(counts), 'person', 'people')} with {count(len(people), 'photo')} altogether"
        raise BadLabels("The faces to evaluate", "of two or more people, at least one of them with two photos", got)
    return [_draw(people, counts, photos, np.random.default_rng([seed, i])) for i in range(draws)]


def _draw(people: Ints, counts: Ints, photos: int, rng: np.random.Generator) -> Draw:
    enrolled = []
    for person, n_photos in enumerate(counts):
        chosen = rng.permutation(np.flatnonzero(people == person))[: max(1, min(photos, n_photos - 1))]
        enrolled.append(tuple(sorted(chosen.tolist())))
    # A person with a probe stays enrolled, or nobody could be found.
    stays = rng.choice(np.flatnonzero(counts > 1))
    others = rng.permutation(np.delete(np.arange(len(counts)), stays))
    strangers = np.zeros(len(counts), bool)
    strangers[others[: max(1, len(counts) // 2)]] = True
    return Draw(tuple(enrolled), strangers)


@dataclass(frozen=True, eq=False)
class Answers:
    """Identification, 1:N. Each array has one entry a trial; a photo may be the probe in several draws.

    ``named`` is the number of the best match, ``lead`` how far it is ahead, and ``rank`` that of the right person: 1
    for the best match, 0 for a stranger.
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
        """Return some of the trials."""
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Verification, 1:1: do this photo and this template show the same person? One entry a pair."""

    photo: Ints
    lead: Floats
    same: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trials:
    """All trials.

    In the closed ones everybody is enrolled. In the open-set trials some people are left out: ``known`` are probes of
    those enrolled, whom ``n_enrolled`` counts, and ``strangers`` those of the others.
    """

    closed: Answers
    known: Answers
    strangers: Answers
    pairs: Pairs
    n_enrolled: int


def trials_of_draws(scores: Scores, columns: dict[tuple[int, ...], int], draws: Sequence[Draw], people: Ints) -> Trials:
    """Probe with all photos that are not enrolled, in every draw.

    ``columns`` is the column of the template made of these photos, ``people`` the number of the person on each photo.
    """
    closed, known, strangers, pairs = [], [], [], []
    for i, draw in enumerate(draws):
        templates, names = np.array([columns[photos] for photos in draw.enrolled]), np.arange(len(draw.enrolled))
        probes, is_stranger = np.flatnonzero(draw.probes(len(people))), draw.strangers[people]
        closed.append(_identify(scores, probes, templates, names, people, i))
        stay = np.flatnonzero(~draw.strangers)
        known.append(_identify(scores, probes[~is_stranger[probes]], templates[stay], stay, people, i))
        # No photo of a stranger is enrolled, so all are probes.
        strangers.append(_identify(scores, np.flatnonzero(is_stranger), templates[stay], stay, people, i))
        pairs.append(_verify(scores, probes, templates, names, people))
    return Trials(_joined(closed), _joined(known), _joined(strangers), _joined(pairs), len(stay))


def trials_of_gallery(scores: Scores, people: Ints, n_enrolled: int) -> Trials:
    """Probe with all photos; people are numbered from 0 in the order of the gallery, strangers after them."""
    columns, is_known = np.arange(n_enrolled), people < n_enrolled
    known = _identify(scores, np.flatnonzero(is_known), columns, columns, people, 0)
    strangers = _identify(scores, np.flatnonzero(~is_known), columns, columns, people, 0)
    pairs = _verify(scores, np.arange(len(people)), columns, columns, people)
    return Trials(known, known, strangers, pairs, n_enrolled)


def _part(scores: Scores, photos: Ints, columns: Ints) -> Scores:
    sampling_keys = None if scores.sampling_keys is None else scores.sampling_keys[columns]
    return Scores(scores.people[np.ix_(photos, columns)], scores.cohort[photos], sampling_keys=sampling_keys)


def _identify(scores: Scores, probes: Ints, columns: Ints, names: Ints, people: Ints, draw: int) -> Answers:
    """Compare probes with templates; ``names`` are the people that the columns stand for."""
    if not len(probes):
        none = np.zeros(0, np.intp)
        return Answers(none, none, none, np.zeros(0), none)
    leads = normalized_scores(_part(scores, probes, columns))
    right = names == people[probes][:, None]
    rank = np.where(right.any(axis=1), rank_of(leads, right.argmax(axis=1)), 0)
    best_leads = leads.max(axis=1).astype(np.float64)
    return Answers(probes, np.full(len(probes), draw), names[leads.argmax(axis=1)], best_leads, rank)


def _verify(scores: Scores, probes: Ints, columns: Ints, names: Ints, people: Ints) -> Pairs:
    """Compare each probe with the template of its person, and with those of some others."""
    column_of = dict(zip(names.tolist(), columns.tolist(), strict=True))
    mated = np.array([photo for photo in probes.tolist() if people[photo] in column_of], dtype=np.intp)
    own_scores = scores.people[mated, [column_of[person] for person in people[mated].tolist()]][:, None]
    genuine = pair_leads(Scores(own_scores, scores.cohort[mated])).ravel()
    others = np.linspace(0, len(columns) - 1, min(len(columns), MAX_PEOPLE_PER_PROBE)).astype(int)
    different = people[probes][:, None] != names[others]
    impostor = pair_leads(_part(scores, probes, columns[others]))[different]
    photos = np.concatenate([mated, np.repeat(probes, different.sum(axis=1))])
    return Pairs(photos, np.concatenate([genuine, impostor]), np.arange(len(photos)) < len(mated))


_Arrays = TypeVar("_Arrays", Answers, Pairs)


def _joined(parts: Sequence[_Arrays]) -> _Arrays:
    names = [field.name for field in fields(parts[0])]
    return type(parts[0])(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
