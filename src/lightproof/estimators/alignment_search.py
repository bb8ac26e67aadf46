r"""Alignment of a probe to each enrolled person: the best similarity, coarse to fine.

The enrolled photos are not warped. The features around every patch of the probe are computed once; a similarity then
only selects which neighbor each patch takes. Groups of neighboring patches, *parts*, move as one: the closeness of a
part to a person at each of its 81 moves is a small map, and the closeness of the whole face under any similarity is a
sum of one value of each map. So hundreds of similarities for everybody are one matrix product. The best few people are
compared again with smaller parts and smaller steps; for the best of these the probe itself is warped and compared patch
by patch, so the result is a distance like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Final

import numpy as np

from lightproof.estimators.subspace_model import People
from lightproof.method.aggregate import SHARPNESS
from lightproof.method.patches import PatchGrid
from lightproof.method.rcdt import PatchRCDTExtractor
from lightproof.method.subspace_bank import SubspaceStack
from lightproof.method.warps import moved, warp
from lightproof.types import Array, Floats, Ints

CLEAR_LEAD: Final = 0.02
"""Lead per patch of the best person from which a probe is not searched for."""

SEARCH_PENALTY: Final = 0.01
"""Added to every patch after a search: the best of so many similarities brings every person nearer."""

MAX_CONTRIBUTION: Final = 0.86
"""Mean contribution of a patch above which a search result is dropped: in a black picture some similarity fits anybody.
The person on the photo comes within 0.8."""

REACH: Final = 4
"""How many strides a part may be moved each way."""

SEARCH_RANGE: Final = (1 / 16, 1 / 16, 0.2, 0.2)
"""Largest similarity tried: moves in heights, logarithm of the scale, radians. Eyes found with an error of 4 % of their
distance, in gallery and probe, leave scale and angle within 0.16 in 19 cases of 20."""

N_TICKS: Final = 5
"""Values tried of each of the four numbers."""

MAX_POOL: Final = 256
"""Most people searched for: the best without a search."""

MAX_FINALISTS: Final = 20
"""Most people compared by small parts."""

MAX_WINNERS: Final = 8
"""Most people the probe is warped for."""

FINALIST_SHARE: Final = 0.87
"""Share of the best closeness, by large parts, that a finalist needs."""

WINNER_SHARE: Final = 0.9
"""Share of the best closeness, by small parts, that a winner needs."""

N_ROUNDS: Final = 4
"""Rounds of the climb; each halves the step."""

PRUNING_ROUND: Final = 1
"""Round after which only winners go on."""


class AlignmentSearch:
    """Finds the similarity that brings a probe nearest to each person."""

    def __init__(self, extractor: PatchRCDTExtractor) -> None:
        grid = extractor.grid_
        margin = 2 * REACH * grid.stride
        self._extractor = extractor
        self._around = PatchGrid(grid.height + margin, grid.width + margin, grid.cell, grid.overlap)
        self._large, self._small = _Parts(grid, every=2, parts=(5, 4)), _Parts(grid, every=1, parts=(8, 6))
        ticks = [np.linspace(-reach, reach, N_TICKS) for reach in SEARCH_RANGE]
        self._tried = np.array(list(product(*ticks)))
        self._weights = self._large.interpolation(self._tried)

    def improve(self, pictures: Floats, distances: Floats, added: Floats, people: People) -> None:
        """Replace distances, in place, where a similarity brings an unclear probe nearer to a person.

        ``pictures`` are probes with the light taken out, (n, h, w); ``distances`` the relative distances of the patches
        and ``added`` their contributions to the decision, (K, n, C).
        """
        totals = added.sum(axis=0)
        for i, pool in self._pools(totals, people.stack, CLEAR_LEAD * len(added)):
            for person, sines in self._search(pictures[i], pool):
                adds = people.contributions_of(person, sines) + sines.dtype.type(SEARCH_PENALTY)
                if adds.sum() < min(totals[i, person], MAX_CONTRIBUTION * len(adds)):
                    distances[:, i, person], added[:, i, person] = sines, adds

    def _pools(self, totals: Floats, stack: SubspaceStack, lead: float) -> Iterator[tuple[int, _Pool]]:
        """Yield the unclear probes, each with the people to search for."""
        everybody: _Pool | None = None
        for i in np.flatnonzero(_unclear(totals, lead)):
            if stack.n_people > MAX_POOL:
                yield int(i), _Pool(stack, np.argpartition(totals[i], MAX_POOL)[:MAX_POOL], self._large)
                continue
            everybody = everybody or _Pool(stack, np.arange(stack.n_people), self._large)
            yield int(i), everybody

    def _search(self, picture: Floats, pool: _Pool) -> Iterator[tuple[int, Floats]]:
        """Yield the best people after a search, each with the distances of the patches."""
        around = self._surroundings(picture)
        scores = self._weights @ self._large.closeness(around, pool.large).reshape(-1, len(pool.people))
        finalists = _leaders(scores.max(axis=0), MAX_FINALISTS, FINALIST_SHARE)
        starts = self._tried[scores[:, finalists].argmax(axis=0)]
        maps = self._small.closeness(around, pool.first.take(finalists, axis=2))
        winners, similarities = self._climb(maps, starts)
        warped = warp(np.broadcast_to(picture, (len(winners), *picture.shape)), similarities)
        people = pool.people[finalists[winners]]
        bases = pool.stack.take(people, pool.stack.depth)
        sines = _sines(self._extractor.describe(warped), bases)
        yield from zip(map(int, people), sines, strict=True)

    def _surroundings(self, picture: Floats) -> Floats:
        """Return the features of all patches, and of REACH more on each side, as unit vectors, (rows, columns, D)."""
        margin = REACH * self._extractor.grid_.stride
        vectors = self._extractor.describe(np.pad(picture, margin, mode="reflect")[None], self._around)[0]
        length = np.sqrt(np.vecdot(vectors, vectors))[:, None]
        units: Floats = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
        return units.reshape(self._around.rows, self._around.columns, -1)

    def _climb(self, maps: Floats, starts: Floats) -> tuple[Ints, Floats]:
        """Climb from each finalist's start in steps that halve; return the winners and their similarities."""
        by_person = np.ascontiguousarray(maps.reshape(-1, maps.shape[-1]).T)
        step, people, best = np.array(SEARCH_RANGE) / (N_TICKS - 1), np.arange(len(starts)), starts
        for turn in range(N_ROUNDS):
            tried = best[:, None, :] + _NEIGHBORS * step
            scores = self._small.read_off(by_person[people], tried)
            reached = scores.max(axis=1)
            best, step = tried[np.arange(len(people)), scores.argmax(axis=1)], step / 2
            if turn == PRUNING_ROUND:
                keep = _leaders(reached, MAX_WINNERS, WINNER_SHARE)
                people, best = people[keep], best[keep]
        return people, best


class _Pool:
    """The people a probe is searched for, and their first directions."""

    def __init__(self, stack: SubspaceStack, people: Ints, large: _Parts) -> None:
        self.stack, self.people = stack, people
        self.first = stack.take(people, 1)[:, :, 0]
        self.large = self.first[large.patches]


class _Parts:
    """Rectangles of neighboring patches that move as one; ``every=2`` uses every second patch of every second row."""

    def __init__(self, grid: PatchGrid, every: int, parts: tuple[int, int]) -> None:
        self.every = every
        self.rows, self.columns = np.arange(0, grid.rows, every), np.arange(0, grid.columns, every)
        self.down, self.across = _starts(len(self.rows), parts[0]), _starts(len(self.columns), parts[1])
        self.patches = (self.rows[:, None] * grid.columns + self.columns).ravel()
        self.stride = grid.stride / grid.height
        middle_row, middle_column = ((side - grid.cell) / 2 for side in (grid.height, grid.width))
        down = _means(self.rows * grid.stride - middle_row, self.down) / grid.height
        across = _means(self.columns * grid.stride - middle_column, self.across) / grid.height
        self.middles = (across + 1j * down[:, None]).ravel()

    def closeness(self, around: Floats, bases: Floats) -> Floats:
        """Sum the closeness of each part to each person at every move, shape (parts, moves, C).

        ``around`` has shape (rows, columns, D); ``bases``, everybody's first direction, (patches of the parts, D, C).
        """
        side, (_, D, C) = 2 * REACH + 1, bases.shape
        windows = np.lib.stride_tricks.sliding_window_view(around, (side, side), axis=(0, 1))
        windows, n_columns = windows[:: self.every, :: self.every], len(self.columns)
        out = np.empty((len(self.down), len(self.across), side**2, C), around.dtype)
        for band, (start, end) in enumerate(pairwise([*self.down, len(self.rows)])):
            # One band of patches stays in the processor's cache; D is the last axis in memory.
            near = np.ascontiguousarray(windows[start:end].transpose(0, 1, 3, 4, 2)).reshape(-1, side**2, D)
            close = _closeness(near @ bases[start * n_columns : end * n_columns])
            by_column = close.reshape(end - start, n_columns, side**2, C).sum(axis=0)
            out[band] = np.add.reduceat(by_column, self.across, axis=0)
        return out.reshape(-1, side**2, C)

    def read_off(self, maps: Floats, similarities: Floats) -> Floats:
        """Sum the maps of each person at some similarities, (C, parts * moves), (C, s, 4) -> (C, s)."""
        corner, weights = self._bilinear_weights(similarities)
        corner = corner + np.arange(len(maps))[:, None, None] * maps.shape[1]
        total = np.zeros(corner.shape[:2], maps.dtype)
        for offset, weight in weights:
            total += np.vecdot(maps.take(corner + offset), weight)
        return total

    def interpolation(self, similarities: Floats) -> Floats:
        """Return the matrix that reads the maps at all similarities, shape (s, parts * moves)."""
        corner, weights = self._bilinear_weights(similarities)
        matrix = np.zeros((len(similarities), len(self.middles) * (2 * REACH + 1) ** 2), np.float32)
        each = np.arange(len(similarities))[:, None]
        for offset, weight in weights:
            matrix[each, corner + offset] += weight
        return matrix

    def _bilinear_weights(self, similarities: Floats) -> tuple[Ints, list[tuple[int, Floats]]]:
        """Return between which four moves of its map each part falls: the first; offset and weight of all four."""
        side = 2 * REACH + 1
        move = (moved(self.middles, similarities) - self.middles) / self.stride
        right, down = (np.clip(axis + REACH, 0, side - 1.001) for axis in (move.real, move.imag))
        column, row = right.astype(int), down.astype(int)
        right, down = (right - column).astype(np.float32), (down - row).astype(np.float32)
        corner = np.arange(len(self.middles)) * side**2 + row * side + column
        weights = [((0, 0), (1 - down) * (1 - right)), ((0, 1), (1 - down) * right)]
        weights += [((1, 0), down * (1 - right)), ((1, 1), down * right)]
        return corner, [(below * side + beside, weight) for (below, beside), weight in weights]


# Steps in one or two of the four numbers, and none.
_NEIGHBORS: Final = np.array([step for step in product((-1.0, 0.0, 1.0), repeat=4) if np.count_nonzero(step) <= 2])


def _unclear(totals: Floats, lead: float) -> Array:
    """Mark the probes whose best person leads by less than ``lead``; a single person never leads."""
    if totals.shape[1] == 1:
        return np.ones(len(totals), bool)
    two = np.partition(totals, 1, axis=1)[:, :2]
    return np.asarray(two[:, 1] - two[:, 0] < lead)


def _leaders(scores: Floats, most: int, worth: float) -> Ints:
    """Indices of at most ``most`` scores that reach a share of the best score, best first."""
    best: Ints = np.argsort(-scores, kind="stable")[:most]
    return np.asarray(best[scores[best] >= worth * scores[best[0]]])


def _closeness(projected: Floats) -> Floats:
    """Turn projections of unit vectors on one direction into 1 - the contribution of a patch, in place."""
    np.square(projected, out=projected)
    np.subtract(1, projected, out=projected)
    np.maximum(projected, 0, out=projected)
    np.sqrt(projected, out=projected)
    projected *= projected.dtype.type(-SHARPNESS)
    return np.exp(projected, out=projected)


def _sines(vectors: Floats, bases: Floats) -> Floats:
    """Relative distance of each patch of p probes to one person each, (p, K, D), (K, D, depth, p) -> (p, K)."""
    whole = np.vecdot(vectors, vectors)
    # One product of all probes with all people is faster than p small products.
    onto = np.matmul(vectors.transpose(1, 0, 2), bases.reshape(*bases.shape[:2], -1))
    own = np.diagonal(onto.reshape(*onto.shape[:2], *bases.shape[2:]), axis1=1, axis2=3)
    left = whole - np.square(own).sum(axis=1).T
    share: Floats = np.divide(left, whole, out=np.ones_like(whole), where=whole > 0)
    return np.sqrt(np.clip(share, 0, 1))


def _starts(count: int, parts: int) -> Ints:
    """First index of each of ``parts`` about equal groups."""
    parts = min(count, parts)
    return np.arange(parts) * count // parts


def _means(values: Floats, starts: Ints) -> Floats:
    sizes = np.diff([*starts, len(values)])
    return np.asarray(np.add.reduceat(values, starts) / sizes)
