"""Who is worth comparing with among many: the codes of everybody, searched from end to end.

Every code is looked at, and only the order of the differences counts; so there is nothing to be trained or balanced,
whoever comes is found at once, whoever goes is gone at once, and codes cut in pieces over several machines give the
same people as all in one place. The first look counts the bits of half a code, for one view of the photo; the second
all bits, for the best of its nine alignments, of those few that the first look left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from lightproof.coding import Counts, bits_apart, least_apart
from lightproof.processes import in_threads
from lightproof.types import Array, Ints

ROWS: Final = 65_536
"""Codes in one segment: memory grows by one at a time, and nothing is moved."""

FEWEST: Final = 4096
"""Codes that are looked at a second time, at least,"""

SHARE: Final = 256
"""and one in so many of all."""

CANDIDATES: Final = 512
"""People who are compared in earnest, at most."""

NOBODY: Final = -1

FARTHEST: Final = 0xFFFF


class Found(NamedTuple):
    """People and how many bits their nearest code differs in, the nearest first; those who differ as much by number."""

    people: Ints
    apart: Counts


class _Segment:
    """Some codes, side by side."""

    def __init__(self, n_first: int, n_words: int) -> None:
        self.used = self.holes = 0
        self.people = np.full(ROWS, NOBODY, np.int64)
        # Not touched before they are used: an empty segment takes no memory.
        self.first = np.empty((ROWS, n_first), np.uint64)
        self.rest = np.empty((ROWS, n_words - n_first), np.uint64)

    def add(self, people: Ints, codes: Array) -> int:
        """Put in as many as there is room for; return how many."""
        count = min(len(people), ROWS - self.used)
        place = slice(self.used, self.used + count)
        cut = self.first.shape[1]
        self.first[place], self.rest[place] = codes[:count, :cut], codes[:count, cut:]
        self.people[place] = people[:count]
        self.used += count
        return count

    def remove(self, people: Ints) -> int:
        rows = np.flatnonzero(np.isin(self.people[: self.used], people))
        self.people[rows] = NOBODY
        # What is forgotten does not stay in memory either.
        self.first[rows] = self.rest[rows] = 0
        self.holes += len(rows)
        return len(rows)

    def first_look(self, asked: Array) -> tuple[Counts, Ints]:
        apart, counts = bits_apart(self.first[: self.used], asked)
        if self.holes:
            nobody = self.people[: self.used] == NOBODY
            counts -= np.bincount(apart[nobody], minlength=len(counts))
            apart[nobody] = FARTHEST
        return apart, counts

    def second_look(self, asked: Array, seen: Counts, limit: int) -> Found:
        rows = np.flatnonzero(seen <= limit)
        return Found(self.people[rows], least_apart(self.first, self.rest, rows, asked))


class CodeIndex:
    """The codes of everybody.

    Parameters
    ----------
    n_first, n_words : int
        Words of a code that are looked at first, and all of them: see :class:`lightproof.coding.Coder`.

    Attributes
    ----------
    n_people : int
        How many people have codes.
    """

    def __init__(self, n_first: int, n_words: int) -> None:
        self._shape = (n_first, n_words)
        self._segments: list[_Segment] = []
        self._holes = 0
        self.n_people = 0

    def __len__(self) -> int:
        """How many codes there are."""
        return sum(segment.used for segment in self._segments) - self._holes

    @property
    def n_bytes(self) -> int:
        """Room that the codes take."""
        return sum(segment.used for segment in self._segments) * 8 * (self._shape[1] + 1)

    def add(self, people: Sequence[int] | Ints, codes: Array) -> None:
        """Add codes, (n, words), and whose they are; a person may have several."""
        whose = np.asarray(people, np.int64)
        self.n_people += len(np.unique(whose)) - self._present(whose)
        while len(whose):
            if not self._segments or self._segments[-1].used == ROWS:
                self._segments.append(_Segment(*self._shape))
            count = self._segments[-1].add(whose, codes)
            whose, codes = whose[count:], codes[count:]

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
            segment = old.pop(0)
            rows = np.flatnonzero(segment.people[: segment.used] != NOBODY)
            codes = np.concatenate([segment.first[rows], segment.rest[rows]], axis=1)
            self.add(segment.people[rows], codes)

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
        counts, looks = self.first_look(asked[0])
        return self.second_look(asked, looks, limit_of(counts, len(self)), most)

    def first_look(self, asked: Array) -> tuple[Ints, list[Counts]]:
        """How many codes differ in so many bits of the first look, (bits + 1,), and by how many each code does."""
        cut = asked[: self._shape[0]]
        looks = in_threads(lambda segment: segment.first_look(cut), self._segments)
        nothing = np.zeros(64 * len(cut) + 1, np.int64)
        return np.sum([nothing, *(counts for _, counts in looks)], axis=0), [apart for apart, _ in looks]

    def second_look(self, asked: Array, looks: Sequence[Counts], limit: int, most: int) -> Found:
        """Find the nearest among those that a first look found to differ in no more bits than a limit."""
        pieces = zip(self._segments, looks, strict=True)
        found = in_threads(lambda piece: piece[0].second_look(asked, piece[1], limit), pieces)
        return nearest(together(found), most)


def limit_of(counts: Ints, n_codes: int) -> int:
    """How many bits of the first look a code may differ in to be looked at again, (bits + 1,) counts of codes."""
    enough = max(FEWEST, n_codes // SHARE)
    return int(np.searchsorted(np.cumsum(counts), min(enough, n_codes)))


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
