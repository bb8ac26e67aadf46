"""Rivals to compare with, behind the same ``fit`` and ``predict``: images in, names out."""

from lightproof.estimators.baselines.histograms import LBP, HoG
from lightproof.estimators.baselines.neighbors import ChiSquareNeighbor, OneNeighbor
from lightproof.estimators.baselines.picture_features import (
    MSLDE,
    GradientFace,
    LogDCT,
    PictureFeatures,
    Pixels,
    TanTriggs,
    WeberFace,
)
from lightproof.estimators.baselines.rivals import (
    gradientface_svm,
    hog_neighbor,
    hog_svm,
    lbp_neighbor,
    log_hog_svm,
    logdct_svm,
    mslde_svm,
    pixel_neighbor,
    tan_triggs_neighbor,
    weberface_svm,
)
from lightproof.estimators.baselines.svm import ValidatedSVM

__all__ = [
    "LBP",
    "MSLDE",
    "ChiSquareNeighbor",
    "GradientFace",
    "HoG",
    "LogDCT",
    "OneNeighbor",
    "PictureFeatures",
    "Pixels",
    "TanTriggs",
    "ValidatedSVM",
    "WeberFace",
    "gradientface_svm",
    "hog_neighbor",
    "hog_svm",
    "lbp_neighbor",
    "log_hog_svm",
    "logdct_svm",
    "mslde_svm",
    "pixel_neighbor",
    "tan_triggs_neighbor",
    "weberface_svm",
]
