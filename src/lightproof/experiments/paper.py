"""The published figures, as data.

From "Local Sliced-Wasserstein Feature Sets for Illumination-invariant Face Recognition" (Zhuang et al.): rank-1
accuracy in percent.
"""

from __future__ import annotations

from typing import Final

METHOD: Final = "R-CDT + NS"
LOG_METHOD: Final = "log + R-CDT + NS"

YALE: Final[dict[tuple[str, str], tuple[float, float, float, float]]] = {
    ("Test 1", METHOD): (100.0, 98.8, 96.2, 94.4),
    ("Test 2", METHOD): (98.4, 95.5, 92.4, 91.8),
    ("Test 1", LOG_METHOD): (100.0, 98.9, 96.6, 95.7),
    ("Test 2", LOG_METHOD): (98.9, 95.5, 95.5, 96.3),
}
"""Test subsets 1 to 4, by test and method: tables "Extended Yale face database" and "log transform"."""

YALE_PROJECTIONS: Final[dict[int, dict[int, float]]] = {
    16: {2: 35.1, 3: 40.0, 4: 38.7, 8: 39.7, 20: 39.5, 45: 40.0},
    8: {2: 62.4, 3: 65.3, 4: 63.2, 8: 69.7, 20: 69.4, 45: 69.5},
    4: {2: 78.5, 3: 86.5, 4: 87.3, 8: 89.3, 20: 89.3, 45: 89.3},
}
"""Test 2, subset 4, overlap 0: accuracy by cell size and number of projections."""

YALE_OVERLAPS: Final[dict[int, dict[int, float]]] = {8: {0: 63.2, 2: 73.2, 4: 76.9}, 4: {0: 87.3, 1: 91.8, 2: 93.4}}
"""Test 2, subset 4, four projections: accuracy by cell size and overlap."""
