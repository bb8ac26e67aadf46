"""How well one's own photos are recognized: named, compared one against one, and told from strangers, by light."""

from lightproof.evaluation.evaluator import FARS, Evaluation, evaluate
from lightproof.evaluation.leave_one_out import Counted, InLight, Within, evaluate_within
from lightproof.evaluation.mistakes import Mistake
from lightproof.evaluation.rates_by_light import Curves, Figure

__all__ = [
    "FARS",
    "Counted",
    "Curves",
    "Evaluation",
    "Figure",
    "InLight",
    "Mistake",
    "Within",
    "evaluate",
    "evaluate_within",
]
