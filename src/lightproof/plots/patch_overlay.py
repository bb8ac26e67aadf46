"""Why a face was given a name, drawn over the face."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any, Final, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from lightproof.method.patches import PatchGrid
from lightproof.plots.canvas import encoded, no_ticks, sheet, show_face
from lightproof.types import Array, Floats

DIVERGING: Final = "RdBu"
"""Red against, blue for, white neither: told apart by everybody."""

FAINTEST: Final = 0.15
STRONGEST: Final = 0.9
"""How much of the face the color covers where a patch says nothing, and where it says most."""

LETTER: Final = 8.3
"""Pixels that a letter takes, about."""

PANEL: Final = 240
"""Pixels from one panel to the next."""


class Explained(Protocol):
    """What is drawn: a :class:`lightproof.matching.explanation.Explanation`, or whatever has the same."""

    @property
    def person(self) -> Any: ...  # noqa: D102
    @property
    def against(self) -> Any: ...  # noqa: D102
    @property
    def lead(self) -> float: ...  # noqa: D102
    @property
    def rival_lead(self) -> float | None: ...  # noqa: D102
    @property
    def patches(self) -> Floats: ...  # noqa: D102
    @property
    def rival_patches(self) -> Floats | None: ...  # noqa: D102
    @property
    def difference(self) -> Floats | None: ...  # noqa: D102
    @property
    def face(self) -> Array: ...  # noqa: D102
    @property
    def grid(self) -> PatchGrid: ...  # noqa: D102
    @property
    def sentence(self) -> str: ...  # noqa: D102


def explanation_figure(explanation: Explained, name: str | None = None, sentence: str | None = None) -> bytes:
    """Draw a face, and over it what each patch says; where somebody else was asked about, three such maps.

    Parameters
    ----------
    explanation : Explanation
    name : str, optional
        What is written above the face; "the face" if not given.
    sentence : str, optional
        What is written below; the explanation's own sentence if not given.
    """
    maps = _panels(explanation)
    width = 130 + PANEL * (1 + len(maps))
    figure = sheet(width, 375)
    first, *others = figure.subplots(1, 1 + len(maps))
    show_face(first, explanation.face)
    # A name may hold any sign, and a dollar in it is no formula.
    first.set_title(f"{name or 'the face'}\n", fontsize=10, parse_math=False)
    top = _top(maps)
    for axes, (title, values) in zip(others, maps.items(), strict=True):
        _over_face(axes, explanation, values, top)
        axes.set_title(title, fontsize=10, parse_math=False)
    scale = ScalarMappable(Normalize(-top, top), DIVERGING)
    bar = figure.colorbar(scale, ax=others, shrink=0.85, extend="both", format="%+.2g")
    bar.set_label("what one patch adds", fontsize=10)
    bar.ax.tick_params(labelsize=9)
    figure.supxlabel(fill(sentence or explanation.sentence, int(width / LETTER)), fontsize=10, parse_math=False)
    return encoded(figure)


def _panels(explanation: Explained) -> Mapping[str, Floats]:
    """Maps by what is written above them."""
    panels = {f"for {explanation.person}\nlead {explanation.lead:.1f}": explanation.patches}
    if explanation.rival_patches is not None and explanation.difference is not None:
        panels[f"for {explanation.against}\nlead {explanation.rival_lead:.1f}"] = explanation.rival_patches
        title = fill(f"for {explanation.person} rather than {explanation.against}", int(PANEL / LETTER))
        panels[f"{title}\ndifference {np.sum(explanation.difference):.1f}"] = explanation.difference
    return panels


def _top(maps: Mapping[str, Floats]) -> float:
    """Return the value of the strongest color: one for all maps, and not the one patch that pales all others."""
    return float(np.quantile(np.abs(np.stack(list(maps.values()))), 0.98)) or 1.0


def _over_face(axes: Axes, explanation: Explained, values: Floats, top: float) -> None:
    grid = explanation.grid
    # Dark faces are lifted for the eye only, or the colors would float on black.
    axes.imshow(255 * np.sqrt(explanation.face / 255.0), cmap="gray", vmin=0, vmax=255)
    # A patch is drawn as the square in its middle that is one stride wide: whole ones would hide each other.
    rim = grid.overlap / 2 - 0.5
    extent = (rim, rim + grid.columns * grid.stride, rim + grid.rows * grid.stride, rim)
    # The less a patch says, the more of the face is seen.
    cover = FAINTEST + (STRONGEST - FAINTEST) * np.minimum(np.abs(values) / top, 1)
    axes.imshow(values, cmap=DIVERGING, vmin=-top, vmax=top, alpha=cover, extent=extent, interpolation="nearest")
    height, width = explanation.face.shape
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    no_ticks(axes)
