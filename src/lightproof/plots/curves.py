"""Curves of recognition: by rank, by threshold, among strangers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from scipy.special import ndtr, ndtri

from lightproof.plots.canvas import FAINT, GREY, PALETTE, encoded, quiet, sheet
from lightproof.types import Floats

SIZE: Final = (620, 470)

STYLES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
"""Lines that are told apart without colors."""

RATES: Final = (0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
"""Marks on axes of normal deviates."""

LEAST: Final = 5e-4
"""Rate at which axes of normal deviates end; 0 would lie infinitely far."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve, and a point on it.

    Attributes
    ----------
    far : ndarray of shape (t,)
        Share wrongly accepted.
    frr : ndarray of shape (t,)
        Share missed.
    marks : tuple of (float, float)
        Points (far, frr) to be marked.
    """

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
    figure, axes = _axes("different people accepted, %", "same person accepted, %")
    return _against_rate(figure, axes, series)


def open_set_chart(series: Mapping[str, Line]) -> bytes:
    """Draw the share of enrolled photos found and named against that of strangers accepted; points are marked."""
    figure, axes = _axes("strangers accepted, %", "enrolled: found and rightly named, %")
    return _against_rate(figure, axes, series)


def det_chart(series: Mapping[str, Line]) -> bytes:
    """Draw both errors against each other on axes of normal deviates, where normal scores give straight lines."""
    figure, axes = _axes("different people accepted, %", "same person refused, %")
    ends = (float(ndtri(LEAST)), float(ndtri(0.97)))
    axes.plot(ends, ends, color=GREY, linewidth=0.9)
    for i, (name, line) in enumerate(series.items()):
        far, frr = (ndtri(np.clip(rates, LEAST, 1 - LEAST)) for rates in (line.far, line.frr))
        axes.plot(far, frr, label=name, **_look(i))
    for axis, limit in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        axis.set_major_locator(FixedLocator([float(ndtri(rate)) for rate in RATES]))
        axis.set_major_formatter(FuncFormatter(lambda deviate, _: f"{100 * ndtr(deviate):.3g}"))
        limit(ends)
    return _finished(figure, axes, "upper center")


def _against_rate(figure: Figure, axes: Axes, series: Mapping[str, Line]) -> bytes:
    least = min(_least(line.far) for line in series.values())
    for i, (name, line) in enumerate(series.items()):
        # A rate of 0 has no place on a logarithm; the end of the axis stands for it.
        axes.plot(100 * np.maximum(line.far, least / 2), 100 * (1 - line.frr), label=name, **_look(i))
        for far, frr in line.marks:
            color = PALETTE[i % len(PALETTE)]
            at = (100 * max(far, least / 2), 100 * (1 - frr))
            axes.plot(*at, "o", color=color, markeredgecolor="white", markeredgewidth=1.2, markersize=9, zorder=4)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(100 * least / 2, 100)
    lowest = 100 * min(1 - float(line.frr[line.far <= least].min(initial=1.0)) for line in series.values())
    axes.set_ylim(max(0.0, lowest - 8), 101)
    return _finished(figure, axes, "lower right")


def _least(far: Floats) -> float:
    return float(max(far[far > 0].min(initial=1.0), 1e-6))


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
    return {
        "color": PALETTE[i % len(PALETTE)],
        "linestyle": STYLES[i % len(STYLES)],
        "linewidth": 2.4 if i == 0 else 1.7,
    }


def _finished(figure: Figure, axes: Axes, where: Literal["lower right", "upper center"]) -> bytes:
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(frameon=False, fontsize=9, loc=where)
    return encoded(figure)
