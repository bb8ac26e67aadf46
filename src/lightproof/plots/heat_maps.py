"""Heat maps: over the directions of the light, over the patches of a face, over two settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from lightproof.plots.canvas import FAINT, GREY, SEQUENTIAL, encoded, no_ticks, quiet, sheet, show_face
from lightproof.types import Array, Floats


def accuracy_by_light(
    azimuths: Floats, elevations: Floats, accuracies: Mapping[str, Floats], borders: Sequence[float] = ()
) -> bytes:
    """Draw the accuracy at each direction of the light in percent, one panel a method.

    Each direction is given once, in degrees; a positive azimuth is the left of the picture. The subsets meet at the
    azimuths ``borders``, drawn on both sides.
    """
    columns = _columns(len(accuracies))
    rows = -(-len(accuracies) // columns)
    width = 1200 if columns > 1 else 700
    figure = sheet(width, 90 + rows * (width - 140) / columns * 0.64)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes, (name, values) in zip(grid.flat, accuracies.items(), strict=False):
        order = np.argsort(-np.asarray(values), kind="stable")  # the poorest are drawn last, on top
        _sky(axes, borders, azimuths, elevations)
        points = axes.scatter(
            azimuths[order], elevations[order], c=values[order], cmap=SEQUENTIAL, vmin=0, vmax=100,
            s=52, edgecolors="black", linewidths=0.5,
        )  # fmt: skip
        axes.set_title(name, fontsize=10)
    for axes in grid.flat[len(accuracies) :]:
        axes.set_axis_off()
    across = "azimuth of the light in degrees, as the camera sees it: positive on the left of the picture"
    figure.supxlabel(across, fontsize=10)
    figure.supylabel("elevation in degrees", fontsize=10)
    figure.colorbar(points, ax=grid, label="named correctly, %", shrink=0.8, aspect=30, pad=0.01)
    return encoded(figure)


def decision_maps(maps: Mapping[str, Floats], face: Array | None = None) -> bytes:
    """Draw how often each patch alone names the person in percent, one panel a subset; ``face`` is shown first."""
    n = len(maps) + (face is not None)
    figure = sheet(min(1150, 90 + 215 * n), 300)
    grid = list(figure.subplots(1, n, squeeze=False)[0])
    height, width = np.shape(next(iter(maps.values()))) if face is None else np.shape(face)
    if face is not None:
        first = grid.pop(0)
        show_face(first, face)
        first.set_title("the face", fontsize=10)
    top = max(float(np.max(values)) for values in maps.values()) or 1.0
    for axes, (name, values) in zip(grid, maps.items(), strict=True):
        drawn = axes.imshow(values, cmap=SEQUENTIAL, vmin=0, vmax=top, extent=(0, width, height, 0))
        no_ticks(axes)
        axes.set_title(f"{name}\nmean {np.mean(values):.0f}%", fontsize=10)
    figure.colorbar(drawn, ax=grid, label="named by this patch alone, %", shrink=0.85)
    return encoded(figure)


def sweep_map(
    values: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    column_label: str = "",
    span: tuple[float, float] | None = None,
) -> bytes:
    """Draw a table (rows, columns) as a heat map with the number in each cell; NaN is a cell that was not run.

    To compare maps, ``span`` sets the values of the first and the last color; else they are those of the table.
    """
    known = values[np.isfinite(values)]
    low, high = span or ((float(known.min()), float(known.max())) if known.size else (0.0, 1.0))
    figure = sheet(max(420, 190 + 84 * len(columns)), 130 + 46 * len(rows))
    axes = figure.add_subplot()
    colors = colormaps[SEQUENTIAL].with_extremes(bad="#f0f0f0")
    drawn = axes.imshow(np.ma.masked_invalid(values), cmap=colors, vmin=low, vmax=high, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        share = (value - low) / (high - low) if high > low else 1.0
        text, ink = (f"{value:.1f}", "black" if share > 0.55 else "white") if np.isfinite(value) else ("not run", GREY)
        axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=10)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xlabel(column_label, fontsize=10)
    axes.set_title(title, fontsize=11)
    axes.tick_params(length=0, labelsize=10)
    axes.spines[:].set_visible(False)
    figure.colorbar(drawn, ax=axes)
    return encoded(figure)


def _columns(n: int) -> int:
    return n if n <= 2 else 2 if n == 4 else 3 if n <= 6 or n == 9 else 4


def _sky(axes: Axes, borders: Sequence[float], azimuths: Floats, elevations: Floats) -> None:
    """Prepare a map of directions, as the camera sees them: a positive azimuth is on the left."""
    for border in borders:
        axes.axvline(border, color=FAINT, linewidth=0.9, zorder=0)
        axes.axvline(-border, color=FAINT, linewidth=0.9, zorder=0)
    aside = max(142.0, float(np.abs(azimuths).max()) + 12)
    axes.set_xlim(aside, -aside)
    axes.set_ylim(min(-55.0, float(elevations.min()) - 12), 102)
    axes.set_xticks([120, 60, 0, -60, -120])
    axes.set_yticks([-40, 0, 45, 90])
    quiet(axes)
