"""A shortlist among many people: a full scan over the binary codes of everybody.

Every code is scanned, and only the order of the Hamming distances counts. So nothing has to be trained or balanced,
people are found as soon as they are added and gone as soon as they are removed, and codes split over several machines
give the same people as all codes in one place. The coarse scan counts about a fifth of the bits of every code: that
takes as long as memory takes to be read. The prefilter counts two fifths of the bits of the codes that the scan
left. Reranking counts all bits of the few codes that the prefilter left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from lightproof.core.threads import in_threads
from lightproof.matching.binary_codes import (
    BITS_PER_WORD,
    Counts,
    empty_blocks,
    hamming_distances,
    lanes_of,
    least_distances,
    refined_distances,
    split_codes,
)
from lightproof.types import Array, Ints

CODES_PER_SEGMENT: Final = 65_536
"""Memory grows by one segment at a time, and no code is moved."""

MIN_RERANKED: Final = 4096
"""Minimum number of codes to rerank."""

CODES_PER_RERANKED: Final = 256
"""Rerank at least one code in this many."""

PREFILTERED_PER_RERANKED: Final = 8
"""Codes to prefilter for each one to rerank."""

MAX_CANDIDATES: Final = 512
"""Maximum number of people on a shortlist."""

NOBODY: Final = -1
"""Person of a row whose code was removed."""

MAX_DISTANCE: Final = 0xFFFF


class Neighbors(NamedTuple):
    """People and the Hamming distance of their nearest code, the nearest first; ties are in order of their numbers."""

    people: Ints
    distances: Counts


class Prefiltered(NamedTuple):
    """Rows of codes that were prefiltered, and the Hamming distances over the bits counted so far."""

    rows: Ints
    distances: Counts


class _Segment:
    """Room for a fixed number of codes."""

    def __init__(self, n_coarse: int, n_rest: int) -> None:
        self.used = self.holes = 0
        self.people = np.full(CODES_PER_SEGMENT, NOBODY, np.int64)
        # Not written before it is used: an empty segment takes no memory.
        self.coarse = empty_blocks(CODES_PER_SEGMENT, n_coarse)
        self.rest = np.empty((CODES_PER_SEGMENT, n_rest), np.uint64)

    def add(self, people: Ints, coarse: Array, rest: Array) -> int:
        """Add as many codes as there is room for; return how many."""
        count = min(len(people), CODES_PER_SEGMENT - self.used)
        rows = np.arange(self.used, self.used + count)
        self.people[rows] = people[:count]
        self.coarse[lanes_of(rows)] = coarse[:count]
        self.rest[rows] = rest[:count]
        self.used += count
        return count

    def remove(self, people: Ints) -> int:
        rows = np.flatnonzero(np.isin(self.people[: self.used], people))
        self.people[rows] = NOBODY
        # Removed codes do not stay in memory either.
        self.coarse[lanes_of(rows)] = self.rest[rows] = 0
        self.holes += len(rows)
        return len(rows)

    def contents(self) -> tuple[Ints, Array, Array]:
        """Return the people, and both parts of their codes."""
        rows = np.flatnonzero(self.people[: self.used] != NOBODY)
        return self.people[rows], self.coarse[lanes_of(rows)], self.rest[rows]

    def coarse_scan(self, probe: Array) -> tuple[Counts, Ints]:
        distances, counts = hamming_distances(self.coarse, probe, self.used)
        if self.holes:
            removed = self.people[: self.used] == NOBODY
            counts -= np.bincount(distances[removed], minlength=len(counts))
            distances[removed] = MAX_DISTANCE
        return distances, counts

    def rerank(self, probe: Array, prefiltered: Prefiltered, limit: int) -> Neighbors:
        rows = prefiltered.rows[prefiltered.distances <= limit]
        return Neighbors(self.people[rows], least_distances(self.coarse, self.rest, rows, probe))


class HammingIndex:
    """The codes of ``n_people`` people; ``n_first`` is that of the :class:`~.binary_codes.BinaryEncoder`."""

    def __init__(self, n_first: int) -> None:
        self._n_first = n_first
        self._segments: list[_Segment] = []
        self._holes = 0
        self.n_people = 0

    def __len__(self) -> int:
        """Return the number of codes."""
        return sum(segment.used for segment in self._segments) - self._holes

    def add(self, people: Sequence[int] | Ints, codes: Array) -> None:
        """Add codes, (n, words), and whose they are; a person may have several."""
        self._add(np.asarray(people, np.int64), *split_codes(codes, self._n_first))

    def _add(self, people: Ints, coarse: Array, rest: Array) -> None:
        self.n_people += len(np.unique(people)) - self._count_present(people)
        while len(people):
            if not self._segments or self._segments[-1].used == CODES_PER_SEGMENT:
                self._segments.append(_Segment(coarse.shape[1], rest.shape[1]))
            count = self._segments[-1].add(people, coarse, rest)
            people, coarse, rest = people[count:], coarse[count:], rest[count:]

    def remove(self, people: Iterable[int]) -> None:
        """Remove all codes of some people; those who have none are skipped."""
        numbers = np.fromiter(people, np.int64)
        if len(numbers):
            self.n_people -= self._count_present(numbers)
            self._holes += sum(segment.remove(numbers) for segment in self._segments)
            if self._holes > max(CODES_PER_SEGMENT, len(self)):
                self._close_holes()

    def _count_present(self, people: Ints) -> int:
        """Count how many of some people have codes here."""
        present = [segment.people[np.isin(segment.people, people)] for segment in self._segments]
        return len(np.unique(np.concatenate(present))) if present else 0

    def _close_holes(self) -> None:
        """Add all codes anew once half of the rows are empty."""
        old, self._segments, self._holes, self.n_people = self._segments, [], 0, 0
        while old:
            self._add(*old.pop(0).contents())

    def search(self, probe: Array, n_people: int = MAX_CANDIDATES) -> Neighbors:
        """Find the people whose codes are nearest to a probe, (q, words); a gallery gives one code, that of the photo.

        Of several codes the first is scanned and prefiltered with; reranking takes the nearest.
        """
        counts, scanned = self.coarse_scan(probe[0])
        counts, prefiltered = self.prefilter(probe[0], scanned, scan_limit(counts))
        return self.rerank(probe, prefiltered, prefilter_limit(counts, len(self)), n_people)

    def coarse_scan(self, probe: Array) -> tuple[Ints, list[Counts]]:
        """Count the codes at each coarse distance, (bits + 1,), and return the coarse distances by segment."""
        coarse, _ = split_codes(probe, self._n_first)
        scanned = in_threads(lambda segment: segment.coarse_scan(coarse), self._segments)
        zeros = np.zeros(BITS_PER_WORD * len(coarse) + 1, np.int64)
        return np.sum([zeros, *(counts for _, counts in scanned)], axis=0), [distances for distances, _ in scanned]

    def prefilter(self, probe: Array, scanned: Sequence[Counts], limit: int) -> tuple[Ints, list[Prefiltered]]:
        """Count more bits of the codes whose coarse distance does not exceed a limit.

        Return the number of codes at each distance, (bits + 1,), and what was prefiltered, by segment.
        """
        coarse, rest = split_codes(probe, self._n_first)
        words = rest[: len(coarse)]
        pieces = zip(self._segments, scanned, strict=True)
        prefiltered = in_threads(
            lambda piece: Prefiltered(*refined_distances(piece[0].rest, words, piece[1], limit)), pieces
        )
        distances = np.concatenate([np.zeros(0, np.uint16), *(each.distances for each in prefiltered)])
        return np.bincount(distances, minlength=2 * BITS_PER_WORD * len(words) + 1), prefiltered

    def rerank(self, probe: Array, prefiltered: Sequence[Prefiltered], limit: int, n_people: int) -> Neighbors:
        """Find the nearest people among the codes whose prefiltered distance does not exceed a limit."""
        codes = np.concatenate(split_codes(probe, self._n_first), axis=-1)
        pieces = zip(self._segments, prefiltered, strict=True)
        return nearest(merged(in_threads(lambda piece: piece[0].rerank(codes, piece[1], limit), pieces)), n_people)


def scan_limit(counts: Ints) -> int:
    """Return the coarse distance up to which codes are prefiltered; given are the counts of all codes, (bits + 1,)."""
    return _limit(counts, PREFILTERED_PER_RERANKED * _n_reranked(int(counts.sum())))


def prefilter_limit(counts: Ints, n_codes: int) -> int:
    """Return the prefiltered distance up to which codes are reranked; counts are of those prefiltered, n of all."""
    return _limit(counts, _n_reranked(n_codes))


def _n_reranked(n_codes: int) -> int:
    return max(MIN_RERANKED, n_codes // CODES_PER_RERANKED)


def _limit(counts: Ints, n_codes: int) -> int:
    """Return the distance that the nearest ``n_codes`` codes do not exceed."""
    return int(np.searchsorted(np.cumsum(counts), min(n_codes, int(counts.sum()))))


def merged(neighbors: Sequence[Neighbors]) -> Neighbors:
    """Put what was found in several places together."""
    people, distances = [np.zeros(0, np.int64)], [np.zeros(0, np.uint16)]
    return Neighbors(
        np.concatenate([*people, *(each.people for each in neighbors)]),
        np.concatenate([*distances, *(each.distances for each in neighbors)]),
    )


def nearest(neighbors: Neighbors, n_people: int) -> Neighbors:
    """Keep the nearest code of each person, and the nearest people."""
    people, distances = neighbors
    n_rows = 4 * n_people
    if len(distances) > n_rows:  # most rows can be dropped without sorting them
        rows = np.flatnonzero(distances <= np.partition(distances, n_rows)[n_rows])
        if len(np.unique(people[rows])) >= n_people:
            people, distances = people[rows], distances[rows]
    order = np.lexsort((people, distances))
    _, firsts = np.unique(people[order], return_index=True)
    kept = order[np.sort(firsts)[:n_people]]
    return Neighbors(people[kept], distances[kept])
