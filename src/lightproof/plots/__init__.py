"""Figures and pictures as PNG bytes; imported only where one is drawn.

Arrays come in, PNG bytes go out: nothing here reads a file, chooses a photo or computes a figure.
"""

from lightproof.plots.charts import Measured, accuracy_chart, compared
from lightproof.plots.clouds import Patch, clouds, slices
from lightproof.plots.lamp import draw_light
from lightproof.plots.maps import accuracy_by_light, decision_maps, sweep_map
from lightproof.plots.pictures import overlay_map, png_of
from lightproof.plots.sheets import examples, histograms

__all__ = [
    "Measured",
    "Patch",
    "accuracy_by_light",
    "accuracy_chart",
    "clouds",
    "compared",
    "decision_maps",
    "draw_light",
    "examples",
    "histograms",
    "overlay_map",
    "png_of",
    "slices",
    "sweep_map",
]
