"""What trains a network and what validates it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from lightproof.method.illumination import relight
from lightproof.types import Floats, Ints

ALPHA: Final = (0.1, 3.0)
BETA: Final = (1.0, 30.0)
SLOPE: Final = (0.1, 3.0)
"""The paper's ranges of alpha, beta and both parts of b, for grey values 0..255."""

HELD_BACK: Final = 0.1
"""Share of the photos that validate."""


class Photos(NamedTuple):
    """What trains, and what validates."""

    images: Floats
    who: Ints
    unseen: Floats
    unseen_who: Ints
    unseen_kind: str


def divide(images: Floats, who: Ints, copies: int, rng: np.random.Generator) -> Photos:
    """Hold back what validates, and relight what trains; the class says by which rule."""
    held = held_back(who, rng)
    kept = np.setdiff1d(np.arange(len(who)), held)
    copied = np.repeat(kept, copies)
    relit, relit_who = relit_copies(images[copied], rng), who[copied]
    if len(held):
        unseen, unseen_who, kind = images[held], who[held], _counted(len(held), "photo")
    elif copies:
        chosen = rng.permutation(len(relit)) < max(1, round(HELD_BACK * len(relit)))
        unseen, unseen_who, kind = relit[chosen], relit_who[chosen], _counted(int(chosen.sum()), "relit copy")
        relit, relit_who = relit[~chosen], relit_who[~chosen]
    else:
        unseen, unseen_who, kind = images, who, f"the {len(who)} training photos"
    images, who = np.concatenate([images[kept], relit]), np.concatenate([who[kept], relit_who])
    return Photos(images, who, unseen, unseen_who, kind)


def _counted(number: int, what: str) -> str:
    many = {"photo": "photos", "relit copy": "relit copies"}
    return f"{number} held-back {what if number == 1 else many[what]}"


def held_back(who: Ints, rng: np.random.Generator) -> Ints:
    """Draw a tenth of the photos, or as many as leave each person one; none where each person has just one."""
    order = rng.permutation(len(who))
    _, first_of_each = np.unique(who[order], return_index=True)
    free = np.delete(order, first_of_each)
    return free[: max(1, round(HELD_BACK * len(who)))]


def in_batches(photos: Ints, size: int) -> list[Ints]:
    """Cut into batches; a last batch of one joins the one before, as a single photo has no statistics of a batch."""
    cuts = list(range(size, len(photos), size))
    if cuts and len(photos) - cuts[-1] == 1:
        cuts.pop()
    return np.split(photos, cuts)


def shuffled(n: int, size: int, epochs: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield the batches of several epochs, each in an order of its own."""
    for _ in range(epochs):
        yield from in_batches(rng.permutation(n), size)


def relit_copies(images: Floats, rng: np.random.Generator) -> Floats:
    """Put each image, with white = 1, under a light drawn from the paper's ranges; clip it to black and white."""
    n = len(images)
    relit = relight(255 * images, rng.uniform(*ALPHA, n), rng.uniform(*BETA, n), rng.uniform(*SLOPE, (n, 2)))
    return np.clip(relit / 255, 0, 1).astype(images.dtype)
