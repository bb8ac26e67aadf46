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
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from lightproof.compiled import compiled
from lightproof.patches import PatchGrid
from lightproof.types import Floats, Ints

Wire: TypeAlias = tuple[int, int, int]
"""A lane by its number, and by how many rows and columns of patches it is read off."""


AT_A_TIME: Final = 32
"""Numbers that a processor compares in one go; what is left over is compared one by one."""


class PatchSorter:
    """Projects the vectors of each patch on some directions, sorts each projection, and sums it with some weights.

    The same as ``np.sort(grid.gather(project(fields, angles))) @ weights.T`` up to rounding, with the patches last, and
    faster for small patches: all are sorted at once, and what neighbors share once for both.

    Parameters
    ----------
    grid : PatchGrid
    directions : ndarray of shape (m, 2)
    weights : ndarray of shape (q, N)
        For the smallest number of a patch, the second smallest, and so on.
    """

    def __init__(self, grid: PatchGrid, directions: Floats, weights: Floats) -> None:
        plan, beyond = plan_sorting(grid.cell, grid.stride), (grid.cell - 1) // grid.stride
        self._grid, self._width = grid, grid.columns + beyond
        self._steps, self._reach = plan.along(self._width), plan.reach(self._width)
        self._places = math.ceil((grid.rows + beyond) * self._width / AT_A_TIME) * AT_A_TIME
        self._directions, self._matrix = (
            directions.astype(weights.dtype),
            np.zeros((len(weights), plan.n_rows), weights.dtype),
        )
        self._matrix[:, plan.sorted_rows] = weights

    def sort(self, fields: Floats, out: Floats) -> None:
        """Put the sums of fields of vectors, shape (n, 2, h, w), into ``out``, shape (n, m, q, K)."""
        grid = self._grid
        # Beyond the last patches there must be numbers, whichever.
        pixels = np.zeros((2, grid.stride**2, self._places), fields.dtype)
        lanes = np.zeros((self._matrix.shape[1], self._places + self._reach), fields.dtype)
        for field, sums in zip(fields, out.reshape(*out.shape[:3], grid.rows, grid.columns), strict=True):
            _lay_out(field, grid.stride, self._width, pixels)
            _sort_and_sum(pixels, self._directions, self._steps, self._width, self._matrix, lanes, sums)


@compiled
def _lay_out(field: Floats, stride: int, width: int, pixels: Floats) -> None:
    """Put every stride-th pixel of every stride-th line side by side, (2, h, w) -> (2, stride ** 2, places)."""
    for part in range(2):
        for i in range(stride):
            for j in range(stride):
                lane = pixels[part, i * stride + j]
                for row in range(min(len(lane) // width, (field.shape[1] - i + stride - 1) // stride)):
                    for column in range(min(width, (field.shape[2] - j + stride - 1) // stride)):
                        lane[row * width + column] = field[part, row * stride + i, column * stride + j]


@compiled
def _sort_and_sum(
    pixels: Floats, directions: Floats, steps: Ints, width: int, matrix: Floats, lanes: Floats, out: Floats
) -> None:
    """Project, take the steps, sum up: one direction after the other, whose numbers stay in the cache.

    Parameters
    ----------
    pixels : ndarray of shape (2, stride ** 2, places)
    directions : ndarray of shape (m, 2)
    steps : ndarray of shape (steps, 6)
        See :meth:`SortingPlan.along`.
    width : int
        Places of a line.
    matrix : ndarray of shape (q, rows of the plan)
    lanes : ndarray of shape (rows of the plan, places + places that a step reads ahead)
        Room to work in.
    out : ndarray of shape (m, q, lines of patches, patches in a line)
    """
    for m in range(len(directions)):
        _project(pixels, directions[m], lanes)
        _take_steps(steps, pixels.shape[2], lanes)
        _sum_up(matrix, lanes, width, out[m])


@compiled
def _project(pixels: Floats, direction: Floats, lanes: Floats) -> None:
    cosine, sine = direction
    for i in range(pixels.shape[1]):
        lane, right, down = lanes[i], pixels[0, i], pixels[1, i]
        for place in range(len(right)):
            lane[place] = cosine * right[place] + sine * down[place]


@compiled
def _take_steps(steps: Ints, places: int, lanes: Floats) -> None:
    for step in range(len(steps)):
        one, ahead, other, ahead_too, low, high = steps[step]
        first, second = lanes[one, ahead : ahead + places], lanes[other, ahead_too : ahead_too + places]
        smaller, larger = lanes[low, :places], lanes[high, :places]
        for place in range(places):
            smaller[place] = min(first[place], second[place])
            larger[place] = max(first[place], second[place])


@compiled
def _sum_up(matrix: Floats, lanes: Floats, width: int, out: Floats) -> None:
    """Sum up the lanes with weights, (q, lanes), and put what belongs to a patch into ``out``, (q, lines, columns)."""
    sums = np.dot(matrix, lanes)
    for q in range(out.shape[0]):
        for row in range(out.shape[1]):
            for column in range(out.shape[2]):
                out[q, row, column] = sums[q, row * width + column]


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

    def along(self, width: int) -> Ints:
        """Write the steps down for lanes that hold a picture line after line, ``width`` places each.

        A place stands for the patch that begins there. At the last places of a line, beyond the last patch, there is
        nothing to be found.

        Returns
        -------
        ndarray of shape (steps, 6)
            Row and places ahead of what is compared, of one and of the other; rows for the smaller and the larger.
        """
        steps = [(*_ahead(one, width), *_ahead(other, width), *rows) for one, other, *rows in self.steps]
        return np.array(steps, np.intp).reshape(-1, 6)


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


def _ahead(wire: Wire, width: int) -> tuple[int, int]:
    row, down, right = wire
    return row, down * width + right


def _moved(wires: list[Wire], times: int, step: tuple[int, int]) -> list[Wire]:
    return [(lane, down + times * step[0], right + times * step[1]) for lane, down, right in wires]
