"""A crowd: people of whom nobody needs to exist before he is asked for."""

from lightproof.datasets.crowd.crowd import Crowd, Probes

__all__ = ["Crowd", "Probes"]
