"""Who is worth comparing with among many: the codes of everybody, searched from end to end.

Every code is looked at, and only the order of the differences counts; so there is nothing to be trained or balanced,
whoever comes is found at once, whoever goes is gone at once, and codes cut in pieces over several machines give the
same people as all in one place. A glance counts a quarter of the bits of every code, for one view of the photo: that
takes as long as memory takes to be read. The first look counts half of the bits, of those codes that the glance left;
the second all, for the best of the photo's nine alignments, of those few that the first look left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from lightproof.core.processes import in_threads
from lightproof.matching.binary_codes import (
    WORD,
    Counts,
    empty_blocks,
    hamming_distances,
    lanes_of,
    least_distances,
    refined_distances,
    spread,
)
from lightproof.types import Array, Ints

ROWS: Final = 65_536
"""Codes in one segment: memory grows by one at a time, and nothing is moved."""

FEWEST: Final = 4096
"""Codes that are looked at a second time, at least,"""

SHARE: Final = 256
"""and one in so many of all."""

GLANCED: Final = 8
"""For each of them so many are looked at a first time."""

CANDIDATES: Final = 512
"""People who are compared in earnest, at most."""

NOBODY: Final = -1

FARTHEST: Final = 0xFFFF


class Found(NamedTuple):
    """People and how many bits their nearest code differs in, the nearest first; those who differ as much by number."""

    people: Ints
    apart: Counts


class Left(NamedTuple):
    """Rows of codes that were looked at, and in how many bits they differ so far."""

    rows: Ints
    apart: Counts


class _Segment:
    """Some codes, side by side."""

    def __init__(self, n_glance: int, n_rest: int) -> None:
        self.used = self.holes = 0
        self.people = np.full(ROWS, NOBODY, np.int64)
        # Not touched before they are used: an empty segment takes no memory.
        self.coarse_scan = empty_blocks(ROWS, n_glance)
        self.rest = np.empty((ROWS, n_rest), np.uint64)

    def add(self, people: Ints, coarse_scan: Array, rest: Array) -> int:
        """Put in as many as there is room for; return how many."""
        count = min(len(people), ROWS - self.used)
        rows = np.arange(self.used, self.used + count)
        self.people[rows], self.rest[rows], self.coarse_scan[lanes_of(rows)] = (
            people[:count],
            rest[:count],
            coarse_scan[:count],
        )
        self.used += count
        return count

    def remove(self, people: Ints) -> int:
        rows = np.flatnonzero(np.isin(self.people[: self.used], people))
        self.people[rows] = NOBODY
        # What is forgotten does not stay in memory either.
        self.coarse_scan[lanes_of(rows)] = self.rest[rows] = 0
        self.holes += len(rows)
        return len(rows)

    def held(self) -> tuple[Ints, Array, Array]:
        """Return whose codes there are, and both parts of them."""
        rows = np.flatnonzero(self.people[: self.used] != NOBODY)
        return self.people[rows], self.coarse_scan[lanes_of(rows)], self.rest[rows]

    def glance_at(self, asked: Array) -> tuple[Counts, Ints]:
        apart, counts = hamming_distances(self.coarse_scan, asked, self.used)
        if self.holes:
            nobody = self.people[: self.used] == NOBODY
            counts -= np.bincount(apart[nobody], minlength=len(counts))
            apart[nobody] = FARTHEST
        return apart, counts

    def prefilter(self, asked: Array, seen: Counts, limit: int) -> Left:
        return Left(*refined_distances(self.rest, asked, seen, limit))

    def rerank(self, asked: Array, left: Left, limit: int) -> Found:
        rows = left.rows[left.apart <= limit]
        return Found(self.people[rows], least_distances(self.coarse_scan, self.rest, rows, asked))


class HammingIndex:
    """The codes of everybody.

    Parameters
    ----------
    n_first : int
        Words of a code that are looked at first: see :class:`lightproof.matching.binary_codes.BinaryEncoder`.

    Attributes
    ----------
    n_people : int
        How many people have codes.
    """

    def __init__(self, n_first: int) -> None:
        self._n_first = n_first
        self._segments: list[_Segment] = []
        self._holes = 0
        self.n_people = 0

    def __len__(self) -> int:
        """How many codes there are."""
        return sum(segment.used for segment in self._segments) - self._holes

    def add(self, people: Sequence[int] | Ints, codes: Array) -> None:
        """Add codes, (n, words), and whose they are; a person may have several."""
        self._add(np.asarray(people, np.int64), *spread(codes, self._n_first))

    def _add(self, people: Ints, coarse_scan: Array, rest: Array) -> None:
        self.n_people += len(np.unique(people)) - self._present(people)
        while len(people):
            if not self._segments or self._segments[-1].used == ROWS:
                self._segments.append(_Segment(coarse_scan.shape[1], rest.shape[1]))
            count = self._segments[-1].add(people, coarse_scan, rest)
            people, coarse_scan, rest = people[count:], coarse_scan[count:], rest[count:]

    def remove(self, people: Iterable[int]) -> None:
        """Remove all codes of some people; of those who are not there nothing happens."""
        wanted = np.fromiter(people, np.int64)
        if len(wanted):
            self.n_people -= self._present(wanted)
            self._holes += sum(segment.remove(wanted) for segment in self._segments)
            if self._holes > max(ROWS, len(self)):
                self._close_holes()

    def _present(self, people: Ints) -> int:
        """How many of some people have codes here."""
        found = [segment.people[np.isin(segment.people, people)] for segment in self._segments]
        return len(np.unique(np.concatenate(found))) if found else 0

    def _close_holes(self) -> None:
        """Lay the codes out anew when half of the room holds nobody."""
        old, self._segments, self._holes, self.n_people = self._segments, [], 0, 0
        while old:
            self._add(*old.pop(0).held())

    def search(self, asked: Array, most: int = CANDIDATES) -> Found:
        """Find the people whose codes are nearest to a photo.

        Parameters
        ----------
        asked : ndarray of shape (moves, words)
            Codes of one photo as it lies and after its moves.
        most : int
            People to find.

        Returns
        -------
        Found
        """
        counts, seen = self.coarse_scan(asked[0])
        counts, left = self.prefilter(asked[0], seen, scan_limit(counts))
        return self.rerank(asked, left, prefilter_limit(counts, len(self)), most)

    def coarse_scan(self, asked: Array) -> tuple[Ints, list[Counts]]:
        """How many codes differ in so many bits of the glance, (bits + 1,), and in how many each code does."""
        part, _ = spread(asked, self._n_first)
        seen = in_threads(lambda segment: segment.glance_at(part), self._segments)
        nothing = np.zeros(WORD * len(part) + 1, np.int64)
        return np.sum([nothing, *(counts for _, counts in seen)], axis=0), [apart for apart, _ in seen]

    def prefilter(self, asked: Array, seen: Sequence[Counts], limit: int) -> tuple[Ints, list[Left]]:
        """Look at the codes that a glance found to differ in no more bits than a limit.

        Returns
        -------
        counts : ndarray of shape (bits + 1,)
            How many of them differ in so many bits of the first look.
        left : list of Left
        """
        coarse_scan, rest = spread(asked, self._n_first)
        part = rest[: len(coarse_scan)]
        pieces = zip(self._segments, seen, strict=True)
        left = in_threads(lambda piece: piece[0].prefilter(part, piece[1], limit), pieces)
        apart = np.concatenate([np.zeros(0, np.uint16), *(each.apart for each in left)])
        return np.bincount(apart, minlength=2 * WORD * len(part) + 1), left

    def rerank(self, asked: Array, left: Sequence[Left], limit: int, most: int) -> Found:
        """Find the nearest among those that a first look found to differ in no more bits than a limit."""
        views = np.concatenate(spread(asked, self._n_first), axis=-1)
        pieces = zip(self._segments, left, strict=True)
        found = in_threads(lambda piece: piece[0].rerank(views, piece[1], limit), pieces)
        return nearest(together(found), most)


def scan_limit(counts: Ints) -> int:
    """How many bits of the glance a code may differ in to be looked at, (bits + 1,) counts of all codes."""
    return _limit(counts, GLANCED * _enough(int(counts.sum())))


def prefilter_limit(counts: Ints, n_codes: int) -> int:
    """How many bits of the first look a code may differ in to be looked at again.

    Parameters
    ----------
    counts : ndarray of shape (bits + 1,)
        Of the codes that were looked at.
    n_codes : int
        How many there are in all.
    """
    return _limit(counts, _enough(n_codes))


def _enough(n_codes: int) -> int:
    """How many of so many codes are looked at a second time."""
    return max(FEWEST, n_codes // SHARE)


def _limit(counts: Ints, enough: int) -> int:
    """In how many bits the nearest so many differ at most."""
    return int(np.searchsorted(np.cumsum(counts), min(enough, int(counts.sum()))))


def together(found: Sequence[Found]) -> Found:
    """Put what was found in several places together."""
    people, apart = [np.zeros(0, np.int64)], [np.zeros(0, np.uint16)]
    return Found(
        np.concatenate([*people, *(one.people for one in found)]),
        np.concatenate([*apart, *(one.apart for one in found)]),
    )


def nearest(found: Found, most: int) -> Found:
    """Keep the nearest code of each person, and the nearest people."""
    found = _near_enough(found, most)
    order = np.lexsort((found.people, found.apart))
    _, firsts = np.unique(found.people[order], return_index=True)
    kept = order[np.sort(firsts)[:most]]
    return Found(found.people[kept], found.apart[kept])


def _near_enough(found: Found, most: int) -> Found:
    """Leave out codes that cannot be among the nearest of so many people, without sorting them."""
    few = 4 * most
    if len(found.apart) <= few:
        return found
    rows = np.flatnonzero(found.apart <= np.partition(found.apart, few)[few])
    enough = len(np.unique(found.people[rows])) >= most
    return Found(found.people[rows], found.apart[rows]) if enough else found
