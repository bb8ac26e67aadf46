"""What each patch says for a person, drawn over the face."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Final

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from PIL import Image

from lightproof.matching.explanation import Explanation
from lightproof.plots.canvas import encoded, no_ticks, sheet, show_face
from lightproof.types import Array, Floats

DIVERGING: Final = "RdBu"  # red against, blue for, white neither
OPACITY: Final = (0.15, 0.9)  # share of the face that the color covers where a patch says nothing, and where most
LETTER_WIDTH: Final = 8.3  # mean width of a letter, in pixels
PANEL_WIDTH: Final = 240  # pixels from one panel to the next


def overlay_map(image: Array, patch_map: Floats, strength: float = 0.55) -> Array:
    """Lay a map of patches over a face (h, w): blue where it is positive, red where negative; uint8 (h, w, 3)."""
    # The strongest tenth share one color, so that a single patch does not pale all others.
    top = float(np.quantile(np.abs(patch_map), 0.9)) or 1.0
    color = colormaps[DIVERGING](np.clip(0.5 + patch_map / (2 * top), 0, 1))[:, :, :3]
    sheet = Image.fromarray((255 * color).astype(np.uint8)).resize(image.shape[::-1], Image.Resampling.BILINEAR)
    mixed = (1 - strength) * _lifted(image)[:, :, None] + strength * np.asarray(sheet)
    return mixed.astype(np.uint8)


def explanation_figure(explanation: Explanation, name: str | None = None, sentence: str | None = None) -> bytes:
    """Draw a face, and over it what each patch says; three such maps if the explanation compares two people.

    ``name`` stands above the face, ``sentence`` below (the explanation's own if not given).
    """
    maps = _panels(explanation)
    width = 130 + PANEL_WIDTH * (1 + len(maps))
    figure = sheet(width, 375)
    first, *others = figure.subplots(1, 1 + len(maps))
    show_face(first, explanation.face)
    # A name may hold any sign, and a dollar in it is no formula.
    first.set_title(f"{name or 'the face'}\n", fontsize=10, parse_math=False)
    # One scale for all maps; the strongest patches share its end, or a single one would pale all others.
    top = float(np.quantile(np.abs(np.stack(list(maps.values()))), 0.98)) or 1.0
    for axes, (title, values) in zip(others, maps.items(), strict=True):
        _over_face(axes, explanation, values, top)
        axes.set_title(title, fontsize=10, parse_math=False)
    scale = ScalarMappable(Normalize(-top, top), DIVERGING)
    bar = figure.colorbar(scale, ax=others, shrink=0.85, extend="both", format="%+.2g")
    bar.set_label("what one patch adds", fontsize=10)
    bar.ax.tick_params(labelsize=9)
    figure.supxlabel(fill(sentence or explanation.sentence, int(width / LETTER_WIDTH)), fontsize=10, parse_math=False)
    return encoded(figure)


def _panels(explanation: Explanation) -> Mapping[str, Floats]:
    """Return the maps by their titles."""
    panels = {f"for {explanation.person}\nlead {explanation.lead:.1f}": explanation.patches}
    if explanation.rival_patches is not None and explanation.difference is not None:
        panels[f"for {explanation.against}\nlead {explanation.rival_lead:.1f}"] = explanation.rival_patches
        title = fill(f"for {explanation.person} rather than {explanation.against}", int(PANEL_WIDTH / LETTER_WIDTH))
        panels[f"{title}\ndifference {np.sum(explanation.difference):.1f}"] = explanation.difference
    return panels


def _over_face(axes: Axes, explanation: Explanation, values: Floats, top: float) -> None:
    grid = explanation.grid
    axes.imshow(_lifted(explanation.face), cmap="gray", vmin=0, vmax=255)
    # A patch is drawn as the square in its middle that is one stride wide: whole ones would hide each other.
    rim = grid.overlap / 2 - 0.5
    extent = (rim, rim + grid.columns * grid.stride, rim + grid.rows * grid.stride, rim)
    # The less a patch says, the more of the face is seen.
    cover = OPACITY[0] + (OPACITY[1] - OPACITY[0]) * np.minimum(np.abs(values) / top, 1)
    axes.imshow(values, cmap=DIVERGING, vmin=-top, vmax=top, alpha=cover, extent=extent, interpolation="nearest")
    height, width = explanation.face.shape
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    no_ticks(axes)


def _lifted(face: Array) -> Floats:
    """Brighten a dark face, or the colors would float on black."""
    grey: Floats = 255 * np.sqrt(face / 255.0)
    return grey
