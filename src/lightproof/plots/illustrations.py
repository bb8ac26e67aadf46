"""The paper's illustrations: faces under several lights, and the gradients of a patch as a cloud of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from lightproof.method.transform import directions, discrete_cdt
from lightproof.plots.canvas import (
    BLUE,
    FAINT,
    GREY,
    PALETTE,
    VERMILION,
    Box,
    encoded,
    no_ticks,
    quiet,
    sheet,
    show_face,
)
from lightproof.types import Array, Floats


def histograms(photos: Mapping[str, Array]) -> bytes:
    """Draw photos (by their titles) side by side, and below each the histogram of its grey values."""
    figure = sheet(1100, 430)
    grid = figure.subplots(2, len(photos), squeeze=False, height_ratios=(3, 2))
    for column, (title, image) in enumerate(photos.items()):
        face, below = grid[:, column]
        show_face(face, image)
        face.set_title(title, fontsize=10)
        counts, edges = np.histogram(image, bins=64, range=(0, 256))
        below.stairs(100 * counts / np.size(image), edges, fill=True, color=BLUE)
        mean = float(np.mean(image))
        below.axvline(mean, color=VERMILION, linewidth=1.6)
        below.set_title(f"mean {mean:.0f}", color=VERMILION, fontsize=9)
        below.set_xlim(0, 256)
        below.set_xticks([0, 128, 255])
        below.set_xlabel("grey value", fontsize=9)
        quiet(below)
    grid[1, 0].set_ylabel("% of the pixels", fontsize=9)
    return encoded(figure)


def examples(rows: Mapping[str, Sequence[Array | None]]) -> bytes:
    """Draw rows of photos, all of one length, the name of each row beside it; None leaves a gap."""
    columns = len(next(iter(rows.values())))
    shapes = [np.shape(image) for row in rows.values() for image in row if image is not None]
    width = min(150.0, 850 / columns)
    figure = sheet(100 + width * columns, width * max(height / across for height, across in shapes) * len(rows) + 20)
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for line, (name, images) in zip(grid, rows.items(), strict=True):
        for axes, image in zip(line, images, strict=True):
            no_ticks(axes)
            if image is not None:
                show_face(axes, image)
        line[0].set_ylabel(name, rotation="horizontal", ha="right", va="center", fontsize=11, labelpad=8)
    return encoded(figure)


@dataclass(frozen=True, eq=False)
class DrawnPatch:
    """A patch of a face and its gradients."""

    title: str
    face: Array
    box: Box  # where the patch lies
    pixels: Array  # of the patch, uint8 (cell, cell)
    cloud: Floats  # a gradient for each pixel: to the right and downward, in grey values per pixel, (N, 2)


def clouds(patches: Sequence[DrawnPatch], before: Floats | None = None, stretched: bool = False) -> bytes:
    """Draw patches side by side: the face, the patch enlarged, the cloud of its gradients.

    The cloud ``before`` is drawn in grey behind all others. If ``stretched``, each enlarged patch is stretched from
    black to white; in hard light there is nothing to see otherwise.
    """
    figure = sheet(min(1100, 60 + 210 * len(patches)), 640)
    grid = figure.subplots(3, len(patches), squeeze=False, height_ratios=(5, 3, 5))
    reach = max(_reach(patch.cloud) for patch in patches)
    for (face, enlarged, plane), patch in zip(grid.T, patches, strict=True):
        show_face(face, patch.face, patch.box)
        face.set_title(patch.title, fontsize=10)
        low, high = (None, None) if stretched else (0, 255)
        enlarged.imshow(patch.pixels, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
        no_ticks(enlarged)
        enlarged.spines[:].set(visible=True, color=FAINT)  # white pixels on white paper
        _plane(plane, reach)
        plane.set_xlabel("change to the right", fontsize=9)
        if before is not None:
            _scatter(plane, before, GREY, 0.4)
        _scatter(plane, patch.cloud, BLUE, 0.8)
    for axes, name in zip(grid[:, 0], ("photo", "patch", "change downward"), strict=True):
        axes.set_ylabel(name, fontsize=9)
    return encoded(figure)


def slices(patch: DrawnPatch, rows: int, columns: int, angles: Floats) -> bytes:
    """Draw how a patch becomes a vector: the face cut into patches, a cloud, its projections, and these sorted."""
    figure = sheet(1180, 360)
    face, plane, strips, steps = figure.subplots(1, 4, width_ratios=(9, 10, 10, 10))
    show_face(face, patch.face, patch.box)
    _rule(face, np.shape(patch.face), rows, columns)
    reach = _reach(patch.cloud)
    _plane(plane, reach)
    for j, direction in enumerate(directions(angles)):
        plane.plot(*np.outer(direction, [-reach, reach]), color=_color(j), linewidth=1.6, zorder=1)
    shown = min(1, len(angles) - 1)  # lines to every direction would hide each other
    _drop(plane, patch.cloud, directions(angles)[shown], _color(shown))
    plane.plot(*patch.cloud.T, "o", color="black", markersize=4.5, zorder=3)
    plane.set_xlabel("change to the right", fontsize=9)
    plane.set_ylabel("change downward", fontsize=9)
    projections = directions(angles) @ patch.cloud.T
    _strips(strips, projections, angles)
    _steps(steps, discrete_cdt(projections))
    n, m = len(patch.cloud), len(angles)
    titles = (
        "1. a face cut into patches,\none of them marked",
        f"2. its {n} gradients and {m} directions;\ndotted: projected on one",
        "3. the projections\non each direction",
        f"4. each sorted, all end to end:\na vector of {m} x {n} numbers",
    )
    for axes, title in zip((face, plane, strips, steps), titles, strict=True):
        axes.set_title(title, fontsize=10)
    return encoded(figure)


def _color(j: int) -> str:
    return PALETTE[j % len(PALETTE)]


def _scatter(axes: Axes, cloud: Floats, color: str, alpha: float) -> None:
    axes.plot(*cloud.T, "o", color=color, alpha=alpha, markersize=4, markeredgewidth=0)


def _drop(axes: Axes, cloud: Floats, direction: Floats, color: str) -> None:
    """Draw a line from each point to its projection on a direction."""
    feet = np.outer(cloud @ direction, direction)
    for point, foot in zip(cloud, feet, strict=True):
        axes.plot(*zip(point, foot, strict=True), ":", color=color, linewidth=1.1, zorder=2)
    axes.plot(*feet.T, "o", color=color, markersize=4, zorder=2)


def _strips(axes: Axes, projections: Floats, angles: Floats) -> None:
    """Draw the projections on each direction on a line of its own, the first on top."""
    for j, values in enumerate(projections):
        axes.axhline(j, color=FAINT, linewidth=1, zorder=0)
        axes.plot(values, np.full(len(values), j), "o", color=_color(j), alpha=0.6, markersize=6, markeredgewidth=0)
    axes.set_yticks(range(len(angles)), [f"{np.rad2deg(angle):.0f}°" for angle in angles])
    axes.set_ylim(len(angles) - 0.5, -0.5)
    axes.set_xlabel("projection", fontsize=9)
    axes.set_ylabel("direction", fontsize=9)
    axes.set_box_aspect(1)
    quiet(axes)


def _steps(axes: Axes, transform: Floats) -> None:
    n = transform.shape[1]
    for j, values in enumerate(transform):
        axes.stairs(values, np.arange(n + 1) + j * n, baseline=None, color=_color(j), linewidth=2)
    axes.set_xticks(np.arange(len(transform) + 1) * n)
    axes.set_xlabel("place in the vector", fontsize=9)
    axes.set_ylabel("projection", fontsize=9)
    axes.set_box_aspect(1)
    quiet(axes)


def _reach(cloud: Floats) -> float:
    return 1.12 * float(np.abs(cloud).max()) or 1.0


def _plane(axes: Axes, reach: float) -> None:
    """Prepare a plane of gradients; downward is down, as in the picture."""
    axes.set_xlim(-reach, reach)
    axes.set_ylim(reach, -reach)
    axes.set_box_aspect(1)
    axes.axhline(0, color=FAINT, linewidth=1, zorder=0)
    axes.axvline(0, color=FAINT, linewidth=1, zorder=0)
    axes.locator_params(nbins=4)
    quiet(axes)


def _rule(axes: Axes, shape: tuple[int, ...], rows: int, columns: int) -> None:
    for y in np.linspace(0, shape[0], rows + 1) - 0.5:
        axes.axhline(y, color="white", alpha=0.55, linewidth=0.6)
    for x in np.linspace(0, shape[1], columns + 1) - 0.5:
        axes.axvline(x, color="white", alpha=0.55, linewidth=0.6)
