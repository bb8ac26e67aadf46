"""The figures of the paper, and two that it lacks: which photos are shown, and what is computed from them."""

from lightproof.experiments.figures.findings import (
    accuracies_of_lights,
    decision_figure,
    light_figure,
    patch_accuracies,
)
from lightproof.experiments.figures.paper import paper_figures
from lightproof.experiments.figures.picture import Picture

__all__ = ["Picture", "accuracies_of_lights", "decision_figure", "light_figure", "paper_figures", "patch_accuracies"]
