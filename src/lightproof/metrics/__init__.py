"""Rates of errors, their intervals, and whether two methods differ; arrays in, figures out."""

from lightproof.metrics.intervals import (
    Interval,
    bootstrap_by_person,
    equal_error_by_person,
    share_by_person,
    wilson_interval,
)
from lightproof.metrics.paired import Paired, compare_by_person, mcnemar
from lightproof.metrics.rates import (
    OpenSet,
    Roc,
    cmc,
    equal_error_rate,
    open_set,
    open_set_at,
    open_set_curve,
    rank_of,
    roc,
)

__all__ = [
    "Interval",
    "OpenSet",
    "Paired",
    "Roc",
    "bootstrap_by_person",
    "cmc",
    "compare_by_person",
    "equal_error_by_person",
    "equal_error_rate",
    "mcnemar",
    "open_set",
    "open_set_at",
    "open_set_curve",
    "rank_of",
    "roc",
    "share_by_person",
    "wilson_interval",
]
