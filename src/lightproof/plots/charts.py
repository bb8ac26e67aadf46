"""Charts: accuracies by difficulty and beside published ones; curves by rank, by threshold, among strangers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from scipy.special import ndtr, ndtri

from lightproof.plots.canvas import BLUE, FAINT, GREY, PALETTE, VERMILION, encoded, quiet, sheet
from lightproof.types import Floats

SIZE: Final = (620, 470)  # of a chart of curves, in pixels
STYLES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))  # dashes tell lines apart without colors
RATES: Final = (0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95)  # ticks on axes of normal deviates
LOWEST_RATE: Final = 5e-4  # axes of normal deviates end at it; 0 would lie infinitely far


def accuracy_chart(series: Mapping[str, Sequence[float]], ticks: Sequence[str]) -> bytes:
    """Draw accuracy in percent by difficulty, one line a method."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for i, (name, values) in enumerate(series.items()):
        color, marker = PALETTE[i % len(PALETTE)], "osD^vP*X"[i % 8]
        axes.plot(range(len(ticks)), values, color=color, marker=marker, linewidth=2, label=name)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_ylim(0, 103)
    axes.set_ylabel("named correctly, %")
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="lower left")
    return encoded(figure, dpi=130)


@dataclass(frozen=True)
class Measured:
    """An accuracy in percent with the ends of its interval, and the published one; None where there is none."""

    method: str
    ours: float | None
    low: float | None = None
    high: float | None = None
    published: float | None = None


def compared(panels: Mapping[str, Sequence[Measured]]) -> bytes:
    """Draw our accuracies beside the published ones, one panel a test, one line a method in order of appearance."""
    methods = list(dict.fromkeys(figure.method for figures in panels.values() for figure in figures))
    room = 7 * max(map(len, methods))
    drawing = sheet(min(1200, room + 60 + 260 * len(panels)), 110 + 27 * len(methods))
    grid = drawing.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (name, figures) in zip(grid, panels.items(), strict=True):
        _lanes(axes, methods)
        axes.set_title(name, fontsize=11)
        for figure in figures:
            _mark(axes, methods.index(figure.method), figure)
    grid[0].set_yticks(range(len(methods)), methods, fontsize=10)
    drawing.supxlabel("named correctly, %", fontsize=10)
    keys = [Line2D([], [], color=BLUE, marker="o", linewidth=2, label="ours, with its interval")]
    if any(figure.published is not None for figures in panels.values() for figure in figures):
        keys += [Line2D([], [], color=VERMILION, marker="D", markerfacecolor="white", linestyle="", label="published")]
    drawing.legend(handles=keys, loc="outside upper right", ncols=2, frameon=False, fontsize=10)
    return encoded(drawing)


def _lanes(axes: Axes, methods: Sequence[str]) -> None:
    axes.set_xlim(-5, 105)
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.hlines(range(len(methods)), 0, 100, color=FAINT, linewidth=0.8, zorder=0)
    axes.set_xticks([0, 25, 50, 75, 100])
    quiet(axes)
    axes.tick_params(axis="y", length=0)


def _mark(axes: Axes, line: int, figure: Measured) -> None:
    if figure.published is not None:
        axes.plot(figure.published, line, "D", color=VERMILION, markerfacecolor="white", markersize=7, zorder=2)
    if figure.ours is None:
        return
    if figure.low is not None and figure.high is not None:
        axes.plot([figure.low, figure.high], [line, line], color=BLUE, linewidth=2, zorder=3)
    axes.plot(figure.ours, line, "o", color=BLUE, markersize=5.5, zorder=4)


@dataclass(frozen=True, eq=False)
class Line:
    """A curve of two errors, each of shape (t,): share wrongly accepted, share missed; ``marks`` are points on it."""

    far: Floats
    frr: Floats
    marks: tuple[tuple[float, float], ...] = ()


def rank_chart(series: Mapping[str, Floats]) -> bytes:
    """Draw the cumulative match characteristic: the share of photos named within the first ranks, in percent."""
    figure, axes = _axes("among the best so many", "right person there, %")
    longest = max(2, *(len(values) for values in series.values()))
    for i, (name, values) in enumerate(series.items()):
        # Past its end a curve stays where it is.
        padded = np.concatenate([values, np.full(longest - len(values), values[-1])])
        axes.plot(np.arange(1, longest + 1), 100 * padded, label=name, **_look(i))
    lowest = 100 * min(float(values[0]) for values in series.values())
    axes.set_ylim(max(0.0, lowest - 5 - 0.1 * (100 - lowest)), 101)
    if longest > 30:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda rank, _: f"{rank:g}"))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return _finished(figure, axes, "lower right")


def roc_chart(series: Mapping[str, Line]) -> bytes:
    """Draw the share of genuine pairs accepted against that of impostors, small rates drawn large."""
    return _over_far(*_axes("different people accepted, %", "same person accepted, %"), series)


def open_set_chart(series: Mapping[str, Line]) -> bytes:
    """Draw the share of enrolled photos found and named against that of strangers accepted; points are marked."""
    return _over_far(*_axes("strangers accepted, %", "enrolled: found and rightly named, %"), series)


def det_chart(series: Mapping[str, Line]) -> bytes:
    """Draw both errors against each other on axes of normal deviates, where normal scores give straight lines."""
    figure, axes = _axes("different people accepted, %", "same person refused, %")
    ends = (float(ndtri(LOWEST_RATE)), float(ndtri(0.97)))
    axes.plot(ends, ends, color=GREY, linewidth=0.9)
    for i, (name, line) in enumerate(series.items()):
        far, frr = (ndtri(np.clip(rates, LOWEST_RATE, 1 - LOWEST_RATE)) for rates in (line.far, line.frr))
        axes.plot(far, frr, label=name, **_look(i))
    for axis, limit in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        axis.set_major_locator(FixedLocator([float(ndtri(rate)) for rate in RATES]))
        axis.set_major_formatter(FuncFormatter(lambda deviate, _: f"{100 * ndtr(deviate):.3g}"))
        limit(ends)
    return _finished(figure, axes, "upper center")


def _over_far(figure: Figure, axes: Axes, series: Mapping[str, Line]) -> bytes:
    """Draw the share accepted over the share wrongly accepted, small rates large."""
    least = min(max(float(line.far[line.far > 0].min(initial=1.0)), 1e-6) for line in series.values())
    for i, (name, line) in enumerate(series.items()):
        # A rate of 0 has no place on a logarithm; the end of the axis stands for it.
        axes.plot(100 * np.maximum(line.far, least / 2), 100 * (1 - line.frr), label=name, **_look(i))
        for far, frr in line.marks:
            point, color = (100 * max(far, least / 2), 100 * (1 - frr)), PALETTE[i % len(PALETTE)]
            axes.plot(*point, "o", color=color, markeredgecolor="white", markeredgewidth=1.2, markersize=9, zorder=4)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(100 * least / 2, 100)
    lowest = 100 * min(1 - float(line.frr[line.far <= least].min(initial=1.0)) for line in series.values())
    axes.set_ylim(max(0.0, lowest - 8), 101)
    return _finished(figure, axes, "lower right")


def _axes(across: str, up: str) -> tuple[Figure, Axes]:
    figure = sheet(*SIZE)
    axes = figure.add_subplot()
    axes.set_xlabel(across, fontsize=10)
    axes.set_ylabel(up, fontsize=10)
    quiet(axes)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _look(i: int) -> dict[str, Any]:
    color, style = PALETTE[i % len(PALETTE)], STYLES[i % len(STYLES)]
    return {"color": color, "linestyle": style, "linewidth": 2.4 if i == 0 else 1.7}


def _finished(figure: Figure, axes: Axes, where: Literal["lower right", "upper center"]) -> bytes:
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(frameon=False, fontsize=9, loc=where)
    return encoded(figure)
