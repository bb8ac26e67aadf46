"""Rivals to compare with, behind the same ``fit`` and ``predict``: images in, names out."""

from lightproof.baselines.neighbors import hog_neighbor, pixel_neighbor

__all__ = ["hog_neighbor", "pixel_neighbor"]
