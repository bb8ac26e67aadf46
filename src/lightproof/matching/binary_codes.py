r"""A photo as a few thousand bits: enough to shortlist people among a million.

Most of what tells people apart survives if only the sign is kept of each number of a feature vector, less its mean over
the cohort (:mod:`lightproof.matching.cohort`). So the code of a photo is a row of bits, and the Hamming distance is a
first measure of how far two photos are apart. The numbers of a patch stand in order, those that tell people apart best
first (:mod:`lightproof.matching.views`); a code has the first few of each view. The very first ones come first in a
code, for the prefilter; every other bit of these is enough for the coarse scan. How many was chosen on the people of
Extended Yale B with odd numbers and on made-up people; docs/scale.md has the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lightproof.core.jit import compiled
from lightproof.matching.scores import Cohorts, ProbeSet
from lightproof.matching.templates import Template, TemplateSet
from lightproof.method.presets import ViewSettings
from lightproof.method.subspaces import PatchSpans
from lightproof.types import Array, Floats, Ints

Counts: TypeAlias = NDArray[np.uint16]
"""Numbers of bits."""

BITS_PER_WORD: Final = 64

CODES_PER_BLOCK: Final = 64
"""Codes whose first words lie side by side, then their second ones: so many are counted at once, as fast as memory is
read."""

FIRST_BITS: Final = {"mesh": 3, "eyes": 0, "crop": 4}
MAX_BITS: Final = {"mesh": 8, "eyes": 0, "crop": 10}
"""Bits of each patch, by the shape of the view: those for the prefilter, and all."""

EVEN_BITS: Final = np.uint64(0x5555555555555555)
"""Every other bit of a word."""


class BinaryEncoder:
    """Makes binary codes of ``n_words`` words, the first ``n_first`` for the prefilter; subtracts the cohort mean."""

    def __init__(self, views: Sequence[ViewSettings], cohorts: Cohorts) -> None:
        self._cohort_means = [
            [np.mean([spans.directions[:, 0] for spans in view], axis=0) for view in _views_of(cohort)]
            for cohort in (cohorts.without, cohorts.with_mesh)
        ]
        n_patches = [len(means) for means in self._cohort_means[0]]
        numbers = [_first_numbers(view) for view in views]
        n_bits = [sum(K * len(view[part]) for K, view in zip(n_patches, numbers, strict=True)) for part in (0, 1)]
        self.n_first = -(-n_bits[0] // BITS_PER_WORD)
        self.n_words = self.n_first - (-n_bits[1] // BITS_PER_WORD)
        self._bits = _bit_positions(numbers, n_patches, self.n_first)

    def encode_templates(self, templates: Sequence[Template]) -> Array:
        """Return the codes of photos by their templates, shape (n, words), uint64."""
        views = [np.stack([template.spans[i].own[:, 0] for template in templates]) for i in range(len(self._bits))]
        return self._encode(views, np.array([template.has_mesh for template in templates], bool))

    def encode_probes(self, probes: ProbeSet) -> Array:
        """Return the codes of photos as they lie, (n, 1, words)."""
        return self._encode(probes.as_it_lies(), probes.has_mesh)[:, None]

    def _encode(self, vectors: Sequence[Array], has_mesh: Array) -> Array:
        """Return the codes of photos by vectors of any length, (n, K, D) in each view -> (n, words), uint64."""
        codes = np.zeros((len(has_mesh), self.n_words), np.uint64)
        for rows, means in zip((np.flatnonzero(~has_mesh), np.flatnonzero(has_mesh)), self._cohort_means, strict=True):
            some = codes[rows]
            for view, mean, bits in zip(vectors, means, self._bits, strict=True):
                _set_bits(view[rows], mean, bits, some)
            codes[rows] = some
        return codes


def _views_of(people: TemplateSet) -> list[tuple[PatchSpans, ...]]:
    return list(zip(*(template.spans for template in people.templates.values()), strict=True))


def _first_numbers(view: ViewSettings) -> tuple[Ints, Ints]:
    """Return which numbers of a patch come first in a code, and which later."""
    first, all_of_them = FIRST_BITS[view.shape], MAX_BITS[view.shape]
    return np.arange(first), np.arange(first, min(all_of_them, view.numbers))


def _bit_positions(numbers: Sequence[tuple[Ints, Ints]], n_patches: Sequence[int], n_first: int) -> list[Ints]:
    """Return which number of a patch goes where, for each view: rows of (number, bit of the first patch)."""
    rows: list[list[tuple[int, int]]] = [[] for _ in numbers]
    for part, bit in ((0, 0), (1, n_first * BITS_PER_WORD)):
        for i, view in enumerate(numbers):
            for number in view[part].tolist():
                rows[i].append((number, bit))
                bit += n_patches[i]
    return [np.array(view, np.int64).reshape(-1, 2) for view in rows]


def split_codes(codes: Array, n_first: int) -> tuple[Array, Array]:
    """Split codes, (..., words), into a part for the coarse scan, every other bit of the first words, and the rest.

    Patches stand in a row as they lie in the face, so the coarse part has every other patch: the dark squares of a
    chessboard if a row of the grid has an odd number of them, else every other column. The order of the bits does not
    change Hamming distances. The rest begins with the other bits of the first words.
    """
    one = np.uint64(1)
    left, right = codes[..., 0:n_first:2], codes[..., 1:n_first:2]
    if n_first % 2:
        right = np.concatenate([right, np.zeros_like(left[..., :1])], axis=-1)
    coarse = (left & EVEN_BITS) | ((right & EVEN_BITS) << one)
    other = ((left >> one) & EVEN_BITS) | (right & ~EVEN_BITS)
    return coarse, np.concatenate([other, codes[..., n_first:]], axis=-1)


def in_blocks(codes: Array) -> Array:
    """Lay codes out for a scan, (N, words) -> (blocks, words, CODES_PER_BLOCK); the last block is filled up with 0."""
    n, words = codes.shape
    blocks = empty_blocks(n, words)
    blocks[:] = 0
    blocks[lanes_of(np.arange(n))] = codes
    return blocks


def empty_blocks(n: int, words: int) -> Array:
    """Return uninitialized room for n codes, (blocks, words, CODES_PER_BLOCK)."""
    return np.empty((-(-n // CODES_PER_BLOCK), words, CODES_PER_BLOCK), np.uint64)


def lanes_of(rows: Ints) -> tuple[Ints, slice, Ints]:
    """Return the index of some rows in blocks: indexed with it, blocks give and take codes, (r, words)."""
    return rows // CODES_PER_BLOCK, slice(None), rows % CODES_PER_BLOCK


@compiled
def _set_bits(vectors: Array, means: Floats, bits: Ints, codes: Array) -> None:
    """Set the bits of some numbers of each patch, (n, K, D), that exceed the cohort means in a vector of length 1."""
    n, K, D = vectors.shape
    for i in range(n):
        for k in range(K):
            vector, square = vectors[i, k], np.float32(0)
            for d in range(D):
                square += np.float32(vector[d]) * np.float32(vector[d])
            length = np.sqrt(square)
            for i_bit in range(len(bits)):
                number, bit = bits[i_bit, 0], bits[i_bit, 1] + k
                # No branch: it would be mispredicted half of the time, and that takes longer than the rest.
                larger = np.uint64(np.float32(vector[number]) > means[k, number] * length)
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
def hamming_distances(blocks: Array, probe: Array, n: int) -> tuple[Counts, Ints]:
    """Hamming distances of n codes, :func:`in_blocks`, from a probe, and the number of codes at each, (bits + 1,)."""
    distances, counts = np.empty(n, np.uint16), np.zeros(BITS_PER_WORD * len(probe) + 1, np.int64)
    totals = np.empty(CODES_PER_BLOCK, np.uint64)
    for first in range(0, n, CODES_PER_BLOCK):
        block = blocks[first // CODES_PER_BLOCK]
        for lane in range(CODES_PER_BLOCK):
            totals[lane] = np.uint64(0)
        for i in range(len(probe)):
            row, word = block[i], probe[i]
            for lane in range(CODES_PER_BLOCK):
                totals[lane] += _count(row[lane] ^ word)
        for lane in range(min(CODES_PER_BLOCK, n - first)):
            distances[first + lane] = totals[lane]
            counts[totals[lane]] += 1
    return distances, counts


@compiled
def refined_distances(codes: Array, probe: Array, scanned: Counts, limit: int) -> tuple[Ints, Counts]:
    """Count more bits of those of the first codes whose distance so far, ``scanned``, does not exceed a limit.

    The words of the probe are those to be counted; those of the codes, (N, words), begin with them. Return the rows of
    these codes, and their distances over all bits counted.
    """
    rows, distances, count = np.empty(len(scanned), np.int64), np.empty(len(scanned), np.uint16), 0
    for row in range(len(scanned)):
        # No branch here either.
        rows[count] = row
        count += scanned[row] <= limit
    for i in range(count):
        code, total = codes[rows[i]], np.uint64(scanned[rows[i]])
        for word in range(len(probe)):
            total += _count(code[word] ^ probe[word])
        distances[i] = total
    return rows[:count], distances[:count]


@compiled
def least_distances(blocks: Array, rest: Array, rows: Ints, probes: Array) -> Counts:
    """Distances of some codes from the nearest of several probes, (q, words), shape (r,).

    The first words of all codes lie in blocks, see :func:`in_blocks`, the other ones in ``rest``, (N, other words).
    """
    distances = np.empty(len(rows), np.uint16)
    n_first, code = blocks.shape[1], np.empty(probes.shape[1], np.uint64)
    for i in range(len(rows)):
        block, lane = blocks[rows[i] // CODES_PER_BLOCK], rows[i] % CODES_PER_BLOCK
        for word in range(n_first):
            code[word] = block[word, lane]
        code[n_first:] = rest[rows[i]]
        least = np.uint64(0xFFFF)
        for q in range(len(probes)):
            probe, total = probes[q], np.uint64(0)
            for word in range(len(code)):
                total += _count(code[word] ^ probe[word])
            least = min(least, total)
        distances[i] = least
    return distances
