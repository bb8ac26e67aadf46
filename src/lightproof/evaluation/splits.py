"""Who is enrolled with which photos, and who stays a stranger, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightproof.datasets.file_readers import count
from lightproof.errors import BadLabels
from lightproof.types import Ints


@dataclass(frozen=True, eq=False)
class Draw:
    """One way to enroll everybody.

    Attributes
    ----------
    enrolled : tuple of tuple of int
        For each person the positions of the photos enrolled, rising.
    strangers : ndarray of shape (people,), bool
        Who is left out when strangers are asked about.
    """

    enrolled: tuple[tuple[int, ...], ...]
    strangers: NDArray[np.bool_]

    def asked(self, n_photos: int) -> NDArray[np.bool_]:
        """Mark the photos that are not enrolled."""
        free = np.ones(n_photos, bool)
        free[[photo for photos in self.enrolled for photo in photos]] = False
        return free


def make_draws(people: Ints, photos: int, draws: int, seed: int) -> list[Draw]:
    """Draw the photos to enroll, and half of the people to be strangers.

    Somebody with too few photos gets all but one enrolled, so that there is one to ask about. An only photo is
    enrolled.

    Parameters
    ----------
    people : ndarray of shape (n,)
        Number of the person on each photo, from 0 without gaps.
    photos, draws, seed : int

    Returns
    -------
    list of Draw
    """
    counts = np.bincount(people)
    if len(counts) < 2 or counts.max() < 2:
        got = f"{count(len(counts), 'person', 'people')} with {count(len(people), 'photo')} altogether"
        raise BadLabels("The faces to evaluate", "of two or more people, at least one of them with two photos", got)
    return [_draw(people, counts, photos, np.random.default_rng([seed, i])) for i in range(draws)]


def _draw(people: Ints, counts: Ints, photos: int, rng: np.random.Generator) -> Draw:
    enrolled = []
    for person, own in enumerate(counts):
        chosen = rng.permutation(np.flatnonzero(people == person))[: max(1, min(photos, own - 1))]
        enrolled.append(tuple(sorted(chosen.tolist())))
    # Somebody with a photo to ask about stays, or nobody could be found.
    stays = rng.choice(np.flatnonzero(counts > 1))
    others = rng.permutation(np.delete(np.arange(len(counts)), stays))
    strangers = np.zeros(len(counts), bool)
    strangers[others[: max(1, len(counts) // 2)]] = True
    return Draw(tuple(enrolled), strangers)
