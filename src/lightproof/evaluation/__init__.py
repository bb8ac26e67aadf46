"""How well one's own photos are recognized: named, compared one against one, and told from strangers, by light."""

from lightproof.evaluation.evaluate import FARS, Evaluation, KnownPeople, evaluate
from lightproof.evaluation.figures import Curves, Figure
from lightproof.evaluation.mistakes import Mistake

__all__ = ["FARS", "Curves", "Evaluation", "Figure", "KnownPeople", "Mistake", "evaluate"]
