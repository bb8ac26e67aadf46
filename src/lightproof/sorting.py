"""Many short sorts at once, by a network of comparisons laid out ahead.

Sorting thousands of patches one by one is mostly overhead, and patches that overlap are sorted in part over and over.
Here a *lane* is a long array that holds one point of every patch. Two lanes are put in order by one minimum and one
maximum; which lanes meet does not depend on the numbers, so the plan is made once. It follows Batcher's odd-even merge
(K. E. Batcher, "Sorting networks and their applications", 1968). Neighboring patches are neighboring places of a lane,
so what they share is sorted once and read at another offset.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from lightproof.patches import PatchGrid
from lightproof.types import Array, Floats

ROOM = 2**19
"""Numbers sorted at a time: they stay in the processor's cache."""

Wire: TypeAlias = tuple[int, int, int]
"""A lane by its number, and by how many rows and columns of patches it is read off."""


class PatchSorter:
    """Sorts the pixels of each patch, and sums them with some weights.

    The same as ``np.sort(grid.gather(fields)) @ weights.T`` up to rounding, with the patches last, and faster for small
    patches: all are sorted at once, and what neighbors share once for both.

    Parameters
    ----------
    grid : PatchGrid
    weights : ndarray of shape (q, N)
        For the smallest pixel of a patch, the second smallest, and so on.
    n_fields : int
        Fields of an image, m.
    n_images : int
        Images there are to sort.

    Attributes
    ----------
    block : int
        Images that may be sorted in one go.
    """

    def __init__(self, grid: PatchGrid, weights: Floats, n_fields: int, n_images: int) -> None:
        plan, beyond = plan_sorting(grid.cell, grid.stride), (grid.cell - 1) // grid.stride
        self._grid, self._shape = grid, (n_fields, grid.rows + beyond, grid.columns + beyond)
        self._places = math.prod(self._shape)
        self.block = min(n_images, max(1, ROOM // (plan.n_rows * self._places)))
        width = self._shape[2]
        self._rows = np.empty((plan.n_rows, self.block * self._places + plan.reach(width)), weights.dtype)
        self._rows[...] = 0  # beyond the last patches there must be numbers, whichever
        self._work = plan.within(self._rows, width)
        self._matrix = np.zeros((len(weights), plan.n_rows), weights.dtype)
        self._matrix[:, plan.sorted_rows] = weights

    def sort(self, fields: Floats, out: Floats) -> None:
        """Put the sums of at most ``block`` images, shape (n, m, h, w), into ``out``, shape (n, m, q, K)."""
        self._lay_out(fields)
        for one, other, smaller, larger in self._work:
            np.minimum(one, other, out=smaller)
            np.maximum(one, other, out=larger)
        grid = self._grid
        for i, place in enumerate(out.reshape(*out.shape[:3], grid.rows, grid.columns)):
            # One product an image: the same to the last bit whatever other images there are.
            own = self._rows[:, i * self._places : (i + 1) * self._places]
            sums = (self._matrix @ own).reshape(-1, *self._shape)
            place[...] = sums[:, :, : grid.rows, : grid.columns].swapaxes(0, 1)

    def _lay_out(self, fields: Floats) -> None:
        """Put every stride-th pixel of every stride-th line side by side."""
        stride, (_, height, width) = self._grid.stride, self._shape
        for i, j in np.ndindex(stride, stride):
            lane = self._rows[i * stride + j, : len(fields) * self._places].reshape(-1, *self._shape)
            part = fields[:, :, i::stride, j::stride][:, :, :height, :width]
            lane[:, :, : part.shape[2], : part.shape[3]] = part


class Step(NamedTuple):
    """Compare two rows, each read at an offset; put the smaller numbers into one row, the larger into another."""

    first: Wire
    second: Wire
    smaller: int
    larger: int


@dataclass(frozen=True)
class SortingPlan:
    """How square patches are sorted.

    Attributes
    ----------
    steps : tuple of Step
    n_rows : int
        Rows of numbers that the steps work in. The first ``stride ** 2`` hold the picture: row ``i * stride + j`` has
        every ``stride``-th pixel of every ``stride``-th line, from line i and column j on.
    sorted_rows : tuple of int
        Where the smallest number of every patch is found in the end, the second smallest, and so on.
    """

    steps: tuple[Step, ...]
    n_rows: int
    sorted_rows: tuple[int, ...]

    def reach(self, width: int) -> int:
        """Places that a step reads ahead, at most."""
        return max((down * width + right for down, right in self._offsets), default=0)

    @cached_property
    def _offsets(self) -> set[tuple[int, int]]:
        return {wire[1:] for step in self.steps for wire in step[:2]}

    def within(self, rows: Array, width: int) -> list[tuple[Array, Array, Array, Array]]:
        """Tell for each step what it reads and where it puts the smaller and the larger numbers.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, places + reach)
            Pictures one after another, line after line. A place stands for the patch that begins there. At the last
            places of a line, beyond the last patch, there is nothing to be found.
        width : int
            Places of a line.
        """
        places = rows.shape[1] - self.reach(width)
        lane = list(rows[:, :places])
        ahead: dict[Wire, Array] = {(row, 0, 0): lane[row] for row in range(self.n_rows)}

        def read(wire: Wire) -> Array:
            if wire not in ahead:
                start = wire[1] * width + wire[2]
                ahead[wire] = rows[wire[0], start : start + places]
            return ahead[wire]

        return [(read(one), read(two), lane[smaller], lane[larger]) for one, two, smaller, larger in self.steps]


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
    """Comparisons of lanes; each makes two new lanes."""

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
        return self.merge(more, _moved(fewer, times - times // 2, step))

    def plan(self, wires: list[Wire]) -> SortingPlan:
        """Give every lane a row, and a row to another lane once the last step has read it."""
        last = {lane: when for when, pair in enumerate(self.comparisons) for lane, _, _ in pair}
        last |= {lane: len(self.comparisons) for lane, _, _ in wires}
        row_of, steps = {lane: lane for lane in range(self.n_given)}, []
        free: list[int] = []
        n_rows = self.n_given
        for when, pair in enumerate(self.comparisons):
            done = {lane for lane, _, _ in pair if last[lane] == when}
            # The larger may go where this step reads, if nobody else does, and the step not at an offset.
            over = [lane for lane in done if [wire for wire in pair if wire[0] == lane] == [(lane, 0, 0)]][:1]
            missing = max(0, 2 - len(over) - len(free))
            free += range(n_rows, n_rows + missing)
            n_rows += missing
            smaller, larger = free.pop(), row_of[over[0]] if over else free.pop()
            free += [row_of[lane] for lane in sorted(done.difference(over))]
            first, second = ((row_of[lane], down, right) for lane, down, right in pair)
            steps.append(Step(first, second, smaller, larger))
            row_of |= {self.n_given + 2 * when: smaller, self.n_given + 2 * when + 1: larger}
        return SortingPlan(tuple(steps), n_rows, tuple(row_of[lane] for lane, _, _ in wires))


def _moved(wires: list[Wire], times: int, step: tuple[int, int]) -> list[Wire]:
    return [(lane, down + times * step[0], right + times * step[1]) for lane, down, right in wires]
