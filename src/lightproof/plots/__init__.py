"""Figures and pictures as PNG bytes; imported only where one is drawn.

Arrays come in, PNG bytes go out: nothing here reads a file, chooses a photo or computes a figure.
"""

from lightproof.plots.charts import Measured, accuracy_chart, compared
from lightproof.plots.clouds import Patch, clouds, slices
from lightproof.plots.curves import Line, det_chart, open_set_chart, rank_chart, roc_chart
from lightproof.plots.heat_maps import accuracy_by_light, decision_maps, sweep_map
from lightproof.plots.lamp import draw_light
from lightproof.plots.patch_overlay import explanation_figure
from lightproof.plots.pictures import overlay_map, png_of
from lightproof.plots.sheets import examples, histograms

__all__ = [
    "Line",
    "Measured",
    "Patch",
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
