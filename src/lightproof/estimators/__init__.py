"""Estimators that keep scikit-learn's contract: the paper's method and its rivals."""
