"""The paper's tables run again, and the demonstration."""

from __future__ import annotations

from typing import Final

PAPER_SETS: Final = ("yale", "ar", "cas-peal")

PHOTO_SETS: Final = ("orl", "lfw")
"""Sets of whole photos: the detector always looks for the faces, and the subsets are differences of pose."""

DATASETS: Final = (*PAPER_SETS, *PHOTO_SETS, "folder", "rendered")

JITTERED_SETS: Final = ("yale", "rendered")
"""Sets with a Test 2, whose crops have the eyes where :mod:`lightproof.imaging.detection` puts them."""

_POSES: Final = {1: "turned under 10°", 2: "turned 10 to 25°", 3: "turned over 25°", 4: "pose unknown"}


def subset_title(dataset: str, subset: int | str) -> str:
    """Name a subset of the probes; see :func:`lightproof.datasets.protocols.pose_test` for those of photo sets."""
    by_pose = dataset in PHOTO_SETS and isinstance(subset, int)
    return _POSES[int(subset)] if by_pose else f"subset {subset}"
