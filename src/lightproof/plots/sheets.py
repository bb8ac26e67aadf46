"""Sheets of faces: with their histograms, or in rows of examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lightproof.plots.canvas import BLUE, VERMILION, encoded, no_ticks, quiet, sheet, show_face
from lightproof.types import Array


def histograms(photos: Mapping[str, Array]) -> bytes:
    """Draw photos side by side, below each how often every grey value occurs in it.

    Parameters
    ----------
    photos : dict of str to ndarray of shape (h, w), uint8
        By what is written above them.
    """
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
    """Draw rows of photos, the name of each row beside it.

    Parameters
    ----------
    rows : dict of str to sequence of (ndarray of shape (h, w), uint8, or None)
        All of one length; None leaves a gap.
    """
    columns = len(next(iter(rows.values())))
    tallest = max(
        np.shape(image)[0] / np.shape(image)[1] for row in rows.values() for image in row if image is not None
    )
    face = min(150.0, 850 / columns)
    figure = sheet(100 + face * columns, face * tallest * len(rows) + 20)
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for line, (name, images) in zip(grid, rows.items(), strict=True):
        for axes, image in zip(line, images, strict=True):
            no_ticks(axes)
            if image is not None:
                show_face(axes, image)
        line[0].set_ylabel(name, rotation="horizontal", ha="right", va="center", fontsize=11, labelpad=8)
    return encoded(figure)
