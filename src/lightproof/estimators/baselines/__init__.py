"""Rivals to compare with, behind the same ``fit`` and ``predict``: images in, names out."""

from lightproof.estimators.baselines.classifiers import ChiSquareNeighbor, OneNeighbor, ValidatedSVM
from lightproof.estimators.baselines.picture_features import (
    LBP,
    MSLDE,
    GradientFace,
    HoG,
    LogDCT,
    PictureFeatures,
    Pixels,
    TanTriggs,
    WeberFace,
)
from lightproof.estimators.baselines.pipelines import (
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
