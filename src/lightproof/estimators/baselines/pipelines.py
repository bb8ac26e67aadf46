"""The rivals: each a pipeline of features and classifier, images in, names out.

Every argument is a value that JSON can hold. The defaults are those of the articles or of public code, never chosen by
a test; the paper states none for its own runs.
"""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from lightproof.estimators.baselines.classifiers import ChiSquareNeighbor, OneNeighbor, ValidatedSVM
from lightproof.estimators.baselines.picture_features import (
    LBP,
    MSLDE,
    SIZE,
    GradientFace,
    HoG,
    LogDCT,
    Pixels,
    TanTriggs,
    WeberFace,
)


def weberface_svm(
    size: Any = SIZE, *, sigma: float = 1, alpha: float = 2, rescale: str = "none", strategy: str = "ovo"
) -> Pipeline:
    """WeberFace (Wang et al. 2011) and a validated SVM."""
    features = WeberFace(size, sigma=sigma, alpha=alpha, rescale=rescale)
    return make_pipeline(features, ValidatedSVM(strategy))


def mslde_svm(size: Any = SIZE, *, scales: int = 6, rescale: str = "none", strategy: str = "ovo") -> Pipeline:
    """MSLDE in the style of Lai et al. 2015, and a validated SVM; the parameters are ours, none are public."""
    return make_pipeline(MSLDE(size, scales=scales, rescale=rescale), ValidatedSVM(strategy))


def gradientface_svm(
    size: Any = SIZE, *, sigma: float = 0.75, encoding: str = "circle", rescale: str = "none", strategy: str = "ovo"
) -> Pipeline:
    """GradientFace (Zhang et al. 2009) and a validated SVM."""
    features = GradientFace(size, sigma=sigma, encoding=encoding, rescale=rescale)
    return make_pipeline(features, ValidatedSVM(strategy))


def logdct_svm(size: Any = SIZE, *, discard: int = 50, rescale: str = "none", strategy: str = "ovo") -> Pipeline:
    """Log + DCT (Chen, Er and Wu 2006) and a validated SVM."""
    return make_pipeline(LogDCT(size, discard=discard, rescale=rescale), ValidatedSVM(strategy))


def hog_svm(size: Any = SIZE, *, cell: int = 8, block: int = 3, strategy: str = "ovo") -> Pipeline:
    """HoG (Dalal and Triggs 2005) with scikit-image's defaults, and a validated SVM."""
    return make_pipeline(HoG(size, cell=cell, block=block), ValidatedSVM(strategy))


def log_hog_svm(size: Any = SIZE, *, cell: int = 8, block: int = 3, strategy: str = "ovo") -> Pipeline:
    """HoG of the logarithm of the pixels, and a validated SVM.

    What the paper runs. The published method of that idea, Zhu, Zheng, Lai, "Logarithm Gradient Histogram", FG 2013,
    does more.
    """
    return make_pipeline(HoG(size, light="log", cell=cell, block=block), ValidatedSVM(strategy))


def tan_triggs_neighbor(size: Any = SIZE) -> Pipeline:
    """Nearest neighbor on the pixels after Tan and Triggs' chain (2010)."""
    return make_pipeline(TanTriggs(size), OneNeighbor())


def lbp_neighbor(size: Any = SIZE, *, cell: int = 8) -> Pipeline:
    """Nearest neighbor by chi-square on histograms of local binary patterns (Ahonen, Hadid and Pietikäinen 2006)."""
    return make_pipeline(LBP(size, cell=cell), ChiSquareNeighbor())


def pixel_neighbor(size: Any = SIZE) -> Pipeline:
    """Nearest neighbor on the pixels: what no method at all does."""
    return make_pipeline(Pixels(size), OneNeighbor())


def hog_neighbor(size: Any = SIZE) -> Pipeline:
    """Nearest neighbor on HoG (Dalal and Triggs 2005) with scikit-image's defaults.

    9 orientations, cells of 8 x 8 pixels, blocks of 3 x 3 cells, L2-Hys.
    """
    return make_pipeline(HoG(size), OneNeighbor())
