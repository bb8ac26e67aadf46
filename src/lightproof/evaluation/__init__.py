"""How well one's own photos are recognized: named, compared one against one, and told from strangers, by light."""

from lightproof.evaluation.evaluate import FARS, Evaluation, KnownPeople, evaluate
from lightproof.evaluation.figures import Curves, Figure
from lightproof.evaluation.mistakes import Mistake
from lightproof.evaluation.within import Counted, InLight, Within, evaluate_within

__all__ = [
    "FARS",
    "Counted",
    "Curves",
    "Evaluation",
    "Figure",
    "InLight",
    "KnownPeople",
    "Mistake",
    "Within",
    "evaluate",
    "evaluate_within",
]
