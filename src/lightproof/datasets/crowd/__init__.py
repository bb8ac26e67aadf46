"""Any number of made-up people by number: a linear model of rendered ones, drawn in a fraction of a millisecond."""

from lightproof.datasets.crowd.crowd import Crowd, Probes

__all__ = ["Crowd", "Probes"]
