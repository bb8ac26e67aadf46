r"""What is told of a photo by a few thousand bits: enough to find who is worth comparing with among a million.

Most of what tells people apart survives when only the sign is kept of each number, less what is usual there (the mean
over the rendered people of :mod:`lightproof.matching.cohort`). So the code of a photo is a row of bits, and how far two photos
are apart is first told by how many of them differ. Not all numbers are taken, but those that bear a face cut a little
askew: the lowest two cosines of each sorted projection, and of both differences the lowest two that run down the patch
and not across. The first of each stand first, for a first look, and every other bit of these is enough for a glance.
The numbers were chosen on the people of Extended Yale B with odd numbers; docs/scale.md has the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.core.jit import compiled
from lightproof.matching.templates import Template, TemplateSet
from lightproof.method.presets import GallerySettings
from lightproof.types import Array, Floats, Ints

Counts: TypeAlias = NDArray[np.uint16]
"""Numbers of bits."""

WORD: Final = 64
"""Bits that are compared in one go."""

BLOCK: Final = 64
"""Codes whose first words lie side by side, then their second ones: so a glance at them is counted many at a time, as
fast as memory is read."""

EVEN: Final = np.uint64(0x5555555555555555)
"""Every other bit of a word."""


class BinaryEncoder:
    """Makes codes.

    Parameters
    ----------
    settings : GallerySettings
    cohort : TemplateSet
        The rendered people: they tell what is usual.

    Attributes
    ----------
    n_first, n_words : int
        Words of a code that are looked at first, and all of them.
    """

    def __init__(self, settings: GallerySettings, cohort: TemplateSet) -> None:
        numbers = _numbers(settings)
        views = zip(*(template.spans for template in cohort.templates.values()), strict=True)
        self._usual = [np.mean([spans.directions[:, 0] for spans in view], axis=0) for view in views]
        self._views = range(len(numbers))
        K = len(self._usual[0])
        n_bits = [K * sum(len(view[part]) for view in numbers) for part in (0, 1)]
        self.n_first = -(-n_bits[0] // WORD)
        self.n_words = self.n_first - (-n_bits[1] // WORD)
        self._places = _places(numbers, K, self.n_first)

    def encode_templates(self, templates: Sequence[Template]) -> Array:
        """Return the codes of photos by their templates, shape (n, words), uint64."""
        return self._coded([np.stack([template.spans[i].own[:, 0] for template in templates]) for i in self._views])

    def encode_probes(self, vectors: Sequence[Floats], moves: int) -> Array:
        """Return the codes of photos after each of their moves, (n * moves, K, D) in each view -> (n, moves, words)."""
        codes = self.encode_vectors(vectors)
        return codes.reshape(-1, moves, codes.shape[1])

    def encode_vectors(self, vectors: Sequence[Floats]) -> Array:
        """Return the codes of photos by their features, (n, K, D) in each view -> (n, words), uint64."""
        return self._coded(vectors)

    def _coded(self, vectors: Sequence[Array]) -> Array:
        """Set the bits of vectors of any length."""
        codes = np.zeros((len(vectors[0]), self.n_words), np.uint64)
        for view, usual, places in zip(vectors, self._usual, self._places, strict=True):
            _set_bits(view, usual, places, codes)
        return codes


def _numbers(settings: GallerySettings) -> list[tuple[Ints, Ints]]:
    """For each view, which numbers of a patch are looked at first, and which later."""
    waves, down = int(settings.detail), settings.placed_detail
    # As flatten and plane_cosines order them.
    projections, differences = np.arange(settings.n_angles) * waves, np.arange(2) * ((down + 1) ** 2 - 1)
    sorted_ones = [projections + i for i in range(min(waves, 2))]
    placed_ones = [differences + i * (down + 1) - 1 for i in range(1, min(down, 2) + 1)]
    return [(ones[0], np.concatenate([differences[:0], *ones[1:]])) for ones in (sorted_ones, placed_ones)]


def _places(numbers: Sequence[tuple[Ints, Ints]], n_patches: int, n_first: int) -> list[Ints]:
    """Tell which number of a patch goes where, for each view: rows of (number, bit of the first patch)."""
    rows: list[list[tuple[int, int]]] = [[] for _ in numbers]
    for part, start in ((0, 0), (1, n_first * WORD)):
        for i, view in enumerate(numbers):
            for number in view[part].tolist():
                rows[i].append((number, start))
                start += n_patches
    return [np.array(view, np.int64).reshape(-1, 2) for view in rows]


def spread(codes: Array, n_first: int) -> tuple[Array, Array]:
    """Cut codes in a part for a glance, with every other bit of their first words, and the rest.

    Patches stand in a row as they lie in the face, so a glance falls on every other patch: on the dark squares of a
    chessboard where a row of the grid has an odd number of them, else on every other column. Which bits stand together
    does not change how many differ.

    Parameters
    ----------
    codes : ndarray of shape (..., words)
    n_first : int
        Words that are looked at first.

    Returns
    -------
    coarse_scan : ndarray of shape (..., half of n_first, rounded up)
    rest : ndarray of shape (..., as many for the other bits, and the other words)
    """
    one = np.uint64(1)
    left, right = codes[..., 0:n_first:2], codes[..., 1:n_first:2]
    if n_first % 2:
        right = np.concatenate([right, np.zeros_like(left[..., :1])], axis=-1)
    coarse_scan = (left & EVEN) | ((right & EVEN) << one)
    other = ((left >> one) & EVEN) | (right & ~EVEN)
    return coarse_scan, np.concatenate([other, codes[..., n_first:]], axis=-1)


def in_blocks(codes: Array) -> Array:
    """Lay codes out for a glance, (N, words) -> (blocks, words, BLOCK); the last block is filled up with 0."""
    n, words = codes.shape
    blocks = empty_blocks(n, words)
    blocks[:] = 0
    blocks[lanes_of(np.arange(n))] = codes
    return blocks


def empty_blocks(n: int, words: int) -> Array:
    """Return room for so many codes, (blocks, words, BLOCK); what is in it is anybody's guess."""
    return np.empty((-(-n // BLOCK), words, BLOCK), np.uint64)


def lanes_of(rows: Ints) -> tuple[Ints, slice, Ints]:
    """Where in blocks the codes of some rows lie: with it as an index, blocks give and take codes, (r, words)."""
    return rows // BLOCK, slice(None), rows % BLOCK


def hamming_distances(blocks: Array, asked: Array, n: int) -> tuple[Counts, Ints]:
    """How many bits of codes differ from one asked about.

    Parameters
    ----------
    blocks : ndarray of shape (blocks, words, BLOCK)
        See :func:`in_blocks`.
    asked : ndarray of shape (words,)
    n : int
        How many codes there are.

    Returns
    -------
    apart : ndarray of shape (n,), uint16
        In how many bits each code differs.
    counts : ndarray of shape (bits + 1,)
        How many codes differ in so many bits.
    """
    apart, counts = np.empty(n, np.uint16), np.zeros(WORD * len(asked) + 1, np.int64)
    _count_all(blocks, asked, apart, counts)
    return apart, counts


def refined_distances(codes: Array, asked: Array, seen: Counts, limit: int) -> tuple[Ints, Counts]:
    """How many bits differ of those codes that differ in no more than a limit of the bits counted before.

    Parameters
    ----------
    codes : ndarray of shape (N, words)
        The words that were not counted before, and perhaps more.
    asked : ndarray of shape (words to be counted,)
    seen : ndarray of shape (n,)
        In how many bits each of the first n codes differs so far.
    limit : int

    Returns
    -------
    rows : ndarray of shape (r,)
        Which codes these are.
    apart : ndarray of shape (r,), uint16
        In how many bits of all that were counted they differ.
    """
    rows, apart = np.empty(len(seen), np.int64), np.empty(len(seen), np.uint16)
    count = _count_more(codes, asked, seen, limit, rows, apart)
    return rows[:count], apart[:count]


def least_distances(blocks: Array, rest: Array, rows: Ints, asked: Array) -> Counts:
    """How many bits of some codes differ from the nearest of several asked about, (r,) rows -> (r,), uint16.

    Parameters
    ----------
    blocks : ndarray of shape (blocks, words, BLOCK)
        The first words of the codes: see :func:`in_blocks`.
    rest : ndarray of shape (N, other words)
    rows : ndarray of shape (r,)
    asked : ndarray of shape (q, words of both)
    """
    apart = np.empty(len(rows), np.uint16)
    _count_some(blocks, rest, rows, asked, apart)
    return apart


@compiled
def _set_bits(vectors: Array, usual: Floats, places: Ints, codes: Array) -> None:
    """Set the bits of some numbers of each patch, (n, K, D), that are larger than usual in a vector of length 1."""
    n, K, D = vectors.shape
    for i in range(n):
        for k in range(K):
            vector, square = vectors[i, k], np.float32(0)
            for d in range(D):
                square += np.float32(vector[d]) * np.float32(vector[d])
            length = np.sqrt(square)
            for place in range(len(places)):
                number, bit = places[place, 0], places[place, 1] + k
                # No branch: which way it goes is anybody's guess, and guessing wrong takes longer than the rest.
                larger = np.uint64(np.float32(vector[number]) > usual[k, number] * length)
                codes[i, bit >> 6] |= larger << np.uint64(bit & 63)


@compiled
def _count(word: np.uint64) -> np.uint64:
    """Count the bits of a word; the compiler knows this form and takes the processor's own."""
    ones, twos, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word - ((word >> np.uint64(1)) & ones)
    word = (word & twos) + ((word >> np.uint64(2)) & twos)
    word = (word + (word >> np.uint64(4))) & fours
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _count_all(blocks: Array, asked: Array, apart: Counts, counts: Ints) -> None:
    totals = np.empty(BLOCK, np.uint64)
    for first in range(0, len(apart), BLOCK):
        block = blocks[first // BLOCK]
        for lane in range(BLOCK):
            totals[lane] = np.uint64(0)
        for i in range(len(asked)):
            row, word = block[i], asked[i]
            for lane in range(BLOCK):
                totals[lane] += _count(row[lane] ^ word)
        for lane in range(min(BLOCK, len(apart) - first)):
            apart[first + lane] = totals[lane]
            counts[totals[lane]] += 1


@compiled
def _count_more(codes: Array, asked: Array, seen: Counts, limit: int, rows: Ints, apart: Counts) -> int:
    count = 0
    for row in range(len(seen)):
        # No branch here either.
        rows[count] = row
        count += seen[row] <= limit
    for i in range(count):
        code, total = codes[rows[i]], np.uint64(seen[rows[i]])
        for word in range(len(asked)):
            total += _count(code[word] ^ asked[word])
        apart[i] = total
    return count


@compiled
def _count_some(blocks: Array, rest: Array, rows: Ints, asked: Array, apart: Counts) -> None:
    n_first, code = blocks.shape[1], np.empty(asked.shape[1], np.uint64)
    for i in range(len(rows)):
        block, lane = blocks[rows[i] // BLOCK], rows[i] % BLOCK
        for word in range(n_first):
            code[word] = block[word, lane]
        code[n_first:] = rest[rows[i]]
        least = np.uint64(0xFFFF)
        for q in range(len(asked)):
            other, total = asked[q], np.uint64(0)
            for word in range(len(code)):
                total += _count(code[word] ^ other[word])
            least = min(least, total)
        apart[i] = least
