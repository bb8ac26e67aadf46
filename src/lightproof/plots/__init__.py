"""Figures as PNG bytes. Import it only where one is drawn: Matplotlib loads slowly.

Nothing here reads a file, chooses a photo or computes a figure.
"""

from lightproof.core.moved import renamed
from lightproof.plots.canvas import png_of
from lightproof.plots.charts import (
    Line,
    Measured,
    accuracy_chart,
    compared,
    det_chart,
    open_set_chart,
    rank_chart,
    roc_chart,
)
from lightproof.plots.heat_maps import accuracy_by_light, decision_maps, sweep_map
from lightproof.plots.illustrations import DrawnPatch, clouds, examples, histograms, slices
from lightproof.plots.lamp import draw_light
from lightproof.plots.patch_overlay import explanation_figure, overlay_map

__all__ = [
    "DrawnPatch",
    "Line",
    "Measured",
    "accuracy_by_light",
    "accuracy_chart",
    "clouds",
    "compared",
    "decision_maps",
    "det_chart",
    "draw_light",
    "examples",
    "explanation_figure",
    "histograms",
    "open_set_chart",
    "overlay_map",
    "png_of",
    "rank_chart",
    "roc_chart",
    "slices",
    "sweep_map",
]

__getattr__ = renamed(__name__, {"Patch": "DrawnPatch"})
