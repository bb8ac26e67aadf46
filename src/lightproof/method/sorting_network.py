"""Many short sorts at once, by a network of comparisons laid out ahead.

Sorting thousands of patches one by one is mostly overhead, and patches that overlap are sorted in part over and over.
Here a *lane* is a long array that holds one point of every patch. Two lanes are put in order by one minimum and one
maximum; which lanes meet does not depend on the numbers, so the plan is made once. It follows Batcher's odd-even merge
(K. E. Batcher, "Sorting networks and their applications", 1968). Neighboring patches are neighboring places of a lane,
so what they share is sorted once and read at another offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from lightproof.core.jit import compiled
from lightproof.method.patches import PatchGrid, lay_out
from lightproof.types import Array, Floats

Wire: TypeAlias = tuple[int, int, int]
"""A lane by its number, and the offset at which it is read, in rows and columns of patches."""

PLACES_PER_STEP: Final = 32
"""Places that a processor compares at once; lanes are padded to multiples of it."""

NUMBERS_PER_BLOCK: Final = 80_000
"""Numbers of several pictures that are sorted before they are summed up: they stay in the processor's cache."""


class PatchSorter:
    """Projects the vectors of each patch on some directions, sorts each projection, and sums it with some weights.

    The same as ``np.sort(grid.gather(project(fields, angles))) @ weights.T`` up to rounding, with the patches last.
    Faster for small patches, because all patches are sorted at once, and the pixels that neighbors share only once. The
    weights, shape (q, N), are for the smallest number of a patch, the second smallest, and so on.
    """

    def __init__(self, grid: PatchGrid, directions: Floats, weights: Floats) -> None:
        plan, beyond = plan_sorting(grid.cell, grid.stride), (grid.cell - 1) // grid.stride
        self._grid, self._directions = grid, directions.astype(weights.dtype)
        self._matrix = np.zeros((len(weights), plan.n_rows), weights.dtype)
        self._matrix[:, plan.sorted_rows] = weights
        width = grid.columns + beyond
        places = -(-(grid.rows + beyond) * width // PLACES_PER_STEP) * PLACES_PER_STEP
        # Steps read beyond the last patches: any numbers will do there.
        room = -(-(places + plan.reach(width)) // PLACES_PER_STEP) * PLACES_PER_STEP
        self._steps = plan.along(width, len(directions) * room)
        self._sizes = np.array([grid.stride, width, places, room], np.uintp)

    def sort(self, fields: Floats, out: Floats) -> None:
        """Put the sums of fields of vectors, shape (n, 2, h, w), into ``out``, shape (n, m, q, K)."""
        places = out.reshape(*out.shape[:3], self._grid.rows, self._grid.columns)
        rows, numbers = self._matrix.shape[1], len(self._directions) * int(self._sizes[-1])
        lanes = _aligned_zeros(max(1, NUMBERS_PER_BLOCK // (rows * numbers)), rows, numbers, fields)
        for start in range(0, len(fields), len(lanes)):
            some = fields[start : start + len(lanes)]
            _sort(some, self._sizes, self._grid.constant_stride, self._directions, self._steps, lanes)
            # A product for each picture: one over all would differ in the last bit with the number of them.
            _copy_patch_sums(self._matrix @ lanes[: len(some)], self._sizes, places[start : start + len(some)])


@compiled
def _aligned_zeros(pictures: int, rows: int, numbers: int, fields: Floats) -> Floats:
    """Make lanes of zeros that are aligned for the processor; NumPy's own often are not."""
    return np.zeros((pictures, rows, numbers), fields.dtype)


@compiled
def _sort(
    fields: Floats, sizes: Array, constant: tuple[int, ...], directions: Floats, steps: Array, lanes: Floats
) -> None:
    """Lay out, project, compare: one picture and one direction at a time, whose numbers stay in the cache.

    ``sizes`` has the stride; the places of a line; of a picture; of a picture with those that a step reads ahead.
    ``constant`` is :attr:`PatchGrid.constant_stride`; ``steps`` comes from :meth:`SortingPlan.along`. ``lanes`` has
    shape (n or more, rows of the plan, m * places with those ahead).
    """
    stride, width, places, room = sizes
    pixels = np.zeros((2, stride * stride, places), fields.dtype)
    for n in range(len(fields)):
        lay_out(fields[n], stride, constant, width, pixels)
        for m in range(np.uintp(len(directions))):
            _project(pixels, directions[m], m * room, lanes[n])
            _compare_exchange(steps, places, lanes[n].ravel()[m * room :])


@compiled
def _project(pixels: Floats, direction: Floats, start: np.uintp, lanes: Floats) -> None:
    cosine, sine = direction
    places = np.uintp(pixels.shape[2])
    for i in range(pixels.shape[1]):
        lane, right, down = lanes[i, start : start + places], pixels[0, i], pixels[1, i]
        for place in range(places):
            lane[place] = cosine * right[place] + sine * down[place]


@compiled
def _compare_exchange(steps: Array, places: np.uintp, lanes: Floats) -> None:
    """Take all steps: put the smaller numbers of two lanes into one lane, the larger into another."""
    for step in range(len(steps)):
        left, right, low, high = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        first, second = lanes[left : left + places], lanes[right : right + places]
        smaller, larger = lanes[low : low + places], lanes[high : high + places]
        for place in range(places):
            # Each line is one instruction; min and max would also test for nan.
            here, there = first[place], second[place]
            smaller[place] = here if here < there else there
            larger[place] = here if here > there else there


@compiled
def _copy_patch_sums(sums: Floats, sizes: Array, out: Floats) -> None:
    """Put the sums that belong to patches into ``out``, (n, q, m * room) -> (n, m, q, lines, columns)."""
    _, width, _, room = sizes
    for n in range(out.shape[0]):
        for m in range(np.uintp(out.shape[1])):
            for q in range(out.shape[2]):
                for row in range(np.uintp(out.shape[3])):
                    for column in range(np.uintp(out.shape[4])):
                        out[n, m, q, row, column] = sums[n, q, m * room + row * width + column]


class Step(NamedTuple):
    """Compare two rows, each read at an offset; put the smaller numbers into one row, the larger into another."""

    first: Wire
    second: Wire
    smaller: int
    larger: int


@dataclass(frozen=True)
class SortingPlan:
    """How square patches are sorted.

    The steps work in ``n_rows`` rows of numbers. The first ``stride ** 2`` hold the picture: row ``i * stride + j`` has
    every ``stride``-th pixel of every ``stride``-th line, from line i and column j on. In the end ``sorted_rows`` hold
    the smallest number of every patch, the second smallest, and so on.
    """

    steps: tuple[Step, ...]
    n_rows: int
    sorted_rows: tuple[int, ...]

    def reach(self, width: int) -> int:
        """Most places that a step reads ahead."""
        offsets = {wire[1:] for step in self.steps for wire in step[:2]}
        return max((down * width + right for down, right in offsets), default=0)

    def along(self, width: int, pitch: int) -> Array:
        """Write the steps down for lanes that hold a picture line after line, ``width`` places each, shape (steps, 4).

        A place stands for the patch that begins there; the last places of a line, beyond the last patch, mean nothing.
        ``pitch`` numbers lie between rows. A step says where the two lanes to compare begin, and where the smaller and
        the larger numbers go.
        """
        wires = np.array([step[:2] for step in self.steps], np.uintp).reshape(-1, 2, 3)
        rows = np.array([step[2:] for step in self.steps], np.uintp).reshape(-1, 2)
        return np.hstack([wires @ np.array([pitch, width, 1], np.uintp), rows * np.uintp(pitch)])


@lru_cache(maxsize=16)
def plan_sorting(cell: int, stride: int) -> SortingPlan:
    """Lay out how patches of ``cell`` x ``cell`` pixels are sorted, one every ``stride`` pixels."""
    network = _Network(stride**2)
    if cell % stride:
        pixels = [(i, j) for i in range(cell) for j in range(cell)]
        wires = [((i % stride) * stride + j % stride, i // stride, j // stride) for i, j in pixels]
        return network.plan(network.sort(wires))
    block = network.sort([(lane, 0, 0) for lane in range(stride**2)])
    band = network.repeat(block, cell // stride, (0, 1))
    return network.plan(network.repeat(band, cell // stride, (1, 0)))


class _Network:
    """Comparisons of lanes; each gives two new lanes."""

    def __init__(self, n_lanes: int) -> None:
        self.n_given = self.n_lanes = n_lanes
        self.comparisons: list[tuple[Wire, Wire]] = []

    def compare(self, first: Wire, second: Wire) -> tuple[Wire, Wire]:
        self.comparisons.append((first, second))
        self.n_lanes += 2
        return (self.n_lanes - 2, 0, 0), (self.n_lanes - 1, 0, 0)

    def sort(self, wires: list[Wire]) -> list[Wire]:
        if len(wires) < 2:
            return wires
        half = len(wires) // 2
        return self.merge(self.sort(wires[:half]), self.sort(wires[half:]))

    def merge(self, first: list[Wire], second: list[Wire]) -> list[Wire]:
        """Merge two sorted lists: every second wire of both, then neighbors."""
        if not first or not second:
            return first or second
        if len(first) == len(second) == 1:
            return list(self.compare(first[0], second[0]))
        even, odd = self.merge(first[::2], second[::2]), self.merge(first[1::2], second[1::2])
        merged = even[:1]
        for i in range(max(len(even) - 1, len(odd))):
            if i < len(odd) and i + 1 < len(even):
                merged += self.compare(odd[i], even[i + 1])
            else:
                merged.append(odd[i] if i < len(odd) else even[i + 1])
        return merged

    def repeat(self, wires: list[Wire], times: int, step: tuple[int, int]) -> list[Wire]:
        """Merge a sorted list with those of the next patches, ``times`` in all."""
        if times == 1:
            return wires
        more, fewer = self.repeat(wires, times - times // 2, step), wires
        if times // 2 > 1:
            fewer = more if times % 2 == 0 else self.repeat(wires, times // 2, step)
        down, right = ((times - times // 2) * each for each in step)
        return self.merge(more, [(lane, row + down, column + right) for lane, row, column in fewer])

    def plan(self, wires: list[Wire]) -> SortingPlan:
        """Give every lane a row, and a row to another lane once the last step has read it.

        Never in the step that reads it: then many places can be compared at a time.
        """
        last = {lane: when for when, pair in enumerate(self.comparisons) for lane, _, _ in pair}
        last |= {lane: len(self.comparisons) for lane, _, _ in wires}
        row_of, steps = {lane: lane for lane in range(self.n_given)}, []
        free: list[int] = []
        n_rows = self.n_given
        for when, pair in enumerate(self.comparisons):
            missing = max(0, 2 - len(free))
            free += range(n_rows, n_rows + missing)
            n_rows += missing
            smaller, larger = free.pop(), free.pop()
            first, second = ((row_of[lane], down, right) for lane, down, right in pair)
            steps.append(Step(first, second, smaller, larger))
            row_of |= {self.n_given + 2 * when: smaller, self.n_given + 2 * when + 1: larger}
            free += [row_of[lane] for lane in sorted({lane for lane, _, _ in pair}) if last[lane] == when]
        return SortingPlan(tuple(steps), n_rows, tuple(row_of[lane] for lane, _, _ in wires))
