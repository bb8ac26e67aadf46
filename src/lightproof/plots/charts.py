"""Charts of accuracies: by difficulty, and beside published figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lightproof.plots.canvas import BLUE, FAINT, PALETTE, VERMILION, encoded, quiet, sheet


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
    """An accuracy in percent, and what was published.

    Attributes
    ----------
    method : str
    ours : float, optional
        None where the method was not run.
    low, high : float, optional
        The ends of the interval around ``ours``.
    published : float, optional
    """

    method: str
    ours: float | None
    low: float | None = None
    high: float | None = None
    published: float | None = None


def compared(panels: Mapping[str, Sequence[Measured]]) -> bytes:
    """Draw our accuracies beside the published ones, one panel a test, one line a method.

    Parameters
    ----------
    panels : dict of str to sequence of Measured
        By the name of the test. Methods stand in the order of their first appearance.
    """
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
        hollow = Line2D([], [], color=VERMILION, marker="D", markerfacecolor="white", linestyle="", label="published")
        keys.append(hollow)
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
